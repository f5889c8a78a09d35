"""What a user sees when something cannot be done: one sentence, never a traceback."""

from __future__ import annotations

import os
import sys

from knee._core import ScenarioError

REFUSED = 2
BROKEN = 70
INTERRUPTED = 130


class Interrupted(Exception):  # noqa: N818
    """Ctrl-C, out of reach of typer, which would leave without a word."""


class Refused(Exception):  # noqa: N818
    """A request that cannot be met; the message is one sentence for the user."""


def leave(error: BaseException) -> int:
    """Tell the user of `error` on stderr and return the exit code it means."""
    match error:
        case Interrupted():
            say(str(error) or "stopped; nothing was written")
            return INTERRUPTED
        case BrokenPipeError():
            # Whoever read our output has gone: nothing is left to say, nor anywhere to flush to.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 1
        case Refused() | ScenarioError():
            say(str(error))
            return REFUSED
        case OSError():
            named = f"{error.filename}: {error.strerror}" if error.filename else str(error)
            say(named)
            return REFUSED
        case _:
            if os.environ.get("KNEE_TRACEBACK"):
                raise error
            kind = type(error).__name__
            say(f"a fault in knee itself, {kind}: {error} (KNEE_TRACEBACK=1 shows where)")
            return BROKEN


def say(sentence: str) -> None:
    """Print one sentence on stderr, after the command's name."""
    print(f"knee: {sentence}", file=sys.stderr)
