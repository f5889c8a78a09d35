"""Models of senders with explicit feedback, and flows of each. VCP is in vcp.py."""

import math

from feedback import height
from flows import FUNCTIONS, SUMS, Flow, table


class Halving:
    """What losses and timeouts do to windows without slow start."""

    def on_loss(self, told):
        self.window = min(self.window, max(told.in_flight / 2, 2.0))

    def on_timeout(self, told):
        self.window = 1.0


class Xcp(Halving):
    """XCP 3.2: the window moves by the bytes that routers allow, up to the rate that is wanted."""

    def __init__(self, window, wanted_bps=1e15):
        self.window, self.wanted = float(window), wanted_bps / 8

    def on_ack(self, ack):
        if ack.kind is None or ack.recovering or ack.acked == 0 or (ack.limited and ack.value > 0):
            return
        most = max(self.wanted * ack.smoothed / 1000, self.window)
        self.window = max(1.0, min(self.window + ack.value / 1000, most))


def xcp():
    """XCP's windows up, down, at the rate that the sender wants, and after losses."""

    def steps(flow):
        for step in (500.0, 250.0, -100.0, 1000.0, 1000.0, 1e9, -3000.0, 0.0, 40.0):
            flow.ack(80_000, after=10_000, feedback=("xcp", step))
        flow.ack(80_000, after=10_000, limited=1, feedback=("xcp", 300.0))
        flow.ack(80_000, after=10_000, limited=1, feedback=("xcp", -300.0))
        flow.ack(80_000, after=10_000, recovering=1, feedback=("xcp", -300.0))
        flow.ack(80_000, after=10_000)
        flow.congestion("loss")
        flow.ack(80_000, after=10_000, feedback=("xcp", -1e9))
        flow.ack(80_000, after=10_000, feedback=("xcp", 5000.0))
        flow.congestion("timeout", after=500_000)
        flow.ack(80_000, after=10_000, feedback=("xcp", 250.0))
        return flow

    return table(
        [
            steps(Flow("any", "xcp", Xcp(10), SUMS)),
            steps(Flow("wanted", "xcp", Xcp(10, 1.2e6), SUMS, desired_rate=1.2e6)),
        ]
    )


class RateSender:
    """PIQI-RCP (19): x in bytes/s, at least a packet an RTT. (2) is tau_1 = 1 and tau_2 = 0."""

    def __init__(self, tau1=1.0, tau2=0.0, packet_bytes=1000):
        self.tau1, self.tau2, self.packet_bytes = tau1, tau2, packet_bytes
        self.x, self.last, self.answered, self.most, self.open, self.smoothed = (
            0.0,
            None,
            None,
            1e9,
            False,
            0.0,
        )

    @property
    def window(self):
        return self.most if self.open else 1.0

    @property
    def pacing(self):
        return 8 * max(self.x, self.packet_bytes / self.smoothed) if self.open else None

    def on_ack(self, ack):
        self.smoothed = ack.smoothed
        if ack.kind is None:
            return
        self.open, self.most = True, min(self.most + ack.acked, 1e9)
        rate, interval = ack.value, ack.detail
        if interval != self.answered:
            last = rate if self.last is None else self.last
            self.x = max(0.0, self.x + self.tau1 * (rate - self.x) + self.tau2 * (rate - last))
            self.last, self.answered = rate, interval

    def on_loss(self, told):
        pass

    def on_timeout(self, told):
        self.open, self.most = False, 1.0


def rcp():
    """RCP's and QI-RCP's sender: at once at the path's rate; after a timeout a packet an ACK."""

    def paths(flow):
        for interval, rate in enumerate((1.25e6, 1.25e6, 2.5e6, 4e5, 1.0, 1e6), 1):
            flow.ack(100_000, after=10_000, feedback=("rate", rate, interval))
            flow.ack(90_000, after=1_000, smoothed=99_000, feedback=("rate", rate, interval))
        flow.congestion("loss", in_flight=100)
        flow.congestion("timeout", in_flight=100, after=200_000)
        for acked in (1, 1, 2, 4):
            flow.ack(100_000, after=100_000, acked=acked, feedback=("rate", 1e6, 7))
        return flow

    return table(paths(Flow(law, law, RateSender(), SUMS)) for law in ("rcp", "qi-rcp"))


def piqi_rcp():
    """PIQI-RCP (19) from x = 0, tau_1 = 0.005, tau_2 = 0.5; each interval is answered once."""

    def run(name, path):
        flow = Flow(name, "piqi-rcp", RateSender(0.005, 0.5, 1), SUMS, packet_bytes=1)
        return flow.acks((0, 1_000_000, ("rate", rate, interval)) for rate, interval in path)

    return table(
        [
            run("steady", [(12.5e6, 1 + i) for i in range(30)]),
            run("repeats", [(12.5e6 - 1e5 * (i // 3), 9 + i // 3) for i in range(30)]),
            run(
                "falls",
                [(12.5e6, 1 + i) for i in range(20)]
                + [(11.5e6, 21), (9e6, 22), (1e6, 23), (2e6, 25)],
            ),
        ]
    )


class Mlcp(Halving):
    """MLCP (3.8) to (3.15), with the codes of 3.4.1."""

    kappa, sigma_mi, sigma_ai = 0.35, 2.5, 10.0

    def __init__(self, window):
        self.window, self.cut_from = float(window), 0

    def on_ack(self, ack):
        code, t_p = ack.value, ack.detail
        rtt = ack.smoothed_us
        if ack.kind is None or ack.recovering:
            return
        if code > 7:
            if ack.us >= self.cut_from:
                self.window = max(1.0, (0.875 - 0.2 * (code - 8) / 7) * self.window)
                self.cut_from = ack.us + t_p
        elif ack.limited:
            pass
        elif code <= 5:
            sigma = 0.16 * code
            xi = self.kappa * (1 - sigma) / sigma
            self.window += (1 + xi) ** min(rtt / t_p, self.sigma_mi) - 1
        else:
            alpha = min((rtt / t_p) ** 2, self.sigma_ai)
            self.window += alpha / self.window / (math.sqrt(self.window) if code == 7 else 1)


def mlcp():
    """MLCP's windows after ACKs of any RTT and interval, and after losses."""

    def run(name, acks):
        return Flow(name, "mlcp", Mlcp(2), FUNCTIONS).acks(
            (time, rtt, ("mlcp", code, 1000 * t_p)) for time, rtt, t_p, code in acks
        )

    losses = run("losses", [(80 * i, 80, 80, 1) for i in range(6)])
    losses.congestion("loss")
    losses.ack(80_000, after=10_000, recovering=1, feedback=("mlcp", 15, 80_000))
    losses.ack(80_000, after=10_000, limited=1, feedback=("mlcp", 1, 80_000))
    losses.ack(80_000, after=10_000, limited=1, feedback=("mlcp", 8, 80_000))
    losses.congestion("timeout", after=400_000)
    losses.ack(80_000, after=10_000, feedback=("mlcp", 6, 80_000))
    return table(
        [
            run("every-code", [(300 * code, 80, 80, code) for code in range(1, 16)]),
            run(
                "any-rtt",
                [
                    (i, rtt, t_p, code)
                    for i, (rtt, t_p, code) in enumerate(
                        (rtt, t_p, code)
                        for code in (1, 6, 7)
                        for t_p in (80, 400, 1400)
                        for rtt in (1, 90, 1000, 5000)
                    )
                ],
            ),
            run(
                "cuts",
                [(10 * i, 80, 80, 1) for i in range(30)]
                + [
                    (1000 + 50 * i, 80, 200, code)
                    for i, code in enumerate((8, 9, 6, 15, 8, 8, 8, 15, 15, 1))
                ],
            ),
            losses,
        ]
    )


class Bmcc(Halving):
    """BMCC (4.2) to (4.6), told the load factor; cuts wait for t_p and an RTT."""

    kappa, t_p, u = 0.35, 200_000, 1.2

    def __init__(self, window):
        self.window, self.cut_from, self.new, self.load = float(window), 0, True, 0.15

    def on_ack(self, ack):
        if ack.kind is None or ack.recovering:
            return
        load, ratio = self.load, ack.smoothed_us / self.t_p
        self.new = self.new and load < 1
        if load >= 1:
            if ack.us >= self.cut_from:
                self.window = max(1.0, (0.875 - 0.225 * (load - 1) / (self.u - 1)) * self.window)
                self.cut_from = ack.us + self.t_p + ack.smoothed_us
        elif ack.limited:
            pass
        elif load < 0.75 or self.new:
            self.window += (1 + self.kappa * (1 - load) / load) ** min(ratio, 2.5) - 1
        else:
            self.window += min(ratio**2, 100) / self.window


def bmcc():
    """BMCC as a new and as an old flow, at any RTT, and after losses.

    An ACK tells H of the load, or nothing.
    """

    def told(flow, load, **fields):
        flow.model.load = flow.model.load if load is None else load
        flow.ack(
            feedback=("adpm", None if load is None else height(load), 0), in_flight=1, **fields
        )

    def run(name, acks):
        flow = Flow(name, "bmcc", Bmcc(2), FUNCTIONS)
        for time, rtt, load in acks:
            told(flow, load, rtt=1000 * rtt, at=1000 * time)
        return flow

    losses = run("losses", [(10 * i, 80, None) for i in range(8)])
    losses.congestion("loss")
    told(losses, 1.1, rtt=80_000, after=10_000, recovering=1)
    told(losses, None, rtt=80_000, after=10_000, limited=1)
    told(losses, 0.5, rtt=80_000, after=10_000, limited=1)
    losses.congestion("timeout", after=400_000)
    told(losses, None, rtt=80_000, after=10_000)
    return table(
        [
            run(
                "new",
                [
                    (10 * i, 80, load)
                    for i, load in enumerate((0.15, 0.2, 0.5, 0.7, 0.8, 0.9, 0.99))
                ],
            ),
            run(
                "old",
                [(10 * i, 80, 0.15) for i in range(20)]
                + [
                    (1000 + 90 * i, 80, load)
                    for i, load in enumerate(
                        (
                            1.0,
                            0.9,
                            1.1,
                            1.2,
                            1.15,
                            0.76,
                            0.74,
                            0.3,
                            1.05,
                            1.05,
                            1.05,
                            1.05,
                            1.05,
                            0.99,
                        )
                    )
                ],
            ),
            run(
                "any-rtt",
                [(5000, 80, 1.0)]
                + [
                    (6000 + i, rtt, load)
                    for i, (rtt, load) in enumerate(
                        (rtt, load)
                        for load in (0.15, 0.6, 0.9)
                        for rtt in (1, 20, 200, 500, 2000, 5000)
                    )
                ],
            ),
            losses,
        ]
    )


class Source:
    """Paganini et al. 2003, (20) and (21) or (27) and (28), with section V's numbers and K log x.

    w_m is the initial window. A step is due every 10 ms from the first ACK on; the first ACK
    from then on makes it. The window moves by at most a packet for each that is acknowledged.
    """

    alpha, beta, weight, bottlenecks, step_ms, phi = 0.37, 0.64 * 0.37, 50.0, 1.0, 10, 1000.0

    def __init__(self, window):
        self.window = self.expected = self.initial = float(window)
        self.xi, self.due, self.marks, self.pacing = 0.0, None, [], None

    def on_ack(self, ack):
        if ack.value is not None:
            self.marks = [*self.marks, ack.value][-31:]
        while self.due is not None and self.due <= ack.us:
            self.advance(ack)
            self.due += 1000 * self.step_ms
        self.due = ack.us + 1000 * self.step_ms if self.due is None else self.due
        self.window = max(
            1.0, min(max(self.expected, self.window - ack.acked), self.window + ack.acked)
        )
        self.pacing = self.window * 8000 / ack.smoothed

    def on_loss(self, told):
        self.window = min(self.window, max(told.in_flight / 2, 1.0))
        self.halve()

    def on_timeout(self, told):
        self.window = 1.0
        self.halve()

    def halve(self):
        self.xi, self.expected = self.xi - math.log(2), self.expected / 2
        self.pacing = self.window * 8000 / self.smoothed if self.pacing else None


class Marked(Source):
    """(20) and (21), the price told by the last 31 marks."""

    def advance(self, ack):
        self.smoothed = ack.smoothed
        share = min(sum(self.marks), len(self.marks) - 0.5) / len(self.marks)
        price = -math.log(1 - share) / math.log(self.phi)
        self.xi += (
            self.beta
            * (self.weight / max(self.expected, 1.0) - price / ack.least)
            * self.step_ms
            / 1000
        )
        self.expected = self.initial * math.exp(
            self.xi - self.alpha * price / (self.bottlenecks * ack.least)
        )


class Delayed(Source):
    """(27) and (28), the price being the RTT less the least RTT."""

    def advance(self, ack):
        self.smoothed = ack.smoothed
        total, base = ack.rtt, ack.least
        self.xi += (
            self.beta
            * (self.weight / max(self.expected, 1.0) - (total - base) / total)
            * self.step_ms
            / 1000
        )
        self.expected = (
            self.initial * math.exp(self.xi) * (base / total) ** (self.alpha / self.bottlenecks)
        )


def scalable_price():
    """The scalable law over marks: none, some, many, at a long RTT, and with losses."""

    def run(name, acks):
        return Flow(name, "scalable-price", Marked(2), FUNCTIONS).acks(
            (time, rtt, ("ecn", marked)) for time, rtt, marked in acks
        )

    losses = run("losses", [(50 + 5 * i, 50, 0) for i in range(60)])
    losses.congestion("loss")
    losses.acks((400 + 5 * i, 50, ("ecn", int(i % 7 == 3))) for i in range(20))
    losses.congestion("timeout", after=100_000)
    losses.acks((700 + 5 * i, 50, ("ecn", 0)) for i in range(20))
    return table(
        [
            run("idle", [(50 + 5 * i, 50, 0) for i in range(60)]),
            run("marked", [(50 + 7 * i, 50, int(i % 5 == 2)) for i in range(120)]),
            run("congested", [(50 + 4 * i, 50, int(i > 40)) for i in range(120)]),
            run("long", [(500 + 40 * i, 500 + i % 3, int(i % 4 == 0)) for i in range(80)]),
            losses,
        ]
    )


def scalable_delay():
    """The scalable law over queueing delay: none, one that varies, a least RTT that falls."""

    def run(name, acks):
        return Flow(name, "scalable-delay", Delayed(2), FUNCTIONS).acks(
            (time, rtt, ()) for time, rtt in acks
        )

    return table(
        [
            run("idle", [(50 + 5 * i, 50) for i in range(60)]),
            run("queue", [(50 + 5 * i, 50 + i % 40) for i in range(160)]),
            run("late", [(90 + 8 * i, 90 - i // 2) for i in range(80)]),
        ]
    )
