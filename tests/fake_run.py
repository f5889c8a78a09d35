"""A made-up run, for pictures and tables without a simulator."""

from __future__ import annotations

import numpy as np
import polars as pl

from knee.results import Results

PROTOCOLS = {"vcp": 0.02, "xcp": 0.01, "sack/red": 0.2, "cubic": 0.8}
BUFFER = 1500.0


def fake_run(flows: int = 30, seeds: int = 3, duration: float = 60.0) -> Results:
    """Columns as the simulator writes them, of `flows` flows a protocol."""
    rng = np.random.default_rng(1)
    summary, rows, series = [], [], []
    times = np.arange(0.1, duration, 0.1)
    for protocol, fill in PROTOCOLS.items():
        for seed in range(1, seeds + 1):
            queue = BUFFER * fill * (1 + 0.3 * np.sin(times / 3 + seed)) * rng.uniform(0.8, 1.0)
            summary.append(
                {
                    "protocol": protocol, "seed": seed, "link": "bottleneck",
                    "utilisation": 0.99 - 0.01 * rng.random(),
                    "queue_mean_packets": queue.mean(),
                    "queue_mean_percent": 100 * queue.mean() / BUFFER,
                    "queue_p90_packets": np.quantile(queue, 0.9),
                    "queue_p90_percent": 100 * np.quantile(queue, 0.9) / BUFFER,
                    "queue_max_packets": queue.max(),
                    "queue_max_percent": 100 * queue.max() / BUFFER,
                    "drop_rate": 0.001 * fill, "mark_rate": 0.0, "lost": 0, "jain": 0.98,
                    "goodput_mbps": 145.0, "rtt_mean_ms": 80 + 8 * fill,
                    "data_packets": 1_100_000, "packets": 7_000_000, "events": 20_000_000,
                    "cpu_seconds": 0.5 + 0.1 * rng.random(),
                }
            )  # fmt: skip
            for flow in range(flows):
                rows.append(
                    {"protocol": protocol, "seed": seed, "flow": flow, "group": "forward",
                     "start_s": 0.1, "stop_s": float("nan"), "goodput_mbps": 5.0,
                     "data_packets": 36000, "retransmissions": 3, "timeouts": 0,
                     "rtt_mean_ms": 84.0, "completion_s": float("nan")}
                )  # fmt: skip
            used = np.minimum(1, 0.97 + 0.02 * rng.standard_normal(times.size))
            quantities = {("utilisation", "bottleneck"): used, ("queue", "bottleneck"): queue}
            for flow in range(flows):
                wave = 50 * (1 + 0.3 * np.sin(times / (2 + 5 * fill) + rng.uniform(0, 6)))
                quantities["window", str(flow)] = wave
                quantities["throughput", str(flow)] = wave / 10 + 0.2 * rng.standard_normal(
                    times.size
                )
            for (quantity, entity), values in quantities.items():
                series.append(
                    pl.DataFrame({"time_s": times, "value": values}).select(
                        pl.lit(protocol).alias("protocol"), pl.lit(seed).alias("seed"), "time_s",
                        pl.lit(quantity).alias("quantity"), pl.lit(entity).alias("entity"), "value",
                    )
                )  # fmt: skip
    toml = 'name = "fake"\nduration = "60 s"\nwarmup = "12 s"\n\n[dumbbell]\nflows = 30\n'
    tables = {
        "summary": pl.DataFrame(summary),
        "flows": pl.DataFrame(rows),
        "series": pl.concat(series),
    }
    return Results(tables, toml)
