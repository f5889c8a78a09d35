"""Measures of a run's dynamics: how fast shares, windows and estimates change.

They are measures as in `knee.analysis.measures`, which includes them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from knee.analysis.samples import first_time, flow_column, samples
from knee.quantity import bits_per_second, seconds

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from knee.columns import Run


def time_to_share(
    run: Run,
    *,
    entity: str,
    among: str = "*",
    share: float = 0.7,
    after: float = 0.0,
    average: float = 2.0,
    hold: float = 0.0,
    unit_s: float = 1.0,
) -> float:
    """Time after `after` until a flow's throughput is `share` of a fair one, for `hold` seconds.

    The fair throughput is the mean over those flows of `among` that send, each averaged over
    `average` seconds. The result is in units of `unit_s` seconds; infinite if it is never reached.
    """
    times, own = samples(run, "throughput", entity, after)
    every_time, every = samples(run, "throughput", among, after)
    if times.size < 2:
        return math.nan
    every = np.nan_to_num(every[np.isin(every_time, times)])
    width = min(times.size, max(1, round(average / float(times[1] - times[0]))))
    rates = _moving(every, width)
    fair = rates.sum(axis=1) / np.maximum(1, (rates > 0.0).sum(axis=1))
    mine = _moving(np.nan_to_num(own), width).mean(axis=1)
    there = (mine >= share * fair) & (mine > 0.0)
    return first_time(times[width - 1 :], there, after, hold, unit_s)


def fairness_rate(
    run: Run, *, interval: float, group: str = "forward", start: float = 0.0, end: float = math.inf
) -> float:
    """Mean over time of the ratio of the greatest to the least rate over `interval` seconds.

    fr of qazi2010, 4.2.3. A flow that sends nothing counts as one that sends a packet of 1 kB in
    that time; otherwise the ratio would be infinite.
    """
    times, values = samples(run, "throughput", f"{group}/*", start, end)
    if times.size < 2:
        return math.nan
    width = max(1, round(interval / float(times[1] - times[0])))
    if width > times.size:
        return math.nan
    rates = np.maximum(_moving(np.nan_to_num(values), width), 8e-3 / interval)
    return float(np.mean(rates.max(axis=1) / rates.min(axis=1)))


def tracking(
    run: Run,
    quantity: str,
    *,
    of: str,
    entity: str = "*",
    start: float = 0.0,
    end: float = math.inf,
    low: float = -math.inf,
    high: float = math.inf,
) -> float:
    """Mean distance of a flows' probe from the main link's probe `of`, both in [low, high]."""
    times, told = samples(run, quantity, entity, start, end)
    there, true = samples(run, of, "*", start, end)
    both, left, right = np.intersect1d(times, there, return_indices=True)
    if both.size == 0:
        return math.nan
    error = np.clip(told[left], low, high) - np.clip(true[right, :1], low, high)
    return float(np.nanmean(np.abs(error)))


def trailing(
    run: Run,
    quantity: str,
    *,
    of: str,
    entity: str = "*",
    start: float = 0.0,
    end: float = math.inf,
    most: float = 1.0,
    less: float = 0.0,
    unit_s: float = 1.0,
) -> float:
    """Time by which a probe's mean over entities lags behind the main link's probe `of`.

    It is the shift, up to `most` seconds, of greatest correlation, interpolated by a parabola
    between samples; less `less` seconds, in units of `unit_s` seconds.
    """
    times, told = samples(run, quantity, entity, start, end)
    there, true = samples(run, of, "*", start, end)
    both, left, right = np.intersect1d(times, there, return_indices=True)
    if both.size < 4:
        return math.nan
    late, early = np.nanmean(told[left], axis=1), true[right, 0]
    step = float(both[1] - both[0])
    shifts = range(min(round(most / step), both.size - 3) + 1)
    fits = [np.corrcoef(late[k:], early[: early.size - k])[0, 1] for k in shifts]
    top = int(np.argmax(fits))
    best = float(top)
    if 0 < top < len(fits) - 1:
        before, here, after = fits[top - 1 : top + 2]
        best += 0.5 * float((before - after) / (before - 2.0 * here + after))
    return (step * best - less) / unit_s


def path_marks(
    run: Run,
    *,
    entity: str = "*",
    links: str = "*",
    phi: float = 1000.0,
    over_due: bool = False,
    start: float = 0.0,
    end: float = math.inf,
) -> float:
    """Share of marks that flows of price laws remember; divided by the expected one, if asked.

    Expected is the mean of 1 - phi^-q, with q the sum of the prices of the links of that pattern.
    """
    _, told = samples(run, "law.price", entity, start, end)
    _, prices = samples(run, "signal", links, start, end)
    if told.size == 0 or prices.size == 0:
        return math.nan
    share = float(np.mean(1.0 - phi**-told))
    due = float(np.mean(1.0 - phi ** -prices.sum(axis=1)))
    return share / due if over_due else share


def variation(
    run: Run, quantity: str, *, entity: str = "*", start: float = 0.0, end: float = math.inf
) -> float:
    """Standard deviation over mean of a probe over time, averaged over entities."""
    _, values = samples(run, quantity, entity, start, end)
    if values.size == 0:
        return math.nan
    return float(np.nanmean(np.nanstd(values, axis=0) / np.nanmean(values, axis=0)))


def travel(
    run: Run, quantity: str, *, entity: str = "*", start: float = 0.0, end: float = math.inf
) -> float:
    """Total variation of a probe (all its ups and downs) over its mean, averaged over entities."""
    _, values = samples(run, quantity, entity, start, end)
    if values.shape[0] < 2:
        return math.nan
    way = np.nansum(np.abs(np.diff(values, axis=0)), axis=0)
    return float(np.nanmean(way / np.nanmean(values, axis=0)))


def settling(
    run: Run,
    quantity: str,
    *,
    entity: str = "*",
    after: float = 0.0,
    until: float = math.inf,
    tolerance: float = 0.05,
    average: float = 0.0,
) -> float:
    """Seconds after `after` until a probe stays near its final value, that at `until`.

    Near means within `tolerance` of its mean over the last tenth of that time. Samples are averaged
    over `average` seconds. The result is the greatest over entities; infinite if one never settles.
    """
    times, values = samples(run, quantity, entity, after, until)
    if times.size < 2:
        return math.nan
    width = min(times.size, max(1, round(average / float(times[1] - times[0]))))
    means = _moving(np.nan_to_num(values), width)
    last = means[-max(1, len(means) // 10) :].mean(axis=0)
    near = (np.abs(means - last) <= tolerance * last).all(axis=1)
    if not near[-1]:
        return math.inf
    away = np.nonzero(~near)[0]
    first = int(away[-1]) + 1 if away.size else 0
    return float(times[width - 1 + first] - after)


def growth(
    run: Run,
    quantity: str,
    *,
    period: float,
    entity: str = "*",
    start: float = 0.0,
    end: float = math.inf,
) -> float:
    """Median growth factor of a probe over those `period` seconds in which it grows throughout."""
    times, values = samples(run, quantity, entity, start, end)
    if times.size < 2:
        return math.nan
    width = max(1, round(period / float(times[1] - times[0])))
    grows = np.diff(values, axis=0) > 0.0
    if len(grows) < width:
        return math.nan
    quiet = np.lib.stride_tricks.sliding_window_view(grows, width, axis=0).all(axis=-1)
    factors = (values[width:] / values[:-width])[quiet]
    return float(np.median(factors)) if factors.size else math.nan


def cut(
    run: Run,
    quantity: str,
    *,
    entity: str = "*",
    start: float = 0.0,
    end: float = math.inf,
    least: float = 0.0,
) -> float:
    """Median of a probe after a fall over before; falls from `least` or more, by 1 % or more."""
    _, values = samples(run, quantity, entity, start, end)
    if len(values) < 2:
        return math.nan
    before, left = values[:-1], values[1:] / values[:-1]
    falls = left[(left < 0.99) & (before >= least)]
    return float(np.median(falls)) if falls.size else math.nan


def overload(run: Run, *, start: float = 0.0, end: float = math.inf) -> float:
    """Mean of the main link's load factor where it is 1 or more."""
    _, values = samples(run, "signal", "*", start, end)
    over = values[values >= 1.0]
    return float(over.mean()) if over.size else math.nan


def overload_missed(run: Run, *, period: float, limit: float, start: float = 0.0) -> float:
    """How often a flow misses, for `period` seconds and an RTT, that the load has passed 1.

    Counted are onsets of overload at the main link with a load factor below `limit`, and the probed
    flows whose estimate was below 1 then. The result is the share whose estimate does not reach 1.
    """
    times, told = samples(run, "law.load")
    there, signal = samples(run, "signal")
    both, left, right = np.intersect1d(times, there, return_indices=True)
    if both.size < 2:
        return math.nan
    told, load = told[left], signal[right, 0]
    onset = (load[:-1] < 1.0) & (load[1:] >= 1.0) & (load[1:] < limit)
    places = np.nonzero(onset & (both[1:] >= start))[0] + 1
    missed = seen = 0
    for own, rtt in zip(told.T, _rtts(run, "law.load"), strict=True):
        wait = math.ceil((period + rtt) / float(both[1] - both[0]))
        for place in places[places + wait < both.size]:
            if own[place] < 1.0:
                seen += 1
                missed += not (own[place : place + wait + 1] >= 1.0).any()
    return missed / seen if seen else math.nan


def _rtts(run: Run, quantity: str) -> list[float]:
    """Mean RTT in seconds of the flows of a probe, in the order of its samples."""
    flows = run.flows
    rtts = dict(zip(flows["flow"].cast(pl.String), flows["rtt_mean_ms"], strict=True))
    probed = run.series().filter(pl.col("quantity") == quantity)["entity"].cast(pl.String)
    return [rtts[name] / 1e3 for name in probed.unique(maintain_order=True)]


def changes_per_packet(run: Run, quantity: str, *, group: str = "forward") -> float:
    """Number of changes between samples of a group's probe, per data packet sent.

    The run must have no warm-up, so that all packets count.
    """
    _, values = samples(run, quantity, f"{group}/*")
    sent = flow_column(run, "data_packets", group).sum()
    changes = np.diff(values, axis=0)
    return float(np.count_nonzero(changes[np.isfinite(changes)])) / sent if sent > 0 else math.nan


def option_share(
    run: Run, *, option: float = 4.0, ack: float = 40.0, data: float = 1000.0
) -> float:
    """Share of ACKs with a TCP option of `option` bytes, computed from the reverse link's bytes.

    The run must be a dumbbell without a warm-up. The reverse link carries its own data and an ACK
    for each forward packet, half an RTT later.
    """
    forward, back = (run.summary.row(place, named=True) for place in (0, 1))
    duration = seconds(run.settings["duration"])
    acks = forward["data_packets"] * (1.0 - forward["rtt_mean_ms"] / 2e3 / duration)
    carried = back["utilisation"] * bits_per_second(run.settings["bottleneck"]["rate"]) / 8.0
    return float((carried * duration - data * back["data_packets"] - ack * acks) / (option * acks))


def _moving(values: NDArray[np.float64], width: int) -> NDArray[np.float64]:
    """Means of `width` successive rows."""
    sums = np.cumsum(np.vstack([np.zeros((1, values.shape[1])), values]), axis=0)
    means: NDArray[np.float64] = (sums[width:] - sums[:-width]) / width
    return means


DYNAMICS: Mapping[str, Callable[..., float]] = {
    measure.__name__: measure
    for measure in (
        time_to_share,
        fairness_rate,
        tracking,
        trailing,
        path_marks,
        variation,
        travel,
        settling,
        growth,
        cut,
        overload,
        overload_missed,
        changes_per_packet,
        option_share,
    )
}
"""Measures by the name that ledger files use."""
