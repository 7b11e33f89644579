"""Jobs: a table of what is to run, a row a job."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kueuepy.errors import InvalidSpecError
from kueuepy.errors.arguments import checked_methods
from kueuepy.simulation import generate, items, load, lublin
from kueuepy.simulation.arrow import arrow_columns, write_parquet
from kueuepy.simulation.base import JobColumns, renamed
from kueuepy.simulation.columns import public_column
from kueuepy.simulation.read import read

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from typing_extensions import Self

    from kueuepy.cluster import Cluster
    from kueuepy.simulation.distributions import Distribution
    from kueuepy.tables import Columns


@checked_methods
class Jobs(JobColumns):
    """Jobs as columns; a value that never changes.

    | column | holds | without it |
    | --- | --- | --- |
    | `name` | the Workload's name | `j0000000` by row |
    | `uid` | the Workload's UID, which breaks ties | the row, in 12 digits |
    | `queue` | the LocalQueue, `namespace/name`; in `default` the name alone | must be given |
    | `submit` | datetimes (`datetime64[ns]`, UTC) where the log has dates, otherwise seconds | must be given |
    | `runtime` | seconds from admission to the end without evictions; infinite: it never ends | must be given |
    | `pods`, `min_pods` | how many pods, and the fewest that will do (partial admission); -1: all | 1, all |
    | `elastic` | with fewer pods it runs longer: `runtime * pods / admitted` | runs as long |
    | `cpu`, `memory`, any name with a `/` | what each pod asks for: cores, bytes, devices; 0: none | asks for none |
    | `priority` | the Workload's priority | 0 |
    | `flavor` | the only flavor that it may have | any |
    | `limit` | seconds after which it is deactivated (`maximumExecutionTimeSeconds`); infinite: never | never |
    | `every`, `cost`, `restore`, `grace` | seconds: its own run model; NaN: that of the run | that of the run |
    | `namespace` | the namespace of `queue`, which becomes part of `queue` | `default` |
    | `recorded_start` | when the job started in the log, as `submit`; NaN or NaT: unknown | |
    | `template`, `kueuepy:created` | reserved: made by the package, refused in what is given | |
    | any other | kept, for groups in figures; `recorded_NAME` in a result that has a column NAME itself | |

    In what is given, numbers of seconds, texts (`1h30m`, `7d`, Slurm's `1-02:30:00`, `2024-05-01T12:00:00Z`) and
    datetimes stand for times, and quantities for amounts; `gpu` is `nvidia.com/gpu`, `mem` memory, `duration` the
    runtime. Times end at 2262-04-11T23:47:16Z; a larger one is refused by its row.

    >>> jobs = Jobs({"queue": ["a", "b"], "submit": [0, 60], "runtime": ["1h", "90s"], "gpu": [1, 8]})
    >>> jobs["runtime"].tolist(), jobs["nvidia.com/gpu"].tolist(), jobs.span
    ([3600.0, 90.0], [1, 8], 60.0)

    Attributes:
        notes: What was left out or taken for something else, each with the number of rows.
        header: What a log says of itself.
        templates: Workloads of several pod sets, which the column `template` names by place; -1 for none.
        quota_events: Changes of nominal quota that a log records: (seconds, queue, resource, amount).
    """

    __slots__ = ("_read",)

    _read: dict[str, Any]

    def _column(self, name: str) -> Any:
        """Return a column in public units, which is converted once."""
        if not hasattr(self, "_read"):
            self._read = {}
        known = self._read
        if name not in known:
            known[name] = public_column(name, self._columns)
        return known[name]

    # Where jobs come from.

    @classmethod
    def _like(cls, table: JobColumns) -> Self:
        """The same columns with all that users can do with them."""
        if isinstance(table, cls):
            return table
        found = cls.__new__(cls)
        found._hold(table._columns, table.notes, table.header, table.templates, table.quota_events)  # noqa: SLF001 - of one room
        return found

    @classmethod
    def read(
        cls,
        path: str | os.PathLike[str],
        format: str = "auto",  # noqa: A002 - what pandas and polars call it
        map: Mapping[str, str] | None = None,  # noqa: A002 - as the specification of logs calls it
        **options: Any,
    ) -> Self:
        """The jobs of a file; see `kueuepy.simulation.read`.

        Raises:
            InvalidSpecError: The file cannot be read, or a row is not valid; the message names file and line.
            UnsupportedError: The format needs a library that is not installed.
        """
        return cls._like(read(path, format, map, **options))

    @classmethod
    def from_frame(cls, frame: Any, map: Mapping[str, str] | None = None) -> Self:  # noqa: A002
        """The jobs of a DataFrame of pandas or polars, a row each; its numbers are not copied where they fit.

        Args:
            frame: The frame.
            map: For columns of other names: what is meant, and what it is called there.

        Raises:
            InvalidSpecError: A column is missing, or a value is none for its column.
        """
        if type(frame).__name__ == "LazyFrame":
            frame = frame.collect()
        names = getattr(frame, "columns", None)
        if names is None or isinstance(frame, type):
            raise InvalidSpecError(f"Jobs.from_frame: frame: is {frame!r}; it must be a DataFrame of pandas or polars")
        twice = [str(name) for place, name in enumerate(names) if name in list(names)[:place]]
        if twice:
            raise InvalidSpecError(f'Jobs.from_frame: column "{twice[0]}" is there twice; each must have its own name')
        return cls(renamed({str(name): frame[name] for name in names}, map))

    @classmethod
    def from_arrow(cls, table: Any, map: Mapping[str, str] | None = None) -> Self:  # noqa: A002
        """The jobs of anything that gives an Arrow stream (`__arrow_c_stream__`), through pyarrow.

        Raises:
            UnsupportedError: pyarrow is not installed.
        """
        return cls(renamed(arrow_columns(table), map))

    @classmethod
    def from_manifests(cls, manifests: Any, runtime: Any = None) -> Self:
        """The jobs and Workloads of manifests, of several pod sets too, in the order in which they are there.

        Args:
            manifests: What `kueuepy.load` gives, or a list of jobs and Workloads.
            runtime: How long each runs: a time, times by name, or one for each; `None`: as its annotation says, and
                for ever without one.

        Raises:
            InvalidSpecError: An item is no job, or a time is none.
        """
        return cls._like(items.of_manifests(manifests, runtime))

    @classmethod
    def of(cls, given: Any) -> Self:
        """The jobs of whatever a user has: a table, a frame, rows, Workloads, manifests of jobs.

        Raises:
            InvalidSpecError: An item is no job.
        """
        return cls._like(items.jobs_of(given))

    @classmethod
    def concat(cls, tables: Sequence[JobColumns]) -> Self:
        """The rows of all tables, one after another; a column that one has not is absent there."""
        return cls._like(items.concat(tables))

    # Jobs from a seed; `kueuepy.simulation.generate` has all options and the rule of each.

    @classmethod
    def poisson(
        cls, queue: str, rate: float | str, runtime: Distribution | Any, requests: Mapping[str, Any], **options: Any
    ) -> Self:
        """Arrivals as a Poisson process of this rate, such as `30/h`; `n` jobs, or for so many `days`."""
        return cls._like(generate.poisson(queue, rate, runtime, requests, **options))

    @classmethod
    def bursts(cls, queue: str, rate: float | str, size: int, runtime: Distribution | Any, **options: Any) -> Self:
        """`n` batches of `size` jobs each, which come as a Poisson process of this rate; `requests` of each pod."""
        return cls._like(generate.bursts(queue, rate, size, runtime, **options))

    @classmethod
    def diurnal(
        cls, queue: str, rate: float | str, runtime: Distribution | Any, requests: Mapping[str, Any], **options: Any
    ) -> Self:
        """A Poisson process over some `days` that follows the day: highest at `peak`, `ratio` times the lowest."""
        return cls._like(generate.diurnal(queue, rate, runtime, requests, **options))

    @classmethod
    def gpu_mix(cls, seed: int = 0, days: float = 7, gpus: int = 400, **options: Any) -> Self:
        """Some `days` as on a cluster of so many `gpus` at a `load`, shared by `queues`: sizes as in Philly's log."""
        return cls._like(generate.gpu_mix(seed=seed, days=days, gpus=gpus, **options))

    @classmethod
    def lublin(cls, seed: int = 0, n: int = 1000, processors: int = 128, queue: str = "jobs") -> Self:
        """`n` parallel jobs as on a supercomputer of so many processors, by the model of Lublin and Feitelson."""
        return cls._like(lublin.lublin(seed, n, processors, queue))

    @classmethod
    def profile(cls, path: str) -> Self:
        """The workloads of a generator file of Kueue's scheduler performance test; each class is a `kind`."""
        return cls._like(generate.profile(path))

    # What can be said of it.

    def describe(self, cluster: Cluster | None = None) -> Columns:
        """By queue: jobs, their part of all, and the mean load of each resource; with a cluster, over nominal quota."""
        return load.describe(self.exact(), cluster)

    def check(self, cluster: Cluster) -> tuple[str, ...]:
        """What will go wrong on a cluster: queues that are not there, jobs that can never fit, a load over 1."""
        return load.check(self.exact(), cluster)

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Writes the columns, times as Parquet's timestamps and durations, as `Jobs.read` reads them again.

        Raises:
            UnsupportedError: pyarrow is not installed.
        """
        write_parquet(self.exact(), path)
