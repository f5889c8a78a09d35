"""Which files of a crate import which, and the circles among them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

Module = tuple[str, ...]
"""A file as a module: ("run", "build") is run/build.rs; () is lib.rs."""

_COMMENTS = re.compile(r"//[^\n]*")
_VISIBILITY = re.compile(r"pub\((?:crate|super|in [\w:]+)\)")
_TESTS = re.compile(r"(?:^|\n)#\[cfg\(test\)\]\n(?:(?:pub )?mod \w+ \{.*|use [^;]*;)", re.DOTALL)
_PATH = re.compile(r"(?<![\w:.$])((?:[a-z_]\w*::)+)(\{[^;]*?\}|\w+)?")


def circle(source: Path) -> list[str]:
    """Names of the files below `source` that import each other in a circle; none if none do."""
    files = _modules(source)
    graph = {module: set(_imports(file, module, files)) for module, file in files.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return [str(files[module].relative_to(source)) for module in error.args[1]]
    return []


def _modules(source: Path) -> dict[Module, Path]:
    found = {}
    for file in sorted(source.rglob("*.rs")):
        parts = file.relative_to(source).with_suffix("").parts
        found[parts[:-1] if parts[-1] in ("mod", "lib") else parts] = file
    return found


def _imports(file: Path, own: Module, files: dict[Module, Path]) -> Iterator[Module]:
    text = _VISIBILITY.sub("pub", _COMMENTS.sub("", file.read_text("utf-8")))
    for match in _PATH.finditer(_TESTS.sub("", text)):
        first, *rest = match[1].removesuffix("::").split("::")
        start = _start(first, own, files)
        if start is None:
            continue
        while rest and rest[0] == "super":
            start, rest = start[:-1], rest[1:]
        for last in re.findall(r"(?:^\{|,|^)\s*([a-z_]\w*)", match[2] or "") or [""]:
            target = start
            for name in (*rest, last):
                if (*target, name) not in files:
                    break
                target = (*target, name)
            if target != own:
                yield target


def _start(first: str, own: Module, files: dict[Module, Path]) -> Module | None:
    match first:
        case "crate":
            return ()
        case "super":
            return own[:-1]
        case "self":
            return own
    return (*own, first) if (*own, first) in files else None
