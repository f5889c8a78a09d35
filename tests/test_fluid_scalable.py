"""The scalable laws as fluid models, against closed forms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest

import knee
import knee.fluid
from knee.fluid import (
    scalable,
    scalable_delay,
    scalable_delay_rest,
    scalable_margin,
    scalable_network,
    scalable_network_loci,
    scalable_network_margin,
    scalable_network_rest,
    scalable_nyquist,
)

LINE: dict[str, Any] = {
    "links": {"a": "8 Mbps", "b": "8 Mbps", "spare": "80 Mbps"},
    "routes": [["a", "b"], ["a"], ["b", "spare"]],
    "rtts": ["100 ms", "40 ms", "200 ms"],
}
"""1000 packets/s on a and b: proportional fairness gives a third to the flow over both."""

HALF_PI = math.pi / 2


def test_one_link_rests_at_n_k_over_c_and_has_the_margin_of_theorem_2() -> None:
    frame = scalable(capacity="8 Mbps", rtts=["40 ms", "200 ms"], duration="400 s")
    assert frame["price_s"][-1] == pytest.approx(2 * 50 / 1000, rel=1e-3)
    assert frame["load"][-1] == pytest.approx(1, abs=1e-4)
    row = scalable_margin(rtt="80 ms").row(0, named=True)
    assert row["margin"] == pytest.approx(HALF_PI)
    assert row["encirclements"] == 0
    assert scalable_margin(rtt="80 ms", alpha=1.001 * HALF_PI)["encirclements"][0] == 2


def test_a_network_rests_where_its_utilities_are_greatest() -> None:
    rest = scalable_network_rest(**LINE)
    rates = rest.filter(pl.col("link").is_null())["rate_mbps"].to_list()
    assert rates == pytest.approx([8 / 3, 16 / 3, 16 / 3])
    assert rest["price_s"].to_list() == pytest.approx([0.075, 0.075, 0, 0.15, 0.075, 0.075])
    assert rest["load"].to_list()[:3] == pytest.approx([1, 1, 1 / 15])
    # Minimum potential delay: the price of two links, 1 / sqrt(2) of the rate.
    rest = scalable_network_rest(**LINE, fairness=2)
    rates = rest.filter(pl.col("link").is_null())["rate_mbps"].to_list()
    assert rates[1] / rates[0] == pytest.approx(math.sqrt(2))


def test_a_network_comes_to_rest_there() -> None:
    frame = scalable_network(**LINE, duration="200 s", samples=3, eta=0.5)
    assert frame.height == 3 * 6
    last = frame.tail(6)
    rest = scalable_network_rest(**LINE)
    for column in ("rate_mbps", "price_s"):
        assert last[column].to_list() == pytest.approx(rest[column].to_list(), rel=1e-4, abs=1e-9)
    assert frame["rate_mbps"][3] == pytest.approx(4 / 3), "half of where it rests"


def test_the_static_law_over_links_in_a_row() -> None:
    """x_max e^{-alpha q / (M tau)} = c: q = M tau ln(x_max / c) / alpha, of the tight one."""
    chain: dict[str, Any] = {
        "links": {"wide": "16 Mbps", "tight": "8 Mbps"},
        "routes": [["wide", "tight"]],
        "rtts": ["100 ms"],
        "max_rates": ["80 Mbps"],
    }
    rest = scalable_network_rest(**chain, alpha=1)
    assert rest["price_s"].to_list() == pytest.approx([0.2 * math.log(10), 0, 0.2 * math.log(10)])
    # M is 2, but there is one bottleneck: twice the theorem's room.
    assert scalable_network_margin(**chain, alpha=1)["margin"][0] == pytest.approx(math.pi)
    for share, unstable in ((0.999, 0), (1.001, 2)):
        row = scalable_network_margin(**chain, alpha=share * HALF_PI, bottlenecks=1)
        assert row["encirclements"][0] == unstable
        assert row["bottlenecks"][0] == 1


def test_eigenloci_are_eigenvalues_of_the_return_ratio() -> None:
    """By numpy, from (12) as the paper writes it."""
    alpha, rtts, forward = 1.0, (0.1, 0.04, 0.2), ((0.0, 0.03), (0.01,), (0.05,))
    setting = LINE | {
        "links": {"a": "8 Mbps", "b": "6 Mbps"},
        "routes": [["a", "b"], ["a"], ["b"]],
        "forward": [["0 s", "30 ms"], ["10 ms"], ["50 ms"]],
        "max_rates": ["8 Mbps"] * 3,
    }
    rates = scalable_network_rest(**setting, alpha=alpha, bottlenecks=2)["rate_mbps"].to_numpy()[2:]
    w = 7.0
    loop = np.zeros((2, 2), complex)
    routes = ((0, 1), (0,), (1,))
    for rate, rtt, route, delays in zip(rates, rtts, routes, forward, strict=True):
        kappa = alpha * rate / (2 * rtt)
        for row, there in zip(route, delays, strict=True):
            for column, back in zip(route, delays, strict=True):
                delay = np.exp(-1j * w * there) * np.exp(-1j * w * (rtt - back))
                loop[row, column] += kappa * delay / (1j * w * (8.0, 6.0)[column])
    loci = scalable_network_loci(**setting, alpha=alpha, bottlenecks=2, frequencies=[w])
    expected = sorted(np.linalg.eigvals(loop), key=abs, reverse=True)
    assert loci["re"].to_list() == pytest.approx([value.real for value in expected])
    assert loci["im"].to_list() == pytest.approx([value.imag for value in expected])


def test_a_nyquist_plot_point_by_point() -> None:
    """lambda = alpha e^{-jw tau} / (jw tau) (jw + z) / (jw + z kappa / nu)."""
    for w in (0.1, 1.0, 10.0):
        gain = scalable_nyquist(rtt="500 ms", zero=0.3, ratio=20, frequencies=[w])
        expected = np.exp(-0.5j * w) / (0.5j * w) * (1j * w + 0.3) / (1j * w + 0.3 / 20)
        assert gain["re"][0] == pytest.approx(expected.real)
        assert gain["im"][0] == pytest.approx(expected.imag)


def test_delay_estimates_that_are_too_long_give_larger_shares() -> None:
    """K / q + K / (q - e) = c: with e of the queue found, the golden ratio."""
    golden = (1 + math.sqrt(5)) / 2
    setting: dict[str, Any] = {
        "capacity": "8 Mbps",
        "rtts": ["100 ms", "50 ms"],
        "errors": ["0 s", "50 ms"],  # K / c, the queue that the first keeps alone
    }
    rest = scalable_delay_rest(**setting)
    assert rest["share"][1] / rest["share"][0] == pytest.approx(golden)
    assert rest["queue_s"][0] == pytest.approx(0.05 * golden**2)
    for exponent in ("window", "rate"):
        frame = scalable_delay(**setting, exponent=exponent, duration="200 s", samples=2)
        last = frame.tail(2)
        assert last["rate_mbps"].to_list() == pytest.approx(rest["rate_mbps"].to_list(), rel=1e-3)
        assert last["queue_s"][0] == pytest.approx(rest["queue_s"][0], rel=1e-3)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"rtts": ["1 ms"]}, "rtts.* has 1 RTTs for 3 flows"),
        ({"routes": [["x"], ["a"], ["b"]]}, "there is no such link"),
        ({"forward": [["0 s"], ["0 s"], ["0 s", "1 ms"]]}, "has 1 delays for 2 links"),
        ({"forward": [["0 s", "1 s"], ["0 s"], ["0 s", "1 ms"]]}, "below the flow's RTT"),
        ({"max_rates": ["1 Mbps"]}, "has 1 rates for 3 flows"),
        ({"max_rates": ["1 Mbps"] * 3, "eta": 0.5}, "static law"),
        ({"fairness": 1000}, "from 0.1 to 100"),
    ],
)
def test_what_a_network_refuses(change: dict[str, Any], said: str) -> None:
    with pytest.raises(knee.ScenarioError, match=said):
        scalable_network_rest(**(LINE | change))
