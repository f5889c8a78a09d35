"""The scalable laws (paganini2003)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Required, TypedDict, Unpack

from knee.fluid.solving import model, solve
from knee.quantity import Rate, Size, Time

if TYPE_CHECKING:
    import polars as pl


class _Law(TypedDict, total=False):
    """What every model of the laws has."""

    alpha: float | None
    bottlenecks: float | None
    eta: float | None
    weight: float | None
    fairness: float | None
    pivot: Time | None
    packet: Size | None


class _Course(TypedDict, total=False):
    """A solution through time."""

    start: float | None
    duration: Time | None
    samples: int | None


class Link(_Law, _Course, total=False):
    """Flows over one link."""

    capacity: Required[Rate]
    rtts: Required[Sequence[Time]]


class Source(TypedDict, total=False):
    """One source's loop."""

    rtt: Required[Time]
    alpha: float | None
    zero: float | None
    ratio: float | None


class Plot(Source, total=False):
    """The same at these frequencies."""

    frequencies: Sequence[float] | None


class Network(_Law, total=False):
    """Links, and flows with delays both ways."""

    links: Required[Mapping[str, Rate]]
    routes: Required[Sequence[Sequence[str]]]
    rtts: Required[Sequence[Time]]
    forward: Sequence[Sequence[Time]] | None
    max_rates: Sequence[Rate] | None
    rtt_bound: Time | None


class NetworkRun(Network, _Course, total=False):
    """The same through time."""


class Loci(Network, total=False):
    """The same at these frequencies."""

    frequencies: Sequence[float] | None


class Queue(_Law, total=False):
    """Flows over one link whose price is its queue."""

    capacity: Required[Rate]
    rtts: Required[Sequence[Time]]
    errors: Sequence[Time] | None
    exponent: str | None
    rtt_bound: Time | None


class QueueRun(Queue, _Course, total=False):
    """The same through time."""


@model(Link)
def scalable(**settings: Unpack[Link]) -> pl.DataFrame:
    """The scalable laws on one link (paganini2003, (5), (15)-(16)).

    Args:
        capacity: c_0, the virtual capacity.
        rtts: tau of each flow.
        alpha: Gain; 0.37.
        bottlenecks: M; 1.
        weight: K of the utility K ln x, packets; 50.
        fairness: a of U' = p (K / (p x))^a; 1.
        pivot: p; "100 ms".
        eta: z tau_max; 0.64. 0 is the static law (6), whose maximum rates put it at the same rest.
        packet: Size of a packet on the wire; "1000 B".
        start: Rates until time 0, as a multiple of where they rest, with the prices at rest; of the
            static law the prices; 0.5.
        duration: "60 s".
        samples: Rows; 1201.

    Returns:
        time_s, price_s, load (y / c_0), price_at_rest_s (N K / c_0 with U = K ln x).
    """
    return solve("scalable", settings)


@model(Source)
def scalable_margin(**settings: Unpack[Source]) -> pl.DataFrame:
    """How lambda(jw), one source's loop gain, stands to -1 (paganini2003, (14)).

    Args:
        rtt: tau.
        alpha: Gain; 1.
        zero: z, 1/s; 0.2.
        ratio: nu / kappa; 1: no lead or lag, the static law, stable up to alpha = pi/2.

    Returns:
        One row: margin (the least factor on lambda that puts it on -1; above 1 is stable),
        distance (from -1, at most 1), encirclements (of -1: unstable poles).
    """
    return solve("scalable_margin", settings)


@model(Plot)
def scalable_nyquist(**settings: Unpack[Plot]) -> pl.DataFrame:
    """The Nyquist plot of lambda(jw), one source's loop gain (paganini2003, (14), Fig. 1).

    Args:
        rtt: tau.
        alpha: Gain; 1.
        zero: z, 1/s; 0.2.
        ratio: nu / kappa; 1.
        frequencies: rad/s; 2001 from 0.01 / tau to 20 / tau.

    Returns:
        A row a frequency: frequency_rad_s, re, im.
    """
    return solve("scalable_nyquist", settings)


@model(NetworkRun)
def scalable_network(**settings: Unpack[NetworkRun]) -> pl.DataFrame:
    """The scalable laws on a network (paganini2003, (1)-(3), (5), (15)-(16) or (6)), flow by flow.

    Args:
        links: c_0l, the virtual capacity of each link, by name.
        routes: For each flow the links that it crosses.
        rtts: tau of each flow.
        forward: tau^f: for each flow the delay from its source to each of its links; by default
            they lie evenly over the first half of the RTT, the first link at the source.
        bottlenecks: M; by default of each flow the number of its links.
        alpha: Gain; 0.37.
        max_rates: x_max of each flow: the static law (6), which has none of what follows.
        eta: z times the bound of the RTTs; 0.64.
        rtt_bound: This bound; the longest RTT.
        weight: K of the utility K ln x, packets; 50.
        fairness: a of U' = p (K / (p x))^a: 1 is K ln x, 2 minimum potential delay; 1.
        pivot: p; "100 ms".
        packet: Size of a packet on the wire; "1000 B".
        start: Rates until time 0, as a multiple of where they rest, with the prices at rest; of the
            static law the prices; 0.5.
        duration: "60 s".
        samples: Instants, equally spaced from 0 to `duration`; 1201.

    Returns:
        A row an instant and link or flow: time_s, link (null for flows), flow (from 0, null for
        links), rate_mbps (what arrives at the link; the flow's, at its first link), price_s (the
        link's; what the flow hears, but for delays), load (y / c_0; null for flows).
    """
    return solve("scalable_network", settings)


@model(Network)
def scalable_network_rest(**settings: Unpack[Network]) -> pl.DataFrame:
    """Where `scalable_network` rests: the optimum of the utilities, and the prices that mark it.

    Arguments are those of `scalable_network`.

    Returns:
        Its columns but time_s: a row a link or flow.
    """
    return solve("scalable_network_rest", settings)


@model(Network)
def scalable_network_margin(**settings: Unpack[Network]) -> pl.DataFrame:
    """How `scalable_network`, linearised at rest, stands to -1: generalised Nyquist of (12).

    Arguments are those of `scalable_network`.

    Returns:
        One row: margin (the least factor on L that puts an eigenvalue of L(jw) on -1), distance
        (of the eigenvalues from -1, at most 1), encirclements (unstable poles; null if the rows of
        the routing matrix of the links with a price are dependent), bottlenecks (their number).
    """
    return solve("scalable_network_margin", settings)


@model(Loci)
def scalable_network_loci(**settings: Unpack[Loci]) -> pl.DataFrame:
    """The eigenloci of `scalable_network`, linearised at rest (paganini2003, (12)).

    Arguments are those of `scalable_network`, and `frequencies`, in rad/s: by default 2001 from
    0.01 / tau_max to 20 / tau_min.

    Returns:
        A row a frequency and eigenvalue of L(jw), the greatest first: frequency_rad_s, locus (from
        0), re, im.
    """
    return solve("scalable_network_loci", settings)


@model(QueueRun)
def scalable_delay(**settings: Unpack[QueueRun]) -> pl.DataFrame:
    """The scalable law over queueing delay on one link (paganini2003, (24)-(25), (27)-(28)).

    The link's queue is its price. Delays are those of packets in a FIFO queue, so they vary.

    Args:
        capacity: c, the real one.
        rtts: d of each flow: propagation only.
        errors: By how much each flow takes its d for too long; "0 s".
        exponent: "window": (28) as it stands; "rate": (25); "window".
        alpha: Gain; 0.37.
        bottlenecks: M; 1.
        eta: z times the bound of the RTTs; 0.64.
        rtt_bound: This bound; the longest of `rtts`.
        weight: K of the utility K ln x, packets; 50.
        fairness: a of U' = p (K / (p x))^a; 1.
        pivot: p; "100 ms".
        packet: Size of a packet on the wire; "1000 B".
        start: Rates until time 0, as a multiple of where they rest; 0.5.
        duration: "60 s".
        samples: Instants, equally spaced from 0 to `duration`; 1201.

    Returns:
        A row an instant and flow: time_s, flow (from 0), rate_mbps, queue_s (the queueing delay).
    """
    return solve("scalable_delay", settings)


@model(Queue)
def scalable_delay_rest(**settings: Unpack[Queue]) -> pl.DataFrame:
    """Where `scalable_delay` rests: x = f(q - e), K / (q - e) for U = K ln x.

    Arguments are those of `scalable_delay`.

    Returns:
        A row a flow: flow, rate_mbps, share (its rate over c / N), queue_s.
    """
    return solve("scalable_delay_rest", settings)
