"""The `knee` command."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line and leave with its exit code.

    0: done. 2: refused (bad input, no such file, a folder that cannot be written), with one
    sentence on stderr. 130: interrupted.
    """
    from knee.cli.app import app
    from knee.cli.errors import leave

    try:
        app(prog_name="knee")
    except Exception as error:
        sys.exit(leave(error))


__all__ = ["main"]
