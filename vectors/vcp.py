"""VCP's test vectors, for generate.py."""

import math

LOW, HIGH, OVER = 0b01, 0b10, 0b11


def vcp_sender():
    """VCP III-E.2: MI (6), AI (8), MD (4), then one t_rho of hold and one srtt of AI."""
    xi, alpha, beta, t_rho, sigma_mi, sigma_ai = 0.0625, 1.0, 0.875, 200, 2.5, 10.0
    yield "run,time_ms,rtt_ms,code,window_packets".split(",")

    def run(name, acks):
        window, hold_until, add_until = 2.0, 0, 0
        for time, rtt, code in acks:
            if time < hold_until:
                action = None
            elif time < add_until:
                action = HIGH
            else:
                action = code
            if action == LOW:
                window += (1 + xi) ** min(rtt / t_rho, sigma_mi) - 1
            elif action == HIGH:
                window += alpha * min((rtt / t_rho) ** 2, sigma_ai) / window
            elif action == OVER:
                window = max(1.0, beta * window)
                hold_until = time + t_rho
                add_until = hold_until + rtt
            yield name, time, rtt, f"{code:02b}", window

    yield from run("grows", [(80 * (i // 4), 80, LOW) for i in range(40)])
    yield from run("adds", [(10 * i, 80, HIGH) for i in range(20)])
    yield from run("any-rtt", [(i, rtt, code) for i, (rtt, code) in enumerate(
        (rtt, code) for code in (LOW, HIGH) for rtt in (1, 20, 200, 400, 500, 600, 700, 5000))])
    cut = [(0, 80, LOW)] * 30 + [(1000, 80, OVER)]
    cut += [(1000 + t, 80, code) for t in range(10, 300, 30) for code in (LOW, OVER)]
    yield from run("cuts", cut + [(1300, 80, OVER), (1400, 80, LOW), (1580, 80, LOW)])
    yield from run("least", [(1000 * i, 10, OVER) for i in range(12)])


def vcp_router():
    """VCP (1) and its three regions, with Table I's constants."""
    gamma, kappa, t_rho, transition = 0.98, 0.5, 0.2, 0.8
    yield "rate_bps,traffic_bytes,queue_bytes,load_factor,code".split(",")
    for rate in (1e6, 10e6, 150e6, 10e9):
        room = gamma * rate / 8 * t_rho
        for share in (0.0, 0.5, 0.79, 0.81, 0.99, 1.01, 3.0):
            for queue in (0.0, 15e3, 1e6):
                traffic = round(share * room)
                rho = (traffic + kappa * queue) / room
                code = OVER if rho >= 1 else HIGH if rho >= transition else LOW
                yield rate, traffic, queue, rho, f"{code:02b}"


def decades(table, window):
    """A table over windows of 1, 10, 100 .., a power law between its entries."""
    below = min(int(math.floor(math.log10(window))), len(table) - 2)
    slope = math.log10(table[below + 1] / table[below])
    return table[below] * (window / 10**below) ** slope


def vcp_sender_authors():
    """The same by the authors' ns-2 code: S1 to S6 of docs/laws/vcp.md."""
    xi, beta, t_rho, sigma_mi = 0.0625, 0.875, 200, 2.5
    most_ai = [0.1, 0.06, 0.04, 0.02, 0.01, 0.006, 0.004, 0.002]
    most_xi = [1, 0.5, 0.2, 0.1, 0.064, 0.044, 0.032, 0.024]
    yield "run,initial_packets,time_ms,rtt_ms,code,window_packets".split(",")

    def run(name, initial, acks):
        window, hold_until, adding = 1.0, 0, None
        eighths, timed_from = 0, 0
        for number, (time, rtt, code) in enumerate(acks):
            sent = max(time - rtt, 0)
            if sent >= timed_from:  # S5
                ticks = max(time // 10 - sent // 10, 1)
                eighths = 8 * ticks if eighths == 0 else max(eighths + ticks - eighths // 8, 1)
                timed_from = time
            srtt = 10 * max(eighths // 8, 1)
            if number == 0:  # S6
                window = float(initial)
                yield name, initial, time, rtt, f"{code:02b}", window
                continue
            action = code
            if time < hold_until:  # S4
                action = None if code == OVER else code
            else:
                if adding is None and hold_until:
                    adding = hold_until + srtt
                if adding is not None and time < adding:
                    action = HIGH if code == OVER else code
            if action == LOW:  # S3
                window += (1 + min(xi, decades(most_xi, window))) ** min(srtt / t_rho, sigma_mi) - 1
            elif action == HIGH:  # S1, S2
                x = srtt / 100
                factor = 0.2 * x if x < 0.2 else 25 + (x - 5) if x > 5 else x**2
                window += min(factor / window, decades(most_ai, window))
            elif action == OVER:
                window = max(1.0, beta * window)
                hold_until, adding = time + t_rho, None
            yield name, initial, time, rtt, f"{code:02b}", window

    for rtt in (4, 15, 84, 330, 800):
        yield from run(f"adds-{rtt}", 2, [(rtt * (1 + i), rtt + 3 * (i % 4), HIGH) for i in range(24)])
        yield from run(f"grows-{rtt}", 2, [(rtt * (1 + i), rtt + 3 * (i % 4), LOW) for i in range(24)])
    for initial in (30, 500, 7000, 90000, 2000000):
        acks = [(100 + i, 90, code) for i, code in enumerate((LOW, LOW, HIGH, LOW, HIGH))]
        yield from run(f"from-{initial}", initial, acks)
    codes = (LOW, OVER, HIGH)
    cut = [(100, 85, LOW), (1000, 85, OVER)]
    cut += [(1000 + 17 * i, 85, codes[i % 3]) for i in range(1, 40)]
    yield from run("cuts", 40, cut)


def vcp_router_authors():
    """The same by the authors' ns-2 code: R1 to R3 of docs/laws/vcp.md."""
    kappa, t_rho, transition = 0.5, 0.2, 0.8
    targets = [(6.6e9, 0.99, 0.001), (660e6, 0.985, 0.002), (66e6, 0.975, 0.003),
               (6.6e6, 0.96, 0.004), (660e3, 0.94, 0.005), (0, 0.92, 0.006)]
    yield ("rate_bps,gamma,traffic_bytes,mean_queue_bytes,load_factor,code,"
           "target,step,next_gamma").split(",")
    for rate in (100e3, 1e6, 10e6, 66e6, 150e6, 1e9, 10e9):
        target, step = next((t, s) for least, t, s in targets if rate >= least)
        for gamma in (0.1, 0.95, 0.999):
            capacity = rate / 8 * t_rho
            for share in (0.0, 0.785, 0.795, 0.985, 0.995, 1.5):
                for queue in (0.0, 16e3):
                    traffic = round(share * gamma * capacity)
                    load = traffic + kappa * queue / 16
                    rho = (math.floor(100 * load / (gamma * capacity)) + 1) / 100
                    code = OVER if rho >= 1 else HIGH if rho >= transition else LOW
                    mean = load / capacity
                    sign = (mean < target) - (mean > target)
                    after = min(max(gamma + sign * step, 0.1), 0.999)
                    yield rate, gamma, traffic, queue, rho, f"{code:02b}", target, step, after


def load2_hops():
    """VCP R.4: a packet leaves with the larger code."""
    yield "packet_code,link_code,code".split(",")
    for packet in (LOW, HIGH, OVER):
        for link in (LOW, HIGH, OVER):
            yield f"{packet:02b}", f"{link:02b}", f"{max(packet, link):02b}"
