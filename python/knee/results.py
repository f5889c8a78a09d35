"""`knee.run` and what it returns: columns, pictures and a results folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from knee.columns import FILES, Progress, Run, simulate
from knee.memory import MemoryLimit
from knee.replacement import FolderError, reason, replaced
from knee.scenario import Scenario

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PICTURE = "overview.png"


class PictureError(Exception):
    """A picture that could not be drawn; the message is one sentence."""


class Results(Run):
    """A run's columns, drawn by `plot` and written by `save`."""

    def plot(self, path: str | Path | None = None) -> Figure:
        """Draw the overview: utilisation, queue, throughput and windows, a column a protocol.

        Args:
            path: Where to write it too (png, pdf, svg); a picture appears there complete or not at
                all.

        Returns:
            The matplotlib figure, of the first seed.
        """
        from knee.plots import draw_overview, write_figure

        figure = draw_overview(self)
        if path is not None:
            write_figure(figure, Path(path))
        return figure

    def save(self, folder: str | Path) -> Path:
        """Write summary, flows and series (Parquet), scenario.toml and overview.png.

        The columns replace earlier results at one instant; if anything fails, the earlier results
        stay. The picture is drawn once the columns are safe.

        Returns:
            The folder's real path.

        Raises:
            FolderError: If `folder` holds other files than a run's, or cannot be written.
            PictureError: If the picture cannot be drawn; the columns are written.
        """
        self.save_columns(folder)
        self.save_picture(folder)
        return Path(folder).resolve()

    def save_columns(self, folder: str | Path) -> None:
        """The first half of `save`: everything but the picture."""
        with replaced(folder, is_of_a_run, "results") as partial:
            self.write(partial)

    def save_picture(self, folder: str | Path) -> None:
        """The second half of `save`: overview.png, in a folder that holds the columns."""
        draw_all(folder, {PICTURE: self.plot})


def run(
    scenario: Scenario | str | Path,
    *,
    seeds: int | Sequence[int] | None = None,
    set: Mapping[str, object] | None = None,
    threads: int | None = None,
    memory_limit: MemoryLimit = None,
    progress: Progress | None = None,
) -> Results:
    """Run a scenario: every variant with every seed, in parallel on all cores.

    The GIL is released meanwhile. The same scenario, seeds and version give the same columns on
    every machine and with every number of threads, `cpu_seconds` apart.

    Args:
        scenario: A `Scenario`, the path of a scenario file, or the name of a shipped one.
        seeds: Seeds to run instead of the scenario's; an int n means 1 to n.
        set: Settings to change, by dotted key: `{"bottleneck.rate": "1 Gbps"}`.
        threads: Threads to use; all cores if not given. Fewer are used if memory is short.
        memory_limit: How much memory the runs may take together, such as "8 GB" or a number of
            bytes; by default what the machine, or the control group, has left. A scenario that
            needs more is refused before it runs.
        progress: Called with the fraction done, in [0, 1].

    Warns:
        ScenarioWarning: If the scenario says something that is likely not meant, or fewer runs go
            at a time than asked for.

    Returns:
        Columns of the run; nothing is written.

    Raises:
        ScenarioError: If the scenario is refused, or there is no memory for it; the message is one
            sentence.
        FileNotFoundError: If there is no such file.
        ValueError: If there cannot be so many threads.
        KeyboardInterrupt: On Ctrl-C, at once.
    """
    tables, toml = simulate(
        scenario,
        seeds=seeds,
        set=set,
        threads=threads,
        memory_limit=memory_limit,
        progress=progress,
    )
    return Results(tables, toml)


def is_of_a_run(entry: Path) -> bool:
    """Does it have the name of a file of a results folder?"""
    return entry.name in {*FILES, PICTURE} and not entry.is_dir()


def draw_all(folder: str | Path, pictures: Mapping[str, Callable[[Path], object]]) -> None:
    """Draw each picture to its name in `folder`; if one fails, the others are drawn.

    Raises:
        PictureError: If any failed; raised once the others are drawn.
    """
    failed: dict[str, Exception] = {}
    for name, draw in pictures.items():
        try:
            draw(Path(folder) / name)
        except Exception as error:
            failed[name] = error
    if failed:
        first = next(iter(failed.values()))
        what = reason(first) if isinstance(first, OSError) else f"{type(first).__name__}: {first}"
        raise PictureError(
            f"cannot draw {', '.join(failed)} in {folder} ({what}); the columns are there, and "
            f"`knee plot {folder}` draws again"
        ) from first


__all__ = ["FolderError", "PictureError", "Results", "run"]
