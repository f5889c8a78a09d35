"""Columns of a run as arrays: samples of probes, and values of groups' flows."""

from __future__ import annotations

import fnmatch
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from knee.columns import Run


def samples(
    run: Run, quantity: str, entity: str = "*", start: float = 0.0, end: float = math.inf
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Samples of a probe: times in s, shape (n,), and values, shape (n, entities), NaN where none.

    If the quantity is one of links, "*" stands for the main links.
    """
    frame = run.series().filter(
        (pl.col("quantity") == quantity) & pl.col("time_s").is_between(start, end)
    )
    names = frame["entity"].cast(pl.String).unique(maintain_order=True).to_list()
    wanted = fnmatch.filter(names, entity)
    if entity == "*" and set(run.main_links) & set(names):
        wanted = [name for name in names if name in run.main_links]
    return side_by_side(frame, wanted)


def side_by_side(
    frame: pl.DataFrame, entities: Sequence[str]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Samples of one quantity: times in s, shape (n,), and values, shape (n, entities sampled).

    A value is NaN where there is none. Entities keep their order.
    """
    named = frame.with_columns(pl.col("entity").cast(pl.String)).filter(
        pl.col("entity").is_in(entities)
    )
    if named.is_empty():
        return np.empty(0), np.empty((0, 0))
    sampled = set(named["entity"].unique())
    # A link may have the name of a column, such as "time_s": so its own columns get a prefix.
    columns = [f"of {entity}" for entity in entities if entity in sampled]
    wide = (
        named.with_columns(entity=pl.format("of {}", "entity"))
        .pivot(on="entity", index="time_s", values="value")
        .sort("time_s")
    )
    values = wide.select(columns).cast(pl.Float64).fill_null(math.nan).to_numpy()
    return wide["time_s"].to_numpy(), values


def slope(x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    """Slope of the least-squares line through the points; NaN without two different x."""
    if x.size < 2 or float(np.ptp(x)) == 0.0:
        return math.nan
    return float(np.polyfit(x, y, 1)[0])


def flow_column(run: Run, column: str, group: str) -> NDArray[np.float64]:
    """A column of the flows in the groups that match the pattern, NaN where null."""
    flows = run.flows
    names = flows["group"].cast(pl.String).unique(maintain_order=True).to_list()
    chosen = flows.filter(pl.col("group").cast(pl.String).is_in(fnmatch.filter(names, group)))
    return chosen[column].cast(pl.Float64).fill_null(math.nan).to_numpy()


def jain_index(rates: NDArray[np.float64]) -> float:
    """(sum x)^2 / (n sum x^2) [Jain, Chiu, Hawe, 1984]."""
    squares = float((rates**2).sum()) if rates.size else 0.0
    return float(rates.sum() ** 2 / (rates.size * squares)) if squares > 0.0 else math.nan


def first_time(
    times: NDArray[np.float64],
    reached: NDArray[np.bool_],
    after: float,
    hold: float,
    unit_s: float,
) -> float:
    """First instant, after `after`, from which `reached` stays so for `hold` seconds.

    The result is in units of `unit_s` seconds; infinite if there is none.
    """
    if times.size == 0:
        return math.nan
    lost = np.nonzero(~reached)[0]
    for index in np.nonzero(reached)[0]:
        later = lost[lost > index]
        end = times[later[0]] if later.size else math.inf
        if end - times[index] >= hold:
            return float(times[index] - after) / unit_s
    return math.inf
