"""Fluid models through Python: the papers' numbers, columns with units, errors in a sentence."""

from __future__ import annotations

import pytest

import knee.fluid


def test_miaimd_rests_at_theorem_1() -> None:
    setting = {"capacity": "150 Mbps", "rtt": "80 ms", "flows": 30, "kappa": 0.5}
    frame = knee.fluid.miaimd(**setting, duration="40 s", samples=401)
    assert frame.columns == ["time_s", "window_packets", "utilisation", "load", "gamma"]
    assert frame.height == 401
    # gamma C T + N alpha / kappa = 0.98 * 1500 + 60
    assert frame["window_packets"][-1] == pytest.approx(1530, rel=1e-6)
    rest = knee.fluid.miaimd_equilibrium(**setting).row(0, named=True)
    assert rest["window_packets"] == pytest.approx(1530)
    assert rest["utilisation"] == pytest.approx(1.02)
    assert 3.14159 / 2 < rest["kappa_bound"] < 1.7


def test_the_first_rtts_are_known_exactly() -> None:
    # w = N ((1 + 1/a) exp(a t / T) - 1/a) with a = kappa (gamma C T / N - 1), until T.
    frame = knee.fluid.miaimd(
        capacity="8 Mbps", rtt="100 ms", flows=10, gamma=1.0, duration="100 ms", samples=3
    )
    a = 0.25 * 9
    for time, window in zip((0, 0.5, 1), frame["window_packets"], strict=True):
        assert window == pytest.approx(10 * ((1 + 1 / a) * 2.718281828459045 ** (a * time) - 1 / a))


def test_gamma_adapts_to_the_target() -> None:
    frame = knee.fluid.miaimd(
        capacity="150 Mbps", rtt="80 ms", flows=30, target=0.9, duration="300 s", samples=3001
    )
    assert frame.tail(1500)["utilisation"].mean() == pytest.approx(0.9, abs=0.01)


def test_a_sweep_says_which_models_rest() -> None:
    frame = knee.fluid.miaimd_sweep(
        capacities=["10 Mbps", "1 Gbps"],
        rtts=["10 ms", "100 ms"],
        flows=[10],
        kappas=[0.5, 2.5],
        start=1.1,
    )
    assert frame.height == 8
    rests = frame["deviation"] < 1e-3
    assert (rests == (frame["kappa"] < frame["kappa_bound"])).all()


def test_networks_are_max_min_fair_for_what_they_carry() -> None:
    network = {
        "links": {"a": "100 Mbps", "b": "40 Mbps"},
        "routes": [["a", "b"], ["a"], ["b"]],
        "rtt": "50 ms",
        "alpha": 0.2,
    }
    rest = knee.fluid.miaimd_network_equilibrium(**network)
    for rate, fair in zip(rest["rate_mbps"], rest["max_min_of_carried_mbps"], strict=True):
        assert rate == pytest.approx(fair)
    solved = knee.fluid.miaimd_network(**network, duration="300 s", samples=2)
    for rate, reached in zip(rest["rate_mbps"], solved.tail(3)["rate_mbps"], strict=True):
        assert reached == pytest.approx(rate, rel=1e-3)
    fair = knee.fluid.max_min(links=network["links"], routes=network["routes"])
    assert fair["rate_mbps"].to_list() == pytest.approx([20, 80, 20])
    assert fair["bottleneck"].to_list() == ["b", "a", "b"]


def test_mlcp_climbs_as_the_thesis_says() -> None:
    frame = knee.fluid.mlcp_rtts(capacity="1 Gbps", rtt="200 ms")
    assert frame["levels"].to_list() == [1, 5, 13, 32765]
    for found, stated in zip(frame["rtts"], (118, 15, 11, 8), strict=True):
        assert stated - 1 < found < stated + 0.1


def test_bmcc_in_closed_form() -> None:
    nine = knee.fluid.bmcc_epochs(bdp=5000, flows=2, beta_max=0.875, beta_min=0.875)
    assert nine["epochs"][0] == pytest.approx(9, abs=0.1)
    start = knee.fluid.bmcc_startup(capacity="2 Gbps", rtt="200 ms", eta=1.0, duration="6.5 s")
    assert 49_500 < start["bmcc_packets"][-1] <= 50_000
    assert start["sack_packets"].max() == pytest.approx(100_000)
    for bdp in (25, 100, 1000):
        assert 0.1 < knee.fluid.bmcc_detection(flow_bdp=bdp)["missed"][0] < 0.2


@pytest.mark.parametrize(("eta", "stable"), [(0.99, True), (1.01, False)])
def test_qi_rcp_is_stable_below_theorem_1_alone(eta: float, stable: bool) -> None:
    frame = knee.fluid.rcp(
        law="qi-rcp",
        capacity="100 Mbps",
        rtts=["120 ms"] * 2,
        eta=eta,
        start=1.001,
        duration="200 s",
    )
    off = (frame["load"] - 1).abs()
    assert (off.tail(2000).max() < off.head(2000).max()) == stable


def test_piqi_rcp_bounds_are_in_order() -> None:
    row = knee.fluid.rcp_bounds(rtts=["120 ms"] * 10).row(0, named=True)
    assert row["qi_rcp_exact"] == pytest.approx(row["qi_rcp"])
    assert row["piqi_rcp_simple"] < row["piqi_rcp"] < row["piqi_rcp_exact"]
    assert row["piqi_rcp"] == pytest.approx(row["qi_rcp"] / 2)


def test_what_is_refused_is_named() -> None:
    with pytest.raises(knee.ScenarioError, match="kappa = -1"):
        knee.fluid.miaimd(capacity="1 Mbps", rtt="80 ms", flows=1, kappa=-1)
    with pytest.raises(knee.ScenarioError, match='capacity = "fast"'):
        knee.fluid.miaimd(capacity="fast", rtt="80 ms", flows=1)
    with pytest.raises(knee.ScenarioError, match="there is no such link"):
        knee.fluid.max_min(links={"a": "1 Mbps"}, routes=[["b"]])
