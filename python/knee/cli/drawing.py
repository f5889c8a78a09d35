"""`knee plot`."""

from __future__ import annotations

from pathlib import Path

from knee.cli.errors import Refused
from knee.results import PICTURE, Results

SUFFIXES = (".png", ".pdf", ".svg")


def plot(folder: Path, out: Path | None) -> None:
    """Draw the results in `folder` to `out`, or to its overview.png."""
    target = out or folder / PICTURE
    if target.suffix.lower() not in SUFFIXES:
        raise Refused(f"cannot draw {target}: name it .png, .pdf or .svg")
    try:
        results = Results.read(folder)
    except FileNotFoundError as error:
        raise Refused(
            f"{folder} is no results folder: {Path(error.filename or 'summary.parquet').name} is "
            "missing; `knee run` makes one"
        ) from None
    try:
        results.plot(target)
    except OSError as error:
        raise Refused(f"cannot write {target}: {error.strerror}") from None
    print(target)
