"""Run a scenario and hold its columns.

The columns come from Rust by the Arrow PyCapsule interface; nothing here copies them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, Self

from knee import _core
from knee.memory import MemoryLimit, in_bytes
from knee.scenario import Scenario, load, warn

if TYPE_CHECKING:
    import polars as pl

Table = Literal["summary", "flows", "series", "stations"]
TABLES: tuple[Table, ...] = ("summary", "flows", "series", "stations")
SCENARIO = "scenario.toml"
FILES = frozenset({*(f"{table}.parquet" for table in TABLES), SCENARIO})
"""What `Run.write` writes."""

MOST_THREADS = 1024

Progress = Callable[[float], object]
"""Called now and then with the fraction done, in [0, 1]; an exception stops the run."""


class DamagedError(OSError):
    """A results folder whose files cannot be read; the message is one sentence."""


class ArrowTable(Protocol):
    """Anything that hands out its columns by the Arrow PyCapsule interface."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Stream of record batches."""
        ...


class Run:
    """The columns of a run and the scenario that made them.

    Columns, their units and their meaning: see the guide, "Results".
    """

    def __init__(self, tables: Mapping[Table, ArrowTable], scenario_toml: str) -> None:
        """Hold `tables` and the text of the scenario as run, every default written out."""
        self._tables = tables
        self._frames: dict[str, pl.DataFrame] = {}
        self.scenario_toml = scenario_toml

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Read a results folder back; a table is read when first asked for.

        Raises:
            FileNotFoundError: If `folder` lacks one of its files.
            DamagedError: If scenario.toml is not a scenario; later, if a table cannot be read.
        """
        import tomllib

        for table in TABLES:
            (folder / f"{table}.parquet").stat()
        file = folder / SCENARIO
        try:
            text = file.read_text(encoding="utf-8")
            tomllib.loads(text)["name"]
        except (ValueError, KeyError):
            raise DamagedError(f"{file} is damaged: it is no scenario") from None
        return cls(_Files(folder), text)

    def write(self, folder: Path) -> None:
        """Write what `read` reads: the tables as Parquet, and scenario.toml.

        Raises:
            OSError: If `folder` cannot be written.
        """
        import pyarrow as pa
        import pyarrow.parquet as pq

        for table in TABLES:
            columns = pa.table(self.arrow(table))
            # pyarrow takes names in UTF-8 only, so it gets an open file.
            with (folder / f"{table}.parquet").open("wb") as file:
                pq.write_table(columns, file, compression="zstd")
        (folder / SCENARIO).write_text(self.scenario_toml, encoding="utf-8")

    @property
    def name(self) -> str:
        """The scenario's name."""
        return str(self.settings["name"])

    @property
    def settings(self) -> dict[str, Any]:
        """The scenario as run, as a dict in the layout of the TOML format."""
        import tomllib

        return tomllib.loads(self.scenario_toml)

    @property
    def protocols(self) -> list[str]:
        """Names of the variants, in the scenario's order."""
        return self.summary["protocol"].unique(maintain_order=True).to_list()

    @property
    def seeds(self) -> list[int]:
        """Seeds, in the scenario's order."""
        return self.summary["seed"].unique(maintain_order=True).to_list()

    @property
    def main_links(self) -> list[str]:
        """Measured links, without each NAME-reverse whose NAME is measured too."""
        links = self.summary["link"].unique(maintain_order=True).to_list()
        return [link for link in links if link.removesuffix("-reverse") not in {*links} - {link}]

    @property
    def summary(self) -> pl.DataFrame:
        """A row a protocol, seed and measured link."""
        return self._frame("summary")

    @property
    def flows(self) -> pl.DataFrame:
        """A row a protocol, seed and flow."""
        return self._frame("flows")

    @property
    def stations(self) -> pl.DataFrame:
        """A row a protocol, seed and station of a wireless LAN; none without one."""
        return self._frame("stations")

    def series(self, quantity: str | None = None) -> pl.DataFrame:
        """Samples of the probes in long form: protocol, seed, time_s, quantity, entity, value.

        Args:
            quantity: "queue" (packets), "utilisation" (fraction), "window" (packets),
                "throughput" (Mbps), ...; all of them if not given.

        Raises:
            KeyError: If nothing of that name was probed.
        """
        import polars as pl

        frame = self._frame("series")
        if quantity is None:
            return frame
        chosen = frame.filter(pl.col("quantity") == quantity)
        if chosen.is_empty():
            known = ", ".join(frame["quantity"].unique().sort().to_list()) or "nothing"
            raise KeyError(f"{quantity!r} was not probed; this run holds {known}")
        return chosen

    def arrow(self, table: Table) -> ArrowTable:
        """The raw columns of "summary", "flows", "series" or "stations".

        Whatever reads the Arrow PyCapsule interface takes them without a copy:
        `pyarrow.table(r.arrow("flows"))`, `polars.DataFrame(...)`, DuckDB, pandas.
        """
        return self._tables[table]

    def _frame(self, table: Table) -> pl.DataFrame:
        import polars as pl

        if table not in self._frames:
            self._frames[table] = pl.DataFrame(self._tables[table])
        return self._frames[table]

    def __repr__(self) -> str:
        sizes = ", ".join(f"{table}: {self._frame(table).height} rows" for table in TABLES)
        return f"<{type(self).__name__} {self.name}; {sizes}>"


class _Files(Mapping[Table, ArrowTable]):
    """The tables of a results folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __getitem__(self, table: Table) -> ArrowTable:
        import pyarrow as pa
        import pyarrow.parquet as pq

        file = self._folder / f"{table}.parquet"
        try:
            with file.open("rb") as stream:
                read: ArrowTable = pq.read_table(stream)
        except FileNotFoundError:
            raise
        except (pa.ArrowException, OSError) as error:
            why = " ".join(str(error).split())
            raise DamagedError(f"{file} is damaged: it is no table ({why})") from error
        return read

    def __iter__(self) -> Iterator[Table]:
        return iter(TABLES)

    def __len__(self) -> int:
        return len(TABLES)


def simulate(
    scenario: Scenario | str | Path,
    *,
    seeds: int | Sequence[int] | None = None,
    set: Mapping[str, object] | None = None,
    threads: int | None = None,
    memory_limit: MemoryLimit = None,
    progress: Progress | None = None,
    warn: Callable[[str], object] = warn,
) -> tuple[dict[Table, ArrowTable], str]:
    """Run a scenario: its tables and its text as run.

    Arguments and errors are those of `knee.run`; `warn` is called with a sentence about each thing
    that is likely not meant, or done otherwise than asked.
    """
    checked = load(scenario).replace(seeds=seeds, set=set).check()
    check_threads(threads)
    if threads is not None:
        threads = min(threads, len(checked.variants) * len(checked.seeds))
    for sentence in checked.warnings:
        warn(sentence)
    results = _core.run(
        checked, threads=threads, memory=in_bytes(memory_limit), progress=progress, warn=warn
    )
    return tables(results), checked.to_toml()


def tables(results: _core.Results) -> dict[Table, ArrowTable]:
    """The tables of a run by their names."""
    return {
        "summary": results.summary,
        "flows": results.flows,
        "series": results.series,
        "stations": results.stations,
    }


def check_threads(threads: int | None) -> None:
    """Check a number of threads; None leaves the number open.

    Raises:
        ValueError: If it is out of range.
    """
    if threads is not None and not 1 <= threads <= MOST_THREADS:
        raise ValueError(f"there can be 1 to {MOST_THREADS} threads")
