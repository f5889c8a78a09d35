"""From rows to verdicts: does what was measured lie within what the paper's words allow?"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import polars as pl

from knee.analysis.samples import slope
from knee.ledger.evidence import Evidence
from knee.ledger.format import Check, Claim

PEERS = "peers"
"""Who answers a check that is about none of the subjects."""

LEAST_FIT = 3
"""Points that a line needs at least."""


class Verdict(StrEnum):
    """What knee says of a claim."""

    HOLDS = "holds"
    DIFFERS = "differs"
    UNANSWERED = "cannot be answered"


@dataclass(frozen=True, slots=True)
class Point:
    """A figure at a point of the sweep: its mean and sample deviation over the seeds.

    `deviation` is NaN of a single seed, `x` without a sweep.
    """

    role: str
    x: float
    mean: float
    deviation: float
    seeds: int


@dataclass(frozen=True, slots=True)
class Finding:
    """The answer to one check.

    Attributes:
        check: The check.
        verdict: Its verdict.
        measured: What was measured, in words and numbers.
        points: The figures that it rests on.
        reason: Why it differs or cannot be answered; empty if it holds.
    """

    check: Check
    verdict: Verdict
    measured: str
    points: tuple[Point, ...]
    reason: str = ""

    @property
    def allowed(self) -> str:
        """The bounds, in words and numbers."""
        return _bounds(self.check.within)


@dataclass(frozen=True, slots=True)
class Answer:
    """A claim answered by a subject, by the peers, or by a model."""

    claim: Claim
    by: str
    findings: tuple[Finding, ...]

    @property
    def verdict(self) -> Verdict:
        """The worst of its findings'."""
        said = {finding.verdict for finding in self.findings}
        return next(
            verdict
            for verdict in (Verdict.UNANSWERED, Verdict.DIFFERS, Verdict.HOLDS)
            if verdict in said
        )

    @property
    def explanation(self) -> str:
        """One line: the reason of the first finding that does not hold, or that all do."""
        bad = [finding for finding in self.findings if finding.verdict is not Verdict.HOLDS]
        if not bad:
            count = len(self.findings)
            return "within its bounds" if count == 1 else f"all {count} figures within bounds"
        return bad[0].reason


def answer(evidence: Evidence) -> list[Answer]:
    """The answers to a claim: one by each subject, then one by the peers or the model, if asked."""
    claim = evidence.claim
    found = []
    for by in (*claim.subjects, PEERS):
        checks = [check for check in claim.check if _is_answered_by(claim, check, by)]
        if checks:
            name = "model" if all(claim.of(each).model for each in checks) else by
            found.append(Answer(claim, name, tuple(_find(evidence, each, by) for each in checks)))
    return found


def _is_answered_by(claim: Claim, check: Check, by: str) -> bool:
    experiment = claim.of(check)
    entries = [experiment.entry(role) for role in check.roles]
    of_subject = any(entry is not None and entry.is_of_subject for entry in entries)
    return of_subject == (by != PEERS)


def _find(evidence: Evidence, check: Check, by: str) -> Finding:
    claim = evidence.claim
    experiment = claim.of(check)
    subject = None if by == PEERS else by
    for place in itertools.product([experiment.id], check.roles, [subject, None]):
        if failure := evidence.failed.get(place):
            return Finding(check, Verdict.UNANSWERED, "–", (), failure)
    points = [point for role in check.of for point in _points(evidence, check, role, subject)]
    if check.over in ("exponent", "log-line") and len(points) < LEAST_FIT:
        return Finding(check, Verdict.UNANSWERED, "–", tuple(points), "too few points for a line")
    if not points or any(math.isnan(point.mean) for point in points):
        reason = "a run has no such figure" if points else "no runs"
        return Finding(check, Verdict.UNANSWERED, "–", tuple(points), reason)
    shown, holds = _judge(check, points)
    reason = ""
    if not holds:
        reason = check.because.get(by, "")
        bound = _bounds(check.within)
        reason = f"{shown}, not {bound}" + (f": {reason}" if reason else "")
    verdict = Verdict.HOLDS if holds else Verdict.DIFFERS
    return Finding(check, verdict, shown, tuple(points), reason)


def _points(evidence: Evidence, check: Check, role: str, subject: str | None) -> list[Point]:
    rows = evidence.rows[evidence.claim.of(check).id]
    own = _over_seeds(rows, check, role, subject)
    if check.against is None:
        return own
    other = {_key(point.x): point for point in _over_seeds(rows, check, check.against, subject)}
    return [_relate(point, other[_key(point.x)], check) for point in own if _key(point.x) in other]


def _over_seeds(rows: pl.DataFrame, check: Check, role: str, subject: str | None) -> list[Point]:
    least, most = check.at
    chosen = rows.filter(
        (pl.col("role") == role)
        & (pl.col("subject").is_null() | (pl.col("subject") == (subject or "")))
        & (pl.col("x").is_nan() | pl.col("x").is_between(least, most))
    )
    points = []
    for (x,), group in chosen.group_by("x", maintain_order=True):
        values = group[check.metric.column].to_numpy()
        deviation = float(np.std(values, ddof=1)) if _is_spread(values) else math.nan
        points.append(Point(role, float(str(x)), float(values.mean()), deviation, values.size))
    return points


def _is_spread(values: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> bool:
    return values.size > 1 and bool(np.isfinite(values).all())


def _relate(own: Point, other: Point, check: Check) -> Point:
    deviation = math.hypot(own.deviation, other.deviation)
    if check.relation == "difference":
        return Point(own.role, own.x, own.mean - other.mean, deviation, own.seeds)
    if other.mean == 0.0:
        return Point(own.role, own.x, math.nan, math.nan, own.seeds)
    ratio = own.mean / other.mean
    relative = math.hypot(
        own.deviation / own.mean if own.mean else 0.0, other.deviation / other.mean
    )
    return Point(own.role, own.x, ratio, abs(ratio) * relative, own.seeds)


def _key(x: float) -> str:
    return f"{x:g}"


def _judge(check: Check, points: Sequence[Point]) -> tuple[str, bool]:
    """The deciding figure, in words and numbers, and whether it lies within the bounds."""
    least, most = check.within
    sweep = points[0].x == points[0].x and len({_key(point.x) for point in points}) > 1

    def inside(value: float) -> bool:
        slack = 1e-12 * max(1.0, abs(value)) if math.isfinite(value) else 0.0
        return least - slack <= value <= most + slack

    match check.over:
        case "every" | "most":
            good = [point for point in points if inside(point.mean)]
            enough = (
                len(good) == len(points) if check.over == "every" else 2 * len(good) > len(points)
            )
            worst = max(points, key=lambda point: _beyond(point.mean, check.within))
            shown = _shown(worst, named=len(check.of) > 1, sweep=sweep)
            if sweep or len(check.of) > 1:
                low, high = min(points, key=_mean), max(points, key=_mean)
                span = f"{number(low.mean)} to {number(high.mean)}"
                if check.over == "most":
                    shown = f"{span}, {len(good)} of {len(points)} within"
                else:
                    shown = f"{span}; {shown}" if low.mean != high.mean else shown
            return shown, enough
        case "mean":
            value = float(np.mean([point.mean for point in points]))
            deviation = float(np.mean([point.deviation for point in points]))
            return f"{_with(value, deviation)} on average", inside(value)
        case "max":
            top = max(points, key=_mean)
            shown = _shown(top, named=len(check.of) > 1, sweep=sweep)
            return f"at most {shown}", inside(top.mean)
        case "exponent" | "log-line":
            return _fit(check, points, inside)


def _fit(
    check: Check, points: Sequence[Point], inside: Callable[[float], bool]
) -> tuple[str, bool]:
    """The same of a line through the figures, against log x."""
    y = np.array([point.mean for point in points])
    if not np.isfinite(y).all() or (y <= 0.0).any():
        return "not reached everywhere", False
    x = np.log([point.x for point in points])
    if check.over == "exponent":
        value = slope(x, np.log(y))
        return f"exponent {number(value)}", inside(value)
    value = float(np.corrcoef(x, y)[0, 1] ** 2)
    return f"R squared {number(value)} against log x", inside(value)


def _mean(point: Point) -> float:
    return point.mean


def _beyond(value: float, within: tuple[float, float]) -> float:
    """How far a value lies beyond the bounds; negative inside."""
    return max(within[0] - value, value - within[1])


def _shown(point: Point, *, named: bool, sweep: bool) -> str:
    text = _with(point.mean, point.deviation)
    where = ", ".join(([point.role] if named else []) + ([f"x = {point.x:g}"] if sweep else []))
    return f"{text} ({where})" if where else text


def _with(value: float, deviation: float) -> str:
    spread = "" if math.isnan(deviation) else f" ± {number(deviation, 2)}"
    return number(value) + spread


def _bounds(within: tuple[float, float]) -> str:
    least, most = within
    if least == most:
        return number(least)
    if math.isinf(most):
        return f"at least {number(least)}"
    if math.isinf(least):
        return f"at most {number(most)}"
    return f"within {number(least)} to {number(most)}"


def number(value: float, digits: int = 3) -> str:
    """A number in a table: so many significant digits, no exponent where that is readable."""
    if not math.isfinite(value):
        return "never" if value > 0 else "–"
    if value == 0.0:
        return "0"
    if 1e-4 <= abs(value) < 1e6:
        decimals = max(0, digits - 1 - math.floor(math.log10(abs(value))))
        return f"{value:.{decimals}f}"
    return f"{value:.{digits - 1}e}"


__all__ = ["PEERS", "Answer", "Finding", "Point", "Verdict", "answer", "number"]
