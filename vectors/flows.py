"""The schema of senders' vectors: what a law is told, event by event, and what it answers.

README.md says what each column is.
"""

from types import SimpleNamespace

COLUMNS = (
    "run,event,law,parameters,packet_bytes,time_us,newly_acked,in_flight,rtt_us,smoothed_rtt_us,min_rtt_us,"
    "feedback,feedback_value,feedback_detail,recovering,app_limited,delivered,prior_delivered,sample_us,"
    "sample_app_limited,newly_lost,lost,prior_in_flight,window_packets,pacing_bps,tolerance"
).split(",")

SUMS = 1e-4
"""Tolerance of laws that add, multiply and divide."""
FUNCTIONS = 1e-3
"""Tolerance of laws with powers, logarithms or roots."""


class Flow:
    """A run of one law: its rows.

    The model has `on_ack`, `on_loss` and `on_timeout`; it answers with its `window` in packets and,
    if it paces, with its `pacing` in bit/s. Times are microseconds.
    """

    def __init__(self, run, law, model, tolerance, packet_bytes=1000, **parameters):
        self.run, self.model, self.tolerance, self.time, self.least = run, model, tolerance, 0, None
        texts = (
            f"{name}={str(value).lower() if isinstance(value, bool) else value}"
            for name, value in parameters.items()
        )
        self.rows = []
        self.row(
            "start",
            law=law,
            parameters=" ".join(texts),
            packet_bytes=packet_bytes,
            window_packets=model.window,
        )

    def row(self, event, **fields):
        fields.setdefault("window_packets", float(self.model.window))
        fields.setdefault("pacing_bps", getattr(self.model, "pacing", None))
        known = {"run": self.run, "event": event, "tolerance": self.tolerance, **fields}
        self.rows.append(["" if known.get(name) is None else known[name] for name in COLUMNS])

    def ack(
        self,
        rtt,
        after=0,
        at=None,
        acked=1,
        in_flight=None,
        smoothed=None,
        feedback=(),
        recovering=0,
        limited=0,
        sample=None,
    ):
        """An ACK at an instant, or a time after the last event.

        Unless `in_flight` is given, all of the window was in flight before it.
        """
        self.time = self.time + after if at is None else at
        self.least = rtt if self.least is None else min(self.least, rtt)
        in_flight = max(int(self.model.window) - acked, 0) if in_flight is None else in_flight
        kind, value, detail = (*feedback, None, None, None)[:3]
        smoothed = rtt if smoothed is None else smoothed
        self.model.on_ack(
            SimpleNamespace(
                s=self.time / 1e6,
                us=self.time,
                acked=acked,
                in_flight=in_flight,
                rtt=rtt / 1e6,
                smoothed=smoothed / 1e6,
                smoothed_us=smoothed,
                least=self.least / 1e6,
                kind=kind,
                value=value,
                detail=detail,
                held=bool(recovering or limited),
                recovering=bool(recovering),
                limited=bool(limited),
                sample=sample,
            )
        )
        fields = {}
        if sample is not None:
            fields = {
                "delivered": sample.delivered,
                "prior_delivered": sample.prior,
                "sample_us": sample.us,
                "sample_app_limited": 0,
                "newly_lost": 0,
                "lost": 0,
                "prior_in_flight": sample.prior_in_flight,
            }
        self.row(
            "ack",
            time_us=self.time,
            newly_acked=acked,
            in_flight=in_flight,
            rtt_us=rtt,
            smoothed_rtt_us=smoothed,
            min_rtt_us=self.least,
            feedback=kind,
            feedback_value=value,
            feedback_detail=detail,
            recovering=recovering,
            app_limited=limited,
            **fields,
        )

    def round(self, rtt, **fields):
        """An ACK for each packet of the window, evenly spaced."""
        packets = int(self.model.window)
        for _ in range(packets):
            self.ack(rtt, after=rtt // packets, **fields)

    def congestion(self, event, in_flight=None, after=0):
        """A `loss`, a `mark` or a `timeout`. Without a number, all of the window was in flight."""
        self.time += after
        in_flight = int(self.model.window) if in_flight is None else in_flight
        told = SimpleNamespace(
            s=self.time / 1e6, us=self.time, in_flight=in_flight, is_mark=event == "mark"
        )
        (self.model.on_timeout if event == "timeout" else self.model.on_loss)(told)
        self.row(event, time_us=self.time, in_flight=in_flight)

    def acks(self, acks, **fields):
        """ACKs of (instant, RTT, feedback), times in ms, with one packet left in flight."""
        for time, rtt, feedback in acks:
            self.ack(1000 * rtt, at=1000 * time, in_flight=1, feedback=feedback, **fields)
        return self


def table(flows):
    """The rows of these flows."""
    yield COLUMNS
    for flow in flows:
        yield from flow.rows
