"""Utilisation and queue against capacity and number of flows: knee and ns-2."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator

from knee.plots.style import BLUE, GREEN, PURPLE, STYLE, VERMILION, write_figure

if TYPE_CHECKING:
    from compare import Point

COLOURS = {"vcp-authors": PURPLE, "xcp": BLUE, "sack/red": VERMILION, "newreno/red": GREEN}
MARKERS = {"vcp-authors": "D", "xcp": "o", "sack/red": "s", "newreno/red": "^"}
AXES = {"capacity": "capacity, Mbps", "flows": "forward flows"}
NOTES = {
    "capacity": "30 + 30 flows, 80 ms, 120 s",
    "flows": "150 Mbps, 80 ms, 30 reverse flows, 120 s",
}


def draw(points: Sequence[Point], folder: Path) -> None:
    """Write capacity.png and flows.png, if there are points on them."""
    for curve in AXES:
        chosen = [point for point in points if point.case.curve == curve]
        if not chosen:
            continue
        with rc_context(STYLE):
            write_figure(_figure(chosen, curve), folder / f"{curve}.png")


def _figure(points: Sequence[Point], curve: str) -> Figure:
    figure = Figure(figsize=(7.2, 5.6), layout="constrained")
    upper, lower = figure.subplots(2, 1, sharex=True)
    for protocol in COLOURS:
        own = [point for point in points if point.case.protocol == protocol]
        if own:
            _curve(upper, own, protocol, "utilisation", per_buffer=False)
            _curve(lower, own, protocol, "queue_packets", per_buffer=True)
    upper.set(ylabel="utilisation", ylim=(0, 1.03), title=NOTES[curve])
    lower.set(xscale="log", yscale="log", xlabel=AXES[curve], ylabel="mean queue, % of the buffer")
    lower.xaxis.set_major_formatter("{x:g}")
    lower.yaxis.set_major_formatter("{x:g}")
    lower.yaxis.set_minor_formatter("{x:g}")
    lower.yaxis.set_minor_locator(LogLocator(subs=(2, 5)))
    figure.legend(*upper.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


def _curve(
    axes: Axes, points: Sequence[Point], protocol: str, name: str, *, per_buffer: bool
) -> None:
    """A line with a bar of a deviation either side for knee, hollow marks for ns-2."""
    x = [point.case.x for point in points]
    scale = [100 / point.case.buffer_packets if per_buffer else 1.0 for point in points]
    means = [p.figures[name].mean * by for p, by in zip(points, scale, strict=True)]
    spreads = [p.figures[name].deviation * by for p, by in zip(points, scale, strict=True)]
    references = [p.case.reference[name] * by for p, by in zip(points, scale, strict=True)]
    colour, marker = COLOURS[protocol], MARKERS[protocol]
    low = [min(spread, 0.9 * mean) for spread, mean in zip(spreads, means, strict=True)]
    axes.errorbar(
        x, means, (low, spreads), color=colour, capsize=2, label=f"knee: {protocol} (± deviation)"
    )
    axes.plot(
        x,
        references,
        marker,
        color=colour,
        markerfacecolor="none",
        markersize=6,
        label=f"ns-2: {protocol}",
    )
