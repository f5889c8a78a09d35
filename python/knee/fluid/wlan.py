"""Wireless LANs in closed form (Bianchi 2000; qazi2010, chapter 6)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, Required, TypedDict, Unpack

from knee.fluid.solving import model, solve
from knee.quantity import Rate, Size, Time

if TYPE_CHECKING:
    import polars as pl


class Saturation(TypedDict, total=False):
    """Stations that always have something to send."""

    stations: Required[Sequence[int]]
    standard: str | None
    rate: Rate | None
    packet: Size | None
    errors: float | None
    retry_limit: int | None
    cw_min: int | None
    cw_max: int | None
    overhead: Size | None
    after_collision: Literal["eifs", "difs"] | None


class Capacity(TypedDict, total=False):
    """A link of a channel."""

    standard: str | None
    rate: Rate | None
    packet: Size | None
    ack: Size | None
    loss: float | None
    others: float | None
    backoff: Time | None


@model(Saturation)
def wlan_saturation(**settings: Unpack[Saturation]) -> pl.DataFrame:
    """Throughput of n stations that always have something to send (Bianchi, JSAC 2000).

    Args:
        stations: Numbers of stations, 1 to 100000 each.
        standard: "802.11b" (the default), "802.11a", "802.11g" or "802.11n".
        rate: Physical rate of data frames; the standard's highest.
        packet: Size of a packet; "1500 B".
        errors: Probability that a data frame has errors; 0.
        retry_limit: Transmissions of a packet at most; 7. 0: as many as it takes, as in the paper.
        cw_min: First contention window; the standard's.
        cw_max: Largest contention window; the standard's.
        overhead: Bytes that the MAC adds to a packet; the standard's.
        after_collision: Rest of the channel after a collision: "eifs", as the standard has it, or
            "difs", as the paper has it, which yields 2 to 7 % more.

    Returns:
        A row for each of `stations`: stations, throughput_mbps (of all together),
        transmission_probability (tau, a slot), collision_probability (p, a transmission),
        failure_probability (collision or errors), drop_probability (a packet that is given up).
    """
    return solve("wlan_saturation", settings)


@model(Capacity)
def wlan_capacity(**settings: Unpack[Capacity]) -> pl.DataFrame:
    """Capacity of a link of a wireless LAN, (6.1) to (6.4) of qazi2010.

    Args:
        standard: "802.11b" (the default), "802.11a", "802.11g" or "802.11n".
        rate: Physical rate R_l; the standard's highest.
        packet: Size X of a packet; "1500 B".
        ack: Size of the transport's ACK of each packet, which takes a transmission of its own; none.
        loss: Part p_l of transmissions that are lost; 0.
        others: Part of the time in which others transmit; 0.
        backoff: Mean backoff T^BO; half of the first contention window.

    Returns:
        One row: mac_mbps (6.2), overhead_us (6.4), capacity_mbps (6.3), capacity_with_acks_mbps.
    """
    return solve("wlan_capacity", settings)
