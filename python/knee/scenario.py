"""Scenarios: read from files, or built here without one.

A scenario is the text of its settings. What the settings may be, their defaults and all checks
are the compiled side's, so a file, a dict and a builder are told the same things.
"""

from __future__ import annotations

import difflib
import stat
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from dataclasses import replace as _replace
from pathlib import Path
from typing import Any, Literal, Self

from knee import _core
from knee.printable import brief, printable
from knee.quantity import Buffer, Rate, Time, with_unit
from knee.settings import as_json, as_overrides, as_seeds

SHIPPED = Path(__file__).parent / "scenarios"
"""Folder of the scenarios that come with knee."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """A scenario as written: not checked before `check` or `knee.run`.

    Attributes:
        text: Its settings, as TOML or JSON.
        name: What messages call it: a file's name, or the builder's.
        format: How `text` is written.
        changes: Settings changed since, as (dotted key, value in TOML syntax or a bare string).
    """

    text: str
    name: str
    format: Literal["toml", "json"] = "toml"
    changes: tuple[tuple[str, str], ...] = ()

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """The scenario in a TOML file, or in a JSON file if the name ends in .json.

        Raises:
            OSError: If the file cannot be read.
            ScenarioError: If it is no file, too long, or no text.
        """
        path = Path(path)
        try:
            text = _read(path).decode("utf-8")
        except UnicodeDecodeError as error:
            raise _core.ScenarioError(
                f"{path}: not UTF-8 text (byte {error.start + 1}); a scenario is a TOML file"
            ) from None
        return cls(text, str(path), "json" if path.suffix == ".json" else "toml")

    @classmethod
    def of(cls, settings: Mapping[str, object], *, name: str = "scenario") -> Self:
        """The scenario of a dict in the layout of the TOML format.

        Quantities are text as there, or numbers in SI units: bit/s, seconds, bytes.
        """
        return cls(as_json({"name": name} | dict(settings)), name, "json")

    def replace(
        self,
        *,
        seeds: int | Iterable[int] | None = None,
        set: Mapping[str, object] | None = None,
    ) -> Self:
        """The same scenario with other seeds (an int n means 1 to n) and settings changed.

        Args:
            seeds: Seeds to run instead of its own.
            set: Settings by dotted key: `{"bottleneck.rate": 1e9, "dumbbell.rtt": "80 ms"}`.
                Quantities are text, or numbers in SI units; other text is in TOML syntax.

        Raises:
            ScenarioError: If a seed or a value is none that a scenario can have.
        """
        changes = dict(as_overrides(set or {}))
        if seeds is not None:
            changes["seeds"] = as_seeds(seeds)
        return _replace(self, changes=(*self.changes, *changes.items()))

    def variants(self, *protocols: str | Mapping[str, object]) -> Self:
        """The same scenario comparing these: "vcp", "sack/red", or a dict as `[[variant]]` has.

        Example:
            `knee.dumbbell(rate="10 Mbps", rtt="40 ms", flows=5).variants("vcp", "cubic")`
        """
        listed = [{"protocol": each} if isinstance(each, str) else dict(each) for each in protocols]
        return self.replace(set={"variant": listed})

    def check(self) -> _core.Scenario:
        """Check it: its name, variants and seeds, ready to run.

        Raises:
            ScenarioError: If it is refused; the message is one sentence.
        """
        parse = _core.Scenario.from_json if self.format == "json" else _core.Scenario.from_toml
        name = printable(self.name)
        with _text_only(name):
            return parse(self.text, name=name, overrides=self.changes)

    def to_toml(self) -> str:
        """Its TOML text as it would run, every default written out.

        Raises:
            ScenarioError: If it is refused.
        """
        return self.check().to_toml()


def dumbbell(
    *,
    rate: Rate,
    rtt: Time,
    flows: int,
    reverse: int = 0,
    protocol: str | Sequence[str] | None = None,
    duration: Time = "60 s",
    buffer: Buffer | None = None,
    rtt_step: Time | None = None,
    start: Time | Mapping[str, object] | None = None,
    name: str = "dumbbell",
    **more: object,
) -> Scenario:
    """One bottleneck each way between flows with access links of their own.

    Quantities are text with a unit, or numbers in SI units: bit/s, seconds, bytes.

    Args:
        rate: Of the bottleneck, such as "150 Mbps" or 150e6.
        rtt: Propagation RTT, such as "80 ms" or 0.08.
        flows: Forward flows.
        reverse: Reverse flows.
        protocol: "vcp", "sack/red" (sender/router), or several to compare.
        duration: Length of a run.
        buffer: Of the bottleneck, such as "1 BDP", "200 packets", "unlimited"; a number is bytes.
        rtt_step: Forward flow i (from 0) has `rtt` plus i of these.
        start: When flows start: a time, or a dict such as `{"uniform": [0, 1]}`.
        name: Of the scenario and its results folder.
        more: Any other setting of the format: `warmup=10`, `seeds=3`, `transport={...}`.
    """
    table = {"rtt": rtt, "flows": flows, "reverse": reverse, "rtt_step": rtt_step, "start": start}
    settings = {
        "duration": duration,
        "dumbbell": _given(table),
        "bottleneck": _given({"rate": rate, "buffer": buffer}),
    }
    return _built(settings, more, protocol=protocol, name=name)


def parking_lot(
    *,
    rate: Rate,
    rtt: Time,
    links: int,
    flows: int,
    reverse: int = 0,
    cross: int = 0,
    protocol: str | Sequence[str] | None = None,
    duration: Time = "60 s",
    buffer: Buffer | None = None,
    link_delay: Time | None = None,
    rates: Sequence[Rate] | None = None,
    name: str = "parking-lot",
    **more: object,
) -> Scenario:
    """Links in a row: long flows over all of them, cross flows over each.

    Quantities are text with a unit, or numbers in SI units: bit/s, seconds, bytes.

    Args:
        rate: Of every link, unless `rates` has one for each.
        rtt: Propagation RTT of the longest path.
        links: Number of links in the row.
        flows: Long forward flows.
        reverse: Long reverse flows.
        cross: Cross flows over each link.
        protocol: "vcp", "sack/red" (sender/router), or several to compare.
        duration: Length of a run.
        buffer: Of every link, such as "1 BDP".
        link_delay: Propagation delay of each link.
        rates: Rates of the links, in order.
        name: Of the scenario and its results folder.
        more: Any other setting of the format.
    """
    table = {
        "links": links,
        "rtt": rtt,
        "flows": flows,
        "reverse": reverse,
        "cross": cross,
        "link_delay": link_delay,
        "rates": None if rates is None else list(rates),
    }
    settings = {
        "duration": duration,
        "parking_lot": _given(table),
        "bottleneck": _given({"rate": rate, "buffer": buffer}),
    }
    return _built(settings, more, protocol=protocol, name=name)


def graph(
    *,
    links: Sequence[Mapping[str, object]],
    flows: Sequence[Mapping[str, object]],
    protocol: str | Sequence[str] | None = None,
    duration: Time = "60 s",
    name: str = "graph",
    **more: object,
) -> Scenario:
    """Any directed graph of nodes and links.

    Quantities are text with a unit, or numbers in SI units: bit/s, seconds, bytes.

    Args:
        links: A dict a link, as `[[link]]` has: name, from, to, rate, delay, buffer, duplex, ...
        flows: A dict a group of flows, as `[[flows]]` has: name, from, to, count, ...
        protocol: "vcp", "sack/red" (sender/router), or several to compare.
        duration: Length of a run.
        name: Of the scenario and its results folder.
        more: Any other setting of the format.
    """
    settings = {
        "duration": duration,
        "link": [dict(link) for link in links],
        "flows": [dict(group) for group in flows],
    }
    return _built(settings, more, protocol=protocol, name=name)


def compare(
    *protocols: str,
    rate: Rate | None = None,
    rtt: Time | None = None,
    flows: int | str | None = None,
    reverse: int | str | None = None,
    duration: Time | None = None,
    seeds: int | Iterable[int] | None = None,
    buffer: Buffer | None = None,
    rtt_step: Time | None = None,
    warmup: Time | None = None,
    set: Mapping[str, object] | None = None,
) -> Scenario:
    """The scenario of `knee compare`: protocols on a dumbbell; what is not given has its default.

    Quantities are text with a unit, or numbers in SI units: bit/s, seconds, bytes.

    Raises:
        ScenarioError: If it is refused.
    """
    with _text_only("compare"):
        checked = _core.compare(
            protocols,
            rate=with_unit(rate, "bps"),
            rtt=with_unit(rtt, "s"),
            flows=_text(flows),
            reverse=_text(reverse),
            duration=with_unit(duration, "s"),
            seeds=None if seeds is None else as_seeds(seeds),
            buffer=with_unit(buffer, "B"),
            rtt_step=with_unit(rtt_step, "s"),
            warmup=with_unit(warmup, "s"),
            overrides=as_overrides(set or {}),
        )
    return Scenario(checked.to_toml(), checked.name)


def load(scenario: Scenario | str | Path) -> Scenario:
    """A scenario itself, the one in a file, or the shipped one of that name.

    Raises:
        FileNotFoundError: If there is none; the message names the nearest.
    """
    if isinstance(scenario, Scenario):
        return scenario
    path = Path(scenario)
    if path.exists():
        return Scenario.read(path)
    named = {file.stem: file for file in shipped()}
    if str(scenario) in named:
        return Scenario.read(named[str(scenario)])
    near = _nearest(path, named)
    hint = f"; the nearest is {near}" if near else "; `knee list scenarios` shows what there is"
    raise FileNotFoundError(f"there is no scenario {scenario}{hint}")


def shipped() -> list[Path]:
    """Files of the scenarios that come with knee, by name."""
    return sorted(SHIPPED.glob("*.toml"))


def warn(sentence: str) -> None:
    """Tell of something that is likely not meant, or done otherwise than asked, as Python does."""
    warnings.warn(sentence, _core.ScenarioWarning, stacklevel=4)


KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
}


def _read(path: Path) -> bytes:
    """What is in a file, if it is one and a scenario's length.

    Raises:
        OSError: If it cannot be read.
        ScenarioError: If it is no file, or too long.
    """
    kind = KINDS.get(stat.S_IFMT(path.stat().st_mode))
    if kind is not None:
        raise _core.ScenarioError(f"{path}: a scenario is a file, and this is {kind}")
    with path.open("rb") as file:
        text = file.read(_core.MOST_TEXT + 1)
    if len(text) > _core.MOST_TEXT:
        most = _core.MOST_TEXT // 1_000_000
        raise _core.ScenarioError(
            f"{path}: a scenario has at most {most} MB of text, and this file has more"
        )
    return text


def _nearest(path: Path, named: Mapping[str, Path]) -> str | None:
    """The file beside `path`, or the shipped scenario, of the most similar name."""
    beside = [str(path.with_name(file.name)) for file in path.parent.glob("*.toml")]
    known = {name: name for name in named} | {Path(each).stem: each for each in beside}
    near = difflib.get_close_matches(path.stem, known, n=1, cutoff=0.5)
    return known[near[0]] if near else None


def _built(
    settings: Mapping[str, object],
    more: Mapping[str, object],
    *,
    protocol: str | Sequence[str] | None,
    name: str,
) -> Scenario:
    scenario = Scenario.of(dict(settings) | dict(more), name=name)
    if protocol is None:
        return scenario
    return scenario.variants(*([protocol] if isinstance(protocol, str) else protocol))


def _given(table: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in table.items() if value is not None}


def _text(value: object) -> str | None:
    return None if value is None else str(value)


@contextmanager
def _text_only(name: str) -> Iterator[None]:
    """Refuse text that is none, such as an argument of the command that is not UTF-8."""
    try:
        yield
    except UnicodeEncodeError as error:
        raise _core.ScenarioError(f"{name}: {brief(error.object)} is not UTF-8 text") from None
