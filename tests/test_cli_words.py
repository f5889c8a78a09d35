"""What the command says: lists, help, and refusals."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

import knee as package
from conftest import SHORT, Knee

COMMANDS = [
    ["run"],
    ["compare"],
    ["list"],
    ["show"],
    ["plot"],
    ["scenario", "new"],
    ["scenario", "check"],
    ["scenario", "schema"],
]


def test_the_version_is_cargos(knee: Knee) -> None:
    cargo = tomllib.loads((Path(__file__).parents[1] / "Cargo.toml").read_text())
    assert package.__version__ == cargo["workspace"]["package"]["version"]
    assert knee("--version").stdout == f"knee {package.__version__}\n"


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_has_help_with_examples(knee: Knee, command: list[str]) -> None:
    done = knee(*command, "--help")
    assert done.returncode == 0
    assert "Examples" in done.stdout
    assert f"knee {' '.join(command)}" in done.stdout.partition("Examples")[2]


@pytest.mark.parametrize("kind", ["laws", "routers", "codecs"])
def test_lists_come_from_the_registry(knee: Knee, kind: str) -> None:
    entries = json.loads(knee("list", kind, "--json").stdout)
    table = knee("list", kind).stdout
    assert entries
    for entry in entries:
        assert entry["name"] in table


def test_scenarios_are_listed(knee: Knee) -> None:
    assert "quickstart" in knee("list", "scenarios").stdout


def test_show_tells_sender_and_router(knee: Knee) -> None:
    done = knee("show", "vcp")
    assert done.returncode == 0
    for word in ("vcp, sender law", "vcp, router law", "paper", "default", "range"):
        assert word in done.stdout
    both = json.loads(knee("show", "vcp", "--json").stdout)
    assert len(both) == 2
    for law in both:
        for param in law["params"]:
            assert {"name", "unit", "default", "range", "help"} <= set(param)


def test_show_tells_what_a_preset_changes(knee: Knee) -> None:
    shown = knee("show", "vcp-authors").stdout
    for word in ("vcp-authors, preset", "sender vcp", "router vcp", "conditional", "prescribed"):
        assert word in shown
    (preset,) = json.loads(knee("show", "vcp-authors", "--json").stdout)
    assert preset["router_params"]["rounding"] == "percent"
    assert "vcp-authors" in knee("list", "laws").stdout


def test_a_new_scenario_is_good_and_never_overwritten(knee: Knee, tmp_path: Path) -> None:
    assert knee("scenario", "new", "mine.toml").returncode == 0
    written = (tmp_path / "mine.toml").read_text()
    done = knee("scenario", "check", "mine.toml")
    assert done.returncode == 0, done.stderr
    assert "6 runs" in done.stdout
    again = knee("scenario", "new", "mine.toml")
    assert again.returncode == 2
    assert (tmp_path / "mine.toml").read_text() == written
    assert knee("scenario", "new", "mine.txt").returncode == 2


def test_check_prints_every_default(knee: Knee, short: Path) -> None:
    done = knee("scenario", "check", short, "--toml", "--set", "dumbbell.flows=9")
    assert done.returncode == 0
    settings = tomllib.loads(done.stdout)
    assert settings["dumbbell"]["flows"] == 9
    assert "access_factor" in settings["dumbbell"]


def test_the_schema_is_json(knee: Knee) -> None:
    assert "$schema" in json.loads(knee("scenario", "schema").stdout)


REFUSED = {
    "unknown file": (["run", "shrt.toml"], "short.toml"),
    "no file at all": (["run", "nowhere/to/be/seen.toml"], "nowhere"),
    "folder": (["run", "."], "."),
    "unknown law": (["show", "vpc"], "vcp"),
    "setting": (["run", "short.toml", "--set", "rate"], "KEY=VALUE"),
    "unknown setting": (["run", "short.toml", "--set", "bottleneck.rat=1 Gbps"], "rate"),
    "unit": (["run", "short.toml", "--set", "bottleneck.rate=1 Gb"], "rate"),
    "negative": (["run", "short.toml", "--set", "bottleneck.rate=-1 Gbps"], "rate"),
    "seed": (["run", "short.toml", "--seed", "one"], "one"),
    "seeds backwards": (["run", "short.toml", "--seed", "5-1"], "5-1"),
    "unknown protocol": (["compare", "vcp", "cubik"], "cubik"),
    "no results": (["plot", "."], "knee run"),
    "no picture": (["plot", ".", "--out", "picture.txt"], ".png"),
}


@pytest.mark.parametrize(("arguments", "word"), REFUSED.values(), ids=REFUSED)
def test_a_refusal_is_one_sentence_and_writes_nothing(
    knee: Knee, short: Path, tmp_path: Path, arguments: list[str], word: str
) -> None:
    done = knee(*arguments)
    assert done.returncode == 2, done
    assert done.stdout == ""
    assert done.stderr.startswith("knee: ")
    assert done.stderr.count("\n") == 1, done.stderr
    assert word in done.stderr
    assert "Traceback" not in done.stderr
    assert [file.name for file in tmp_path.iterdir()] == [short.name]


TEXTS = {
    "empty": b"",
    "no TOML": b"name = ",
    "not UTF-8": b"name = \xff\xfe",
    "unknown key": SHORT.replace("rtt", "rrt").encode(),
    "absurd": SHORT.replace("flows = 3", "flows = 1e99").encode(),
    "no unit": SHORT.replace('"20 ms"', "20").encode(),
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_bad_files_are_refused_by_name(knee: Knee, tmp_path: Path, text: bytes) -> None:
    (tmp_path / "bad.toml").write_bytes(text)
    for command in (["run"], ["scenario", "check"]):
        done = knee(*command, "bad.toml")
        assert done.returncode == 2, done
        assert "bad.toml" in done.stderr
        assert done.stderr.count("\n") == 1, done.stderr


@pytest.mark.parametrize("arguments", [["rnu"], ["run"], ["list", "lawz"], ["run", "--sede", "1"]])
def test_usage_errors_leave_with_two(knee: Knee, arguments: list[str]) -> None:
    done = knee(*arguments)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
