"""`knee run` and `knee compare`."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from knee.cli.errors import Interrupted, Refused
from knee.cli.progress import progress_bar
from knee.results import Results, check_folder
from knee.results import run as run_scenario
from knee.scenario import Scenario, load
from knee.scenario import compare as compare_scenario


@dataclass(frozen=True, slots=True)
class Output:
    """Where a run's results go, and how much is said meanwhile."""

    folder: Path | None
    as_json: bool
    quiet: bool


def run(file: str, *, seeds: list[str] | None, settings: list[str] | None, style: Output) -> None:
    """Run the scenario in `file`."""
    chosen = None if seeds is None else parse_seeds(",".join(seeds))
    _run(load(file).replace(seeds=chosen, set=parse_settings(settings)), style)


def compare(
    protocols: list[str],
    options: dict[str, str | None],
    *,
    seeds: str | None,
    settings: list[str] | None,
    style: Output,
) -> None:
    """Run `protocols` on a dumbbell."""
    given = {key: value for key, value in options.items() if value is not None}
    chosen = parse_number_of_seeds(seeds)
    _run(compare_scenario(*protocols, seeds=chosen, set=parse_settings(settings), **given), style)


def parse_number_of_seeds(text: str | None) -> int | list[int] | None:
    """A number of seeds, or seeds such as 1,2,7 and 1-5."""
    if text is None:
        return None
    return int(text) if text.strip().isdigit() else parse_seeds(text)


def parse_seeds(text: str) -> list[int]:
    """Seeds of `1,2,7` and `1-5`, in order, each once."""
    seeds: dict[int, None] = {}
    for part in text.split(","):
        first, dash, last = (piece.strip() for piece in part.partition("-"))
        if not first.isdigit() or (dash and not last.isdigit()):
            raise Refused(f"seeds are whole numbers or ranges such as 1-5, not {part.strip()!r}")
        low, high = int(first), int(last) if dash else int(first)
        if high < low or high - low >= 10_000:
            raise Refused(f"a range of seeds goes up, by 10000 at most; {part.strip()!r} does not")
        seeds.update(dict.fromkeys(range(low, high + 1)))
    return list(seeds)


def parse_settings(settings: list[str] | None) -> dict[str, str]:
    """Keys and values of `KEY=VALUE`s; a later one wins."""
    parsed = {}
    for setting in settings or []:
        key, equals, value = setting.partition("=")
        if not equals or not key.strip():
            raise Refused(
                f'a setting is KEY=VALUE, such as bottleneck.rate="1 Gbps", not {setting!r}'
            )
        parsed[key.strip()] = value.strip()
    return parsed


def _run(scenario: Scenario, style: Output) -> None:
    try:
        _run_and_save(scenario, style)
    except KeyboardInterrupt:
        raise Interrupted from None


def _run_and_save(scenario: Scenario, style: Output) -> None:
    checked = scenario.check()
    folder = check_folder(style.folder or Path("results") / checked.name)
    title = f"{checked.name}: {len(checked.variants) * len(checked.seeds)} runs"
    with progress_bar(title, hidden=style.quiet) as progress:
        results = run_scenario(scenario, progress=progress)
    _show(results, style)
    results.save(folder)
    if not style.quiet:
        written = style.folder or folder.relative_to(Path.cwd())
        print(f"Columns and picture: {written}", file=sys.stderr if style.as_json else sys.stdout)


def _show(results: Results, style: Output) -> None:
    from knee.cli.table import print_json, print_table

    if style.as_json:
        print_json(results.summary)
    else:
        print_table(results)
    sys.stdout.flush()
