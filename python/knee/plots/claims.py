"""The figures of a paper, in its axes, with what it claims as bands."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np
import polars as pl
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.transforms import offset_copy

from knee.analysis.samples import samples
from knee.ledger.evidence import Evidence, Place
from knee.ledger.format import SUBJECT
from knee.plots.style import BLACK, BLUE, GREEN, PURPLE, STYLE, VERMILION, label, palette

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

    from knee.ledger.format import Check, Experiment, Panel
    from knee.ledger.format import Figure as FigureSpec

PANEL = (3.4, 2.6)
"""Width and height of a panel against a sweep, inches."""

TIME_PANEL = (3.4, 1.7)
"""The same of a panel against time."""

SUBJECTS = (BLUE, VERMILION, BLACK, PURPLE)
"""Colours of the protocols that a claim is about, whatever the peers'."""

MARKS = "osv^D<>PX*"
BAND_ALPHA = 0.10
BAND_LINE = 0.15
"""Height of a claim's line below a panel, inches."""
BELOW = 28
"""From a panel to these lines, points: ticks and the axis' name."""
MOST_LINES = 12


def draw_figure(evidence: Evidence, figure: FigureSpec) -> Figure | None:
    """A figure of a claim; None if there is nothing to draw."""
    experiment = evidence.claim.of(figure)
    with mpl.rc_context(STYLE):
        if figure.panels[0].quantity is not None:
            return _against_time(evidence, figure, experiment)
        return _against_sweep(evidence, figure, experiment)


def _against_sweep(evidence: Evidence, figure: FigureSpec, experiment: Experiment) -> Figure | None:
    rows = evidence.rows[experiment.id]
    if rows.is_empty() or experiment.sweep is None:
        return None
    lines = _lines(rows, figure.roles)
    columns = 1 + len(lines) // (MOST_LINES + 1)
    height = PANEL[0] if figure.panels[0].against is not None else PANEL[1]
    width = PANEL[0] * len(figure.panels) + 1.4 * columns
    picture = Figure(figsize=(width, height), layout="constrained")
    axes = picture.subplots(1, len(figure.panels), squeeze=False)[0]
    most = 0
    for axis, panel in zip(axes, figure.panels, strict=True):
        axis.set_title(label(panel.label), fontsize=9)
        if panel.against is not None:
            _draw_curves(axis, lines, panel)
            continue
        bands = _draw_bands(axis, evidence, figure, panel)
        for number, (name, part) in enumerate(lines.items()):
            _draw_line(axis, part, panel, name, number, len(lines))
        if experiment.sweep.log:
            axis.set_xscale("log")
        if panel.log and any((np.asarray(line.get_ydata()) > 0).any() for line in axis.lines):
            axis.set_yscale("log")
        axis.set_xlabel(label(experiment.sweep.name))
        if bands:
            below = offset_copy(axis.transAxes, picture, y=-BELOW, units="points")
            place = {"loc": "upper left", "bbox_to_anchor": (-0.02, 0), "bbox_transform": below}
            axis.legend(handles=bands, fontsize=7, **place)
            most = max(most, len(bands))
    picture.set_figheight(height + 0.3 + BAND_LINE * most)
    picture.legend(*axes[-1].get_legend_handles_labels(), loc="outside right upper", ncols=columns)
    picture.suptitle(label(figure.title), fontsize=10, x=0.01, ha="left")
    return picture


def _lines(rows: pl.DataFrame, roles: Sequence[str] | None) -> dict[str, pl.DataFrame]:
    """Rows of each line, by its name in the legend: subjects first, in their order."""
    named = rows.with_columns(
        name=pl.when(pl.col("subject").is_null())
        .then(pl.col("role"))
        .when(pl.col("role") == SUBJECT)
        .then(pl.col("subject"))
        .otherwise(pl.col("subject") + ", " + pl.col("role"))
    )
    if roles is not None:
        named = named.filter(pl.col("role").is_in(roles))
    parts = named.partition_by("name", maintain_order=True)
    ordered = sorted(parts, key=lambda part: part["subject"][0] is None)
    return {str(part["name"][0]): part for part in ordered}


def _draw_line(
    axis: Axes, part: pl.DataFrame, panel: Panel, name: str, number: int, count: int
) -> None:
    assert panel.metric is not None
    column = panel.metric.column
    folded = (
        part.group_by("x", maintain_order=True)
        .agg(mean=pl.col(column).mean(), low=pl.col(column).min(), high=pl.col(column).max())
        .sort("x")
    )
    x, mean = folded["x"].to_numpy(), folded["mean"].to_numpy() * panel.scale
    finite = np.isfinite(mean)
    is_subject = part["subject"][0] is not None
    colour = SUBJECTS[number % len(SUBJECTS)] if is_subject else palette(count)[number]
    axis.errorbar(
        x[finite],
        mean[finite],
        yerr=np.abs(
            np.vstack([folded["low"].to_numpy(), folded["high"].to_numpy()])[:, finite]
            * panel.scale
            - mean[finite]
        ),
        label=label(name),
        color=colour,
        marker=MARKS[number % len(MARKS)],
        markersize=4 if is_subject else 3,
        linewidth=1.6 if is_subject else 0.8,
        elinewidth=0.8,
        zorder=3 if is_subject else 2,
    )


def _draw_curves(axis: Axes, lines: dict[str, pl.DataFrame], panel: Panel) -> None:
    """A metric against another, in the order of the sweep."""
    assert panel.metric is not None
    assert panel.against is not None
    y, x = panel.metric.column, panel.against.column
    for (name, part), colour in zip(lines.items(), palette(len(lines)), strict=True):
        mean = part.group_by("x").agg(pl.mean(x).alias("across"), pl.mean(y).alias("up")).sort("x")
        axis.plot(mean["across"], mean["up"] * panel.scale, label=label(name), color=colour)
    if panel.mark is not None:
        axis.plot(*panel.mark, marker="+", color=VERMILION, markersize=9, markeredgewidth=1.8)
    if panel.shown is not None:
        axis.set_xlim(panel.shown[0])
        axis.set_ylim(panel.shown[1])
    axis.set_xlabel(label(x))
    axis.set_ylabel(label(y))


def _draw_bands(axis: Axes, evidence: Evidence, figure: FigureSpec, panel: Panel) -> list[Artist]:
    """What the checks of this panel's metric allow, over the part of the sweep that they cover.

    Returns:
        What the panel's legend shows of them.
    """
    shown: list[Artist] = []
    sweep = evidence.claim.of(figure).sweep
    values = sweep.values if sweep else [0.0]
    colours = iter((GREEN, VERMILION, BLUE))
    for check in evidence.claim.check:
        if not _is_shown(evidence, check, figure, panel):
            continue
        low, high = max(check.at[0], min(values)), min(check.at[1], max(values))
        least, most = (bound * panel.scale for bound in check.within)
        colour = next(colours, GREEN)
        if math.isinf(most) or math.isinf(least):
            axis.plot([low, high], [least if math.isfinite(least) else most] * 2, color=colour,
                      linewidth=0.8, linestyle=(0, (4, 2)))  # fmt: skip
        elif low == high:
            axis.vlines(low, least, most, color=colour, linewidth=8, alpha=2 * BAND_ALPHA)
        elif least == most:
            axis.plot([low, high], [least, most], color=colour, linewidth=3, alpha=0.3)
        else:
            axis.fill_between([low, high], least, most, color=colour, alpha=BAND_ALPHA, linewidth=0)
        claimed = label(f"claim: {check.paper}")
        shown.append(Line2D([], [], color=colour, alpha=0.3, linewidth=5, label=claimed))
    return shown


def _is_shown(evidence: Evidence, check: Check, figure: FigureSpec, panel: Panel) -> bool:
    experiment = evidence.claim.of(figure)
    return (
        evidence.claim.of(check) is experiment
        and check.metric == panel.metric
        and check.against is None
        and (SUBJECT in check.of or experiment.model is not None)
        and set(check.of) <= set(figure.roles or check.of)
        and check.over in ("every", "most", "mean")
    )


def _against_time(evidence: Evidence, figure: FigureSpec, experiment: Experiment) -> Figure | None:
    places = [
        place
        for place in evidence.first
        if place.experiment == experiment.id
        and (figure.roles is None or place.role in figure.roles)
        and (math.isnan(place.x) or place.x == _shown_x(evidence, figure, experiment))
    ]
    if not places:
        return None
    rows, columns = len(figure.panels), len(places)
    size = (TIME_PANEL[0] * columns + 0.6, TIME_PANEL[1] * rows + 0.6)
    picture = Figure(figsize=size, layout="constrained")
    axes = picture.subplots(rows, columns, sharex=True, sharey="row", squeeze=False)
    for column, place in zip(axes.T, places, strict=True):
        run = evidence.run(place)
        column[0].set_title(label(_name(place)))
        for axis, panel in zip(column, figure.panels, strict=True):
            if run is not None:
                start, end = figure.window or (0.0, math.inf)
                times, values = samples(run, panel.quantity or "", panel.entity, start, end)
                shown = values[:, :MOST_LINES]
                colours = palette(shown.shape[1])
                for line, colour in zip(shown.T, colours, strict=True):
                    axis.plot(times, line * panel.scale, color=colour, linewidth=0.8)
        column[-1].set_xlabel("time, s")
    for axis, panel in zip(axes[:, 0], figure.panels, strict=True):
        axis.set_ylabel(label(panel.label))
        if panel.log:
            axis.set_yscale("log")
        else:
            axis.set_ylim(bottom=0)
    picture.suptitle(label(figure.title), fontsize=10, x=0.01, ha="left")
    return picture


def _shown_x(evidence: Evidence, figure: FigureSpec, experiment: Experiment) -> float:
    there = [place.x for place in evidence.first if place.experiment == experiment.id]
    return figure.x if figure.x in there and figure.x is not None else min(there)


def _name(place: Place) -> str:
    if place.subject is None:
        return place.role
    return place.subject if place.role == SUBJECT else f"{place.subject}, {place.role}"
