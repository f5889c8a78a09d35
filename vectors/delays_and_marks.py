"""Models of senders that answer to delays or to the marks of single packets, and flows of each."""

import math

from flows import SUMS, Flow, table
from tcp import Round, Tcp, tour


class Vegas:
    """TCP Vegas (1) to (4)."""

    def __init__(self, window, ssthresh=1e9):
        self.window, self.ssthresh, self.mode = float(window), ssthresh, "double"
        self.restart()

    def restart(self):
        self.round, self.rtts = Round(), []

    def on_ack(self, ack):
        if ack.recovering:
            self.restart()
        if ack.recovering or ack.acked == 0:
            return
        self.rtts.append(ack.rtt)
        if self.round.on_ack(ack):
            mean, self.rtts = sum(self.rtts) / len(self.rtts), []
            if not ack.limited:
                self.decide(self.window / ack.least - self.window / mean, ack.least)
        if ack.limited:
            return
        if self.mode == "double" and self.window < self.ssthresh:
            self.window = min(self.window + ack.acked, self.ssthresh)
        elif self.mode == "add":
            self.window += ack.acked / self.window

    def decide(self, difference, base):
        diff = difference * base
        if self.window < self.ssthresh:
            if self.mode == "double":
                self.mode = "hold"
            elif diff <= 1:
                self.mode = "double"
            else:
                self.ssthresh, self.mode, self.window = 2.0, "hold", max(7 / 8 * self.window, 2.0)
        elif diff < 1:
            self.mode = "add"
        else:
            self.mode = "hold"
            if diff > 3:
                self.window = max(self.window - 1, 2.0)

    def on_loss(self, told):
        self.window = min(self.window, max(0.75 * told.in_flight, 2.0))
        self.ssthresh, self.mode = 2.0, "hold"
        self.restart()

    def on_timeout(self, told):
        self.ssthresh, self.window, self.mode = max(told.in_flight / 2, 2.0), 1.0, "double"
        self.restart()


def vegas():
    """TCP Vegas with queues that it should shorten, keep and lengthen."""

    def queue(flow, rtts):
        for rtt in rtts:
            flow.round(rtt)
        flow.congestion("loss")
        for rtt in rtts[:3]:
            flow.round(rtt)
        return flow

    rising = [
        100_000,
        100_000,
        100_000,
        104_000,
        108_000,
        112_000,
        120_000,
        130_000,
        120_000,
        110_000,
        104_000,
        100_000,
    ]
    return table(
        [
            tour(Flow("tour", "vegas", Vegas(2), SUMS)),
            queue(
                Flow("starts", "vegas", Vegas(2), SUMS),
                [80_000] * 7 + [90_000, 100_000, 85_000, 80_000],
            ),
            queue(Flow("avoids", "vegas", Vegas(20, 2.0), SUMS, initial_ssthresh=2.0), rising),
        ]
    )


class Fast:
    """FAST TCP (1) and (2)."""

    alpha, gamma = 20.0, 0.5

    def __init__(self, window):
        self.average = None
        self.set(float(window))

    def set(self, window):
        self.window = self.target = window
        self.round = Round()

    def on_ack(self, ack):
        if ack.recovering:
            self.round = Round()
        if ack.recovering or ack.acked == 0:
            return
        eta = min(3 / self.window, 1 / 4)
        self.average = ack.rtt if self.average is None else (1 - eta) * self.average + eta * ack.rtt
        ended = self.round.on_ack(ack) is not None
        if ack.limited:
            return
        if ended:
            w, ratio = self.window, min(ack.least / self.average, 1)
            self.target = max(
                min(2 * w, (1 - self.gamma) * w + self.gamma * (ratio * w + self.alpha)), 1
            )
        self.window = min(self.target, self.window + ack.acked)

    def on_loss(self, told):
        self.set(min(self.window, max(told.in_flight / 2, 2.0)))

    def on_timeout(self, told):
        self.set(1.0)


def fast():
    """FAST TCP: far from its equilibrium, near it, and with a queue that is too long."""

    class Gentle(Fast):
        alpha, gamma = 5.0, 0.2

    def queue(flow, rtts):
        for rtt in rtts:
            flow.round(rtt)
        return flow

    rtts = [100_000] * 4 + [110_000, 130_000, 150_000, 125_000, 110_000, 100_000]
    return table(
        [
            tour(Flow("tour", "fast", Fast(2), SUMS)),
            queue(Flow("queue", "fast", Fast(10), SUMS), rtts),
            queue(Flow("gentle", "fast", Gentle(30), SUMS, alpha=5.0, gamma=0.2), rtts),
        ]
    )


class Dctcp(Tcp):
    """RFC 8257, 3.3: M and alpha once a window of data, one cut in it."""

    def __init__(self, window, ssthresh=1e9):
        super().__init__(window, ssthresh)
        self.alpha, self.acked, self.ends, self.packets, self.marked, self.cut = (
            1.0,
            0,
            int(window),
            0,
            0,
            False,
        )

    def on_ack(self, ack):
        is_marked = ack.value == 1
        self.acked += ack.acked
        self.packets += max(ack.acked, 1)
        self.marked += max(ack.acked, 1) if is_marked else 0
        if self.acked >= self.ends:
            self.alpha = (1 - 1 / 16) * self.alpha + 1 / 16 * self.marked / self.packets
            self.packets, self.marked, self.cut = 0, 0, False
            self.ends = self.acked + max(ack.in_flight, 1)
        if ack.recovering:
            return
        if not is_marked:
            super().on_ack(ack)
        elif not self.cut:
            self.cut = True
            self.ssthresh = max(self.window * (1 - self.alpha / 2), 2.0)
            self.window = min(self.window, self.ssthresh)


def marks(flow, rounds, every, rtt=50_000):
    """Rounds in which each n-th packet is marked, in order; none where n is 0."""
    number = 0
    for _ in range(rounds):
        for n in every:
            packets = int(flow.model.window)
            for _ in range(packets):
                number += 1
                flow.ack(
                    rtt, after=rtt // packets, feedback=("ecn", int(n > 0 and number % n == 0))
                )
    return flow


def other_marks(flow, rtt=50_000):
    """Marked and unmarked ACKs: duplicates, of many packets, in recovery, short of data."""
    kinds = {"acked": 0}, {"acked": 3}, {"recovering": 1}, {"limited": 1}
    for kind in (*kinds, *reversed(kinds)):
        for marked in (1, 0, 0):
            flow.ack(rtt, after=9_000, feedback=("ecn", marked), **kind)
    return flow


def dctcp():
    """DCTCP with no, few, many and all packets marked."""
    flow = tour(Flow("tour", "dctcp", Dctcp(2), SUMS))
    shares = marks(
        Flow("shares", "dctcp", Dctcp(10, 24.0), SUMS, initial_ssthresh=24.0),
        3,
        (0, 0, 10, 4, 2, 0, 1),
    )
    shares.congestion("loss")
    return table([flow, marks(other_marks(shares), 1, (3, 0, 0, 7))])


class Prague(Tcp):
    """draft-briscoe-iccrg-prague-congestion-control-04, 2.4."""

    def __init__(self, window, after=500):
        super().__init__(window, math.inf)
        self.alpha, self.seen, self.after, self.rounds = 1.0, False, after, 0
        self.acked, self.ends, self.packets, self.marked = 0, int(window), 0, 0
        self.updated, self.cut_until = 0, 0
        self.smoothed, self.pacing = 0, None

    def virtual(self):
        return self.smoothed if self.rounds < self.after else max(self.smoothed, 25_000)

    def on_ack(self, ack):
        is_marked = ack.value == 1
        self.smoothed, self.seen = ack.smoothed_us, self.seen or is_marked
        self.acked += ack.acked
        self.packets += max(ack.acked, 1)
        self.marked += max(ack.acked, 1) if is_marked else 0
        if self.acked >= self.ends:
            self.ends = self.acked + max(ack.in_flight, 1)
            self.rounds += self.window >= self.ssthresh
            if self.rounds < self.after or ack.us - self.updated >= self.virtual():
                if self.seen:
                    self.alpha += (self.marked / self.packets - self.alpha) / 16
                self.packets, self.marked, self.updated = 0, 0, ack.us
        if not ack.recovering and is_marked:
            if ack.us >= self.cut_until:
                self.reduce(self.alpha / 2)
                self.cut_until = ack.us + self.virtual()
        elif not is_marked:
            super().on_ack(ack)
        self.pace()

    def grow(self, ack):
        return (self.smoothed / self.virtual()) ** 2 * ack.acked / self.window

    def reduce(self, share):
        self.window = max((1 - share) * self.window, min(self.window, 2.0))
        self.ssthresh = self.window

    def pace(self):
        if self.smoothed:
            gain = 2 if self.window < self.ssthresh / 2 else 1
            self.pacing = gain * self.window * 8000 / (self.smoothed / 1e6)

    def on_loss(self, told):
        self.reduce(0.5)
        self.pace()

    def on_timeout(self, told):
        self.reduce(0.5)
        self.window = 1.0
        self.pace()


def prague():
    """Prague from slow start on, with its own RTT and with that of 25 ms."""
    flow = marks(Flow("shares", "prague", Prague(10), SUMS), 2, (0, 10, 4, 0, 2, 0))
    flow.congestion("loss", after=1_000)
    marks(flow, 1, (3, 0)).congestion("timeout", after=400_000)
    short = Flow("short", "prague", Prague(10, 2), SUMS, independent_after=2)
    return table(
        [marks(other_marks(flow), 1, (0, 0, 5)), marks(short, 4, (0, 7, 0, 3, 0), rtt=5_000)]
    )
