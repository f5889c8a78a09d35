"""Models of BBR's Startup and Drain, v1 and v3, and flows of each.

The later phases are not here: knee chooses their lengths by a hash of the time.
"""

import math
from types import SimpleNamespace

from flows import SUMS, Flow, table


class Startup:
    """draft-cardwell-iccrg-bbr-congestion-control-00, 4.1 to 4.3.3, without losses."""

    gain, margin, room, drain, windows = (
        2 / math.log(2),
        1.0,
        3.0,
        math.log(2) / 2,
        (2 / math.log(2),) * 2,
    )
    least, rounds_kept = 0.0, 10

    def __init__(self, window):
        self.window = self.initial = float(window)
        self.pacing = 8000 * self.gain * window / 1e-3
        self.delivered, self.ends, self.round, self.samples = 0, 0, 0, []
        self.best, self.stalled, self.full = 0.0, 0, False

    def on_ack(self, ack):
        sample = ack.sample
        acked, self.delivered = sample.delivered - self.delivered, sample.delivered
        begins = sample.prior >= self.ends
        if begins:
            self.ends, self.round = sample.delivered, self.round + 1
        rate = (sample.delivered - sample.prior) / (sample.us / 1e6)
        self.samples = [(r, x) for r, x in self.samples if r > self.round - self.rounds_kept] + [
            (self.round, rate)
        ]
        bandwidth = max(x for _, x in self.samples)
        if begins and not self.full:
            self.judge(bandwidth, rate)
        if self.full:
            pacing = self.margin * self.drain * bandwidth
        else:
            pacing = max(self.margin * self.gain * bandwidth, self.pacing / 8000)
        self.pacing = 8000 * pacing
        most = max(self.windows[self.full] * bandwidth * ack.least + self.room, self.least)
        if self.full:
            self.window = min(self.window + acked, most)
        elif self.window < most or self.delivered < self.initial:
            self.window += acked
        self.window = max(self.window, 4.0)

    def judge(self, bandwidth, rate):
        """Three rounds in which the bandwidth grew by less than a quarter fill the pipe."""
        self.grown(bandwidth)

    def grown(self, bandwidth):
        if bandwidth >= 1.25 * self.best:
            self.best, self.stalled = bandwidth, 0
        else:
            self.stalled += 1
            self.full = self.stalled >= 3


class Startup3(Startup):
    """draft-ietf-ccwg-bbr: gains 4 ln 2 and 2, a margin of 1 %; the last sample is judged."""

    gain, margin, room, drain, windows = 4 * math.log(2), 0.99, 0.0, 0.5, (2.0, 2.0)
    least, rounds_kept = 4.0, 1_000_000  # two probing cycles: all of Startup

    def judge(self, bandwidth, rate):
        self.grown(rate)


def start(law, model):
    """A flow over 1000 packets/s and 100 ms: rounds of 10, 20, 40, 80, then 100 packets.

    Drain lasts while more than a BDP and three packets are in flight; the flow ends before.
    """
    flow = Flow("startup", law, model, SUMS)
    delivered = 0
    for packets, in_flight in (
        (10, 20),
        (20, 40),
        (40, 80),
        (80, 160),
        (100, 200),
        (100, 250),
        (100, 280),
        (100, 240),
        (100, 180),
    ):
        prior = delivered
        for part in range(1, 11):
            delivered = prior + packets * part // 10
            acked = delivered - prior - packets * (part - 1) // 10
            sample = SimpleNamespace(
                delivered=delivered, prior=prior, us=100_000, prior_in_flight=in_flight
            )
            flow.ack(100_000, after=10_000, acked=acked, in_flight=in_flight, sample=sample)
    return flow


def bbr():
    """BBR v1."""
    return table([start("bbr", Startup(10))])


def bbr3():
    """BBRv3."""
    return table([start("bbr3", Startup3(10))])
