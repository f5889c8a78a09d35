"""How the command ends: after an error, with one sentence on stderr and no traceback.

Nothing heavy is imported here: this module must work while others are still being imported.
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
"""Signals that end the command as Ctrl-C does."""


class Interrupted(Exception):  # noqa: N818
    """Ctrl-C, as an exception that typer does not handle: it would exit silently."""


class Refused(Exception):  # noqa: N818
    """A request that cannot be met; the message is one sentence for the user."""


class Stop(KeyboardInterrupt):
    """One of `STOPS` has arrived."""

    last: Stop | None = None
    """The last one of this process; some libraries turn it into other errors."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.code = 128 + number
        Stop.last = self


def prepare() -> None:
    """Install signal handlers, and make stdout and stderr safe to print to."""
    Stop.last = None
    for number in STOPS:
        if signal.getsignal(number) is not signal.SIG_IGN:  # ignored, as under nohup
            signal.signal(number, _stop)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115
    # Letters that the terminal cannot encode are escaped.
    sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    warnings.showwarning = _warn


def leave(error: Exception) -> int:
    """Tell the user of `error` on stderr and return the exit code it means."""
    code = _told(error)
    try:
        sys.stdout.flush()
    except OSError:  # closed pipe or full disk: keep Python from flushing again at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return code


def stopped(sentence: str = "") -> int:
    """Say that the command was stopped and return the exit code.

    Any further signal then ends the process at once.
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
    """Show a warning: knee's own as a sentence, others as usual."""
    if category.__module__.startswith("knee."):
        say(f"warning: {message}")
    else:
        text = warnings.formatwarning(message, category, filename, lineno, line)
        (file or sys.stderr).write(text)


def _misused(error: Any) -> int:
    """Say which option or argument is wrong; without any, typer has printed the help."""
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
            return INCOMPLETE  # the reader of our output has closed the pipe
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
        case _ if hasattr(error, "format_message"):  # typer's, such as an unknown option
            return _misused(error)
        case _:
            if os.environ.get("KNEE_TRACEBACK"):
                raise error
            kind = type(error).__name__
            say(f"a fault in knee itself, {kind}: {error} (KNEE_TRACEBACK=1 shows where)")
            return BROKEN
