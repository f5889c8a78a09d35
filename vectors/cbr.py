"""Constant bit rate: a flow that answers to nothing."""

from flows import COLUMNS, SUMS, Flow, table


class Constant:
    """A rate in bit/s, and a window that never limits it."""

    window = 1e9

    def __init__(self, rate):
        self.pacing = rate

    def on_ack(self, ack):
        pass

    def on_loss(self, told):
        pass

    def on_timeout(self, told):
        pass


def cbr():
    """ACKs, marks, losses and timeouts change nothing, whatever the initial window and the rate."""
    flows = []
    for name, initial, parameters in (("usual", 2.0, {}), ("fast", 50.0, {"rate": 150e6})):
        flow = Flow(name, "cbr", Constant(parameters.get("rate", 1e6)), SUMS, **parameters)
        for column, value in (("window_packets", initial), ("pacing_bps", "")):
            flow.rows[0][COLUMNS.index(column)] = value
        flow.acks((100 * i, 80 + i, ()) for i in range(5))
        for event in ("mark", "loss", "timeout"):
            flow.congestion(event, in_flight=9, after=50_000)
            flow.ack(80_000, after=50_000, in_flight=8)
        flows.append(flow)
    return table(flows)
