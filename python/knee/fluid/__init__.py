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

from knee.fluid.scalable import (
    scalable,
    scalable_delay,
    scalable_delay_rest,
    scalable_margin,
    scalable_network,
    scalable_network_loci,
    scalable_network_margin,
    scalable_network_rest,
    scalable_nyquist,
)
from knee.fluid.solve import solve

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "bmcc_detection",
    "bmcc_epochs",
    "bmcc_startup",
    "max_min",
    "miaimd",
    "miaimd_equilibrium",
    "miaimd_network",
    "miaimd_network_equilibrium",
    "miaimd_sweep",
    "mlcp_rtts",
    "rcp",
    "rcp_bounds",
    "scalable",
    "scalable_delay",
    "scalable_delay_rest",
    "scalable_margin",
    "scalable_network",
    "scalable_network_loci",
    "scalable_network_margin",
    "scalable_network_rest",
    "scalable_nyquist",
]


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
    return solve("miaimd", **locals())


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
    return solve("miaimd_equilibrium", **locals())


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
        solution), deviation (the greatest relative distance from w* over its last ten RTTs).
    """
    return solve("miaimd_sweep", **locals())


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
    return solve("miaimd_network", **locals())


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
    return solve("miaimd_network_equilibrium", **locals())


def max_min(*, links: Mapping[str, str], routes: Sequence[Sequence[str]]) -> pl.DataFrame:
    """Max-min fair rates by progressive filling.

    Args:
        links: Capacity of each link, by name.
        routes: For each flow the links that it crosses.

    Returns:
        A row a flow: flow, rate_mbps, bottleneck (the link that holds it back).
    """
    return solve("max_min", **locals())


def mlcp_rtts(
    *,
    capacity: str,
    rtt: str,
    packet: str | None = None,
    bits: Sequence[int] | None = None,
    initial_window: float | None = None,
    target: float | None = None,
    kappa: float | None = None,
) -> pl.DataFrame:
    """RTTs that a flow alone takes to a target utilisation (qazi2010, (3.1)-(3.4)).

    Args:
        capacity: C.
        rtt: Round-trip time.
        packet: Size of a packet on the wire; "1000 B".
        bits: Bits of the feedback; [2, 3, 4, 15]. n bits make 2^n - 3 levels below the target.
        initial_window: Packets; 1.
        target: Utilisation; 0.8.
        kappa: Gain of the multiplicative increase; 0.35.

    Returns:
        A row for each of `bits`: bits, levels, rtts (not rounded; the thesis rounds all but the
        first up).
    """
    return solve("mlcp_rtts", **locals())


def bmcc_epochs(
    *,
    bdp: float,
    flows: float,
    convergence: float | None = None,
    beta_max: float | None = None,
    beta_min: float | None = None,
    limit: float | None = None,
    alpha: float | None = None,
) -> pl.DataFrame:
    """How long a newcomer to a loaded link takes to an equal share (qazi2010, (4.7)-(4.10)).

    Args:
        bdp: k = C T, packets.
        flows: N.
        convergence: 1 - delta: the share of the difference that must be gone; 0.7.
        beta_max: Window kept at a load factor of 1; 0.875.
        beta_min: Window kept at `limit` and beyond; 0.65.
        limit: u, the greatest load factor that ADPM can signal; 1.2.
        alpha: Additive increase, packets an RTT; 1.

    Returns:
        One row: epochs (E[m]), epoch_rtts (E[d_e]), convergence_rtts (r of (4.9)).
    """
    return solve("bmcc_epochs", **locals())


def bmcc_startup(
    *,
    capacity: str,
    rtt: str,
    packet: str | None = None,
    growth: float | None = None,
    kappa: float | None = None,
    eta0: float | None = None,
    eta: float | None = None,
    alpha: float | None = None,
    duration: str | None = None,
    samples: int | None = None,
) -> pl.DataFrame:
    """Windows of a flow that starts on an idle link (qazi2010, (4.11)-(4.12) and Fig. 27).

    Args:
        capacity: C.
        rtt: T, which is t_p too.
        packet: Size of a packet on the wire; "1000 B".
        growth: Factor an RTT of the first phase; 3, as the thesis rounds 2.98.
        kappa: kappa_2; 0.35.
        eta0: Load factor at which the second phase begins; 0.15.
        eta: Load factor at which the third begins; 0.75. New flows stay in MI until the load factor
            first reaches 1 (4.1.4.2): give 1 for them.
        alpha: Additive increase, packets an RTT; 1.
        duration: "10 s".
        samples: Rows; 1001.

    Returns:
        time_s, bmcc_packets, bmcc_sent_packets, vcp_packets, sack_packets (doubling until twice the
        BDP: link and buffer).
    """
    return solve("bmcc_startup", **locals())


def bmcc_detection(*, flow_bdp: float, limit: float | None = None) -> pl.DataFrame:
    """How surely ADPM shows an overload within one t_p (qazi2010, (4.13)).

    Args:
        flow_bdp: k / N, the BDP a flow, packets.
        limit: u, the greatest load factor that ADPM can signal; 1.2.

    Returns:
        One row: missed (P(R > d) with d = k / N + 1), packets (E[min(R, d + 1)]; E[R] itself has
        no end under (4.13)).
    """
    return solve("bmcc_detection", **locals())


def rcp_bounds(
    *,
    rtts: Sequence[str],
    interval: str | None = None,
    tau1: float | None = None,
    tau2: float | None = None,
) -> pl.DataFrame:
    """Bounds on kappa of QI-RCP and PIQI-RCP (jain2007, (6), (20), (35)).

    Args:
        rtts: RTT of each flow; rounded up to whole intervals, but for (35).
        interval: T; "10 ms".
        tau1: PIQI-RCP's tau_1; 0.005.
        tau2: PIQI-RCP's tau_2; 0.5.

    Returns:
        One row: qi_rcp (6), qi_rcp_exact (of (5), linearised, for these very RTTs), piqi_rcp (20),
        piqi_rcp_simple (35), piqi_rcp_exact (of (18)-(19), linearised, for these RTTs, tau_1 and
        tau_2).
    """
    return solve("rcp_bounds", **locals())


def rcp(
    *,
    law: str,
    capacity: str,
    rtts: Sequence[str],
    interval: str | None = None,
    packet: str | None = None,
    gamma: float | None = None,
    eta: float | None = None,
    kappa: float | None = None,
    tau1: float | None = None,
    tau2: float | None = None,
    alpha: float | None = None,
    beta: float | None = None,
    mean_rtt: str | None = None,
    start: float | None = None,
    duration: str | None = None,
) -> pl.DataFrame:
    """RCP, QI-RCP or PIQI-RCP on one link (jain2007, (1), (4)-(5), (18)-(19)), step by step.

    Args:
        law: "rcp", "qi-rcp" or "piqi-rcp".
        capacity: C.
        rtts: RTT of each flow; rounded up to whole intervals.
        interval: T; "10 ms".
        packet: Size of a packet on the wire; "1000 B".
        gamma: Target utilisation; 0.95, RCP's 1.
        eta: kappa / kappa*, with kappa* of (6) or (20); 0.5.
        kappa: In place of `eta`.
        tau1: PIQI-RCP's tau_1; 0.005.
        tau2: PIQI-RCP's tau_2; 0.5.
        alpha: RCP's gain of the spare capacity; 0.4.
        beta: RCP's gain of the queue; 1.
        mean_rtt: d, the mean RTT that RCP's router believes in; the flows' by default.
        start: The control rate until time 0, as a multiple of where it rests; 0.1.
        duration: "60 s".

    Returns:
        time_s, rate_mbps (the control rate R), load (y / (gamma C)), queue_packets.
    """
    return solve("rcp", **locals())
