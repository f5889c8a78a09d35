"""A run that is stepped, sampled and changed while it goes."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from knee import _core
from knee.columns import Run, tables
from knee.quantity import Time, with_unit
from knee.scenario import Scenario, load
from knee.settings import as_overrides

if TYPE_CHECKING:
    import polars as pl


class Session:
    """One variant with one seed, in motion. The same changes at the same instants are the same run.

    with knee.session(scenario, seed=1) as s:
        s.run_until("10 s")
        s.change("bottleneck.rate", "20 Mbps")
        s.samples()
        run = s.finish()
    """

    def __init__(self, checked: _core.Scenario) -> None:
        """Begin the only run of a scenario."""
        self._text = checked.to_toml()
        self._session = _core.Session(checked)

    @property
    def now(self) -> float:
        """Simulated time, seconds."""
        return self._session.now

    def run_until(self, instant: Time) -> None:
        """Run all that happens before an instant, such as "10 s" or 10; Ctrl-C stops it.

        Raises:
            ScenarioError: If it is behind the session, after the run's end, or no time.
        """
        self._session.run_until(str(with_unit(instant, "s")))

    def change(self, key: str, value: object) -> None:
        """Change something now; if it is refused, nothing has changed.

        Args:
            key: "LINK.rate", "LINK.delay", "LINK.loss", "LINK.router.PARAMETER" or
                "GROUP.sender.PARAMETER"; LINK "bottleneck" is all of a template's links.
            value: As in a scenario, or a number in SI units.

        Raises:
            ScenarioError: If there is nothing of that name, or the value is refused.
        """
        unit = {"rate": "bps", "delay": "s"}.get(key.rpartition(".")[2])
        [(_, text)] = as_overrides({key: value if unit is None else with_unit(value, unit)})
        self._session.change(key, text.strip('"'))

    def samples(self) -> pl.DataFrame:
        """Samples since they were last asked for, in the columns of `Run.series`."""
        import polars as pl

        return pl.DataFrame(self._session.samples())

    def finish(self) -> Run:
        """Run to the end; the session is over then."""
        return Run(tables(self._session.finish()), self._text)

    def __enter__(self) -> Self:
        """The session itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Leave it where it is."""


def session(
    scenario: Scenario | str | Path,
    *,
    seed: int | None = None,
    variant: str | None = None,
    set: Mapping[str, object] | None = None,
) -> Session:
    """Begin a run that is stepped, sampled and changed while it goes.

    Args:
        scenario: A scenario, the name of a shipped one, or a file.
        seed: Its seed; by default the scenario's first.
        variant: Its variant; by default the scenario's first.
        set: Settings to change, by dotted key.

    Raises:
        ScenarioError: If the scenario is refused.
        KeyError: If it has no such variant.
    """
    checked = load(scenario).replace(set=set).check()
    if variant is not None and variant not in checked.variants:
        raise KeyError(f"no variant {variant!r}; there are {', '.join(checked.variants)}")
    settings = tomllib.loads(checked.to_toml())
    if "variant" in settings:
        place = 0 if variant is None else checked.variants.index(variant)
        settings["variant"] = [settings["variant"][place]]
    first = checked.seeds[0] if seed is None else seed
    return Session(Scenario.of(settings, name=checked.name).replace(seeds=[first]).check())
