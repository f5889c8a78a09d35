"""Quantities: text with a unit, or a number in SI units.

A rate is "150 Mbps" or 150e6 (bit/s), a time "80 ms" or 0.08 (s), a size "1000 B" or 1000 (bytes).
Units are read by the compiled side alone.
"""

from __future__ import annotations

from typing import Annotated, Any

from knee import _core

Rate = Annotated[str | float, "bps"]
"""A rate: text such as "150 Mbps", or bits a second."""

Time = Annotated[str | float, "s"]
"""A time: text such as "80 ms", or seconds."""

Size = Annotated[str | float, "B"]
"""A size: text such as "1000 B", or bytes."""

Buffer = Annotated[str | float, "B"]
"""A buffer: text such as "1 BDP", "200 packets" or "unlimited", or bytes."""


def seconds(time: Time) -> float:
    """Seconds of a time.

    Raises:
        ScenarioError: If it is text, but no time.
    """
    return _core.parse_time(time) if isinstance(time, str) else float(time)


def bits_per_second(rate: Rate) -> float:
    """Bits a second of a rate.

    Raises:
        ScenarioError: If it is text, but no rate.
    """
    return _core.parse_rate(rate) if isinstance(rate, str) else float(rate)


def with_unit(value: Any, unit: str) -> Any:
    """A number as text with its SI unit; anything else as it is."""
    value = plain(value)
    return f"{value!r} {unit}" if is_number(value) else value


def plain(value: Any) -> Any:
    """The Python number that one of numpy's is; anything else as it is."""
    return value.item() if getattr(value, "ndim", None) == 0 else value


def is_number(value: object) -> bool:
    """Is it an int or a float? True and False are not."""
    return isinstance(value, int | float) and not isinstance(value, bool)
