"""Fair shares against closed forms, against filling by water, and by what makes them optimal."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import knee
import knee.fluid
from knee.analysis.shares import Sharing, max_min, proportional


def rates(scenario: knee.Scenario, share: str, **weights: float) -> dict[str, float]:
    """A flow's share, by group."""
    frame = knee.fair_shares(scenario, weights=weights)
    return {group: part[share][0] for (group,), part in frame.group_by(["group"])}


def test_a_link_is_shared_equally_whatever_the_rtts() -> None:
    scenario = knee.dumbbell(rate="30 Mbps", rtt="20 ms", rtt_step="10 ms", flows=5)
    frame = knee.fair_shares(scenario.variants("vcp", "cubic"))
    assert frame.columns == [
        "protocol", "flow", "group", "max_min_mbps", "proportional_mbps", "bottlenecks",
    ]  # fmt: skip
    assert frame["protocol"].unique(maintain_order=True).to_list() == ["vcp", "cubic"]
    assert frame["flow"].to_list() == 2 * [f"forward/{flow}" for flow in range(5)]
    assert frame["bottlenecks"].to_list() == 10 * [["bottleneck"]]
    for share in ("max_min_mbps", "proportional_mbps"):
        assert frame[share].to_list() == pytest.approx([6.0] * 10, rel=1e-9)


@pytest.mark.parametrize("links", [1, 2, 3, 10])
def test_a_parking_lot_has_its_closed_form(links: int) -> None:
    # Kelly, Maulloo, Tan (1998): the long flow pays n links, so it gets C / (n + 1).
    lot = knee.parking_lot(
        rate="12 Mbps", rtt="80 ms", links=links, flows=1, cross=1, protocol="vcp"
    )
    fair, even = (rates(lot, f"{share}_mbps") for share in ("max_min", "proportional"))
    assert fair == pytest.approx(dict.fromkeys(fair, 6.0), rel=1e-9)
    assert even.pop("forward") == pytest.approx(12 / (links + 1), rel=1e-9)
    assert even == pytest.approx(dict.fromkeys(even, 12 * links / (links + 1)), rel=1e-9)


def test_weights_divide_as_they_say() -> None:
    lot = knee.parking_lot(rate="12 Mbps", rtt="80 ms", links=3, flows=1, cross=1, protocol="vcp")
    fair = rates(lot, "max_min_mbps", forward=2.0)
    assert [fair["forward"], fair["cross1"]] == pytest.approx([8.0, 4.0], rel=1e-9)
    even = rates(lot, "proportional_mbps", forward=2.0)  # w C / (w + n)
    assert [even["forward"], even["cross1"]] == pytest.approx([4.8, 7.2], rel=1e-9)


def test_acks_take_room_and_hold_nobody_back() -> None:
    # x + 0.04 y = 1 and y + 0.04 x = 1 in links' capacities, each over its flows.
    both = knee.dumbbell(rate="10.4 Mbps", rtt="80 ms", flows=2, reverse=5, protocol="vcp")
    for share in ("max_min_mbps", "proportional_mbps"):
        assert rates(both, share) == pytest.approx({"forward": 5.0, "reverse": 2.0}, rel=1e-8)
    # One way full, the other not: the flow that waits for nobody has all that its links have.
    lot = knee.parking_lot(rate="10 Mbps", rtt="80 ms", links=1, flows=9, reverse=1, protocol="vcp")
    alone = rates(lot, "max_min_mbps")
    assert alone["reverse"] == pytest.approx(10 - 0.04 * 9 * alone["forward"], rel=1e-8)


def test_t1_is_what_its_paper_says_of_who_holds_whom_back() -> None:
    frame = knee.fair_shares("rcp-t1").filter(protocol="rcp")
    others = frame.filter(group="others")
    assert others["max_min_mbps"].to_list() == pytest.approx([70 / 9] * 9)
    assert frame["max_min_mbps"][0] == pytest.approx(155 - 70)
    assert frame["bottlenecks"][0].to_list() == ["l1"]
    assert "l3" in others["bottlenecks"][0]


def test_access_links_bound_and_arrivals_come_first() -> None:
    scenario = knee.graph(
        links=[
            {"name": "l", "from": "a", "to": "b", "rate": "10 Mbps", "delay": "5 ms",
             "duplex": True},
        ],
        flows=[
            {"name": "slow", "from": "a", "to": "b", "access": {"rate": "1 Mbps"}},
            {"name": "fast", "from": "a", "to": "b", "count": 2},
            {"name": "gone", "from": "a", "to": "b", "stop": "2 s"},
            {"name": "web", "from": "a", "to": "b",
             "arrivals": {"per_second": 25.0, "size": {"fixed": "10 kB"}}},
        ],
        protocol="sack",
        duration="10 s",
    )  # fmt: skip
    for share in ("max_min_mbps", "proportional_mbps"):
        assert rates(scenario, share) == pytest.approx({"slow": 1.0, "fast": 3.5}, rel=1e-8)
    slow = knee.fair_shares(scenario).filter(group="slow")
    assert slow["bottlenecks"][0].to_list() == ["l", "access"]
    with pytest.raises(ValueError, match="fill link l"):
        knee.fair_shares(scenario.replace(set={"flows.web.arrivals.per_second": 130}))


def test_rates_are_those_at_the_end() -> None:
    changing = [{"at": "30 s", "rate": "4 Mbps"}, {"at": "2 min", "rate": "1 Mbps"}]
    lot = knee.dumbbell(rate="8 Mbps", rtt="80 ms", flows=2, protocol="vcp").replace(
        set={"bottleneck.rate_changes": changing}
    )
    assert rates(lot, "max_min_mbps") == pytest.approx({"forward": 2.0})


def test_bad_weights_are_refused_in_a_sentence() -> None:
    scenario = knee.dumbbell(rate="8 Mbps", rtt="80 ms", flows=2, protocol="vcp")
    with pytest.raises(ValueError, match="no flows forwrad; there are forward"):
        knee.fair_shares(scenario, weights={"forwrad": 1.0})
    with pytest.raises(ValueError, match="above 0"):
        knee.fair_shares(scenario, weights={"forward": 0.0})


def test_nothing_lasting_has_no_shares() -> None:
    assert knee.fair_shares("rcp-afct").is_empty()


@st.composite
def sharings(draw: st.DrawFn) -> Sharing:
    """Up to eight links of rates that differ by up to 1000, and up to ten classes of flows."""
    links, classes = draw(st.integers(1, 8)), draw(st.integers(1, 10))
    ways = [draw(st.sets(st.integers(0, links - 1), min_size=1)) for _ in range(classes)]
    counts = np.array([float(draw(st.integers(1, 50))) for _ in range(classes)])
    on = np.array([[float(link in way) for way in ways] for link in range(links)])
    crossed = on.any(axis=1)
    capacities = np.array([10 ** draw(st.floats(6.0, 9.0)) for _ in range(links)])
    weights = np.array([draw(st.sampled_from([0.5, 1.0, 1.0, 3.0])) for _ in range(classes)])
    bounds = np.full(classes, np.inf)
    if draw(st.booleans()):
        bounds[0] = 10 ** draw(st.floats(4.0, 9.0))
    return Sharing(capacities[crossed], (on * counts)[crossed], counts, bounds, weights)


@settings(max_examples=60, deadline=None)
@given(sharings())
def test_max_min_is_feasible_and_every_flow_has_its_bottleneck(sharing: Sharing) -> None:
    found = max_min(sharing)
    used = sharing.loads @ found
    assert (found > 0).all()
    assert (used <= sharing.capacities * (1 + 1e-8)).all()
    assert (found <= sharing.bounds * (1 + 1e-8)).all()
    full = used >= sharing.capacities * (1 - 1e-7)
    per_weight = found / sharing.weights
    for flow, rate in enumerate(found):
        crossed = sharing.loads[:, flow] > 0
        greatest = [
            per_weight[flow] >= per_weight[sharing.loads[link] > 0].max() * (1 - 1e-7)
            for link in np.nonzero(crossed & full)[0]
        ]
        assert any(greatest) or rate >= sharing.bounds[flow] * (1 - 1e-7)


@settings(max_examples=40, deadline=None)
@given(sharings())
def test_max_min_agrees_with_filling_by_water(sharing: Sharing) -> None:
    plain = Sharing(
        sharing.capacities,
        (sharing.loads > 0).astype(float),
        np.ones(len(sharing.counts)),
        np.full(len(sharing.counts), np.inf),
        np.ones(len(sharing.counts)),
    )
    links = {f"l{link}": rate for link, rate in enumerate(plain.capacities.tolist())}
    routes = [[f"l{link}" for link in np.nonzero(way)[0]] for way in plain.loads.T]
    filled = knee.fluid.max_min(links=links, routes=routes)["rate_mbps"].to_numpy()
    assert max_min(plain) / 1e6 == pytest.approx(filled, rel=1e-7)


@pytest.mark.parametrize("links", [1, 2, 3, 6, 8])
@pytest.mark.parametrize("flows", [1, 4])
def test_links_alike_in_a_row_are_one(links: int, flows: int) -> None:
    # Their prices have only a sum: what polishes them must not leave for prices below zero.
    alike = Sharing(
        np.full(links, 1e6),
        np.ones((links, flows)),
        np.ones(flows),
        np.full(flows, np.inf),
        np.full(flows, 0.5),
    )
    assert proportional(alike) == pytest.approx(1e6 / flows, rel=1e-9)


@settings(max_examples=60, deadline=None)
@given(sharings())
def test_no_other_rates_are_proportionally_fairer(sharing: Sharing) -> None:
    # Kelly's inequality: of all feasible y, none has a positive sum of w (y - x) / x.
    from scipy.optimize import linprog

    found = proportional(sharing)
    assert (found > 0).all()
    assert (sharing.loads @ found <= sharing.capacities * (1 + 1e-8)).all()
    worth = sharing.weights * sharing.counts
    best = linprog(
        -worth,
        A_ub=sharing.loads * found / sharing.capacities[:, None],
        b_ub=np.ones(len(sharing.capacities)),
        bounds=[(0.0, bound) for bound in sharing.bounds / found],
    )
    assert -best.fun == pytest.approx(worth.sum(), rel=1e-6)
