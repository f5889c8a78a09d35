"""What knee is built of: the lock and its hashes, and the notice of whose code is in a wheel."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import distribution

from packaging.requirements import Requirement

from conftest import ROOT


def locked() -> list[tuple[Requirement, list[str]]]:
    """Every package of the lock, with its hashes."""
    text = (ROOT / "requirements.lock").read_text("utf-8").replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [
        (Requirement(line.partition("--hash")[0]), re.findall(r"--hash=(\S+)", line))
        for line in lines
    ]


def test_the_lock_is_what_pyproject_allows() -> None:
    """Whoever changes a range has to lock anew: make lock."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    asked = sum(project["optional-dependencies"].values(), project["dependencies"])
    chosen: dict[str, list[str]] = {}
    for requirement, _ in locked():
        (pin,) = requirement.specifier
        assert pin.operator == "==", requirement
        chosen.setdefault(requirement.name, []).append(pin.version)
    for requirement in map(Requirement, asked):
        versions = chosen.get(requirement.name, [])
        assert versions, f"{requirement.name} is not locked: make lock"
        assert all(version in requirement.specifier for version in versions), requirement


def test_every_locked_package_has_hashes_and_none_an_address() -> None:
    for requirement, hashes in locked():
        assert hashes, requirement
        assert all(re.fullmatch(r"sha256:[0-9a-f]{64}", each) for each in hashes), requirement
        assert requirement.url is None
    assert "://" not in (ROOT / "requirements.lock").read_text("utf-8")


def test_whoever_installs_knee_gets_the_notice_of_what_is_linked_into_it() -> None:
    text = (ROOT / "THIRD-PARTY.txt").read_text("utf-8")
    files = distribution("knee").files or []
    (notice,) = [file for file in files if file.name == "THIRD-PARTY.txt"]
    assert notice.read_text("utf-8") == text
    lock = tomllib.loads((ROOT / "Cargo.lock").read_text("utf-8"))["package"]
    versions = {(each["name"], each["version"]) for each in lock}
    listed = re.findall(r"^(\S+) (\S+): \S.*, https://", text, re.MULTILINE)
    assert len(listed) > 40
    assert set(listed) <= versions, "make generate"
    assert "paste" not in {name for name, _ in versions}, "unmaintained"
