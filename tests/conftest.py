"""What the tests share: the command as a user calls it, and a short scenario."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

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
