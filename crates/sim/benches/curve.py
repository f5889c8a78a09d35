"""Draws how the cost of a packet grows with flows and capacity: results/bench.json to a picture.

`curve.py BENCH_JSON PICTURE`, after `make bench`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import matplotlib.pyplot as plt


def points(rows: list[dict[str, float | str]], unit: str) -> tuple[list[float], list[float]]:
    """Pick the workloads named "N unit, ..." and return N and nanoseconds a packet and link."""
    chosen = [row for row in rows if str(row["workload"]).split(",")[0].endswith(unit)]
    numbers = [float(str(row["workload"]).split()[0]) for row in chosen]
    return numbers, [float(row["nanoseconds_per_packet_and_link"]) for row in chosen]


def main() -> None:
    """Read, draw, write."""
    source, picture = map(Path, sys.argv[1:3])
    rows = json.loads(source.read_text())
    figure, axes = plt.subplots(1, 2, figsize=(8, 3), sharey=True, layout="constrained")
    for axis, unit, label in zip(
        axes, ("flows", "Mbps"), ("flows, at 150 Mbps", "capacity in Mbps, 30 flows"), strict=True
    ):
        axis.plot(*points(rows, unit), "o-", color="#0072B2")
        axis.set(xscale="log", xlabel=label, ylim=(0, None))
        axis.grid(color="0.9")
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("ns of CPU time\na packet and link")
    figure.savefig(picture, dpi=150)


if __name__ == "__main__":
    main()
