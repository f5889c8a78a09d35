"""A store heals: what is damaged in it is found, set aside and made again."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path

import polars as pl
import pytest
from filelock import FileLock

import knee
from conftest import Knee
from knee.jobs import Job, jobs, kept
from knee.making import make
from knee.store import MADE_BY, SUMS, Store, StoreError, StoreWarning


def planned() -> list[Job]:
    scenario = knee.dumbbell(
        rate="5 Mbps", rtt="20 ms", flows=2, duration="2 s", protocol=["vcp", "sack"]
    )
    return jobs(scenario)


def entries(store: Path) -> list[Path]:
    return sorted(store.glob("??/*"))


def truncate(one: Path, _: Path) -> None:
    table = one / "series.parquet"
    table.write_bytes(table.read_bytes()[:-100])


def flip_a_bit(one: Path, _: Path) -> None:
    table = one / "flows.parquet"
    data = bytearray(table.read_bytes())
    data[len(data) // 2] ^= 1
    table.write_bytes(data)


def remove_a_table(one: Path, _: Path) -> None:
    (one / "summary.parquet").unlink()


def remove_all(one: Path, _: Path) -> None:
    for file in one.iterdir():
        file.unlink()


def forget_checksums(one: Path, _: Path) -> None:
    (one / SUMS).unlink()


def spoil_checksums(one: Path, _: Path) -> None:
    (one / SUMS).write_bytes(b"\xff\xfe")


def change_the_laws(one: Path, _: Path) -> None:
    """As if other laws had made it, checksums and all."""
    made_by = one / MADE_BY
    before = sha256(made_by.read_bytes()).hexdigest()
    made_by.write_text(made_by.read_text("utf-8") + "sender other 0\n", encoding="utf-8")
    after = sha256(made_by.read_bytes()).hexdigest()
    sums = one / SUMS
    sums.write_text(sums.read_text("utf-8").replace(before, after), encoding="utf-8")


def exchange(one: Path, other: Path) -> None:
    spare = one.with_name("spare")
    one.rename(spare)
    other.rename(one)
    spare.rename(other)


def exchange_tables_within(one: Path, _: Path) -> None:
    exchange(one / "summary.parquet", one / "flows.parquet")


def exchange_tables_between(one: Path, other: Path) -> None:
    exchange(one / "summary.parquet", other / "summary.parquet")


DAMAGES = {
    truncate: ("series.parquet is not as its checksum", 1),
    flip_a_bit: ("flows.parquet is not as its checksum", 1),
    remove_a_table: ("it lacks summary.parquet", 1),
    remove_all: ("it lacks SHA256SUMS", 1),
    forget_checksums: ("it lacks SHA256SUMS", 1),
    spoil_checksums: ("SHA256SUMS is no text", 1),
    exchange_tables_within: ("parquet is not as its checksum", 1),
    exchange_tables_between: ("summary.parquet is not as its checksum", 2),
    change_the_laws: ("scenario.toml is of another run", 1),
    exchange: ("scenario.toml is of another run", 2),
}


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of two runs."""
    folder = tmp_path_factory.mktemp("filled") / "store"
    make(planned(), Store(folder))
    return folder


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_a_damaged_entry_is_set_aside_and_made_again(
    tmp_path: Path, filled: Path, damage: Callable[[Path, Path], None]
) -> None:
    folder = tmp_path / "store"
    shutil.copytree(filled, folder)
    damage(*entries(folder))
    said, count = DAMAGES[damage]
    broken = Store(folder)
    assert [broken.get(job.key) is None for job in planned()].count(True) == count
    with pytest.warns(StoreWarning, match=said) as warned:
        make(planned(), Store(folder))
    assert len(warned) == count
    assert len([*(folder / "damaged").iterdir()]) == count
    healed, whole = Store(folder), Store(filled)
    for job in planned():
        ours, theirs = (kept(store, job).summary.drop("cpu_seconds") for store in (healed, whole))
        assert ours.equals(theirs, null_equal=True)
    before = {file: file.stat().st_mtime_ns for file in folder.rglob("*.parquet")}
    make(planned(), Store(folder))
    assert {file: file.stat().st_mtime_ns for file in folder.rglob("*.parquet")} == before


def test_the_command_tells_and_goes_on(knee: Knee, tmp_path: Path) -> None:
    claim = ("reproduce", "vcp-fig1", "--quick", "--json")
    first = knee(*claim)
    assert (first.returncode, first.stderr.count("\n")) == (0, 1), first.stderr
    for entry in entries(tmp_path / "results" / "store")[:2]:
        truncate(entry, entry)
    second = knee(*claim)
    assert second.returncode == 0, second.stderr
    told = [line for line in second.stderr.splitlines() if "damaged" in line]
    assert len(told) == 2
    assert all(line.startswith("knee: warning: the run kept in ") for line in told)
    assert second.stdout == first.stdout


def changed(laws: Sequence[str], law: str) -> list[str]:
    """Laws with another fingerprint of one of them."""
    return [f"{line[:-1]}!" if line.startswith(f"{law} ") else line for line in laws]


def test_a_law_that_changes_changes_the_keys_of_its_own_runs_alone() -> None:
    vcp, sack = planned()
    assert [line.rsplit(" ", 1)[0] for line in vcp.laws] == ["router vcp", "sender vcp"]
    assert [line.rsplit(" ", 1)[0] for line in sack.laws] == ["router droptail", "sender sack"]
    for job in (vcp, sack):
        toml = job.scenario.to_toml()
        assert Store.key(toml, job.laws) == job.key
        for law in ("sender vcp", "router vcp", "sender sack", "router droptail", "sender cubic"):
            runs_it = any(line.startswith(f"{law} ") for line in job.laws)
            assert (Store.key(toml, changed(job.laws, law)) != job.key) == runs_it


def test_a_run_of_a_law_before_its_change_is_not_taken_for_one_after_it(
    filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Changed:
        """A checked scenario of which one law has changed since."""

        def __init__(self, checked: knee._core.Scenario) -> None:
            self.checked = checked

        def __getattr__(self, name: str) -> object:
            return getattr(self.checked, name)

        @property
        def laws(self) -> list[list[str]]:
            return [changed(laws, "sender vcp") for laws in self.checked.laws]

    check = knee.Scenario.check
    monkeypatch.setattr(knee.Scenario, "check", lambda self: Changed(check(self)))
    store = Store(filled)
    assert [job.key in store for job in planned()] == [False, True]


def test_an_entry_says_what_made_it(filled: Path) -> None:
    store = Store(filled)
    for job in planned():
        lines = (store._entry(job.key) / MADE_BY).read_text("utf-8").splitlines()
        assert lines == [f"knee {knee.__version__} {knee._core.__fingerprint__}", *job.laws]


def test_checksums_are_those_of_sha256sum(filled: Path) -> None:
    if shutil.which("sha256sum") is None:
        pytest.skip("no sha256sum")
    for entry in entries(filled):
        subprocess.run(["sha256sum", "--check", "--strict", SUMS], cwd=entry, check=True)


def test_leftovers_of_the_dead_are_removed_when_a_store_is_opened(tmp_path: Path) -> None:
    left = tmp_path / ".knee-work-abcdefgh" / "new"
    left.mkdir(parents=True)
    Store(tmp_path)
    assert [entry.name for entry in tmp_path.iterdir()] == ["locks"]


def test_whoever_waits_for_another_process_can_be_stopped(tmp_path: Path) -> None:
    store = Store(tmp_path)
    job = planned()[0]
    reports = 0

    def stop(_: float) -> None:
        nonlocal reports
        reports += 1
        if reports > 3:
            raise KeyboardInterrupt

    with FileLock(tmp_path / "locks" / job.key), pytest.raises(KeyboardInterrupt):
        make([job], store, progress=stop)
    assert job.key not in store
    make([job], store)
    assert job.key in store


def test_a_run_that_has_vanished_is_missed_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="its run is no longer in"):
        kept(Store(tmp_path), planned()[0])


def test_a_disk_that_is_full_is_told_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("knee.columns.Run.write", full)
    with pytest.raises(StoreError, match="No space left on device"):
        make(planned(), Store(tmp_path))
    assert not entries(tmp_path)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["locks"]


def test_two_processes_that_keep_the_same_run_keep_it_once(filled: Path, tmp_path: Path) -> None:
    job = planned()[0]
    run = kept(Store(filled), job)
    store, other = Store(tmp_path), Store(tmp_path)
    store.put(run, job.laws)
    before = entries(tmp_path)[0].stat().st_ino
    other.put(run, job.laws)
    assert [entry.stat().st_ino for entry in entries(tmp_path)] == [before]
    assert isinstance(kept(other, job).summary, pl.DataFrame)
