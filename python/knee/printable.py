"""Text from outside, made fit to be shown: on a terminal, in a picture, on a page."""

from __future__ import annotations

LONGEST = 60
"""Characters of a value that a message repeats."""


def printable(text: object) -> str:
    r"""`text` with all that cannot be printed as a Python string shows it: "\n", "\x1b", "\u202e".

    So are line ends, controls of a terminal, marks that turn the direction of writing, and the
    bytes of a file's name that are not UTF-8.
    """
    shown = str(text)
    if shown.isprintable():
        return shown
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode() for char in shown
    )


def brief(text: str) -> str:
    """`text` as a message repeats it: printable, its end cut off if it is long."""
    shown = printable(text)
    return shown if len(shown) <= LONGEST else f"{shown[:LONGEST]}..."
