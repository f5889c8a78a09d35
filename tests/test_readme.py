"""The README's commands and Python snippets work as printed, only shorter."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT, Knee

SHORTER = {
    "run": ["--set", "duration=2 s", "--set", "warmup=1 s", "--seed", "1"],
    "compare": ["--duration", "2 s", "--warmup", "1 s", "--seeds", "1", "--set", "probes=none"],
    "reproduce": ["--quick"],
}
"""What makes each command brief; options that it has already are taken out first."""


def blocks(language: str) -> list[str]:
    text = (ROOT / "README.md").read_text("utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.M | re.S)


def commands() -> list[list[str]]:
    """Arguments of each `knee ...` line in the README's shell blocks, in order."""
    found = []
    for block in blocks("sh"):
        for line in block.replace("\\\n", " ").splitlines():
            words = shlex.split(line.removeprefix("$ "), comments=True)
            if words and words[0].endswith("knee"):
                found.append(words[1:])
    return found


def brief(arguments: list[str]) -> list[str]:
    if ">" in arguments:
        arguments = arguments[: arguments.index(">")]
    extra = SHORTER.get(arguments[0], [])
    if "--all-explicit" in arguments:  # all three topologies are in test_schemes.py
        extra = [*extra, "--scenario", "schemes-parking-lot"]
    kept: list[str] = []
    words = iter(arguments)
    for word in words:
        if word in extra and word != "--set":
            next(words)
        else:
            kept.append(word)
    return kept + extra


def test_the_readme_shows_commands_and_python() -> None:
    assert {"run", "compare", "show"} <= {arguments[0] for arguments in commands()}
    assert blocks("python")


def test_the_readmes_commands_work_in_their_order(knee: Knee, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "scenarios", tmp_path / "scenarios")
    for arguments in commands():
        done = knee(*brief(arguments))
        assert done.returncode == 0, (arguments, done.stderr)


@pytest.mark.parametrize("number", range(len(blocks("python"))))
def test_the_readmes_python_works(tmp_path: Path, number: int) -> None:
    shutil.copytree(ROOT / "scenarios", tmp_path / "scenarios")
    shorten = (
        "import functools, knee\n"
        "full = knee.run\n"
        "brief = {'duration': '2 s', 'warmup': '1 s'}\n"
        "knee.run = lambda scenario, *, set=None, **more: "
        "full(scenario, set={**(set or {}), **brief}, **more)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", shorten + blocks("python")[number]],
        cwd=tmp_path,
        env=os.environ | {"MPLBACKEND": "agg"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
