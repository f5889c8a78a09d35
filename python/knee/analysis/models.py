"""What a claim may ask of a model: numbers from `knee.fluid` or of a closed form, by name.

Each takes arguments that a ledger file gives and returns its figures by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from knee import fluid
from knee.quantity import bits_per_second, seconds


def miaimd_stability(
    *,
    kappas: Sequence[float],
    capacities: Sequence[str],
    rtts: Sequence[str],
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
    *, capacity: str, rtt: str, flows: float, kappa: float
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
        capacities = {f"l{i}": f"{draw.integers(20, 200)} Mbps" for i in range(links)}
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


def processor_sharing(
    *, capacity: str, rtt: str, load: float, packets: float, packet_bytes: float = 1000.0
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


def mlcp_rtts(*, capacity: str, rtt: str) -> Mapping[str, float]:
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


def bmcc_startup(*, capacity: str, rtt: str) -> Mapping[str, float]:
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


def rcp_bounds(*, rtts: Sequence[str]) -> Mapping[str, float]:
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
    capacity: str,
    rtts: Sequence[str],
    eta: float | None = None,
    mean_rtt: str | None = None,
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


def price_marks(*, phi: float, least: float, most: float) -> Mapping[str, float]:
    """Shares of marks 1 - phi^-price (paganini2003, IV-A) at the ends of a range of prices, in s.

    Returns:
        least, most.
    """
    return {"least": 1.0 - phi**-least, "most": 1.0 - phi**-most}


MODELS: Mapping[str, Callable[..., Mapping[str, float]]] = {
    model.__name__: model
    for model in (
        miaimd_stability,
        miaimd_equilibrium,
        miaimd_gamma,
        miaimd_max_min,
        processor_sharing,
        mlcp_rtts,
        bmcc_epochs,
        bmcc_startup,
        bmcc_detection,
        rcp_bounds,
        rcp_rest,
        price_marks,
    )
}
"""Models by the name that ledger files use."""
