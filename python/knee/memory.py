"""How much memory runs may take together, and which of them go at a time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from knee import _core
from knee.quantity import Size, with_unit

MemoryLimit = Size | None
"""A size such as "8 GB", a number of bytes, or None: what the machine has."""

LOOK = 0.2
"""Seconds between two looks at the order to stop."""


def in_bytes(limit: MemoryLimit) -> int | None:
    """The bytes of a limit; None leaves it to the machine.

    Raises:
        ScenarioError: If it is no size, or none that there can be.
    """
    if limit is None:
        return None
    return _core.parse_memory(with_unit(limit, "B"))


def in_words(size: int) -> str:
    """A size such as "120 MB" or "1.5 GB"."""
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{max(size / 1e6, 1):.0f} MB"


class Room:
    """Memory that several runs share: each takes its part while it goes."""

    def __init__(self, limit: MemoryLimit) -> None:
        """A room of `limit`, without end if nobody knows what the machine has."""
        given = in_bytes(limit)
        self.size = _core.available_memory() if given is None else given
        """Its bytes; None without end."""
        self._taken = 0
        self._changed = threading.Condition()

    def holds(self, runs: int, largest: int) -> bool:
        """Do so many runs of at most `largest` bytes fit at a time?"""
        return self.size is None or runs * largest <= self.size

    @contextmanager
    def taken(self, size: int, stopped: Callable[[], bool]) -> Iterator[None]:
        """`size` bytes, once they are free; one that is larger than the room goes alone.

        Whoever is told to stop while waiting goes on at once.
        """
        with self._changed:
            while not (stopped() or self._taken == 0 or self._fits(size)):
                self._changed.wait(LOOK)
            self._taken += size
        try:
            yield
        finally:
            with self._changed:
                self._taken -= size
                self._changed.notify_all()

    def _fits(self, size: int) -> bool:
        return self.size is None or self._taken + size <= self.size
