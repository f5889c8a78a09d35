"""From a model's name and settings to its columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from knee import _core

if TYPE_CHECKING:
    import polars as pl


def solve(model: str, **settings: object) -> pl.DataFrame:
    """The columns of a model; settings that are None keep their default."""
    import json

    import polars as pl

    given = {name: value for name, value in settings.items() if value is not None}
    return pl.DataFrame(_core.fluid(model, json.dumps(given)))
