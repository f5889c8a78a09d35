"""`knee list` and `knee show`, from the registry of laws."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Any

from knee import _core
from knee.cli.ending import Refused
from knee.cli.terminal import new_console
from knee.scenario import shipped


class Kind(StrEnum):
    """What `knee list` lists."""

    laws = "laws"
    routers = "routers"
    codecs = "codecs"
    scenarios = "scenarios"


COLUMNS = {
    Kind.laws: ("name", "title", "codec", "router"),
    Kind.routers: ("name", "title", "codec"),
    Kind.codecs: ("name", "title"),
    Kind.scenarios: ("name", "title"),
}
"""Columns of each list, as entries of the catalogue call them."""

ROLES = {
    "senders": "sender law",
    "routers": "router law",
    "presets": "preset",
    "slow_starts": "slow start",
    "profiles": "transport profile",
}
"""What `knee show` shows: a list of the catalogue and what an entry of it is."""
PARAMETERS = ("name", "unit", "default", "range", "help")
"""Columns of a law's parameters, as the catalogue calls them."""


def list_all(kind: Kind, *, as_json: bool) -> None:
    """Print everything of a kind, a row each."""
    entries = _entries(kind)
    if as_json:
        print(json.dumps(entries, indent=1))
        return
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in COLUMNS[kind]:
        table.add_column(column, no_wrap=column == "name", style="bold" if column == "name" else "")
    for entry in entries:
        table.add_row(*(str(entry.get(column, "")) for column in COLUMNS[kind]))
    new_console().print(table)


def show(name: str, *, as_json: bool) -> None:
    """Print the laws of this name, or the preset, slow start or transport profile.

    Raises:
        Refused: If there is none; the message names the nearest.
    """
    known = json.loads(_core.catalogue())
    found = {
        role: entry
        for group, role in ROLES.items()
        for entry in known[group]
        if entry["name"] == name
    }
    if not found:
        names = [entry["name"] for group in ROLES for entry in known[group]]
        near = difflib.get_close_matches(name, names, n=1, cutoff=0.4)
        hint = f"the nearest is {near[0]}" if near else "`knee list laws` shows what there is"
        raise Refused(f"there is no law called {name}; {hint}")
    if as_json:
        print(json.dumps(list(found.values()), indent=1))
        return
    for role, entry in found.items():
        _print_entry(role, entry)
        if role == ROLES["presets"]:
            for side in ("sender", "router"):
                _print_changes(side, entry, known[f"{side}s"])
        elif role == ROLES["profiles"]:
            rows = [
                (key["name"], json.dumps(key["default"]), key["help"]) for key in entry["params"]
            ]
            _print_table(("key", "value", "source"), rows)
        else:
            _print_parameters(entry["params"])


def _entries(kind: Kind) -> list[dict[str, Any]]:
    if kind is Kind.scenarios:
        import tomllib

        settings = {file.stem: tomllib.loads(file.read_text("utf-8")) for file in shipped()}
        return [{"name": name, "title": each.get("title", "")} for name, each in settings.items()]
    known: dict[str, list[dict[str, Any]]] = json.loads(_core.catalogue())
    if kind is Kind.laws:
        return known["senders"] + known["presets"]
    return known[kind.value]


def _print_entry(role: str, entry: dict[str, Any]) -> None:
    from rich.table import Table
    from rich.text import Text

    console = new_console()
    console.print(Text.assemble("\n", (entry["name"], "bold"), f", {role}: {entry['title']}"))
    facts = {"paper": "source", "feedback": "codec", "router": "router", "recovery": "recovery"}
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim")
    grid.add_column()
    for fact, key in facts.items():
        if entry.get(key):
            grid.add_row(fact, str(entry[key]))
    if entry.get("handshake"):
        grid.add_row("handshake", "yes, before its first data")
    if "slow_start" in entry:
        grid.add_row("slow start", "yes" if entry["slow_start"] else "none of the usual kind")
    console.print(grid)


def _print_parameters(params: list[dict[str, Any]]) -> None:
    if params:
        rows = [[param[key] for key in PARAMETERS] for param in params]
        _print_table(("parameter", "unit", "default", "range", "meaning"), rows)
    else:
        new_console().print("no parameters", style="dim")


def _print_changes(side: str, preset: dict[str, Any], laws: list[dict[str, Any]]) -> None:
    """Print what a preset sets of its sender or router law, beside the defaults."""
    law = next(law for law in laws if law["name"] == preset[side])
    params = {param["name"]: param for param in law["params"]}
    rows = [
        (name, value, params[name]["default"], params[name]["help"])
        for name, value in preset[f"{side}_params"].items()
    ]
    if rows:
        _print_table((f"{side} {law['name']}", "set to", "default", "meaning"), rows)


def _print_table(headings: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in headings:
        table.add_column(heading, no_wrap=heading in (headings[0], "set to", "default"))
    for row in rows:
        table.add_row(*(str(cell) for cell in row))
    new_console().print(table)
