"""The figures by which schemes are compared on any topology, a row a protocol and seed.

Links: means over the bottlenecks, which are the main links that the max-min fair shares fill (all
main links if they fill none). Flows: the lasting ones against their fair shares, the others by how
long they take.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import polars as pl

from knee.analysis.fairness import as_frame, fair_shares
from knee.analysis.samples import jain_index, samples
from knee.analysis.seeds import Spread
from knee.columns import TABLES, Run
from knee.quantity import seconds
from knee.scenario import Scenario

KEYS = ("scenario", "protocol")
OF_LINKS = ("utilisation", "queue_mean_packets", "queue_mean_percent", "drop_rate")
OF_FLOWS = ("fairness_max_min", "fairness_proportional", "convergence_s", "afct_s")
FIGURES = (*OF_LINKS, *OF_FLOWS)
"""Columns of figures, after scenario, protocol and seed."""

NEAR = 0.2
"""Rates have converged when each is as near, relative, to where it ends up."""
AVERAGE = 2.0
"""Seconds over which a rate is averaged for that."""
END = 0.25
"""Part of the time after the last start whose mean rates are where flows end up."""


@dataclass(frozen=True, slots=True)
class Folded:
    """A figure over seeds.

    Attributes:
        spread: Of the seeds whose figure is finite.
        finite: How many they are.
        measured: How many have the figure at all; what never converges is infinite.
    """

    spread: Spread
    finite: int
    measured: int


def figures(run: Run) -> pl.DataFrame:
    """The figures of a run: scenario, protocol, seed and `FIGURES`.

    `fairness_max_min` is Jain's index of the lasting flows' goodput, each over its max-min fair
    share [Jain, Chiu, Hawe, 1984]; `fairness_proportional` the same with the proportionally fair
    ones. `convergence_s` is the time from the last lasting flow's start until every rate stays near
    where it ends up (`NEAR`, `AVERAGE`, `END`), infinite if they do not before the part that says
    where that is.
    `afct_s` is the mean completion time of the flows that began after the warm-up and were done.
    What a run does not have is null.
    """
    shares = _fair_shares(run)
    warmup = seconds(run.settings["warmup"])
    rows = []
    for (protocol, seed), summary in run.summary.group_by(
        ["protocol", "seed"], maintain_order=True
    ):
        of_run = pl.col("seed") == seed, pl.col("protocol").cast(pl.String) == str(protocol)
        fair = shares.filter(pl.col("protocol") == str(protocol))
        flows = run.flows.filter(*of_run)
        lasting = _lasting(flows, fair)
        rates = _rates_alone(run, of_run, lasting)
        rows.append(
            {"scenario": run.name, "protocol": str(protocol), "seed": seed}
            | _of_links(summary, fair, run.main_links)
            | {
                "fairness_max_min": _fairness(lasting, "max_min_mbps"),
                "fairness_proportional": _fairness(lasting, "proportional_mbps"),
                "convergence_s": _convergence(rates, lasting),
                "afct_s": _afct(flows, lasting, warmup),
            }
        )
    schema = {"scenario": pl.String, "protocol": pl.String, "seed": pl.UInt64}
    return pl.DataFrame(rows, schema=schema | dict.fromkeys(FIGURES, pl.Float64))


def fold(frame: pl.DataFrame) -> list[dict[str, str | Folded]]:
    """A dict a scenario and protocol, in order: their names, and each figure over the seeds.

    A seed without a figure, or whose rates never converge, is left out of mean and deviation.
    """
    rows: list[dict[str, str | Folded]] = []
    for keys, part in frame.group_by(KEYS, maintain_order=True):
        row: dict[str, str | Folded] = dict(zip(KEYS, map(str, keys), strict=True))
        for figure in FIGURES:
            measured = part[figure].drop_nulls().to_numpy()
            values = measured[np.isfinite(measured)]
            mean = float(values.mean()) if values.size else math.nan
            deviation = float(values.std(ddof=1)) if values.size > 1 else math.nan
            row[figure] = Folded(Spread(mean, deviation), values.size, measured.size)
        rows.append(row)
    return rows


def _fair_shares(run: Run) -> pl.DataFrame:
    """The fair shares of the scenario as run; none where there is nothing to share."""
    try:
        return fair_shares(Scenario(run.scenario_toml, run.name))
    except ValueError:
        return as_frame([])


def _rates_alone(run: Run, of_run: tuple[pl.Expr, ...], lasting: pl.DataFrame) -> Run:
    """The same run with one protocol and seed, its samples being the lasting flows' throughput."""
    of_flows = pl.col("entity").cast(pl.String).is_in(lasting["flow"].to_list())
    series = run.series().filter(*of_run, pl.col("quantity") == "throughput", of_flows)
    frames = {
        "summary": run.summary.filter(*of_run),
        "flows": run.flows,
        "series": series,
        "stations": run.stations,
    }
    return Run({table: frames[table] for table in TABLES}, run.scenario_toml)


def _of_links(
    summary: pl.DataFrame, fair: pl.DataFrame, main_links: list[str]
) -> dict[str, float | None]:
    filled = set(fair["bottlenecks"].explode().drop_nulls().to_list())
    wanted = [link for link in main_links if link in filled] or main_links
    rows = summary.filter(pl.col("link").cast(pl.String).is_in(wanted))
    return {figure: rows[figure].cast(pl.Float64).mean() for figure in OF_LINKS}  # type: ignore[misc]


def _lasting(flows: pl.DataFrame, fair: pl.DataFrame) -> pl.DataFrame:
    """The lasting flows, their fair shares beside them."""
    named = flows.with_columns(pl.col("flow").cast(pl.String))
    return named.join(fair.drop("protocol", "group"), on="flow", maintain_order="left")


def _fairness(lasting: pl.DataFrame, share: str) -> float | None:
    index = jain_index((lasting["goodput_mbps"] / lasting[share]).fill_null(0.0).to_numpy())
    return index if math.isfinite(index) else None


def _convergence(run: Run, lasting: pl.DataFrame) -> float | None:
    """Seconds until the rates stay near where they end up."""
    if lasting.is_empty():
        return None
    after = float(lasting["start_s"].to_numpy().max())
    times, rates = samples(run, "throughput", "*", after)
    if times.size < 2 or rates.shape[1] < lasting.height:
        return None
    rates = np.nan_to_num(rates)
    ending = times[-1] - END * (times[-1] - after)
    last = rates[times >= ending].mean(axis=0)
    width = min(times.size, max(1, round(AVERAGE / float(times[1] - times[0]))))
    sums = np.cumsum(np.vstack([np.zeros(rates.shape[1]), rates]), axis=0)
    means = (sums[width:] - sums[:-width]) / width
    off = means / np.maximum(last, 1e-3 * last.mean()) - 1.0
    away = np.nonzero(np.abs(off).max(axis=1) > NEAR)[0]
    first = int(away[-1]) + 1 if away.size else 0
    reached = times[width - 1 :][first:]
    return float(reached[0] - after) if reached.size and reached[0] <= ending else math.inf


def _afct(flows: pl.DataFrame, lasting: pl.DataFrame, warmup: float) -> float | None:
    short = flows.filter(
        ~pl.col("flow").cast(pl.String).is_in(lasting["flow"].to_list()),
        pl.col("start_s") >= warmup,
    )
    times = short["completion_s"].cast(pl.Float64).drop_nulls().drop_nans()
    return float(times.mean()) if times.len() else None  # type: ignore[arg-type]
