"""A progress bar for long work."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from knee.columns import Progress
from knee.printable import printable


@contextmanager
def progress_bar(title: str, *, hidden: bool) -> Iterator[Progress | None]:
    """A progress bar on stderr while the body runs; none if hidden or not on a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    if hidden or not console.is_terminal:
        yield None
        return
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=None),
        TaskProgressColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True, expand=True) as bar:
        task = bar.add_task(printable(title), total=1.0)
        yield lambda fraction: bar.update(task, completed=fraction)
