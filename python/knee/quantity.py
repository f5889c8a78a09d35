"""Quantities as scenarios write them: a number and its unit."""

from __future__ import annotations

import re
from collections.abc import Mapping

_RATES = {"bps": 1.0, "kbps": 1e3, "Mbps": 1e6, "Gbps": 1e9, "Tbps": 1e12}
_TIMES = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}


def seconds(quantity: object) -> float:
    """Seconds of a time such as "12 s"; 0 if it is none."""
    return _in(_TIMES, quantity)


def bits_per_second(quantity: object) -> float:
    """Bits a second of a rate such as "150 Mbps"; 0 if it is none."""
    return _in(_RATES, quantity)


def _in(units: Mapping[str, float], quantity: object) -> float:
    found = re.fullmatch(r"\s*([\d.eE+-]+)\s*([a-zA-Z]+)\s*", str(quantity))
    return float(found[1]) * units.get(found[2], 0.0) if found else 0.0
