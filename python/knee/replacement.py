"""How files reach their place: whole, at one instant, or not at all.

What is written is made in a working folder beside its place, `.knee-work-` and eight letters:

    lock   held while the writing process lives
    new    what is written, under its own name; after an exchange, the earlier content
    old    the earlier content, for a moment, where the system cannot exchange two names

A process may be killed at any time: `tidy` finishes or removes what it left.
"""

from __future__ import annotations

import ctypes
import errno
import functools
import itertools
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from filelock import FileLock

PREFIX = ".knee-work-"
LOCK, NEW, OLD = "lock", "new", "old"

_NAME = re.compile(re.escape(PREFIX) + r"[a-z0-9_]{8}")
_AT_FDCWD = -100
_RENAME_EXCHANGE = 2
_NOT_OFFERED = (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EPERM)
"""Errors of an exchange on old kernels, on some file systems, in some containers."""


class FolderError(OSError):
    """A folder that cannot take results; the message is one sentence."""


def check_folder(folder: str | Path, is_ours: Callable[[Path], bool], what: str) -> Path:
    """Check that a folder may be replaced, as far as that can be known now; its real path.

    Removes what dead processes left in it and beside it.

    Args:
        folder: The folder as the user named it; links are followed.
        is_ours: Tells whether an entry is of a kind that the folder may hold.
        what: What the folder holds, for messages.

    Raises:
        FolderError: If it is a file, holds anything else, or cannot be replaced.
    """
    try:
        target = Path(os.path.realpath(folder))
        tidy(target.parent)
        tidy(target)
        stranger = _stranger(target, is_ours)
        if stranger is None:
            _try(target)
            return target
    except NotADirectoryError:
        raise FolderError(f"cannot write {what} to {folder}: it is a file") from None
    except OSError as error:
        raise FolderError(f"cannot write {what} to {folder}: {reason(error)}") from error
    raise FolderError(
        f"cannot write {what} to {folder}: it holds {stranger}, which is none of knee's; "
        "such a folder is replaced as a whole, so name one of its own"
    )


@contextmanager
def replaced(folder: str | Path, is_ours: Callable[[Path], bool], what: str) -> Iterator[Path]:
    """Yield a new folder to write in; if all goes well, it then takes the place of `folder`.

    At every instant one of the two is there, complete. Where the system cannot exchange two
    folders, there is a moment without either; if the process is killed then, `tidy` puts the new
    one in place.

    Args:
        folder: As for `check_folder`.
        is_ours: As for `check_folder`.
        what: As for `check_folder`.

    Raises:
        FolderError: As for `check_folder`; or if the folder cannot be replaced after all. Then the
            message says where the new one is.
    """
    target = check_folder(folder, is_ours, what)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with working_folder(target.parent) as work:
            new = work / NEW / target.name
            new.mkdir()
            yield new
            sync(new)
            try:
                if stranger := _stranger(target, is_ours):
                    raise FileExistsError(errno.EEXIST, f"it holds {stranger} now")
                _put(work, target)
            except OSError as error:
                if not new.exists():
                    raise
                beside = _put_beside(new, target)
                raise FolderError(
                    f"cannot replace {folder}: {reason(error)}; the new {what} are in {beside}"
                ) from error
    except FolderError:
        raise
    except OSError as error:
        raise FolderError(f"cannot write {what} to {folder}: {reason(error)}") from error


@contextmanager
def placed(path: Path) -> Iterator[Path]:
    """Yield a temporary file to write; it then takes the place of `path`."""
    path = Path(os.path.realpath(path))
    with working_folder(path.parent) as work:
        new = work / NEW / path.name
        yield new
        sync(new)
        new.replace(path)
        sync_names(path.parent)


def create(path: Path, text: str) -> None:
    """Write a new file, completely or not at all.

    Raises:
        FileExistsError: If there is one.
    """
    with working_folder(path.absolute().parent) as work:
        new = work / NEW / path.name
        new.write_text(text, encoding="utf-8")
        sync(new)
        try:
            path.hardlink_to(new)
        except FileExistsError:
            raise
        except OSError:  # a file system without hard links
            with path.open("x", encoding="utf-8") as stream:
                stream.write(text)
        sync_names(path.absolute().parent)


@contextmanager
def working_folder(beside: Path) -> Iterator[Path]:
    """Yield a working folder in `beside`, removed at the end; unfinished work goes to its `new`."""
    work, lock = _locked(beside)
    try:
        (work / NEW).mkdir()
        yield work
    finally:
        _settle(work)
        lock.release()


def tidy(folder: Path) -> None:
    """Finish or remove what dead processes left in `folder`; those of living ones stay."""
    for work in _works(folder):
        lock = FileLock(work / LOCK, is_singleton=False)
        # A living process holds the lock, or the file system has none.
        with suppress(OSError, NotImplementedError), lock.acquire(blocking=False):
            _settle(work)


def is_working_folder(entry: Path) -> bool:
    """Is it a folder that `working_folder` made, in this process or another?"""
    if not _NAME.fullmatch(entry.name) or entry.is_symlink() or not entry.is_dir():
        return False
    with suppress(OSError):  # another user's folder cannot be read
        return {each.name for each in entry.iterdir()} <= {LOCK, NEW, OLD}
    return True


def reason(error: Exception) -> str:
    """What went wrong; for a system error its text alone."""
    return getattr(error, "strerror", None) or str(error)


def identity(path: Path) -> tuple[int, int] | None:
    """Device and inode: they tell a file from an earlier or later one of the same name."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def sync(path: Path) -> None:
    """Flush a file, or a folder with all that is in it, to the disk."""
    if path.is_dir():
        for each in path.iterdir():
            sync(each)
        sync_names(path)
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sync_names(folder: Path) -> None:
    """Flush the names in a folder to the disk, where the file system offers that."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in _NOT_OFFERED:
            raise
    finally:
        os.close(handle)


def _works(folder: Path) -> list[Path]:
    with suppress(OSError):
        return [entry for entry in folder.glob(f"{PREFIX}*") if is_working_folder(entry)]
    return []


def _stranger(target: Path, is_ours: Callable[[Path], bool]) -> str | None:
    """The first name in `target` that is neither knee's nor a working folder's."""
    if not target.exists():
        return None
    entries = (each for each in target.iterdir() if not is_ours(each))
    return min((each.name for each in entries if not is_working_folder(each)), default=None)


def _try(target: Path) -> None:
    """Try what replacing `target` needs.

    Raises:
        OSError: If it would fail.
    """
    if target.is_symlink():  # a loop: all links were followed before
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    if target.exists():
        if target.is_mount():
            raise OSError(errno.EBUSY, "something is mounted there; name a folder inside of it")
        owners = {0, target.stat().st_uid, target.parent.stat().st_uid}
        is_sticky = target.parent.stat().st_mode & stat.S_ISVTX
        if not os.access(target, os.W_OK | os.X_OK) or (is_sticky and os.geteuid() not in owners):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    nearest = next(each for each in target.parents if each.exists())
    with working_folder(nearest):
        pass


def _locked(beside: Path) -> tuple[Path, FileLock]:
    """A new working folder and its lock."""
    while True:
        work = Path(tempfile.mkdtemp(prefix=PREFIX, dir=beside))
        lock = FileLock(work / LOCK, is_singleton=False)
        try:
            lock.acquire(blocking=False)
        except (TimeoutError, FileNotFoundError):
            continue  # another process found it before it was locked, and tidies it away
        except NotImplementedError:
            pass  # a file system without locks, where nobody tidies
        return work, lock


def _settle(work: Path) -> None:
    """Remove a working folder, after putting back what was moved away for it."""
    for earlier in (work / OLD).glob("*"):
        place = work.parent / earlier.name
        for whole in (work / NEW / earlier.name, earlier):
            if not os.path.lexists(place):
                with suppress(OSError):
                    whole.rename(place)
        if not os.path.lexists(place):
            return
    with suppress(OSError):  # rmtree may still raise: an interrupt can make it close a folder twice
        shutil.rmtree(work, ignore_errors=True)


def _put(work: Path, target: Path) -> None:
    """Move the new folder to `target`; the earlier one goes into the working folder."""
    new, old = work / NEW / target.name, work / OLD / target.name
    while True:
        try:
            if not target.exists():
                new.rename(target)
            elif not _exchanged(new, target):
                shutil.rmtree(old, ignore_errors=True)
                old.parent.mkdir(exist_ok=True)
                target.rename(old)
                new.rename(target)
        except OSError as error:
            # Another process put something there, or took it away, in the meantime.
            if error.errno not in (errno.ENOENT, errno.ENOTEMPTY, errno.EEXIST) or not new.exists():
                raise
        else:
            sync_names(target.parent)
            return


def _put_beside(new: Path, target: Path) -> Path:
    """Move the new folder to the first free name beside `target`."""
    names = (target.with_name(f"{target.name}-{number}") for number in itertools.count(2))
    free = next(name for name in names if not os.path.lexists(name))
    new.rename(free)
    return free


def _exchanged(one: Path, other: Path) -> bool:
    """Exchange two names at one instant; False where the system cannot.

    Raises:
        OSError: If one is missing, or may not be renamed.
    """
    renameat2 = _renameat2()
    if renameat2 is None:
        return False
    names = (os.fsencode(one), os.fsencode(other))
    if renameat2(_AT_FDCWD, names[0], _AT_FDCWD, names[1], _RENAME_EXCHANGE) == 0:
        return True
    number = ctypes.get_errno()
    if number in _NOT_OFFERED:
        return False
    raise OSError(number, os.strerror(number), str(other))


@functools.cache
def _renameat2() -> Any:
    """Linux's system call through the C library; None where it is missing."""
    return getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
