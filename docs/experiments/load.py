"""Tables "Measured" of the pages of MLCP and BMCC, and BMCC beside SACK over other routers.

python docs/experiments/load.py
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

import knee
from knee.columns import Run

FLOWS = "dumbbell.flows"
RATE = "bottleneck.rate"
RTT = "dumbbell.rtt"
MEASURED: dict[str, list[tuple[str, dict[str, str]]]] = {
    law: [
        ("100 kbps", {RATE: "100 kbps"}),
        ("1 Mbps", {RATE: "1 Mbps"}),
        ("10 Mbps", {RATE: "10 Mbps"}),
        (rate, {}),
        ("1 Gbps (30 s)", {RATE: "1 Gbps", "duration": "30 s"}),
        (f"{rate}, 1 ms", {RTT: "1 ms"}),
        *((f"{rate}, {rtt}", {RTT: rtt}) for rtt in ("500 ms", "1 s")),
        (f"{rate}, 1 flow (40 s)", {FLOWS: "1", "duration": "40 s"}),
        (f"{rate}, 1000 flows (40 s)", {FLOWS: "1000", "duration": "40 s"}),
    ]
    for law, rate in (("mlcp", "200 Mbps"), ("bmcc", "155 Mbps"))
}
CUTS: dict[str, Any] = {"law": "bmcc", "marked_cuts": True}
FALLBACK: dict[str, Any] = {"law": "bmcc", "fallback": True}
SILENT = {"flows.tcp.transport": "{ ecn = false }"}
DEPLOYED: list[tuple[str, str, dict[str, Any], dict[str, str]]] = [
    ("2 BMCC over `bmcc`", "pair", {"sender": "bmcc", "router": "bmcc"}, {}),
    ("2 BMCC over `droptail`", "pair", {"sender": "bmcc", "router": "droptail"}, {}),
    ("2 BMCC over `red`", "pair", {"sender": "bmcc", "router": "red"}, {}),
    ("3 BMCC, 3 SACK over `droptail`", "mix", {"sender": "bmcc", "router": "droptail"}, {}),
    ("3 BMCC, 3 SACK with ECN over `red`", "mix", {"sender": "bmcc", "router": "red"}, {}),
    (
        "3 BMCC, 3 SACK without ECN over `bmcc`",
        "mix",
        {"sender": "bmcc", "router": "bmcc"},
        SILENT,
    ),
    ("3 BMCC, 3 SACK with ECN over `bmcc`", "mix", {"sender": "bmcc", "router": "bmcc"}, {}),
    (
        "3 BMCC with `marked_cuts`, 3 SACK with ECN over `bmcc-ared`",
        "mix",
        {"sender": CUTS, "router": "bmcc-ared"},
        {},
    ),
    (
        "the same with `fallback` too",
        "mix",
        {"sender": CUTS | FALLBACK, "router": "bmcc-ared"},
        {},
    ),
    (
        "2 BMCC with `fallback` over `droptail`",
        "pair",
        {"sender": FALLBACK, "router": "droptail"},
        {},
    ),
    ("2 BMCC with `fallback` over `red`", "pair", {"sender": FALLBACK, "router": "red"}, {}),
    (
        "3 BMCC with `fallback`, 3 SACK over `droptail`",
        "mix",
        {"sender": FALLBACK, "router": "droptail"},
        {},
    ),
]


def row(cells: Sequence[str]) -> None:
    """Print a row of a table."""
    print("| " + " | ".join(cells) + " |", flush=True)


def run(name: str, variant: Mapping[str, Any], seeds: int, settings: Mapping[str, Any]) -> Run:
    """Run a shipped scenario with one variant."""
    given = knee.Scenario.read(f"scenarios/{name}.toml").variants(variant)
    return knee.run(given.replace(seeds=seeds, set=dict(settings)))


def mean(column: pl.Series) -> float:
    """The mean of a column, without what is missing."""
    return float(np.mean(column.drop_nulls().to_numpy()))


def forward(result: Run, column: str) -> float:
    """The mean of a column of the bottleneck over the seeds."""
    rows = result.summary.filter(pl.col("link").cast(pl.String) == "bottleneck")
    return mean(rows[column])


def measured(law: str) -> None:
    """Utilisation, queue, drops and Jain index over capacity, RTT and number of flows."""
    for tag, settings in MEASURED[law]:
        result = run(f"{law}-base", {"protocol": law}, 2, settings)
        row(
            [
                tag,
                f"{forward(result, 'utilisation'):.2f}",
                f"{forward(result, 'queue_mean_percent'):.2g}",
                f"{forward(result, 'drop_rate'):.0e}",
                "" if settings.get(FLOWS) == "1" else f"{forward(result, 'jain'):.2f}",
            ]
        )


def deployed() -> None:
    """Goodput a flow of BMCC and of SACK, and drops, at 40 and at 300 ms."""
    for tag, kind, variant, settings in DEPLOYED:
        name = "bmcc-deployment" if kind == "pair" else "bmcc-mix"
        cells = [tag]
        for rtt in ("40 ms", "300 ms"):
            result = run(
                name, variant | {"mismatch": "allow"}, 3, {RTT: rtt, "warmup": "20 s", **settings}
            )
            rates = {
                group: mean(part["goodput_mbps"])
                for (group,), part in result.flows.group_by(pl.col("group").cast(pl.String))
            }
            sack = f"{rates['tcp']:.1f}" if kind == "mix" else ""
            cells += [f"{rates['forward']:.1f}", sack, f"{forward(result, 'drop_rate'):.1g}"]
        row(cells)


if __name__ == "__main__":
    for each in MEASURED:
        print(f"\n{each}")
        measured(each)
    print("\nbmcc beside SACK")
    deployed()
