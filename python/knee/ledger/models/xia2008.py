"""VCP's fluid model (xia2008)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from knee import fluid
from knee.quantity import Rate, Time, bits_per_second, seconds


def miaimd_stability(
    *,
    kappas: Sequence[float],
    capacities: Sequence[Rate],
    rtts: Sequence[Time],
    flows: Sequence[float],
    start: float | None = None,
) -> Mapping[str, float]:
    """How far the MIAIMD model is from its equilibrium once it should rest.

    Returns:
        deviation: The greatest relative distance from w* over all combinations; bound: the least
        kappa_bound.
    """
    table = fluid.miaimd_sweep(
        capacities=capacities, rtts=rtts, flows=flows, kappas=kappas, start=start
    )
    return {
        "deviation": float(table["deviation"].to_numpy().max()),
        "bound": float(table["kappa_bound"].to_numpy().min()),
    }


def miaimd_equilibrium(
    *, capacity: Rate, rtt: Time, flows: float, kappa: float
) -> Mapping[str, float]:
    """The MIAIMD model, integrated, against Theorem 1's closed forms.

    Returns:
        window: Its last window over gamma C T + N alpha / kappa; rate: its last flow rate over
        gamma C / N + alpha / (kappa T), both 1 if they agree. gamma is 0.98 and alpha 1.
    """
    last = fluid.miaimd(capacity=capacity, rtt=rtt, flows=flows, kappa=kappa, duration="120 s")
    window = float(last["window_packets"][-1])
    bits, period = 8000.0, seconds(rtt)
    pipe = 0.98 * bits_per_second(capacity) * period / bits
    rate = window / flows / period
    closed = 0.98 * bits_per_second(capacity) / bits / flows + 1.0 / (kappa * period)
    return {"window": window / (pipe + flows / kappa), "rate": rate / closed}


def miaimd_gamma(*, target: float) -> Mapping[str, float]:
    """The utilisation on which (14) settles: its mean over the last of 400 s.

    Returns:
        utilisation: Of 150 Mbps, 80 ms, 30 flows.
    """
    table = fluid.miaimd(
        capacity="150 Mbps", rtt="80 ms", flows=30, target=target, duration="400 s", samples=4001
    )
    return {"utilisation": float(table["utilisation"].tail(2000).to_numpy().mean())}


def miaimd_max_min(*, networks: int = 20, links: int = 6, flows: int = 12) -> Mapping[str, float]:
    """Rates of the MIAIMD model on networks drawn at random, against max-min fair ones.

    Each flow crosses one to three links; capacities are 20 to 200 Mbps, the RTT is 80 ms. The
    draws are those of PCG-64 with seed 1.

    Returns:
        carried: The greatest relative difference to max-min fair shares of what each link carries
        at the equilibrium (rho gamma C); target: the same to shares of gamma C; integrated: of the
        integrated rates to the closed form, over the first three networks.
    """
    draw = np.random.Generator(np.random.PCG64(1))
    found: dict[str, list[float]] = {"carried": [], "target": [], "integrated": []}
    for number in range(networks):
        capacities = {f"l{i}": 1e6 * draw.integers(20, 200) for i in range(links)}
        routes = [
            sorted(f"l{i}" for i in draw.choice(links, size=draw.integers(1, 4), replace=False))
            for _ in range(flows)
        ]
        rest = fluid.miaimd_network_equilibrium(links=capacities, routes=routes, rtt="80 ms")
        rate = rest["rate_mbps"].to_numpy()
        for name, column in (("carried", "max_min_of_carried_mbps"), ("target", "max_min_mbps")):
            fair = rest[column].to_numpy()
            found[name].append(float(np.max(np.abs(rate / fair - 1.0))))
        if number < 3:
            table = fluid.miaimd_network(
                links=capacities, routes=routes, rtt="80 ms", duration="600 s", samples=2
            )
            last = table.tail(flows)["rate_mbps"].to_numpy()
            found["integrated"].append(float(np.max(np.abs(last / rate - 1.0))))
    return {name: max(values) for name, values in found.items()}
