"""The `knee` command."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run the command line and leave with its exit code.

    0: done. 1: done, but a picture could not be drawn. 2: refused (bad input, no such file, a
    folder that cannot be written), with one sentence on stderr. 130, 129 and 143: stopped by
    Ctrl-C, SIGHUP and SIGTERM.
    """
    code = execute()
    from knee.cli.ending import Stop

    if Stop.last:
        # A library that was stopped during its import may crash when Python shuts down.
        os._exit(code)
    sys.exit(code)


def execute() -> int:
    """Run the command line of `sys.argv` and return the exit code."""
    # Imports take a third of a second. They are in the `try`, so that Ctrl-C ends them properly.
    try:
        from knee.cli.ending import Stop, leave, prepare

        prepare()
        try:
            from knee.cli.app import app

            code: int = app(prog_name="knee", standalone_mode=False) or 0
            if Stop.last:  # typer swallows a signal while it reads arguments
                raise Stop.last
            sys.stdout.flush()
        except Exception as error:
            code = leave(error)
    except KeyboardInterrupt:
        from knee.cli.ending import stopped

        code = stopped()
    return code


__all__ = ["execute", "main"]
