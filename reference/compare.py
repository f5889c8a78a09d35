"""Run the settings of the reference results in knee and print both side by side.

`make reference` writes `results.md` and two pictures beside this file, for docs/validation.md.
With --only, tables and pictures of the other parts stay as they are.
"""

from __future__ import annotations

import argparse
import fnmatch
import math
import re
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cases import HERE, Case, Setting, dumbbells, ns2
from pictures import draw
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from wlan import wlans

import knee

PARTS: dict[str, Callable[[], Iterator[Setting]]] = {
    "dumbbells": lambda: dumbbells(firm=False),
    "ns2": ns2,
    "wlan": wlans,
}
TITLES = {
    "utilisation": "utilisation",
    "queue_packets": "mean queue, packets",
    "drop_rate": "drop rate",
    "aggregate_mbps": "sum, Mbps",
    "failures": "failures / attempt",
    "retry_drops": "packets given up",
    "total_mbps": "sum, Mbps",
    "down_mbps": "down, Mbps",
    "up_mbps": "up, Mbps",
    "jain": "Jain index",
    "base_failures": "base: failures",
    "station_failures": "clients: failures",
    "base_drops": "base: queue drops",
    "timeouts_per_s": "timeouts / s",
    "retransmitted": "retransmitted",
}
SMALL = ("drop_rate", "retry_drops", "retransmitted")
"""Shares that may be far below a hundredth."""
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


def is_within(
    knee_mean: float, reference: float, error: float, tolerance: Mapping[str, Any]
) -> bool:
    """Does any of the bounds `abs`, `rel`, `errors` and `factor` hold?"""
    off = abs(knee_mean - reference)
    bounds = (
        tolerance.get("abs", -1.0),
        tolerance.get("rel", -1.0) * reference,
        tolerance.get("errors", -1.0) * error,
    )
    if any(bound >= 0.0 and off <= bound + 1e-12 for bound in bounds):
        return True
    factor = float(tolerance.get("factor", 0.0))
    return factor > 0.0 and reference / max(factor, 1.0) <= knee_mean <= reference * factor


def judge(case: Case, name: str, mean: float, explained: Sequence[Mapping[str, Any]]) -> Verdict:
    """What the tolerance of this figure says, or that the difference has been explained."""
    tolerance = TOLERANCES[case.group].get(name)
    if tolerance is None or name not in case.reference:
        return UNJUDGED
    if is_within(mean, case.reference[name], case.errors.get(name, 0.0), tolerance):
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

            results = knee.run(setting.scenario, seeds=setting.seeds, progress=advance)
            done += setting.packets
            points += [
                fold(case, setting.measure(results, case), explained) for case in setting.cases
            ]
    return points


def fold(
    case: Case, measured: Mapping[str, list[float]], explained: Sequence[Mapping[str, Any]]
) -> Point:
    """Mean and deviation of each figure over the seeds."""
    figures = {}
    for name, values in measured.items():
        mean = math.fsum(values) / len(values)
        deviation = math.sqrt(math.fsum((v - mean) ** 2 for v in values) / (len(values) - 1))
        verdict = judge(case, name, mean, explained)
        figures[name] = Figure(mean, deviation, case.reference.get(name), verdict)
    return Point(case, figures)


def shown(name: str, value: float) -> str:
    """A value with the digits that mean something."""
    if name == "queue_packets":
        return f"{value:.0f}" if value >= 100 else f"{value:.1f}"
    if name in SMALL:
        return "0" if value == 0 else f"{value:.1e}" if value < 1e-2 else f"{value:.3f}"
    return f"{value:.3f}"


def cell(name: str, figure: Figure) -> str:
    """Reference, knee's mean and spread, and a word if it is beyond."""
    reference = "-" if figure.reference is None else shown(name, figure.reference)
    text = f"{reference} | {shown(name, figure.mean)} ± {shown(name, figure.deviation)}"
    marks = {BEYOND: " !", EXPLAINED: " *"}
    return text + marks.get(figure.verdict, "")


def tables(points: Sequence[Point]) -> Iterator[Table]:
    """The comparison for a terminal, a table for all points with the same figures."""
    for names in dict.fromkeys(tuple(point.figures) for point in points):
        yield table([point for point in points if tuple(point.figures) == names])


def table(points: Sequence[Point]) -> Table:
    """One of these."""
    made = Table(title="reference | knee, mean ± deviation over seeds; * beyond, ! unexplained")
    for heading in ("reference", "point", *(TITLES[name] for name in points[0].figures)):
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
    if "errors" in tolerance:
        words.append(f"{tolerance['errors']:g} standard errors")
    if "factor" in tolerance:
        words.append(f"a factor of {tolerance['factor']:g}")
    return " or ".join(words)


def sections(points: Sequence[Point]) -> dict[str, str]:
    """By heading: the tolerances and the comparison of a group."""
    made = {}
    for group, stated in TOLERANCES.items():
        chosen = [point for point in points if point.case.group == group]
        if not chosen:
            continue
        titles = {name: TITLES[name] for name in chosen[0].figures}
        lines = [""]
        judged = [(title, stated[name]) for name, title in titles.items() if name in stated]
        if judged:
            lines += ["| figure | tolerance | because |", "|---|---|---|"]
        lines += [f"| {title} | {bound(how)} | {how['reason']} |" for title, how in judged]
        lines += ["", "| | " + " | ".join(f"{title} | knee" for title in titles.values()) + " |"]
        lines.append("|---|" + "---|" * (2 * len(titles)))
        for point in chosen:
            cells = " | ".join(cell(name, figure) for name, figure in point.figures.items())
            lines.append(f"| {point.case.simulator}: {point.case.point} | {cells} |")
        made[stated["what"]] = "\n".join([*lines, ""])
    return made


def renewed(text: str, made: Mapping[str, str]) -> str:
    """The text of results.md with these sections in place of their former ones."""
    _, *parts = re.split(r"^### (.*)\n", text, flags=re.MULTILINE)
    whole = dict(zip(parts[::2], parts[1::2], strict=True)) | dict(made)
    ordered = [str(stated["what"]) for stated in TOLERANCES.values()]
    return "\n".join(f"### {what}\n{whole[what].rstrip()}\n" for what in ordered if what in whole)


def main() -> int:
    """Compare; 0, or with --strict 1 if anything unexplained is beyond its tolerance."""
    parser = argparse.ArgumentParser(description=__doc__)
    some = parser.add_mutually_exclusive_group()
    some.add_argument("--only", choices=PARTS, action="append", help="this part, or these")
    some.add_argument("--quick", action="store_true", help="only the firm points; write nothing")
    parser.add_argument("--strict", action="store_true", help="exit 1 if any is unexplained")
    parser.add_argument("--out", type=Path, default=HERE, help="folder of results.md and pictures")
    options = parser.parse_args()
    chosen = [PARTS[name] for name in options.only or PARTS]
    settings = (
        list(dumbbells(firm=True)) if options.quick else [s for part in chosen for s in part()]
    )
    points = run(settings, read("explained.toml")["cause"])
    console = Console(width=max(Console().width, 165))
    for shown_table in tables(points):
        console.print(shown_table)
    verdicts = [figure.verdict for point in points for figure in point.figures.values()]
    counts = {verdict: verdicts.count(verdict) for verdict in (WITHIN, EXPLAINED, BEYOND)}
    console.print(", ".join(f"{count} {verdict}" for verdict, count in counts.items()))
    if not options.quick:
        path = options.out / "results.md"
        former = path.read_text(encoding="utf-8") if path.exists() else ""
        path.write_text(renewed(former, sections(points)), encoding="utf-8")
        draw(points, options.out)
    return 1 if options.strict and counts[BEYOND] else 0


if __name__ == "__main__":
    sys.exit(main())
