"""What the tests share: the command as a user calls it, and a short scenario."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from knee.cli import main
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

Knee = Callable[..., "subprocess.CompletedProcess[str]"]


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    code: int
    out: str
    err: str


Command = Callable[..., Done]


@pytest.fixture
def command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Command]:
    """Runs `knee ARGS..` in `tmp_path` within this process, which is quick."""
    monkeypatch.chdir(tmp_path)
    signals = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    handlers = {number: signal.getsignal(number) for number in signals}
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)

    def call(*arguments: str | Path) -> Done:
        with monkeypatch.context() as patch, warnings.catch_warnings():
            warnings.simplefilter("always", StoreWarning)
            patch.setattr(sys, "argv", ["knee", *map(str, arguments)])
            with pytest.raises(SystemExit) as left:
                main()
        out, err = capsys.readouterr()
        return Done(int(left.value.code or 0), out, err)

    yield call
    for number, handler in handlers.items():
        signal.signal(number, handler)


@pytest.fixture
def knee(tmp_path: Path) -> Knee:
    """Runs `knee ARGS..` in `tmp_path`, two minutes at most."""

    def call(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "knee", *map(str, arguments)],
            cwd=tmp_path,
            env=os.environ | {"COLUMNS": "100", "NO_COLOR": "1"},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    return call


@pytest.fixture
def short(tmp_path: Path) -> Path:
    """A scenario file of two protocols and two seeds that runs in an instant."""
    file = tmp_path / "short.toml"
    file.write_text(SHORT, encoding="utf-8")
    return file
