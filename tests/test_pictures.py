"""The overview and the table on made-up runs, where every number is known."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from fake_run import BUFFER, PROTOCOLS, fake_run
from knee.analysis import Spread, spread
from knee.cli.table import measured, print_json, print_table
from knee.plots.overview import ROWS


def test_the_overview_has_a_panel_a_protocol_and_quantity() -> None:
    figure = fake_run(flows=4, duration=5).plot()
    axes = figure.get_axes()
    assert len(axes) == len(ROWS) * len(PROTOCOLS)
    assert [axis.get_title() for axis in axes[: len(PROTOCOLS)]] == list(PROTOCOLS)
    labels = [axis.get_ylabel() for axis in axes[:: len(PROTOCOLS)]]
    assert all("(" in label for label in labels), "each with its unit"
    assert all(axis.get_xlabel() == "time (s)" for axis in axes[-len(PROTOCOLS) :])
    for row in range(len(ROWS)):
        line = axes[row * len(PROTOCOLS) : (row + 1) * len(PROTOCOLS)]
        assert len({axis.get_ylim() for axis in line}) == 1
    assert len({axis.get_xlim() for axis in axes}) == 1
    assert axes[len(PROTOCOLS)].get_ylim()[1] > BUFFER


def test_the_median_line_is_the_median_of_the_flows() -> None:
    run = fake_run(flows=5, seeds=1, duration=2)
    figure = run.plot()
    window = figure.get_axes()[3 * len(PROTOCOLS)]
    drawn = window.get_lines()[0].get_ydata()
    expected = (
        run.series("window")
        .filter(pl.col("protocol") == "vcp")
        .group_by("time_s", maintain_order=True)
        .agg(pl.col("value").median())
    )
    assert np.allclose(drawn, expected["value"])


@pytest.mark.parametrize("flows", [1, 200])
def test_few_and_many_flows_are_drawn(flows: int, tmp_path: Path) -> None:
    fake_run(flows=flows, seeds=1, duration=2).plot(tmp_path / "overview.png")
    assert (tmp_path / "overview.png").stat().st_size > 10_000


def test_a_run_without_probes_is_drawn_empty() -> None:
    run = fake_run(flows=1, seeds=1, duration=2)
    run._tables["series"] = run.series().clear()
    run._frames.clear()
    run.plot()


def test_spread_is_the_sample_standard_deviation() -> None:
    summary = fake_run(flows=1, seeds=2, duration=2).summary.with_columns(
        jain=pl.when(pl.col("seed") == 1).then(0.5).otherwise(1.0)
    )
    for row in spread(summary):
        jain = row["jain"]
        assert isinstance(jain, Spread)
        assert jain.mean == 0.75
        assert jain.deviation == pytest.approx(0.25 * math.sqrt(2))


def test_one_seed_has_no_spread(capsys: pytest.CaptureFixture[str]) -> None:
    run = fake_run(flows=1, seeds=1, duration=2)
    assert all(math.isnan(row["jain"].deviation) for row in measured(run))
    print_table(run)
    printed = capsys.readouterr().out
    assert "±" not in printed
    assert "Seed 1: one run a row, so no spread." in printed


def test_the_table_fits_eighty_columns(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(fake_run(flows=1, duration=2))
    table = capsys.readouterr().out.partition("Link")[0]
    assert max(len(line.rstrip()) for line in table.splitlines()) <= 80


def test_json_has_null_where_there_is_no_number(capsys: pytest.CaptureFixture[str]) -> None:
    frame = pl.DataFrame({"a": [1.0, float("nan")]})
    print_json(frame)
    assert capsys.readouterr().out == '[{"a": 1.0},\n {"a": null}]\n'
