"""The `knee` command."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run the command line and leave with its exit code.

    0: done. 1: done but for a picture. 2: refused (bad input, no such file, a folder that cannot be
    written), with one sentence on stderr. 130, 129 and 143: stopped by Ctrl-C, SIGHUP and SIGTERM.
    """
    code = execute()
    from knee.cli.ending import Stop

    if Stop.last:
        # A library that was stopped while it was imported may crash when Python takes it down.
        os._exit(code)
    sys.exit(code)


def execute() -> int:
    """Run the command line of `sys.argv`; the exit code, when all has been said."""
    # Imports take a third of a second, in which Ctrl-C ends as at any other time: so they are here.
    try:
        from knee.cli.ending import Stop, leave, prepare

        prepare()
        try:
            from knee.cli.app import app

            code: int = app(prog_name="knee", standalone_mode=False) or 0
            if Stop.last:  # while arguments were read, of which typer says nothing
                raise Stop.last
            sys.stdout.flush()
        except Exception as error:
            code = leave(error)
    except KeyboardInterrupt:
        from knee.cli.ending import stopped

        code = stopped()
    return code


__all__ = ["execute", "main"]
