"""Replaces a folder of two files while processes are stopped or killed; each file holds its
version.

As a script it is killed at every step, for `test_replacement.py`.
"""

from __future__ import annotations

import itertools
import os
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

from knee import replacement
from knee.replacement import replaced, tidy

FILES = ("a", "b")


def is_ours(entry: Path) -> bool:
    return entry.name in FILES


def write(target: Path, version: str) -> None:
    with replaced(target, is_ours, "results") as new:
        for name in FILES:
            (new / name).write_text(version)


def version(target: Path) -> str:
    """The version of a whole folder."""
    texts = {entry.name: entry.read_text() for entry in target.iterdir()}
    assert sorted(texts) == sorted(FILES), texts
    assert len({*texts.values()}) == 1, texts
    return texts["a"]


class Steps:
    """Runs something and acts at one of its steps.

    Steps are the lines of `knee.replacement`; or its instructions and the lines of `shutil`.
    """

    def __init__(self, act: Callable[[], Any], *, instructions: bool) -> None:
        self._act = act
        self._instructions = instructions
        self._files = [replacement.__file__, *([shutil.__file__] if instructions else [])]

    def run(self, what: Callable[[], object], stop_at: int) -> bool:
        """Act at the step of that number; False if there were fewer steps."""
        self._left = stop_at
        sys.settrace(self._trace)
        try:
            what()
        finally:
            sys.settrace(None)
        return self._left < 0

    def _trace(self, frame: FrameType, event: str, _: object) -> Any:
        if frame.f_code.co_filename not in self._files:
            return None
        is_own = frame.f_code.co_filename == replacement.__file__
        frame.f_trace_opcodes = self._instructions and is_own
        if event in ("line", "opcode"):
            self._left -= 1
            if self._left == -1:
                self._act()
        return self._trace


def without_exchange() -> None:
    """Behave as a system that cannot exchange two names, once the folder was checked."""
    replacement._exchanged = lambda *_: False
    replacement.check_folder = lambda folder, *_: Path(folder)


def killed(act: Callable[[], object]) -> bool:
    """Does a process end by SIGKILL if it does this?"""
    child = os.fork()
    if child == 0:
        act()
        os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def stop_at_every_step(
    folder: Path, run: Callable[[Callable[[], object], int], bool], *, at_once: bool
) -> int:
    """Replace a folder by a next version again and again, each time stopped a step later.

    Args:
        folder: Where.
        run: Does something up to a step; False if it came to its end.
        at_once: Whether the folder must be there before `tidy` runs.

    Returns:
        How many steps there are.
    """
    target = folder / "target"
    before = "-1"
    write(target, before)
    for step in itertools.count():
        stopped = run(lambda new=str(step): write(target, new), step)
        if at_once:
            assert version(target) in (before, str(step))
        tidy(folder)
        after = version(target)
        assert after == str(step) or (stopped and after == before)
        assert [entry.name for entry in folder.iterdir()] == ["target"], step
        if not stopped:
            return step
        before = after
    raise AssertionError


def kill_at_every_step(folder: Path) -> int:
    """Kill a process at every step of a replacement; returns the number of steps."""
    steps = Steps(lambda: os.kill(os.getpid(), signal.SIGKILL), instructions=False)
    exchanges = replacement._exchanged.__name__ == "_exchanged"
    return stop_at_every_step(
        folder, lambda what, step: killed(lambda: steps.run(what, step)), at_once=exchanges
    )


def kill_in_a_loop(folder: Path, times: int) -> None:
    """Kill a process that replaces a folder again and again, each time somewhere else."""
    target = folder / "target"
    write(target, "0")
    for number in range(times):
        told, tell = os.pipe()
        child = os.fork()
        if child == 0:
            for count in itertools.count():
                write(target, str(count))
                os.write(tell, b".")
        os.read(told, 1 + number)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(told)
        os.close(tell)
        assert version(target).isdecimal()
    tidy(folder)
    assert [entry.name for entry in folder.iterdir()] == ["target"]


if __name__ == "__main__":
    os.fsync = lambda _: None  # flushing to the disk has its own tests
    if sys.argv[2] == "loop":
        kill_in_a_loop(Path(sys.argv[1]), 25)
    else:
        if sys.argv[2] == "rename":
            without_exchange()
        print(kill_at_every_step(Path(sys.argv[1])))
