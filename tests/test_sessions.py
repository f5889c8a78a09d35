"""Sessions: runs that are stepped, sampled and changed from Python."""

from __future__ import annotations

import polars as pl
import pytest

import knee
from knee.scenario import Scenario


def small(**more: object) -> Scenario:
    return knee.dumbbell(
        rate="10 Mbps", rtt="40 ms", flows=2, protocol=["vcp", "sack"], duration="6 s", start="0 s",
    ).replace(set=more)  # fmt: skip


def test_a_session_without_changes_is_the_run() -> None:
    whole = knee.run(small(), seeds=[3]).flows.filter(pl.col("protocol") == "sack")
    with knee.session(small(), seed=3, variant="sack") as session:
        for instant in (1, "2 s", 3.5):
            session.run_until(instant)
        assert session.now == 3.5
        assert session.finish().flows.equals(whole)


def test_changes_are_those_of_the_scenario() -> None:
    changes = [{"at": "2 s", "rate": "4 Mbps"}]
    inside = knee.run(small().replace(set={"bottleneck.rate_changes": changes}), seeds=[1])
    with knee.session(small(), variant="vcp") as session:
        session.run_until("2 s")
        session.change("bottleneck.rate", 4e6)
        first = session.samples()
        run = session.finish()
    assert run.flows.equals(inside.flows.filter(pl.col("protocol") == "vcp"))
    series = run.series()
    assert series.columns == first.columns
    assert series.height > first.height > 0
    assert first["time_s"].max() < 2.0


def test_what_cannot_be_is_refused_and_the_session_goes_on() -> None:
    with knee.session(small()) as session:
        with pytest.raises(knee.ScenarioError, match="did you mean `rate`") as refused:
            session.change("bottleneck.rat", "1 Mbps")
        assert (refused.value.path, refused.value.nearest) == ("bottleneck.rat", "rate")
        with pytest.raises(knee.ScenarioError, match="the run ends at 6 s"):
            session.run_until("7 s")
        session.finish()
        with pytest.raises(knee.ScenarioError, match="the session is over"):
            session.run_until("1 s")
    with pytest.raises(KeyError, match="there are vcp, sack"):
        knee.session(small(), variant="cubic")


def test_errors_have_parts() -> None:
    with pytest.raises(knee.ScenarioError) as refused:
        small(**{"bottleneck.rat": "1 Mbps"}).check()
    error = refused.value
    assert (error.path, error.nearest, error.line) == ("bottleneck.rat", "rate", None)
    assert "rate" in error.allowed
    with pytest.raises(knee.ScenarioError) as refused:
        Scenario("duration = 3\n", "x.toml").check()
    assert (refused.value.line, refused.value.given, refused.value.path) == (1, "3", "duration")
    assert knee.ScenarioError("made elsewhere").allowed == ()
