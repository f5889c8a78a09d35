"""The end of a command: save columns, print a table, draw pictures, in this order."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

from knee.cli.ending import Interrupted, Stop
from knee.printable import printable
from knee.replacement import FolderError, identity


@dataclass(frozen=True, slots=True)
class Effort:
    """Most runs at a time and most memory; None stands for what the machine has."""

    threads: int | None = None
    memory_limit: str | None = None


@dataclass(frozen=True, slots=True)
class Output:
    """Options of a command's output: folder, format, verbosity, effort."""

    folder: Path | None
    as_json: bool
    quiet: bool
    effort: Effort


class Made(Protocol):
    """What a command made: `knee.results.Results`, or a comparison."""

    def save_columns(self, folder: Path) -> object:
        """Save everything but the pictures."""

    def save_picture(self, folder: Path) -> object:
        """Draw pictures beside the columns."""


Kind = TypeVar("Kind", bound=Made)


def deliver(made: Kind, show: Callable[[Kind], object], folder: Path, style: Output) -> None:
    """Save what was made, show it, draw it.

    Raises:
        FolderError: If it cannot be saved; the table is printed anyway.
        PictureError: If it cannot be drawn; everything else is done.
    """
    failed = None
    try:
        made.save_columns(folder)
    except FolderError as error:
        failed = error
    show(made)
    sys.stdout.flush()
    if failed is not None:
        raise failed
    made.save_picture(folder)
    if not style.quiet:
        stream = sys.stderr if style.as_json else sys.stdout
        print(f"Columns and pictures: {printable(folder)}", file=stream)


@contextmanager
def stoppable(folder: Path) -> Iterator[None]:
    """If the command is stopped inside, say what is in `folder`."""
    before = identity(folder)
    try:
        yield
    except (KeyboardInterrupt, Exception) as stop:
        if not (isinstance(stop, KeyboardInterrupt) or Stop.last):
            raise
        if identity(folder) in (None, before):
            raise Interrupted("stopped; nothing was written") from stop
        raise Interrupted(
            f"stopped; the columns are in {folder} (`knee plot {folder}` draws them)"
        ) from stop
