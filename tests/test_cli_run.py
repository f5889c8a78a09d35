from __future__ import annotations

import json
import re
from pathlib import Path

import polars as pl
import pytest

from columns import FLOWS, SERIES, SUMMARY
from conftest import ROOT, Knee

FILES = [
    "flows.parquet",
    "overview.png",
    "scenario.toml",
    "series.parquet",
    "stations.parquet",
    "summary.parquet",
]


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def test_a_run_prints_a_table_and_writes_its_folder(
    knee: Knee, short: Path, tmp_path: Path
) -> None:
    done = knee("run", short)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert re.search(r"^ *vcp ", done.stdout, re.M)
    assert re.search(r"^ *sack ", done.stdout, re.M)
    assert "Seeds 1, 2: mean ± standard deviation" in done.stdout
    folder = tmp_path / "results" / "short"
    assert names(folder) == FILES
    assert names(tmp_path / "results") == ["short"]
    assert pl.read_parquet(folder / "summary.parquet").columns == SUMMARY
    assert pl.read_parquet(folder / "flows.parquet").columns == FLOWS
    assert pl.read_parquet(folder / "series.parquet").columns == SERIES


def test_the_scenario_as_run_runs_again_to_the_same(
    knee: Knee, short: Path, tmp_path: Path
) -> None:
    assert knee("run", short, "--set", "dumbbell.flows=2").returncode == 0
    again = tmp_path / "results" / "short" / "scenario.toml"
    done = knee("run", again, "--out", "again")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "again" / "scenario.toml").read_text() == again.read_text()
    first, second = (
        pl.read_parquet(folder / "summary.parquet").drop("cpu_seconds")
        for folder in (again.parent, tmp_path / "again")
    )
    assert first.equals(second)


def test_json_is_the_summary_and_nothing_else(knee: Knee, short: Path) -> None:
    done = knee("run", short, "--json")
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout, parse_constant=pytest.fail)
    assert [list(row) for row in rows] == [SUMMARY] * len(rows)
    assert {(row["protocol"], row["seed"]) for row in rows} == {
        (protocol, seed) for protocol in ("vcp", "sack") for seed in (1, 2)
    }
    assert all(0 < row["utilisation"] <= 1 for row in rows if row["link"] == rows[0]["link"])


def test_quiet_json_says_nothing_on_stderr(knee: Knee, short: Path) -> None:
    done = knee("run", short, "--json", "--quiet", "--seed", "7", "--seed", "3-4")
    assert done.returncode == 0
    assert done.stderr == ""
    assert {row["seed"] for row in json.loads(done.stdout)} == {3, 4, 7}


def test_settings_reach_the_run(knee: Knee, short: Path, tmp_path: Path) -> None:
    done = knee("run", short, "--set", "bottleneck.rate=20 Mbps", "--seed", "5")
    assert done.returncode == 0, done.stderr
    assert "Seed 5" in done.stdout
    assert 'rate = "20 Mbps"' in (tmp_path / "results/short/scenario.toml").read_text()


def test_compare_needs_no_file(knee: Knee, tmp_path: Path) -> None:
    network = ["--rate", "10 Mbps", "--rtt", "20 ms", "--flows", "3", "--reverse", "1"]
    length = ["--duration", "3 s", "--seeds", "2", "--warmup", "1 s"]
    more = ["--buffer", "1 BDP", "--rtt-step", "2 ms", "--out", "here", "--json"]
    done = knee("compare", "vcp", "sack/red", *network, *length, *more)
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)
    assert list(dict.fromkeys(row["protocol"] for row in rows)) == ["vcp", "sack/red"]
    assert names(tmp_path / "here") == FILES


def test_a_folder_of_somebody_else_is_left_alone(knee: Knee, short: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("dear to me")
    done = knee("run", short, "--out", "mine")
    assert done.returncode == 2
    assert "thesis.tex" in done.stderr
    assert done.stdout == ""
    assert names(tmp_path / "mine") == ["thesis.tex"]


def test_a_folder_that_cannot_be_written_is_named(knee: Knee, short: Path, tmp_path: Path) -> None:
    for folder in ("short.toml", "short.toml/below", "/proc/knee"):
        done = knee("run", short, "--out", folder)
        assert done.returncode == 2, folder
        assert one_sentence(done.stderr)
        assert folder in done.stderr
    assert names(tmp_path) == ["short.toml"]


def test_a_later_run_replaces_an_earlier_one(knee: Knee, short: Path, tmp_path: Path) -> None:
    assert knee("run", short, "--seed", "1").returncode == 0
    assert knee("run", short, "--seed", "2").returncode == 0
    summary = pl.read_parquet(tmp_path / "results/short/summary.parquet")
    assert summary["seed"].unique().to_list() == [2]
    assert names(tmp_path / "results") == ["short"]


def test_plot_draws_a_folder_again(knee: Knee, short: Path, tmp_path: Path) -> None:
    assert knee("run", short, "--seed", "1").returncode == 0
    picture = tmp_path / "results" / "short" / "overview.png"
    picture.unlink()
    done = knee("plot", "results/short")
    assert done.returncode == 0, done.stderr
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert knee("plot", "results/short", "--out", "figure.pdf").returncode == 0
    assert (tmp_path / "figure.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.parametrize("file", sorted((ROOT / "scenarios").glob("*.toml")), ids=lambda f: f.stem)
def test_every_shipped_scenario_is_good(knee: Knee, file: Path) -> None:
    done = knee("scenario", "check", file)
    assert done.returncode == 0, done.stderr


def one_sentence(text: str) -> bool:
    return text.startswith("knee: ") and text.count("\n") == 1 and "Traceback" not in text
