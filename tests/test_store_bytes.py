"""Whatever the bytes of a store's entry are, it is read as the run that it was, or not at all.

`make fuzz` goes on for FUZZ_SECONDS; what breaks a test is kept in .hypothesis and tried first.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import knee
from knee.columns import FILES, TABLES, DamagedError
from knee.jobs import Job, jobs
from knee.making import make
from knee.store import KEPT, SUMS, Store, StoreWarning

SECONDS = float(os.environ.get("FUZZ_SECONDS", "0"))


class Damage(NamedTuple):
    """What becomes of an entry."""

    name: str
    at: float
    """Where in the file of this name, as a share of it."""
    gone: int
    """How many bytes go there."""
    written: bytes
    """What comes instead."""

    def to(self, entry: Path) -> bool:
        """Do it; is the entry another one now?"""
        file = entry / self.name
        before = file.read_bytes()
        at = int(self.at * len(before))
        after = before[:at] + self.written + before[at + self.gone :]
        file.write_bytes(after)
        return after != before


def damages(*names: str) -> st.SearchStrategy[Damage]:
    shares = st.floats(0, 1) | st.sampled_from([0.0, 0.999, 1.0])
    gone = st.integers(0, 20) | st.integers(0, 100_000)
    return st.builds(Damage, st.sampled_from(names), shares, gone, st.binary(max_size=40))


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Job]:
    """A store of one run."""
    scenario = knee.dumbbell(rate="5 Mbps", rtt="20 ms", flows=2, duration="2 s", protocol="vcp")
    (job,) = jobs(scenario)
    folder = tmp_path_factory.mktemp("filled") / "store"
    make([job], Store(folder))
    return folder, job


def copied(filled: Path, folder: Path) -> Path:
    """The entry of a copy of a store."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(filled, folder)
    (entry,) = folder.glob("??/*")
    return entry


def test_a_damaged_entry_is_told_of_and_set_aside(filled: tuple[Path, Job], tmp_path: Path) -> None:
    @settings(max_examples=50, deadline=None)
    @given(damages(*sorted(KEPT), SUMS))
    def check(damage: Damage) -> None:
        entry = copied(filled[0], tmp_path / "store")
        is_other = damage.to(entry)
        store, key = Store(tmp_path / "store"), filled[1].key
        if (damage.name == SUMS and key in store) or not is_other:
            return  # the sums are still those of the files
        assert store.get(key) is None
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            store.set_aside_if_damaged(key)
        assert [each.category for each in told] == [StoreWarning]
        assert "\n" not in str(told[0].message)
        assert not entry.exists()

    go_on(check)


def test_tables_that_were_never_whole_are_refused_in_a_sentence(
    filled: tuple[Path, Job], tmp_path: Path
) -> None:
    """Their checksums are right: somebody made them so."""
    said: list[str] = []

    @settings(max_examples=50, deadline=None)
    @given(damages(*sorted(FILES)))
    def check(damage: Damage) -> None:
        entry = copied(filled[0], tmp_path / "store")
        damage.to(entry)
        digests = {name: hashlib.sha256((entry / name).read_bytes()) for name in sorted(KEPT)}
        sums = (f"{digest.hexdigest()}  {name}\n" for name, digest in digests.items())
        (entry / SUMS).write_text("".join(sums), encoding="utf-8")
        run = Store(tmp_path / "store").get(filled[1].key)
        for table in TABLES if run else ():
            try:
                run.arrow(table)
            except DamagedError as error:
                said.append(str(error))

    go_on(check)
    assert said, "no damage was noticed"
    assert not [message for message in said if "\n" in message]


def go_on(check: Callable[[], object]) -> None:
    """Check once, and again until the time is over."""
    end = time.monotonic() + SECONDS
    check()
    while time.monotonic() < end:
        check()
