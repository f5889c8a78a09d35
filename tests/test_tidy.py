"""The shape of the tree: who may depend on whom, how long a file may be, what is banned."""

from __future__ import annotations

import importlib
import json
import pkgutil
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

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

LONGEST = 600


def tracked(*patterns: str) -> list[Path]:
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *patterns]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [ROOT / name for name in listed.stdout.splitlines() if (ROOT / name).is_file()]


def test_crates_depend_one_way_down() -> None:
    command = ["cargo", "metadata", "--format-version", "1", "--no-deps", "--offline"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    for package in json.loads(listed.stdout)["packages"]:
        ours = {each["name"] for each in package["dependencies"] if each["name"] in ALLOWED}
        assert package["name"] in ALLOWED, "a new crate needs its place in the design"
        assert ours <= ALLOWED[package["name"]], package["name"]


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
