"""`knee.sweep`: a scenario over values of some of its settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import TYPE_CHECKING

from knee.columns import Progress
from knee.jobs import jobs, kept
from knee.making import make
from knee.memory import MemoryLimit
from knee.scenario import Scenario, load, warn
from knee.store import Store

if TYPE_CHECKING:
    import polars as pl


def sweep(
    scenario: Scenario | str | Path,
    over: Mapping[str, Sequence[object]],
    *,
    seeds: int | Sequence[int] | None = None,
    store: Store | None = None,
    executor: Executor | None = None,
    threads: int | None = None,
    memory_limit: MemoryLimit = None,
    progress: Progress | None = None,
) -> pl.DataFrame:
    """The summaries of a scenario over values of some of its settings, changed together.

    Runs go in threads of this process, or wherever an executor of yours takes them: to other
    processes, or to the machines of a cluster (`distributed.Client().get_executor()` is one). They
    need nothing of this machine's but the same knee: their columns come back to the store here.

    Args:
        scenario: As for `knee.run`.
        over: Values by dotted key, all of one length: `{"bottleneck.rate": ["1 Mbps", "1 Gbps"]}`;
            quantities are text, or numbers in SI units: `{"bottleneck.rate": [1e6, 1e9]}`.
        seeds: Seeds to run instead of the scenario's; an int n means 1 to n.
        store: Where finished runs are kept; by default KNEE_STORE or results/store.
        executor: Where runs go, in place of threads of this process. It stays open.
        threads: Runs at a time; as many as cores if not given. Not with an executor.
        memory_limit: How much memory runs may take together, as for `knee.run`; with an executor
            how much each may take where it goes.
        progress: Called with the fraction done.

    Warns:
        ScenarioWarning: If a scenario says something that is likely not meant.

    Returns:
        The rows of `Run.summary`, after a column for each key of `over`.

    Raises:
        ScenarioError: If the scenario, or one with a value set, is refused.
        ValueError: If lengths differ, there is no value, or threads are given with an executor.
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
        executor=executor,
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
