"""Finished runs, kept by what made them.

A run is kept under the SHA-256 of its scenario as it would run (every default written out, one
variant, one seed) and of the fingerprint of the compiled sources. An entry appears by a rename,
whole or not at all, so a process may be killed at any time and several may share a store.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from knee import _core
from knee.columns import TABLES, Run

DEFAULT = Path("results/store")
"""Where runs are kept unless another folder, or KNEE_STORE, is named."""

_LABELS = re.compile(r"^(name|title|knee) = .*\n", re.MULTILINE)


class StoreError(OSError):
    """A store that cannot be used; the message is one sentence."""


class Store:
    """A folder of finished runs."""

    def __init__(self, folder: str | Path | None = None) -> None:
        """Open the store in `folder`, by default KNEE_STORE or results/store; it is made if needed.

        Raises:
            StoreError: If there is a file of that name, or the folder cannot be written.
        """
        self.folder = Path(folder or os.environ.get("KNEE_STORE") or DEFAULT).absolute()
        try:
            (self.folder / "locks").mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(f"cannot keep runs in {self.folder}: {error.strerror}") from error

    @staticmethod
    def key(scenario_toml: str) -> str:
        """The key of a scenario as run; its name and title, at the top, don't count."""
        head, brace, rest = scenario_toml.partition("\n[")
        settings = _LABELS.sub("", head + "\n") + brace + rest
        made_by = f"{_core.__version__} {_core.__fingerprint__}\n"
        return hashlib.sha256((made_by + settings).encode()).hexdigest()

    def get(self, key: str) -> Run | None:
        """The run kept under `key`, or None."""
        try:
            return Run.read(self._entry(key))
        except FileNotFoundError:
            return None

    def __contains__(self, key: str) -> bool:
        return self._entry(key).is_dir()

    def put(self, key: str, run: Run) -> None:
        """Keep `run` under `key`; if another process was faster, its like stays.

        Raises:
            StoreError: If the folder cannot be written.
        """
        entry = self._entry(key)
        try:
            entry.parent.mkdir(exist_ok=True)
            partial = Path(tempfile.mkdtemp(prefix=".partial-", dir=self.folder))
            try:
                run.write(partial)
                partial.chmod(0o755)
                _rename_if_new(partial, entry)
            finally:
                shutil.rmtree(partial, ignore_errors=True)
        except OSError as error:
            raise StoreError(f"cannot keep runs in {self.folder}: {error.strerror}") from error

    @contextmanager
    def claimed(self, key: str, *, wait: bool) -> Iterator[bool]:
        """Hold the right to make the run of `key`; False if another process has it.

        With `wait` the other's end is waited for. The right ends with the process, however it ends.
        """
        lock = FileLock(self.folder / "locks" / key, is_singleton=False)
        try:
            lock.acquire(timeout=-1 if wait else 0)
        except Timeout:
            yield False
            return
        try:
            yield True
        finally:
            lock.release()

    def _entry(self, key: str) -> Path:
        return self.folder / key[:2] / key


def _rename_if_new(partial: Path, entry: Path) -> None:
    try:
        partial.rename(entry)
    except OSError:
        if not all((entry / f"{table}.parquet").is_file() for table in TABLES):
            raise
