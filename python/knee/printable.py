"""Text from outside, made fit to be shown: on a terminal, in a picture, on a page."""

from __future__ import annotations

LONGEST = 60
"""Characters of a value that a message repeats."""


def printable(text: object) -> str:
    r"""`text`, with what cannot be printed escaped as in a Python string: "\n", "\x1b", "\u202e".

    That covers line ends, terminal controls, marks of writing direction, and bytes of a file's name
    that are not UTF-8.
    """
    shown = str(text)
    if shown.isprintable():
        return shown
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode() for char in shown
    )


def brief(text: str) -> str:
    """`text` for a message: printable, and cut off if it is long."""
    shown = printable(text)
    return shown if len(shown) <= LONGEST else f"{shown[:LONGEST]}..."
