"""MLCP's and BMCC's closed forms (qazi2010)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from knee import fluid
from knee.quantity import Rate, Time, bits_per_second, seconds


def mlcp_rtts(*, capacity: Rate, rtt: Time) -> Mapping[str, float]:
    """RTTs to 80 % utilisation by feedback of n bits (qazi2010, (3.4)).

    Returns:
        bits2, bits3, bits4, bits15.
    """
    table = fluid.mlcp_rtts(capacity=capacity, rtt=rtt)
    return {f"bits{bits}": rtts for bits, rtts in zip(table["bits"], table["rtts"], strict=True)}


def bmcc_epochs(
    *, flows: float, beta_max: float | None = None, beta_min: float | None = None
) -> Mapping[str, float]:
    """Epochs, their length and the time to an equal share (qazi2010, (4.7)-(4.10)), by BDP.

    Returns:
        For each k of 1000, 5000 and 10000 packets: epochs_70_k, epochs_80_k, epochs_90_k (to that
        convergence), length_k (of an epoch, RTTs) and rtts_k (to 80 %); decline: length_1000 over
        k (1 - beta_max) / N; slower: the least factor of rtts_k from one k to the next.
    """
    found: dict[str, float] = {}
    for bdp in (1000, 5000, 10000):
        for share in (70, 80, 90):
            row = fluid.bmcc_epochs(
                bdp=bdp, flows=flows, convergence=share / 100, beta_max=beta_max, beta_min=beta_min
            ).row(0, named=True)
            found[f"epochs_{share}_{bdp}"] = row["epochs"]
            if share == 80:
                found[f"length_{bdp}"] = row["epoch_rtts"]
                found[f"rtts_{bdp}"] = row["convergence_rtts"]
    kept = 0.875 if beta_max is None else beta_max
    found["decline"] = found["length_1000"] / (1000 * (1.0 - kept) / flows)
    found["slower"] = min(
        found["rtts_5000"] / found["rtts_1000"], found["rtts_10000"] / found["rtts_5000"]
    )
    return found


def bmcc_startup(*, capacity: Rate, rtt: Time) -> Mapping[str, float]:
    """A new flow's window on an idle link (qazi2010, (4.11)-(4.12)), in MI until f is 1.

    Returns:
        filled: its window after 6.5 s, of the BDP; time_80: seconds to 80 % of it; vcp: packets
        that VCP's model has after 10 s.
    """
    bdp = bits_per_second(capacity) * seconds(rtt) / 8000.0
    # At eta = 1 the phase of MI would never end, and its length cannot be computed.
    table = fluid.bmcc_startup(capacity=capacity, rtt=rtt, eta=1.0 - 1e-9, samples=10001)
    times, window = table["time_s"].to_numpy(), table["bmcc_packets"].to_numpy()
    return {
        "filled": float(np.interp(6.5, times, window)) / bdp,
        "time_80": float(times[np.argmax(window >= 0.8 * bdp)]),
        "vcp": float(table["vcp_packets"][-1]),
    }


def bmcc_detection(*, flow_bdp: float) -> Mapping[str, float]:
    """How surely ADPM shows overload within one t_p (qazi2010, (4.13)).

    Returns:
        missed: P(R > d); packets: E[min(R, d + 1)].
    """
    return fluid.bmcc_detection(flow_bdp=flow_bdp).row(0, named=True)
