"""Run the settings of the reference results in knee and print both side by side.

`make reference` writes `results.md` and two pictures beside this file, for docs/validation.md.
"""

from __future__ import annotations

import argparse
import fnmatch
import math
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
from cases import HERE, Case, Setting, dumbbells, ns2
from pictures import draw
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

import knee

FIGURES = {
    "utilisation": "utilisation",
    "queue_packets": "queue_mean_packets",
    "drop_rate": "drop_rate",
    "jain": "jain",
}
"""Figures compared, and the columns of the summary that hold them."""
TITLES = {
    "utilisation": "utilisation",
    "queue_packets": "mean queue, packets",
    "drop_rate": "drop rate",
    "jain": "Jain index",
}
Verdict = str
WITHIN, BEYOND, EXPLAINED, UNJUDGED = "within", "beyond", "explained", ""


@dataclass(frozen=True)
class Figure:
    """A figure of a point: knee's over its seeds, the reference's, and how they compare."""

    mean: float
    deviation: float
    reference: float | None
    verdict: Verdict


@dataclass(frozen=True)
class Point:
    """A case with its figures."""

    case: Case
    figures: Mapping[str, Figure]


def is_within(knee_mean: float, reference: float, tolerance: Mapping[str, Any]) -> bool:
    """Does any of the bounds `abs`, `rel` and `factor` hold?"""
    off = abs(knee_mean - reference)
    bounds = (tolerance.get("abs", -1.0), tolerance.get("rel", -1.0) * reference)
    if any(bound >= 0.0 and off <= bound + 1e-12 for bound in bounds):
        return True
    factor = float(tolerance.get("factor", 0.0))
    return factor > 0.0 and reference / max(factor, 1.0) <= knee_mean <= reference * factor


def judge(case: Case, name: str, mean: float, explained: Sequence[Mapping[str, Any]]) -> Verdict:
    """What the tolerance of this figure says, or that the difference has been explained."""
    tolerance = TOLERANCES[case.group].get(name)
    if tolerance is None or name not in case.reference:
        return UNJUDGED
    if is_within(mean, case.reference[name], tolerance):
        return WITHIN
    label = f"{case.simulator}: {case.point}"
    for cause in explained:
        if name in cause["figures"] and any(fnmatch.fnmatchcase(label, p) for p in cause["points"]):
            return EXPLAINED
    return BEYOND


def read(name: str) -> dict[str, Any]:
    """A TOML file beside this one."""
    return tomllib.loads((HERE / name).read_text(encoding="utf-8"))


TOLERANCES = read("tolerances.toml")


def run(settings: Sequence[Setting], explained: Sequence[Mapping[str, Any]]) -> list[Point]:
    """Run all settings, each with its variants and seeds on all cores."""
    points = []
    columns = (TextColumn("{task.description:<34}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task("", total=sum(setting.packets for setting in settings))
        done = 0.0
        for setting in settings:
            case = setting.cases[0]
            progress.update(task, description=f"{case.simulator}: {case.point} ..")

            def advance(part: float, before: float = done, of: Setting = setting) -> None:
                progress.update(task, completed=before + part * of.packets)

            summary = knee.run(setting.scenario, seeds=setting.seeds, progress=advance).summary
            done += setting.packets
            points += [fold(case, summary, explained) for case in setting.cases]
    return points


def fold(case: Case, summary: pl.DataFrame, explained: Sequence[Mapping[str, Any]]) -> Point:
    """Mean and deviation over the seeds of the case's variant at the forward bottleneck."""
    chosen = summary.filter(
        (pl.col("protocol") == case.protocol) & (pl.col("link") == "bottleneck")
    )
    figures = {}
    for name, column in FIGURES.items():
        values: list[float] = chosen[column].to_list()
        mean = math.fsum(values) / len(values)
        deviation = math.sqrt(math.fsum((v - mean) ** 2 for v in values) / (len(values) - 1))
        verdict = judge(case, name, mean, explained)
        figures[name] = Figure(mean, deviation, case.reference.get(name), verdict)
    return Point(case, figures)


def shown(name: str, value: float) -> str:
    """A value with the digits that mean something."""
    if name == "queue_packets":
        return f"{value:.0f}" if value >= 100 else f"{value:.1f}"
    if name == "drop_rate":
        return "0" if value == 0 else f"{value:.1e}" if value < 1e-2 else f"{value:.3f}"
    return f"{value:.3f}"


def cell(name: str, figure: Figure) -> str:
    """Reference, knee's mean and spread, and a word if it is beyond."""
    reference = "-" if figure.reference is None else shown(name, figure.reference)
    text = f"{reference} | {shown(name, figure.mean)} ± {shown(name, figure.deviation)}"
    marks = {BEYOND: " !", EXPLAINED: " *"}
    return text + marks.get(figure.verdict, "")


def table(points: Sequence[Point]) -> Table:
    """The comparison for a terminal."""
    made = Table(title="reference | knee, mean ± deviation over seeds; * beyond, ! unexplained")
    for heading in ("reference", "point", *TITLES.values()):
        made.add_column(heading, no_wrap=True)
    for point in points:
        cells = []
        for name, figure in point.figures.items():
            style = {BEYOND: "red", EXPLAINED: "yellow"}.get(figure.verdict, "")
            cells.append(f"[{style}]{cell(name, figure)}[/]" if style else cell(name, figure))
        made.add_row(point.case.simulator, point.case.point, *cells)
    return made


def bound(tolerance: Mapping[str, Any]) -> str:
    """A tolerance in words."""
    words = []
    if "abs" in tolerance:
        words.append(f"± {tolerance['abs']:g}")
    if "rel" in tolerance:
        words.append(f"± {100 * tolerance['rel']:g} %")
    if "factor" in tolerance:
        words.append(f"a factor of {tolerance['factor']:g}")
    return " or ".join(words)


def markdown(points: Sequence[Point]) -> str:
    """The tolerances and the comparison, a table a group."""
    lines = []
    for group, stated in TOLERANCES.items():
        chosen = [point for point in points if point.case.group == group]
        if not chosen:
            continue
        lines += [f"### {stated['what']}", ""]
        judged = [(title, stated[name]) for name, title in TITLES.items() if name in stated]
        if judged:
            lines += ["| figure | tolerance | because |", "|---|---|---|"]
        lines += [f"| {title} | {bound(how)} | {how['reason']} |" for title, how in judged]
        lines += ["", "| | " + " | ".join(f"{title} | knee" for title in TITLES.values()) + " |"]
        lines.append("|---|" + "---|" * (2 * len(TITLES)))
        for point in chosen:
            cells = " | ".join(cell(name, figure) for name, figure in point.figures.items())
            lines.append(f"| {point.case.simulator}: {point.case.point} | {cells} |")
        lines.append("")
    return "\n".join(lines)


def main() -> int:
    """Compare; 0, or with --strict 1 if anything unexplained is beyond its tolerance."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="only the firm points; write nothing")
    parser.add_argument("--strict", action="store_true", help="exit 1 if any is unexplained")
    parser.add_argument("--out", type=Path, default=HERE, help="folder of results.md and pictures")
    options = parser.parse_args()
    settings = list(dumbbells(firm=True)) if options.quick else [*dumbbells(firm=False), *ns2()]
    points = run(settings, read("explained.toml")["cause"])
    console = Console(width=max(Console().width, 165))
    console.print(table(points))
    verdicts = [figure.verdict for point in points for figure in point.figures.values()]
    counts = {verdict: verdicts.count(verdict) for verdict in (WITHIN, EXPLAINED, BEYOND)}
    console.print(", ".join(f"{count} {verdict}" for verdict, count in counts.items()))
    if not options.quick:
        (options.out / "results.md").write_text(markdown(points), encoding="utf-8")
        draw(points, options.out)
    return 1 if options.strict and counts[BEYOND] else 0


if __name__ == "__main__":
    sys.exit(main())
