"""`knee compare --all-explicit` and `--scenario`: the same scenarios under every scheme."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich import box
from rich.table import Table
from rich.text import Text

from knee.analysis.schemes import NEAR, Folded, fold
from knee.cli.delivering import Output, deliver, stoppable
from knee.cli.ending import Refused
from knee.cli.progress import progress_bar
from knee.cli.running import parse_number_of_seeds, parse_settings
from knee.cli.table import WIDTH, Column, number, print_json, remark_on_seeds
from knee.cli.terminal import new_console
from knee.comparison import SCENARIOS, explicit_laws, is_of_a_comparison, make, plan
from knee.printable import printable
from knee.replacement import check_folder

if TYPE_CHECKING:
    import polars as pl

    from knee.scenario import Scenario

FOLDER = Path("results") / "schemes"
EVERYWHERE = ("duration", "warmup")
"""Options of `knee compare` that any scenario has."""
INSTEAD = {
    "rate": "bottleneck.rate",
    "buffer": "bottleneck.buffer",
    "rtt": "dumbbell.rtt",
    "rtt_step": "dumbbell.rtt_step",
    "flows": "dumbbell.flows",
    "reverse": "dumbbell.reverse",
}
"""Options that only the built-in dumbbell has, and the settings that they stand for."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is compared: protocols (explicit ones first, if asked for) and scenarios."""

    protocols: list[str]
    all_explicit: bool
    scenarios: list[str]


COLUMNS = (
    Column("utili-\nsation", "utilisation", 3),
    Column("queue mean\npackets\n(% buffer)", "queue_mean_packets", 1, 1, "queue_mean_percent"),
    Column("drops\n%", "drop_rate", 3, 100),
    Column("fairness\nmax-\nmin", "fairness_max_min", 3),
    Column("fairness\npropor-\ntional", "fairness_proportional", 3),
    Column("conver-\ngence\ns", "convergence_s", 1),
    Column("AFCT\ns", "afct_s", 3),
)


def compare(
    wanted: Wanted,
    options: dict[str, str | None],
    *,
    seeds: str | None,
    settings: list[str] | None,
    style: Output,
) -> None:
    """Run scenarios under every protocol; print one table, write columns and pictures."""
    given = {key: value for key, value in options.items() if value is not None}
    for key in given:
        if key not in EVERYWHERE:
            raise Refused(
                f"--{key.replace('_', '-')} is of the dumbbell that `knee compare` makes by "
                f"itself; of scenarios, change a setting: --set {INSTEAD[key]}=.."
            )
    planned = plan(
        [*(explicit_laws() if wanted.all_explicit else []), *_named(wanted)],
        wanted.scenarios or SCENARIOS,
        seeds=parse_number_of_seeds(seeds),
        set=given | parse_settings(settings),
    )
    _make_and_save(planned, style)


def _named(wanted: Wanted) -> list[str]:
    if not (wanted.protocols or wanted.all_explicit):
        raise Refused("name protocols to compare, such as vcp or sack/red, or say --all-explicit")
    return wanted.protocols


def _make_and_save(planned: list[Scenario], style: Output) -> None:
    folder = style.folder or FOLDER
    check_folder(folder, is_of_a_comparison, "results")
    checked = [scenario.check() for scenario in planned]
    runs = sum(len(each.variants) * len(each.seeds) for each in checked)
    with stoppable(folder):
        with progress_bar(f"schemes: {runs} runs", hidden=style.quiet) as progress:
            comparison = make(
                planned,
                threads=style.effort.threads,
                memory_limit=style.effort.memory_limit,
                progress=progress,
            )
        printed = print_json if style.as_json else print_schemes
        deliver(comparison, lambda made: printed(made.figures), folder, style)


def print_schemes(figures: pl.DataFrame) -> None:
    """Print a row a scenario and protocol, each figure with its spread over the seeds."""
    console = new_console(WIDTH)
    table = Table(box=box.SIMPLE_HEAD, padding=0, pad_edge=False)
    table.add_column("protocol", no_wrap=True)
    for column in COLUMNS:
        table.add_column(column.title, justify="right", no_wrap=True)
    scenario = None
    for row in fold(figures):
        if row["scenario"] != scenario:
            scenario = row["scenario"]
            table.add_section()
            table.add_row(Text(printable(scenario), style="bold"))
        table.add_row(printable(row["protocol"]), *(_cell(row, column) for column in COLUMNS))
    console.print(table)
    seeds = sorted(figures["seed"].unique().to_list())
    console.print(
        f"{remark_on_seeds(seeds)} Utilisation, queue and drops: mean over bottlenecks. Fairness: "
        "Jain's index of goodput over the fair share. Convergence: from the last long flow's start "
        f"until all rates stay within {100 * NEAR:.0f} %. AFCT: mean time that short flows take.",
        style="dim",
    )


def _cell(row: dict[str, str | Folded], column: Column) -> str:
    figure = row[column.figure]
    assert isinstance(figure, Folded)
    if figure.measured > figure.finite == 0:
        return "never"
    mean = number(figure.spread.mean * column.scale, column.digits)
    deviation = number(figure.spread.deviation * column.scale, column.digits)
    percent = row[column.percent] if column.percent else None
    share = spare = ""
    if isinstance(percent, Folded) and percent.finite:
        share = f" ({number(percent.spread.mean, 1)})"
        spare = f" ({number(percent.spread.deviation, 1)})"
    if figure.finite < figure.measured:
        return f"{mean}\n{figure.finite} of {figure.measured}"
    if figure.finite < 2:
        return mean + share
    return f"{mean}{share}\n\N{PLUS-MINUS SIGN} {deviation}{spare}"
