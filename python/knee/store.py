"""Finished runs, kept by what made them.

A run is kept under the SHA-256 of its scenario as it would run (every default written out, one
variant, one seed), of the fingerprint of the compiled sources, and of the fingerprints of the laws
that it runs: a law that changes leaves the runs of all others valid. An entry appears by a rename,
whole or not at all, so a process may be killed at any time and several may share a store. It holds
its files' checksums (`sha256sum -c SHA256SUMS`): a damaged entry is set aside and not used.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from knee import _core
from knee.columns import FILES, SCENARIO, Run
from knee.replacement import NEW, reason, sync, sync_names, tidy, working_folder

DEFAULT = Path("results/store")
"""Where runs are kept unless another folder, or KNEE_STORE, is named."""

SUMS = "SHA256SUMS"
MADE_BY = "made-by.txt"
"""The fingerprints that a run's key has, a line each."""
KEPT = frozenset({*FILES, MADE_BY})
"""The files of an entry, but for their checksums."""
POLL = 0.2
"""How long a process waits for another's lock before it asks whether to go on, s."""

_LABELS = re.compile(r"^(name|title|knee) = .*\n", re.MULTILINE)


class StoreError(OSError):
    """A store that cannot be used; the message is one sentence."""


class StoreWarning(UserWarning):
    """An entry that was damaged; the message is one sentence."""


class Store:
    """A folder of finished runs."""

    def __init__(self, folder: str | Path | None = None) -> None:
        """Open the store in `folder`, by default KNEE_STORE or results/store; it is made if needed.

        Raises:
            StoreError: If there is a file of that name, or the folder cannot be written.
        """
        self.folder = Path(folder or os.environ.get("KNEE_STORE") or DEFAULT).absolute()
        self._whole: set[str] = set()
        try:
            (self.folder / "locks").mkdir(parents=True, exist_ok=True)
            tidy(self.folder)
            with working_folder(self.folder):
                pass  # so that it can be written is known before anything is run
        except OSError as error:
            raise StoreError(f"cannot keep runs in {self.folder}: {reason(error)}") from error

    @staticmethod
    def key(scenario_toml: str, laws: Sequence[str]) -> str:
        """The key of a run.

        Args:
            scenario_toml: Its scenario as run; name and title, at the top, do not count.
            laws: Its laws with their fingerprints, as `knee._core.Scenario.laws` lists them.
        """
        return _key(scenario_toml, _made_by(laws))

    def get(self, key: str) -> Run | None:
        """The run kept under `key`, or None; a damaged one is none."""
        return Run.read(self._entry(key)) if key in self else None

    def __contains__(self, key: str) -> bool:
        # An entry is read through once by a process.
        if key not in self._whole and self._entry(key).is_dir() and self._fault(key) is None:
            self._whole.add(key)
        return key in self._whole

    def put(self, run: Run, laws: Sequence[str]) -> None:
        """Keep `run`, which these laws made; if another process was faster, its like stays.

        Raises:
            StoreError: If the folder cannot be written.
        """
        made_by = _made_by(laws)
        key = _key(run.scenario_toml, made_by)
        entry = self._entry(key)
        try:
            with working_folder(self.folder) as work:
                new = work / NEW / key
                new.mkdir()
                run.write(new)
                (new / MADE_BY).write_text(made_by, encoding="utf-8")
                sums = "".join(f"{_digest(new / name)}  {name}\n" for name in sorted(KEPT))
                (new / SUMS).write_text(sums, encoding="utf-8")
                sync(new)
                self.set_aside_if_damaged(key)
                if key not in self:
                    entry.parent.mkdir(exist_ok=True)
                    new.rename(entry)
                    sync_names(entry.parent)
        except OSError as error:
            if key not in self:
                raise StoreError(f"cannot keep runs in {self.folder}: {reason(error)}") from error

    def set_aside_if_damaged(self, key: str) -> None:
        """Have a damaged entry no longer be under its key, and warn of it.

        The right to make the run of `key` must be held; see `claimed`.

        Raises:
            OSError: If it cannot be set aside.
        """
        entry = self._entry(key)
        if key in self or not entry.is_dir():
            return
        fault = self._fault(key)
        names = (f"{key}-{number}" if number else key for number in itertools.count())
        damaged = self.folder / "damaged"
        damaged.mkdir(exist_ok=True)
        place = next(damaged / name for name in names if not (damaged / name).exists())
        entry.rename(place)
        warnings.warn(
            f"the run kept in {entry} is damaged: {fault}; it is now in {place}, and another is "
            "made in its place",
            StoreWarning,
            stacklevel=2,
        )

    @contextmanager
    def claimed(self, key: str, *, patience: Callable[[], bool]) -> Iterator[bool]:
        """Hold the right to make the run of `key`; False if another process has it.

        The other's end is waited for as long as `patience` says so. The right ends with the
        process, however it ends.
        """
        lock = FileLock(self.folder / "locks" / key, is_singleton=False)
        seconds = 0.0
        while not lock.is_locked:
            try:
                lock.acquire(timeout=seconds)
            except Timeout:
                if not patience():
                    yield False
                    return
                seconds = POLL
        try:
            yield True
        finally:
            lock.release()

    def _fault(self, key: str) -> str | None:
        """What is wrong with the entry of `key`; None if it is whole."""
        entry = self._entry(key)
        try:
            lines = (entry / SUMS).read_text(encoding="utf-8").splitlines()
            sums = {name: digest for digest, _, name in (line.partition("  ") for line in lines)}
            for name in sorted(KEPT):
                if sums.get(name) != _digest(entry / name):
                    return f"{name} is not as its checksum in {SUMS} says"
            scenario, made_by = (
                (entry / name).read_text(encoding="utf-8") for name in (SCENARIO, MADE_BY)
            )
            if _key(scenario, made_by) != key:
                return f"{SCENARIO} is of another run"
        except FileNotFoundError as error:
            return f"it lacks {Path(error.filename).name}"
        except UnicodeDecodeError:
            return f"{SUMS} is no text"
        except OSError as error:
            return f"it cannot be read ({reason(error)})"
        return None

    def _entry(self, key: str) -> Path:
        return self.folder / key[:2] / key


def _made_by(laws: Sequence[str]) -> str:
    return "".join(
        f"{line}\n" for line in (f"knee {_core.__version__} {_core.__fingerprint__}", *laws)
    )


def _key(scenario_toml: str, made_by: str) -> str:
    head, brace, rest = scenario_toml.partition("\n[")
    settings = _LABELS.sub("", head + "\n") + brace + rest
    return hashlib.sha256((made_by + settings).encode()).hexdigest()


def _digest(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
