"""Claims of papers as their files in `ledger/` state them: how each is rebuilt, what must come out.

One TOML file a claim, in a folder a paper. The format is described in `ledger/README.md`.
"""

from __future__ import annotations

import difflib
import math
import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from knee.ledger.models import MODELS

FOLDER = Path(__file__).parents[1] / "claims"
"""Folder of the claims that come with knee."""

SUBJECT = "subject"
"""The role of the protocol that a claim is about, in `compare`, `of` and `against`."""


_NAMED = re.compile(r"\{([\w-]+)\}")
"""A reason in the text of a `because`."""

_Table = TypeVar("_Table", bound=BaseModel)


class LedgerError(ValueError):
    """A claim's file that cannot be used, or a name that is none; the message is one sentence."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Metric(_Strict):
    """A measure of `knee.analysis.measures` and its arguments, or a column of the summary."""

    measure: str
    arguments: dict[str, Any] = {}

    @model_validator(mode="before")
    @classmethod
    def _flat(cls, given: Any) -> Any:
        if isinstance(given, str):
            return {"measure": given}
        if isinstance(given, dict) and "arguments" not in given:
            rest = {key: value for key, value in given.items() if key != "measure"}
            return {"measure": given.get("measure"), "arguments": rest}
        return given

    @property
    def column(self) -> str:
        """The name of its column in an experiment's rows."""
        rest = ", ".join(f"{key}={value}" for key, value in sorted(self.arguments.items()))
        return f"{self.measure}({rest})" if rest else self.measure


class Sweep(_Strict):
    """What is varied: each value x takes the place of {x} in the strings of `set`.

    So it does in variants and in the arguments of metrics; {4*x} is four times it, {4/x} four
    over it.
    """

    name: str
    """With its unit, such as "capacity, Mbps": the figures' axis."""
    values: list[float] = Field(min_length=1)
    set: dict[str, Any] = {}
    log: bool = False


class Beyond(_Strict):
    """What is different where x of the sweep is greater: settings, or fewer seeds of long runs."""

    x: float
    seeds: int | None = Field(default=None, ge=1)
    peer_seeds: int | None = Field(default=None, ge=1)
    set: dict[str, Any] = {}


def _entry(given: Any) -> Any:
    match given:
        case "subject":
            return {"role": SUBJECT, "variant": {"protocol": "{subject}"}}
        case str():
            return {"role": given, "variant": {"protocol": given}}
        case {"role": role, **variant} if "variant" not in variant:
            own = {key: variant.pop(key) for key in ("set", "seeds") if key in variant}
            return {"role": role, **own, "variant": variant}
        case _:
            return given


class Entry(_Strict):
    """A variant of an experiment and the role in which checks and figures name it."""

    role: str
    variant: dict[str, Any]
    set: dict[str, Any] = {}
    """Settings of this entry alone, over those of the sweep."""
    seeds: int | None = Field(default=None, ge=1)
    """In place of the experiment's, where x is not beyond."""

    @property
    def is_of_subject(self) -> bool:
        """Is it run once for each subject?"""
        return "{subject}" in repr(self.variant)


class Experiment(_Strict):
    """Runs of a shipped scenario, or values of a model of `knee.ledger.models`.

    What `compare` varies of a model is its arguments.
    """

    id: str = "main"
    scenario: str | None = None
    model: str | None = None
    arguments: dict[str, Any] = {}
    set: dict[str, Any] = {}
    compare: list[Annotated[Entry, BeforeValidator(_entry)]] = [
        Entry(role=SUBJECT, variant={"protocol": "{subject}"})
    ]
    seeds: int = Field(default=5, ge=1)
    peer_seeds: int | None = Field(default=None, ge=1)
    beyond: Beyond | None = None
    sweep: Sweep | None = None

    @model_validator(mode="after")
    def _one_source(self) -> Experiment:
        if (self.scenario is None) == (self.model is None):
            raise ValueError(f"experiment {self.id}: give either scenario or model")
        if self.model is not None and self.model not in MODELS:
            raise ValueError(f"model {self.model!r} is none of {', '.join(MODELS)}")
        if self.model is not None and any("protocol" in each.variant for each in self.entries()):
            raise ValueError(f"experiment {self.id}: a model compares arguments, not protocols")
        return self

    def entries(self) -> Sequence[Entry]:
        """Its entries; a model without `compare` has one, of the role "model"."""
        if self.model is None or "compare" in self.model_fields_set:
            return self.compare
        return [Entry(role="model", variant={})]

    def entry(self, role: str) -> Entry | None:
        """The entry of a role."""
        return next((entry for entry in self.entries() if entry.role == role), None)


class Check(_Strict):
    """What must come out: a metric of some roles within bounds.

    Attributes:
        paper: What the paper says, briefly, with its number.
        metric: What is measured.
        within: Least and greatest value allowed; `inf` leaves a side open.
        why: How the bounds follow from the paper's wording, where that is not plain.
        of: Roles that it is about.
        against: Role whose value is taken off, or divided by; see `relation`.
        relation: How `against` is used.
        over: "every" point of the sweep, "most" (more than half), their "mean" or "max", or the
            exponent or the steadiness (R squared) of the metric against x or log x: "exponent",
            "log-line".
        at: Least and greatest x of the sweep counted.
        because: By subject, why it differs; found by looking. {NAME} stands for a reason of the
            claim's that several checks have.
    """

    paper: str
    metric: Metric
    within: tuple[float, float]
    why: str = ""
    experiment: str | None = None
    of: list[str] = [SUBJECT]
    against: str | None = None
    relation: Literal["difference", "ratio"] = "difference"
    over: Literal["every", "most", "mean", "max", "exponent", "log-line"] = "every"
    at: tuple[float, float] = (-math.inf, math.inf)
    because: dict[str, str] = {}

    @property
    def roles(self) -> list[str]:
        """Whose values it needs."""
        return self.of if self.against is None else [*self.of, self.against]


class Panel(_Strict):
    """A panel of a figure: a metric against the sweep, or a probed quantity against time.

    With `against` it is a curve: the metric against another one, point by point of the sweep.
    """

    label: str
    metric: Metric | None = None
    against: Metric | None = None
    quantity: str | None = None
    entity: str = "*"
    log: bool = False
    scale: float = 1.0
    shown: tuple[tuple[float, float], tuple[float, float]] | None = None
    """Of a curve: the least and greatest x and y shown."""
    mark: tuple[float, float] | None = None
    """Of a curve: a point that is marked."""

    @model_validator(mode="after")
    def _one_kind(self) -> Panel:
        if (self.metric is None) == (self.quantity is None):
            raise ValueError(f"panel {self.label}: give either metric or quantity")
        if self.against is None and (self.shown, self.mark) != (None, None):
            raise ValueError(f"panel {self.label}: shown and mark are of curves, with against")
        return self


class Figure(_Strict):
    """A figure of the paper, in its axes."""

    title: str
    experiment: str | None = None
    panels: list[Panel] = Field(min_length=1)
    roles: list[str] | None = None
    x: float | None = None
    """Of a figure against time: the value of the sweep shown, by default the first."""
    window: tuple[float, float] | None = None
    """Of a figure against time: the seconds shown."""


class Claim(_Strict):
    """A claim of a paper."""

    id: str
    paper: str
    where: str
    title: str
    claim: str
    setup: str
    note: str = ""
    """What a reader should know of how it was rebuilt: what the paper leaves open."""
    subjects: list[str] = []
    reason: dict[str, str] = {}
    """Why more than one figure differs, by a name that the checks' `because` has in braces."""
    experiment: list[Experiment] = Field(min_length=1)
    check: list[Check] = Field(min_length=1)
    figure: list[Figure] = []

    @model_validator(mode="after")
    def _reasons(self) -> Claim:
        used: set[str] = set()
        for check in self.check:
            for by, text in check.because.items():
                used.update(_NAMED.findall(text))
                check.because[by] = _NAMED.sub(self._reason, text)
        if idle := self.reason.keys() - used:
            raise ValueError(f"reason {min(idle)!r} is that of no check")
        return self

    def _reason(self, named: re.Match[str]) -> str:
        if named[1] not in self.reason:
            known = ", ".join(self.reason) or "none"
            raise ValueError(f"because names the reason {named[1]!r}; there are: {known}")
        return self.reason[named[1]]

    @model_validator(mode="after")
    def _names(self) -> Claim:
        ids = [experiment.id for experiment in self.experiment]
        if len({*ids}) < len(ids):
            raise ValueError("two experiments have the same id")
        parts: list[Check | Figure] = [*self.check, *self.figure]
        for part in parts:
            if part.experiment is not None and part.experiment not in ids:
                raise ValueError(f"experiment {part.experiment!r} is none of {', '.join(ids)}")
        for check in self.check:
            roles = [entry.role for entry in self.of(check).entries()]
            for role in check.roles:
                if role not in roles:
                    raise ValueError(f"role {role!r} is none of {', '.join(roles)}")
        return self

    def of(self, part: Check | Figure) -> Experiment:
        """The experiment that a check or figure is about, by default the first."""
        return next(
            (each for each in self.experiment if each.id == part.experiment), self.experiment[0]
        )


def read_claim(file: Path) -> Claim:
    """The claim of a file.

    Raises:
        LedgerError: If it is none.
    """
    return _read(Claim, file, {"id": file.stem, "paper": file.parent.name})


def _read(kind: type[_Table], file: Path, implied: Mapping[str, str]) -> _Table:
    try:
        table = tomllib.loads(file.read_text(encoding="utf-8"))
        return kind.model_validate({**implied, **table})
    except OSError as error:
        raise LedgerError(f"{file}: {error.strerror}") from None
    except tomllib.TOMLDecodeError as error:
        raise LedgerError(f"{file}: {error}") from None
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "claim"
        raise LedgerError(f"{file}: {where}: {first['msg']}") from None


class Paper(_Strict):
    """A paper whose claims are answered.

    Attributes:
        id: Name of its folder.
        citation: Authors, title, where and when.
        setting: The common setting of its experiments.
        claims: Ids of its claims, in its order.
    """

    id: str
    citation: str
    setting: str
    claims: list[str]


@cache
def papers() -> tuple[Paper, ...]:
    """The papers that have claims.

    Raises:
        LedgerError: If a file is wrong.
    """
    return tuple(
        _read(Paper, file, {"id": file.parent.name}) for file in sorted(FOLDER.glob("*/paper.toml"))
    )


@cache
def claims() -> tuple[Claim, ...]:
    """All claims that come with knee, by paper and in their papers' order.

    Raises:
        LedgerError: If a file is wrong.
    """
    return tuple(
        read_claim(FOLDER / paper.id / f"{name}.toml")
        for paper in papers()
        for name in paper.claims
    )


def find(names: Sequence[str]) -> list[Claim]:
    """The claims of these names; a paper's name stands for all of its.

    Raises:
        LedgerError: If a name is neither; the message names the nearest.
    """
    chosen: dict[str, Claim] = {}
    for name in names:
        matching = [claim for claim in claims() if name in (claim.id, claim.paper)]
        if not matching:
            known = [*(paper.id for paper in papers()), *(claim.id for claim in claims())]
            near = difflib.get_close_matches(name, known, n=1, cutoff=0.4)
            hint = f"; the nearest is {near[0]}" if near else ""
            raise LedgerError(
                f"there is no claim or paper {name}{hint} (`knee reproduce --list` shows all)"
            )
        chosen.update({claim.id: claim for claim in matching})
    return list(chosen.values())


def measures_of(claim: Claim, experiment: Experiment) -> list[Metric]:
    """The metrics that a claim's checks and figures ask of an experiment."""
    asked = [check.metric for check in claim.check if claim.of(check) is experiment]
    for figure in claim.figure:
        if claim.of(figure) is experiment:
            shown = [each for panel in figure.panels for each in (panel.metric, panel.against)]
            asked += [metric for metric in shown if metric is not None]
    return list({metric.column: metric for metric in asked}.values())


__all__ = [
    "Check",
    "Claim",
    "Entry",
    "Experiment",
    "Figure",
    "LedgerError",
    "Metric",
    "Panel",
    "Paper",
    "claims",
    "find",
    "papers",
    "read_claim",
]
