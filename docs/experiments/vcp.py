"""The measurements of docs/laws/vcp.md and vcp-e2e.md: `python docs/experiments/vcp.py [NAME ..]`.

Prints the rows of the pages' tables. All of them take some ten minutes on two cores.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence

import polars as pl

import knee

LINK = pl.col("link") == "bottleneck"
PACED = {"transport": {"pacing": True}}
VARIANTS: Sequence[Mapping[str, object]] = (
    {"name": "vcp", "protocol": "vcp"},
    {"name": "vcp, paced", "protocol": "vcp", **PACED},
    {"name": "vcp-500ms", "protocol": "vcp-500ms"},
    {"name": "vcp-500ms, paced", "protocol": "vcp-500ms", **PACED},
    {"name": "vcp-authors", "protocol": "vcp-authors"},
)
FRIENDLY = """
duration = "120 s"
seeds = 3
probes = "none"
[dumbbell]
rtt = "80 ms"
flows = 10
[bottleneck]
rate = "{rate}"
[[flows]]
name = "tcp"
count = 10
path = "forward"
rtt = "80 ms"
sender = "sack"
[[variant]]
name = "friendly"
protocol = "vcp-friendly"
[[variant]]
name = "friendly, AI scaled by (8)"
protocol = "vcp-friendly"
sender = {{ ai_scaling = "rate" }}
[[variant]]
name = "TCP in its place"
protocol = "sack/vcp-friendly"
"""


OPTIONS = """
duration = "200 s"
warmup = "80 s"
seeds = 3
probes = "none"
protocol = "vcp"
sender = {{ ai_scaling = "{scaling}" }}
[dumbbell]
rtt = "{rtt}"
flows = 5
[bottleneck]
rate = "20 Mbps"
[[flows]]
name = "other"
count = 5
path = "forward"
rtt = "{other}"
sender = {{ weight = {weight}, ai_scaling = "{scaling}" }}
"""


BESIDE = """
duration = "{duration}"
warmup = "{warmup}"
seeds = 3
probes = "none"
protocol = "{law}"
[dumbbell]
rtt = "80 ms"
flows = {count}
[bottleneck]
rate = "20 Mbps"
[[flows]]
name = "other"
count = {count}
path = "forward"
rtt = "80 ms"
{more}
"""


def show(at: object, frame: pl.DataFrame) -> None:
    """Print rows with the digits that mean something."""
    for row in frame.iter_rows():
        cells = (f"{cell:.4g}" if isinstance(cell, float) else str(cell) for cell in row)
        print(at, *cells, sep=" | ", flush=True)


def long_rtts() -> None:
    """30 flows of one RTT, for RTTs of 80 ms to 1.5 s."""
    for rtt in (80, 400, 800, 1200, 1500):
        run = knee.run(
            knee.dumbbell(
                rate="150 Mbps",
                rtt=1e-3 * rtt,
                flows=30,
                duration="200 s",
                warmup="80 s",
                seeds=3,
                probes="none",
            ).variants(*VARIANTS)
        )
        rows = run.summary.filter(LINK).group_by("protocol", maintain_order=True)
        show(rtt, rows.agg(pl.col("utilisation", "queue_mean_percent", "drop_rate", "jain").mean()))


def startup() -> None:
    """When the link first carries three quarters of its capacity."""
    for mbps in (10, 100, 1000, 10000):
        run = knee.run(
            knee.dumbbell(
                rate=1e6 * mbps,
                rtt="80 ms",
                flows=30,
                duration="45 s",
                warmup="0 s",
                start="0 s",
                probe=[{"quantity": "utilisation", "interval": "200 ms"}],
            ).variants(*VARIANTS)
        )
        series = run.series("utilisation").filter(pl.col("entity") == "bottleneck")
        filled = series.filter(pl.col("value") >= 0.75).group_by("protocol", maintain_order=True)
        show(mbps, filled.agg(pl.col("time_s").min()))


def bottlenecks() -> None:
    """Seven links: 30 long flows each way, 5 cross flows on each link [IV-C]."""
    run = knee.run(
        knee.parking_lot(
            rate="150 Mbps",
            links=7,
            rtt="80 ms",
            flows=30,
            reverse=30,
            cross=5,
            duration="120 s",
            warmup="40 s",
            seeds=2,
            probes="none",
        ).variants(*VARIANTS, "xcp")
    )
    crosses = pl.col("group").str.starts_with("cross")
    kind = pl.when(crosses).then(pl.lit("cross")).otherwise(pl.col("group"))
    flows = run.flows.with_columns(kind=kind).group_by("protocol", "kind", maintain_order=True)
    show("Mbps a flow", flows.agg(pl.col("goodput_mbps").mean()))


def slow_links() -> None:
    """30 flows each way over 500 kbps: the text's AI against the authors' bound."""
    bound = {"name": "vcp, AI bounded by S2", "protocol": "vcp", "sender": {"ai_limit": "table"}}
    run = knee.run(
        knee.dumbbell(
            rate="500 kbps",
            rtt="80 ms",
            flows=30,
            reverse=30,
            duration="120 s",
            seeds=3,
            probes="none",
        ).variants("vcp", bound, "vcp-authors")
    )
    rows = run.summary.filter(LINK).group_by("protocol", maintain_order=True)
    show("0.5", rows.agg(pl.col("utilisation", "queue_mean_packets", "drop_rate", "jain").mean()))


def friendly() -> None:
    """Ten TCP flows beside ten friendly VCP flows, and beside ten more of TCP [VI-C]."""
    for rate in ("20 Mbps", "50 Mbps"):
        run = knee.run(knee.Scenario(FRIENDLY.format(rate=rate), "friendly"))
        flows = run.flows.group_by("protocol", "group", maintain_order=True)
        show(rate, flows.agg(pl.col("goodput_mbps").mean()))
        rows = run.summary.filter(LINK).group_by("protocol", maintain_order=True)
        show(rate, rows.agg(pl.col("utilisation", "queue_mean_packets", "mark_rate").mean()))


def options() -> None:
    """(14); flows of weight 1 and 3; (8) and (7) with RTTs of 40 and 160 ms."""
    rules = [
        {"name": rule, "protocol": "vcp", "router": {"gamma_rule": rule}}
        for rule in ("fixed", "utilisation")
    ]
    run = knee.run(
        knee.dumbbell(
            rate="150 Mbps",
            rtt="80 ms",
            flows=30,
            reverse=30,
            duration="120 s",
            warmup="60 s",
            seeds=3,
            probes="none",
        ).variants(*rules)
    )
    rows = run.summary.filter(LINK).group_by("protocol", maintain_order=True)
    show("gamma", rows.agg(pl.col("utilisation", "queue_mean_packets").mean()))
    for weight, rtt, scaling in (
        (3, "80 ms", "rate"),
        (1, "160 ms", "rate"),
        (1, "160 ms", "window"),
    ):
        text = OPTIONS.format(
            rtt="80 ms" if weight > 1 else "40 ms", weight=weight, other=rtt, scaling=scaling
        )
        flows = knee.run(knee.Scenario(text, "options")).flows
        rows = flows.group_by("group", maintain_order=True)
        show((weight, rtt, scaling), rows.agg(pl.col("goodput_mbps").mean()))


def end_to_end() -> None:
    """The quickstart's dumbbell without routers' help."""
    run = knee.run(
        knee.dumbbell(
            rate="150 Mbps",
            rtt="80 ms",
            flows=30,
            reverse=30,
            seeds=3,
            probes="none",
        ).variants("vcp", "vcp-e2e", "cubic", "bbr")
    )
    rows = run.summary.filter(LINK).group_by("protocol", maintain_order=True)
    columns = ("utilisation", "queue_mean_packets", "queue_p90_packets", "drop_rate", "jain")
    show("", rows.agg(pl.col(*columns, "rtt_mean_ms").mean()))


def end_to_end_beside() -> None:
    """The same beside SACK, and a flow that comes 100 s after another."""
    for law in ("vcp-e2e", "cubic"):
        for count, duration, warmup, more in (
            (10, "120 s", "24 s", 'sender = "sack"'),
            (1, "240 s", "160 s", 'start = "100 s"'),
        ):
            text = BESIDE.format(law=law, count=count, duration=duration, warmup=warmup, more=more)
            flows = knee.run(knee.Scenario(text, "beside")).flows
            rows = flows.group_by("group", maintain_order=True)
            show((law, more), rows.agg(pl.col("goodput_mbps").mean()))


EXPERIMENTS: Sequence[Callable[[], None]] = (
    long_rtts,
    startup,
    bottlenecks,
    slow_links,
    friendly,
    options,
    end_to_end,
    end_to_end_beside,
)

if __name__ == "__main__":
    chosen = sys.argv[1:]
    for experiment in EXPERIMENTS:
        if not chosen or experiment.__name__ in chosen:
            print(f"\n{experiment.__name__}: {experiment.__doc__}")
            experiment()
