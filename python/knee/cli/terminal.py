"""Tables on the terminal: text is printed as it is; markup in it has no effect."""

from __future__ import annotations

from rich.console import Console


def new_console(width: int | None = None) -> Console:
    """A console on stdout, `width` characters wide without a terminal.

    Names from outside still need `knee.printable`.
    """
    console = Console(highlight=False, markup=False, emoji=False)
    if width is not None and not console.is_terminal:
        console.width = width
    return console
