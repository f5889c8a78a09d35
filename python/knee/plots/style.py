"""The common style of all pictures, and how they are written."""

from __future__ import annotations

import io
import warnings
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from knee.printable import printable
from knee.replacement import placed

DPI = 200

LONGEST_NAME = 28
"""Characters of a name that a picture shows."""

# Okabe and Ito's palette: distinct for every kind of colour vision.
BLUE = "#0072B2"
ORANGE = "#E69F00"
VERMILION = "#D55E00"
GREEN = "#009E73"
PURPLE = "#CC79A7"
SKY = "#56B4E9"
BLACK = "#1A1A1A"
GREY = "#7F7F7F"
PALETTE = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, BLACK)


def palette(count: int) -> list[str]:
    """Colours of `count` things; for many, steps of a ramp, where neighbours look alike."""
    if count <= len(PALETTE):
        return list(PALETTE[:count])
    ramp = mpl.colormaps["viridis"]
    return [to_hex(ramp(0.95 * step / (count - 1))) for step in range(count)]


STYLE: dict[Any, Any] = {
    "axes.axisbelow": True,
    "axes.edgecolor": "#4D4D4D",
    "axes.grid": True,
    "axes.labelsize": 9,
    "axes.linewidth": 0.6,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "figure.dpi": 100,
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "grid.color": "#E3E3E3",
    "grid.linewidth": 0.5,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "lines.linewidth": 1.0,
    "pdf.fonttype": 42,
    "savefig.dpi": DPI,
    "svg.fonttype": "none",
    "xtick.labelsize": 8,
    "xtick.major.width": 0.6,
    "ytick.labelsize": 8,
    "ytick.major.width": 0.6,
}


def label(text: str) -> str:
    """Text from outside, escaped for matplotlib: no formulas, nothing hidden from legends."""
    shown = printable(text).replace("$", r"\$")
    return f" {shown}" if shown.startswith("_") else shown


def name_label(name: str) -> str:
    """A name from outside, escaped and cut to a length that leaves room for the panels."""
    return label(name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…")


def write_figure(figure: Figure, path: Path) -> None:
    """Write `figure` at 200 dots an inch; the format is the suffix of `path`.

    The picture appears whole or not at all.

    Raises:
        OSError: If `path` cannot be written.
        ValueError: If matplotlib does not know the suffix.
    """
    with placed(path) as new:
        _render(figure, new)


def picture_bytes(figure: Figure, dpi: int | None = None) -> bytes:
    """`figure` as a PNG, at 200 dots an inch unless `dpi` says otherwise."""
    buffer = io.BytesIO()
    _render(figure, buffer, format="png", dpi=dpi or DPI)
    return buffer.getvalue()


def _render(figure: Figure, target: Path | io.BytesIO, **options: Any) -> None:
    with mpl.rc_context(STYLE), warnings.catch_warnings():
        # Warnings of letters that the font lacks and of panels without room: the rest is drawn.
        warnings.simplefilter("ignore", UserWarning)
        figure.savefig(target, **({"dpi": DPI} | options))
