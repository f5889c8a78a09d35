"""Pictures; the only place that imports matplotlib."""

from knee.plots.claims import draw_claim
from knee.plots.overview import draw_overview
from knee.plots.schemes import draw_schemes
from knee.plots.style import write_figure

__all__ = ["draw_claim", "draw_overview", "draw_schemes", "write_figure"]
