"""Pictures; the only place that imports matplotlib."""

from knee.plots.claims import draw_figure
from knee.plots.overview import draw_overview
from knee.plots.schemes import draw_schemes
from knee.plots.style import picture_bytes, write_figure

__all__ = ["draw_figure", "draw_overview", "draw_schemes", "picture_bytes", "write_figure"]
