"""Make the runs that a store lacks: in threads of this process, or by an executor.

The longest go first, so that the cores end together.
"""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from dataclasses import dataclass

from knee.columns import ArrowTable, Progress, Run, Table, check_threads, simulate
from knee.jobs import Job
from knee.memory import MemoryLimit, Room, in_words
from knee.scenario import Scenario, warn
from knee.store import POLL, Store, StoreError

MOST_SENT = 256
"""Most runs that an executor has at a time; each holds a lock of the store, which is a file."""


def make(
    wanted: Sequence[Job],
    store: Store,
    *,
    executor: Executor | None = None,
    threads: int | None = None,
    memory_limit: MemoryLimit = None,
    progress: Progress | None = None,
) -> None:
    """Make every run that the store lacks.

    Args:
        wanted: Jobs; equal ones are made once.
        store: Where runs are kept; another process may work on the same one.
        executor: Where runs go; by default threads of this process.
        threads: Runs at a time; as many as cores if not given. A run waits until there is memory
            for it beside the others. Not with an executor.
        memory_limit: How much memory runs may take together, as for `knee.run`; with an executor
            how much each may take where it goes.
        progress: Called with the fraction done, in [0, 1], by weight.

    Raises:
        ScenarioError: If there is no memory for a run.
        StoreError: If the store cannot be written.
        ValueError: If there cannot be so many threads, or there is an executor.
        KeyboardInterrupt: On Ctrl-C; what was finished is kept.
    """
    every = {job.key: job for job in wanted}
    if executor is not None:
        if threads is not None:
            raise ValueError("the number of threads is the executor's: give one or the other")
        _make_by(executor, every, store, memory_limit=memory_limit, progress=progress)
    else:
        _make_here(every, store, threads=threads, memory_limit=memory_limit, progress=progress)


def _make_here(
    every: Mapping[str, Job],
    store: Store,
    *,
    threads: int | None,
    memory_limit: MemoryLimit,
    progress: Progress | None,
) -> None:
    """Make what the store lacks in threads of this process."""
    check_threads(threads)
    room = Room(memory_limit)
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
            meter = _Meter(every.values(), missing, progress)
            meter.report()
            work = _Work(store, room, meter, stopped)
            ours = _gather(pool, missing, lambda job: work.make(job, wait=False), meter)
            elsewhere = [job for job, done in zip(missing, ours, strict=True) if not done]
            _gather(pool, elsewhere, lambda job: work.make(job, wait=True), meter)
        except BaseException:
            stopped.set()
            pool.shutdown(cancel_futures=True)
            raise


class _Meter:
    """What is done, over the jobs of several threads."""

    def __init__(
        self,
        every: Collection[Job],
        missing: Collection[Job],
        progress: Progress | None,
    ) -> None:
        self._total = sum(job.work for job in every) or 1.0
        self._done = self._total - sum(job.work for job in missing)
        self._running: dict[str, float] = {}
        self._progress = progress
        self._lock = threading.Lock()

    def at(self, job: Job, fraction: float) -> None:
        with self._lock:
            self._running[job.key] = fraction * job.work

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
    stopped: threading.Event

    def make(self, job: Job, *, wait: bool) -> bool:
        """Make a job's run; False if another process is at it, unless its end is waited for."""
        stopped = self.stopped.is_set
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
        def note(fraction: float) -> None:
            if self.stopped.is_set():
                raise _Stopped
            self.meter.at(job, fraction)

        tables, toml = simulate(
            job.scenario,
            threads=1,
            memory_limit=self.room.size,
            progress=note,
            warn=_told_before,
        )
        self.store.put(Run(tables, toml), job.laws)


def _told_before(_: str) -> None:
    """Whoever planned the jobs has heard it."""


def _longest(job: Job) -> float:
    """What sorts the longest first."""
    return -job.work


@dataclass(frozen=True, slots=True)
class _Made:
    """A run as it comes back from a worker: tables as Arrow streams, and what made it."""

    key: str
    scenario_toml: str
    tables: Mapping[Table, bytes]

    def run(self) -> Run:
        import pyarrow as pa

        tables: dict[Table, ArrowTable] = {
            name: pa.ipc.open_stream(data).read_all() for name, data in self.tables.items()
        }
        return Run(tables, self.scenario_toml)


def _run_there(scenario: Scenario, memory_limit: MemoryLimit) -> _Made:
    """What a worker does: run a scenario of one variant and seed."""
    import pyarrow as pa

    laws = scenario.check().laws[0]
    tables, toml = simulate(scenario, threads=1, memory_limit=memory_limit, warn=_told_before)
    packed: dict[Table, bytes] = {}
    for name, table in tables.items():
        columns = pa.table(table)
        sink = pa.BufferOutputStream()
        options = pa.ipc.IpcWriteOptions(compression="zstd")
        with pa.ipc.new_stream(sink, columns.schema, options=options) as stream:
            stream.write_table(columns)
        packed[name] = sink.getvalue().to_pybytes()
    return _Made(Store.key(toml, laws), toml, packed)


def _make_by(
    executor: Executor,
    every: Mapping[str, Job],
    store: Store,
    *,
    memory_limit: MemoryLimit,
    progress: Progress | None,
) -> None:
    """Make what the store lacks by an executor; this process alone touches the store."""
    missing = sorted((job for job in every.values() if job.key not in store), key=_longest)
    meter = _Meter(every.values(), missing, progress)
    open_jobs = deque(missing)
    sent: dict[Future[_Made], tuple[Job, ExitStack]] = {}
    try:
        while open_jobs or sent:
            meter.report()
            for _ in range(min(len(open_jobs), MOST_SENT - len(sent))):
                job = open_jobs.popleft()
                claim = ExitStack()
                if not claim.enter_context(store.claimed(job.key, patience=lambda: False)):
                    open_jobs.append(job)  # another process is at it
                elif job.key in store:
                    claim.close()
                    meter.finished(job)
                else:
                    with claim:
                        store.set_aside_if_damaged(job.key)
                        future = executor.submit(_run_there, job.scenario, memory_limit)
                        sent[future] = (job, claim.pop_all())
            if not sent:
                time.sleep(POLL if open_jobs else 0.0)
            for future in wait(sent, timeout=POLL, return_when=FIRST_COMPLETED).done:
                job, claim = sent.pop(future)
                with claim:
                    _keep(store, job, future.result())
                meter.finished(job)
        meter.report()
    finally:
        for future, (_, claim) in sent.items():
            future.cancel()
            claim.close()


def _keep(store: Store, job: Job, made: _Made) -> None:
    if made.key != job.key:
        raise StoreError(
            f"{job.scenario.name}: a worker of the executor has another build of knee than this "
            "process; install the same one there"
        )
    store.put(made.run(), job.laws)
