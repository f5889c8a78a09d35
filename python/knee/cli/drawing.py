"""`knee plot`."""

from __future__ import annotations

from pathlib import Path

from knee import comparison
from knee.cli.ending import Refused
from knee.columns import DamagedError
from knee.printable import printable
from knee.replacement import reason
from knee.results import PICTURE, PictureError, Results

SUFFIXES = (".png", ".pdf", ".svg")


def plot(folder: Path, out: Path | None) -> None:
    """Draw the results or the comparison in `folder` to `out`, or to its own picture."""
    compared = (folder / comparison.TABLE).is_file()
    target = out or folder / (comparison.PICTURE if compared else PICTURE)
    if target.suffix.lower() not in SUFFIXES:
        raise Refused(f"cannot draw {target}: name it .png, .pdf or .svg")
    drawn: Results | comparison.Comparison
    try:
        drawn = (comparison.Comparison if compared else Results).read(folder)
    except FileNotFoundError as error:
        raise Refused(
            f"{folder} is no results folder: {Path(error.filename or 'summary.parquet').name} is "
            "missing; `knee run` makes one"
        ) from None
    try:
        drawn.plot(target)
    except DamagedError:
        raise
    except OSError as error:
        raise Refused(f"cannot write {target}: {reason(error)}") from error
    except Exception as error:
        raise PictureError(f"cannot draw {folder} ({type(error).__name__}: {error})") from error
    print(printable(target))
