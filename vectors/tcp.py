"""Models of senders that learn from losses, from their papers' equations, and flows of each.

A number in brackets is an equation as the header of the law's file numbers it; windows are packets.
"""

import math

from flows import FUNCTIONS, SUMS, Flow, table


class Tcp:
    """RFC 5681: slow start, losses and timeouts; `grow` and `keep` are (2) and (3) of Reno."""

    def __init__(self, window, ssthresh=1e9):
        self.window, self.ssthresh = float(window), ssthresh

    def grow(self, ack):
        return ack.acked / self.window

    def keep(self, told):
        return told.in_flight / 2

    def measure(self, ack):
        pass

    def on_ack(self, ack):
        self.measure(ack)
        if ack.held or ack.acked == 0:
            return
        if self.window < self.ssthresh:
            self.window = min(self.window + ack.acked, self.ssthresh)
        else:
            self.window += self.grow(ack)

    def on_loss(self, told):
        self.ssthresh = max(self.keep(told), 2.0)
        self.window = min(self.window, self.ssthresh)

    def on_timeout(self, told):
        self.ssthresh = max(self.keep(told), 2.0)
        self.window = 1.0


class Round:
    """Round trips: one ends with the ACK of a packet that was sent after it began."""

    def __init__(self):
        self.acked, self.ends, self.began, self.packets = 0, None, 0.0, 0

    def on_ack(self, ack):
        """Packets acknowledged and seconds passed, where a round ends."""
        self.acked += ack.acked
        self.packets += ack.acked
        if ack.acked == 0 or (self.ends is not None and self.acked < self.ends):
            return None
        passed = None if self.ends is None else (self.packets, ack.s - self.began)
        self.ends, self.began, self.packets = self.acked + ack.in_flight + 1, ack.s, 0
        return passed

    def restart(self):
        self.ends = None


def tour(flow, rtt=100_000):
    """What every TCP meets: slow start, losses, a mark, timeouts, small windows.

    Among them are ACKs on which a window does not grow.
    """
    for _ in range(3):
        flow.round(rtt)
    flow.ack(rtt, acked=0)
    flow.ack(rtt, limited=1)
    flow.congestion("loss", after=5_000)
    for _ in range(4):
        flow.ack(rtt, after=2_000, recovering=1)
    for _ in range(3):
        flow.round(rtt)
    flow.ack(rtt, after=1_000, acked=2)
    flow.ack(rtt, after=50_000, limited=1)
    flow.congestion("mark", after=1_000)
    flow.round(rtt)
    flow.congestion("timeout", after=900_000)
    for _ in range(6):
        flow.round(rtt)
    for _ in range(4):
        flow.congestion("loss", after=rtt)
    flow.congestion("timeout", in_flight=3, after=rtt)
    flow.round(rtt)
    return flow


def reno():
    """RFC 5681, 6582 and 6675; parameters of knee's: packets a round, and what a loss leaves."""

    class Aimd(Tcp):
        def grow(self, ack):
            return 0.3 * ack.acked / self.window

        def keep(self, told):
            return 0.8 * told.in_flight

    flows = [tour(Flow(law, law, Tcp(2), SUMS)) for law in ("reno", "newreno", "sack")]
    flows.append(tour(Flow("threshold", "reno", Tcp(4, 16.0), SUMS, initial_ssthresh=16.0)))
    flows.append(
        tour(
            Flow(
                "aimd",
                "reno",
                Aimd(10, 64.0),
                SUMS,
                increase=0.3,
                decrease=0.8,
                initial_ssthresh=64.0,
            )
        )
    )
    return table(flows)


class Cubic(Tcp):
    """RFC 9438, figures 1 to 5, 4.7 and 4.8."""

    c, beta = 0.4, 0.7

    def __init__(self, window, ssthresh=1e9):
        super().__init__(window, ssthresh)
        self.w_max, self.prior, self.epoch, self.fresh, self.last = 0.0, 0.0, None, True, 0.0

    def on_ack(self, ack):
        if ack.held and self.epoch is not None:
            self.epoch += (
                ack.s - self.last
            )  # 5.8: time in which the window cannot grow does not count
        self.last = ack.s
        super().on_ack(ack)

    def cubic(self, t):
        return self.c * (t - self.k) ** 3 + self.w_max

    def grow(self, ack):
        if self.epoch is None:
            if self.fresh:
                self.w_max = self.window
            self.epoch, self.w_est = ack.s, self.window
            distance = (self.w_max - self.window) / self.c
            self.k = math.copysign(abs(distance) ** (1 / 3), distance)
        t = ack.s - self.epoch
        alpha = 3 * (1 - self.beta) / (1 + self.beta) if self.w_est < self.prior else 1.0
        self.w_est += alpha * ack.acked / self.window
        if self.cubic(t) < self.w_est:
            return max(self.w_est - self.window, 0.0)
        target = min(max(self.cubic(t + ack.smoothed), self.window), 1.5 * self.window)
        return (target - self.window) / self.window

    def reduce(self, told, least):
        self.w_max = self.window * (1 + self.beta) / 2 if self.window < self.w_max else self.window
        self.prior, self.epoch = self.window, None
        self.ssthresh = self.beta * told.in_flight
        self.window = min(self.window, max(self.ssthresh, least))
        self.ssthresh = max(self.ssthresh, 2.0)

    def on_loss(self, told):
        self.reduce(told, 1.0 if told.is_mark else 2.0)
        self.fresh = False

    def on_timeout(self, told):
        self.reduce(told, 1.0)
        self.window, self.fresh = 1.0, True


def cubic():
    """RFC 9438, with runs in the Reno-friendly, the concave and the convex region."""

    class Steep(Cubic):
        c, beta = 4.0, 0.5

    def climb(flow, rtt, rounds):
        flow.congestion("loss")
        for _ in range(rounds):
            flow.ack(rtt, after=rtt)
        flow.congestion("loss")  # before the last maximum: fast convergence
        for _ in range(rounds):
            flow.ack(rtt, after=rtt)
        flow.ack(rtt, after=rtt, limited=1)
        flow.ack(rtt, after=rtt)
        return flow

    return table(
        [
            tour(Flow("tour", "cubic", Cubic(2), FUNCTIONS)),
            climb(Flow("long", "cubic", Cubic(80), FUNCTIONS), 800_000, 20),
            climb(Flow("short", "cubic", Cubic(60), FUNCTIONS), 5_000, 60),
            climb(Flow("steep", "cubic", Steep(500), FUNCTIONS, c=4.0, beta=0.5), 200_000, 40),
            climb(Flow("large", "cubic", Cubic(50_000), FUNCTIONS), 100_000, 60),
        ]
    )


class HighSpeed(Tcp):
    """RFC 3649, section 5: the power law through (38, 1.5 / 38^2) and (83000, 1e-7)."""

    def share(self, w):
        return 0.5 - 0.4 * math.log(w / 38, 83000 / 38) if w > 38 else 0.5

    def grow(self, ack):
        w, b = self.window, self.share(self.window)
        p = 1e-7 * (w / 83000) ** math.log(1e-7 / (1.5 / 38**2), 83000 / 38)
        a = w**2 * p * 2 * b / (2 - b) if w > 38 else 1.0
        return ack.acked * min(a / w, 1.0)

    def keep(self, told):
        return told.in_flight * (1 - self.share(told.in_flight))


def hstcp():
    """HighSpeed TCP from windows below, between and above those of its response function."""
    flows = [tour(Flow("tour", "hstcp", HighSpeed(2), FUNCTIONS))]
    for window in (30, 38, 39, 100, 1000, 10_000, 83_000, 150_000):
        flow = Flow(
            f"from-{window}", "hstcp", HighSpeed(window, 2.0), FUNCTIONS, initial_ssthresh=2.0
        )
        for _ in range(5):
            flow.ack(50_000, after=1_000)
        flow.congestion("loss")
        flow.ack(50_000, after=1_000)
        flows.append(flow)
    return table(flows)


class Kelly(Tcp):
    """Scalable TCP: 0.01 an ACK up, an eighth a loss down, Reno up to 16 packets."""

    def grow(self, ack):
        return ack.acked / self.window if self.window <= 16 else 0.01 * ack.acked

    def keep(self, told):
        return told.in_flight * (0.5 if told.in_flight <= 16 else 0.875)


def scalable():
    """Scalable TCP: a packet's ACK and a loss, at, below and above the legacy window of 16."""
    flows = [tour(Flow("tour", "scalable", Kelly(2), SUMS))]
    for window in (4, 8, 15, 16, 17, 20, 100, 1000, 10000, 100000):
        acked, cut = (
            Flow(f"{event}-{window}", "scalable", Kelly(window, 2.0), SUMS, initial_ssthresh=2.0)
            for event in ("ack", "loss")
        )
        acked.ack(100_000)
        cut.congestion("loss")
        flows += [acked, cut]
    return table(flows)


class Hamilton(Tcp):
    """H-TCP (1) to (4)."""

    scaling = False

    def __init__(self, window, ssthresh=1e9):
        super().__init__(window, ssthresh)
        self.beta, self.backoff, self.round, self.longest, self.least = 0.5, None, Round(), 0.0, 0.0
        self.throughput, self.before = 0.0, None

    def measure(self, ack):
        passed = self.round.on_ack(ack)
        if passed and passed[1] > 0:
            self.throughput = passed[0] / passed[1]
        self.least = ack.least
        if not ack.recovering:
            self.longest = max(self.longest, ack.rtt)

    def grow(self, ack):
        self.backoff = ack.s if self.backoff is None else self.backoff
        late = max(ack.s - self.backoff - 1, 0)
        f = 1 + 10 * late + (late / 2) ** 2
        if self.scaling:
            f = max(1, f * sorted((0.1, self.least / 0.1, 2))[1])
        return ack.acked * min(2 * (1 - self.beta) * f / self.window, 1.0)

    def keep(self, told):
        near = self.before is not None and abs(self.throughput - self.before) <= 0.2 * self.before
        self.beta = (
            sorted((0.5, self.least / self.longest, 0.8))[1] if near and self.longest else 0.5
        )
        self.before, self.backoff, self.longest = self.throughput, told.s, 0.0
        return self.beta * told.in_flight

    def on_timeout(self, told):
        super().on_timeout(told)
        self.round.restart()


def htcp():
    """H-TCP over growing queues, long after a backoff, with steady and changing throughput."""

    class Scaled(Hamilton):
        scaling = True

    def saw(flow, rtts, gap):
        for rtt in rtts:
            for _ in range(30):
                flow.ack(rtt, after=gap)
            flow.congestion("loss", in_flight=int(flow.model.window))
        return flow

    return table(
        [
            tour(Flow("tour", "htcp", Hamilton(2), SUMS)),
            saw(
                Flow("queue", "htcp", Hamilton(20, 2.0), SUMS, initial_ssthresh=2.0),
                [70_000, 80_000, 90_000, 100_000, 140_000],
                8_000,
            ),
            saw(
                Flow("late", "htcp", Hamilton(50, 2.0), SUMS, initial_ssthresh=2.0),
                [100_000, 120_000],
                150_000,
            ),
            saw(
                Flow(
                    "scaled-short",
                    "htcp",
                    Scaled(50, 2.0),
                    SUMS,
                    initial_ssthresh=2.0,
                    rtt_scaling=True,
                ),
                [40_000] * 2,
                150_000,
            ),
            saw(
                Flow(
                    "scaled-long",
                    "htcp",
                    Scaled(50, 2.0),
                    SUMS,
                    initial_ssthresh=2.0,
                    rtt_scaling=True,
                ),
                [400_000] * 2,
                150_000,
            ),
        ]
    )


class BinaryIncrease(Tcp):
    """BIC (1) to (3), with B = 4."""

    def __init__(self, window, ssthresh=1e9):
        super().__init__(window, ssthresh)
        self.max, self.step = None, None

    def grow(self, ack):
        w = self.window
        if w < 14:
            return ack.acked / w
        if self.max is not None and w < self.max:
            rise = min(max((self.max - w) / 4, 0.01), 32)
        else:
            if self.step is None:
                self.step, self.next = 1.0, w + 1
            elif w >= self.next:
                self.step = min(2 * self.step, 32)
                self.next = w + self.step
            rise = self.step
        return ack.acked * min(rise / w, 1)

    def keep(self, told):
        w, self.step = self.window, None
        if w < 14:
            return 0.5 * told.in_flight
        # Fast convergence: half of what is given up less.
        self.max = w * (1 - 0.125 / 2) if self.max is not None and w < self.max else w
        return 0.875 * told.in_flight

    def on_timeout(self, told):
        super().on_timeout(told)
        self.max = None


def bic():
    """BIC's search, its probing beyond the last maximum, and Reno below 14 packets."""
    flows = [tour(Flow("tour", "bic", BinaryIncrease(2), SUMS))]
    for window, acks in ((16, 80), (60, 300), (2000, 60)):
        flow = Flow(
            f"from-{window}", "bic", BinaryIncrease(window, 2.0), SUMS, initial_ssthresh=2.0
        )
        for _ in range(2):
            flow.congestion("loss")
            for _ in range(acks):
                flow.ack(100_000, after=500)
        flows.append(flow)
    return table(flows)


class Westwood(Tcp):
    """Westwood+ (1) to (3)."""

    def __init__(self, window, ssthresh=1e9):
        super().__init__(window, ssthresh)
        self.round, self.bandwidth, self.least = Round(), None, 0.0

    def measure(self, ack):
        self.least = ack.least
        if ack.limited:
            self.round.restart()
            return
        passed = self.round.on_ack(ack)
        if passed and passed[1] > 0:
            sample = passed[0] / passed[1]
            self.bandwidth = (
                sample if self.bandwidth is None else 0.9 * self.bandwidth + 0.1 * sample
            )

    def keep(self, told):
        return told.in_flight / 2 if self.bandwidth is None else self.bandwidth * self.least

    def on_timeout(self, told):
        super().on_timeout(told)
        self.round.restart()


def westwood():
    """Westwood+ over queues of several lengths."""

    def queue(flow, rtts):
        for rtt in rtts:
            for _ in range(3):
                flow.round(rtt)
            flow.congestion("loss")
        return flow

    return table(
        [
            tour(Flow("tour", "westwood", Westwood(2), SUMS)),
            queue(
                Flow("queue", "westwood", Westwood(12, 2.0), SUMS, initial_ssthresh=2.0),
                [100_000, 150_000, 90_000, 200_000],
            ),
            queue(
                Flow("short", "westwood", Westwood(20, 2.0), SUMS, initial_ssthresh=2.0),
                [10_000, 11_000, 30_000],
            ),
        ]
    )


def cubic_window():
    """RFC 9438, figures 1 and 2."""
    yield "w_max_packets,cwnd_epoch_packets,c,t_s,k_s,w_cubic_packets".split(",")
    for w_max, epoch, c in (
        (80.0, 56.0, 0.375),
        (100.0, 70.0, 0.4),
        (1e4, 7e3, 0.4),
        (50.0, 50.0, 0.4),
    ):
        k = ((w_max - epoch) / c) ** (1 / 3)
        for t in (0.0, 0.1, 1.0, 2.0, 4.0, 6.0, 8.0, 20.0):
            yield w_max, epoch, c, t, k, c * (t - k) ** 3 + w_max


def hstcp_response():
    """RFC 3649, section 5: the line through (38, 1.5 / 38^2) and (83000, 1e-7), as a power law."""
    low, high, high_p, high_decrease = 38.0, 83000.0, 1e-7, 0.1
    low_p = 1.5 / low**2
    slope = math.log(high_p / low_p, high / low)
    yield "window_packets,loss_rate,increase_packets,decrease_share,after_loss_packets".split(",")
    for w in (38.0, 39.0, 50.0, 118.0, 500.0, 1058.0, 5036.0, 10e3, 20e3, 50e3, 83e3, 100e3, 200e3):
        p = high_p * (w / high) ** slope
        b = 0.5 + (high_decrease - 0.5) * math.log(w / low, high / low)
        # Average window w from AIMD with a and b: w = sqrt(a (2 - b) / (2 b p)).
        yield w, p, w**2 * p / ((2 - b) / (2 * b)), b, w * (1 - b)


def htcp_growth():
    """H-TCP (1) and (2): growth a round by beta and the time since a backoff; beta by RTTs (3)."""
    yield "since_backoff_s,min_rtt_ms,max_rtt_ms,f_packets,beta,alpha_packets".split(",")
    for since in (0.0, 0.5, 1.0, 1.5, 2.0, 5.0, 30.0):
        for shortest, longest in ((100, 100), (100, 125), (60, 100), (100, 200), (10, 1000)):
            late = since - 1
            f = 1 + 10 * late + (late / 2) ** 2 if late > 0 else 1.0
            beta = sorted((0.5, shortest / longest, 0.8))[1]
            yield since, shortest, longest, f, beta, 2 * (1 - beta) * f
