"""Sweeps by executors: wherever runs go, the same rows come back to the store."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from filelock import FileLock

import knee
from knee import making
from knee.jobs import jobs
from knee.store import Store, StoreError

OVER = {"bottleneck.rate": [2e6, 4e6, 8e6]}


def scenario() -> knee.Scenario:
    return knee.dumbbell(
        rate=5e6, rtt=0.02, flows=2, duration=2, warmup=1, probes="none", protocol=["vcp", "sack"]
    )


class Own(Executor):
    """The least that an executor may be: nothing happens before somebody waits."""

    def __init__(self) -> None:
        self.calls = 0

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.calls += 1
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except BaseException as error:
            future.set_exception(error)
        return future


class Never(Executor):
    """An executor whose workers never come."""

    def __init__(self) -> None:
        self.futures: list[Future[Any]] = []

    def submit(self, *_: Any, **__: Any) -> Future[Any]:
        self.futures.append(Future())
        return self.futures[-1]


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> pl.DataFrame:
    """The sweep in threads of this process."""
    return knee.sweep(scenario(), OVER, store=Store(tmp_path_factory.mktemp("here")))


def processes() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn"))


KINDS = {"own": Own, "threads": lambda: ThreadPoolExecutor(2), "processes": processes}


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_any_executor_gives_the_same_rows(
    kind: Callable[[], Executor], here: pl.DataFrame, tmp_path: Path
) -> None:
    seen: list[float] = []
    with kind() as executor:
        table = knee.sweep(
            scenario(), OVER, store=Store(tmp_path), executor=executor, progress=seen.append
        )
        assert executor.submit(len, "abc").result() == 3, "it stays open"
    assert table.drop("cpu_seconds").equals(here.drop("cpu_seconds"), null_equal=True)
    assert seen == sorted(seen)
    assert seen[-1] == pytest.approx(1.0)
    assert table["bottleneck.rate"].dtype == pl.Float64


def test_what_is_kept_is_not_sent(tmp_path: Path) -> None:
    store = Store(tmp_path)
    knee.sweep(scenario(), {"bottleneck.rate": [2e6]}, store=store)
    own = Own()
    knee.sweep(scenario(), OVER, store=store, executor=own)
    assert own.calls == 4
    knee.sweep(scenario(), OVER, store=store, executor=own)
    assert own.calls == 4


def test_few_are_sent_at_a_time(
    here: pl.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(making, "MOST_SENT", 1)
    table = knee.sweep(scenario(), OVER, store=Store(tmp_path), executor=Own())
    assert table.height == here.height


def test_a_run_that_another_process_makes_is_waited_for(tmp_path: Path) -> None:
    store = Store(tmp_path)
    [job, *_] = jobs(scenario().replace(set={"bottleneck.rate": 2e6}))
    other = FileLock(tmp_path / "locks" / job.key)
    other.acquire()
    own, reports = Own(), 0

    def release(_: float) -> None:
        nonlocal reports
        reports += 1
        if reports == 3:
            assert own.calls == 5, "all but the other's"
            other.release()

    knee.sweep(scenario(), OVER, store=store, executor=own, progress=release)
    assert own.calls == 6


def test_stopping_cancels_what_has_not_begun_and_frees_its_place(tmp_path: Path) -> None:
    never = Never()

    def stop(_: float) -> None:
        if never.futures:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        knee.sweep(scenario(), OVER, store=Store(tmp_path), executor=never, progress=stop)
    assert len(never.futures) == 6
    assert all(future.cancelled() for future in never.futures)
    assert knee.sweep(scenario(), OVER, store=Store(tmp_path)).height > 0


def test_a_refusal_over_there_is_raised_here(tmp_path: Path) -> None:
    big = scenario().replace(set={"dumbbell.flows": 100_000, "bottleneck.rate": 1e12})
    with processes() as executor, pytest.raises(knee.ScenarioError, match="memory"):
        knee.sweep(
            big, {"dumbbell.reverse": [1]}, store=Store(tmp_path), executor=executor,
            memory_limit=20e6,
        )  # fmt: skip


def test_another_build_over_there_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_there = making._run_there

    def other(*arguments: Any) -> Any:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("knee.store._core.__fingerprint__", "another")
            return run_there(*arguments)

    monkeypatch.setattr(making, "_run_there", other)
    store = Store(tmp_path)
    with pytest.raises(StoreError, match="another build of knee"):
        knee.sweep(scenario(), OVER, store=store, executor=Own())
    assert not [*tmp_path.glob("??/*")]


def test_threads_are_the_executors(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="give one or the other"):
        knee.sweep(scenario(), OVER, store=Store(tmp_path), executor=Own(), threads=2)
