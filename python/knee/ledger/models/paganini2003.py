"""The scalable laws (paganini2003): stability of networks, Nyquist plots, where they rest."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
import polars as pl

from knee import fluid
from knee.quantity import Time, bits_per_second, seconds

HALF_PI = math.pi / 2

WIDE = (0.01, 1.0)
"""RTTs of networks that are linearised, seconds."""

NEAR = (0.02, 0.3)
"""RTTs of networks that are integrated."""


def _networks(
    count: int,
    *,
    links: int,
    flows: int,
    rtts: tuple[float, float],
    rates: tuple[float, float] = (8.0, 800.0),
    reach: float = 0.99,
) -> list[dict[str, Any]]:
    """Networks drawn at random, by PCG-64 with seed 1.

    Each flow crosses one to four links, in any order, the last of them at most `reach` of its RTT
    away. RTTs are between the two of `rtts`, in seconds, capacities between those of `rates`, in
    Mbps, both evenly over their logarithms.
    """
    draw = np.random.Generator(np.random.PCG64(1))

    def spread(low: float, high: float) -> float:
        return float(low * (high / low) ** draw.random())

    found = []
    for _ in range(count):
        names = [f"l{number}" for number in range(links)]
        taus = [spread(*rtts) for _ in range(flows)]
        routes = [
            [
                str(name)
                for name in draw.choice(
                    names, size=draw.integers(1, min(links, 4) + 1), replace=False
                )
            ]
            for _ in range(flows)
        ]
        forward = [
            (rtt * np.sort(reach * draw.random(len(route)))).tolist()
            for rtt, route in zip(taus, routes, strict=True)
        ]
        found.append(
            {
                "links": {name: 1e6 * spread(*rates) for name in names},
                "routes": routes,
                "rtts": taus,
                "forward": forward,
            }
        )
    return found


def _static(
    count: int, *, links: int, flows: int, rtts: tuple[float, float], reach: float = 0.99
) -> list[dict[str, Any]]:
    """The same with the static law's maximum rates: 8 to 8000 Mbps."""
    draw = np.random.Generator(np.random.PCG64(2))
    networks = _networks(count, links=links, flows=flows, rtts=rtts, reach=reach)
    for network in networks:
        network["max_rates"] = (8e6 * 1000.0 ** draw.random(flows)).tolist()
    return networks


def scalable_stability(
    *, share: float, networks: int = 20, links: int = 5, flows: int = 10
) -> Mapping[str, float]:
    """The static laws (5)-(6) on random networks, linearised at rest, at alpha = share pi/2.

    Returns:
        unstable: The most unstable poles of a network; margin: the least factor on the return ratio
        (12) that puts an eigenvalue on -1, over what the theorem promises, 1 / share; bottlenecks:
        the mean number of links with a price.
    """
    found = [
        fluid.scalable_network_margin(**network, alpha=share * HALF_PI).row(0, named=True)
        for network in _static(networks, links=links, flows=flows, rtts=WIDE)
    ]
    return {
        "unstable": max(row["encirclements"] for row in found),
        "margin": min(row["margin"] for row in found) * share,
        "bottlenecks": float(np.mean([row["bottlenecks"] for row in found])),
    }


def scalable_decay(
    *, share: float, networks: int = 4, links: int = 4, flows: int = 8
) -> Mapping[str, float]:
    """The nonlinear delay equations of random networks of static laws, from prices 2 % off.

    Returns:
        left: The greatest distance of a load of a link with a price from 1 over the last tenth of
        400 s, over that of the first tenth.
    """
    left = []
    for network in _static(networks, links=links, flows=flows, rtts=NEAR, reach=0.5):
        frame = fluid.scalable_network(
            **network, alpha=share * HALF_PI, start=1.02, duration="400 s", samples=4001
        )
        rest = fluid.scalable_network_rest(**network, alpha=share * HALF_PI)
        priced = rest.filter(pl.col("link").is_not_null() & (pl.col("price_s") > 0.0))["link"]
        load = frame.filter(pl.col("link").is_in(priced.to_list()))
        early = load.filter(pl.col("time_s") < 40.0)["load"].to_numpy()
        late = load.filter(pl.col("time_s") > 360.0)["load"].to_numpy()
        left.append(float(np.max(np.abs(late - 1.0)) / np.max(np.abs(early - 1.0))))
    return {"left": max(left)}


def scalable_alone(*, share: float, rtt: Time = "100 ms") -> Mapping[str, float]:
    """One static source on one link at alpha = share pi/2.

    Returns:
        unstable: Unstable poles; margin: share times the factor that puts lambda on -1; growth: of
        the nonlinear delay equations' swing of the price, from a fifth of 600 RTTs to the last.
    """
    setting: dict[str, Any] = {
        "links": {"link": "8 Mbps"},
        "routes": [["link"]],
        "rtts": [rtt],
        "max_rates": ["80 Mbps"],
        "alpha": share * HALF_PI,
    }
    row = fluid.scalable_network_margin(**setting).row(0, named=True)
    span = 600 * seconds(rtt)
    frame = fluid.scalable_network(**setting, start=1.0001, duration=span, samples=6001)
    price = frame.filter(pl.col("link") == "link")["price_s"].to_numpy()
    first, last = np.ptp(price[1200:2400]), np.ptp(price[4800:])
    return {
        "unstable": row["encirclements"],
        "margin": row["margin"] * share,
        "growth": float(last / first),
    }


def scalable_eigenlocus(*, theta: float, network: int, alpha: float = 1.0) -> Mapping[str, float]:
    """The greatest eigenvalue of the return ratio (12) of a random network.

    Args:
        theta: w times the network's longest RTT.
        network: Which of them, from 0.
        alpha: Gain.

    Returns:
        re, im.
    """
    setting = _static(network + 1, links=5, flows=10, rtts=WIDE)[network]
    longest = max(seconds(rtt) for rtt in setting["rtts"])
    loci = fluid.scalable_network_loci(**setting, alpha=alpha, frequencies=[theta / longest])
    return {"re": loci["re"][0], "im": loci["im"][0]}


def _gain(w: np.ndarray, rtt: float, alpha: float, zero: float, ratio: float) -> np.ndarray:
    frame = fluid.scalable_nyquist(
        rtt=rtt, alpha=alpha, zero=zero, ratio=ratio, frequencies=w.tolist()
    )
    return frame["re"].to_numpy() + 1j * frame["im"].to_numpy()


def scalable_nyquist(
    *, theta: float, rtt: Time, alpha: float = 1.0, zero: float = 0.2, ratio: float = 1.0
) -> Mapping[str, float]:
    """lambda(jw) of (14) at w = theta / rtt.

    Returns:
        re, im.
    """
    gain = _gain(np.array([theta / seconds(rtt)]), seconds(rtt), alpha, zero, ratio)[0]
    return {"re": float(gain.real), "im": float(gain.imag)}


def scalable_nabla(*, theta: float, eta: float = 0.0, alpha: float = 1.0) -> Mapping[str, float]:
    """The curves of Figure 2: alpha e^{-j theta} / (j theta), turned back and stretched for eta.

    Returns:
        re, im.
    """
    gain = alpha * np.exp(-1j * theta) / (1j * theta) * (1.0 - 1j * eta)
    return {"re": float(gain.real), "im": float(gain.imag)}


def scalable_encirclements(
    *, rtts: Sequence[Time], ratios: Sequence[float], alpha: float = 1.0, zero: float = 0.2
) -> Mapping[str, float]:
    """lambda(jw) of (14) for every RTT and nu / kappa, each alone.

    Returns:
        encirclements: Of -1, the most; margin: the least factor that puts one on -1; distance: the
        least from -1.
    """
    rows = [
        fluid.scalable_margin(rtt=rtt, alpha=alpha, zero=zero, ratio=ratio).row(0, named=True)
        for rtt in rtts
        for ratio in ratios
    ]
    return {
        "encirclements": max(row["encirclements"] for row in rows),
        "margin": min(row["margin"] for row in rows),
        "distance": min(row["distance"] for row in rows),
    }


RATIOS = (0.1, 1.0, 10.0, 100.0, 1000.0, 1e6)
"""nu / kappa of the sources of a hull; the last stands for any."""

SHARES = 10.0 ** np.linspace(-3, 0, 7)
"""Their RTTs, of the bound."""


def _together(alpha: float, eta: float, theta: np.ndarray) -> np.ndarray:
    """lambda(jw) of all sources, a row each; their RTTs are up to 1 s, so that theta is w."""
    return np.stack([_gain(theta, rtt, alpha, eta, ratio) for rtt in SHARES for ratio in RATIOS])


def _clearance(gains: np.ndarray) -> np.ndarray:
    """Distance of -1 from the convex hull of 0 and the gains of each column; 0 within it."""
    points = np.vstack([gains, np.zeros(gains.shape[1])]) + 1.0
    # Outside of it, if there is a gap of half a turn between the directions to the points.
    angles = np.sort(np.angle(points), axis=0)
    gaps = np.diff(np.vstack([angles, angles[:1] + 2 * np.pi]), axis=0)
    nearest = np.min(np.abs(points), axis=0)
    for number, start in enumerate(points[:-1]):
        step = points[number + 1 :] - start
        size = np.maximum(np.abs(step) ** 2, 1e-300)
        share = np.clip(-(start * step.conj()).real / size, 0.0, 1.0)
        nearest = np.minimum(nearest, np.min(np.abs(start + share * step), axis=0))
    return np.where(np.max(gaps, axis=0) > np.pi, nearest, 0.0)


def scalable_hull(*, eta: float, alpha: float = 1.0) -> Mapping[str, float]:
    """Proposition 3: sources of all RTTs up to a bound and nu / kappa of 0.1 to 10^6, together.

    Eigenvalues of the return ratio are convex combinations of 0 and the lambda(jw) of one w. The
    proof takes frequencies below and above 1 / bound apart.

    Returns:
        height: The greatest im / |lambda| of a lambda(jw) below, negative under the axis;
        clearance: the least distance of -1 from the convex hull above, 0 within it.
    """
    low = _together(alpha, eta, 10.0 ** np.linspace(-3, -1e-6, 301))
    high = _together(alpha, eta, 10.0 ** np.linspace(0, 1, 1001))
    return {
        "height": float(np.max(low.imag / np.abs(low))),
        "clearance": float(np.min(_clearance(high))),
    }


def scalable_eta(*, alpha: float) -> Mapping[str, float]:
    """The greatest eta that keeps -1 out of the convex hull of all lambda(jw), by bisection.

    Returns:
        eta; alone: the greatest for one source of the longest RTT and a pole at 0, whose phase is
        -pi where theta + arctan(eta / theta) = pi/2, and whose size there is alpha / (theta sin
        theta): theta cot theta at theta sin theta = alpha.
    """
    theta = np.hstack([10.0 ** np.linspace(-2, -1, 21), np.linspace(0.1, 2.0, 381)])
    low, high = 0.0, 2.0
    while high - low > 2e-3:
        eta = (low + high) / 2
        is_clear = np.min(_clearance(_together(alpha, max(eta, 1e-6), theta))) > 0.0
        low, high = (eta, high) if is_clear else (low, eta)
    grid = np.linspace(1e-3, HALF_PI, 200_001)
    at = float(grid[np.argmax(grid * np.sin(grid) >= alpha)])
    return {"eta": low, "alone": at / math.tan(at)}


def scalable_rest(
    *,
    fairness: float = 1.0,
    alpha: float = 0.37,
    eta: float = 0.64,
    start: float = 0.7,
    networks: int = 4,
    links: int = 4,
    flows: int = 8,
) -> Mapping[str, float]:
    """The nonlinear laws (5), (15)-(16) on random networks, after 500 s.

    Capacities are virtual, 95 % of the real ones, and of one order, 80 to 240 Mbps: steep utilities
    ask prices of minutes of smaller links.

    Returns:
        unstable: The most unstable poles of one, linearised at rest; demand: the greatest relative
        distance of a rate from the demand curve at the price that its source hears; optimum: from
        the optimum of the utilities; full: the greatest distance from 1 of the load of a link with
        a price; spare: the greatest load of another; queue: the longest real queue of the last
        quarter, packets.
    """
    found: dict[str, list[float]] = {
        name: [] for name in ("unstable", "demand", "optimum", "full", "spare", "queue")
    }
    drawn = _networks(networks, links=links, flows=flows, rtts=NEAR, rates=(80.0, 240.0), reach=0.5)
    for network in drawn:
        # K for about 0.1 s of price: the pivot demands the mean share.
        rates = [bits_per_second(rate) / 8000.0 for rate in network["links"].values()]
        weight = 0.1 * float(np.mean(rates)) * links / flows
        law: dict[str, Any] = {"fairness": fairness, "alpha": alpha, "eta": eta, "weight": weight}
        frame = fluid.scalable_network(
            **network, **law, start=start, duration="500 s", samples=4001
        )
        rest = fluid.scalable_network_rest(**network, **law)
        margin = fluid.scalable_network_margin(**network, **law).row(0, named=True)
        found["unstable"].append(margin["encirclements"])
        last = frame.tail(links + flows)
        rate, price = last["rate_mbps"].to_numpy()[links:], last["price_s"].to_numpy()[links:]
        demand = weight / 0.1 * (0.1 / price) ** (1.0 / fairness) * 8e-3
        found["demand"].append(float(np.max(np.abs(rate / demand - 1.0))))
        best = rest["rate_mbps"].to_numpy()[links:]
        found["optimum"].append(float(np.max(np.abs(rate / best - 1.0))))
        load, priced = last["load"].to_numpy()[:links], rest["price_s"].to_numpy()[:links] > 0.0
        found["full"].append(float(np.max(np.abs(load[priced] - 1.0))))
        found["spare"].append(float(np.max(load[~priced], initial=0.0)))
        found["queue"].append(_longest_queue(frame, rates))
    return {name: max(values) for name, values in found.items()}


def scalable_transient(*, time: float, flow: int) -> Mapping[str, float]:
    """Two links, a flow over both and one over each, from half of their rates (Theorem 4).

    100 Mbps each; RTTs of 100, 40 and 200 ms; U = 50 ln x.

    Args:
        time: Seconds, whole hundredths.
        flow: 0, over both links, 1 or 2.

    Returns:
        rate: Over where it rests: 1/3 or 2/3 of a link; load: the first link's.
    """
    frame = _transient()
    row = frame.filter(pl.col("time_s").is_between(time - 0.005, time + 0.005))
    rate = row.filter(pl.col("flow") == flow)["rate_mbps"][0]
    load = row.filter(pl.col("link") == "a")["load"][0]
    return {"rate": rate / (100.0 / 3.0 if flow == 0 else 200.0 / 3.0), "load": load}


@cache
def _transient() -> pl.DataFrame:
    return fluid.scalable_network(
        links={"a": "100 Mbps", "b": "100 Mbps"},
        routes=[["a", "b"], ["a"], ["b"]],
        rtts=["100 ms", "40 ms", "200 ms"],
        duration="1000 s",
        samples=100_001,
    )


def _longest_queue(frame: pl.DataFrame, rates: Sequence[float]) -> float:
    """Of links whose virtual capacity is 95 % of the real one, over the last quarter."""
    longest = 0.0
    for name, rate in zip(sorted({*frame["link"].drop_nulls()}), rates, strict=True):
        load = frame.filter(pl.col("link") == name)["load"].to_numpy()
        step = float(frame["time_s"].max()) / (load.size - 1)  # type: ignore[arg-type]
        grown = np.cumsum((load - 1.0 / 0.95) * rate * step)
        queue = grown - np.minimum.accumulate(np.minimum(grown, 0.0))
        longest = max(longest, float(np.max(queue[3 * load.size // 4 :])))
    return longest


def scalable_latecomers(*, early: int, late: int) -> Mapping[str, float]:
    """Queueing delays as prices: flows that join over a queue and take it for propagation.

    `early` flows know their propagation delay d; `late` ones measure d and the others' queue
    n K / c. 8 Mbps, RTTs of 50 and 100 ms.

    Returns:
        ratio: A late flow's rate over an early one's, of the delay equations after 400 s; closed:
        the same of early K / q + late K / (q - e) = c, solved.
    """
    flows = early + late
    queue = early * 50.0 / 1000.0
    setting: dict[str, Any] = {
        "capacity": "8 Mbps",
        "rtts": [("50 ms", "100 ms")[number % 2] for number in range(flows)],
        "errors": [0.0 if number < early else queue for number in range(flows)],
    }
    frame = fluid.scalable_delay(**setting, start=0.9, duration="400 s", samples=2)
    rate = frame.tail(flows)["rate_mbps"].to_numpy()
    half = (queue + flows * 0.05) / 2.0
    rest = half + math.sqrt(half * half - early * 0.05 * queue)
    return {
        "ratio": float(np.mean(rate[early:]) / np.mean(rate[:early])),
        "closed": rest / (rest - queue),
    }


def price_marks(*, phi: float, least: float, most: float) -> Mapping[str, float]:
    """Shares of marks 1 - phi^-price (paganini2003, IV-A) at the ends of a range of prices, in s.

    Returns:
        least, most.
    """
    return {"least": 1.0 - phi**-least, "most": 1.0 - phi**-most}
