"""`knee scenario new|check|schema`."""

from __future__ import annotations

import shlex
from pathlib import Path

from knee import _core
from knee.cli.ending import Refused
from knee.cli.running import parse_settings
from knee.memory import in_words
from knee.printable import printable
from knee.replacement import create, reason
from knee.scenario import Scenario, load, warn


def new(file: Path) -> None:
    """Write the starting scenario to `file`, which must not exist."""
    if file.suffix != ".toml":
        raise Refused(f"cannot write {file}: a scenario file's name ends in .toml")
    # The compiled side names a nameless scenario after its file.
    name = Scenario(START.replace('name = "NAME"\n', ""), printable(file.name)).check().name
    try:
        create(file, START.replace("FILE", printable(file)).replace("NAME", name))
    except FileExistsError:
        raise Refused(f"{file} exists already; it is left as it is") from None
    except OSError as error:
        raise Refused(f"cannot write {file}: {reason(error)}") from error
    print(f"{printable(file)} written; try: knee run {shlex.quote(printable(file))}")


def check(file: str, *, settings: list[str] | None, as_toml: bool) -> None:
    """Check the scenario in `file`; print its size, or all of it with every default."""
    checked = load(file).replace(set=parse_settings(settings)).check()
    for sentence in checked.warnings:
        warn(sentence)
    if as_toml:
        print(checked.to_toml(), end="")
        return
    runs = len(checked.variants) * len(checked.seeds)
    variants = printable(", ".join(checked.variants))
    seeds = ", ".join(map(str, checked.seeds))
    memory = in_words(checked.memory(1))
    print(
        f"{printable(file)} is good: {runs} runs ({variants}; seeds {seeds}), about {memory} each"
    )


def schema() -> None:
    """Print the JSON Schema of the scenario format."""
    print(_core.schema().rstrip())


START = """\
# A knee scenario; try `knee run FILE`. Every quantity carries its unit.
# All settings: `knee scenario schema`. Laws: `knee list laws`; their parameters: `knee show vcp`.
name = "NAME"
title = "VCP and CUBIC on one bottleneck"
duration = "30 s"
seeds = 3 # runs with seeds 1, 2 and 3

[dumbbell]
rtt = "80 ms" # propagation, both ways together
flows = 10
reverse = 10

[bottleneck]
rate = "50 Mbps"
# buffer = "1 BDP" # or "200 packets", "1 MB", "unlimited"

# A row of the table each: a sender with its own router, or sender/router.
[[variant]]
protocol = "vcp"

[[variant]]
protocol = "cubic"
"""
