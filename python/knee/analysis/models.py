"""What a claim may ask of a model: numbers from `knee.fluid`, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

MODELS: Mapping[str, Callable[..., Mapping[str, float]]] = {}
"""Models by the name that ledger files use; each returns its figures by name."""
