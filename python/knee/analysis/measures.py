"""Measures: what a claim may ask of a run, a number from one variant with one seed.

A measure is a function of a `Run` and of arguments that a ledger file may give. A figure that a run
does not have is NaN, never an exception.
"""

from __future__ import annotations

import fnmatch
import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl

from knee.analysis.dynamics import DYNAMICS
from knee.analysis.samples import first_time, flow_column, jain_index, samples, slope

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from knee.columns import Run

Over = Literal["mean", "max", "min"]

_FOLDS: Mapping[str, Callable[[NDArray[np.float64]], float]] = {
    "mean": lambda values: float(np.mean(values)),
    "max": lambda values: float(np.max(values)),
    "min": lambda values: float(np.min(values)),
    "sum": lambda values: float(np.sum(values)),
}


def link(run: Run, column: str, *, links: str | None = None, over: Over = "mean") -> float:
    """A column of the summary over links.

    Args:
        run: The run.
        column: Of the summary, such as "utilisation".
        links: A pattern of names; by default the main links, which forward data crosses.
        over: How several links become one figure.
    """
    summary = run.summary
    names = summary["link"].cast(pl.String).to_list()
    wanted = [name for name in run.main_links if links is None] or fnmatch.filter(
        names, links or "*"
    )
    values = [
        math.nan if value is None else float(value)
        for name, value in zip(names, summary[column].to_list(), strict=True)
        if name in wanted
    ]
    return _FOLDS[over](np.array(values)) if values else math.nan


def goodput(
    run: Run, *, group: str = "*", over: Over | Literal["sum"] = "mean", scale: float = 1.0
) -> float:
    """Goodput in Mbps per flow, or summed, of the groups that match, times `scale`."""
    values = flow_column(run, "goodput_mbps", group)
    return scale * _FOLDS[over](values) if values.size else math.nan


def goodput_ratio(run: Run, *, group: str, to: str) -> float:
    """Mean goodput per flow of one group over that of another."""
    other = goodput(run, group=to)
    return goodput(run, group=group) / other if other > 0.0 else math.nan


def jain(run: Run, *, group: str = "forward") -> float:
    """Jain index of the flows' goodput in the groups that match the pattern."""
    return jain_index(flow_column(run, "goodput_mbps", group))


def goodput_exponent(run: Run, *, group: str = "forward") -> float:
    """Exponent z of goodput ~ RTT^z over the flows of a group, by least squares in logarithms."""
    rate, rtt = flow_column(run, "goodput_mbps", group), flow_column(run, "rtt_mean_ms", group)
    there = (rate > 0.0) & (rtt > 0.0)
    return slope(np.log(rtt[there]), np.log(rate[there]))


def retransmissions(run: Run, *, group: str = "*") -> float:
    """Retransmissions over data packets of a group."""
    sent = flow_column(run, "data_packets", group).sum()
    return float(flow_column(run, "retransmissions", group).sum() / sent) if sent > 0 else math.nan


def completion(run: Run, *, group: str = "*", over: Over = "mean") -> float:
    """Flow completion time in seconds over the completed flows of a group."""
    values = flow_column(run, "completion_s", group)
    values = values[np.isfinite(values)]
    return _FOLDS[over](values) if values.size else math.nan


def sampled(
    run: Run,
    quantity: str,
    *,
    entity: str = "*",
    start: float = 0.0,
    end: float = math.inf,
    over: Over = "mean",
    scale: float = 1.0,
) -> float:
    """Samples of a probe in [start, end] seconds, over time and entities, times `scale`."""
    _, values = samples(run, quantity, entity, start, end)
    values = values[np.isfinite(values)]
    return scale * _FOLDS[over](values) if values.size else math.nan


def sampled_ratio(
    run: Run, quantity: str, *, entity: str, to: str, start: float = 0.0, end: float = math.inf
) -> float:
    """Mean of a probe of some entities over that of others, in [start, end] seconds."""
    other = sampled(run, quantity, entity=to, start=start, end=end)
    return (
        sampled(run, quantity, entity=entity, start=start, end=end) / other if other else math.nan
    )


def estimate_error(
    run: Run, *, entity: str = "*", start: float = 0.0, end: float = math.inf, over: Over = "mean"
) -> float:
    """How far links' estimates of their capacity lie from the capacity in [start, end] seconds.

    |estimate - c| / c, of all samples of "capacity"; c is the mean of "available_capacity" of the
    link over the same time.
    """
    _, told = samples(run, "capacity", entity, start, end)
    _, there = samples(run, "available_capacity", entity, start, end)
    if not told.size or told.shape != there.shape:
        return math.nan
    capacity = np.nanmean(there, axis=0)
    errors = np.abs(told - capacity) / capacity
    errors = errors[np.isfinite(errors)]
    return _FOLDS[over](errors) if errors.size else math.nan


def time_within(
    run: Run,
    quantity: str,
    *,
    low: float,
    high: float,
    entity: str = "*",
    start: float = 0.0,
    end: float = math.inf,
) -> float:
    """Share of a probe's samples in [start, end] seconds, of all entities, within [low, high]."""
    _, values = samples(run, quantity, entity, start, end)
    values = values[np.isfinite(values)]
    return float(np.mean((values >= low) & (values <= high))) if values.size else math.nan


def elephants(run: Run, *, group: str = "*", least: float) -> float:
    """Jain index of the mean rates of the completed flows of `least` packets or more.

    A flow's mean rate is what it sent, without retransmissions, over its completion time.
    """
    sent = flow_column(run, "data_packets", group) - flow_column(run, "retransmissions", group)
    rates = sent / flow_column(run, "completion_s", group)
    return jain_index(rates[np.isfinite(rates) & (sent >= least)])


def fairness(
    run: Run, *, group: str = "forward", start: float = 0.0, end: float = math.inf
) -> float:
    """Jain index of the flows' mean sampled throughputs in [start, end] seconds."""
    _, values = samples(run, "throughput", f"{group}/*", start, end)
    return jain_index(np.nan_to_num(values).mean(axis=0)) if values.size else math.nan


def queue_share(
    run: Run, *, entity: str = "*", start: float = 0.0, end: float = math.inf, over: Over = "max"
) -> float:
    """Queue samples in [start, end] seconds in per cent of the buffer."""
    packets = sampled(run, "queue", entity=entity, start=start, end=end, over=over)
    row = run.summary.filter(pl.col("link").cast(pl.String).is_in(run.main_links)).row(
        0, named=True
    )
    share, most = row["queue_max_percent"], row["queue_max_packets"]
    return packets * share / most if share and most else (0.0 if packets == 0.0 else math.nan)


def time_to(
    run: Run,
    quantity: str,
    *,
    entity: str = "*",
    level: float,
    after: float = 0.0,
    ignore: float = 0.0,
    hold: float = 0.0,
    falling: bool = False,
    unit_s: float = 1.0,
) -> float:
    """Time after `after` until a probe's mean over entities reaches `level`, for `hold` seconds.

    The level is reached from below or, if `falling`, from above. Samples of the first `ignore`
    seconds do not count: they average over what came before. The result is in units of `unit_s`
    seconds; infinite if the level is never reached.
    """
    times, values = samples(run, quantity, entity, after + ignore, math.inf)
    if times.size == 0:
        return math.nan
    means = np.nanmean(values, axis=1)
    return first_time(times, means <= level if falling else means >= level, after, hold, unit_s)


def time_to_fair(
    run: Run,
    *,
    group: str = "forward",
    level: float = 0.9,
    after: float = 0.0,
    until: float = math.inf,
    average: float = 2.0,
    hold: float = 2.0,
    unit_s: float = 1.0,
) -> float:
    """Time after `after` until the flows' throughputs are fair, for `hold` seconds.

    Fair means: the Jain index of the flows that have sent, each averaged over `average` seconds, is
    at least `level`. The result is in units of `unit_s` seconds; infinite if they never are.
    """
    times, values = samples(run, "throughput", f"{group}/*", after, until)
    if times.size < 2:
        return math.nan
    width = max(1, round(average / float(times[1] - times[0])))
    begun = np.nan_to_num(values)
    begun = begun[:, begun.sum(axis=0) > 0.0]
    sums = np.cumsum(begun, axis=0)
    means = (sums[width:] - sums[:-width]) / width
    fair = np.array([jain_index(row) >= level for row in means])
    return first_time(times[width:], fair, after, hold, unit_s)


def lag(run: Run, quantity: str, *, entity: str, behind: str, level: float) -> float:
    """Seconds by which a probe of one entity reaches `level` later than that of another."""
    late = time_to(run, quantity, entity=entity, level=level)
    return late - time_to(run, quantity, entity=behind, level=level)


_OWN: Mapping[str, Callable[..., float]] = {
    measure.__name__: measure
    for measure in (
        link,
        goodput,
        goodput_ratio,
        goodput_exponent,
        jain,
        retransmissions,
        completion,
        sampled,
        sampled_ratio,
        estimate_error,
        time_within,
        elephants,
        fairness,
        queue_share,
        time_to,
        time_to_fair,
        lag,
    )
}

MEASURES: Mapping[str, Callable[..., float]] = {**_OWN, **DYNAMICS}
"""Measures by the name that ledger files use."""


def measure(run: Run, name: str, arguments: Mapping[str, Any]) -> float:
    """The measure of that name; a name that is no measure is a column of the summary.

    Raises:
        KeyError: If there is neither.
    """
    if name in MEASURES:
        return float(MEASURES[name](run, **arguments))
    if name not in run.summary.columns:
        raise KeyError(f"{name!r} is no measure ({', '.join(MEASURES)}) and no column")
    return float(link(run, name, **arguments))
