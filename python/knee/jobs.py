"""Jobs: the runs that a scenario asks for, a variant and seed each."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from knee.columns import Run
from knee.quantity import bits_per_second, seconds
from knee.scenario import Scenario
from knee.store import Store, StoreError


@dataclass(frozen=True, slots=True)
class Job:
    """A run of one variant with one seed.

    Attributes:
        scenario: What is run.
        key: Its place in a store.
        laws: Its laws with their fingerprints, which the key has.
        work: About how long it takes, in arbitrary units.
        memory: About how much memory it takes, bytes.
        warnings: What its scenario says that is likely not meant.
    """

    scenario: Scenario
    key: str
    laws: tuple[str, ...]
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
            as_run = single.check()
            laws = tuple(as_run.laws[0])
            key = Store.key(as_run.to_toml(), laws)
            found.append(Job(single, key, laws, _work(settings), memory, warnings))
    return found


def kept(store: Store, job: Job) -> Run:
    """The run of a job that has been made.

    Raises:
        StoreError: If the store lacks it.
    """
    run = store.get(job.key)
    if run is None:
        raise StoreError(f"{job.scenario.name}: its run is no longer in {store.folder}")
    return run


def _work(settings: Mapping[str, Any]) -> float:
    """Bits that the links could carry, beyond what building and reading a run costs."""
    if links := settings.get("link"):
        rates = [link["rate"] for link in links]
    else:
        lot = settings.get("parking_lot", {})
        rates = lot.get("rates") or [settings["bottleneck"]["rate"]] * lot.get("links", 1)
    return 1e6 + sum(map(bits_per_second, rates)) * seconds(settings["duration"])
