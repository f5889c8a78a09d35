"""`knee reproduce`."""

from __future__ import annotations

import json as json_text
import sys
from collections.abc import Sequence
from pathlib import Path

from knee.cli.delivering import Output
from knee.cli.ending import Interrupted, Refused
from knee.cli.progress import progress_bar
from knee.cli.terminal import new_console
from knee.ledger import (
    Answer,
    Evidence,
    LedgerError,
    Verdict,
    answer,
    claims,
    find,
    gather,
    papers,
)
from knee.printable import printable
from knee.replacement import check_folder
from knee.store import Store

COLOURS = {Verdict.HOLDS: "green", Verdict.DIFFERS: "yellow", Verdict.UNANSWERED: "dim"}
WIDTH = 140
"""Width of a table that goes to a file, characters."""


def list_all(*, as_json: bool) -> None:
    """Print every claim, a row each."""
    if as_json:
        keys = ("id", "paper", "where", "title", "claim", "subjects")
        print(
            json_text.dumps(
                [each.model_dump(include={*keys}) for each in claims()],
                indent=1,
                ensure_ascii=False,
            )
        )
        return
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in ("claim", "paper", "where", "title", "answered by"):
        table.add_column(
            column, no_wrap=column == "claim", style="bold" if column == "claim" else ""
        )
    for each in claims():
        table.add_row(
            *map(printable, (each.id, each.paper, each.where, each.title)),
            printable(", ".join(each.subjects)) or "model",
        )
    new_console(WIDTH).print(table)


def reproduce(
    names: Sequence[str],
    *,
    store: Path | None,
    quick: bool,
    style: Output,
) -> None:
    """Run and answer the claims of these names, or of whole papers."""
    if not names:
        known = ", ".join(paper.id for paper in papers())
        raise Refused(f"name claims, or papers ({known}); --list shows all claims")
    try:
        wanted = find(names)
    except LedgerError as error:
        raise Refused(str(error)) from None
    from knee.report import PAGE, is_of_a_report, rows, write_report

    folder = style.folder or Path("results/reproduce") / (
        "-".join(names) if len(names) == 1 else "several"
    )
    check_folder(folder, is_of_a_report, "reports")
    place = Store(store)
    try:
        with progress_bar(f"{len(wanted)} claims", hidden=style.quiet) as progress:
            evidences = gather(
                wanted,
                place,
                threads=style.effort.threads,
                memory_limit=style.effort.memory_limit,
                quick=quick,
                progress=progress,
            )
        answers = [each for evidence in evidences for each in answer(evidence)]
        if style.as_json:
            print(json_text.dumps(rows(answers), indent=1, ensure_ascii=False, allow_nan=False))
        else:
            _print(evidences, answers, quick=quick)
        sys.stdout.flush()
        write_report(evidences, answers, folder, quick=quick)
    except KeyboardInterrupt as stop:
        raise Interrupted(f"stopped; finished runs are kept in {place.folder}") from stop
    if not style.quiet:
        stream = sys.stderr if style.as_json else sys.stdout
        print(f"Report: {printable(folder / PAGE)}", file=stream)


def _print(evidences: Sequence[Evidence], answers: Sequence[Answer], *, quick: bool) -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_lines=False)
    table.add_column("claim", style="bold", ratio=2)
    table.add_column("paper says", ratio=4)
    table.add_column("by", no_wrap=True)
    table.add_column("knee measured", ratio=5)
    table.add_column("verdict", min_width=8)
    table.add_column("why", ratio=4)
    for each in answers:
        measured = Text("\n").join(
            Text(
                printable(f"{finding.check.paper}: {finding.measured}"),
                style=COLOURS[finding.verdict],
            )
            for finding in each.findings
        )
        first = each is next(other for other in answers if other.claim is each.claim)
        table.add_row(
            printable(each.claim.id if first else ""),
            printable(each.claim.claim if first else ""),
            printable(each.by),
            measured,
            Text(each.verdict.value, style=COLOURS[each.verdict]),
            printable(each.explanation),
            end_section=each is answers[-1] or answers[answers.index(each) + 1].claim != each.claim,
        )
    console = new_console(WIDTH)
    console.print(table)
    counts = ", ".join(
        f"{sum(each.verdict is verdict for each in answers)} {verdict.value}" for verdict in Verdict
    )
    spent = sum(evidence.cpu_seconds for evidence in evidences)
    console.print(f"{counts}. The runs took {spent:.0f} s of CPU time.", style="dim")
    if quick:
        console.print(
            "A smoke test: runs cut to some seconds; the verdicts mean nothing.", style="yellow"
        )
