"""Many runs at once: a variant and seed each, on all cores, by way of a store.

A run that the store has is not made again. The longest go first, so that the cores end together.
"""

from __future__ import annotations

import os
import threading
import tomllib
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from knee.columns import Progress, Run, check_threads, simulate
from knee.memory import MemoryLimit, Room, in_words
from knee.quantity import bits_per_second, seconds
from knee.scenario import Scenario, load, warn
from knee.store import Store, StoreError

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, slots=True)
class Job:
    """A run of one variant with one seed.

    Attributes:
        scenario: What is run.
        key: Its place in a store.
        work: About how long it takes, in arbitrary units.
        memory: About how much memory it takes, bytes.
        warnings: What its scenario says that is likely not meant.
    """

    scenario: Scenario
    key: str
    work: float
    memory: int = 0
    warnings: tuple[str, ...] = ()


def jobs(scenario: Scenario) -> list[Job]:
    """A job for each variant and seed of a scenario, variants first.

    Raises:
        ScenarioError: If the scenario is refused.
    """
    checked = scenario.check()
    settings = tomllib.loads(checked.to_toml())
    memory, warnings = checked.memory(1), tuple(checked.warnings)
    variants = settings.pop("variant", None)
    seeds = settings.pop("seeds")
    found = []
    for variant in variants or [None]:
        chosen = settings if variant is None else settings | {"variant": [variant]}
        for seed in seeds:
            single = Scenario.of(chosen | {"seeds": [seed]}, name=scenario.name)
            key = Store.key(single.to_toml())
            found.append(Job(single, key, _work(settings), memory, warnings))
    return found


def make(
    wanted: Sequence[Job],
    store: Store,
    *,
    threads: int | None = None,
    memory_limit: MemoryLimit = None,
    progress: Progress | None = None,
) -> None:
    """Make every run that the store lacks.

    Args:
        wanted: Jobs; equal ones are made once.
        store: Where runs are kept; another process may work on the same one.
        threads: Runs at a time; as many as cores if not given. A run waits until there is memory
            for it beside the others.
        memory_limit: How much memory runs may take together, as for `knee.run`.
        progress: Called with the fraction done, in [0, 1], by weight.

    Raises:
        ScenarioError: If there is no memory for a run.
        StoreError: If the store cannot be written.
        ValueError: If there cannot be so many threads.
        KeyboardInterrupt: On Ctrl-C; what was finished is kept.
    """
    check_threads(threads)
    room = Room(memory_limit)
    every = {job.key: job for job in wanted}
    stopped = threading.Event()
    workers = threads or os.cpu_count() or 1
    with ThreadPoolExecutor(workers) as pool:
        try:
            kept = dict(zip(every, pool.map(store.__contains__, every), strict=True))
            missing = sorted((each for each in every.values() if not kept[each.key]), key=_longest)
            largest = max((job.memory for job in missing), default=0)
            if not room.holds(min(workers, len(missing)), largest):
                warn(
                    f"runs of up to {in_words(largest)} of memory wait until there is room for them"
                )
            meter = _Meter(every.values(), missing, stopped, progress)
            meter.report()
            work = _Work(store, room, meter)
            ours = _gather(pool, missing, lambda job: work.make(job, wait=False), meter)
            elsewhere = [job for job, done in zip(missing, ours, strict=True) if not done]
            _gather(pool, elsewhere, lambda job: work.make(job, wait=True), meter)
        except BaseException:
            stopped.set()
            pool.shutdown(cancel_futures=True)
            raise


def sweep(
    scenario: Scenario | str | Path,
    over: Mapping[str, Sequence[object]],
    *,
    seeds: int | Sequence[int] | None = None,
    store: Store | None = None,
    threads: int | None = None,
    memory_limit: MemoryLimit = None,
    progress: Progress | None = None,
) -> pl.DataFrame:
    """The summaries of a scenario over values of some of its settings, changed together.

    Args:
        scenario: As for `knee.run`.
        over: Values by dotted key, all of one length: `{"bottleneck.rate": ["1 Mbps", "1 Gbps"]}`.
        seeds: Seeds to run instead of the scenario's; an int n means 1 to n.
        store: Where finished runs are kept; by default KNEE_STORE or results/store.
        threads: Runs at a time; as many as cores if not given.
        memory_limit: How much memory runs may take together, as for `knee.run`.
        progress: Called with the fraction done.

    Warns:
        ScenarioWarning: If a scenario says something that is likely not meant.

    Returns:
        The rows of `Run.summary`, after a column for each key of `over`.

    Raises:
        ScenarioError: If the scenario, or one with a value set, is refused.
        ValueError: If lengths differ, or there is no value.
        StoreError: If the store cannot be written.
    """
    import polars as pl

    if len({len(values) for values in over.values()}) > 1:
        raise ValueError("sweep: the lists of values differ in length")
    points = [dict(zip(over, values, strict=True)) for values in zip(*over.values(), strict=True)]
    if not points:
        raise ValueError("sweep: there is no value")
    store = store or Store()
    base = load(scenario).replace(seeds=seeds)
    planned = [
        (number, job)
        for number, point in enumerate(points)
        for job in jobs(base.replace(set=point))
    ]
    for sentence in dict.fromkeys(each for _, job in planned for each in job.warnings):
        warn(sentence)
    make(
        [job for _, job in planned],
        store,
        threads=threads,
        memory_limit=memory_limit,
        progress=progress,
    )
    labels = {key: pl.Series(key, _labels(values)) for key, values in over.items()}
    rows = []
    for number, job in planned:
        summary = kept(store, job).summary
        own = [pl.lit(label[number]).alias(key) for key, label in labels.items()]
        rows.append(summary.select(*own, pl.exclude(*labels)))
    return pl.concat(rows)


def _labels(values: Sequence[object]) -> list[object]:
    """Values as a column has them: of one type, or as text."""
    types = {type(value) for value in values}
    is_column = len(types) == 1 and types <= {bool, int, float, str}
    return list(values) if is_column else [str(value) for value in values]


def kept(store: Store, job: Job) -> Run:
    """The run of a job that has been made.

    Raises:
        StoreError: If the store lacks it.
    """
    run = store.get(job.key)
    if run is None:
        raise StoreError(f"{job.scenario.name}: its run is no longer in {store.folder}")
    return run


class _Meter:
    """What is done, over the jobs of several threads."""

    def __init__(
        self,
        every: Collection[Job],
        missing: Collection[Job],
        stopped: threading.Event,
        progress: Progress | None,
    ) -> None:
        self.stopped = stopped
        self._total = sum(job.work for job in every) or 1.0
        self._done = self._total - sum(job.work for job in missing)
        self._running: dict[str, float] = {}
        self._progress = progress
        self._lock = threading.Lock()

    def at(self, job: Job) -> Callable[[float], None]:
        """The progress callback of a job's run; it also carries the order to stop."""

        def note(fraction: float) -> None:
            if self.stopped.is_set():
                raise _Stopped
            with self._lock:
                self._running[job.key] = fraction * job.work

        return note

    def finished(self, job: Job) -> None:
        with self._lock:
            self._running.pop(job.key, None)
            self._done += job.work

    def report(self) -> None:
        if self._progress is not None:
            with self._lock:
                done = self._done + sum(self._running.values())
            self._progress(min(done / self._total, 1.0))


class _Stopped(Exception):  # noqa: N818
    """The other runs are being stopped."""


def _gather(
    pool: ThreadPoolExecutor, todo: Sequence[Job], act: Callable[[Job], bool], meter: _Meter
) -> list[bool]:
    futures: list[Future[bool]] = [pool.submit(act, job) for job in todo]
    pending = set(futures)
    while pending:
        done, pending = wait(pending, timeout=0.2, return_when=FIRST_COMPLETED)
        for future in done:
            future.result()
        meter.report()
    return [future.result() for future in futures]


@dataclass(frozen=True, slots=True)
class _Work:
    """What all jobs of a call share."""

    store: Store
    room: Room
    meter: _Meter

    def make(self, job: Job, *, wait: bool) -> bool:
        """Make a job's run; False if another process is at it, unless its end is waited for."""
        stopped = self.meter.stopped.is_set
        if stopped():
            raise _Stopped
        with self.store.claimed(job.key, patience=lambda: wait and not stopped()) as ours:
            if ours and job.key not in self.store:
                self.store.set_aside_if_damaged(job.key)
                with self.room.taken(job.memory, stopped):
                    if stopped():
                        raise _Stopped
                    self._run(job)
        if ours:
            self.meter.finished(job)
        return ours

    def _run(self, job: Job) -> None:
        tables, toml = simulate(
            job.scenario,
            threads=1,
            memory_limit=self.room.size,
            progress=self.meter.at(job),
            warn=lambda _: None,  # whoever planned the jobs has heard it
        )
        self.store.put(job.key, Run(tables, toml))


def _longest(job: Job) -> float:
    """What sorts the longest first."""
    return -job.work


def _work(settings: Mapping[str, Any]) -> float:
    """Bits that the links could carry, beyond what building and reading a run costs."""
    links = settings.get("link")
    if links:
        rates = [bits_per_second(link["rate"]) for link in links]
    else:
        rate = bits_per_second(settings.get("bottleneck", {}).get("rate"))
        rates = [rate] * settings.get("parking_lot", {}).get("links", 1)
    return 1e6 + sum(rates) * seconds(settings["duration"])
