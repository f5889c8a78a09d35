"""Fair shares of capacity: max-min by linear programmes, proportional by prices.

Lasting flows share the capacity of the links on their data's path that ACKs and the mean load of
arriving flows leave. A flow's access links bound its rate. ACKs use capacity but limit no rate: a
flow whose ACKs cross a full link still has its share of the links on its data's path.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

FILLED = 1e-6
"""A link is full if its load is this close to its capacity, relative."""
EXACT = 1e-9
"""Relative error of shares."""
_ROUNDS = 100


@dataclass(frozen=True, slots=True)
class Sharing:
    """Classes of identical flows that share links.

    Attributes:
        capacities: Capacity of each link, bps.
        loads: `loads[l, i]` is what all flows of class i put on link l if each has a rate of 1.
        counts: Flows of each class.
        bounds: Greatest rate of a flow of each class, bps.
        weights: Weight of a flow of each class.
    """

    capacities: Floats
    loads: Floats
    counts: Floats
    bounds: Floats
    weights: Floats


def share_out(
    links: Mapping[str, float],
    groups: Sequence[Mapping[str, Any]],
    weights: Mapping[str, float],
    by: Callable[[Sharing], Floats],
) -> tuple[Floats, list[list[str]]]:
    """Rates of the lasting groups' flows, and for each the full links on its path.

    Rates determine ACKs, ACKs determine capacity, capacity determines rates: a fixed point, found
    by iteration.
    """
    names = list(links)
    lasting = [group for group in groups if group["lasting"]]
    data = np.array([_on(names, group["data"]) * group["count"] for group in lasting]).T
    acks = np.array(
        [_on(names, group["acks"], _ack_part(group)) * group["count"] for group in lasting]
    )
    there = np.array(list(links.values()))
    for group in groups:
        if group["offered_bps"] is not None:
            way = _on(names, group["data"]) + _on(names, group["acks"], _ack_part(group))
            there = there - way * group["offered_bps"]
    crossed = data.any(axis=1)
    rates = np.zeros(len(lasting))
    for _ in range(_ROUNDS):
        left = there - rates @ acks
        if (left[crossed] <= 0.0).any():
            link = names[int(np.argmin(np.where(crossed, left, np.inf)))]
            raise ValueError(f"arriving flows and ACKs fill link {link}: nothing is left to share")
        sharing = Sharing(
            left[crossed],
            data[crossed],
            np.array([float(group["count"]) for group in lasting]),
            np.array([group["access_bps"] or math.inf for group in lasting]),
            np.array([weights.get(group["name"], 1.0) for group in lasting]),
        )
        before, rates = rates, by(sharing)
        if np.abs(rates - before).max() <= EXACT * rates.min():
            break
    full = crossed & (data @ rates >= (1.0 - FILLED) * left)
    tight = []
    for group, rate in zip(lasting, rates, strict=True):
        tight.append([link for link in group["data"] if full[names.index(link)]])
        if rate >= (1.0 - FILLED) * (group["access_bps"] or math.inf):
            tight[-1].append("access")
    return rates, tight


def max_min(sharing: Sharing) -> Floats:
    """Max-min fair rates: none can grow but at the cost of one that is no greater, per weight.

    In each round a linear programme maximises the least rate. The flows that limit it, known from
    the dual variables, keep their rate from then on [Nace, Pióro, 2008].
    """
    from scipy.optimize import linprog

    count = len(sharing.counts)
    unit = _alone(sharing)
    shares = sharing.loads * unit / sharing.capacities[:, None]
    step = float(np.min(sharing.capacities / (sharing.loads @ sharing.weights)))
    demands = sharing.weights * step / unit
    parts = np.full(count, math.nan)
    while (free := np.isnan(parts)).any():
        # Variables x and t; maximise t: shares x <= 1 and, for classes still free, t - x <= 0.
        least = np.zeros((int(free.sum()), count + 1))
        least[np.arange(len(least)), np.nonzero(free)[0]] = -1.0
        least[:, -1] = demands[free]
        bounds = [(0.0, 1.0) if math.isnan(part) else (part, part) for part in parts]
        found = linprog(
            np.append(np.zeros(count), -1.0),
            A_ub=np.vstack([np.column_stack([shares, np.zeros(len(shares))]), least]),
            b_ub=np.append(np.ones(len(shares)), np.zeros(len(least))),
            bounds=[*bounds, (0.0, None)],
            method="highs",
            options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
        )
        if found.status != 0:
            raise ArithmeticError(f"max-min shares: {found.message}")
        held = np.abs(found.ineqlin.marginals[len(shares) :]) > EXACT
        parts[np.nonzero(free)[0][held]] = found.x[-1] * demands[free][held]
    return parts * unit


def proportional(sharing: Sharing) -> Floats:
    """Rates with the greatest sum of weight x log rate [Kelly, Maulloo, Tan, 1998].

    First the link prices that minimise the dual are found. Then price and slack of each link, one
    of which is zero, are solved for together: that gives rates to full precision.
    """
    from scipy.optimize import least_squares, minimize

    unit = _alone(sharing)
    own = np.diag(unit / sharing.bounds)[np.isfinite(sharing.bounds)]
    shares = np.vstack([sharing.loads * unit / sharing.capacities[:, None], own])
    worth = sharing.weights * sharing.counts
    worth = worth / worth.sum()

    def dual(prices: Floats) -> tuple[float, Floats]:
        costs = prices @ shares
        return float(prices.sum() - worth @ np.log(costs)), 1.0 - shares @ (worth / costs)

    def misfit(prices: Floats) -> Floats:
        costs = prices @ shares
        if (costs <= 0.0).any():
            # A step to rates below zero is not taken, though it may fit the equations.
            return np.full_like(prices, np.inf)
        slack = 1.0 - shares @ (worth / costs)
        # Zero where both are at least 0 and one of them is 0.
        both: Floats = prices + slack - np.hypot(prices, slack)
        return both

    def slopes(prices: Floats) -> Floats:
        costs = prices @ shares
        slack = 1.0 - shares @ (worth / costs)
        far = np.maximum(np.hypot(prices, slack), np.finfo(float).tiny)
        by_price = (shares * (worth / costs**2)) @ shares.T
        both: Floats = np.diag(1.0 - prices / far) + (1.0 - slack / far)[:, None] * by_price
        return both

    near = minimize(
        dual,
        np.full(len(shares), 1.0 / len(shares)),
        jac=True,
        method="L-BFGS-B",
        bounds=[(1e-9, None)] * len(shares),
        options={"maxiter": 20_000, "maxfun": 40_000, "ftol": 1e-16, "gtol": 1e-12},
    )
    exact = least_squares(misfit, near.x, jac=slopes, xtol=1e-15, ftol=1e-15, gtol=1e-15)
    if np.abs(exact.fun).max() > EXACT:
        raise ArithmeticError(f"proportional shares: off by {np.abs(exact.fun).max():.1g}")
    rates: Floats = worth / (exact.x @ shares) * unit
    return rates


def _alone(sharing: Sharing) -> Floats:
    """The rate of the flows of each class if they were alone."""
    with np.errstate(divide="ignore"):
        rates: Floats = np.min(sharing.capacities[:, None] / sharing.loads, axis=0)
    return np.minimum(rates, sharing.bounds)


def _on(links: Sequence[str], way: Sequence[str], part: float = 1.0) -> Floats:
    """The load that a rate of 1 over a path puts on each link."""
    return np.array([part * (link in way) for link in links])


def _ack_part(group: Mapping[str, Any]) -> float:
    return float(group["ack_bytes"] / group["data_bytes"] / group["packets_per_ack"])
