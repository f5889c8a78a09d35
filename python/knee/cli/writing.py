"""`knee scenario new|check|schema`."""

from __future__ import annotations

from pathlib import Path

from knee import _core
from knee.cli.errors import Refused
from knee.cli.running import parse_settings
from knee.scenario import load


def new(file: Path) -> None:
    """Write the starting scenario to `file`, which must not exist."""
    if file.suffix != ".toml":
        raise Refused(f"cannot write {file}: a scenario file's name ends in .toml")
    try:
        with file.open("x", encoding="utf-8") as stream:
            stream.write(START.replace("NAME", file.stem))
    except FileExistsError:
        raise Refused(f"{file} exists already; it is left as it is") from None
    print(f"{file} written; try: knee run {file}")


def check(file: str, *, settings: list[str] | None, as_toml: bool) -> None:
    """Check the scenario in `file`; print its size, or all of it with every default."""
    checked = load(file).replace(set=parse_settings(settings)).check()
    if as_toml:
        print(checked.to_toml(), end="")
        return
    runs = len(checked.variants) * len(checked.seeds)
    variants = ", ".join(checked.variants)
    seeds = ", ".join(map(str, checked.seeds))
    print(f"{file} is good: {runs} runs ({variants}; seeds {seeds})")


def schema() -> None:
    """Print the JSON Schema of the scenario format."""
    print(_core.schema().rstrip())


START = """\
# A knee scenario; try `knee run NAME.toml`. Every quantity carries its unit.
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
