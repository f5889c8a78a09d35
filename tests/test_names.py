"""Names and arguments from outside: whatever they hold, output stays intact."""

from __future__ import annotations

import json
import os
import re
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from matplotlib.figure import Figure

import knee
from conftest import SHORT, Knee
from fake_run import fake_run
from knee.cli.table import print_json, print_table
from knee.comparison import Comparison
from knee.ledger import Claim, answer
from knee.ledger.evidence import Evidence
from knee.plots.style import label, picture_bytes, write_figure
from knee.printable import printable
from knee.report import write_report
from knee.store import Store

NASTY = [
    "[/x]", "[bold]", "[link=file:///]", ":smile:", "$_$", r"$\frac$", r"\$", "_hidden", "time_s",
    "a|b`c*_d_", "<script>alert(1)</script>", "&lt;", "\u202eevil", "x\u200by", "日本語", "🙂",
    "%(name)s", "{0}", "\\", "a'b\"c", "e\u0301", "![](x)", "# h", "-", "~~x~~", "\x85",
]  # fmt: skip
"""Markup, mathtext, formats, marks of direction, letters that fonts lack."""

ALLOWED = [name for name in NASTY if "\x85" not in name]
"""Names that a scenario may have."""

NAMED = ["[/x]", "$_$"]
"""Names of variants; fewer, because each costs a panel."""

ANYTHING = st.one_of(
    st.sampled_from(NASTY),
    st.text(min_size=1, max_size=12),
    st.text("$\\_[]{}<>|*`\n\x1b\u202e", min_size=1),
)
ARGUMENT = st.one_of(
    ANYTHING.map(lambda text: text.replace("\0", "")), st.binary(max_size=8).map(os.fsdecode)
).filter(lambda text: "\0" not in text)


def is_fit_to_be_shown(text: str) -> bool:
    return all(char.isprintable() or char == "\n" for char in text)


@given(ANYTHING)
def test_what_is_printable_stays_and_all_else_is_escaped(text: str) -> None:
    assert printable(text).isprintable()
    assert (printable(text) == text) == text.isprintable()
    # As Python's repr, which also escapes backslashes and quotes.
    assert printable(text.replace("\\", "").replace("'", "")) in repr(
        text.replace("\\", "").replace("'", "")
    )


def nasty_scenario(names: list[str]) -> knee.Scenario:
    """Links and groups of these names, and a few variants of some."""
    links, flows = [], []
    for name in names:
        links.append({"name": name, "from": "a", "to": name, "rate": "1 Mbps", "delay": "5 ms"})
        flows.append({"name": name, "from": "a", "to": name, "count": 1})
    links = [link | {"duplex": True} for link in links]
    variants = [{"name": name, "protocol": "sack"} for name in NAMED]
    return knee.graph(links=links, flows=flows, duration="2 s", variant=variants)


def test_a_run_of_nasty_names_is_saved_shown_and_drawn(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    result = knee.run(nasty_scenario(ALLOWED))
    result.save_columns(tmp_path / "here")
    assert knee.Results.read(tmp_path / "here").main_links == ALLOWED
    print_table(result)
    shown = capsys.readouterr().out
    assert is_fit_to_be_shown(shown)
    for name in NAMED:
        assert re.search(rf"^ *{re.escape(name)} ", shown, re.M), name
    print_json(result.summary)
    assert {row["link"] for row in json.loads(capsys.readouterr().out)} >= {*ALLOWED}
    result.plot(tmp_path / "overview.svg")
    drawn = texts(tmp_path / "overview.svg")
    assert {*NAMED} <= drawn
    assert len({printable(name) for name in ALLOWED} & drawn) > len(NAMED), "the legend, too"


def texts(picture: Path) -> set[str]:
    """The texts of an SVG that keeps letters as text."""
    nodes = ElementTree.parse(picture).iter("{http://www.w3.org/2000/svg}text")
    return {"".join(node.itertext()).strip() for node in nodes}


def test_a_comparison_of_nasty_names_is_saved_and_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("knee.plots.style.DPI", 20)
    compared = Comparison([knee.run(nasty_scenario(NAMED))])
    folder = compared.save(tmp_path / "here")
    assert (folder / "schemes.png").is_file()
    compared.plot(tmp_path / "schemes.svg")
    assert {*NAMED} <= texts(tmp_path / "schemes.svg")


@given(ANYTHING)
@settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_a_picture_shows_any_name_as_it_is(tmp_path: Path, name: str) -> None:
    figure = Figure(figsize=(1, 1))
    figure.text(0, 0, label(name))
    write_figure(figure, tmp_path / "picture.svg")
    svg = (tmp_path / "picture.svg").read_text(encoding="utf-8")
    assert texts(tmp_path / "picture.svg") - {""} == {printable(name).strip()} - {""}, svg
    assert picture_bytes(figure, dpi=10).startswith(b"\x89PNG")


@given(ANYTHING.filter(lambda text: len(text) < 15))
@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_a_table_shows_any_name_in_a_line(capsys: pytest.CaptureFixture[str], name: str) -> None:
    run = fake_run(flows=1, seeds=1, duration=0.3)
    for table in ("summary", "flows", "series"):
        frame = pl.DataFrame(run.arrow(table)).with_columns(protocol=pl.lit(name))
        run._tables[table] = frame.head(1)
    print_table(run)
    shown = capsys.readouterr().out
    assert is_fit_to_be_shown(shown)
    plain = fake_run(flows=1, seeds=1, duration=0.3)
    plain._tables = {
        key: pl.DataFrame(each).with_columns(protocol=pl.lit("x")).head(1)
        for key, each in plain._tables.items()
    }
    print_table(plain)
    assert len(shown.splitlines()) == len(capsys.readouterr().out.splitlines())


class Page(HTMLParser):
    """The tags and the text of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, _: object) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


def reported(name: str, folder: Path, store: Path) -> Path:
    """The report of a claim in which everything is called `name`."""
    claim = Claim.model_validate(
        {
            "id": name, "paper": "xia2008", "where": name, "title": name, "claim": name,
            "setup": name, "note": name, "subjects": [name],
            "experiment": [
                {"scenario": "vcp-base", "sweep": {"name": name, "values": [1.0, 2.0]}},
            ],
            "check": [{"paper": name, "metric": "utilisation", "within": [0.9, 1.0],
                       "because": {name: name}, "why": name}],
            "figure": [{"title": name, "panels": [{"label": name, "metric": "utilisation"}]}] * 2,
        }
    )  # fmt: skip
    rows = pl.DataFrame(
        {"x": [1.0, 2.0], "role": "subject", "subject": name, "seed": 1, "cpu_seconds": 1.0,
         "utilisation": 0.5}
    )  # fmt: skip
    evidence = Evidence(claim, {"main": rows}, {}, Store(store))
    write_report([evidence], answer(evidence), folder, quick=True)
    return folder


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report in which everything has a plain name."""
    place = tmp_path_factory.mktemp("plain")
    return reported("plain", place / "report", place / "store")


@pytest.mark.parametrize("name", [" ".join(NASTY[first::4]) for first in range(4)])
def test_a_report_shows_any_name_as_it_is(tmp_path: Path, plain: Path, name: str) -> None:
    folder = reported(name, tmp_path / "report", tmp_path / "store")
    shown = printable(" ".join(name.split()))
    page, known = (Page((each / "report.html").read_text("utf-8")) for each in (folder, plain))
    assert page.tags == known.tags
    assert is_fit_to_be_shown(page.text)
    assert page.text.count(shown) >= known.text.count("plain") > 10
    rendered, expected = (
        Page(MarkdownIt("commonmark").enable("table").enable("strikethrough").render(
            (each / "report.md").read_text("utf-8")
        ))
        for each in (folder, plain)
    )  # fmt: skip
    assert rendered.tags == expected.tags
    assert rendered.text.count(shown) >= expected.text.count("plain") > 10
    pictures = [entry for entry in folder.iterdir() if entry.suffix == ".png"]
    assert len(pictures) == 2


COMMANDS = [
    ["{}"], ["list", "{}"], ["show", "{}"], ["run", "{}"], ["plot", "{}"], ["reproduce", "{}"],
    ["scenario", "check", "{}"], ["scenario", "new", "{}"], ["scenario", "check", "{}.toml"],
    ["scenario", "check", "short.toml", "--set", "{}"], ["compare", "?{}"], ["run", "--{}"],
    ["scenario", "check", "short.toml", "--set", "{}=1"], ["compare", "vcp", "--flows", "?{}"],
    ["scenario", "check", "short.toml", "--set", "bottleneck.rate={}"],
    ["run", "short.toml", "--seed", "?{}"], ["compare", "vcp", "--seeds", "?{}"],
    ["reproduce", "vcp-fig1", "--threads", "?{}"], ["plot", ".", "--out", "{}"],
]  # fmt: skip


@given(st.sampled_from(COMMANDS), ARGUMENT)
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_a_message_is_one_line_whatever_was_typed(
    knee: Knee, tmp_path: Path, arguments: list[str], text: str
) -> None:
    (tmp_path / "short.toml").write_text(SHORT, encoding="utf-8")
    done = knee(*(each.replace("{}", text) for each in arguments))
    assert done.returncode in (0, 2), done
    assert is_fit_to_be_shown(done.stdout + done.stderr)
    if done.returncode == 2 and done.stderr:
        assert done.stderr.startswith("knee: ")
        assert done.stderr.count("\n") == 1, done.stderr


@pytest.mark.parametrize("name", ["caf\udce9", "-a\nb [x]$_$\x1b[31m"])
def test_files_of_any_name_are_read_and_written(knee: Knee, tmp_path: Path, name: str) -> None:
    for arguments in (
        ["scenario", "new", f"./{name}.toml"],
        ["run", f"./{name}.toml", "--out", f"./{name}", "--seed", "1", "--set", "probes=none"],
        ["plot", f"./{name}"],
    ):
        done = knee(*arguments)
        assert done.returncode == 0, done.stderr
        assert is_fit_to_be_shown(done.stdout + done.stderr)
    assert (tmp_path / name / "overview.png").is_file()
    assert "name = " in (tmp_path / f"{name}.toml").read_text(encoding="utf-8")
