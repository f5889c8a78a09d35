"""MLCP and BMCC in closed form (qazi2010)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Required, TypedDict, Unpack

from knee.fluid.solving import model, solve
from knee.quantity import Rate, Size, Time

if TYPE_CHECKING:
    import polars as pl


class Climb(TypedDict, total=False):
    """A flow alone, with feedback of few levels."""

    capacity: Required[Rate]
    rtt: Required[Time]
    packet: Size | None
    bits: Sequence[int] | None
    initial_window: float | None
    target: float | None
    kappa: float | None


class Epochs(TypedDict, total=False):
    """Flows of which one is new."""

    bdp: Required[float]
    flows: Required[float]
    convergence: float | None
    beta_max: float | None
    beta_min: float | None
    limit: float | None
    alpha: float | None


class Startup(TypedDict, total=False):
    """A flow that starts on an idle link."""

    capacity: Required[Rate]
    rtt: Required[Time]
    packet: Size | None
    growth: float | None
    kappa: float | None
    eta0: float | None
    eta: float | None
    alpha: float | None
    duration: Time | None
    samples: int | None


class Detection(TypedDict, total=False):
    """An overload that ADPM must show."""

    flow_bdp: Required[float]
    limit: float | None


@model(Climb)
def mlcp_rtts(**settings: Unpack[Climb]) -> pl.DataFrame:
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
    return solve("mlcp_rtts", settings)


@model(Epochs)
def bmcc_epochs(**settings: Unpack[Epochs]) -> pl.DataFrame:
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
    return solve("bmcc_epochs", settings)


@model(Startup)
def bmcc_startup(**settings: Unpack[Startup]) -> pl.DataFrame:
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
    return solve("bmcc_startup", settings)


@model(Detection)
def bmcc_detection(**settings: Unpack[Detection]) -> pl.DataFrame:
    """How surely ADPM shows an overload within one t_p (qazi2010, (4.13)).

    Args:
        flow_bdp: k / N, the BDP a flow, packets.
        limit: u, the greatest load factor that ADPM can signal; 1.2.

    Returns:
        One row: missed (P(R > d) with d = k / N + 1), packets (E[min(R, d + 1)]; E[R] itself has
        no end under (4.13)).
    """
    return solve("bmcc_detection", settings)
