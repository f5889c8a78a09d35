"""From a model's settings to its columns.

A model's settings are a `TypedDict`, declared once: the function's signature, the units of plain
numbers and, for models of one family, all that they share come from it.
"""

from __future__ import annotations

import json
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from inspect import Parameter, Signature
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Required,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from knee import _core
from knee.quantity import plain, with_unit

if TYPE_CHECKING:
    import polars as pl

Function = TypeVar("Function", bound=Callable[..., Any])

SETTINGS: dict[str, type] = {}
"""The `TypedDict` of each model's settings, by the model's name."""


def model(settings: type) -> Callable[[Function], Function]:
    """Make a function's keywords those of a `TypedDict`, for who looks at its signature."""

    def declare(function: Function) -> Function:
        SETTINGS[function.__name__] = settings
        hints = get_type_hints(settings)
        required = {name for name, hint in _hints(settings).items() if get_origin(hint) is Required}
        keywords = [
            Parameter(name, Parameter.KEYWORD_ONLY, annotation=hints[name])
            if name in required
            else Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=hints[name])
            for name in sorted(hints, key=lambda each: each not in required)
        ]
        function.__signature__ = Signature(keywords, return_annotation="polars.DataFrame")  # type: ignore[attr-defined]
        return function

    return declare


def solve(name: str, settings: Mapping[str, Any]) -> pl.DataFrame:
    """The columns of a model; settings that are None keep their default.

    Raises:
        ScenarioError: If a setting is refused, or missing; the message is one sentence.
    """
    import polars as pl

    hints = _hints(SETTINGS[name])
    given = {
        key: _with_units(value, hints.get(key))
        for key, value in settings.items()
        if value is not None
    }
    return pl.DataFrame(_core.fluid(name, json.dumps(given)))


@cache
def _hints(settings: type) -> Mapping[str, Any]:
    return get_type_hints(settings, include_extras=True)


def _with_units(value: Any, hint: Any) -> Any:
    """`value` with its SI unit at every number in it that the hint says is a quantity."""
    value = plain(value)
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return with_unit(value, inner[1])
    if origin is Required:
        return _with_units(value, inner[0])
    if origin in (Union, types.UnionType):
        quantities = [each for each in inner if each is not type(None)]
        return _with_units(value, quantities[0]) if len(quantities) == 1 else value
    if isinstance(value, Mapping):
        of_values = inner[1] if origin is Mapping else None
        return {key: _with_units(each, of_values) for key, each in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, str):
        of_items = inner[0] if origin is Sequence else None
        return [_with_units(each, of_items) for each in value]
    return value
