"""Mean and spread of a run's figures over its seeds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

KEYS = ("protocol", "link")
FIGURES = (
    "utilisation",
    "queue_mean_packets",
    "queue_mean_percent",
    "queue_p90_packets",
    "queue_p90_percent",
    "queue_max_packets",
    "queue_max_percent",
    "drop_rate",
    "mark_rate",
    "lost",
    "jain",
    "goodput_mbps",
    "rtt_mean_ms",
    "packets_per_cpu_second",
)


@dataclass(frozen=True, slots=True)
class Spread:
    """Mean and sample standard deviation (divisor n - 1) of a figure over the seeds.

    Both carry the figure's unit. `deviation` is NaN for a single seed; `mean` is NaN if a seed
    has no value.
    """

    mean: float
    deviation: float


def spread(summary: pl.DataFrame) -> list[dict[str, str | Spread]]:
    """Fold the seeds of a summary.

    Args:
        summary: A row a protocol, seed and link, as `Run.summary` has it.

    Returns:
        A dict a protocol and link, in the summary's order: `protocol`, `link`, and a `Spread`
        for each figure; `packets_per_cpu_second` is data packets of the link a CPU second.
    """
    import polars as pl

    speed = (pl.col("data_packets") / pl.col("cpu_seconds")).alias("packets_per_cpu_second")
    means = [pl.col(figure).cast(pl.Float64).mean().alias(f"{figure}:mean") for figure in FIGURES]
    deviations = [
        pl.col(figure).cast(pl.Float64).std(ddof=1).alias(f"{figure}:std") for figure in FIGURES
    ]
    folded = (
        summary.with_columns(speed)
        .group_by(KEYS, maintain_order=True)
        .agg(*means, *deviations)
        .to_dicts()
    )
    return [
        {key: row[key] for key in KEYS}
        | {
            figure: Spread(_number(row[f"{figure}:mean"]), _number(row[f"{figure}:std"]))
            for figure in FIGURES
        }
        for row in folded
    ]


def _number(value: float | None) -> float:
    return math.nan if value is None else value
