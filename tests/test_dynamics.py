"""Measures of the course of a run, on made-up columns whose answers are known."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import polars as pl
import pytest

from knee.analysis.measures import measure
from knee.run import Run

Columns = Mapping[tuple[str, str], object]


class Made(Run):
    """A run of one dumbbell with these probes."""

    def __init__(self, times: object, probes: Columns, rtts: Mapping[str, float]) -> None:
        super().__init__(
            {}, 'duration = "10 s"\n[bottleneck]\nrate = "8 Mbps"\n[dumbbell]\nflows = 1'
        )
        series = [
            pl.DataFrame({"time_s": times, "value": values}).select(
                "time_s",
                pl.lit(quantity).alias("quantity"),
                pl.lit(entity).alias("entity"),
                pl.col("value").cast(pl.Float64),
            )
            for (quantity, entity), values in probes.items()
        ]
        self._frames = {
            "series": pl.concat(series),
            "flows": pl.DataFrame(
                {
                    "flow": list(rtts),
                    "group": [name.split("/")[0] for name in rtts],
                    "rtt_mean_ms": list(rtts.values()),
                    "data_packets": [100] * len(rtts),
                }
            ),
            "summary": pl.DataFrame(
                {
                    "link": ["bottleneck", "bottleneck-reverse"],
                    "rtt_mean_ms": [200.0, 200.0],
                    "data_packets": [5000, 1000],
                    # 1000 data of 1000 B, 4950 ACKs of 40 B, an option of 4 B on each tenth.
                    "utilisation": [1.0, (1e6 + 4950 * 40 + 495 * 4) / 1e7],
                }
            ),
        }


TIMES = np.arange(0.1, 10.05, 0.1).round(3)
RTTS = {"forward/0": 100.0, "forward/1": 100.0}


def run(**probes: object) -> Made:
    """Names are quantity__place: a link's (link) or a flow's (0, 1)."""
    named = {}
    for name, values in probes.items():
        quantity, place = name.replace("law_load", "law.load").split("__")
        named[quantity, "bottleneck" if place == "link" else f"forward/{place}"] = values
    return Made(TIMES, named, RTTS)


def test_a_newcomer_has_its_share_when_the_others_have_given_it() -> None:
    """Of 10 and a newcomer that rises by 1 a second from 2 s on: 0.7 of the mean at 7 / 1.3."""
    rising = np.where(TIMES > 2.0, TIMES - 2.0, 0.0)
    found = measure(
        run(throughput__0=np.full(100, 10.0), throughput__1=rising),
        "time_to_share",
        {"entity": "forward/1", "after": 2.0, "average": 0.1},
    )
    assert found == pytest.approx(7.0 / 1.3, abs=0.11)


def test_the_fairness_rate_averages_before_it_divides() -> None:
    """Turns of 3 and 1, a second each: 3 at short intervals, 1 over whole turns."""
    turn = (np.arange(100) // 10) % 2 == 0
    both = run(throughput__0=np.where(turn, 3.0, 1.0), throughput__1=np.where(turn, 1.0, 3.0))
    assert measure(both, "fairness_rate", {"interval": 0.1}) == pytest.approx(3.0)
    assert measure(both, "fairness_rate", {"interval": 2.0}) == pytest.approx(1.0)
    assert math.isnan(measure(both, "fairness_rate", {"interval": 60.0}))


def test_tracking_is_the_mean_distance_within_bounds() -> None:
    load = np.where(TIMES > 5.0, 3.0, 0.5)
    told = run(signal__link=load, law_load__0=np.full(100, 0.6), law_load__1=np.full(100, 0.5))
    arguments = {"quantity": "law.load", "of": "signal", "low": 0.0, "high": 1.1}
    assert measure(told, "tracking", arguments) == pytest.approx((0.05 + 0.55) / 2)


def test_growth_cuts_and_variation_of_a_sawtooth() -> None:
    """Doubling each second for two, then to a fifth of the peak."""
    phase = np.arange(100) % 20
    saw = run(window__0=2.0 ** (phase / 10), window__1=2.0 ** (phase / 10))
    assert measure(saw, "growth", {"quantity": "window", "period": 1.0}) == pytest.approx(2.0)
    assert measure(saw, "cut", {"quantity": "window"}) == pytest.approx(2.0**-1.9)
    spread = np.std(2.0 ** (phase / 10)) / np.mean(2.0 ** (phase / 10))
    assert measure(saw, "variation", {"quantity": "window"}) == pytest.approx(spread)


def test_travel_counts_every_way_there_and_back() -> None:
    """One flow between 2 and 3 at every sample; the other rests."""
    turns = 2.0 + (np.arange(100) % 2)
    both = run(throughput__0=turns, throughput__1=np.full(100, 4.5))
    assert measure(both, "travel", {"quantity": "throughput"}) == pytest.approx(99 / 2.5 / 2)


def test_settled_is_who_stays_near_where_it_ends() -> None:
    """From 0 by 0.2 a second to 1 at 5 s; within a twentieth from 4.8 s on (4.75, sampled)."""
    ramp = np.minimum(TIMES / 5.0, 1.0)
    found = run(throughput__0=ramp, throughput__1=np.full(100, 3.0))
    settled = {"quantity": "throughput", "after": 1.0}
    assert measure(found, "settling", settled) == pytest.approx(3.8)
    assert measure(found, "settling", settled | {"entity": "forward/1"}) == pytest.approx(0.0)
    restless = run(throughput__0=2.0 + (np.arange(100) % 2))
    assert math.isinf(measure(restless, "settling", {"quantity": "throughput"}))
    averaged = {"quantity": "throughput", "average": 0.2}
    assert measure(restless, "settling", averaged) == pytest.approx(0.2)


def test_a_queue_drains_from_above() -> None:
    queue = np.where(TIMES < 2.0, 0.0, np.maximum(0.0, 50.0 - 10.0 * (TIMES - 2.0)))
    arguments = {"quantity": "queue", "level": 10.0, "after": 2.0, "falling": True}
    assert measure(run(queue__link=queue), "time_to", arguments) == pytest.approx(4.0)


def test_overload_is_missed_by_who_does_not_hear_of_it_in_time() -> None:
    """Onsets at 3 and 6 s; one hears in time of both, the other late of the second."""
    load = np.where((TIMES >= 3.0) & (TIMES < 4.0) | (TIMES >= 6.0) & (TIMES < 7.0), 1.1, 0.9)
    quick = np.where((TIMES >= 3.2) & (TIMES < 4.0) | (TIMES >= 6.2) & (TIMES < 7.0), 1.1, 0.9)
    slow = np.where((TIMES >= 3.2) & (TIMES < 4.0) | (TIMES >= 6.5) & (TIMES < 7.0), 1.1, 0.9)
    both = run(signal__link=load, law_load__0=quick, law_load__1=slow)
    assert measure(both, "overload_missed", {"period": 0.2, "limit": 1.2}) == pytest.approx(0.25)
    assert math.isnan(measure(both, "overload_missed", {"period": 0.2, "limit": 1.05}))
    assert measure(both, "overload", {}) == pytest.approx(1.1)


def test_changes_and_options_by_packet() -> None:
    steps = run(law_load__0=np.arange(100) // 10, law_load__1=np.zeros(100))
    found = measure(steps, "changes_per_packet", {"quantity": "law.load"})
    assert found == pytest.approx(9 / 200)
    assert measure(steps, "option_share", {}) == pytest.approx(0.1)
