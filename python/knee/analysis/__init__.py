"""From columns to figures over seeds."""

from knee.analysis.spread import Spread, spread

__all__ = ["Spread", "spread"]
