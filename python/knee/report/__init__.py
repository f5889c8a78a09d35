"""What `knee reproduce` leaves: one HTML page that needs nothing else, its pictures, its rows."""

from __future__ import annotations

import base64
import io
import json
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from knee import _core
from knee.ledger import Answer, Evidence, Verdict, number, papers
from knee.plots import draw_claim
from knee.plots.style import DPI
from knee.results import replaced

PAGE = "report.html"
MARKDOWN = "report.md"
ROWS = "claims.json"
QUICK_DPI = 40


def write_report(
    evidences: Sequence[Evidence], answers: Sequence[Answer], folder: Path, *, quick: bool
) -> Path:
    """Write report.html, report.md, claims.json and the pictures to `folder`, all at once.

    Args:
        evidences: What the claims' experiments yielded, in order.
        answers: The answers to them.
        folder: Made if needed; a report there is replaced.
        quick: Whether the runs were cut short, which the page then says.

    Returns:
        The page.

    Raises:
        OSError: If `folder` cannot be written, or holds other files than a report's.
    """
    folder = folder.absolute()
    _check_folder(folder)
    with replaced(folder) as partial:
        _write(evidences, answers, partial, quick=quick)
    return folder / PAGE


def rows(answers: Sequence[Answer]) -> list[dict[str, Any]]:
    """A row a check and answerer, ready for JSON; a number that is none is null."""
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
) -> None:
    pictures: dict[str, list[dict[str, str]]] = {}
    for evidence in evidences:
        for title, figure in draw_claim(evidence):
            buffer = io.BytesIO()
            figure.savefig(buffer, format="png", dpi=QUICK_DPI if quick else DPI)
            slug = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:60]
            name = f"{evidence.claim.id}-{slug}.png"
            (folder / name).write_bytes(buffer.getvalue())
            encoded = base64.b64encode(buffer.getvalue()).decode()
            known = {"title": title, "png": encoded, "file": name}
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


def _template(name: str) -> Template:
    environment = Environment(
        loader=PackageLoader("knee.report", "."),
        autoescape=name.endswith(".html"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["number"] = number
    environment.filters["cell"] = lambda text: text.replace("|", "\\|")
    return environment.get_template(f"{name}.j2")


def _by_claim(answers: Sequence[Answer]) -> dict[str, list[Answer]]:
    grouped: dict[str, list[Answer]] = {}
    for each in answers:
        grouped.setdefault(each.claim.id, []).append(each)
    return grouped


def _check_folder(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise OSError(f"cannot write a report to {folder}: it is a file")
    if not folder.exists():
        return
    strangers = sorted(
        entry.name
        for entry in folder.iterdir()
        if entry.name not in (PAGE, MARKDOWN, ROWS) and entry.suffix != ".png"
    )
    if strangers or (any(folder.iterdir()) and not (folder / PAGE).exists()):
        raise OSError(
            f"cannot write a report to {folder}: it holds {(strangers or ['pictures'])[0]}, which "
            "is no report's; a report's folder is replaced as a whole, so name one of its own"
        )


def _plain(value: float) -> float | None:
    return value if math.isfinite(value) else None


__all__ = ["rows", "write_report"]
