"""Pictures; the only place that imports matplotlib."""

from knee.plots.claims import draw_claim
from knee.plots.overview import draw_overview
from knee.plots.style import write_figure

__all__ = ["draw_claim", "draw_overview", "write_figure"]
