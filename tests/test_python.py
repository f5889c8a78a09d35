"""The Python API on real runs."""

from __future__ import annotations

import math
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import knee
from columns import FLOWS, SERIES, SUMMARY
from knee import _core
from knee.results import PictureError
from knee.store import Store


def small(**more: object) -> knee.Scenario:
    """A dumbbell that runs in an instant."""
    settings: dict[str, object] = {"warmup": "1 s"} | more
    return knee.dumbbell(
        rate="10 Mbps", rtt="20 ms", flows=3, reverse=2, duration="3 s", protocol="vcp", **settings
    )


@pytest.fixture(scope="module")
def results() -> knee.Results:
    return knee.run(small().variants("vcp", "sack"), seeds=2)


def test_frames_have_the_fixed_columns(results: knee.Results) -> None:
    assert results.summary.columns == SUMMARY
    assert results.flows.columns == FLOWS
    assert results.series().columns == SERIES
    assert results.protocols == ["vcp", "sack"]
    assert results.seeds == [1, 2]


def test_figures_keep_to_their_bounds(results: knee.Results) -> None:
    summary = results.summary
    for fraction in ("utilisation", "drop_rate", "mark_rate", "jain"):
        assert summary[fraction].drop_nans().is_between(0, 1).all(), fraction
    first = summary.filter(pl.col("link") == summary["link"][0])
    lossless = first.filter(pl.col("drop_rate") == 0)
    assert lossless["goodput_mbps"].is_between(1, 10).all(), "within the link's rate"
    assert (first["queue_mean_packets"] <= first["queue_max_packets"]).all()
    assert first["rtt_mean_ms"].min() >= 20
    assert (results.flows["retransmissions"] <= results.flows["data_packets"]).all()


def test_series_by_quantity(results: knee.Results) -> None:
    queue = results.series("queue")
    assert queue["quantity"].unique().to_list() == ["queue"]
    assert queue["time_s"].is_between(0, 3).all()
    with pytest.raises(KeyError, match="this run holds"):
        results.series("temperature")


def test_columns_leave_without_a_copy(results: knee.Results) -> None:
    raw = results.arrow("series")
    first, second = pa.table(raw), pa.table(raw)
    for column in ("time_s", "value"):
        buffers = [table[column].chunk(0).buffers()[1].address for table in (first, second)]
        assert buffers[0] == buffers[1]
        frame = np.asarray(pl.DataFrame(raw)[column].to_numpy(allow_copy=False))
        assert frame.__array_interface__["data"][0] == buffers[0]


def test_pandas_and_duckdb_read_the_columns(results: knee.Results) -> None:
    duckdb = pytest.importorskip("duckdb")
    pandas = pytest.importorskip("pandas")
    summary = results.arrow("summary")
    rows = len(results.summary)
    with duckdb.connect() as connection:
        connection.register("summary", summary)
        assert connection.execute("select count(*) from summary").fetchone() == (rows,)
    assert len(pandas.DataFrame.from_arrow(summary)) == rows


@pytest.mark.parametrize("table", ["summary", "flows", "series"])
def test_the_same_seed_gives_the_same_bytes_on_any_thread_count(table: str) -> None:
    scenario = small().variants("vcp", "sack/red")
    runs = [knee.run(scenario, seeds=[4, 9], threads=threads) for threads in (1, 1, 2)]
    frames = [pl.DataFrame(run.arrow(table)) for run in runs]
    frames = [frame.drop("cpu_seconds", strict=False) for frame in frames]
    first, *others = [bytes_of(frame) for frame in frames]
    assert all(other == first for other in others)


def bytes_of(frame: pl.DataFrame) -> bytes:
    sink = pa.BufferOutputStream()
    table = frame.rechunk().to_arrow()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return sink.getvalue().to_pybytes()


def test_another_seed_gives_another_run(results: knee.Results) -> None:
    one, two = (results.summary.filter(pl.col("seed") == seed) for seed in (1, 2))
    assert one["events"].to_list() != two["events"].to_list()


def test_progress_rises_to_one() -> None:
    seen: list[float] = []
    knee.run(small(), seeds=2, progress=seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == pytest.approx(1)
    assert all(0 <= fraction <= 1 for fraction in seen)


def test_an_exception_in_progress_stops_the_run() -> None:
    def stop(fraction: float) -> None:
        raise RuntimeError(f"enough at {fraction}")

    scenario = small(probes="none").replace(set={"duration": "24 h"})
    with pytest.raises(RuntimeError, match="enough"):
        knee.run(scenario, progress=stop)


def test_the_gil_is_free_while_a_run_goes_on() -> None:
    import threading

    counted = 0
    stop = threading.Event()

    def count() -> None:
        nonlocal counted
        while not stop.wait(0.001):
            counted += 1

    def enough(_: float) -> None:
        if counted > 100:
            raise StopIteration

    thread = threading.Thread(target=count)
    thread.start()
    try:
        with pytest.raises(StopIteration):
            knee.run(small(probes="none").replace(set={"duration": "24 h"}), progress=enough)
    finally:
        stop.set()
        thread.join()


def test_a_saved_run_reads_back_the_same(results: knee.Results, tmp_path: Path) -> None:
    folder = results.save(tmp_path / "here")
    again = knee.Results.read(folder)
    assert again.summary.equals(results.summary, null_equal=True)
    assert again.flows.equals(results.flows, null_equal=True)
    assert again.series().equals(results.series(), null_equal=True)
    assert again.scenario_toml == results.scenario_toml


def test_every_public_name_is_there() -> None:
    assert {*knee.__all__} <= {*dir(knee)}
    assert all(hasattr(knee, name) for name in knee.__all__)
    with pytest.raises(AttributeError, match="no attribute 'rnu'"):
        knee.rnu  # noqa: B018


def test_a_failing_save_leaves_earlier_results(
    results: knee.Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = results.save(tmp_path / "here")
    before = {file.name: file.read_bytes() for file in folder.iterdir()}

    def fail(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(knee.Results, "write", fail)
    with pytest.raises(KeyboardInterrupt):
        results.save(folder)
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["here"]


def test_columns_are_kept_where_the_picture_fails(
    results: knee.Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError("of the artist")

    monkeypatch.setattr(knee.Results, "plot", fail)
    with pytest.raises(PictureError, match=r"cannot draw overview\.png .*of the artist"):
        results.save(tmp_path / "here")
    assert knee.Results.read(tmp_path / "here").summary.equals(results.summary, null_equal=True)


@pytest.mark.parametrize(
    "seeds", [10**5000, [10**5000], -1, "1-5", 1.5, ["a"], [], range(10**12)], ids=range(8)
)
def test_seeds_that_are_none_are_refused(seeds: object) -> None:
    with pytest.raises(knee.ScenarioError, match="seeds") as caught:
        small().replace(seeds=seeds).check()  # type: ignore[arg-type]
    assert len(str(caught.value)) < 300


def test_settings_that_are_none_are_refused() -> None:
    endless: list[object] = []
    endless.append(endless)
    for value in (10**5000, endless):
        with pytest.raises(knee.ScenarioError, match=r"set dumbbell\.flows: "):
            small().replace(set={"dumbbell.flows": value})
    with pytest.raises(knee.ScenarioError, match="is not UTF-8 text"):
        small().replace(set={"title": "caf\udce9"}).check()
    with pytest.raises(knee.ScenarioError, match="is not UTF-8 text"):
        knee.compare("caf\udce9")


def test_numbers_of_numpy_are_numbers() -> None:
    scenario = knee.dumbbell(rate="1 Mbps", rtt="9 ms", flows=np.int64(2), protocol="vcp")  # type: ignore[arg-type]
    changed = scenario.replace(
        seeds=np.array([3, 5]),  # type: ignore[arg-type]
        set={"dumbbell.bottleneck_share": np.float64(0.5), "transport.pacing": np.bool_(True)},
    )
    settings = tomllib.loads(changed.to_toml())
    assert (settings["dumbbell"]["flows"], settings["seeds"]) == (2, [3, 5])
    assert settings["dumbbell"]["bottleneck_share"] == 0.5
    assert settings["transport"]["pacing"] is True


@pytest.mark.parametrize("threads", [0, -1, 5000, 10**400])
def test_threads_that_cannot_be_are_refused(threads: int, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="there can be 1 to 1024 threads"):
        knee.run(small(), threads=threads)
    with pytest.raises(ValueError, match="there can be 1 to 1024 threads"):
        knee.sweep(small(), {"dumbbell.flows": [1]}, store=Store(tmp_path), threads=threads)


def test_more_threads_than_runs_are_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[object] = []
    run = _core.run

    def note(*arguments: Any, **more: Any) -> Any:
        seen.append(more["threads"])
        return run(*arguments, **more)

    monkeypatch.setattr(_core, "run", note)
    for threads in (1000, 1, None):
        knee.run(small(seeds=2), threads=threads)
    assert seen == [2, 1, None]


def test_builders_make_every_topology() -> None:
    lot = knee.parking_lot(
        rate="10 Mbps", rtt="40 ms", links=3, flows=2, cross=1, duration="2 s", protocol="vcp"
    )
    links = knee.run(lot).summary["link"].unique(maintain_order=True).to_list()
    assert links[:3] == ["link1", "link2", "link3"]
    line = knee.graph(
        links=[
            {"name": "up", "from": "a", "to": "b", "rate": "10 Mbps", "delay": "5 ms"},
            {"name": "down", "from": "b", "to": "a", "rate": "10 Mbps", "delay": "5 ms"},
        ],
        flows=[{"name": "left", "from": "a", "to": "b", "count": 2}],
        protocol="sack",
        duration="2 s",
    )
    assert knee.run(line).flows.height == 2


def test_a_scenario_writes_its_defaults() -> None:
    settings = tomllib.loads(small(seeds=3).to_toml())
    assert settings["seeds"] == [1, 2, 3]
    assert settings["dumbbell"]["rtt"] == "20 ms"
    assert math.isclose(settings["dumbbell"]["bottleneck_share"], 0.8)


def test_bad_scenarios_are_refused_in_a_sentence() -> None:
    with pytest.raises(knee.ScenarioError, match="rrt") as caught:
        knee.run(knee.Scenario.of({"duration": "1 s", "dumbbell": {"rrt": "1 ms", "flows": 1}}))
    assert "\n" not in str(caught.value)
    with pytest.raises(FileNotFoundError, match="nearest is"):
        knee.run(str(Path(__file__).parents[1] / "scenarios" / "quikstart.toml"))


def test_shipped_names_are_near_also_beside_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine.toml").write_text("")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileNotFoundError, match="the nearest is quickstart"):
        knee.run("quikstart")
    with pytest.raises(FileNotFoundError, match=r"the nearest is mine\.toml"):
        knee.run("mien.toml")


def test_settings_of_every_type_reach_the_scenario() -> None:
    changed = small().replace(
        set={
            "transport": {"packets_per_ack": 2, "pacing": True},
            "dumbbell.start": {"uniform": ["0 s", "2 s"]},
            "dumbbell.bottleneck_share": 0.5,
        },
        seeds=[3, 5],
    )
    settings = tomllib.loads(changed.to_toml())
    assert settings["transport"]["packets_per_ack"] == 2
    assert settings["dumbbell"]["bottleneck_share"] == 0.5
    assert settings["seeds"] == [3, 5]
