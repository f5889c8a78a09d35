"""The report of `knee reproduce`: an HTML page that needs no other file, pictures, and rows."""

from __future__ import annotations

import base64
import json
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from knee import _core
from knee.ledger import Answer, Evidence, Verdict, number, papers
from knee.plots import draw_figure, picture_bytes
from knee.printable import printable
from knee.replacement import replaced
from knee.results import PictureError

PAGE = "report.html"
MARKDOWN = "report.md"
ROWS = "claims.json"
QUICK_DPI = 40


def is_of_a_report(entry: Path) -> bool:
    """Is it a report's page, or a picture beside one? Its name decides."""
    known = entry.name in (PAGE, MARKDOWN, ROWS) or entry.suffix == ".png"
    return known and not entry.is_dir() and entry.with_name(PAGE).is_file()


def write_report(
    evidences: Sequence[Evidence], answers: Sequence[Answer], folder: Path, *, quick: bool
) -> None:
    """Write report.html, report.md, claims.json and the pictures to `folder`, all at once.

    Args:
        evidences: What the claims' experiments yielded, in order.
        answers: The answers to them.
        folder: Made if needed; a report there is replaced.
        quick: Whether the runs were cut short, which the page then says.

    Raises:
        FolderError: If `folder` cannot be written, or holds other files than a report's.
        PictureError: If pictures cannot be drawn; the report is there, without them.
    """
    with replaced(folder, is_of_a_report, "reports") as partial:
        failed = _write(evidences, answers, partial, quick=quick)
    if failed:
        raise PictureError(
            f"cannot draw {', '.join(failed)}; all else of the report is in {folder}"
        )


def rows(answers: Sequence[Answer]) -> list[dict[str, Any]]:
    """A row per check and answerer, ready for JSON; NaN and infinity become null."""
    return [
        {
            "claim": answer.claim.id,
            "paper": answer.claim.paper,
            "where": answer.claim.where,
            "by": answer.by,
            "verdict": answer.verdict.value,
            "check": finding.check.paper,
            "metric": finding.check.metric.column,
            "at_least": _plain(finding.check.within[0]),
            "at_most": _plain(finding.check.within[1]),
            "check_verdict": finding.verdict.value,
            "measured": finding.measured,
            "reason": finding.reason,
            "points": [
                {
                    "role": point.role,
                    "x": _plain(point.x),
                    "mean": _plain(point.mean),
                    "deviation": _plain(point.deviation),
                    "seeds": point.seeds,
                }
                for point in finding.points
            ],
        }
        for answer in answers
        for finding in answer.findings
    ]


def _write(
    evidences: Sequence[Evidence], answers: Sequence[Answer], folder: Path, *, quick: bool
) -> list[str]:
    """Write all files; returns the titles of figures that could not be drawn, with reasons."""
    pictures: dict[str, list[dict[str, str]]] = {}
    failed = []
    for evidence in evidences:
        for count, figure in enumerate(evidence.claim.figure, 1):
            try:
                drawn = draw_figure(evidence, figure)
                if drawn is None:
                    continue
                png = picture_bytes(drawn, dpi=QUICK_DPI if quick else None)
            except Exception as error:
                failed.append(f"{figure.title} of {evidence.claim.id} ({error})")
                continue
            name = f"{_slug(evidence.claim.id)}-{_slug(figure.title) or count}.png"
            if (folder / name).exists():
                name = f"{name.removesuffix('.png')}-{count}.png"
            (folder / name).write_bytes(png)
            encoded = base64.b64encode(png).decode()
            known = {"title": figure.title, "png": encoded, "file": name}
            pictures.setdefault(evidence.claim.id, []).append(known)
    text = json.dumps(rows(answers), indent=1, ensure_ascii=False, allow_nan=False)
    (folder / ROWS).write_text(text + "\n", encoding="utf-8")
    named = {evidence.claim.paper for evidence in evidences}
    shown: dict[str, Any] = {
        "papers": [paper for paper in papers() if paper.id in named],
        "evidences": evidences,
        "answers": _by_claim(answers),
        "counts": {
            verdict.value: sum(each.verdict is verdict for each in answers) for verdict in Verdict
        },
        "pictures": pictures,
        "version": f"{_core.__version__} ({_core.__fingerprint__})",
        "quick": quick,
    }
    for name in (PAGE, MARKDOWN):
        text = _template(name).render(shown)
        (folder / name).write_text(text, encoding="utf-8")
    return failed


def _slug(title: str) -> str:
    """A file name made from a title."""
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:60]


def _template(name: str) -> Template:
    is_page = name.endswith(".html")
    environment = Environment(
        loader=PackageLoader("knee.report", "."),
        autoescape=is_page,
        finalize=_in_a_line if is_page else _in_markdown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["number"] = number
    return environment.get_template(f"{name}.j2")


def _by_claim(answers: Sequence[Answer]) -> dict[str, list[Answer]]:
    grouped: dict[str, list[Answer]] = {}
    for each in answers:
        grouped.setdefault(each.claim.id, []).append(each)
    return grouped


def _in_a_line(value: object) -> object:
    """A value for a page: text becomes one printable line."""
    return printable(" ".join(value.split())) if isinstance(value, str) else value


def _in_markdown(value: object) -> object:
    """A value for a Markdown page, its markup escaped."""
    shown = _in_a_line(value)
    return _MARKUP.sub(r"\\\g<0>", shown) if isinstance(shown, str) else shown


_MARKUP = re.compile(r"[\\`*\[\]<>|$~&]|(?<![^\W_])_|_(?![^\W_])")
"""What begins markup within a line; an underscore inside a word does not."""


def _plain(value: float) -> float | None:
    return value if math.isfinite(value) else None


__all__ = ["PAGE", "is_of_a_report", "rows", "write_report"]
