"""Schemes on several scenarios: a row of panels a scenario, a column a figure, a dot a protocol."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, MaxNLocator

from knee.analysis.schemes import Folded, fold
from knee.plots.style import BLUE, GREY, STYLE, VERMILION, label, name_label

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes

PANEL = 1.5
"""Width of a panel, inches."""
LINE = 0.2
"""Height of a protocol's line, inches."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of panels: a figure, the label of its axis, and the axis' end, if it is fixed."""

    figure: str
    label: str
    scale: float = 1.0
    ends: tuple[float, float] | None = None


COLUMNS = (
    Column("utilisation", "utilisation", ends=(0.0, 1.05)),
    Column("queue_mean_packets", "mean queue\n(packets)"),
    Column("drop_rate", "drops (%)", scale=100.0),
    Column("fairness_max_min", "fairness,\nmax-min", ends=(0.0, 1.05)),
    Column("fairness_proportional", "fairness,\nproportional", ends=(0.0, 1.05)),
    Column("convergence_s", "convergence\n(s)"),
    Column("afct_s", "AFCT (s)"),
)


def draw_schemes(figures: pl.DataFrame) -> Figure:
    """Draw the figures of `knee.analysis.schemes`: means over the seeds, bars of one deviation.

    A cross at the right edge: with some seeds the scheme does not converge.
    """
    rows = fold(figures)
    scenarios = list(dict.fromkeys(str(row["scenario"]) for row in rows))
    parts = [[row for row in rows if row["scenario"] == name] for name in scenarios]
    with mpl.rc_context(STYLE):
        heights = [0.45 + LINE * len(part) for part in parts]
        size = (1.3 + PANEL * len(COLUMNS), sum(heights) + 0.7)
        picture = Figure(figsize=size, layout="constrained")
        axes = picture.subplots(
            len(parts), len(COLUMNS), squeeze=False, height_ratios=heights, sharex="col"
        )
        for line, name, part in zip(axes, scenarios, parts, strict=True):
            for axis, column in zip(line, COLUMNS, strict=True):
                _draw(axis, column, part)
            line[0].set_yticks(range(len(part)), [name_label(str(row["protocol"])) for row in part])
            line[0].set_title(label(name), loc="left", fontsize=9)
        for axis, column in zip(axes[-1], COLUMNS, strict=True):
            axis.set_xlabel(column.label)
            if column.ends:
                axis.xaxis.set_major_locator(FixedLocator([0.0, 0.5, 1.0]))
                axis.set_xlim(column.ends)
            else:
                axis.xaxis.set_major_locator(MaxNLocator(3))
                axis.set_xlim(left=0.0, right=max(axis.get_xlim()[1], 1e-3))
    return picture


def _draw(axis: Axes, column: Column, part: list[dict[str, str | Folded]]) -> None:
    for place, row in enumerate(part):
        folded = row[column.figure]
        assert isinstance(folded, Folded)
        mean, deviation = folded.spread.mean, folded.spread.deviation
        if folded.finite:
            middle = column.scale * mean
            bar = 0.0 if math.isnan(deviation) else column.scale * deviation
            axis.errorbar(
                [middle], [place], xerr=[[min(bar, middle)], [bar]], fmt="o", color=BLUE,
                ecolor=GREY, markersize=4, elinewidth=1.2, clip_on=False,
            )  # fmt: skip
        if folded.finite < folded.measured:
            axis.plot(
                [0.97], [place], "x", color=VERMILION, markersize=5,
                transform=axis.get_yaxis_transform(),
            )  # fmt: skip
    axis.set_ylim(len(part) - 0.5, -0.5)
    axis.set_yticks(range(len(part)), [""] * len(part))
