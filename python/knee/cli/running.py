"""`knee run` and `knee compare`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from knee.cli.delivering import Output, deliver, stoppable
from knee.cli.ending import Refused
from knee.cli.progress import progress_bar
from knee.printable import brief
from knee.replacement import check_folder
from knee.results import Results, is_of_a_run
from knee.results import run as run_scenario
from knee.scenario import Scenario, load
from knee.scenario import compare as compare_scenario
from knee.settings import LARGEST_SEED, MOST_SEEDS

DIGITS = 100
"""Most digits of a number that are looked at."""


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
    return _seed(text, text) if _is_whole(text.strip()) else parse_seeds(text)


def parse_seeds(text: str) -> list[int]:
    """Seeds of `1,2,7` and `1-5`, in order, each once."""
    seeds: dict[int, None] = {}
    for part in text.split(","):
        first, dash, last = (piece.strip() for piece in part.partition("-"))
        low = _seed(first, part)
        high = _seed(last, part) if dash else low
        if high < low or high - low >= MOST_SEEDS:
            raise Refused(
                f"a range of seeds goes up, by {MOST_SEEDS} at most; {brief(part.strip())} does not"
            )
        seeds.update(dict.fromkeys(range(low, high + 1)))
    return list(seeds)


def _is_whole(text: str) -> bool:
    return text.isascii() and text.isdigit()


def _seed(text: str, part: str) -> int:
    """The seed, or number of seeds, that `text` is."""
    text = text.strip()
    if not _is_whole(text) or len(text) > DIGITS or int(text) > LARGEST_SEED:
        raise Refused(
            f"seeds are whole numbers from 0 to {LARGEST_SEED}, or ranges such as 1-5, not "
            f"'{brief(part.strip())}'"
        )
    return int(text)


def parse_settings(settings: list[str] | None) -> dict[str, str]:
    """Keys and values of `KEY=VALUE`s; a later one wins."""
    parsed = {}
    for setting in settings or []:
        key, equals, value = setting.partition("=")
        if not equals or not key.strip():
            raise Refused(
                f'a setting is KEY=VALUE, such as bottleneck.rate="1 Gbps", not "{brief(setting)}"'
            )
        parsed[key.strip()] = value.strip()
    return parsed


def _run(scenario: Scenario, style: Output) -> None:
    checked = scenario.check()
    folder = style.folder or Path("results") / checked.name
    check_folder(folder, is_of_a_run, "results")
    title = f"{checked.name}: {len(checked.variants) * len(checked.seeds)} runs"
    with stoppable(folder):
        with progress_bar(title, hidden=style.quiet) as progress:
            results = run_scenario(
                scenario,
                threads=style.effort.threads,
                memory_limit=style.effort.memory_limit,
                progress=progress,
            )
        deliver(results, _printer(style), folder, style)


def _printer(style: Output) -> Callable[[Results], None]:
    from knee.cli.table import print_json, print_table

    return (lambda results: print_json(results.summary)) if style.as_json else print_table
