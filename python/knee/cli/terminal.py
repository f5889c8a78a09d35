"""Tables on the terminal: text is taken as it is, no markup in it is heeded."""

from __future__ import annotations

from rich.console import Console


def new_console(width: int | None = None) -> Console:
    """A console on stdout, `width` wide where no terminal says otherwise.

    Names from outside still need `knee.printable`.
    """
    console = Console(highlight=False, markup=False, emoji=False)
    if width is not None and not console.is_terminal:
        console.width = width
    return console
