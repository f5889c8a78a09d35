"""Control steps of router laws, from their papers' equations. VCP's are in vcp.py."""

import math
from itertools import pairwise


def red_automatic():
    """ns-2.29: thresholds from a target delay of 5 ms, weight from ten RTTs; 500-byte packets."""
    yield "rate_bps,delay_s,min_bytes,max_bytes,weight".split(",")
    for rate in (1e5, 1e6, 10e6, 150e6, 1e9):
        for delay in (0.0, 0.032, 0.1):
            packets = rate / 8 / 500
            least = max(5.0, 0.005 * packets / 2)
            rtt = max(0.1, 3 * (delay + 1 / packets))
            weight = -math.expm1(-1 / (10 * rtt * packets))
            yield rate, delay, 500 * least, 3 * 500 * least, weight


def red_curve():
    """RED's p_b, gentle or not, by linear interpolation between its corners."""
    yield "min_packets,max_packets,max_p,gentle,average_packets,p_b".split(",")
    for low, high, max_p in ((5.0, 15.0, 0.1), (20.0, 60.0, 0.02), (1.0, 100.0, 1.0)):
        for gentle in (0, 1):
            corners = [(0.0, 0.0), (low, 0.0), (high, max_p)]
            corners += [(2 * high, 1.0)] if gentle else [(high, 1.0)]
            corners += [(4 * high, 1.0)]
            for average in (
                0.0,
                low - 0.5,
                low,
                low + 0.5,
                (low + high) / 2,
                high - 0.5,
                high + 0.5,
                1.5 * high,
                2 * high - 0.5,
                2 * high,
                3 * high,
            ):
                (x0, y0), (x1, y1) = next(
                    (a, b) for a, b in pairwise(corners) if a[0] <= average < b[0]
                )
                p = y0 + (y1 - y0) * (average - x0) / (x1 - x0)
                yield low, high, max_p, gentle, average, p


def red_uniform():
    """RED's p_a: such that the mark falls with equal chance on each place that is left."""
    yield "p_b,count,wait,p_a".split(",")
    for places in (2, 10, 50):
        for count in range(1, 2 * places + 2):
            # Places run to 1/p_b - 1; with wait, from 1/p_b to 2/p_b - 1.
            left = places - count
            yield 1 / places, count, 0, 1 / left if left > 1 else 1
            left = 2 * places - count
            yield 1 / places, count, 1, 0 if count < places else 1 / left if left > 1 else 1


def pie_probability():
    """RFC 8033, 4.2 and 5.5: p after an update, with the RFC's constants."""
    alpha, beta, target = 0.125, 1.25, 0.015
    yield "p,delay_s,delay_before_s,p_after".split(",")
    for p in (
        0.0,
        5e-7,
        1e-6,
        9e-6,
        1e-5,
        5e-5,
        1e-4,
        5e-4,
        1e-3,
        5e-3,
        0.01,
        0.05,
        0.1,
        0.3,
        0.99,
        1.0,
    ):
        # Below 10% gains are halved, and quartered again for each power of ten down to 1e-6.
        scale = 1.0
        if p < 0.1:
            scale = 0.5 * 0.25 ** sum(p < bound for bound in (1e-2, 1e-3, 1e-4, 1e-5, 1e-6))
        for delay, before in (
            (0.0, 0.0),
            (0.0, 0.02),
            (0.015, 0.015),
            (0.01, 0.02),
            (0.02, 0.01),
            (0.2, 0.1),
            (2.0, 0.0),
        ):
            step = scale * alpha * (delay - target) + scale * beta * (delay - before)
            if p >= 0.1 and step > 0.02:
                step = 0.02
            after = p + step
            if delay == before == 0:
                after *= 0.98
            yield p, delay, before, min(max(after, 0.0), 1.0)


def pi_probability():
    """Hollot et al. 2001, with ns-2's constants: an integral and a proportional part."""
    a, b, reference = 1.822e-5, 1.816e-5, 50.0
    yield "p,queue_packets,queue_before_packets,p_after".split(",")
    for p in (0.0, 1e-4, 0.02, 0.5, 1.0):
        for queue, before in (
            (0, 0),
            (0, 100),
            (49, 50),
            (50, 50),
            (51, 50),
            (100, 0),
            (200, 200),
            (1e5, 0),
        ):
            after = p + (a - b) * (queue - reference) + b * (queue - before)
            yield p, queue, before, min(max(after, 0.0), 1.0)


def rem_price():
    """Athuraliya et al. 2001, with ns-2's constants: price and marking probability."""
    phi, gamma, alpha, target = 1.001, 0.001, 0.1, 20.0
    yield "price,arrived_packets,backlog_packets,capacity_packets,price_after,p".split(",")
    for price in (0.0, 0.01, 1.0, 300.0, 1e4):
        for capacity in (2.5, 37.5):
            for share in (0.0, 0.9, 1.0, 1.5):
                for backlog in (0, 20, 500):
                    arrived = share * capacity
                    mismatch = (arrived - capacity) + alpha * (backlog - target)
                    after = max(0.0, price + gamma * mismatch)
                    yield (
                        price,
                        arrived,
                        backlog,
                        capacity,
                        after,
                        -math.expm1(-after * math.log(phi)),
                    )


def price_router():
    """Paganini et al. 2003, Figure 4, with section V's numbers: price and marking probability."""
    gamma, phi, interval = 0.95, 1000.0, 0.005
    yield "price_s,arrived_packets,capacity_packets_per_s,price_after_s,p".split(",")
    for price in (0.0, 0.001, 0.007, 0.1, 0.43, 2.0):
        for capacity in (12500.0, 250000.0):
            for share in (0.0, 0.9, 0.95, 1.0, 3.0):
                arrived = share * capacity * interval
                after = max(0.0, price + (arrived / interval / (gamma * capacity) - 1) * interval)
                yield price, arrived, capacity, after, 1 - phi**-after


def xcp_control():
    """XCP (1) to (7) as the paper has them, in bytes a control interval, then over d."""
    alpha, beta, gamma = 0.4, 0.226, 0.1
    yield (
        "capacity_bytes_s,interval_s,traffic_bytes,x_s,rtt_x_s2,queue_bytes,"
        "mean_rtt_s,phi_bytes_s,increase_bytes_s,decrease_bytes_s,xi_p,xi_n"
    ).split(",")
    for capacity in (62.5e3, 1.25e6, 18.75e6):
        for rtt, flows in ((0.08, 30), (0.3, 2)):
            for load in (0.05, 0.5, 0.97, 1.0, 1.3):
                for queue in (0.0, 3e3, 200e3):
                    d = rtt
                    traffic = load * capacity * d
                    x = (
                        flows * d
                    )  # each flow sends a window a control interval: sum of rtt s / cwnd
                    phi = alpha * d * (capacity - traffic / d) - beta * queue
                    h = max(0.0, gamma * traffic - abs(phi))
                    xi_p = (h + max(phi, 0)) / (d * x)
                    xi_n = (h + max(-phi, 0)) / (d * traffic)
                    increase, decrease = (h + max(phi, 0)) / d, (h + max(-phi, 0)) / d
                    yield (
                        capacity,
                        d,
                        traffic,
                        x,
                        x * rtt,
                        queue,
                        d,
                        phi / d,
                        increase,
                        decrease,
                        xi_p,
                        xi_n,
                    )


def mlcp_router():
    """MLCP (3.5) over t_p, (3.7) with T = 10 ms and phi = 50, and the choice of t_p."""
    gamma, kappa, t, phi = 0.98, 0.75, 0.01, 50
    yield (
        "rate_bps,traffic_bytes,queue_bytes,t_p_ms,load_factor,"
        "control_rtt_s,data_rtt_s,control_rtt_after_s,next_t_p_ms"
    ).split(",")
    for rate in (1e5, 10e6, 1e9):
        for t_p in (80, 200, 1400):
            for share, queue, control, data in (
                (0.0, 0, 0.2, 0.08),
                (0.7, 3000, 0.08, 0.0801),
                (1.0, 20e3, 0.1, 0.5),
                (1.6, 1e6, 1.39, 3.0),
                (0.9, 0, 2.0, 0.01),
            ):
                traffic = round(share * rate / 8 * t_p / 1000)
                sigma = (traffic + kappa * queue) / (gamma * rate / 8 * t_p / 1000)
                theta = t / control if data >= control else t * data / (phi * control**2)
                after = control + theta * (data - control)
                fits = [
                    ms for ms in (80, 200, 400, 600, 800, 1000, 1200, 1400) if ms >= 1000 * after
                ]
                yield (
                    rate,
                    traffic,
                    queue,
                    t_p,
                    sigma,
                    control,
                    data,
                    after,
                    fits[0] if fits else 1400,
                )


def rcp_router():
    """RCP (1), alpha = 0.4, beta = 1; the mean RTT of the authors' ns-2 code; QI-RCP (3) to (6)."""
    alpha, beta, t, gamma = 0.4, 1.0, 0.01, 0.95
    yield (
        "capacity_bytes_s,rate_bytes_s,input_bytes_s,queue_bytes,d_s,rcp_rate_bytes_s,"
        "sample_s,authors_d_s,error,qi_kappa_star"
    ).split(",")
    for capacity in (1.25e6, 12.5e6, 300e6):
        for share, load, queue, d, sample in (
            (1.0, 0.0, 0.0, 0.2, 0.1),
            (0.05, 0.5, 0.0, 0.0891, 0.71),
            (1 / 51, 1.0, 3e4, 0.1, 0.1),
            (0.3, 0.95, 0.0, 0.1203, 0.02),
            (0.9, 1.4, 5e6, 1.7, 4.0),
            (0.1, 51.0, 8e5, 0.012, 0.5),
            (0.5, 0.97, 1e3, 0.004, 0.3),
        ):
            rate, arrived = share * capacity, load * capacity
            after = rate * (
                1 + t / (d * capacity) * (alpha * (capacity - arrived) - beta * queue / d)
            )
            gain = t / d if sample >= d else share * (sample / d) * (t / d)
            mean = min(gain, 1) * sample + (1 - min(gain, 1)) * d
            steps = math.ceil(d / t)
            yield (
                capacity,
                rate,
                arrived,
                queue,
                d,
                after,
                sample,
                mean,
                1 - arrived / (gamma * capacity),
                2 * math.sin(math.pi / (2 * (2 * steps - 1))),
            )


def piqi_rcp_router():
    """PIQI-RCP (18), (20) and (35) with kappa = 0.95 kappa*."""
    t = 0.01
    yield (
        "longest_s,kappa_star_sine,kappa_star_simple,"
        "rate_bytes_s,error,error_before,rate_after_bytes_s"
    ).split(",")
    for longest in (0.004, 0.011, 0.1204, 0.3003, 0.7101, 2.5):
        sine = math.sin(math.pi / (2 * (2 * math.ceil(longest / t) - 1)))
        simple = t / (2 * (t + longest))
        for rate in (1e4, 118.75e6):
            for error, before in ((1.0, 1.0), (0.1, -0.02), (-0.5, 0.25), (0.0, 0.0), (-3.0, 0.5)):
                kappa = 0.95 * simple
                yield (
                    longest,
                    sine,
                    simple,
                    rate,
                    error,
                    before,
                    rate * (1 + kappa * error + kappa * before),
                )


def bmcc_router():
    """BMCC (4.1): the mean of a t_p's samples, averaged with 0.875, and the load factor."""
    gamma, kappa, weight, t_p = 0.98, 0.75, 0.875, 0.2
    yield "rate_bps,traffic_bytes,queue_before_bytes,sample_bytes,queue_bytes,load_factor".split(
        ","
    )
    for rate in (1e5, 10e6, 155e6, 2e9):
        for share in (0.0, 0.6, 0.98, 1.3):
            for before, sample in ((0.0, 0.0), (0.0, 8000.0), (5000.0, 0.0), (20e3, 30e3)):
                traffic = round(share * rate / 8 * t_p)
                queue = weight * before + (1 - weight) * sample
                yield (
                    rate,
                    traffic,
                    before,
                    sample,
                    queue,
                    (traffic + kappa * queue) / (gamma * rate / 8 * t_p),
                )
