"""VCP's test vectors, for generate.py."""

import math

from explicit import Halving
from flows import COLUMNS, FUNCTIONS, Flow, table

LOW, HIGH, OVER = 0b01, 0b10, 0b11


class Vcp(Halving):
    """VCP III-E.2: MI (6), AI (8), MD (4), then one t_rho of hold and one srtt of AI."""

    xi, alpha, beta, t_rho, sigma_mi, sigma_ai = 0.0625, 1.0, 0.875, 200_000, 2.5, 10.0

    def __init__(self, window):
        self.window, self.hold_until, self.add_until = float(window), 0, 0

    def on_ack(self, ack):
        rtt, code = ack.smoothed_us, ack.value
        if ack.kind is None or ack.recovering or (ack.limited and code != OVER):
            return
        if ack.us < self.hold_until:
            return
        self.act(HIGH if ack.us < self.add_until else code, rtt, ack.us)

    def act(self, action, rtt, now):
        if action == LOW:
            self.window += (1 + self.xi) ** min(rtt / self.t_rho, self.sigma_mi) - 1
        elif action == HIGH:
            self.window += self.alpha * min((rtt / self.t_rho) ** 2, self.sigma_ai) / self.window
        elif action == OVER:
            self.cut(rtt, now)

    def cut(self, rtt, now):
        self.window = max(1.0, self.beta * self.window)
        self.hold_until = now + self.t_rho
        self.add_until = self.hold_until + rtt


def vcp():
    """VCP's windows by code and RTT, after cuts and after losses."""

    def run(name, acks):
        return Flow(name, "vcp", Vcp(2), FUNCTIONS).acks(
            (time, rtt, ("load", code)) for time, rtt, code in acks
        )

    cut = [(0, 80, LOW)] * 30 + [(1000, 80, OVER)]
    cut += [(1000 + t, 80, code) for t in range(10, 300, 30) for code in (LOW, OVER)]
    losses = run("losses", [(80 * (i // 4), 80, LOW) for i in range(40)])
    losses.congestion("loss", in_flight=9)
    losses.ack(80_000, after=10_000, recovering=1, feedback=("load", OVER))
    losses.ack(80_000, after=10_000, limited=1, feedback=("load", LOW))
    losses.ack(80_000, after=10_000, limited=1, feedback=("load", OVER))
    losses.congestion("timeout", after=600_000)
    losses.ack(80_000, after=10_000, feedback=("load", HIGH))
    return table(
        [
            run("grows", [(80 * (i // 4), 80, LOW) for i in range(40)]),
            run("adds", [(10 * i, 80, HIGH) for i in range(20)]),
            run(
                "any-rtt",
                [
                    (i, rtt, code)
                    for i, (rtt, code) in enumerate(
                        (rtt, code)
                        for code in (LOW, HIGH)
                        for rtt in (1, 20, 200, 400, 500, 600, 700, 5000)
                    )
                ],
            ),
            run("cuts", [*cut, (1300, 80, OVER), (1400, 80, LOW), (1580, 80, LOW)]),
            run("least", [(1000 * i, 10, OVER) for i in range(12)]),
            losses,
        ]
    )


class EndToEnd(Vcp):
    """knee's end-to-end VCP: a loss is overload.

    The load is high for a t_rho if in the one before no RTT came within 5 ms of the least of all.
    """

    def __init__(self, window):
        super().__init__(window)
        self.code, self.shortest, self.ends = LOW, None, 0

    def on_ack(self, ack):
        if ack.us >= self.ends:
            if self.shortest is not None:
                self.code = HIGH if self.shortest > ack.least + 0.005 else LOW
            self.shortest, self.ends = None, ack.us + self.t_rho
        self.shortest = ack.rtt if self.shortest is None else min(self.shortest, ack.rtt)
        if ack.acked == 0 or ack.held or ack.us < self.hold_until:
            return
        if self.hold_until and self.add_until is None:
            self.add_until = self.hold_until + ack.smoothed_us
        high = self.add_until is not None and ack.us < self.add_until
        self.act(HIGH if high else self.code, ack.smoothed_us, ack.us)

    def on_loss(self, told):
        self.cut(0, told.us)
        self.add_until = None  # the RTT of the first ACK after the hold counts


def vcp_e2e():
    """End-to-end VCP with bursts, a standing queue and losses."""
    flow = Flow("queue", "vcp-e2e", EndToEnd(16), FUNCTIONS)
    for i, rtt in enumerate((80, 120, 120, 84, 84, 90, 86, 95, 91, 81, 95, 83)):
        flow.ack(1000 * rtt, at=100_000 * i, smoothed=90_000)
    flow.congestion("loss", after=50_000)
    for i, rtt in enumerate((80, 82, 84, 82, 81, 90)):
        flow.ack(1000 * rtt, after=70_000, smoothed=85_000, acked=int(i != 4))
    flow.congestion("timeout", after=500_000)
    flow.ack(80_000, after=10_000)
    return table([flow])


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
    below = min(math.floor(math.log10(window)), len(table) - 2)
    slope = math.log10(table[below + 1] / table[below])
    return table[below] * (window / 10**below) ** slope


class Authors(Vcp):
    """The same by the authors' ns-2 code: S1 to S6 and S8 of docs/laws/vcp.md."""

    most_ai = (0.1, 0.06, 0.04, 0.02, 0.01, 0.006, 0.004, 0.002)
    most_xi = (1, 0.5, 0.2, 0.1, 0.064, 0.044, 0.032, 0.024)

    def __init__(self, initial):
        self.window, self.initial, self.hold_until, self.adding = 1.0, initial, 0, None
        self.eighths, self.timed_from, self.srtt = 0, 0, 0

    @property
    def pacing(self):
        if not 2 <= self.window <= 64:
            return None
        gap = self.srtt / 1e6 / 2 ** math.ceil(math.log2(self.window))
        return 8000 / gap if gap > 0.1 else None  # S8

    def on_ack(self, ack):
        time, rtt, code = ack.us, round(ack.rtt * 1e6), ack.value
        sent = max(time - rtt, 0)
        if sent >= self.timed_from:  # S5
            ticks = max(time // 10_000 - sent // 10_000, 1)
            self.eighths = (
                8 * ticks if self.eighths == 0 else max(self.eighths + ticks - self.eighths // 8, 1)
            )
            self.timed_from = time
        self.srtt = 10_000 * max(self.eighths // 8, 1)
        if self.initial is not None:  # S6
            self.window, self.initial = float(self.initial), None
            return
        action = code
        if time < self.hold_until:  # S4
            action = None if code == OVER else code
        else:
            if self.adding is None and self.hold_until:
                self.adding = self.hold_until + self.srtt
            if self.adding is not None and time < self.adding:
                action = HIGH if code == OVER else code
        self.act(action, self.srtt, time)

    def act(self, action, srtt, now):
        if action == LOW:  # S3
            xi = min(self.xi, decades(self.most_xi, self.window))
            self.window += (1 + xi) ** min(srtt / self.t_rho, self.sigma_mi) - 1
        elif action == HIGH:  # S1, S2
            x = srtt / 100_000
            factor = 0.2 * x if x < 0.2 else 25 + (x - 5) if x > 5 else x**2
            self.window += min(factor / self.window, decades(self.most_ai, self.window))
        elif action == OVER:
            self.window = max(1.0, self.beta * self.window)
            self.hold_until, self.adding = now + self.t_rho, None


def vcp_authors():
    """VCP by its authors' code. The start's row has the initial window, not S6's of one packet."""

    def run(name, initial, acks):
        flow = Flow(name, "vcp-authors", Authors(initial), FUNCTIONS)
        flow.rows[0][COLUMNS.index("window_packets")] = float(initial)
        return flow.acks((time, rtt, ("load", code)) for time, rtt, code in acks)

    flows = []
    for rtt in (4, 15, 84, 330, 800):
        for what, code in (("adds", HIGH), ("grows", LOW)):
            flows.append(
                run(
                    f"{what}-{rtt}",
                    2,
                    [(rtt * (1 + i), rtt + 3 * (i % 4), code) for i in range(24)],
                )
            )
    for initial in (30, 500, 7000, 90000, 2000000):
        acks = [(100 + i, 90, code) for i, code in enumerate((LOW, LOW, HIGH, LOW, HIGH))]
        flows.append(run(f"from-{initial}", initial, acks))
    codes = (LOW, OVER, HIGH)
    cut = [(100, 85, LOW), (1000, 85, OVER)]
    cut += [(1000 + 17 * i, 85, codes[i % 3]) for i in range(1, 40)]
    flows.append(run("cuts", 40, cut))
    return table(flows)


def vcp_router_authors():
    """The same by the authors' ns-2 code: R1 to R3 of docs/laws/vcp.md."""
    kappa, t_rho, transition = 0.5, 0.2, 0.8
    targets = [
        (6.6e9, 0.99, 0.001),
        (660e6, 0.985, 0.002),
        (66e6, 0.975, 0.003),
        (6.6e6, 0.96, 0.004),
        (660e3, 0.94, 0.005),
        (0, 0.92, 0.006),
    ]
    yield (
        "rate_bps,gamma,traffic_bytes,mean_queue_bytes,load_factor,code,target,step,next_gamma"
    ).split(",")
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
