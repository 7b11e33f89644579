"""The tables and facts of a result, and the files that hold them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict

import msgspec
import numpy as np

from kueuepy.engine.totals import Totals
from kueuepy.errors import InvalidSpecError, StateError, checked_methods, counted, first_of, imported
from kueuepy.files import write_files
from kueuepy.look.numbers import duration
from kueuepy.simulation.columns import SPANS, Note, name_of, public_given
from kueuepy.simulation.grouped import resample
from kueuepy.tables.columns import Amounts, Categorical, Columns, is_named, stored_columns

if TYPE_CHECKING:
    import os

    from numpy.typing import NDArray
    from typing_extensions import Self

    from kueuepy.files import Write
    from kueuepy.simulation.model import Settings


_NAMED = 5


class PreemptionLoop(msgspec.Struct, frozen=True):
    """A preemption loop: a sequence of scheduling cycles at one virtual time that returns to its initial state.

    Attributes:
        at: The time at which the loop was first found, in seconds after the first submission.
        period: The number of cycles in the loop.
        times: The number of times the loop was found.
        workloads: The keys (`namespace/name`) of the workloads that the loop admits or evicts, sorted.
    """

    at: float
    period: int
    times: int
    workloads: tuple[str, ...]

    def __str__(self) -> str:
        """Return a description of the loop in one sentence."""
        times = f", {self.times} times" if self.times > 1 else ""
        names, period = first_of(self.workloads, _NAMED), counted(self.period, "cycle")
        return f"endless preemption at {duration(self.at)}{times}: the same decisions every {period} for {names}"


class JobTable(Columns):
    """One row per job, in the order of `Jobs`, with times in seconds after the first submission.

    | column | meaning |
    | --- | --- |
    | `job` | row number of the job |
    | `queue`, `cluster_queue` | LocalQueue (`namespace/name`) and ClusterQueue |
    | `priority`, `pods`, `runtime` | as in `Jobs`; `runtime` in seconds, NaN for a job that never ends |
    | `submit`, `first_start`, `end` | time of submission, first admission and end; NaN if not reached |
    | `waited`, `held` | total time without quota and total time with quota, up to the end of the job or simulation |
    | `first_wait` | time from submission to first admission; NaN without admission |
    | `runs`, `evictions` | number of quota reservations; number of evictions |
    | `lost`, `overhead` | lost progress; time for checkpoints, restores and pod starts |
    | `borrowed` | whether the last admission borrowed quota |
    | `promised` | whether the job fitted into the free nominal quota of its ClusterQueue at submission |
    | `flavor` | flavor of the first resource |
    | `slowdown` | lifetime / runtime of a finished job |
    | `bounded_slowdown` | the larger of 1 and lifetime / max(runtime, 10 s) of a finished job |
    | `state` | `ToCome` (not yet submitted), `Waiting`, `Running`, `Finished` or `Deactivated` |
    | `reason` | Kueue's reason why the job waits |
    | `counted` | whether metrics include the job; `False` for jobs submitted during the warm-up |
    | resources, such as `nvidia.com/gpu` | request of each pod, in cores, bytes or devices; multiply by `pods` |
    | `submit_time`, `first_start_time`, `end_time` | UTC timestamps if submissions are dates; NaT if not reached |

    The table also contains all other columns of `Jobs`.
    """

    def _column(self, name: str) -> Any:
        """Return a column; columns copied from the input have times in seconds and amounts in the resource's unit."""
        return public_given(name, self._columns[name])


class RunsTable(Columns):
    """One row per admission, in the order in which the runs ended, with times in seconds after the first submission.

    | column | meaning |
    | --- | --- |
    | `job`, `run` | row number of the job; number of the run, from 0 |
    | `reserved`, `start`, `end` | time of quota reservation, admission and release of the quota |
    | `flavors`, `assignment` | assigned flavors; code of the assignment |
    | `outcome` | `Finished`, `Preempted`, `Evicted` or `Running` (at the end of the simulation) |
    | `progress`, `lost`, `overhead` | kept progress, lost progress and overhead of the run, in seconds |
    | `preemptor` | row number of the preempting job, or -1 |
    | `rule` | preemption rule, such as `InClusterQueue` |
    """


class DecisionsTable(Columns):
    """One row per decision, in chronological order.

    `kind` is QuotaReserved, Admitted, Evicted, Requeued, Finished or Deactivated. The other columns are `seconds` after
    the first submission, `cycle`, `job` (row number), `cluster_queue`, `reason`, `rule` (of a preemption) and
    `preemptor` (row number of a job, or -1).
    """


class PairAmounts(Amounts):
    """A table with amounts, such as `used` and `nominal`; each row names the flavor and resource of its amounts."""

    facts = ("used", "nominal", "borrowed", "idle")
    resources = "flavor_resource"


class UsageSeries(PairAmounts):
    """Usage of each ClusterQueue over time, with one row per change of a value.

    Columns are `seconds` after the first submission, `cluster_queue`, `flavor_resource`, `used`, `nominal` and
    `borrowed` quota, the number of `waiting` jobs, and the weighted `share`. Amounts are in cores, bytes or devices.
    A value applies until the next row with the same ClusterQueue, flavor and resource. Before the first row, all values
    are 0.
    """

    def resample(self, step: Any, end: float | None = None) -> Columns:
        """Return time-weighted means over intervals of equal length.

        Args:
            step: The length of an interval, such as `1h` or a number of seconds.
            end: The end of the last interval, in seconds; by default, the time of the last row.

        Returns:
            Columns `seconds` (the beginning of the interval), `cluster_queue`, `flavor_resource`, `used`, `nominal`,
            `borrowed`, `waiting` and `share`.

        Raises:
            InvalidSpecError: `step` is not a time, or there are more than 10,000,000 intervals.
        """
        return resample(self, step, end)


class IdleTable(PairAmounts):
    """Free quota that waiting jobs request, by cohort tree, flavor and resource, with one row per change.

    Columns are `seconds` after the first submission, `tree` (the root Cohort, or a ClusterQueue without a cohort),
    `flavor_resource` and `idle`, the smaller of the free quota and the total request of the waiting jobs. Amounts are
    in cores, bytes or devices. A value applies until the next row; before the first row it is 0.
    """


class BlockedTable(Columns):
    """Ratio of used quota to entitled quota for each ClusterQueue with waiting jobs, with one row per change.

    Columns are `seconds` after the first submission, `cluster_queue` and `blocked`, which is -1 while no job waits.
    """


class ConsumedTable(Columns):
    """Decayed usage of each LocalQueue under admission fair sharing, with one row per change.

    Columns are `seconds` after the first submission, `local_queue`, `resource` and `consumed`, in cores for CPU.
    """


class CyclesTable(Columns):
    """One row per scheduling cycle.

    Columns are `seconds` after the first submission, `cycle`, and the numbers of `heads`, `admitted` workloads and
    `evicted` workloads.
    """


TABLES: dict[str, type[Columns]] = {
    "jobs": JobTable,
    "runs": RunsTable,
    "decisions": DecisionsTable,
    "usage": UsageSeries,
    "consumed": ConsumedTable,
    "cycles": CyclesTable,
    "idle": IdleTable,
    "blocked": BlockedTable,
}
"""The classes of the tables that each result has, by name."""


@checked_methods
class Recorded:
    """The tables of a simulation, and the time integrals from which metrics are computed."""

    kpis: Any  # `Result` computes them, with modules that use this one

    def __init__(
        self,
        tables: Mapping[str, Columns],
        totals: dict[str, Any],
        loops: tuple[PreemptionLoop, ...],
        facts: dict[str, Any],
        run: Any = None,
    ) -> None:
        """Store the tables and other data of a simulation, or of a directory that contains a saved result.

        Args:
            tables: The tables by name, as in `TABLES`.
            totals: Time integrals of the whole simulation, from the core.
            loops: The preemption loops.
            facts: Notes, duration, settings and counts.
            run: The simulation; `None` if the result was loaded from files.
        """
        self.jobs, self.runs, self.decisions, self.usage, *others = (tables[name] for name in TABLES)
        self.consumed, self.cycles, self.idle, self.blocked = others
        self.totals, self.loops = totals, loops
        self.notes: tuple[Note, ...] = tuple(facts["notes"])
        self.seconds: float = facts["seconds"]
        self.warmup: float = facts["warmup"]
        self.settings: Settings | dict[str, Any] = facts["settings"]
        self.stats: dict[str, int] = facts["stats"]
        self.weights: dict[str, float] = facts["weights"]
        self.trees: dict[str, str] = facts["trees"]
        self.policy: str = facts.get("policy", "")
        # The arguments of the command that named the cluster and the jobs, for the commands that advice names; empty in
        # Python. `lacks` names what such commands need and the jobs do not have.
        self.source, self.lacks = "", ""
        self.not_modelled: tuple[str, ...] = tuple(facts.get("not_modelled", ()))
        self._waiting = facts.get("waiting", ())
        # A result keeps its simulation to repeat it; files and pickles do not hold one.
        self._run = run
        self.wall: dict[str, float] = {}

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        """Return a copy that shares the tables, which are immutable."""
        twin = type(self).__new__(type(self))
        # Only the wall-clock times can change.
        twin.__dict__.update(self.__dict__, wall=dict(self.wall))
        return twin

    __copy__ = __deepcopy__

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without the simulation, which cannot be pickled."""
        return {**self.__dict__, "_run": None}

    def compare_recorded(self) -> Columns:
        """Return the simulated first wait of each job, and the wait that the log recorded.

        Returns:
            Columns `job`, `cluster_queue`, `recorded_wait`, `first_wait` and `difference` (simulated minus recorded),
            with times in seconds. Each job with a recorded start has one row.

        Raises:
            StateError: The log contains no start times.
        """
        if "recorded_start" not in self.jobs.names:
            raise StateError("compare_recorded: the jobs have no column recorded_start: their log does not tell starts")
        recorded = self.jobs["recorded_start"] - self.jobs["submit"]
        rows = np.flatnonzero(~np.isnan(recorded) & np.asarray(self.jobs["counted"]))
        queues: Any = self.jobs["cluster_queue"]
        first = self.jobs["first_wait"][rows]
        return Columns(
            {
                "job": self.jobs["job"][rows],
                "cluster_queue": queues[rows],
                "recorded_wait": recorded[rows],
                "first_wait": first,
                "difference": first - recorded[rows],
            }
        )

    def name_of(self, row: int) -> str:
        """Return the name of a job's Workload.

        Args:
            row: The row number of the job.

        Raises:
            NotFoundError: The row does not exist.
        """
        return name_of(self.jobs, row)


class Waiter(msgspec.Struct, frozen=True):
    """A job that waits at the end of a simulation.

    Attributes:
        job: The name of the job.
        cluster_queue: The ClusterQueue of the job.
        waited: The job's total waiting time, in seconds.
        reason: Kueue's reason why the job waits.
        explanation: A full explanation, as `Scheduler.explain` returns it; empty if it is not available.
    """

    job: str
    cluster_queue: str
    waited: float
    reason: str
    explanation: str = ""


def largest(rows: NDArray[np.int64], values: NDArray[Any], most: int) -> list[int]:
    """Return the rows with the largest values, starting with the largest; of equal values, the first rows."""
    found: list[int] = rows[np.lexsort((rows, -values[rows]))][:most].tolist()
    return found


def unstarted(run: Recorded) -> NDArray[np.bool_]:
    """Return a mask of the jobs that wait at the end and never had quota."""
    found: NDArray[np.bool_] = is_named(run.jobs["state"], "Waiting") & np.isnan(run.jobs["first_start"])
    return found


def require(run: Recorded, what: str, table: Literal["usage", "runs"]) -> None:
    """Check that a table was recorded.

    Args:
        run: The simulation.
        what: The feature that needs the table, for the error message.
        table: The name of the table.

    Raises:
        StateError: The table is empty.
    """
    if not len(getattr(run, table)):
        raise StateError(f"{what}: needs the {table}; simulate with record=Recording({table}=True)")


_FORMAT = "kueuepy-result"
_VERSION = 3
# Versions of the format that are read; version 2 has neither fleets nor `not_modelled`.
_READ = (2, _VERSION)


class _Totals(Totals, total=False):
    """The integrals of a simulation, and what the result of a fleet has besides."""

    assigned: list[list[tuple[str, str, str, int]]]
    dispatch_wait: int
    copied: list[list[dict[str, float]]]


class FleetFacts(TypedDict):
    """The additional data of a simulation of a fleet."""

    clusters: list[str]
    remarks: list[str]


class _FactsOfAll(TypedDict):
    seconds: float
    warmup: float
    notes: list[list[str | int]]
    settings: dict[str, Any]
    stats: dict[str, int]
    weights: dict[str, float]
    trees: dict[str, str]
    totals: _Totals
    loops: list[PreemptionLoop]
    waiting: list[Waiter]
    fingerprint: str


class Facts(_FactsOfAll, total=False):
    """The content of `result.json`, except the format and the checksum."""

    not_modelled: list[str]
    policy: str
    fleet: FleetFacts


FACTS = (*_FactsOfAll.__annotations__, "not_modelled")
"""The attributes of each result that `result.json` contains."""


def plain(value: Any) -> Any:
    """Convert a setting to a value that JSON can represent."""
    if isinstance(value, msgspec.Struct):
        return {"kind": type(value).__name__, **{name: plain(getattr(value, name)) for name in value.__struct_fields__}}
    if isinstance(value, Mapping):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, set | frozenset):
        return sorted(map(plain, value), key=str)
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if hasattr(value, "tolist"):  # a NumPy array or number, or a column of a DataFrame
        return plain(value.tolist())
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def text_of_facts(facts: dict[str, Any]) -> str:
    """Return the text of `result.json`: JSON with a checksum of all other fields."""
    # The checksum is of what a reader gets: keys as texts, and tuples as lists.
    plain = json.loads(json.dumps(facts, default=msgspec.to_builtins))
    return json.dumps({"format": _FORMAT, "version": _VERSION, **plain, "checksum": _checksum(plain)}, indent=1)


def read_facts(folder: Path, text: str) -> Facts:
    """Read the text of `result.json`.

    Raises:
        InvalidSpecError: The text is not a saved result, was changed after it was written, or lacks a field.
    """
    try:
        facts = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidSpecError(f"{folder}: result.json: {error}") from None
    if not isinstance(facts, dict) or facts.pop("format", None) != _FORMAT:
        raise InvalidSpecError(f"{folder}: result.json is not of a result; save one with Result.save")
    if (version := facts.pop("version", None)) not in _READ:
        raise InvalidSpecError(
            f"{folder}: result.json: version: is {version!r:.99}; it must be one of {_READ}: run and save again"
        )
    if facts.pop("checksum", None) != _checksum(facts):
        raise InvalidSpecError(f"{folder}: is damaged: result.json was changed after it was written")
    try:
        return msgspec.convert(facts, Facts)
    except msgspec.ValidationError as error:
        raise InvalidSpecError(f"{folder}: is damaged: result.json: {error}") from None


def _checksum(facts: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


_TIMES = ("submit", "recorded_start")


def read_parquet(path: str | os.PathLike[str]) -> Any:
    """Return the pyarrow table of a Parquet file, or of a directory of Parquet files.

    Args:
        path: The file or the directory.

    Raises:
        InvalidSpecError: The file cannot be read, or is not a Parquet file that contains a table.
        UnsupportedError: pyarrow is not installed.
    """
    path = Path(path)
    parquet, failures = _pyarrow("pyarrow.parquet"), _pyarrow("pyarrow").ArrowException
    try:
        if path.is_dir():
            return parquet.read_table(path)
        with path.open("rb") as file:  # pyarrow opens no path that is not UTF-8
            return parquet.read_table(file)
    except OSError as error:
        raise InvalidSpecError(f"{path}: cannot be read: {error.strerror or error}") from None
    except (ValueError, OverflowError, NotImplementedError, failures) as error:
        raise InvalidSpecError(f"{path}: is not a Parquet file of a table: {error}") from None


def write_jobs(jobs: Columns, path: str | os.PathLike[str]) -> None:
    """Write the internal columns of a table of jobs, so that `read` can read them.

    Times become timestamps and durations, and CPU is in cores.

    Raises:
        StateError: The file cannot be written.
        UnsupportedError: pyarrow is not installed.
    """
    parquet = _pyarrow("pyarrow.parquet")
    table = jobs.to_arrow()
    for index, name in enumerate(table.column_names):
        if name in (*_TIMES, "cpu", *SPANS):
            table = table.set_column(index, name, _arrow(name, jobs[name]))
    write_files({path: lambda file: parquet.write_table(table, file)})


def _arrow(name: str, column: NDArray[Any]) -> Any:
    """Return a column of timestamps, durations or cores as an Arrow array."""
    array = _pyarrow("pyarrow").array
    if name == "cpu":
        return array(column / 1000)
    if name in _TIMES:
        return array(column.view("M8[ns]"), mask=column < 0)
    return array(column.view("m8[ns]"), mask=None if name == "runtime" else column < 0)


def _pyarrow(module: str) -> Any:
    return imported(module, "Parquet and Arrow tables")


def table_writer(table: Columns) -> Write:
    """Return a function that writes a table to a file object in the format Parquet.

    Raises:
        UnsupportedError: pyarrow is not installed.
    """
    parquet = _pyarrow("pyarrow.parquet")
    return lambda file: parquet.write_table(table.to_arrow(), file)


def read_table(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the columns of a file that `table_writer` wrote; a column of names has the same codes.

    Raises:
        InvalidSpecError: The file cannot be read.
        UnsupportedError: pyarrow is not installed.
    """
    return stored_columns(read_parquet(path))


def fingerprint_of(tables: Mapping[str, Columns]) -> str:
    """Return the SHA-256 of the names, the columns and the values of tables."""
    digest = hashlib.sha256()
    for name, table in tables.items():
        for column in table.names:
            digest.update(f"{name}.{column}".encode())
            digest.update(b"".join(_bytes_of(table[column])))
    return digest.hexdigest()


def _bytes_of(values: Any) -> tuple[bytes, ...]:
    """Return the bytes of a column for the fingerprint; they do not depend on unused names or on the order of names."""
    if not isinstance(values, Categorical):
        texts = values.dtype == object
        return ("\0".join(map(str, values.tolist())).encode() if texts else values.tobytes(),)
    # Equal tables can number their names differently, for example after they were saved.
    used = np.unique(values.codes)
    names = sorted({str(values.names[code]) for code in used if code >= 0})
    indices = {name: index for index, name in enumerate(names)}
    table = np.array([*(indices.get(str(name), -1) for name in values.names), -1], np.int32)
    return ("\0".join(names).encode(), table[values.codes].tobytes())
