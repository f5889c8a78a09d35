"""What the tests share: the command as a user calls it, and a short scenario."""

from __future__ import annotations

import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from knee._core import ScenarioWarning
from knee.cli import execute
from knee.cli.ending import STOPS
from knee.store import StoreWarning

ROOT = Path(__file__).parents[1]

SHORT = """\
name = "short"
duration = "3 s"
warmup = "1 s"
seeds = 2

[dumbbell]
rtt = "20 ms"
flows = 3
reverse = 2

[bottleneck]
rate = "10 Mbps"

[[variant]]
protocol = "vcp"

[[variant]]
protocol = "sack"
"""


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    returncode: int
    stdout: str
    stderr: str


Knee = Callable[..., Done]


@pytest.fixture
def knee(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Knee]:
    """Runs `knee ARGS..` in `tmp_path`, in this process: that is fast."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)
    handlers = {number: signal.getsignal(number) for number in STOPS}

    def call(*arguments: str | Path) -> Done:
        with monkeypatch.context() as patch, warnings.catch_warnings():
            warnings.simplefilter("always", StoreWarning)
            warnings.simplefilter("default", ScenarioWarning)
            patch.setattr(sys, "argv", ["knee", *map(str, arguments)])
            code = execute()
        return Done(code, *capsys.readouterr())

    yield call
    for number, handler in handlers.items():
        signal.signal(number, handler)


@pytest.fixture
def short(tmp_path: Path) -> Path:
    """A scenario file of two protocols and two seeds with a short run."""
    file = tmp_path / "short.toml"
    file.write_text(SHORT, encoding="utf-8")
    return file
