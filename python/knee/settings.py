"""Settings of a scenario as the compiled side takes them: units named, values in TOML syntax.

A quantity may be a number in SI units. Which settings are quantities, the format's own schema and
the catalogue of laws say, so that a new setting needs nothing here.
"""

from __future__ import annotations

import itertools
import json
import operator
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from knee import _core
from knee.printable import brief
from knee.quantity import is_number, plain, with_unit

MOST_SEEDS = 10_000
LARGEST_SEED = 2**63 - 1

UNITS = {"Rate": "bps", "Delay": "s", "Period": "s", "Size": "B", "Buffer": "B", "FlowSize": "B"}
"""SI units of the schema's types that are quantities."""

LAW_UNITS = {"rate": "bps", "duration": "s", "size": "B"}
"""SI units of the kinds of laws' parameters that are quantities."""

Schema = Mapping[str, Any]


def as_json(settings: Mapping[str, object]) -> str:
    """A scenario's settings as JSON text, in the layout of the TOML format.

    Raises:
        ScenarioError: If it is too deep, or has too long a number.
        TypeError: If a value is nothing that JSON has.
    """
    try:
        return json.dumps(_named(settings, _schema(), None), default=_refuse)
    except (ValueError, RecursionError):  # of whole numbers of more than 4300 digits
        raise _core.ScenarioError("scenario: a value is too long a number, or too deep") from None


def as_overrides(changes: Mapping[str, object]) -> list[tuple[str, str]]:
    """Settings by dotted key, each with its value in TOML syntax, or the text that it is.

    Raises:
        ScenarioError: If a value cannot be written so.
    """
    try:
        return [(key, _value(_named(value, _at(key), None))) for key, value in changes.items()]
    except (ValueError, RecursionError):  # of whole numbers of more than 4300 digits
        raise _core.ScenarioError(
            f"set {', '.join(map(brief, changes))}: a value is too long a number, or too deep"
        ) from None


def as_seeds(seeds: int | Iterable[int]) -> str:
    """Seeds in TOML syntax: their number, or a list of them.

    Raises:
        ScenarioError: If they are no whole numbers, or too large.
    """
    try:
        if not isinstance(seeds, Iterable):
            return _seed(seeds)
        # More are too many anyway, and are not counted.
        return f"[{', '.join(map(_seed, itertools.islice(seeds, MOST_SEEDS + 1)))}]"
    except TypeError:
        raise _core.ScenarioError(
            f"seeds are whole numbers, or a number of them, not {brief(repr(seeds))}"
        ) from None


def _seed(seed: int) -> str:
    if not 0 <= operator.index(seed) <= LARGEST_SEED:
        raise _core.ScenarioError(f"seeds are whole numbers from 0 to {LARGEST_SEED}")
    return str(operator.index(seed))


@cache
def _schema() -> Schema:
    found: Schema = json.loads(_core.schema())
    return found


@cache
def _parameters() -> Mapping[str, Mapping[str, str]]:
    """By parameter the kind that it is of each law, by the law's name."""
    known = json.loads(_core.catalogue())
    found: dict[str, dict[str, str]] = {}
    for law in (*known["senders"], *known["routers"], *known["slow_starts"]):
        for parameter in law["params"]:
            found.setdefault(parameter["name"], {})[law["name"]] = parameter["kind"]
    return found


def _ways(schema: Schema) -> Iterator[Schema]:
    """What a schema allows, one by one, without references to quantities followed."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        if name in UNITS:
            yield schema
        else:
            yield from _ways(_schema()["$defs"][name])
    for each in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
        yield from _ways(each)
    if "type" in schema:
        yield schema


def _inside(schema: Schema, key: str) -> Schema:
    """What a schema allows below a key."""
    found = [
        way["properties"][key] if key in way.get("properties", ()) else way["additionalProperties"]
        for way in _ways(schema)
        if key in way.get("properties", ()) or way.get("additionalProperties")
    ]
    return {"anyOf": found}


def _items(schema: Schema) -> Schema:
    """What a schema allows in a list."""
    return {"anyOf": [way["items"] for way in _ways(schema) if "items" in way]}


def _at(key: str) -> Schema:
    """What the format allows at a dotted key; elements of lists go by number or name."""
    schema, last = _schema(), ""
    for last in map(str.strip, key.split(".")):
        lists = _items(schema)
        schema = lists if lists["anyOf"] else _inside(schema, last)
    return _of_law(last, None) if _is_of_law(schema) else schema


def _is_of_law(schema: Schema) -> bool:
    """Does it allow any parameter of a law, of which the law alone knows what it takes?"""
    return any(each.get("$ref") == "#/$defs/ParamValue" for each in schema.get("anyOf", ()))


def _of_law(parameter: str, law: object) -> Schema:
    """What a law's parameter is; of an unknown law, if all that have such a one agree."""
    kinds = _parameters().get(parameter, {})
    chosen = {kinds[law]} if isinstance(law, str) and law in kinds else {*kinds.values()}
    unit = LAW_UNITS.get(chosen.pop()) if len(chosen) == 1 else None
    quantity = next((name for name in UNITS if UNITS[name] == unit), None)
    return {"$ref": f"#/$defs/{quantity}"} if quantity else {}


def _named(value: Any, schema: Schema, law: object) -> Any:
    """`value` with its SI unit at every number in it that the schema says is a quantity.

    `law` is the law that a table of parameters is of, unless it names another.
    """
    value = plain(value)
    if is_number(value):
        return _number(value, schema)
    if isinstance(value, Mapping):
        law = value.get("law", law)
        protocol = value.get("protocol")
        named = {}
        for key, each in value.items():
            if each is None or isinstance(each, str | bool):
                named[key] = each
                continue
            inside = _inside(schema, key)
            if _is_of_law(inside):
                inside = _of_law(key, law)
            named[key] = _named(each, inside, _law_of(key, protocol))
        return named
    if isinstance(value, Iterable) and not isinstance(value, str | bytes):
        items = _items(schema)
        return [_named(each, items, law) for each in value]
    return value


def _law_of(role: str, protocol: object) -> object:
    """The law that a protocol such as "sack/red" names for a role, a router's or sender's."""
    if not isinstance(protocol, str):
        return None
    sender, _, router = protocol.partition("/")
    return {"sender": sender, "router": router or sender}.get(role)


def _number(value: float, schema: Schema) -> object:
    ways = list(_ways(schema))
    if any(way.get("type") in ("number", "integer") for way in ways):
        return value
    units = {UNITS[way["$ref"].rpartition("/")[2]] for way in ways if "$ref" in way}
    return with_unit(value, units.pop()) if len(units) == 1 else value


def _value(value: object) -> str:
    """A setting in TOML syntax, or the bare string that it is."""
    match value:
        case str():
            return value
        case bool():
            return str(value).lower()
        case int() | float():
            return repr(value)
        case dict():
            inner = ", ".join(f"{json.dumps(key)} = {_inner(each)}" for key, each in value.items())
            return f"{{{inner}}}"
        case list():
            return f"[{', '.join(_inner(each) for each in value)}]"
        case _:
            return str(value)


def _inner(value: object) -> str:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else _value(value)


def _refuse(value: object) -> object:
    raise TypeError(f"a setting cannot be a {type(value).__name__}")
