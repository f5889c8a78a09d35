"""The `knee` command."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line and leave with its exit code.

    0: done. 1: done but for a picture. 2: refused (bad input, no such file, a folder that cannot be
    written), with one sentence on stderr. 130, 129 and 143: stopped by Ctrl-C, SIGHUP and SIGTERM.
    """
    # Imports take a third of a second, in which Ctrl-C ends as at any other time: so they are here.
    try:
        from knee.cli.ending import leave, prepare

        prepare()
        try:
            from knee.cli.app import app

            code = app(prog_name="knee", standalone_mode=False) or 0
            sys.stdout.flush()
        except Exception as error:
            code = leave(error)
    except KeyboardInterrupt as stop:
        from knee.cli.ending import stopped

        code = stopped(stop)
    sys.exit(code)


__all__ = ["main"]
