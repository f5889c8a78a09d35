"""RCP, QI-RCP and PIQI-RCP (jain2007)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Required, TypedDict, Unpack

from knee.fluid.solving import model, solve
from knee.quantity import Rate, Size, Time

if TYPE_CHECKING:
    import polars as pl


class Bounds(TypedDict, total=False):
    """Flows of these RTTs."""

    rtts: Required[Sequence[Time]]
    interval: Time | None
    tau1: float | None
    tau2: float | None


class Run(Bounds, total=False):
    """A law on one link, step by step."""

    law: Required[str]
    capacity: Required[Rate]
    packet: Size | None
    gamma: float | None
    eta: float | None
    kappa: float | None
    alpha: float | None
    beta: float | None
    mean_rtt: Time | None
    start: float | None
    duration: Time | None


@model(Bounds)
def rcp_bounds(**settings: Unpack[Bounds]) -> pl.DataFrame:
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
    return solve("rcp_bounds", settings)


@model(Run)
def rcp(**settings: Unpack[Run]) -> pl.DataFrame:
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
    return solve("rcp", settings)
