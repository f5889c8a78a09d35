"""How the command ends: stopped, refused, without a picture, with nobody to read what it says."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from conftest import SHORT, Knee
from knee import replacement
from knee.results import PICTURE, Results

STOPS = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}
COLUMNS = [
    "flows.parquet",
    "scenario.toml",
    "series.parquet",
    "stations.parquet",
    "summary.parquet",
]


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


@pytest.fixture
def stop_when_running(monkeypatch: pytest.MonkeyPatch) -> Callable[[signal.Signals], None]:
    """Sends a signal to this process when a run first tells how far it is."""

    def prepare(number: signal.Signals) -> None:
        @contextmanager
        def bar(*_: object, **__: object) -> Iterator[Callable[[float], None]]:
            yield lambda _: os.kill(os.getpid(), number)

        for module in ("running", "comparing", "reproducing"):
            monkeypatch.setattr(f"knee.cli.{module}.progress_bar", bar)

    return prepare


@pytest.mark.parametrize("number", STOPS, ids=lambda number: number.name)
def test_a_stopped_run_leaves_earlier_results(
    knee: Knee,
    short: Path,
    tmp_path: Path,
    stop_when_running: Callable[[signal.Signals], None],
    number: signal.Signals,
) -> None:
    assert knee("run", short, "--seed", "1", "--set", "probes=none").returncode == 0
    before = contents(tmp_path / "results" / "short")
    short.write_text(SHORT.replace('"3 s"', '"24 h"').replace('"1 s"', '"0 s"'))
    stop_when_running(number)
    done = knee("run", short, "--set", "probes=none")
    assert (done.returncode, done.stdout) == (STOPS[number], "")
    assert done.stderr == "knee: stopped; nothing was written\n"
    assert contents(tmp_path / "results" / "short") == before
    assert names(tmp_path / "results") == ["short"]


@pytest.mark.parametrize("number", STOPS, ids=lambda number: number.name)
def test_a_stopped_reproduction_keeps_its_runs(
    knee: Knee, stop_when_running: Callable[[signal.Signals], None], number: signal.Signals
) -> None:
    stop_when_running(number)
    done = knee("reproduce", "vcp-fig1", "--quick")
    assert (done.returncode, done.stdout) == (STOPS[number], "")
    assert done.stderr.startswith("knee: stopped; finished runs are kept in ")


@pytest.mark.parametrize(
    ("module", "number"),
    [
        *((each, signal.SIGINT) for each in ("knee.printable", "knee._core", "typer", "polars")),
        *((each, signal.SIGTERM) for each in ("rich.box", "polars")),
    ],
)
def test_a_stop_while_modules_are_imported_is_one_sentence(
    tmp_path: Path, module: str, number: signal.Signals
) -> None:
    """The signal comes when the module is first asked for."""
    (tmp_path / "short.toml").write_text(SHORT, encoding="utf-8")
    script = f"""
import os, sys
class Finder:
    def find_spec(name, *_):
        if name == {module!r}:
            sys.meta_path.remove(Finder)
            os.kill(os.getpid(), {int(number)})
sys.meta_path.insert(0, Finder)
sys.argv = ["knee", "run", "short.toml", "--set", "probes=none"]
from knee.cli import main
main()
"""
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.stderr.startswith("knee: stopped; ")
    assert done.stderr.count("\n") == 1
    assert done.returncode == STOPS[number]


@pytest.mark.parametrize("made_of_it", [None, ImportError, RuntimeError])
def test_who_stops_the_drawing_has_the_columns(
    knee: Knee, short: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    made_of_it: type[Exception] | None,
) -> None:  # fmt: skip
    """Libraries make other errors of a Ctrl-C that comes while they are imported."""

    def stop(*_: object) -> None:
        try:
            os.kill(os.getpid(), signal.SIGINT)
        except KeyboardInterrupt:
            if made_of_it is None:
                raise
            raise made_of_it("cannot import") from None

    monkeypatch.setattr(Results, "plot", stop)
    done = knee("run", short, "--seed", "1")
    assert done.returncode == 130
    assert done.stderr == (
        "knee: stopped; the columns are in results/short (`knee plot results/short` draws them)\n"
    )
    assert "Seed 1" in done.stdout
    assert names(tmp_path / "results" / "short") == COLUMNS


def test_who_stops_right_after_the_exchange_is_told_the_truth(
    knee: Knee, short: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert knee("run", short, "--seed", "1", "--set", "probes=none").returncode == 0
    put = replacement._put

    def put_and_stop(work: Path, target: Path) -> None:
        put(work, target)
        raise KeyboardInterrupt

    monkeypatch.setattr(replacement, "_put", put_and_stop)
    done = knee("run", short, "--seed", "2")
    assert done.returncode == 130
    assert "the columns are in results/short" in done.stderr
    assert Results.read(tmp_path / "results" / "short").seeds == [2]
    assert names(tmp_path / "results") == ["short"]


COMMANDS = {
    "run": (["run", "short.toml"], ["short"]),
    "compare": (
        ["compare", "vcp", "--flows", "2", "--rate", "5 Mbps", "--duration", "2 s", "--seeds", "1"],
        ["compare"],
    ),
    "schemes": (["compare", "vcp", "--scenario", "short.toml", "--seeds", "1"], ["schemes"]),
}


@pytest.mark.parametrize(("arguments", "folder"), COMMANDS.values(), ids=COMMANDS)
def test_a_picture_that_fails_costs_only_the_picture(
    knee: Knee, short: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    arguments: list[str], folder: list[str],
) -> None:  # fmt: skip
    def fail(*_: object) -> None:
        raise ZeroDivisionError("of the\nartist")

    assert short.is_file()
    monkeypatch.setattr("knee.plots.draw_overview", fail)
    done = knee(*arguments)
    assert done.returncode == 1
    assert "vcp" in done.stdout
    assert done.stderr.startswith("knee: cannot draw ")
    assert r"(ZeroDivisionError: of the\nartist); the columns are there" in done.stderr
    assert done.stderr.count("\n") == 1
    kept = tmp_path / "results" / folder[0]
    assert PICTURE not in names(kept)
    assert [*kept.rglob("summary.parquet")]
    assert names(kept.parent) == folder


def test_a_figure_that_fails_costs_a_report_only_the_figure(
    knee: Knee, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError("of the artist")

    monkeypatch.setattr("knee.report.draw_figure", fail)
    done = knee("reproduce", "vcp-fig1", "--quick", "--out", "report")
    assert done.returncode == 1
    assert done.stderr.startswith("knee: cannot draw ")
    assert done.stderr.endswith("all else of the report is in report\n")
    assert names(tmp_path / "report") == ["claims.json", "report.html", "report.md"]


def test_what_cannot_be_saved_is_shown_all_the_same(
    knee: Knee, short: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Results, "write", full)
    done = knee("run", short, "--seed", "1")
    assert done.returncode == 2
    assert "Seed 1" in done.stdout
    assert done.stderr == "knee: cannot write results to results/short: No space left on device\n"


FOLDERS = ["/proc/knee", "short.toml", "short.toml/below", "mine", "loop"]


@pytest.mark.parametrize("folder", FOLDERS)
@pytest.mark.parametrize(
    "arguments",
    [*(arguments for arguments, _ in COMMANDS.values()), ["reproduce", "vcp-fig1", "--quick"]],
    ids=[*COMMANDS, "reproduce"],
)
def test_a_folder_is_tried_before_anything_is_run(
    knee: Knee, short: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    arguments: list[str], folder: str,
) -> None:  # fmt: skip
    def run(*_: object, **__: object) -> None:
        pytest.fail("it was run")

    monkeypatch.setattr("knee._core.run", run)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("dear to me")
    (tmp_path / "loop").symlink_to("loop")
    before = names(tmp_path)
    done = knee(*arguments, "--out", folder)
    assert done.returncode == 2
    assert done.stderr.startswith(f"knee: cannot write {'re'}")
    assert folder in done.stderr
    assert done.stderr.count("\n") == 1
    assert names(tmp_path) == before == ["loop", "mine", short.name]


def test_a_store_is_tried_before_anything_is_run(
    knee: Knee, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(*_: object, **__: object) -> None:
        pytest.fail("it was run")

    monkeypatch.setattr("knee._core.run", run)
    done = knee("reproduce", "vcp-fig1", "--quick", "--store", "/proc/knee")
    assert done.returncode == 2
    assert done.stderr.startswith("knee: cannot keep runs in /proc/knee: ")


DIGITS = "9" * 5000
NUMBERS = [
    ["compare", "vcp", "--seeds", "²"],
    ["compare", "vcp", "--seeds", "٣"],
    ["compare", "vcp", "--seeds", DIGITS],
    ["compare", "vcp", "--seeds", f"1-{DIGITS}"],
    ["compare", "vcp", "--seeds", "99999999999999999999"],
    ["compare", "vcp", "--seeds", "0"],
    ["compare", "vcp", "--seeds", ""],
    ["run", "short.toml", "--seed", "²"],
    ["run", "short.toml", "--seed", DIGITS],
    ["run", "short.toml", "--seed", "-1"],
    ["run", "short.toml", "--set", f"seeds={DIGITS}"],
    ["run", "short.toml", "--set", f"seeds=[{DIGITS}]"],
    ["run", "short.toml", "--set", ".".join("a" * 10_000) + "=1"],
    ["run", "short.toml", "--set", "a=" + "[" * 10_000],
    ["reproduce", "vcp-fig1", "--threads", "5000"],
    ["reproduce", "vcp-fig1", "--threads", "²"],
    ["reproduce", "vcp-fig1", "--threads", DIGITS],
    *(
        ["compare", "vcp", f"--{option}", value]
        for option in (
            "rate", "rtt", "flows", "reverse", "duration", "buffer", "rtt-step", "warmup"
        )
        for value in ("²", DIGITS, "nan", "\udce9")
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    "arguments", NUMBERS, ids=lambda each: " ".join(each)[:40].encode("ascii", "replace").decode()
)
def test_numbers_that_are_none_are_refused_at_once(
    knee: Knee, short: Path, arguments: list[str]
) -> None:
    assert short.is_file()
    begun = time.process_time()
    done = knee(*arguments)
    assert done.returncode == 2, done
    assert done.stderr.startswith("knee: ")
    assert done.stderr.count("\n") == 1
    assert len(done.stderr) < 600
    assert "fault in knee" not in done.stderr
    assert time.process_time() - begun < 3, "seconds of CPU time"


def ended(folder: Path, shell: str, *arguments: str, **more: str) -> tuple[int, str, str]:
    """How a command ends whose output goes where the shell says."""
    done = subprocess.run(
        ["sh", "-c", f'"$0" -m knee "$@" {shell}', sys.executable, *arguments],
        cwd=folder, env=os.environ | more, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


def test_nobody_need_read_what_is_said(short: Path, tmp_path: Path) -> None:
    assert ended(tmp_path, ">&- 2>&-", "list", "laws") == (0, "", "")
    code, _, err = ended(tmp_path, ">/dev/full", "list", "laws")
    assert (code, err) == (2, "knee: No space left on device\n")
    arguments = ("run", short.name, "--set", "probes=none")
    code, out, err = ended(tmp_path, "", *arguments, PYTHONIOENCODING="ascii")
    assert (code, err) == (0, "")
    assert out.isascii()
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "knee", "list", "laws"]
    done = subprocess.run(
        command, stdout=writer, stderr=subprocess.PIPE, text=True, timeout=60, check=False
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (1, "")


def test_damaged_results_are_named(knee: Knee, short: Path, tmp_path: Path) -> None:
    assert knee("run", short, "--seed", "1", "--set", "probes=none").returncode == 0
    folder = tmp_path / "results" / "short"
    whole = contents(folder)
    for name, data in {
        "summary.parquet": b"", "series.parquet": whole["series.parquet"][:-20],
        "flows.parquet": b"PAR1" + bytes(100) + b"PAR1", "scenario.toml": b"name = ",
    }.items():  # fmt: skip
        (folder / name).write_bytes(data)
        done = knee("plot", "results/short")
        assert done.returncode == 2, done
        assert done.stderr.startswith(f"knee: results/short/{name} is damaged: ")
        assert done.stderr.count("\n") == 1
        (folder / name).write_bytes(whole[name])
    assert knee("plot", "results/short").returncode == 0
