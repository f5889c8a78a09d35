"""Closed forms that claims may ask for."""

from __future__ import annotations

import heapq

import numpy as np
import pytest

from knee.ledger.models.jain2007 import processor_sharing, rcp_bounds, rcp_rest
from knee.ledger.models.paganini2003 import (
    price_marks,
    scalable_alone,
    scalable_eta,
    scalable_hull,
    scalable_latecomers,
    scalable_nabla,
    scalable_nyquist,
    scalable_stability,
)


def test_processor_sharing_by_hand() -> None:
    # 240 kbit over a tenth of 2.4 Gbps are 1 ms.
    ideal = processor_sharing(capacity="2.4 Gbps", rtt="100 ms", load=0.9, packets=30)
    assert ideal["completion"] == pytest.approx(0.201)


def test_processor_sharing_against_a_queue_that_shares() -> None:
    """An M/G/1 queue in virtual time: every job has got as much since it came."""
    rng = np.random.Generator(np.random.PCG64(1))
    count, load, mean = 200_000, 0.5, 0.01  # seconds of service
    arrivals = np.cumsum(rng.exponential(mean / load, count))
    sizes = rng.uniform(0.0, 2.0 * mean, count)
    now = served = total = 0.0
    jobs: list[tuple[float, float]] = []
    for at, size in zip(arrivals, sizes, strict=True):
        while jobs and (end := now + (jobs[0][0] - served) * len(jobs)) <= at:
            served, came = heapq.heappop(jobs)
            now = end
            total += now - came
        if jobs:
            served += (at - now) / len(jobs)
        now = at
        heapq.heappush(jobs, (served + size, at))
    ideal = processor_sharing(
        capacity="8 Mbps", rtt="0 ms", load=load, packets=10, packet_bytes=1000
    )
    assert total / count == pytest.approx(ideal["completion"], rel=0.02)


def test_rcp_bounds_of_equal_and_of_unequal_round_trips() -> None:
    """(6) is exact if RTTs are equal; the paper finds 1.8 of it with 122 and 306 ms."""
    equal = rcp_bounds(rtts=["120 ms", "120 ms"])
    assert equal["qi_rcp"] == pytest.approx(1.0, abs=1e-3)
    assert rcp_bounds(rtts=["122 ms", "306 ms"])["qi_rcp"] == pytest.approx(1.8, abs=0.05)
    # (35) by hand: 10 / 2 / 130 over sin(pi / 46).
    assert equal["simple"] == pytest.approx(0.038462 / 0.068242, rel=1e-4)


def test_rcp_rests_if_it_knows_the_round_trip() -> None:
    """One flow of 120 ms: stable by (1)'s gains if d is that, restless if d is a third of it."""
    known = rcp_rest(law="rcp", capacity="100 Mbps", rtts=["120 ms"])
    assert known["distance"] < 1e-3
    assert known["mean_rtt"] == pytest.approx(0.12)
    wrong = rcp_rest(law="rcp", capacity="100 Mbps", rtts=["120 ms"], mean_rtt="40 ms")
    assert 0.1 < wrong["distance"] <= 1.0
    assert wrong["mean_rtt"] == pytest.approx(0.04)


def test_marks_of_prices_by_hand() -> None:
    # 1000^-(1/3) is a tenth.
    marks = price_marks(phi=1000.0, least=0.0, most=1 / 3)
    assert marks == pytest.approx({"least": 0.0, "most": 0.9})


def test_theorem_2_on_networks_and_its_bound_on_one_source() -> None:
    found = scalable_stability(share=0.999, networks=3, links=3, flows=6)
    assert found["unstable"] == 0
    assert 1.0 <= found["margin"] < 4.0, "M is at most 4"
    for share, unstable in ((0.99, 0), (1.01, 2)):
        alone = scalable_alone(share=share)
        assert alone["unstable"] == unstable
        assert alone["margin"] == pytest.approx(1.0)
        assert (alone["growth"] > 1.0) == (share > 1.0)


def test_the_hull_of_all_sources_is_bounded_by_the_slowest() -> None:
    """-1 is met at theta sin theta = alpha by eta = theta cot theta."""
    assert scalable_hull(eta=0.53)["clearance"] > 0.0
    assert scalable_hull(eta=0.57)["clearance"] == 0.0
    assert scalable_hull(eta=0.64)["height"] < 0.0 < scalable_hull(eta=0.65)["height"]
    found = scalable_eta(alpha=1.0)
    assert found["alone"] == pytest.approx(0.5473, abs=1e-4)
    assert found["eta"] == pytest.approx(found["alone"], abs=0.005)


def test_without_lead_or_lag_all_plots_are_one_curve() -> None:
    for rtt in ("1 ms", "1 s"):
        assert scalable_nyquist(theta=1.5, rtt=rtt) == pytest.approx(scalable_nabla(theta=1.5))


def test_flows_that_join_as_many_as_there_are_get_the_golden_ratio() -> None:
    found = scalable_latecomers(early=1, late=1)
    assert found["closed"] == pytest.approx((1 + np.sqrt(5)) / 2)
    assert found["ratio"] == pytest.approx(found["closed"], rel=1e-3)
