"""`knee compare --all-explicit`: what it compares, its figures on known columns, what it writes."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import knee
from conftest import SHORT, Knee
from knee.analysis.schemes import FIGURES, figures, fold
from knee.comparison import SCENARIOS, explicit_laws
from knee.results import Results
from test_cli_run import FILES, names

COLUMNS = ["scenario", "protocol", "seed", *FIGURES]
TOML = """\
name = "made"
duration = "40 s"
warmup = "10 s"
protocol = "vcp"
[dumbbell]
rtt = "80 ms"
flows = 2
[bottleneck]
rate = "10 Mbps"
[[flows]]
name = "web"
path = "forward"
arrivals = { per_second = 1, size = { fixed = "30 kB" } }
"""


def made(course: np.ndarray, completions: list[float | None], seeds: int = 1) -> Results:
    """A run whose two flows have `course` times 4 and times 5 Mbps, sampled each half second."""
    times = np.arange(0.5, 40.5, 0.5)
    of_run = [pl.lit("vcp").alias("protocol"), pl.lit(1, pl.UInt64).alias("seed")]
    flows = [("forward/0", 0.0, 4.0, None), ("forward/1", 2.0, 5.0, None)]
    flows += [(f"web/{i}", 9.0 + i, 0.0, time) for i, time in enumerate(completions)]
    summary = {
        "link": ["bottleneck", "bottleneck-reverse"], "utilisation": [0.9, 0.1],
        "queue_mean_packets": [7.0, 1.0], "queue_mean_percent": [3.5, None],
        "drop_rate": [0.02, 0.0],
    }  # fmt: skip
    series = [
        pl.DataFrame({"time_s": times, "value": rate * course}).select(
            *of_run, "time_s", pl.lit("throughput").alias("quantity"),
            pl.lit(flow).alias("entity"), "value",
        )
        for flow, _, rate, _ in flows[:2]
    ]  # fmt: skip
    schema = ["flow", "start_s", "goodput_mbps", "completion_s"]
    tables = {
        "summary": pl.DataFrame(summary).select(*of_run, pl.all()),
        "flows": pl.DataFrame(flows, schema, orient="row").select(*of_run, pl.all()),
        "series": pl.concat(series),
        "stations": pl.DataFrame(summary).select(*of_run).clear(),
    }
    several = [
        {name: table.with_columns(seed=pl.lit(seed, pl.UInt64)) for name, table in tables.items()}
        for seed in range(1, seeds + 1)
    ]
    return Results({name: pl.concat([each[name] for each in several]) for name in tables}, TOML)


def test_figures_are_those_of_the_bottleneck_and_of_both_kinds_of_flows() -> None:
    frame = figures(made(np.ones(80), [9.0, 0.2, None, 0.4]))
    assert frame.columns == COLUMNS
    row = frame.row(0, named=True)
    known = {"utilisation": 0.9, "queue_mean_packets": 7.0, "drop_rate": 0.02}
    assert {key: row[key] for key in known} == known
    assert row["queue_mean_percent"] == 3.5
    # Jain's index of 4 and 5; the first short flow began before the end of the warm-up.
    assert row["fairness_max_min"] == pytest.approx(81 / (2 * 41))
    assert row["fairness_proportional"] == pytest.approx(81 / (2 * 41))
    assert row["afct_s"] == pytest.approx(0.3)
    assert row["convergence_s"] == pytest.approx(1.5)  # the first whole average after 2 s


def test_convergence_is_from_the_last_start_until_rates_stay() -> None:
    times = np.arange(0.5, 40.5, 0.5)
    late = figures(made(np.where(times <= 15.0, 2.0, 1.0), []))
    # Averages over 2 s: of the samples until 16.5 s, one is still at 2, 1.25 on the whole.
    assert late["convergence_s"].to_list() == pytest.approx([17.0 - 2.0])
    wild = figures(made(1.0 + (np.arange(80) // 8) % 2, []))
    assert wild["convergence_s"].to_list() == [math.inf]
    assert late["afct_s"].to_list() == [None]


def test_folding_leaves_out_what_never_converges() -> None:
    frame = figures(made(np.ones(80), [], seeds=3)).with_columns(
        convergence_s=pl.Series([2.0, math.inf, 4.0])
    )
    (row,) = fold(frame)
    convergence = row["convergence_s"]
    assert not isinstance(convergence, str)
    assert (convergence.finite, convergence.measured) == (2, 3)
    assert convergence.spread.mean == pytest.approx(3.0)
    assert convergence.spread.deviation == pytest.approx(math.sqrt(2))


def test_the_explicit_laws_are_those_that_cannot_do_without() -> None:
    laws = explicit_laws()
    assert {"vcp", "mlcp", "bmcc", "xcp", "rcp", "qi-rcp", "piqi-rcp", "scalable-price"} <= {*laws}
    assert not {"reno", "sack", "cubic", "dctcp", "bbr", "scalable-delay", "vcp-e2e"} & {*laws}


def test_all_explicit_is_one_table_of_three_topologies(knee: Knee, tmp_path: Path) -> None:
    brief = ["--duration", "3 s", "--warmup", "1 s", "--seeds", "1", "--set", "probes=none"]
    done = knee("compare", "--all-explicit", *brief, "--quiet")
    assert done.returncode == 0, done.stderr
    late = re.compile(r"knee: warning: .*schemes-t1\.toml.*, before its flows begin")
    assert all(late.fullmatch(line) for line in done.stderr.splitlines()), done.stderr
    shown = done.stdout.splitlines()
    for name in SCENARIOS:
        assert sum(line.strip() == name for line in shown) == 1
    for law in explicit_laws():
        assert sum(line.split()[:1] == [law] for line in shown) == len(SCENARIOS)
    folder = tmp_path / "results" / "schemes"
    assert names(folder) == sorted([*SCENARIOS, "schemes.parquet", "schemes.png"])
    for name in SCENARIOS:
        assert names(folder / name) == FILES
    frame = pl.read_parquet(folder / "schemes.parquet")
    assert frame.columns == COLUMNS
    assert frame.height == len(SCENARIOS) * len(explicit_laws())
    assert frame["fairness_max_min"].is_between(0, 1).all()
    (folder / "schemes.png").unlink()
    assert knee("plot", folder).returncode == 0
    assert (folder / "schemes.png").is_file()


def test_a_scenario_of_ones_own_under_any_protocols(knee: Knee, short: Path) -> None:
    arguments = ["vcp", "sack/red", "vcp", "--scenario", short, "--seeds", "1-2", "--json"]
    done = knee("compare", *arguments)
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout, parse_constant=pytest.fail)
    assert [list(row) for row in rows] == [COLUMNS] * len(rows)
    assert [(row["protocol"], row["seed"]) for row in rows] == [
        ("vcp", 1), ("vcp", 2), ("sack/red", 1), ("sack/red", 2),
    ]  # fmt: skip
    assert {row["scenario"] for row in rows} == {"short"}
    assert all(row["afct_s"] is None for row in rows)
    again = knee("compare", "xcp", "--scenario", short, "--seeds", "1", "--quiet")
    assert again.returncode == 0, again.stderr


def test_python_has_the_same() -> None:
    scenario = knee.dumbbell(rate="5 Mbps", rtt="20 ms", flows=2, duration="2 s", warmup="1 s")
    comparison = knee.compare_schemes("vcp", "xcp", scenarios=[scenario], seeds=1)
    assert comparison.figures["protocol"].to_list() == ["vcp", "xcp"]
    assert len(comparison.plot().get_axes()) == 7


REFUSED = {
    "nothing named": (["--scenario", "short.toml"], "--all-explicit"),
    "a dumbbell's option": (["--all-explicit", "--rtt", "1 s"], "--set dumbbell.rtt="),
    "unknown scenario": (["--all-explicit", "--scenario", "shrt.toml"], "short.toml"),
    "unknown shipped one": (["vcp", "--scenario", "nowhere/schemes-t2"], "schemes-t1"),
    "unknown protocol": (["--all-explicit", "cubik"], "did you mean `cubic`?"),
    "unknown setting": (["--all-explicit", "--set", "seed=3"], "seeds"),
    "one name twice": (["vcp", *2 * ["--scenario", "short.toml"]], "short"),
    "somebody's folder": (["vcp", "--scenario", "short.toml", "--out", "."], "short.toml"),
    "no time": (["vcp", "--scenario", "short.toml", "--duration", "3"], "unit"),
}


@pytest.mark.parametrize(("arguments", "word"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_compared_is_refused_in_a_sentence(
    knee: Knee, short: Path, tmp_path: Path, arguments: list[str], word: str
) -> None:
    assert short.read_text() == SHORT
    done = knee("compare", *arguments)
    assert done.returncode == 2, done
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1, done.stderr
    assert word in done.stderr
    assert names(tmp_path) == ["short.toml"]
