"""Folders and files are replaced completely or not at all, whatever happens meanwhile."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

import replacing
from conftest import ROOT
from knee import replacement
from knee.replacement import FolderError, check_folder, create, placed, replaced, tidy
from replacing import is_ours, version, write


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


@pytest.fixture
def no_sync(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)


@pytest.fixture(params=["exchange", "rename"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Two ways to replace a folder: by an exchange (Linux), and by two renames."""
    if request.param == "rename":
        monkeypatch.setattr(replacement, "_exchanged", lambda *_: False)
    return str(request.param)


def test_a_folder_is_made_and_replaced(tmp_path: Path, way: str) -> None:
    assert way
    target = tmp_path / "not" / "there" / "yet"
    for each in ("first", "second"):
        write(target, each)
        assert version(target) == each
        assert names(target.parent) == ["yet"]
    assert target.stat().st_mode & 0o777 == (target.parent).stat().st_mode & 0o777


@pytest.mark.usefixtures("no_sync")
def test_an_interrupt_at_any_instruction_loses_neither(
    tmp_path: Path, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A Ctrl-C between any two instructions, from the moment when all is written."""
    monkeypatch.setattr(replacement, "check_folder", lambda folder, *_: Path(folder))

    def interrupt() -> None:
        raise KeyboardInterrupt

    steps = replacing.Steps(interrupt, instructions=True)

    def stopped(what: Callable[[], object], step: int) -> bool:
        try:
            return steps.run(what, step)
        except KeyboardInterrupt:
            return True

    count = replacing.stop_at_every_step(tmp_path, stopped, at_once=way == "exchange")
    assert count > 200


@pytest.mark.parametrize("how", ["exchange", "rename", "loop"])
def test_a_process_killed_at_any_step_loses_neither(tmp_path: Path, how: str) -> None:
    """By SIGKILL, so that the process itself cleans up nothing."""
    script = [sys.executable, ROOT / "tests" / "replacing.py", tmp_path, how]
    done = subprocess.run(script, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.usefixtures("no_sync")
def test_a_reader_always_finds_the_folder(tmp_path: Path) -> None:
    target = tmp_path / "target"
    write(target, "0")
    looks, absences = 0, 0
    stop = threading.Event()

    def look() -> None:
        nonlocal looks, absences
        while not stop.is_set():
            looks += 1
            absences += not target.is_dir()

    reader = threading.Thread(target=look)
    reader.start()
    try:
        for count in range(150):
            write(target, str(count))
    finally:
        stop.set()
        reader.join()
    assert looks > 100
    assert absences == 0


def test_all_is_on_the_disk_before_it_takes_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "target"
    write(target, "first")
    kept: list[str] = []
    sync, exchange = os.fsync, replacement._exchanged

    def note_sync(handle: int) -> None:
        kept.append(Path(f"/proc/self/fd/{handle}").readlink().name)
        sync(handle)

    def note_exchange(one: Path, other: Path) -> bool:
        kept.append("exchange")
        return exchange(one, other)

    monkeypatch.setattr(os, "fsync", note_sync)
    monkeypatch.setattr(replacement, "_exchanged", note_exchange)
    write(target, "second")
    assert sorted(kept[:3]) == ["a", "b", "target"]
    assert kept[3:] == ["exchange", tmp_path.name]


def test_links_stay_links(tmp_path: Path) -> None:
    real, link, dangling = tmp_path / "real", tmp_path / "link", tmp_path / "dangling"
    write(real, "first")
    link.symlink_to("real")
    dangling.symlink_to("elsewhere/folder")
    for each in (link, dangling):
        write(each, "second")
        assert each.is_symlink()
        assert version(each) == "second"
    picture, pointer = tmp_path / "picture", tmp_path / "pointer"
    picture.write_text("old")
    pointer.symlink_to(picture)
    with placed(pointer) as new:
        new.write_text("new")
    assert pointer.is_symlink()
    assert picture.read_text() == "new"


def test_what_came_meanwhile_is_not_thrown_away(tmp_path: Path) -> None:
    """A user puts a file into the folder while the run goes on."""
    target = tmp_path / "target"
    write(target, "first")
    (tmp_path / "target-2").mkdir()

    def run() -> None:
        with replaced(target, is_ours, "results") as new:
            for name in replacing.FILES:
                (new / name).write_text("second")
            (target / "notes.txt").write_text("dear to me")

    with pytest.raises(FolderError, match=r"it holds notes\.txt now; .* are in .*target-3$"):
        run()
    assert names(target) == ["a", "b", "notes.txt"]
    assert version(tmp_path / "target-3") == "second"
    assert names(tmp_path) == ["target", "target-2", "target-3"]


def test_a_place_that_cannot_be_taken_costs_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "target"
    write(target, "first")

    def busy(*_: object) -> bool:
        raise OSError(errno.EBUSY, "Device or resource busy")

    monkeypatch.setattr(replacement, "_exchanged", busy)
    with pytest.raises(FolderError, match=r"cannot replace .*target: Device or resource busy"):
        write(target, "second")
    assert version(target) == "first"
    assert version(tmp_path / "target-2") == "second"


def test_living_processes_and_strangers_are_left_in_peace(tmp_path: Path) -> None:
    own = tmp_path / ".knee-work-mybackup"
    own.mkdir()
    (own / "thesis.tex").write_text("dear to me")
    (tmp_path / ".knee-work-").mkdir()
    with replaced(tmp_path / "target", is_ours, "results") as new:
        (new / "a").write_text("x")
        tidy(tmp_path)
        assert (new / "a").is_file()
    assert names(tmp_path) == [".knee-work-", ".knee-work-mybackup", "target"]
    assert names(own) == ["thesis.tex"]


@pytest.mark.parametrize("left", [(), ("lock",), ("lock", "new", "new/target")])
def test_leftovers_of_the_dead_are_removed_before_a_run(
    tmp_path: Path, left: tuple[str, ...]
) -> None:
    """Beside the folder and in it, where pictures are drawn."""
    target = tmp_path / "target"
    write(target, "first")
    for place in (tmp_path, target):
        work = place / ".knee-work-abcdefgh"
        work.mkdir()
        for name in left:
            (work / name).touch() if name == "lock" else (work / name).mkdir()
    check_folder(target, is_ours, "results")
    assert names(tmp_path) == ["target"]
    assert version(target) == "first"


def test_a_folder_that_a_dead_process_emptied_is_filled(tmp_path: Path) -> None:
    """Killed between two renames, on a system without an exchange: the new results are complete."""
    work = tmp_path / ".knee-work-abcdefgh"
    for place, text in (("new", "second"), ("old", "first")):
        (work / place / "target").mkdir(parents=True)
        for name in replacing.FILES:
            (work / place / "target" / name).write_text(text)
    check_folder(tmp_path / "target", is_ours, "results")
    assert version(tmp_path / "target") == "second"
    assert names(tmp_path) == ["target"]


def test_mounts_and_folders_of_others_are_refused_beforehand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "target"
    write(target, "first")
    with monkeypatch.context() as patch:
        patch.setattr(Path, "is_mount", lambda path: path == target)
        with pytest.raises(FolderError, match="something is mounted there"):
            check_folder(target, is_ours, "results")
    tmp_path.chmod(0o1777)
    with monkeypatch.context() as patch:
        patch.setattr(os, "geteuid", lambda: 12345)
        with pytest.raises(FolderError, match="Permission denied"):
            check_folder(target, is_ours, "results")
    with monkeypatch.context() as patch:
        patch.setattr(os, "access", lambda *_: False)
        with pytest.raises(FolderError, match="Permission denied"):
            check_folder(target, is_ours, "results")
    assert check_folder(target, is_ours, "results") == target


def test_a_new_file_is_whole_and_replaces_none(tmp_path: Path) -> None:
    create(tmp_path / "file", "first")
    with pytest.raises(FileExistsError):
        create(tmp_path / "file", "second")
    assert (tmp_path / "file").read_text() == "first"
    assert names(tmp_path) == ["file"]


def test_a_file_system_without_hard_links_will_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(Path, "hardlink_to", refuse)
    create(tmp_path / "file", "first")
    with pytest.raises(FileExistsError):
        create(tmp_path / "file", "second")
    assert (tmp_path / "file").read_text() == "first"
