"""Fair shares of a scenario's capacity; `knee.analysis.shares` computes them."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from knee.scenario import load

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl

    from knee.scenario import Scenario


def fair_shares(
    scenario: Scenario | str | Path, *, weights: Mapping[str, float] | None = None
) -> pl.DataFrame:
    """The rates that a scenario's lasting flows would have if they shared its links fairly.

    Lasting: endless and never stopped. Rates of links are those at the end of the run.

    Args:
        scenario: As for `knee.run`.
        weights: Weights of the flows of some groups, by the group's name; 1 for all others. Rates
            over weights are max-min fair; the proportionally fair rates maximise the sum of weight
            x log rate.

    Returns:
        A row a protocol and lasting flow: protocol, flow, group, max_min_mbps, proportional_mbps,
        and bottlenecks: links on its path that the max-min shares fill ("access" for its own).

    Raises:
        ScenarioError: If the scenario is refused.
        ValueError: If a weight is for an unknown group or not positive, or if arriving flows alone
            fill a link that lasting flows need.
    """
    solved: dict[str, list[dict[str, Any]]] = {}
    rows = []
    for network in json.loads(load(scenario).check().ways()):
        key = json.dumps([network["links"], network["groups"]])
        if key not in solved:
            solved[key] = _shares(network, weights or {})
        rows += [{"protocol": network["variant"]} | row for row in solved[key]]
    return as_frame(rows)


def as_frame(rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """Rows of shares, or none, in the columns of `fair_shares`."""
    import polars as pl

    names = {"protocol": pl.String, "flow": pl.String, "group": pl.String}
    rates = {"max_min_mbps": pl.Float64, "proportional_mbps": pl.Float64}
    return pl.DataFrame(rows, schema=names | rates | {"bottlenecks": pl.List(pl.String)})


def _shares(network: Mapping[str, Any], weights: Mapping[str, float]) -> list[dict[str, Any]]:
    from knee.analysis.shares import max_min, proportional, share_out

    groups = network["groups"]
    _check(weights, [group["name"] for group in groups])
    lasting = [group for group in groups if group["lasting"]]
    if not lasting:
        return []
    links = {link["name"]: float(link["bps"]) for link in network["links"]}
    (fair, tight), (even, _) = (
        share_out(links, groups, weights, by) for by in (max_min, proportional)
    )
    return [
        {
            "flow": f"{group['name']}/{flow}",
            "group": group["name"],
            "max_min_mbps": fair[index] / 1e6,
            "proportional_mbps": even[index] / 1e6,
            "bottlenecks": tight[index],
        }
        for index, group in enumerate(lasting)
        for flow in range(group["count"])
    ]


def _check(weights: Mapping[str, float], known: Sequence[str]) -> None:
    for name, weight in weights.items():
        if name not in known:
            raise ValueError(f"weights: there are no flows {name}; there are {', '.join(known)}")
        if not (weight > 0.0 and math.isfinite(weight)):
            raise ValueError(f"weights: {name} has {weight}; a weight is above 0")
