"""Fluid models: delay-differential equations, their equilibria and stability bounds, closed forms.

import knee.fluid

frame = knee.fluid.miaimd(capacity="150 Mbps", rtt="80 ms", flows=30, kappa=0.25)
frame["window_packets"].to_numpy()

Every function takes quantities as text with a unit ("150 Mbps", "80 ms", "1000 B") and returns a
polars frame whose column names end in their unit. A setting that is refused raises
`knee.ScenarioError`, a `ValueError` of one sentence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from knee import _core

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "max_min",
    "miaimd",
    "miaimd_equilibrium",
    "miaimd_network",
    "miaimd_network_equilibrium",
    "miaimd_sweep",
]


def _solve(model: str, **settings: object) -> pl.DataFrame:
    """The columns of a model; settings that are None keep their default."""
    import json

    import polars as pl

    given = {name: value for name, value in settings.items() if value is not None}
    return pl.DataFrame(_core.fluid(model, json.dumps(given)))


def miaimd(
    *,
    capacity: str,
    rtt: str,
    flows: float,
    kappa: float | None = None,
    alpha: float | None = None,
    gamma: float | None = None,
    packet: str | None = None,
    initial_window: float | None = None,
    duration: str | None = None,
    samples: int | None = None,
    target: float | None = None,
    gamma_step: float | None = None,
    gamma_period: str | None = None,
    gamma_filter: str | None = None,
) -> pl.DataFrame:
    """VCP's MIAIMD model (xia2008, (9)-(13)): N synchronous flows over one link.

    Solved by the method of steps for ln w; each flow's window is 1 packet until time 0, as in the
    paper, if `initial_window` does not say otherwise. A window that starts at w0 grows to about
    w0 exp(kappa gamma C T / (N w0)), takes gamma C T / (N w0) RTTs to come down, and then settles.

    Args:
        capacity: C.
        rtt: T, the same for all flows.
        flows: N.
        kappa: Gain of the multiplicative increase; 0.25.
        alpha: Additive increase, packets an RTT; 1.
        gamma: Target utilisation; 0.98.
        packet: Size of a packet on the wire; "1000 B".
        initial_window: Window of each flow until time 0, packets; 1.
        duration: "60 s".
        samples: Rows, equally spaced from 0 to `duration`; 1201.
        target: gamma*: the utilisation to which the router adapts gamma by (14); not by default.
        gamma_step: delta gamma; 0.01.
        gamma_period: T_gamma; 20 RTTs.
        gamma_filter: Time constant of the measured utilisation's filter; 5 RTTs.

    Returns:
        time_s, window_packets (of all flows), utilisation (min(1, w / (C T))), load (rho of (11),
        as the sources know it), gamma.
    """
    return _solve("miaimd", **locals())


def miaimd_equilibrium(
    *,
    capacity: str,
    rtt: str,
    flows: float,
    kappa: float | None = None,
    alpha: float | None = None,
    gamma: float | None = None,
    packet: str | None = None,
) -> pl.DataFrame:
    """Where `miaimd` rests (xia2008, Theorem 1), and the kappa beyond which it does not.

    Arguments are those of `miaimd`.

    Returns:
        One row: window_packets (w* = gamma C T + N alpha / kappa), flow_rate_mbps
        (r* = gamma C / N + alpha / (kappa T)), utilisation (w* / (C T); above 1 the queue grows
        without end), load (rho*), kappa_bound: where (13), linearised at w*, loses its stability,
        for this C, T, N, alpha and gamma: kappa = arccos(-(1 - u) / u) / sqrt(2 u - 1) with
        u = gamma C T / w*, never below pi/2.
    """
    return _solve("miaimd_equilibrium", **locals())


def miaimd_sweep(
    *,
    capacities: Sequence[str],
    rtts: Sequence[str],
    flows: Sequence[float],
    kappas: Sequence[float],
    alpha: float | None = None,
    gamma: float | None = None,
    packet: str | None = None,
    start: float | None = None,
) -> pl.DataFrame:
    """`miaimd` for every combination: how far from w* each is once it should rest.

    Args:
        capacities: C of each model.
        rtts: T of each.
        flows: N of each.
        kappas: Gain of each.
        alpha: Additive increase, packets an RTT; 1.
        gamma: Target utilisation; 0.98.
        packet: Size of a packet on the wire; "1000 B".
        start: w(0) / w*; by default each flow starts at 1 packet, as in the paper, which takes
            at least gamma C T / N RTTs.

    Returns:
        A row a model: capacity_mbps, rtt_ms, flows, kappa, kappa_bound, rtts (length of the
        solution), deviation (the greatest |w - w*| / w* over its last ten RTTs).
    """
    return _solve("miaimd_sweep", **locals())


def miaimd_network(
    *,
    links: Mapping[str, str],
    routes: Sequence[Sequence[str]],
    rtt: str,
    kappa: float | None = None,
    alpha: float | None = None,
    gamma: float | None = None,
    packet: str | None = None,
    initial_windows: Sequence[float] | None = None,
    duration: str | None = None,
    samples: int | None = None,
) -> pl.DataFrame:
    """The MIAIMD model on a network of equal RTTs (xia2008, (9) and (15)), flow by flow.

    Args:
        links: Capacity of each link, by name.
        routes: For each flow the links that it crosses.
        rtt: T, the same for all flows.
        kappa: Gain of the multiplicative increase; 0.25.
        alpha: Additive increase, packets an RTT; 1.
        gamma: Target utilisation; 0.98.
        packet: Size of a packet on the wire; "1000 B".
        initial_windows: Window of each flow until time 0, packets; 1.
        duration: "60 s".
        samples: Instants, equally spaced from 0 to `duration`; 1201.

    Returns:
        A row an instant and flow: time_s, flow (from 0), window_packets, rate_mbps (w / T).
    """
    return _solve("miaimd_network", **locals())


def miaimd_network_equilibrium(
    *,
    links: Mapping[str, str],
    routes: Sequence[Sequence[str]],
    rtt: str,
    kappa: float | None = None,
    alpha: float | None = None,
    gamma: float | None = None,
    packet: str | None = None,
) -> pl.DataFrame:
    """Where `miaimd_network` rests (xia2008, Theorem 2), in closed form, beside max-min fair rates.

    Arguments are those of `miaimd_network`.

    Returns:
        A row a flow: flow, rate_mbps (r* = alpha / (kappa T (1 - 1 / max rho))), load (max rho),
        bottleneck (the link of that load), max_min_mbps (progressive filling of links of gamma C),
        max_min_of_carried_mbps (of links of rho gamma C, what each carries: equal to rate_mbps).
    """
    return _solve("miaimd_network_equilibrium", **locals())


def max_min(*, links: Mapping[str, str], routes: Sequence[Sequence[str]]) -> pl.DataFrame:
    """Max-min fair rates by progressive filling.

    Args:
        links: Capacity of each link, by name.
        routes: For each flow the links that it crosses.

    Returns:
        A row a flow: flow, rate_mbps, bottleneck (the link that holds it back).
    """
    return _solve("max_min", **locals())
