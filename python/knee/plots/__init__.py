"""Pictures; the only place that imports matplotlib."""

from knee.plots.overview import draw_overview
from knee.plots.style import write_figure

__all__ = ["draw_overview", "write_figure"]
