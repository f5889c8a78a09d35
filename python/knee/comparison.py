"""`knee.compare_schemes`: the same scenarios under every scheme, and one table of them all."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Self

from knee import _core
from knee.columns import DamagedError
from knee.memory import MemoryLimit
from knee.replacement import is_working_folder, reason, replaced
from knee.results import PICTURE as OVERVIEW
from knee.results import Results, draw_all, is_of_a_run, run
from knee.scenario import Scenario, compare, load

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

    from knee.columns import Progress

SCENARIOS = ("schemes-dumbbell", "schemes-parking-lot", "schemes-t1")
"""Shipped scenarios on which schemes are compared unless others are named."""
TABLE = "schemes.parquet"
PICTURE = "schemes.png"


def explicit_laws() -> list[str]:
    """Sender laws that cannot do without explicit feedback, in the order of `knee list laws`."""
    known = json.loads(_core.catalogue())
    explicit = {codec["name"] for codec in known["codecs"] if codec["explicit"]}
    return [law["name"] for law in known["senders"] if law["codec"] in explicit]


@dataclass(frozen=True)
class Comparison:
    """Several scenarios, each run under the same protocols.

    Attributes:
        runs: What was run, a scenario each.
    """

    runs: Sequence[Results]

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Read a folder that `save` wrote.

        Raises:
            FileNotFoundError: If one of its files is missing.
            DamagedError: If one cannot be read.
        """
        import polars as pl

        try:
            table = pl.read_parquet((folder / TABLE).read_bytes())
            names = table["scenario"].unique(maintain_order=True)
        except FileNotFoundError:
            raise
        except (pl.exceptions.PolarsError, OSError) as error:
            raise DamagedError(f"{folder / TABLE} is damaged: {reason(error)}") from error
        return cls([Results.read(folder / name) for name in names])

    @cached_property
    def figures(self) -> pl.DataFrame:
        """A row a scenario, protocol and seed; columns as `knee.analysis.schemes.figures` has."""
        import polars as pl

        from knee.analysis.schemes import figures

        return pl.concat([figures(each) for each in self.runs])

    def plot(self, path: str | Path | None = None) -> Figure:
        """Draw every figure: a row of panels a scenario, a column a figure.

        Args:
            path: Where to write it too (png, pdf, svg).

        Returns:
            The matplotlib figure.
        """
        from knee.plots import draw_schemes, write_figure

        figure = draw_schemes(self.figures)
        if path is not None:
            write_figure(figure, Path(path))
        return figure

    def save(self, folder: str | Path) -> Path:
        """Write schemes.parquet, schemes.png, and a results folder for each scenario.

        All columns appear at once, then the pictures, as with `Results.save`.

        Returns:
            The folder's real path.

        Raises:
            FolderError: If `folder` holds other things, or cannot be written.
            PictureError: If a picture cannot be drawn; everything else is written.
        """
        self.save_columns(folder)
        self.save_picture(folder)
        return Path(folder).resolve()

    def save_columns(self, folder: str | Path) -> None:
        """The first half of `save`: everything but the pictures."""
        with replaced(folder, is_of_a_comparison, "results") as partial:
            with (partial / TABLE).open("wb") as file:
                self.figures.write_parquet(file)
            for each in self.runs:
                (partial / each.name).mkdir()
                each.write(partial / each.name)

    def save_picture(self, folder: str | Path) -> None:
        """The second half of `save`: the pictures, in a folder that holds the columns."""
        overviews = {f"{each.name}/{OVERVIEW}": each.plot for each in self.runs}
        draw_all(folder, {PICTURE: self.plot, **overviews})


def compare_schemes(
    *protocols: str,
    scenarios: Sequence[Scenario | str | Path] = SCENARIOS,
    seeds: int | Sequence[int] | None = None,
    set: Mapping[str, object] | None = None,
    threads: int | None = None,
    memory_limit: MemoryLimit = None,
    progress: Progress | None = None,
) -> Comparison:
    """Run scenarios under every protocol in place of their own variants.

    Args:
        protocols: "vcp", "sack/red"; if none is named, every law with explicit feedback.
        scenarios: As for `knee.run`; by default a dumbbell, a parking lot and T1.
        seeds: Seeds to run instead of the scenarios' own; an int n means 1 to n.
        set: Settings to change in each of them, by dotted key.
        threads: Threads to use; all cores if not given.
        memory_limit: How much memory runs may take together, as for `knee.run`.
        progress: Called with the fraction done, in [0, 1].

    Raises:
        ScenarioError: If a scenario is refused.
        FileNotFoundError: If there is none of that name.
    """
    planned = plan(protocols or explicit_laws(), scenarios, seeds=seeds, set=set)
    return make(planned, threads=threads, memory_limit=memory_limit, progress=progress)


def plan(
    protocols: Sequence[str],
    scenarios: Sequence[Scenario | str | Path],
    *,
    seeds: int | Sequence[int] | None = None,
    set: Mapping[str, object] | None = None,
) -> list[Scenario]:
    """The scenarios as they would run, all of them checked.

    Raises:
        ScenarioError: If one is refused, or two have the same name.
        FileNotFoundError: If there is none of that name.
    """
    chosen = list(dict.fromkeys(protocols))
    compare(*chosen)  # an unknown protocol is refused here, in a short message
    planned: dict[str, Scenario] = {}
    for scenario in map(load, scenarios):
        changed = scenario.variants(*chosen).replace(seeds=seeds, set=set)
        name = changed.check().name
        if name in planned:
            raise _core.ScenarioError(f"two scenarios are called {name}; each needs its own name")
        planned[name] = changed
    return list(planned.values())


def make(
    planned: Sequence[Scenario],
    *,
    threads: int | None = None,
    memory_limit: MemoryLimit = None,
    progress: Progress | None = None,
) -> Comparison:
    """Run scenarios one after the other, each on all cores."""
    runs = []
    for index, scenario in enumerate(planned):

        def note(fraction: float, before: int = index) -> None:
            if progress is not None:
                progress((before + fraction) / len(planned))

        runs.append(run(scenario, threads=threads, memory_limit=memory_limit, progress=note))
    return Comparison(runs)


def is_of_a_comparison(entry: Path) -> bool:
    """Is it a comparison's table or picture, by its name, or a results folder?"""
    if entry.is_dir() and not entry.is_symlink():
        return all(is_of_a_run(each) or is_working_folder(each) for each in entry.iterdir())
    return entry.name in (TABLE, PICTURE)
