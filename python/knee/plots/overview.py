"""The overview: small multiples of a run's first seed, a column a protocol, time to the right."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np
import polars as pl
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, MaxNLocator

from knee.analysis.samples import side_by_side
from knee.plots.style import BLACK, GREY, STYLE, VERMILION, label, name_label, palette
from knee.quantity import seconds

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from knee.columns import Run

PANEL = (2.45, 1.45)
"""Width and height of a panel, inches."""

DENSE = 600
"""Samples in a panel from which a line is drawn thin, so that swings do not run together."""

NAMED = 9
"""Most groups of flows or links that the legend beside a panel names."""

LINES = 60
"""Most flows drawn one by one; the median is always over all."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of panels: what it shows and how its axis is called."""

    quantity: str
    label: str
    of_flows: bool


ROWS = (
    Row("utilisation", "utilisation\n(fraction)", of_flows=False),
    Row("queue", "queue\n(packets)", of_flows=False),
    Row("throughput", "throughput\na flow (Mbps)", of_flows=True),
    Row("window", "window a flow\n(packets)", of_flows=True),
)


@dataclass(frozen=True, slots=True)
class Samples:
    """Samples of a panel: `values[i, j]` of entity j (NaN if not there) at `times[i]` seconds."""

    times: NDArray[np.float64]
    values: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Panels:
    """All samples of a run's first seed, by row and protocol; then by group of flows or link."""

    protocols: list[str]
    rows: list[Row]
    samples: dict[tuple[str, str], dict[str, Samples]]
    buffers: dict[str, float] = field(default_factory=dict)

    def groups(self, row: Row) -> list[str]:
        """Groups or links of a row, over all protocols, in order."""
        found: dict[str, None] = {}
        for protocol in self.protocols:
            found.update(dict.fromkeys(self.samples.get((row.quantity, protocol), {})))
        return list(found)


def draw_overview(run: Run) -> Figure:
    """Draw utilisation, queue, throughput and windows of a run's first seed against time.

    Thin lines are flows, the thick one is their median; the dashed line is the buffer; the
    shaded beginning is the warm-up, which no figure counts.
    """
    panels = _collect(run)
    warmup, duration = (seconds(run.settings[key]) for key in ("warmup", "duration"))
    rows, columns = max(len(panels.rows), 1), len(panels.protocols)
    with mpl.rc_context(STYLE):
        size = (max(0.9 + PANEL[0] * columns, 4.2), 0.75 + PANEL[1] * rows)
        figure = Figure(figsize=size, layout=ConstrainedLayoutEngine(hspace=0.045, wspace=0.03))
        axes = figure.subplots(rows, columns, sharex=True, sharey="row", squeeze=False)
        for row, line in zip(panels.rows, axes, strict=False):
            _draw_row(panels, row, line, warmup)
        for axis, protocol in zip(axes[0], panels.protocols, strict=True):
            axis.set_title(name_label(protocol), pad=6)
        for axis in axes[-1]:
            axis.set_xlabel("time (s)")
            axis.xaxis.set_major_locator(MaxNLocator(4, integer=True))
            axis.set_xlim(0, duration or None)
        figure.align_ylabels(axes[:, 0])
        note = f"{run.name}, seed {run.seeds[0]}"
        if any(row.of_flows for row in panels.rows):
            note += "   |   thin: flows, thick: their median"
        if warmup > 0:
            note += "   |   shaded: warm-up, not counted"
        figure.suptitle(label(note), fontsize=7.5, color=GREY, x=0.995, ha="right")
    return figure


def _collect(run: Run) -> Panels:
    summary = run.summary
    protocols = run.protocols
    first = run.series().filter(pl.col("seed") == run.seeds[0])
    samples: dict[tuple[str, str], dict[str, Samples]] = {}
    for protocol in protocols:
        own = first.filter(pl.col("protocol") == protocol)
        groups = _groups(run, protocol)
        for row in ROWS:
            table = own.filter(pl.col("quantity") == row.quantity)
            entities = groups if row.of_flows else {link: [link] for link in run.main_links}
            parts = {
                name: Samples(*side_by_side(table, wanted)) for name, wanted in entities.items()
            }
            kept = {name: part for name, part in parts.items() if part.times.size}
            if kept:
                samples[row.quantity, protocol] = kept
    rows = [row for row in ROWS if any(quantity == row.quantity for quantity, _ in samples)]
    return Panels(protocols, rows, samples, _buffers(summary) if len(run.main_links) == 1 else {})


def _groups(run: Run, protocol: str) -> dict[str, list[str]]:
    """Flows of each group; not of `reverse` where there is a `forward`."""
    flows = run.flows.filter((pl.col("protocol") == protocol) & (pl.col("seed") == run.seeds[0]))
    groups: dict[str, list[str]] = {}
    for group, flow in flows.select("group", "flow").iter_rows():
        groups.setdefault(str(group), []).append(str(flow))
    if "forward" in groups:
        groups.pop("reverse", None)
    return groups


def _buffers(summary: pl.DataFrame) -> dict[str, float]:
    """The buffer of each protocol's first link, packets; unlimited ones are not there."""
    buffers: dict[str, float] = {}
    for row in summary.iter_rows(named=True):
        share = row["queue_max_percent"]
        if share and np.isfinite(share) and row["protocol"] not in buffers:
            buffers[row["protocol"]] = 100.0 * row["queue_max_packets"] / share
    return buffers


def _draw_row(panels: Panels, row: Row, axes: NDArray[np.object_], warmup: float) -> None:
    groups = panels.groups(row)
    colours = dict(zip(groups, palette(len(groups)), strict=True))
    for axis, protocol in zip(axes, panels.protocols, strict=True):
        if warmup > 0:
            axis.axvspan(0, warmup, color="#F2F2F2", linewidth=0, zorder=0)
        for group, samples in panels.samples.get((row.quantity, protocol), {}).items():
            if row.of_flows:
                median = colours[group] if len(groups) > 1 else BLACK
                _draw_flows(axis, samples, colours[group], median)
            else:
                _draw_link(axis, samples, colours[group], len(groups))
        if row.quantity == "queue" and protocol in panels.buffers:
            _draw_buffer(axis, panels.buffers[protocol])
    axes[0].set_ylabel(row.label)
    ticks = FixedLocator([0, 0.5, 1]) if row.quantity == "utilisation" else MaxNLocator(4)
    axes[0].yaxis.set_major_locator(ticks)
    axes[0].set_ylim(0, _ceiling(panels, row, warmup))
    if len(groups) > 1 and row.quantity in ("utilisation", "throughput"):
        _draw_legend(axes[-1], colours)


def _draw_legend(axis: Axes, colours: dict[str, str]) -> None:
    """To the right of the panels, so that it hides nothing; of many some, evenly."""
    shown = np.unique(np.linspace(0, len(colours) - 1, min(len(colours), NAMED)).astype(int))
    names = [list(colours)[place] for place in shown]
    axis.legend(
        [Line2D([], [], color=colours[name], linewidth=1.3) for name in names],
        [name_label(name) for name in names],
        loc="upper left",
        bbox_to_anchor=(1.01, 1.0),
        handlelength=1.0,
        borderaxespad=0.0,
        labelspacing=0.25,
    )


def _draw_link(axis: Axes, samples: Samples, colour: str, links: int) -> None:
    width = 1.0 if samples.times.size * links < DENSE else 0.45
    axis.plot(samples.times, samples.values[:, 0], color=colour, linewidth=width)


def _draw_flows(axis: Axes, samples: Samples, colour: str, median_colour: str) -> None:
    count = samples.values.shape[1]
    chosen = np.unique(np.linspace(0, count - 1, min(count, LINES)).astype(int))
    lines = [np.column_stack((samples.times, samples.values[:, flow])) for flow in chosen]
    alpha = float(np.clip(6.0 / len(chosen), 0.15, 0.7))
    axis.add_collection(LineCollection(lines, colors=colour, linewidths=0.5, alpha=alpha))
    if count > 1:
        present = ~np.isnan(samples.values).all(axis=1)
        median = np.nanmedian(samples.values[present], axis=1)
        axis.plot(samples.times[present], median, color=median_colour, linewidth=1.3)
    else:
        axis.plot(samples.times, samples.values[:, 0], color=colour)


def _draw_buffer(axis: Axes, buffer: float) -> None:
    axis.axhline(buffer, color=VERMILION, linewidth=0.9, linestyle=(0, (4, 2)))
    axis.annotate(
        f"buffer {buffer:.0f}",
        (1, buffer),
        xycoords=("axes fraction", "data"),
        xytext=(-2, 2),
        textcoords="offset points",
        ha="right",
        va="bottom",
        fontsize=7.5,
        color=VERMILION,
    )


def _ceiling(panels: Panels, row: Row, warmup: float) -> float:
    """Top of a row's axis: all that happens after the warm-up, single flows' stray peaks apart."""
    if row.quantity == "utilisation":
        return 1.05
    parts = [
        part[np.isfinite(part)]
        for protocol in panels.protocols
        for samples in panels.samples.get((row.quantity, protocol), {}).values()
        if (part := samples.values[samples.times >= warmup]).size
    ]
    tops = [float(np.quantile(part, 0.995 if row.of_flows else 1.0)) for part in parts if part.size]
    if row.quantity == "queue":
        tops += [1.12 * buffer for buffer in panels.buffers.values()]
    top = max(tops, default=0.0)
    return 1.08 * top if top > 0 else 1.0
