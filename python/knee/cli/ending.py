"""How the command ends: with one sentence on stderr where something went wrong, no traceback.

Nothing heavy is imported here, since this is what ends the command while all else is imported.
"""

from __future__ import annotations

import os
import signal
import sys
import warnings
from contextlib import suppress
from types import FrameType
from typing import Any, TextIO

from knee.printable import printable

INCOMPLETE = 1
REFUSED = 2
BROKEN = 70
INTERRUPTED = 130

STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Signals that end the command: Ctrl-C, and what ends as it does."""


class Interrupted(Exception):  # noqa: N818
    """Ctrl-C, out of reach of typer, which would leave without a word."""


class Refused(Exception):  # noqa: N818
    """A request that cannot be met; the message is one sentence for the user."""


class Stop(KeyboardInterrupt):
    """One of `STOPS` has come."""

    last: Stop | None = None
    """The one that this process was last told; some libraries make other errors of it."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.code = 128 + number
        Stop.last = self


def prepare() -> None:
    """Listen to signals, and see to it that anything can be printed, also to nobody."""
    Stop.last = None
    for number in STOPS:
        if signal.getsignal(number) is not signal.SIG_IGN:  # as nohup has it
            signal.signal(number, _stop)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115
    # A terminal that knows no such letter gets its number.
    sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    warnings.showwarning = _warn


def leave(error: Exception) -> int:
    """Tell the user of `error` on stderr and return the exit code it means."""
    code = _told(error)
    try:
        sys.stdout.flush()
    except OSError:  # nobody reads it, or the disk is full: Python would try once more, in vain
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return code


def stopped(sentence: str = "") -> int:
    """Say that the command was stopped; the exit code.

    From here on a further signal ends the process at once.
    """
    for number in STOPS:
        if callable(signal.getsignal(number)):
            signal.signal(number, signal.SIG_DFL)
    say(sentence or "stopped; nothing was written")
    with suppress(OSError):
        sys.stdout.flush()
    return Stop.last.code if Stop.last else INTERRUPTED


def say(sentence: str) -> None:
    """Print one sentence on stderr, after the command's name."""
    print(f"knee: {printable(sentence)}", file=sys.stderr)


def _stop(number: int, _: FrameType | None) -> None:
    raise Stop(number)


def _warn(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Show a warning: of knee's as a sentence, of others as usual."""
    if category.__module__.startswith("knee."):
        say(f"warning: {message}")
    else:
        text = warnings.formatwarning(message, category, filename, lineno, line)
        (file or sys.stderr).write(text)


def _misused(error: Any) -> int:
    """Say which option or argument is wrong; of none at all typer has printed the help."""
    if sentence := error.format_message():
        first, rest = sentence[0].lower(), sentence[1:].rstrip(".")
        where = f" (`{error.ctx.command_path} --help` shows what there is)" if error.ctx else ""
        say(first + rest + where)
    code: int = error.exit_code
    return code


def _told(error: Exception) -> int:
    from knee._core import ScenarioError
    from knee.results import PictureError

    match error:
        case Interrupted():
            return stopped(str(error))
        case _ if Stop.last:
            return stopped("stopped")
        case BrokenPipeError():
            return INCOMPLETE  # whoever read our output has gone: nothing is left to say
        case PictureError():
            say(str(error))
            return INCOMPLETE
        case Refused() | ScenarioError():
            say(str(error))
            return REFUSED
        case OSError():
            where = f"{error.filename}: " if error.filename else ""
            say(where + (error.strerror or str(error)))
            return REFUSED
        case _ if hasattr(error, "format_message"):  # typer's: an option that there is not
            return _misused(error)
        case _:
            if os.environ.get("KNEE_TRACEBACK"):
                raise error
            kind = type(error).__name__
            say(f"a fault in knee itself, {kind}: {error} (KNEE_TRACEBACK=1 shows where)")
            return BROKEN
