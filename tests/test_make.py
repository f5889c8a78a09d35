"""The first commands of a new user."""

from __future__ import annotations

import os
import resource
import subprocess
import sys

from conftest import ROOT


def test_make_help_lists_what_there_is() -> None:
    done = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True)
    for target in ("build", "run", "test", "docs"):
        assert f"make {target}" in done.stdout


def test_ci_is_a_script_that_can_run() -> None:
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
    subprocess.run(["bash", "-n", ROOT / ".ci" / "run"], check=True)


def test_the_commands_start_without_the_heavy_libraries() -> None:
    code = (
        "import sys, knee.cli.app\n"
        "heavy = {'matplotlib', 'polars', 'pyarrow', 'pandas', 'numpy'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_help_comes_at_once() -> None:
    """Measured in CPU seconds, which depend little on other load."""

    def spent() -> float:
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    took = []
    for _ in range(3):
        before = spent()
        subprocess.run([sys.executable, "-m", "knee", "--help"], capture_output=True, check=True)
        took.append(spent() - before)
    assert min(took) < 0.7, "0.2 s measured, 0.5 s beside other load"
