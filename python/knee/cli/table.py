"""A run's summary on the terminal."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich import box
from rich.table import Table

from knee.analysis import Spread, spread
from knee.cli.terminal import new_console
from knee.printable import printable

if TYPE_CHECKING:
    import polars as pl

    from knee.columns import Run

WIDTH = 100
"""Width of a table without a terminal, characters."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the table: a figure, its format, and its percentage."""

    title: str
    figure: str
    digits: int
    scale: float = 1.0
    percent: str | None = None


COLUMNS = (
    Column("utili-\nsation", "utilisation", 3),
    Column("queue mean\npackets\n(% buffer)", "queue_mean_packets", 1, 1, "queue_mean_percent"),
    Column("queue p90\npackets\n(% buffer)", "queue_p90_packets", 1, 1, "queue_p90_percent"),
    Column("drops\n%", "drop_rate", 3, 100),
    Column("Jain\nindex", "jain", 3),
    Column("mean\nRTT\nms", "rtt_mean_ms", 1),
    Column("speed\nMpkt per\nCPU s", "packets_per_cpu_second", 2, 1e-6),
)


def print_json(frame: pl.DataFrame) -> None:
    """Print rows as a JSON array on stdout, a row a line; NaN becomes null."""
    rows = [
        json.dumps({name: _plain(value) for name, value in row.items()}, allow_nan=False)
        for row in frame.iter_rows(named=True)
    ]
    print("[" + ",\n ".join(rows) + "]")


def print_table(run: Run) -> None:
    """Print a row a protocol, each figure with its spread over the seeds."""
    console = new_console(WIDTH)
    rows = measured(run)
    links = len({row["link"] for row in rows}) > 1
    table = Table(box=box.SIMPLE_HEAD, padding=0, pad_edge=False)
    table.add_column("protocol", style="bold", no_wrap=True)
    if links:
        table.add_column("link", no_wrap=True)
    for column in COLUMNS:
        table.add_column(column.title, justify="right", no_wrap=True)
    for row in rows:
        names = [printable(row["protocol"]), printable(row["link"])]
        table.add_row(*names[: 1 + links], *(_cell(row, column) for column in COLUMNS))
    console.print(f"\n{printable(run.name)}", style="bold", end="")
    console.print(table)
    console.print(_remark(sorted(run.seeds), [str(row["link"]) for row in rows]), style="dim")


def measured(run: Run) -> list[dict[str, str | Spread]]:
    """The rows to print, one per protocol and link; reverse links are in the Parquet files only."""
    return [row for row in spread(run.summary) if row["link"] in run.main_links]


def remark_on_seeds(seeds: list[int]) -> str:
    """A sentence on what the spread in a table covers."""
    if len(seeds) == 1:
        return f"Seed {seeds[0]}: one run a row, so no spread."
    in_a_row = seeds == list(range(seeds[0], seeds[-1] + 1)) and len(seeds) > 2
    listed = f"{seeds[0]} to {seeds[-1]}" if in_a_row else ", ".join(map(str, seeds))
    return f"Seeds {listed}: mean \N{PLUS-MINUS SIGN} standard deviation over them."


def _remark(seeds: list[int], links: list[str]) -> str:
    where = f"Link {printable(links[0])}. " if len(set(links)) == 1 else ""
    speed = " Speed: million data packets of the link a CPU second." if len(seeds) > 1 else ""
    return where + remark_on_seeds(seeds) + speed


def _cell(row: dict[str, str | Spread], column: Column) -> str:
    packets = row[column.figure]
    percent = row[column.percent] if column.percent else None
    assert isinstance(packets, Spread)
    mean = number(packets.mean * column.scale, column.digits)
    deviation = number(packets.deviation * column.scale, column.digits)
    share = spare = ""
    if isinstance(percent, Spread) and not math.isnan(percent.mean):
        share = f" ({number(percent.mean, 1)})"
        spare = f" ({number(percent.deviation, 1)})"
    if math.isnan(packets.deviation):
        return mean + share
    return f"{mean}{share}\n\N{PLUS-MINUS SIGN} {deviation}{spare}"


def number(value: float, digits: int) -> str:
    """A figure as tables write it; a dash where there is none."""
    return "–" if math.isnan(value) else f"{value:.{digits}f}"


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
