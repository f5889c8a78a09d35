"""RCP and its successors (jain2007)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from knee import fluid
from knee.quantity import Rate, Time, bits_per_second, seconds


def processor_sharing(
    *, capacity: Rate, rtt: Time, load: float, packets: float, packet_bytes: float = 1000.0
) -> Mapping[str, float]:
    """Mean flow completion time of an ideal link that flows share equally at every instant.

    Poisson arrivals, M/G/1 with processor sharing: a flow of L bits takes L / (C (1 - load)) on the
    mean whatever the sizes' distribution, so that only their mean counts. To that come two RTTs, as
    for the simulated flows: one for the handshake, that brings the rate, one for the packets.

    Returns:
        completion: The mean, in seconds, of flows of more than one packet.
    """
    served = 8.0 * packet_bytes * packets / (bits_per_second(capacity) * (1.0 - load))
    return {"completion": 2.0 * seconds(rtt) + served}


def rcp_bounds(*, rtts: Sequence[Time]) -> Mapping[str, float]:
    """Bounds on QI-RCP's and PIQI-RCP's gain for these RTTs, over those that their routers take.

    Returns:
        qi_rcp: The greatest stable kappa of (5), linearised, over (6); piqi_rcp: that of (18)-(19)
        over (20); simple: (35) over (20).
    """
    [row] = fluid.rcp_bounds(rtts=rtts).to_dicts()
    return {
        "qi_rcp": row["qi_rcp_exact"] / row["qi_rcp"],
        "piqi_rcp": row["piqi_rcp_exact"] / row["piqi_rcp"],
        "simple": row["piqi_rcp_simple"] / row["piqi_rcp"],
    }


def rcp_rest(
    *,
    law: str,
    capacity: Rate,
    rtts: Sequence[Time],
    eta: float | None = None,
    mean_rtt: Time | None = None,
) -> Mapping[str, float]:
    """Does RCP, QI-RCP or PIQI-RCP rest on one link, step by step without packets?

    Returns:
        distance: Root mean square distance of the control rate from the flows' equal shares, over
        these, in the last 60 of 240 s, begun a tenth below; mean_rtt: d in seconds, the flows' mean
        if it is not given.
    """
    table = fluid.rcp(
        law=law, capacity=capacity, rtts=rtts, eta=eta, mean_rtt=mean_rtt, start=0.9,
        duration="240 s",
    )  # fmt: skip
    target = 1.0 if law == "rcp" else 0.95
    share = target * bits_per_second(capacity) / 1e6 / len(rtts)
    rate = table.filter(table["time_s"] >= 180.0)["rate_mbps"].to_numpy()
    mean = float(np.mean([seconds(rtt) for rtt in rtts]))
    return {
        "distance": float(np.sqrt(np.mean((rate / share - 1.0) ** 2))),
        "mean_rtt": mean if mean_rtt is None else seconds(mean_rtt),
    }
