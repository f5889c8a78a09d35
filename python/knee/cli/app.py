"""The commands and how they are asked for; what they do is in the modules beside."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from knee.cli import catalogue, drawing, running, writing
from knee.cli.delivering import Effort, Output
from knee.cli.ending import Interrupted
from knee.columns import MOST_THREADS


class _Commands(TyperGroup):
    """The commands; without typer's silent exit on Ctrl-C."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as stop:
            raise Interrupted from stop


app = typer.Typer(
    name="knee",
    cls=_Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
scenario_app = typer.Typer(no_args_is_help=True, rich_markup_mode="rich")
app.add_typer(scenario_app, name="scenario", help="Begin, check and describe scenario files.")


def _examples(*lines: str) -> str:
    """An epilog with one line per example."""
    return "[bold]Examples[/bold]\n\n" + "\n\n".join(f"  [cyan]{line}[/cyan]" for line in lines)


def _version(asked: bool) -> None:
    if asked:
        from knee._core import __version__

        typer.echo(f"knee {__version__}")
        raise typer.Exit


Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        metavar="DIR",
        help="Results folder, by default results/NAME of the scenario.",
    ),
]
Json = Annotated[
    bool, typer.Option("--json", help="Print the summary's rows as JSON on stdout, no table.")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar, no closing remark.")]
Threads = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=MOST_THREADS,
        metavar="N",
        help="Runs at a time, by default all cores; fewer where there is no memory for so many.",
    ),
]
Memory = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE",
        help='Memory that runs may take together, such as "8 GB"; by default what there is.',
    ),
]
Setting = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="KEY=VALUE", help="Change a setting of the scenario; may be repeated."
    ),
]


@app.callback(
    epilog=_examples(
        "knee run scenarios/quickstart.toml",
        'knee compare vcp xcp cubic --rate "150 Mbps" --rtt "80 ms" --flows 30',
        "knee show vcp",
    )
)
def knee(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """A congestion-control laboratory built around explicit feedback."""


@app.command(
    epilog=_examples(
        "knee run scenarios/quickstart.toml",
        'knee run scenarios/quickstart.toml --seed 1-5 --set bottleneck.rate="1 Gbps"',
        "knee run scenarios/quickstart.toml --json --quiet > summary.json",
    )
)
def run(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="A scenario file, or a shipped scenario's name.")
    ],
    seed: Annotated[
        list[str] | None,
        typer.Option(metavar="SEEDS", help="Seeds to run: 7, 1-5 or 1,2,9; may be repeated."),
    ] = None,
    set_: Setting = None,
    out: Out = None,
    threads: Threads = None,
    memory_limit: Memory = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Run a scenario; print a table, write columns and a picture."""
    style = Output(out, json, quiet, Effort(threads, memory_limit))
    running.run(file, seeds=seed, settings=set_, style=style)


@app.command(
    epilog=_examples(
        'knee compare vcp xcp cubic --rate "150 Mbps" --rtt "80 ms" --flows 30 --reverse 30',
        'knee compare vcp sack/red --flows 10 --rtt-step "2 ms" --duration "60 s" --seeds 3',
        'knee compare reno cubic --buffer "0.5 BDP" --json',
        "knee compare --all-explicit",
        "knee compare --all-explicit sack/red --scenario parking-lot --scenario mine.toml",
    )
)
def compare(
    protocols: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PROTOCOL...",
            help="Senders, each with its own router (vcp) or a named one (sack/red).",
        ),
    ] = None,
    all_explicit: Annotated[
        bool,
        typer.Option("--all-explicit", help="Every law with explicit feedback, then PROTOCOLs."),
    ] = False,
    scenario: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE",
            help="Scenario files or shipped scenarios to compare on; with --all-explicit by "
            "default a dumbbell, a parking lot and T1.",
        ),
    ] = None,
    rate: Annotated[
        str | None, typer.Option(metavar="RATE", help="Rate of the bottleneck.")
    ] = None,
    rtt: Annotated[str | None, typer.Option(metavar="TIME", help="Propagation RTT.")] = None,
    flows: Annotated[str | None, typer.Option(metavar="N", help="Forward flows.")] = None,
    reverse: Annotated[str | None, typer.Option(metavar="N", help="Reverse flows.")] = None,
    duration: Annotated[str | None, typer.Option(metavar="TIME", help="Length of a run.")] = None,
    seeds: Annotated[
        str | None, typer.Option(metavar="N", help="Number of seeds, or seeds: 4-9, 1,7.")
    ] = None,
    buffer: Annotated[
        str | None,
        typer.Option(metavar="SIZE", help='Buffer: "1 BDP", "200 packets", "1 MB", "unlimited".'),
    ] = None,
    rtt_step: Annotated[
        str | None, typer.Option(metavar="TIME", help="Flow i has the RTT plus i of these.")
    ] = None,
    warmup: Annotated[
        str | None, typer.Option(metavar="TIME", help="Beginning of a run that no figure counts.")
    ] = None,
    set_: Setting = None,
    out: Out = None,
    threads: Threads = None,
    memory_limit: Memory = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Compare protocols on a dumbbell, no file needed; or on scenarios, with their fair shares."""
    options = {
        "rate": rate,
        "rtt": rtt,
        "flows": flows,
        "reverse": reverse,
        "duration": duration,
        "buffer": buffer,
        "rtt_step": rtt_step,
        "warmup": warmup,
    }
    style = Output(out, json, quiet, Effort(threads, memory_limit))
    if all_explicit or scenario:
        from knee.cli import comparing

        wanted = comparing.Wanted(protocols or [], all_explicit, scenario or [])
        comparing.compare(wanted, options, seeds=seeds, settings=set_, style=style)
        return
    running.compare(protocols or [], options, seeds=seeds, settings=set_, style=style)


@app.command(
    "list", epilog=_examples("knee list laws", "knee list routers", "knee list scenarios --json")
)
def list_(
    kind: Annotated[catalogue.Kind, typer.Argument(help="What to list.")],
    json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """List laws, routers, codecs or shipped scenarios."""
    catalogue.list_all(kind, as_json=json)


@app.command(epilog=_examples("knee show vcp", "knee show vcp-authors", "knee show cubic --json"))
def show(
    name: Annotated[
        str,
        typer.Argument(metavar="LAW", help="A law's or preset's name, as `knee list` prints it."),
    ],
    json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Show a law, its parameters and its paper, or what a preset changes of one."""
    catalogue.show(name, as_json=json)


@app.command(
    epilog=_examples(
        "knee reproduce --list",
        "knee reproduce vcp-rtt-fairness",
        "knee reproduce xia2008",
        "knee reproduce xia2008 --quick",
    )
)
def reproduce(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="CLAIM|PAPER...", help="Claims, or papers for all of theirs."),
    ] = None,
    list_: Annotated[bool, typer.Option("--list", help="List the claims and end.")] = False,
    quick: Annotated[
        bool,
        typer.Option("--quick", help="A smoke test: runs cut to some seconds, no valid verdicts."),
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="DIR", help="Report's folder, by default results/reproduce/NAME."
        ),
    ] = None,
    store: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Where finished runs are kept, by default KNEE_STORE or results/store.",
        ),
    ] = None,
    threads: Threads = None,
    memory_limit: Memory = None,
    json: Annotated[bool, typer.Option("--json", help="Print the answers as JSON.")] = False,
    quiet: Quiet = False,
) -> None:
    """Answer the papers' claims: run what they need, judge, draw, write a report.

    Finished runs are kept; a command that was stopped goes on where it was.
    """
    from knee.cli import reproducing

    if list_:
        reproducing.list_all(as_json=json)
        return
    reproducing.reproduce(
        names or [],
        store=store,
        quick=quick,
        style=Output(out, json, quiet, Effort(threads, memory_limit)),
    )


@app.command(epilog=_examples("knee plot results/quickstart"))
def plot(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A results folder.")],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="Picture (png, pdf, svg), by default DIR/overview.png.",
        ),
    ] = None,
) -> None:
    """Draw a results folder's overview again."""
    drawing.plot(folder, out)


@scenario_app.command(epilog=_examples("knee scenario new mine.toml"))
def new(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="The file to write; it must not exist.")
    ],
) -> None:
    """Write a small commented scenario to begin with."""
    writing.new(file)


@scenario_app.command(
    epilog=_examples(
        "knee scenario check mine.toml",
        'knee scenario check mine.toml --set bottleneck.rate="1 Gbps" --toml',
    )
)
def check(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="A scenario file, or a shipped scenario's name.")
    ],
    set_: Setting = None,
    toml: Annotated[
        bool, typer.Option("--toml", help="Print the scenario with every default written out.")
    ] = False,
) -> None:
    """Check a scenario without running it."""
    writing.check(file, settings=set_, as_toml=toml)


@scenario_app.command(epilog=_examples("knee scenario schema > scenario.schema.json"))
def schema() -> None:
    """Print the JSON Schema of the scenario format, for editors."""
    writing.schema()
