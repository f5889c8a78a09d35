"""The compiled part of knee: scenarios are checked and run here."""

from collections.abc import Callable, Sequence
from typing import Any, final

__all__ = [
    "MOST_TEXT",
    "Columns",
    "Results",
    "Scenario",
    "ScenarioError",
    "ScenarioWarning",
    "Session",
    "__fingerprint__",
    "__version__",
    "available_memory",
    "catalogue",
    "compare",
    "fluid",
    "parse_memory",
    "parse_rate",
    "parse_time",
    "run",
    "schema",
]

__version__: str
__fingerprint__: str  # hash of the sources that decide what a run yields, laws apart

MOST_TEXT: int  # most bytes of a scenario's text

class ScenarioError(ValueError):
    """A scenario that knee refuses; the message is one sentence, whose parts are attributes."""

    line: int | None  # of the text, from 1
    path: str | None  # the dotted key; elements of lists go by their name
    given: str | None  # what stands there, as TOML
    allowed: tuple[str, ...]  # the names that are allowed there, sorted
    nearest: str | None  # the one of these that is nearest to what was given

class ScenarioWarning(UserWarning):
    """Something of a scenario that is accepted, though it is likely not meant."""

@final
class Columns:
    """A table of named columns that pyarrow, polars, pandas and DuckDB read without copying."""

    @property
    def column_names(self) -> list[str]:
        """Names of the columns, in order."""

    def __arrow_c_schema__(self) -> Any:
        """The schema as an Arrow PyCapsule."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """The columns as a stream of one batch, by the Arrow PyCapsule interface."""

    def __len__(self) -> int: ...

@final
class Scenario:
    """A checked scenario: it can be run."""

    @staticmethod
    def from_toml(text: str, *, name: str, overrides: Sequence[tuple[str, str]]) -> Scenario:
        """Parse and check TOML text; `name` is its file's name, for messages."""

    @staticmethod
    def from_json(text: str, *, name: str, overrides: Sequence[tuple[str, str]]) -> Scenario:
        """Parse and check JSON text with the same keys as the TOML format."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def variants(self) -> list[str]:
        """Names of its variants, in order."""

    @property
    def seeds(self) -> list[int]:
        """Its seeds, in order."""

    @property
    def laws(self) -> list[list[str]]:
        """The laws that each variant runs, in order of variant.

        Each list is sorted and has lines such as "sender vcp 0123456789abcdef"; the hash changes
        when the law does.
        """

    @property
    def warnings(self) -> list[str]:
        """Sentences about what it says that may be meant, but likely is not."""

    def work(self) -> float:
        """Bits that its links could carry in a run: a measure of the run's work."""

    def memory(self, threads: int) -> int:
        """About how many bytes of memory its runs take at their peak, so many at a time."""

    def to_toml(self) -> str:
        """The scenario as run: every default and seed written out, with knee's version."""

    def ways(self) -> str:
        """Capacities of links and ways of flows, a network a variant, as JSON text."""

@final
class Results:
    """The tables of a run."""

    @property
    def summary(self) -> Columns:
        """A row a protocol, seed and measured link."""

    @property
    def flows(self) -> Columns:
        """A row a protocol, seed and flow."""

    @property
    def series(self) -> Columns:
        """Samples of the probes, long form."""

    @property
    def stations(self) -> Columns:
        """A row a protocol, seed and station of a wireless LAN."""

@final
class Session:
    """One variant with one seed, in motion."""

    def __new__(cls, scenario: Scenario) -> Session:
        """The only run of a scenario, at its beginning."""

    @property
    def now(self) -> float:
        """Simulated time, seconds."""

    def run_until(self, instant: str) -> None:
        """Run all that happens before an instant, such as `10 s`; Ctrl-C stops it."""

    def change(self, key: str, value: str) -> None:
        """Change something now; key and value are as in a scenario."""

    def samples(self) -> Columns:
        """Samples since they were last taken, in the columns of `series`."""

    def finish(self) -> Results:
        """Run to the end: the tables of the run. The session is over then."""

def run(
    scenario: Scenario,
    *,
    threads: int | None = None,
    memory: int | None = None,
    progress: Callable[[float], object] | None = None,
    warn: Callable[[str], object] | None = None,
) -> Results:
    """Run every variant with every seed, the GIL released.

    `memory` is how many bytes the runs may take together, by default what there is. `progress` is
    called with the fraction done, in [0, 1], and `warn` with a sentence where something is done
    otherwise than asked; an exception from them, or Ctrl-C, stops the run and is raised.
    """

def available_memory() -> int | None:
    """Bytes of memory that runs may take as things are; None if the system does not tell."""

def parse_memory(text: str) -> int:
    """Bytes of a text such as "8 GB"."""

def parse_time(text: str) -> float:
    """Seconds of a time such as "80 ms"."""

def parse_rate(text: str) -> float:
    """Bits a second of a rate such as "150 Mbps"."""

def compare(
    protocols: Sequence[str],
    *,
    rate: str | None = None,
    rtt: str | None = None,
    flows: str | None = None,
    reverse: str | None = None,
    duration: str | None = None,
    seeds: str | None = None,
    buffer: str | None = None,
    rtt_step: str | None = None,
    warmup: str | None = None,
    overrides: Sequence[tuple[str, str]] = ...,
) -> Scenario:
    """A dumbbell on which protocols are compared; what is not given has its default."""

def fluid(model: str, settings: str) -> Columns:
    """Solve the fluid model called `model`; `settings` is a JSON object.

    The GIL is released meanwhile; Ctrl-C stops it.
    """

def catalogue() -> str:
    """Laws with their parameters, codecs, and quantities that probes sample, as JSON text."""

def schema() -> str:
    """The JSON Schema of a scenario, as JSON text."""
