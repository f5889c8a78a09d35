"""The shape of the tree: who may depend on whom, how long a file may be, what is banned."""

from __future__ import annotations

import importlib
import json
import pkgutil
import re
import subprocess
import sys
from graphlib import TopologicalSorter
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import knee
from circles import circle
from conftest import ROOT

ALLOWED = {
    "knee-laws": set(),
    "knee-path": {"knee-laws"},
    "knee-input": {"knee-laws"},
    "knee-sim": {"knee-laws", "knee-path"},
    "knee-fluid": {"knee-laws"},
    "knee-scenario": {"knee-laws", "knee-sim", "knee-input", "knee-fluid"},
    "knee-models": {"knee-laws", "knee-path", "knee-fluid", "knee-input"},
    "knee-python": {"knee-scenario", "knee-models", "knee-input"},
    "knee-fuzz": {"knee-laws", "knee-path", "knee-scenario"},
}
"""Who may depend on whom, one way down (ARCHITECTURE.md).

The tests of knee-scenario compare packets with fluid models.
"""

MAP = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
LONGEST = 600


def tracked(*patterns: str) -> list[Path]:
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *patterns]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [ROOT / name for name in listed.stdout.splitlines() if (ROOT / name).is_file()]


def packages() -> list[dict[str, Any]]:
    command = ["cargo", "metadata", "--format-version", "1", "--no-deps", "--offline"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    found: list[dict[str, Any]] = json.loads(listed.stdout)["packages"]
    return found


def test_crates_depend_one_way_down() -> None:
    for package in packages():
        ours = {each["name"] for each in package["dependencies"] if each["name"] in ALLOWED}
        assert package["name"] in ALLOWED, "a new crate needs its place in the design"
        assert ours <= ALLOWED[package["name"]], package["name"]


def test_the_map_shows_what_crates_depend_on() -> None:
    """Arrows of ARCHITECTURE.md are dependencies, and all others follow from arrows."""
    [block] = re.findall(r"^```text\n(.*?)^```", MAP, re.M | re.S)
    arrows: dict[str, set[str]] = {}
    for chain in re.split(r"\n|   +", block):
        steps = [re.findall(r"[\w/]+", step) for step in chain.split("<-")]
        for below, [above] in pairwise(steps):
            if above != "python/knee":
                arrows.setdefault(above, set()).update(below)
    reached: dict[str, set[str]] = {}
    for crate in TopologicalSorter(arrows).static_order():
        direct = arrows.get(crate, set())
        reached[crate] = direct.union(*(reached[below] for below in direct))
    for package in packages():
        names = (each["name"] for each in package["dependencies"] if each["kind"] is None)
        ours = {name.removeprefix("knee-") for name in names if name in ALLOWED}
        crate = package["name"].removeprefix("knee-")
        assert arrows.get(crate, set()) <= ours <= reached[crate], crate


def test_the_map_names_files_and_folders_that_exist() -> None:
    folders = [ROOT, ROOT / "python", *ROOT.glob("crates/*/src")]
    paths = re.findall(r"`([\w.-]+/[\w./-]*)`", MAP)
    assert paths
    assert not [path for path in paths if not any((each / path).exists() for each in folders)]


@pytest.mark.parametrize(
    "crate", sorted(folder.parent.name for folder in ROOT.glob("crates/*/src"))
)
def test_no_files_of_a_crate_import_each_other_in_a_circle(crate: str) -> None:
    assert not circle(ROOT / "crates" / crate / "src")


def test_circles_are_found(tmp_path: Path) -> None:
    (tmp_path / "room").mkdir()
    (tmp_path / "lib.rs").write_text("mod room;\n")
    (tmp_path / "room" / "mod.rs").write_text("pub mod door;\nuse door::Door;\n")
    (tmp_path / "room" / "door.rs").write_text("use super::Door;\n#[cfg(test)]\nmod tests {}\n")
    assert circle(tmp_path)
    (tmp_path / "room" / "door.rs").write_text("#[cfg(test)]\nmod tests {\n    use super::*;\n}\n")
    assert not circle(tmp_path)


def test_no_source_file_is_long() -> None:
    long = {
        str(file.relative_to(ROOT)): lines
        for file in tracked("*.rs", "*.py", "*.pyi", "*.c", "*.h")
        if (lines := file.read_text("utf-8").count("\n")) > LONGEST
    }
    assert not long


def test_no_name_hides_a_module() -> None:
    """What `knee.fluid.NAME` means must not depend on what was imported before."""
    names = [each.name for each in pkgutil.walk_packages(knee.__path__, "knee.")]
    for name in names:
        if name.endswith(".__main__"):
            continue
        importlib.import_module(name)
        package, _, last = name.rpartition(".")
        assert isinstance(getattr(sys.modules[package], last), ModuleType), name


def test_no_file_is_called_for_nothing() -> None:
    vague = re.compile(r"(^|_)(utils?|helpers?|misc|common|manager)$")
    assert not [file for file in tracked("*.rs", "*.py") if vague.search(file.stem)]


@pytest.mark.parametrize("crate", ["laws", "sim", "fluid"])
def test_simulated_code_knows_no_clock_and_no_hashing(crate: str) -> None:
    banned = re.compile(r"\b(HashMap|HashSet|Instant|SystemTime|thread_rng|from_entropy)\b")
    found = [
        f"{file.relative_to(ROOT)}:{number}"
        for file in tracked(f"crates/{crate}/src/*.rs", f"crates/{crate}/src/**/*.rs")
        for number, line in enumerate(file.read_text("utf-8").splitlines(), 1)
        if banned.search(line.partition("//")[0])
    ]
    assert not found


def test_laws_simulator_and_fluid_models_are_safe_code() -> None:
    for crate in ("laws", "sim", "fluid"):
        source = (ROOT / "crates" / crate / "src" / "lib.rs").read_text("utf-8")
        assert "#![forbid(unsafe_code)]" in source, crate
