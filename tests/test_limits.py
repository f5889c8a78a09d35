"""Limits of memory and text are kept, long work can be stopped, doubts are told."""

from __future__ import annotations

import gc
import os
import re
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import pytest

import knee
from conftest import SHORT, Knee
from knee import _core, fluid
from knee.memory import Room, in_words
from knee.scenario import Scenario
from knee.store import Store

MB = 1_000_000


def small(**more: object) -> Scenario:
    return knee.dumbbell(
        rate="10 Mbps", rtt="20 ms", flows=2, protocol="sack", duration="2 s", **more
    )


class Alarm(Exception):  # noqa: N818
    """Raised to stop the work, as Ctrl-C would."""


@contextmanager
def stopped(after: float) -> Iterator[None]:
    """Stops the work after so many seconds; it must end within a second of CPU time."""
    begun: list[float] = []

    def stop(_: int, __: FrameType | None) -> None:
        begun.append(time.process_time())
        raise Alarm

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, after)
    try:
        with pytest.raises(Alarm):
            yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert time.process_time() - begun[0] < 1.0, "seconds of CPU time after the order to stop"


def row(links: int, duration: str = "24 h", **more: object) -> Scenario:
    each = [
        {
            "name": f"l{i}", "from": f"n{i}", "to": f"n{i + 1}", "rate": "100 Tbps",
            "delay": "1 ns", "duplex": True, **more,
        }
        for i in range(links)
    ]  # fmt: skip
    flows = [{"name": "f", "from": "n0", "to": f"n{links}", "count": 5}]
    return knee.graph(links=each, flows=flows, protocol="sack", duration=duration, probes="none")


LONG: dict[str, Callable[[], object]] = {
    "fast links": lambda: knee.run(row(1)),
    "unmeasured links": lambda: knee.run(row(20, measured=False)),
    "check": lambda: [row(20_000).check() for _ in range(100)],
    "compare": lambda: [knee.compare("vcp", "cubic") for _ in range(100_000)],
    "flows": lambda: knee.run(small(start="0 s"), set={"dumbbell.flows": 300_000}),
    "fluid": lambda: fluid.miaimd(capacity="1 Gbps", rtt="1 ms", flows=3, duration="900 s"),
    "margin": lambda: [fluid.scalable_network_margin(**WIDE) for _ in range(1000)],
}
WIDE = {
    "links": {"a": "20 Gbps", "b": "200 kbps", "c": "4 Gbps"},
    "routes": [["b"], ["b", "c"], ["c"]],
    "rtts": ["6 s", "0.1 ms", "8 ms"],
}


@pytest.mark.parametrize("work", LONG.values(), ids=LONG)
def test_whatever_takes_long_stops_within_a_second_of_cpu_time(work: Callable[[], object]) -> None:
    gc.collect()  # an alarm within a destructor of an earlier test's objects would be lost
    with stopped(0.4):
        work()


def test_what_there_is_no_memory_for_is_refused_with_what_to_change() -> None:
    many = small(start="0 s").replace(set={"dumbbell.flows": 100_000})
    for limit in ("20 MB", 20 * MB):
        with pytest.raises(knee.ScenarioError) as refused:
            knee.run(many, memory_limit=limit)
        assert re.fullmatch(
            r"dumbbell: dumbbell\.flows: it would take about \d+ MB of memory where there are 20 "
            r"MB, \d+ MB of it for 100000 flows; take fewer flows, or raise the memory limit",
            str(refused.value),
        )
    with pytest.raises(knee.ScenarioError, match="memory limit 1: an amount of memory needs a"):
        knee.run(small(), memory_limit="1")


def test_fewer_runs_go_at_a_time_where_not_all_fit() -> None:
    scenario = small(seeds=4)
    all_at_once = knee.run(scenario, threads=4).flows
    limit = scenario.check().memory(2)
    with pytest.warns(knee.ScenarioWarning, match="2 of 4 runs go side by side, since each takes"):
        some = knee.run(scenario, threads=4, memory_limit=limit).flows
    assert some.equals(all_at_once)


def test_a_sweep_refuses_a_run_that_does_not_fit_and_keeps_nothing_of_it(tmp_path: Path) -> None:
    many = small(start="0 s").replace(set={"dumbbell.flows": 100_000})
    with (
        pytest.raises(knee.ScenarioError, match="it would take about"),
        pytest.warns(knee.ScenarioWarning, match="wait until there is room for them"),
    ):
        knee.sweep(many, {"dumbbell.reverse": [1]}, store=Store(tmp_path), memory_limit="20 MB")
    assert not [*tmp_path.rglob("*.parquet")]


def test_runs_that_share_a_room_take_turns() -> None:
    room = Room("10 MB")
    assert room.holds(2, 5 * MB)
    assert not room.holds(2, 6 * MB)
    waits, inside = threading.Event(), threading.Event()

    def asked() -> bool:
        waits.set()
        return False

    def other() -> None:
        with room.taken(6 * MB, asked):
            inside.set()

    thread = threading.Thread(target=other)
    with room.taken(6 * MB, lambda: False), room.taken(4 * MB, lambda: False):
        thread.start()
        assert waits.wait(10)  # the room is full for it
        assert not inside.is_set()
    thread.join(10)
    assert inside.is_set()
    with room.taken(MB, lambda: False), room.taken(100 * MB, lambda: True):
        pass  # an order to stop ends the wait
    with room.taken(100 * MB, lambda: False):
        pass  # a run that is alone may take more than the room


def test_memory_is_told_in_words() -> None:
    assert [in_words(size) for size in (1, 120 * MB, 1500 * MB)] == ["1 MB", "120 MB", "1.5 GB"]
    assert _core.parse_memory("8 GB") == 8_000 * MB
    assert (_core.available_memory() or MB) >= MB


def test_doubts_are_warnings() -> None:
    flows = [{"name": "late", "path": "forward", "start": "5 s"}]
    late = small().replace(set={"flows": flows})
    said = 'flows.late.start = "5 s": the run ends at 2 s, before its flows begin'
    with pytest.warns(knee.ScenarioWarning, match=re.escape(said)):
        knee.run(late)
    (told,) = late.check().warnings
    assert told.endswith(said)
    assert small().check().warnings == []


def test_a_sweep_tells_doubts_once(tmp_path: Path) -> None:
    late = small(start="5 s")
    with pytest.warns(knee.ScenarioWarning) as told:
        knee.sweep(late, {"bottleneck.rate": ["1 Mbps", "2 Mbps"]}, seeds=2, store=Store(tmp_path))
    assert len(told) == 1


def test_the_command_tells_doubts_and_goes_on(knee: Knee, short: Path) -> None:
    done = knee("run", short, "--seed", "1", "--set", "dumbbell.start=5 s", "--quiet")
    said = "knee: warning: --set dumbbell.start=5 s: the run ends at 3 s, before its flows begin\n"
    assert (done.returncode, done.stderr) == (0, said)
    checked = knee("scenario", "check", short, "--set", "dumbbell.start=5 s")
    assert (checked.returncode, checked.stderr) == (0, said)
    assert re.fullmatch(r".* is good: 4 runs \(.*\), about \d+ MB each\n", checked.stdout)


def test_the_command_takes_limits(knee: Knee, short: Path) -> None:
    for command in (["run", str(short)], ["compare", "vcp"], ["reproduce", "vcp-fig1", "--quick"]):
        done = knee(*command, "--memory-limit", "lots")
        assert done.returncode == 2, done
        assert done.stderr.startswith("knee: memory limit lots: an amount of memory is a number")
        assert done.stderr.count("\n") == 1
    done = knee("run", short, "--set", "dumbbell.flows=100000", "--memory-limit", "20 MB")
    assert done.returncode == 2
    assert "it would take about" in done.stderr
    assert knee("run", short, "--seed", "1", "--threads", "1", "--quiet").returncode == 0


def test_only_files_are_read_and_not_without_end(knee: Knee, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.toml")
    (tmp_path / "long.toml").write_text(SHORT + "#" * _core.MOST_TEXT)
    for file, said in {
        "/dev/zero": "a scenario is a file, and this is a device",
        "pipe.toml": "a scenario is a file, and this is a pipe",
        ".": "a scenario is a file, and this is a folder",
        "long.toml": "a scenario has at most 8 MB of text, and this file has more",
    }.items():
        for command in (["run"], ["scenario", "check"]):
            done = knee(*command, file)
            assert (done.returncode, done.stderr) == (2, f"knee: {file}: {said}\n")


def test_a_fluid_model_that_cannot_be_followed_says_so() -> None:
    with pytest.raises(knee.ScenarioError, match=r"too fast to be followed; .*less weight") as said:
        fluid.scalable_network(links={"a": "10 Mbps"}, routes=[["a"]], rtts=["100 ms"], weight=1e9)
    assert "\n" not in str(said.value)
    with pytest.raises(knee.ScenarioError, match=r"kappa = 4\.5 is above 1\.58"):
        fluid.miaimd(capacity="5 Gbps", rtt="19 ms", flows=68, kappa=4.5)


def test_no_number_of_a_fluid_model_is_infinite() -> None:
    sweep = fluid.miaimd_sweep(
        capacities=["3.7 Gbps"], rtts=["950 ms"], flows=[1.2], kappas=[0.5, 10.8]
    )
    assert sweep["deviation"].is_null().to_list() == [False, True]
    margin = fluid.scalable_margin(rtt="100 ms", alpha=1e-3).row(0, named=True)
    assert margin["margin"] is None
    assert margin["encirclements"] == 0
