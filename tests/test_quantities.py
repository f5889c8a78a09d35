"""Quantities as text or as SI numbers: the same scenario and the same model."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import knee
import knee.fluid
from knee import _core
from knee.memory import in_bytes
from knee.quantity import bits_per_second, seconds
from knee.settings import LAW_UNITS, UNITS

LINKS = [
    {"name": "up", "from": "a", "to": "b", "rate": "10 Mbps", "delay": "5 ms", "buffer": "30 kB"},
    {"name": "down", "from": "b", "to": "a", "rate": "1 Gbps", "delay": "0 s"},
]
SI_LINKS = [
    LINKS[0] | {"rate": 1e7, "delay": 0.005, "buffer": 30000},
    LINKS[1] | {"rate": 1e9, "delay": 0},
]
BUILT: dict[str, tuple[Callable[..., knee.Scenario], dict[str, Any], dict[str, Any]]] = {
    "dumbbell": (
        knee.dumbbell,
        {"rate": "150 Mbps", "rtt": "80 ms", "duration": "30 s", "buffer": "1500 B",
         "rtt_step": "2 ms", "start": {"uniform": ["0 s", "500 ms"]}, "warmup": "10 s",
         "transport": {"min_rto": "200 ms", "data_size": "1500 B"}, "flows": 3, "protocol": "vcp"},
        {"rate": 150e6, "rtt": 0.08, "duration": 30, "buffer": 1500, "rtt_step": 0.002,
         "start": {"uniform": [0, 0.5]}, "warmup": np.float64(10.0),
         "transport": {"min_rto": 0.2, "data_size": np.int32(1500)}, "flows": 3,
         "protocol": "vcp"},
    ),
    "steps": (
        knee.dumbbell,
        {"rate": "1 Mbps", "rtt": "1 s", "flows": 3,
         "start": {"step": {"from": "0 s", "by": "1 s"}},
         "probe": [{"quantity": "queue", "interval": "100 ms"}], "protocol": "vcp"},
        {"rate": 1e6, "rtt": 1, "flows": 3, "start": {"step": {"from": 0, "by": 1}},
         "probe": [{"quantity": "queue", "interval": 0.1}], "protocol": "vcp"},
    ),
    "parking_lot": (
        knee.parking_lot,
        {"rate": "10 Mbps", "rtt": "40 ms", "links": 2, "flows": 2, "link_delay": "1 ms",
         "rates": ["10 Mbps", "20 Mbps"], "protocol": "vcp"},
        {"rate": 1e7, "rtt": 0.04, "links": 2, "flows": 2, "link_delay": 0.001,
         "rates": np.array([1e7, 2e7]), "protocol": "vcp"},
    ),
    "graph": (
        knee.graph,
        {"links": LINKS, "flows": [{"name": "f", "from": "a", "to": "b", "start": "1 s",
                                    "size": "30 kB", "arrivals": None}],
         "protocol": "sack"},
        {"links": SI_LINKS, "flows": [{"name": "f", "from": "a", "to": "b", "start": 1,
                                       "size": 30000}],
         "protocol": "sack"},
    ),
    "compare": (
        lambda **settings: knee.compare("vcp", "cubic", **settings),
        {"rate": "50 Mbps", "rtt": "120 ms", "buffer": "60 kB", "duration": "9 s",
         "rtt_step": "1 ms", "warmup": "3 s", "set": {"transport.min_rto": "1 s"}},
        {"rate": 5e7, "rtt": 0.12, "buffer": 60_000, "duration": 9, "rtt_step": 0.001, "warmup": 3,
         "set": {"transport.min_rto": 1}},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BUILT)
def test_builders_take_si_numbers(name: str) -> None:
    build, text, numbers = BUILT[name]
    assert build(**numbers).to_toml() == build(**text).to_toml()


def small() -> knee.Scenario:
    return knee.dumbbell(rate=1e7, rtt=0.02, flows=3, protocol="vcp")


@pytest.mark.parametrize(
    ("number", "text"),
    [
        ({"bottleneck.rate": 1e9}, {"bottleneck.rate": "1 Gbps"}),
        ({"duration": np.int64(5)}, {"duration": "5 s"}),
        ({"dumbbell.flows": 5, "bottleneck.loss": 0.01},
         {"dumbbell.flows": "5", "bottleneck.loss": "0.01"}),
        ({"dumbbell": {"rtt": 0.1, "flows": 2}}, {"dumbbell": {"rtt": "100 ms", "flows": 2}}),
        ({"bottleneck.rate_changes": [{"at": 3, "rate": 1e6}]},
         {"bottleneck.rate_changes": [{"at": "3 s", "rate": "1 Mbps"}]}),
        ({"router": {"law": "codel", "target": 0.01, "interval": 0.2}},
         {"router": {"law": "codel", "target": "0.01 s", "interval": "0.2 s"}}),
        ({"transport.ack_delay": 0.05}, {"transport.ack_delay": "50 ms"}),
    ],
)  # fmt: skip
def test_settings_changed_take_si_numbers(number: dict[str, Any], text: dict[str, Any]) -> None:
    scenario = knee.dumbbell(rate=1e7, rtt=0.02, flows=3).replace(set={"protocol": "sack"})
    assert scenario.replace(set=number).to_toml() == scenario.replace(set=text).to_toml()


def test_a_laws_parameter_is_what_its_law_takes() -> None:
    """`target` is a time of CoDel and a number of packets of REM."""
    tables = [
        {"protocol": "sack/codel", "router": {"target": 0.01}},
        {"protocol": "sack", "router": {"law": "pie", "target": 0.02}},
        {"protocol": "sack/rem", "router": {"target": 100}},
    ]
    listed = small().variants(*tables).to_toml()
    assert re.findall(r"^(?:target|interval) = .*$", listed, re.MULTILINE) == [
        'target = "0.01 s"', 'target = "0.02 s"', "target = 100",
    ]  # fmt: skip
    small().variants(*tables).replace(set={"variant.0.router.interval": 0.1}).check()


@pytest.mark.parametrize(
    ("rate", "said"),
    [
        (0.5, r'rate = "0\.5 bps": a rate must be 1 bps to 100 Tbps'),
        (float("nan"), 'rate = "nan bps": a rate is a number and a unit'),
        (True, "rate = true: expected a rate"),
        ("150", 'rate = "150": a rate needs a unit'),
        (None, "missing key `rate`|rate"),
        (10**5000, "too long a number"),
    ],
    ids=range(6),
)
def test_numbers_that_are_no_quantity_are_refused(rate: Any, said: str) -> None:
    with pytest.raises(knee.ScenarioError, match=said) as caught:
        knee.dumbbell(rate=rate, rtt=0.02, flows=1, protocol="vcp").check()
    assert "\n" not in str(caught.value)


def test_files_and_the_command_line_still_ask_for_units() -> None:
    text = 'duration = 60\n[dumbbell]\nrtt = "80 ms"\nflows = 1\n[bottleneck]\nrate = "1 Mbps"'
    with pytest.raises(knee.ScenarioError, match="duration = 60: a time needs a unit"):
        knee.Scenario(text, "x.toml").check()
    with pytest.raises(knee.ScenarioError, match="a rate needs a unit"):
        small().replace(set={"bottleneck.rate": "1000000"}).check()


def test_every_quantity_of_the_format_has_its_unit() -> None:
    written = {
        name
        for name, schema in json.loads(_core.schema())["$defs"].items()
        if schema.get("type") == "string"
        and "(" in schema["description"] + "("
        and not {"enum", "const"} & schema.keys()
    }
    assert written == {*UNITS}
    kinds = {
        parameter["kind"]
        for group in json.loads(_core.catalogue()).values()
        for each in group
        if isinstance(each, dict)
        for parameter in each.get("params", ())
        if "kind" in parameter
    }
    assert kinds == {*LAW_UNITS, "number", "integer", "flag", "choice"}


def test_one_reader_of_units() -> None:
    assert bits_per_second("1_000 Mbps") == bits_per_second(1e9) == 1e9
    assert seconds("10 µs") == pytest.approx(1e-5)
    assert seconds("1.5e1 min") == 900.0
    assert seconds(np.float64(0.5)) == 0.5
    assert in_bytes("2 GB") == in_bytes(2e9) == in_bytes(2_000_000_000)
    for wrong in ("10", "10 Mbps", "fast", ""):
        with pytest.raises(knee.ScenarioError, match=f'^"{wrong}": '):
            seconds(wrong)


MODELS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "miaimd": (
        {"capacity": "150 Mbps", "rtt": "80 ms", "flows": 30, "packet": "1500 B",
         "duration": "9 s"},
        {"capacity": 150e6, "rtt": 0.08, "flows": 30, "packet": 1500, "duration": 9},
    ),
    "miaimd_sweep": (
        {"capacities": ["1 Mbps"], "rtts": ["10 ms"], "flows": [3], "kappas": [0.5]},
        {"capacities": np.array([1e6]), "rtts": [0.01], "flows": [3], "kappas": [0.5]},
    ),
    "max_min": (
        {"links": {"a": "1 Mbps"}, "routes": [["a"]]},
        {"links": {"a": np.float64(1e6)}, "routes": [["a"]]},
    ),
    "scalable_network_rest": (
        {"links": {"a": "8 Mbps"}, "routes": [["a"], ["a"]], "rtts": ["1 s", "20 ms"],
         "forward": [["30 ms"], ["0 s"]], "pivot": "50 ms"},
        {"links": {"a": 8e6}, "routes": [["a"], ["a"]], "rtts": [1, 0.02],
         "forward": [[0.03], [0]], "pivot": 0.05},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MODELS)
def test_fluid_models_take_si_numbers(name: str) -> None:
    solve = getattr(knee.fluid, name)
    text, numbers = MODELS[name]
    assert solve(**text).equals(solve(**numbers))


@pytest.mark.parametrize("name", knee.fluid.__all__)
def test_signatures_are_what_the_models_take(name: str) -> None:
    """The compiled side lists what is allowed when it refuses a keyword."""
    solve = getattr(knee.fluid, name)
    with pytest.raises(knee.ScenarioError, match="unknown key; allowed are ") as caught:
        solve(nonsense=1)
    allowed = re.findall(r"\w+", str(caught.value).partition("allowed are ")[2].partition(";")[0])
    signature = inspect.signature(solve)
    assert sorted(signature.parameters) == sorted(allowed)
    required = [
        each.name
        for each in signature.parameters.values()
        if each.default is inspect.Parameter.empty
    ]
    assert required
    for missing in required:
        text = next(iter(MODELS.values()))[0]
        given = {key: text.get(key, 1) for key in required if key != missing}
        with pytest.raises(knee.ScenarioError):
            solve(**given)


def test_a_keyword_of_no_model_is_named_with_the_nearest() -> None:
    with pytest.raises(knee.ScenarioError, match="did you mean `kappa`"):
        knee.fluid.miaimd(capacity=1e6, rtt=0.1, flows=1, kapa=0.5)  # type: ignore[call-arg]
