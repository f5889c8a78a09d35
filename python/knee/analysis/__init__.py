"""From columns to figures over seeds."""

from knee.analysis.seeds import Spread, spread

__all__ = ["Spread", "spread"]
