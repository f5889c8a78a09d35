"""What a claim's experiments yield: a row a role, point of the sweep and seed."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from knee.analysis.measures import measure
from knee.columns import Progress, Run
from knee.jobs import Job, jobs, kept
from knee.ledger.format import Claim, Entry, Experiment, measures_of
from knee.ledger.models import MODELS
from knee.making import make
from knee.memory import MemoryLimit
from knee.scenario import Scenario, load
from knee.store import Store

QUICK = {"duration": "4 s", "warmup": "1 s"}
"""What a smoke test sets."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a row belongs: its experiment, x of the sweep (NaN without one), role and subject."""

    experiment: str
    x: float
    role: str
    subject: str | None


@dataclass(slots=True)
class Evidence:
    """What the experiments of a claim yielded.

    Attributes:
        claim: The claim.
        rows: By experiment: columns x, role, subject (null for peers), seed, cpu_seconds, and one
            a metric.
        failed: By experiment, role and subject (None: peers), why there are no rows.
        store: Where the runs are.
        first: The job of the first seed of each place.
    """

    claim: Claim
    rows: dict[str, pl.DataFrame]
    failed: dict[tuple[str, str, str | None], str]
    store: Store
    first: dict[Place, Job] = field(default_factory=dict)

    @property
    def cpu_seconds(self) -> float:
        """CPU time of all its runs, those of earlier sessions included."""
        return sum(float(rows["cpu_seconds"].sum()) for rows in self.rows.values() if rows.height)

    def run(self, place: Place) -> Run | None:
        """The run of the first seed of a place."""
        job = self.first.get(place)
        return None if job is None else kept(self.store, job)


@dataclass(frozen=True, slots=True)
class _Planned:
    place: Place
    seed: int
    job: Job


def gather(
    wanted: Sequence[Claim],
    store: Store,
    *,
    threads: int | None = None,
    memory_limit: MemoryLimit = None,
    quick: bool = False,
    progress: Progress | None = None,
) -> list[Evidence]:
    """Run what claims need and read their metrics.

    Args:
        wanted: The claims.
        store: Where finished runs are kept.
        threads: Runs at a time; as many as cores if not given.
        memory_limit: How much memory runs may take together, as for `knee.run`.
        quick: Cut every run to some seconds, one seed and two points a sweep: a smoke test.
        progress: Called with the fraction done.

    Raises:
        StoreError: If the store cannot be written.
        KeyboardInterrupt: On Ctrl-C; what was finished is kept.
    """
    failed: list[dict[tuple[str, str, str | None], str]] = [{} for _ in wanted]
    plans = [
        _plan(claim, failures, quick=quick) for claim, failures in zip(wanted, failed, strict=True)
    ]
    make(
        [each.job for plan in plans for each in plan],
        store,
        threads=threads,
        memory_limit=memory_limit,
        progress=progress,
    )
    found = []
    for claim, plan, failures in zip(wanted, plans, failed, strict=True):
        rows = {
            experiment.id: _rows(claim, experiment, plan, store) for experiment in claim.experiment
        }
        first: dict[Place, Job] = {}
        for each in plan:
            first.setdefault(each.place, each.job)
        found.append(Evidence(claim, rows, failures, store, first))
    return found


def _plan(
    claim: Claim, failures: dict[tuple[str, str, str | None], str], *, quick: bool
) -> list[_Planned]:
    planned = []
    for experiment in claim.experiment:
        if experiment.model is not None:
            continue
        for entry in experiment.entries():
            for subject in claim.subjects if entry.is_of_subject else [None]:
                try:
                    planned += [
                        each
                        for x in _points(experiment, quick=quick)
                        for each in _at(experiment, entry, subject, x, quick=quick)
                    ]
                except (ValueError, FileNotFoundError) as error:
                    failures[experiment.id, entry.role, subject] = str(error)
    return planned


def _points(experiment: Experiment, *, quick: bool) -> list[float]:
    if experiment.sweep is None:
        return [math.nan]
    values = experiment.sweep.values
    return [*dict.fromkeys([values[0], values[len(values) // 2]])] if quick else values


def _at(
    experiment: Experiment, entry: Entry, subject: str | None, x: float, *, quick: bool
) -> list[_Planned]:
    """The runs of an entry at a point of the sweep, a seed each."""
    scenario = _scenario(experiment, entry, subject, x)
    seeds = 1 if quick else _seeds(experiment, x, entry)
    settings: dict[str, object] = dict(QUICK) if quick else {}
    place = Place(experiment.id, x, entry.role, subject)
    found = jobs(scenario.replace(seeds=seeds, set=settings))
    return [_Planned(place, seed, job) for seed, job in enumerate(found, 1)]


def _scenario(experiment: Experiment, entry: Entry, subject: str | None, x: float) -> Scenario:
    settings = dict(experiment.set)
    if experiment.sweep is not None:
        settings |= experiment.sweep.set
    if experiment.beyond is not None and x > experiment.beyond.x:
        settings |= experiment.beyond.set
    changes = filled(settings | entry.set, x, subject)
    variant = filled(entry.variant, x, subject)
    return load(experiment.scenario or "").variants(variant).replace(set=changes)


def filled(value: Any, x: float, subject: str | None = None) -> Any:
    """With x and the subject in place of their names in braces, in every string of it.

    {x} may bear a factor or a dividend: {4*x}, {875/x}. A string that is nothing else becomes a
    number.
    """

    def number(match: re.Match[str]) -> float | int:
        factor, way = match.groups()
        result = x if factor is None else float(factor) * (x if way == "*" else 1.0 / x)
        return int(result) if result.is_integer() else result

    match value:
        case str():
            if whole := _X.fullmatch(value):
                return number(whole)
            named = value.replace("{subject}", subject or "")
            return _X.sub(lambda match: f"{number(match):g}", named)
        case dict():
            return {key: filled(inner, x, subject) for key, inner in value.items()}
        case list():
            return [filled(inner, x, subject) for inner in value]
        case _:
            return value


_X = re.compile(r"\{(?:([0-9.e+-]+)([*/]))?x\}")


def _seeds(experiment: Experiment, x: float, entry: Entry) -> int:
    is_peer = not entry.is_of_subject
    usual = experiment.seeds
    if is_peer:
        usual = entry.seeds or experiment.peer_seeds or usual
    beyond = experiment.beyond
    if beyond is None or not x > beyond.x:
        return usual
    return (beyond.peer_seeds if is_peer else beyond.seeds) or usual


def _rows(
    claim: Claim, experiment: Experiment, plan: Sequence[_Planned], store: Store
) -> pl.DataFrame:
    metrics = measures_of(claim, experiment)
    if experiment.model is not None:
        rows = [
            _model_row(experiment, entry, x)
            for entry in experiment.entries()
            for x in _points(experiment, quick=False)
        ]
    else:
        rows = []
        for each in plan:
            if each.place.experiment == experiment.id:
                run = kept(store, each.job)
                rows.append(
                    _labels(each.place.x, each.place.role, each.place.subject, each.seed)
                    | {"cpu_seconds": float(run.summary["cpu_seconds"][0])}
                    | {
                        metric.column: measure(
                            run, metric.measure, filled(metric.arguments, each.place.x)
                        )
                        for metric in metrics
                    }
                )
    columns = {metric.column: pl.Float64 for metric in metrics}
    schema = {
        "x": pl.Float64,
        "role": pl.String,
        "subject": pl.String,
        "seed": pl.Int64,
        "cpu_seconds": pl.Float64,
        **columns,
    }
    return pl.DataFrame(rows, schema=schema)


def _labels(x: float, role: str, subject: str | None, seed: int) -> dict[str, Any]:
    return {"x": x, "role": role, "subject": subject, "seed": seed}


def _model_row(experiment: Experiment, entry: Entry, x: float) -> Mapping[str, Any]:
    arguments = experiment.arguments | filled(entry.variant, x)
    if experiment.sweep is not None:
        arguments |= filled(experiment.sweep.set, x)
    values = MODELS[experiment.model or ""](**arguments)
    return _labels(x, entry.role, None, 0) | {"cpu_seconds": 0.0} | dict(values)
