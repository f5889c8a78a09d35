"""The ledger: its files, its runs, its verdicts; with made-up rows where the sums are checked."""

from __future__ import annotations

import json
import math
import os
import re
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import polars as pl
import pytest

import knee
from conftest import ROOT, Knee
from knee.jobs import jobs
from knee.ledger import Claim, LedgerError, Verdict, answer, claims, find, papers
from knee.ledger.answers import number
from knee.ledger.evidence import Evidence, filled, gather
from knee.ledger.format import Experiment, read_claim
from knee.making import make
from knee.plots.claims import draw_figure
from knee.store import Store

CLAIM = """
where = "somewhere"
title = "t"
setup = "s"
claim = "c"
subjects = ["vcp"]
REASON

[[experiment]]
scenario = "vcp-base"
compare = ["subject", "xcp"]
sweep = { name = "capacity, Mbps", values = [1, 10, 100], set = { "bottleneck.rate" = "{x} Mbps" } }

[[check]]
paper = "high"
metric = "utilisation"
CHECK
"""


def claim(tmp_path: Path, check: str, reason: str = "") -> Claim:
    file = tmp_path / "paper" / "a-claim.toml"
    file.parent.mkdir(exist_ok=True)
    file.write_text(CLAIM.replace("CHECK", check).replace("REASON", reason), encoding="utf-8")
    return read_claim(file)


def evidence(tmp_path: Path, check: str, values: dict[float, list[float]]) -> Evidence:
    """Made-up utilisations of vcp by capacity and seed; xcp has 0.9 everywhere."""
    rows = [
        {"x": x, "role": role, "subject": subject, "seed": seed, "cpu_seconds": 1.0,
         "utilisation": value if role == "subject" else 0.9}
        for x, seeds in values.items()
        for seed, value in enumerate(seeds, 1)
        for role, subject in (("subject", "vcp"), ("xcp", None))
    ]  # fmt: skip
    frame = pl.DataFrame(rows, schema_overrides={"subject": pl.String})
    return Evidence(claim(tmp_path, check), {"main": frame}, {}, Store(tmp_path / "store"))


@pytest.mark.parametrize(
    ("check", "verdict", "measured"),
    [
        ("within = [0.7, 1.0]", Verdict.HOLDS, "0.800 to 0.950; 0.950 ± 0 (x = 100)"),
        ("within = [0.85, 1.0]", Verdict.DIFFERS, "0.800 to 0.950; 0.800 ± 0.14 (x = 1)"),
        ("within = [0.89, 1.1]\nat = [5, 99]", Verdict.HOLDS, "0.900 ± 0"),
        ('within = [0.85, 1.0]\nover = "most"', Verdict.HOLDS, "0.800 to 0.950, 2 of 3 within"),
        ('within = [0.88, 0.89]\nover = "mean"', Verdict.HOLDS, "0.883 ± 0.047 on average"),
        (
            'within = [-0.05, 0.1]\nagainst = "xcp"',
            Verdict.DIFFERS,
            "-0.100 to 0.0500; -0.100 ± 0.14 (x = 1)",
        ),
        ('within = [0.9, 0.95]\nover = "max"', Verdict.HOLDS, "at most 0.950 ± 0 (x = 100)"),
        ('within = [0.0, 1.0]\nover = "exponent"', Verdict.HOLDS, "exponent 0.0373"),
    ],
)
def test_checks_judge_rows_by_their_bounds(
    tmp_path: Path, check: str, verdict: Verdict, measured: str
) -> None:
    rows = {1.0: [0.7, 0.9], 10.0: [0.9, 0.9], 100.0: [0.95, 0.95]}
    [found] = answer(evidence(tmp_path, check, rows))
    assert (found.by, found.verdict) == ("vcp", verdict)
    assert found.findings[0].measured == measured
    assert bool(found.findings[0].reason) == (verdict is not Verdict.HOLDS)


@pytest.mark.parametrize(
    ("within", "verdict"), [("[0.0, 100.0]", Verdict.DIFFERS), ("[5.0, inf]", Verdict.HOLDS)]
)
def test_what_is_never_reached_is_beyond_every_number(
    tmp_path: Path, within: str, verdict: Verdict
) -> None:
    [found] = answer(evidence(tmp_path, f"within = {within}", {1.0: [math.inf]}))
    assert (found.verdict, found.findings[0].measured) == (verdict, "never")


def test_what_is_not_measured_is_not_answered(tmp_path: Path) -> None:
    [found] = answer(evidence(tmp_path, "within = [0.0, 1.0]", {1.0: [math.nan]}))
    assert found.verdict is Verdict.UNANSWERED


@pytest.mark.parametrize(
    ("against", "verdict"), [("", Verdict.HOLDS), ('against = "xcp"', Verdict.UNANSWERED)]
)
def test_a_refused_run_matters_to_the_checks_that_need_it(
    tmp_path: Path, against: str, verdict: Verdict
) -> None:
    given = evidence(tmp_path, f"within = [0.0, 1.0]\n{against}", {1.0: [0.9]})
    given.failed["main", "xcp", None] = "refused"
    [found] = answer(given)
    assert found.verdict is verdict
    assert found.findings[0].reason == ("refused" if against else "")


@pytest.mark.parametrize(
    ("check", "sentence"),
    [
        ("within = [0, 1]\nwithn = 1", "check.0.withn: Extra inputs are not permitted"),
        ('within = [0, 1]\nof = ["xpc"]', "role 'xpc' is none of subject, xcp"),
        ('within = [0, 1]\nexperiment = "b"', "experiment 'b' is none of main"),
    ],
)
def test_a_wrong_file_is_refused_in_words(tmp_path: Path, check: str, sentence: str) -> None:
    with pytest.raises(LedgerError, match=re.escape(sentence)):
        claim(tmp_path, check)


@pytest.mark.parametrize(
    ("given", "value"),
    [
        ("{x}", 20),
        ("{0.5*x}", 10),
        ("{30/x}", 1.5),
        ("{4*x} ms", "80 ms"),
        ({"law": "{subject}", "of": ["{x} kB"]}, {"law": "vcp", "of": ["20 kB"]}),
    ],
)
def test_x_may_bear_a_factor_or_a_dividend(given: object, value: object) -> None:
    assert filled(given, 20.0, "vcp") == value


def test_settings_of_an_entry_are_its_own() -> None:
    entry = {"role": "near", "protocol": "sack", "set": {"dumbbell.rtt": "10 ms"}}
    [experiment] = [Experiment.model_validate({"scenario": "vcp-base", "compare": [entry]})]
    assert experiment.compare[0].set == {"dumbbell.rtt": "10 ms"}
    assert experiment.compare[0].variant == {"protocol": "sack"}


def test_every_claim_is_there_with_its_words() -> None:
    """Each file's prefix is its paper's, and its scenarios are shipped."""
    assert [paper.id for paper in papers()]
    for each in claims():
        for experiment in each.experiment:
            if experiment.scenario is not None:
                assert (ROOT / "scenarios" / f"{experiment.scenario}.toml").is_file(), each.id
        for check in each.check:
            assert check.within[0] <= check.within[1], each.id
    assert {each.stem for each in (ROOT / "ledger").glob("*/*.toml")} == {
        *(each.id for each in claims()),
        "paper",
    }


def test_a_name_that_is_none_is_answered_by_the_nearest() -> None:
    with pytest.raises(LedgerError, match="the nearest is vcp-rtt-fairness"):
        find(["vcp-rtt-fairnes"])
    assert len(find(["xia2008", "vcp-rtt"])) == len(find(["xia2008"]))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (0.92731, "0.927"),
        (1500.0, "1500"),
        (12.34, "12.3"),
        (2.5e-7, "2.50e-07"),
        (math.inf, "never"),
    ],
)
def test_numbers_have_three_digits(value: float, text: str) -> None:
    assert number(value) == text


def scenario() -> knee.Scenario:
    return knee.dumbbell(
        rate="5 Mbps", rtt="20 ms", flows=2, duration="2 s", protocol=["vcp", "xcp"]
    ).replace(seeds=2)


def test_a_run_is_made_once_and_kept(tmp_path: Path) -> None:
    store = Store(tmp_path)
    planned = jobs(scenario())
    assert len({job.key for job in planned}) == 4
    make(planned, store)
    before = {file: file.stat().st_mtime_ns for file in tmp_path.rglob("*.parquet")}
    make(planned, store)
    assert {file: file.stat().st_mtime_ns for file in tmp_path.rglob("*.parquet")} == before
    direct = knee.run(scenario()).summary.drop("cpu_seconds")
    kept = [store.get(job.key) for job in planned]
    assert pl.concat([run.summary for run in kept if run]).drop("cpu_seconds").equals(direct)


def test_the_key_is_that_of_what_is_run() -> None:
    first, *_ = jobs(scenario())
    renamed, *_ = jobs(knee.Scenario.of(tomllib.loads(scenario().to_toml()), name="other"))
    other, *_ = jobs(scenario().replace(set={"dumbbell.rtt": "21 ms"}))
    assert first.key == renamed.key != other.key


def test_a_sweep_has_a_row_a_value_seed_and_link(tmp_path: Path) -> None:
    rates = ["2 Mbps", "5 Mbps"]
    table = knee.sweep(scenario(), {"bottleneck.rate": rates}, store=Store(tmp_path))
    assert table["bottleneck.rate"].unique().sort().to_list() == rates
    assert table.height == 2 * 2 * 2 * 2  # values, variants, seeds, links


@pytest.mark.parametrize(
    ("over", "column", "values"),
    [
        ({"protocol": ["vcp", "xcp"]}, "protocol", ["vcp", "xcp"]),
        ({"dumbbell.flows": [1, "2"]}, "dumbbell.flows", ["1", "2"]),
        ({"transport": [{"pacing": True}, {}]}, "transport", ["{'pacing': True}", "{}"]),
    ],
)
def test_a_sweep_may_be_over_any_setting(
    tmp_path: Path, over: dict[str, list[object]], column: str, values: list[str]
) -> None:
    base = knee.dumbbell(rate="1 Mbps", rtt="9 ms", flows=1, duration="1 s", protocol="vcp")
    if column == "protocol":
        base = base.replace(set={"variant": []})
    table = knee.sweep(base, over, store=Store(tmp_path))
    assert table[column].unique(maintain_order=True).to_list() == values


def test_a_sweep_over_nothing_is_refused(tmp_path: Path) -> None:
    for over in ({}, {"dumbbell.flows": []}):
        with pytest.raises(ValueError, match="there is no value"):
            knee.sweep(scenario(), over, store=Store(tmp_path))


def test_a_killed_process_leaves_whole_runs(tmp_path: Path) -> None:
    """Killed without warning in the midst of many runs; a second process ends the work."""
    script = (
        "import knee, sys; from knee.store import Store\n"
        "s = knee.dumbbell(rate='20 Mbps', rtt='20 ms', flows=5, duration='4 s', protocol='vcp')\n"
        "t = knee.sweep(s, {'bottleneck.rate': [f'{r} Mbps' for r in range(20, 32)]},"
        " store=Store(sys.argv[1]))\nprint(t['utilisation'].sum())"
    )
    command = [sys.executable, "-c", script, str(tmp_path)]
    env = os.environ | {"PYTHONPATH": str(ROOT / "python")}
    first = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while not [*tmp_path.glob("??/*")] and first.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    first.send_signal(signal.SIGKILL)
    first.wait()
    for entry in tmp_path.glob("??/*"):
        assert {file.name for file in entry.iterdir()} == {
            "summary.parquet", "flows.parquet", "series.parquet", "stations.parquet", "scenario.toml", "made-by.txt",
                "SHA256SUMS",
        }  # fmt: skip
    pair = [subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    said = {each.communicate(timeout=120)[0] for each in pair}
    assert len(said) == 1, "two processes on one store read the same runs"
    assert len([*tmp_path.glob("??/*")]) == 12


def test_reproduce_answers_draws_and_reports(knee: Knee, tmp_path: Path) -> None:
    done = knee("reproduce", "vcp-fig1", "--quick", "--out", "report", "--store", "store")
    assert done.returncode == 0, done.stderr
    assert "vcp-authors" in done.stdout
    assert "the verdicts mean nothing" in done.stdout
    page = (tmp_path / "report" / "report.html").read_text(encoding="utf-8")
    assert page.count("<img ") == 1
    assert 'src="http' not in page
    assert (tmp_path / "report" / "claims.json").is_file()
    markdown = (tmp_path / "report" / "report.md").read_text(encoding="utf-8")
    [picture] = re.findall(r"!\[.*\]\((.*\.png)\)", markdown)
    assert (tmp_path / "report" / picture).is_file()


@pytest.mark.parametrize("paper", [paper.id for paper in papers()])
def test_reproduce_smokes_every_claim(knee: Knee, paper: str) -> None:
    done = knee("reproduce", paper, "--quick", "--json")
    assert done.returncode == 0, done.stderr
    reasons = {row["reason"] for row in json.loads(done.stdout) if row["measured"] == "–"}
    cut_short = {"no runs", "too few points for a line", "a run has no such figure"}
    assert reasons <= cut_short, reasons


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["reproduce"], "name claims, or papers (jain2007, "),
        (["reproduce", "vcp-rtt-fairnes"], "the nearest is vcp-rtt-fairness"),
        (["reproduce", "vcp-fig1", "--store", "short.toml"], "cannot keep runs in"),
    ],
)
def test_reproduce_refuses_in_a_sentence(
    knee: Knee, short: Path, arguments: list[str], sentence: str
) -> None:
    assert short.is_file()
    done = knee(*arguments)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


CURVES = """
where = "somewhere"
title = "t"
setup = "s"
claim = "c"

[[experiment]]
model = "scalable_nabla"
compare = [{ role = "still", eta = 0.0 }, { role = "turned", eta = 0.5 }]
sweep = { name = "theta", values = [1.0, 2.0], set = { theta = "{x}" } }

[[check]]
paper = "under the axis at first"
metric = "im"
of = ["still", "turned"]
at = [1.0, 1.0]
within = [-2.0, 0.0]

[[figure]]
title = "f"
panels = [{ label = "p", metric = "im", against = "re", mark = [-1.0, 0.0] }]
"""


def test_a_model_compares_arguments_and_draws_curves(tmp_path: Path) -> None:
    file = tmp_path / "paper" / "curves.toml"
    file.parent.mkdir()
    file.write_text(CURVES, encoding="utf-8")
    [found] = gather([read_claim(file)], Store(tmp_path / "store"))
    rows = found.rows["main"]
    assert rows["role"].to_list() == ["still", "still", "turned", "turned"]
    # e^{-j} / j, by hand; times 1 - j / 2.
    assert rows["re"][0] == pytest.approx(-math.sin(1))
    assert rows["im"][2] == pytest.approx(-math.cos(1) + math.sin(1) / 2)
    assert [each.verdict for each in answer(found)] == [Verdict.HOLDS]
    figure = draw_figure(found, found.claim.figure[0])
    assert figure is not None
    [axis] = figure.get_axes()
    curves = {line.get_label(): line.get_xydata() for line in axis.lines[:2]}
    assert curves["turned"][:, 0].tolist() == pytest.approx(rows["re"].to_list()[2:])
    assert axis.lines[2].get_xydata().tolist() == [[-1.0, 0.0]]
    file.write_text(CURVES.replace('against = "re", ', ""), encoding="utf-8")
    with pytest.raises(LedgerError, match="of curves"):
        read_claim(file)
    file.write_text(CURVES.replace("eta = 0.0", 'protocol = "vcp"'), encoding="utf-8")
    with pytest.raises(LedgerError, match="compares arguments"):
        read_claim(file)


def test_checks_share_a_reason_by_its_name(tmp_path: Path) -> None:
    because = 'because.vcp = "{small}; at 9 more"\nbecause.peers = "{small}"'
    said = claim(tmp_path, f"within = [0.0, 0.1]\n{because}", 'reason.small = "few packets"')
    assert said.check[0].because == {"vcp": "few packets; at 9 more", "peers": "few packets"}


@pytest.mark.parametrize(
    ("because", "message"),
    [
        ("{smal}", "names the reason 'smal'; there are: small"),
        ("few", "'small' is that of no check"),
    ],
)
def test_reasons_and_checks_must_fit(tmp_path: Path, because: str, message: str) -> None:
    with pytest.raises(LedgerError, match=message):
        claim(
            tmp_path,
            f'within = [0.0, 0.1]\nbecause.vcp = "{because}"',
            'reason.small = "few packets"',
        )


def test_no_reason_is_written_twice() -> None:
    written: list[str] = []
    for file in sorted((ROOT / "ledger").glob("*/*.toml")):
        table = tomllib.loads(file.read_text("utf-8"))
        written += table.get("reason", {}).values()
        for check in table.get("check", ()):
            written += [text for text in check.get("because", {}).values() if text[0] != "{"]
    sentences = [each for text in written for each in re.findall(r"[^.;]{60,}[.;]?", text)]
    assert len(sentences) > 50
    assert not [each for each in {*sentences} if sentences.count(each) > 1]
