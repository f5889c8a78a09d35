"""Measures of dynamics, on made-up columns with known answers."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import polars as pl
import pytest

from knee.analysis.measures import measure
from knee.columns import Run

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
                    "retransmissions": [0, 20],
                    "completion_s": [10.0, 4.0],
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
        quantity, place = name.replace("law_", "law.").split("__")
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
    """Rates of 3 and 1 in turn, a second each: a ratio of 3 over short intervals, of 1 over whole
    turns."""
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
    """Overload begins at 3 and 6 s; one flow learns of both, the other late of the second."""
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


def test_shares_of_time_and_of_others() -> None:
    """A queue that rises by 1 a sample from 0 to 99; a flow with three times what the other has."""
    found = run(
        queue__link=np.arange(100), window__0=np.full(100, 6.0), window__1=np.full(100, 2.0)
    )
    within = {"quantity": "queue", "low": 10.0, "high": 19.0}
    assert measure(found, "time_within", within) == pytest.approx(0.1)
    assert math.isnan(measure(found, "time_within", within | {"start": 60.0}))
    ratio = {"quantity": "window", "entity": "forward/0", "to": "forward/1"}
    assert measure(found, "sampled_ratio", ratio) == pytest.approx(3.0)


def test_elephants_are_judged_by_what_they_sent_in_their_time() -> None:
    """100 packets in 10 s, 80 in 4: rates of 1 and 2 have a Jain index of 9 / 10."""
    found = run(queue__link=np.zeros(100))
    assert measure(found, "elephants", {"least": 80}) == pytest.approx(0.9)
    assert measure(found, "elephants", {"least": 81}) == pytest.approx(1.0)
    assert math.isnan(measure(found, "elephants", {"least": 101}))


def test_an_average_of_the_past_trails_by_half_its_length() -> None:
    """The mean of a price and of the five samples before it, of 0.1 s each: 0.25 s."""
    price = np.sin(TIMES) + np.sin(3.1 * TIMES)
    past = np.convolve(price, np.full(6, 1 / 6))[:100]
    found = run(signal__link=price, law_price__0=past, law_price__1=7.0 * past)
    trailing = {"quantity": "law.price", "of": "signal", "start": 1.0}
    assert measure(found, "trailing", trailing) == pytest.approx(0.25, abs=0.01)
    in_units = trailing | {"less": 0.05, "unit_s": 0.1}
    assert measure(found, "trailing", in_units) == pytest.approx(2.0, abs=0.1)


def test_marks_are_due_by_the_prices_of_the_path() -> None:
    """phi = 10 and a price of 1 mark nine of ten packets. One flow sees that, the other sees no
    mark."""
    told = run(signal__link=np.ones(100), law_price__0=np.ones(100), law_price__1=np.zeros(100))
    arguments = {"links": "bottleneck", "phi": 10.0}
    assert measure(told, "path_marks", arguments) == pytest.approx(0.45)
    assert measure(told, "path_marks", arguments | {"over_due": True}) == pytest.approx(0.5)
