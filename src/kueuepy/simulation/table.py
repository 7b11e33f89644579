"""Jobs: a table of what is to run, a row a job."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from kueuepy.errors import InvalidSpecError
from kueuepy.errors.arguments import checked_methods
from kueuepy.errors.settings import spelled_out
from kueuepy.simulation import generate, items, load, lublin
from kueuepy.simulation.arrow import arrow_columns, write_parquet
from kueuepy.simulation.base import JobColumns, renamed
from kueuepy.simulation.read import LogOptions, read

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from typing_extensions import Self, Unpack

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
    | `submit` | nanoseconds after the epoch, or after the first job | must be given |
    | `runtime` | nanoseconds from admission to the end without evictions; -1 never ends | must be given |
    | `pods`, `min_pods` | how many pods, and the fewest that will do (partial admission); -1: all | 1, all |
    | `elastic` | with fewer pods it runs longer: `runtime * pods / admitted` | runs as long |
    | `cpu`, `memory`, any name with a `/` | what each pod asks for; thousandths for cpu; 0: none | asks for none |
    | `priority` | the Workload's priority | 0 |
    | `flavor` | the only flavor that it may have | any |
    | `limit` | nanoseconds after which it is deactivated (`maximumExecutionTimeSeconds`); -1: never | never |
    | `every`, `cost`, `restore`, `grace` | nanoseconds: its own run model; -1: that of the run | that of the run |
    | `namespace` | the namespace of `queue`, which becomes part of `queue` | `default` |
    | `recorded_start` | nanoseconds: when the job started in the log, for `Result.compare_recorded`; -1: unknown | |
    | `template`, `kueuepy:created` | reserved: made by the package, refused in what is given | |
    | any other | kept, for groups in figures; `recorded_NAME` in a result that has a column NAME itself | |

    In what is given, numbers of seconds, texts (`1h30m`, `7d`, Slurm's `1-02:30:00`, `2024-05-01T12:00:00Z`) and
    datetimes stand for times, and quantities for amounts; `gpu` is `nvidia.com/gpu`, `mem` memory, `duration` the
    runtime. Times end at 2262-04-11T23:47:16Z, which 64 bits of nanoseconds hold; a larger one is refused by its row.

    >>> jobs = Jobs({"queue": ["a", "b"], "submit": [0, 60], "runtime": ["1h", "90s"], "gpu": [1, 8]})
    >>> jobs["nvidia.com/gpu"].tolist(), jobs.span
    ([1, 8], 60.0)

    Attributes:
        notes: What was left out or taken for something else, each with the number of rows.
        header: What a log says of itself.
        templates: Workloads of several pod sets, which the column `template` names by place; -1 for none.
        quota_events: Changes of nominal quota that a log records: (seconds, queue, resource, amount).
    """

    __slots__ = ()

    # Where jobs come from.

    @classmethod
    def _like(cls, table: JobColumns) -> Self:
        """The same columns with all that users can do with them."""
        if isinstance(table, cls):
            return table
        found = cls.__new__(cls)
        columns = {name: table[name] for name in table.names}
        found._hold(columns, table.notes, table.header, table.templates, table.quota_events)  # noqa: SLF001 - its own
        return found

    @classmethod
    @spelled_out(LogOptions)
    def read(
        cls,
        path: str | os.PathLike[str],
        format: str = "auto",  # noqa: A002 - what pandas and polars call it
        map: Mapping[str, str] | None = None,  # noqa: A002 - as the specification of logs calls it
        **options: Unpack[LogOptions],
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
        cls,
        queue: str,
        rate: float | str,
        runtime: Distribution | Any,
        requests: Mapping[str, Any],
        *,
        n: int | None = None,
        days: float | None = None,
        seed: int = 0,
        **columns: Any,
    ) -> Self:
        """Arrivals as a Poisson process of this rate, such as `30/h`; `n` jobs, or for so many `days`."""
        found = generate.poisson(queue, rate, runtime, requests, n=n, days=days, seed=seed, **columns)
        return cls._like(found)

    @classmethod
    def bursts(
        cls,
        queue: str,
        rate: float | str,
        size: int,
        runtime: Distribution | Any,
        requests: Mapping[str, Any],
        *,
        n: int,
        seed: int = 0,
        **columns: Any,
    ) -> Self:
        """`n` batches of `size` jobs each, which come as a Poisson process of this rate; `requests` of each pod."""
        return cls._like(generate.bursts(queue, rate, size, runtime, requests, n=n, seed=seed, **columns))

    @classmethod
    def diurnal(
        cls,
        queue: str,
        rate: float | str,
        runtime: Distribution | Any,
        requests: Mapping[str, Any],
        *,
        days: float,
        peak: str = "14:00",
        ratio: float = 3,
        seed: int = 0,
        **columns: Any,
    ) -> Self:
        """A Poisson process over some `days` that follows the day: highest at `peak`, `ratio` times the lowest."""
        day = partial(generate.diurnal, days=days, peak=peak, ratio=ratio, seed=seed)
        return cls._like(day(queue, rate, runtime, requests, **columns))

    @classmethod
    def gpu_mix(
        cls,
        seed: int = 0,
        days: float = 7,
        gpus: int = 400,
        *,
        load: float = 0.9,
        queues: Sequence[str] = ("jobs",),
    ) -> Self:
        """Some `days` as on a cluster of so many `gpus` at a `load`, shared by `queues`: sizes as in Philly's log."""
        return cls._like(generate.gpu_mix(seed=seed, days=days, gpus=gpus, load=load, queues=queues))

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
        return load.describe(self, cluster)

    def check(self, cluster: Cluster) -> tuple[str, ...]:
        """What will go wrong on a cluster: queues that are not there, jobs that can never fit, a load over 1."""
        return load.check(self, cluster)

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Writes the columns, in nanoseconds and whole amounts, as `Jobs.read` reads them again.

        Raises:
            UnsupportedError: pyarrow is not installed.
        """
        write_parquet(self, path)
