"""`knee.run` and what it returns: columns, pictures and a results folder."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from knee.run import TABLES, Progress, Run, simulate
from knee.scenario import Scenario

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PICTURE = "overview.png"
FILES = frozenset({*(f"{table}.parquet" for table in TABLES), "scenario.toml", PICTURE})


class FolderError(OSError):
    """A folder that cannot take results; the message is one sentence."""


class Results(Run):
    """A run's columns, drawn by `plot` and written by `save`."""

    def plot(self, path: str | Path | None = None) -> Figure:
        """Draw the overview: utilisation, queue, throughput and windows, a column a protocol.

        Args:
            path: Where to write it too (png, pdf, svg); a picture appears there whole or not
                at all.

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

        All appear at once: they are written beside `folder` under another name, then renamed.
        Earlier results there stay as they were until then, and if anything fails.

        Raises:
            FolderError: If `folder` holds other files than a run's, or cannot be written.
        """
        target = check_folder(folder)
        try:
            with replaced(target) as partial:
                self.write(partial)
                self.plot(partial / PICTURE)
        except OSError as error:
            raise FolderError(f"cannot write results to {folder}: {error.strerror}") from error
        return target


def run(
    scenario: Scenario | str | Path,
    *,
    seeds: int | Sequence[int] | None = None,
    set: Mapping[str, object] | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Results:
    """Run a scenario: every variant with every seed, in parallel on all cores.

    The GIL is released meanwhile. The same scenario, seeds and version give the same columns on
    every machine and with every number of threads, `cpu_seconds` apart.

    Args:
        scenario: A `Scenario`, the path of a scenario file, or the name of a shipped one.
        seeds: Seeds to run instead of the scenario's; an int n means 1 to n.
        set: Settings to change, by dotted key: `{"bottleneck.rate": "1 Gbps"}`.
        threads: Threads to use; all cores if not given.
        progress: Called with the fraction done, in [0, 1].

    Returns:
        Columns of the run; nothing is written.

    Raises:
        ScenarioError: If the scenario is refused; the message is one sentence.
        FileNotFoundError: If there is no such file.
        KeyboardInterrupt: On Ctrl-C, at once.
    """
    return Results(*simulate(scenario, seeds=seeds, set=set, threads=threads, progress=progress))


def is_of_a_run(entry: Path) -> bool:
    """Is it called as a file of a results folder?"""
    return entry.name in FILES


def check_folder(folder: str | Path, is_ours: Callable[[Path], bool] = is_of_a_run) -> Path:
    """The absolute path of a folder that may take results.

    Raises:
        FolderError: If it is a file, or holds anything that is not a run's result.
    """
    target = Path(folder).absolute()
    try:
        strangers = sorted(entry.name for entry in target.iterdir() if not is_ours(entry))
    except FileNotFoundError:
        return target
    except NotADirectoryError:
        raise FolderError(f"cannot write results to {folder}: it is a file") from None
    except OSError as error:
        raise FolderError(f"cannot write results to {folder}: {error.strerror}") from error
    if strangers:
        raise FolderError(
            f"cannot write results to {folder}: it holds {strangers[0]}, which is none of knee's; "
            "a results folder is replaced as a whole, so name one of its own"
        )
    return target


@contextmanager
def replaced(target: Path) -> Iterator[Path]:
    """A new folder beside `target` to write in, which then takes its place; if all went well."""
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    try:
        yield partial
        partial.chmod(0o755)
        _replace(target, partial)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _replace(target: Path, partial: Path) -> None:
    """Put `partial` in the place of `target`; should that fail, `target` is back as it was."""
    if not target.exists():
        partial.rename(target)
        return
    earlier = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    try:
        target.rename(earlier / "results")
        try:
            partial.rename(target)
        except BaseException:
            (earlier / "results").rename(target)
            raise
    finally:
        shutil.rmtree(earlier, ignore_errors=True)
