"""VCP's MIAIMD model, and max-min fair rates (xia2008)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Required, TypedDict, Unpack

from knee.fluid.solving import model, solve
from knee.quantity import Rate, Size, Time

if TYPE_CHECKING:
    import polars as pl


class _Usual(TypedDict, total=False):
    """What every MIAIMD model has."""

    alpha: float | None
    gamma: float | None
    packet: Size | None


class _Law(_Usual, total=False):
    """The law of one model."""

    kappa: float | None


class Link(_Law, total=False):
    """N synchronous flows over one link."""

    capacity: Required[Rate]
    rtt: Required[Time]
    flows: Required[float]


class Run(Link, total=False):
    """The same through time."""

    initial_window: float | None
    duration: Time | None
    samples: int | None
    target: float | None
    gamma_step: float | None
    gamma_period: Time | None
    gamma_filter: Time | None


class Sweep(_Usual, total=False):
    """Every combination of settings."""

    capacities: Required[Sequence[Rate]]
    rtts: Required[Sequence[Time]]
    flows: Required[Sequence[float]]
    kappas: Required[Sequence[float]]
    start: float | None


class Routing(TypedDict, total=False):
    """Links and the flows that cross them."""

    links: Required[Mapping[str, Rate]]
    routes: Required[Sequence[Sequence[str]]]


class Network(Routing, _Law, total=False):
    """The model on a network of equal RTTs."""

    rtt: Required[Time]


class NetworkRun(Network, total=False):
    """The same through time."""

    initial_windows: Sequence[float] | None
    duration: Time | None
    samples: int | None


@model(Run)
def miaimd(**settings: Unpack[Run]) -> pl.DataFrame:
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
    return solve("miaimd", settings)


@model(Link)
def miaimd_equilibrium(**settings: Unpack[Link]) -> pl.DataFrame:
    """Where `miaimd` rests (xia2008, Theorem 1), and the kappa beyond which it does not.

    Arguments are those of `miaimd`.

    Returns:
        One row: window_packets (w* = gamma C T + N alpha / kappa), flow_rate_mbps
        (r* = gamma C / N + alpha / (kappa T)), utilisation (w* / (C T); above 1 the queue grows
        without end), load (rho*), kappa_bound: where (13), linearised at w*, loses its stability,
        for this C, T, N, alpha and gamma: kappa = arccos(-(1 - u) / u) / sqrt(2 u - 1) with
        u = gamma C T / w*, never below pi/2.
    """
    return solve("miaimd_equilibrium", settings)


@model(Sweep)
def miaimd_sweep(**settings: Unpack[Sweep]) -> pl.DataFrame:
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
        solution), deviation (the greatest relative distance from w* over its last ten RTTs).
    """
    return solve("miaimd_sweep", settings)


@model(NetworkRun)
def miaimd_network(**settings: Unpack[NetworkRun]) -> pl.DataFrame:
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
    return solve("miaimd_network", settings)


@model(Network)
def miaimd_network_equilibrium(**settings: Unpack[Network]) -> pl.DataFrame:
    """Where `miaimd_network` rests (xia2008, Theorem 2), in closed form, beside max-min fair rates.

    Arguments are those of `miaimd_network`.

    Returns:
        A row a flow: flow, rate_mbps (r* = alpha / (kappa T (1 - 1 / max rho))), load (max rho),
        bottleneck (the link of that load), max_min_mbps (progressive filling of links of gamma C),
        max_min_of_carried_mbps (of links of rho gamma C, what each carries: equal to rate_mbps).
    """
    return solve("miaimd_network_equilibrium", settings)


@model(Routing)
def max_min(**settings: Unpack[Routing]) -> pl.DataFrame:
    """Max-min fair rates by progressive filling.

    Args:
        links: Capacity of each link, by name.
        routes: For each flow the links that it crosses.

    Returns:
        A row a flow: flow, rate_mbps, bottleneck (the link that holds it back).
    """
    return solve("max_min", settings)
