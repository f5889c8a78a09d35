"""CONTRIBUTING.md's walks through the tree: the files, names and lines that they show exist.

Its Rust programs are compiled and run as documentation tests of knee-scenario.
"""

from __future__ import annotations

import re

import pytest

from conftest import ROOT

WALKS = {
    heading: re.split(r"^\d+\. ", walk, flags=re.M)[1:]
    for heading, walk in re.findall(
        r"^### (.*)\n((?:(?!##).*\n)+)", (ROOT / "CONTRIBUTING.md").read_text("utf-8"), re.M
    )
}
"""The numbered steps below each heading of the third level."""

FENCE = re.compile(r"^ *```.*?\n(.*?)^ *```$", re.M | re.S)


def names(step: str) -> tuple[list[str], list[str]]:
    """Paths in backquotes, and the names in them (`A::b` is two); without the quoted lines."""
    quoted = re.findall(r"`([^`]+)`", FENCE.sub("", step))
    paths = [name for name in quoted if "/" in name]
    return paths, [part for name in quoted if name not in paths for part in name.split("::")]


def named(step: str) -> str:
    """The text of all files that a step names."""
    paths = [ROOT / path for path in names(step)[0]]
    return "\n".join(path.read_text("utf-8") for path in paths if path.is_file())


def lines(text: str) -> set[str]:
    return {line.strip() for line in text.splitlines()}


def test_an_option_of_each_kind_a_quantity_and_a_codec_have_walks() -> None:
    assert len(WALKS) == 4


@pytest.mark.parametrize("heading", WALKS)
def test_walks_name_what_exists(heading: str) -> None:
    for step in WALKS[heading]:
        paths, others = names(step)
        assert not [path for path in paths if not (ROOT / path).exists()]
        text = named(step)
        missing = [each for each in others if not re.search(rf"\b{re.escape(each)}(?!\w)", text)]
        assert not missing


@pytest.mark.parametrize("heading", WALKS)
def test_walks_quote_lines_as_they_are(heading: str) -> None:
    quoted = {step: "\n".join(FENCE.findall(step)) for step in WALKS[heading]}
    assert any(quoted.values())
    for step, quote in quoted.items():
        assert not lines(quote) - lines(named(step)) - {""}


@pytest.mark.parametrize("heading", WALKS)
def test_walks_follow_their_entry_through_every_step(heading: str) -> None:
    [entry] = re.findall(r"`(\w+)`", heading)
    spelling = re.compile(entry.replace("_", "_?"), re.IGNORECASE)
    assert not [step for step in WALKS[heading] if not spelling.search(named(step))]
