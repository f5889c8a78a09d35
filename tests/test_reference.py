"""The comparison with other simulators: its bounds, its file of results, its causes."""

from __future__ import annotations

import fnmatch
import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parent.parent / "reference"
MODULES = ("cases", "wlan", "pictures", "compare")


@pytest.fixture
def compare(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.syspath_prepend(str(FOLDER))
    for name in MODULES:
        monkeypatch.delitem(sys.modules, name, raising=False)
    yield importlib.import_module("compare")
    for name in MODULES:
        sys.modules.pop(name, None)


def test_a_bound_that_holds_is_enough(compare: Any) -> None:
    assert compare.is_within(1.03, 1.0, 0.01, {"rel": 0.005, "errors": 3})
    assert not compare.is_within(1.031, 1.0, 0.01, {"rel": 0.005, "errors": 3})
    assert compare.is_within(1.005, 1.0, 0.0, {"rel": 0.005, "errors": 3})
    assert not compare.is_within(1.03, 1.0, 0.01, {"rel": 0.005})


def test_parts_that_are_not_run_keep_their_tables(compare: Any) -> None:
    whole = (FOLDER / "results.md").read_text(encoding="utf-8")
    assert compare.renewed(whole, {}) == whole
    what = compare.TOLERANCES["wlan-download"]["what"]
    other = compare.renewed(whole, {what: "\nnew\n"})
    assert f"### {what}\n\nnew\n" in other
    assert whole.partition(f"### {what}")[0] == other.partition(f"### {what}")[0]
    assert whole.rpartition("### ")[2] == other.rpartition("### ")[2]


def test_each_cause_has_its_points_and_each_figure_a_title(compare: Any) -> None:
    cases = [case for part in compare.PARTS.values() for one in part() for case in one.cases]
    labels = {f"{case.simulator}: {case.point}" for case in cases}
    for cause in compare.read("explained.toml")["cause"]:
        for pattern in cause["points"]:
            assert fnmatch.filter(labels, pattern), pattern
        assert set(cause["figures"]) <= set(compare.TITLES)
    assert {case.group for case in cases} <= set(compare.TOLERANCES)
    for stated in compare.TOLERANCES.values():
        assert set(stated) - {"what"} <= set(compare.TITLES)


def test_settings_of_wireless_lans_are_scenarios(compare: Any) -> None:
    for setting in compare.PARTS["wlan"]():
        setting.scenario.check()
