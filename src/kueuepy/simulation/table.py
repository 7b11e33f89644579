"""Jobs: a table with one row per job."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kueuepy.errors import InvalidSpecError, briefly, checked_methods, spelled_out
from kueuepy.manifest.text.sources import is_live
from kueuepy.simulation import items, load
from kueuepy.simulation.base import completed
from kueuepy.simulation.columns import public_column, renamed, template_texts
from kueuepy.simulation.generate import GeneratedJobs
from kueuepy.simulation.items import of_observed
from kueuepy.simulation.logs import LogOptions, is_log, read
from kueuepy.simulation.recorded import write_jobs
from kueuepy.simulation.values import frame_columns

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from typing_extensions import Self, Unpack

    from kueuepy.cluster import Cluster
    from kueuepy.simulation.base import JobColumns
    from kueuepy.tables import Columns


_WORKLOADS = (".yaml", ".yml", ".json")


def _has_workloads(path: str | os.PathLike[str]) -> bool:
    """Return whether a path refers to a manifest, a recording or a running cluster rather than a table of jobs."""
    return is_live(path) or (str(path).endswith(_WORKLOADS) and not is_log(path))


@checked_methods
class Jobs(GeneratedJobs):
    """An immutable table of jobs.

    | column | meaning | default |
    | --- | --- | --- |
    | `name` | name of the Workload | `j0000000` with the row number |
    | `uid` | UID of the Workload, which breaks ties | the row number, with 12 digits |
    | `queue` | LocalQueue, `namespace/name`; a name without `/` is in `default` | required |
    | `submit` | submission time: `datetime64[ns]` in UTC if the input has dates, otherwise seconds | see below |
    | `runtime` | runtime in seconds without evictions; infinite: the job never ends | see below |
    | `pods` | number of pods | 1 |
    | `min_pods` | smallest number of pods that may be admitted (partial admission); -1: all pods or none | -1 |
    | `elastic` | whether the job runs longer with fewer pods: `runtime * pods / admitted` | `False` |
    | `cpu`, `memory`, any name with a `/` | request of each pod, in cores, bytes or devices | 0 |
    | `priority` | priority of the Workload | 0 |
    | `flavor` | the only flavor that the job may use | any flavor |
    | `node_selector` | node labels that the pods require, such as `disk=ssd,zone=a` | none |
    | `topology` | topology request: `required:LABEL`, `preferred:LABEL` or `unconstrained` | none |
    | `limit` | maximum execution time (`maximumExecutionTimeSeconds`); infinite: no limit | infinite |
    | `every`, `cost`, `restore`, `grace` | the job's own `RunModel`, in seconds; NaN: value of the simulation | NaN |
    | `namespace` | namespace of `queue`; the constructor merges it into `queue` | `default` |
    | `censored` | whether the job had not finished when it was observed: `runtime` is a lower bound | `False` |
    | `recorded_start` | start time in the log, for `Result.compare_recorded`; NaN or NaT: unknown | NaN |
    | `template` | the Workload itself, as JSON text, if the other columns cannot describe it | |
    | any other | available for grouping in `Result.by` | |

    The constructor, `from_frame`, `from_arrow` and `read` require the columns `submit` and `runtime`. If a row has no
    runtime, the job never ends, and a note reports this. `read` skips rows without a queue or a submission time. Empty
    and blank texts, `NaN`, `nan`, `NaT`, `None`, `NA`, `N/A`, `<NA>`, `NULL` and `null` are missing values.

    `of` and `simulate` accept rows and DataFrames without `submit` and `runtime`. Without `submit`, a job is submitted
    at the start. Without `runtime`, a job never ends. Manifests and Workloads do not have the columns `submit` and
    `runtime`; see `from_manifests`.

    The constructor accepts other units as well. Times can be numbers of seconds, strings (`1h30m`, `7d`, `2 hours`,
    `PT2H30M`, Slurm's `1-02:30:00`, `2024-05-01T12:00:00Z`), datetimes and timedeltas. Amounts can be Kubernetes
    quantities. For `cpu`, numbers are cores. The aliases are `gpu` for `nvidia.com/gpu`, `mem` for `memory`, `duration`
    for `runtime` and `local_queue` for `queue`. The latest time is 2262-04-11T23:47:16Z.

    >>> jobs = Jobs({"queue": ["a", "b"], "submit": [0, 60], "runtime": ["1h", "90s"], "gpu": [1, 8]})
    >>> jobs["runtime"].tolist(), jobs["nvidia.com/gpu"].tolist(), jobs.span
    ([3600.0, 90.0], [1, 8], 60.0)

    Attributes:
        notes: Notes on input rows that were left out or changed, as pairs (reason, number of rows).
        header: The description that the file of a log contains, such as the comments in an SWF file.
        templates: Workloads with several pod sets. The column `template` contains the index of the job's Workload in
            `templates`, or -1.
    """

    __slots__ = ("_read",)

    _read: dict[str, Any]

    def _column(self, name: str) -> Any:
        """Return a column in public units; the conversion takes place only once."""
        # Tables are also made without the constructor, by copy and by pickle.
        if not hasattr(self, "_read"):
            self._read = {}
        known = self._read
        if name not in known:
            if name == "template":
                known[name] = template_texts(self.templates, self._columns[name])
            else:
                known[name] = public_column(name, self._columns)
        return known[name]

    @classmethod
    @spelled_out(LogOptions)
    def read(
        cls,
        path: str | os.PathLike[str],
        format: str = "auto",  # noqa: A002 - what pandas and polars call it
        map: Mapping[str, str] | None = None,  # noqa: A002 - as the specification of logs calls it
        **options: Unpack[LogOptions],
    ) -> Self:
        """Read jobs from a file; they are sorted by submission time, and jobs with equal times keep their order.

        | format | content |
        | --- | --- |
        | `csv`, `parquet`, `jsonl` | one job per row, with the column names of `Jobs`; other columns are kept |
        | `swf` | Standard Workload Format of the Parallel Workloads Archive; `map={"queue": 13}`: field of the queue |
        | `philly`, `philly-json` | Microsoft's Philly trace of 2017: CSV extract, and original `cluster_job_log` |
        | `sacct` | Slurm's accounting log, see below; `map={"queue": "Partition"}`: field of the queue |

        The recipes in the documentation ("Read traces of other systems") have functions for further traces.

        The format `sacct` reads the output of `sacct -a -P -o FIELDS` or `sacct -a --json`. The fields JobID, State,
        Submit and Account are required; the field in `map` replaces Account as the queue.

        | column | field of `sacct` |
        | --- | --- |
        | `name` | JobID; `1002_1` becomes `1002-1`. Each waiting task of an array is one job |
        | `queue` | Account |
        | `submit`, `recorded_start` | Submit, Start; times without a time zone are in UTC |
        | `runtime` | ElapsedRaw or Elapsed, or the time from Start to End |
        | `pods` | NNodes: one pod per node; without this field, one pod |
        | `cpu`, `memory`, `gpu` | AllocTRES or ReqTRES, or NCPUS and ReqMem, divided by the number of nodes |
        | `limit`, `user`, `account`, `partition` | Timelimit, User, Account, Partition |
        | `state`, `censored` | first word of State; whether the job is pending or running |

        Memory of `sacct` is in units of 1024: `64G` is 64 GiB. Steps such as `1001.batch` and jobs that ended before
        they started are left out.

        YAML and JSON files, recordings (`history.db`) and running clusters (`cluster:CONTEXT`) have the format
        `workloads`, which is read as `from_workloads` reads it. `kueuepy.simulation.logs.LogOptions` lists the options.
        The `notes` of the result report the number of rows that were left out.

        Args:
            path: The file; gzip compression of logs is detected.
            format: The format. `auto` (the default) detects the format from the name of the file and, for CSV, from
                its header.
            map: The names of columns in the file, by the corresponding names in `Jobs`: `{"queue": "team"}`. A unit
                after a colon converts numbers to seconds or bytes: `{"runtime": "minutes:min", "memory": "mem:GB"}`.
                The units are `s`, `min`, `h`, `d`, `kB` to `TB` and `KiB` to `TiB`.
            options: Options of the format.

        Raises:
            InvalidSpecError: The file cannot be read, the format is unknown, or a row is invalid; the message names the
                file and the line.
            NotFoundError: `map` names a column or a unit that does not exist.
            UnsupportedError: The format needs a library that is not installed.
        """
        if format == "workloads" or (format == "auto" and _has_workloads(path)):
            if map or options:
                given = "map" if map else next(iter(options))
                raise InvalidSpecError(f"format workloads: takes no option {given!r:.99}")
            return cls.from_workloads(path)
        return cls._like(read(path, format, map, options))

    @classmethod
    def from_workloads(cls, source: Any, *, user: str | None = None) -> Self:
        """Create jobs from the Workloads of a cluster, as they ran on the cluster.

        A finished Workload has the runtime of its last run, from its admission to its end. For a Workload that has not
        finished, `runtime` is the time that it has run so far, and `censored` is true. Arguments of `simulate` and
        `complete` specify how to treat these jobs. A Workload that finished without an admission is left out, with a
        note. Besides the columns of `Jobs`, the table has:

        | column | meaning |
        | --- | --- |
        | `recorded_start` | time of the last admission |
        | `recorded_wait` | seconds from the creation to the last admission, excluding earlier runs |
        | `past_runtime` | total seconds of runs that ended with an eviction (`accumulatedPastExecutionTimeSeconds`) |
        | `evictions`, `evictions REASON` | number of evictions, in total and by reason (`schedulingStats`) |
        | `finish_reason` | reason of the Finished condition, `Deleted`, or `Deactivated`; empty while unfinished |
        | `job`, `user` | kind and name of the job; the value of the label `user` |

        Args:
            source: A dump, `cluster:CONTEXT`, a recording (`history.db`), a Cluster, or a list of Workloads or
                manifests. A recording also contains Workloads that have been deleted.
            user: The label that contains the user of a Workload. A recording contains the users if it was made with
                `kueuepy record --users`.

        Raises:
            InvalidSpecError: The source contains no Workload.
            KueueError: The source cannot be read.

        Source: `pkg/workload/admissionchecks.go:SyncAdmittedCondition`.
        """
        found = cls._like(of_observed(source, user))
        # Notes say why Workloads were left out; without any, the source is probably of another kind.
        if not len(found) and not found.notes:
            raise InvalidSpecError(
                f"{briefly(source)}: contains no Workload; read jobs of other kinds with from_manifests"
            )
        return found

    def complete(self, how: Any, seed: int = 0) -> Self:
        """Return the jobs with estimates of the full runtimes of unfinished jobs; no job in the result is `censored`.

        Args:
            how: `drop` removes unfinished jobs, which favours short jobs. `exponential` adds an exponentially
                distributed time to the observed runtime of each unfinished job; the mean of this time is estimated for
                each queue from finished and unfinished jobs. With a distribution, such as `kueuepy.sim.LogNormal`, the
                runtimes of unfinished jobs are samples of the distribution that exceed the observed runtimes.
            seed: Seed of the random number generator; 0 by default.

        Raises:
            InvalidSpecError: `how` has an unknown value, or `how` is `exponential` and no job has finished.
        """
        return self._like(completed(self.exact(), how, seed))

    @classmethod
    def from_frame(cls, frame: Any, map: Mapping[str, str] | None = None) -> Self:  # noqa: A002
        """Create one job for each row of a table of pandas, polars, pyarrow or another library that narwhals reads.

        `from_arrow` is another name of this method. An object with an Arrow stream (`__arrow_c_stream__`) is a table,
        too.

        Numeric columns that already have the right type and unit are not copied. The result of `to_pandas`, `to_polars`
        or `to_arrow` is read back without a change.

        Args:
            frame: The table; a LazyFrame is collected.
            map: The names of columns in the table, by the corresponding names in `Jobs`, as for `read`.

        Raises:
            InvalidSpecError: A column is missing, or contains an invalid value.
            NotFoundError: `map` names a column that does not exist.
            UnsupportedError: The object only has an Arrow stream, and pyarrow is not installed.
        """
        return cls(renamed(frame_columns(frame), map))

    from_arrow = from_frame

    @classmethod
    def from_manifests(cls, manifests: Any, runtime: Any = None) -> Self:
        """Create jobs from manifests of jobs and Workloads, in their order.

        Workloads may have several pod sets. A job is submitted at its creation time; without a creation time, the job
        is submitted at the start.

        Args:
            manifests: The result of `kueuepy.load`, or a list of jobs and Workloads.
            runtime: The runtime of all jobs, a mapping from names to runtimes, or one runtime per job. By default, a
                finished Workload has the runtime of its last run, and any other job never ends.

        Raises:
            InvalidSpecError: An item is not a job, or a runtime is not a time.
        """
        return cls._like(items.of_manifests(manifests, runtime))

    @classmethod
    def of(cls, given: Any) -> Self:
        """Create jobs from a table, a DataFrame, rows, Workloads, manifests of jobs, or a list of these.

        Args:
            given: The jobs. Unlike in the constructor, `submit` and `runtime` are optional: a job without `submit` is
                submitted at the start, and a job without `runtime` never ends.

        Raises:
            InvalidSpecError: An item is not a job.
        """
        return cls._like(items.jobs_of(given))

    @classmethod
    def concat(cls, tables: Sequence[JobColumns]) -> Self:
        """Concatenate tables; if a table lacks a column, its rows get the default value of the column.

        Args:
            tables: The tables, in order.

        Raises:
            InvalidSpecError: A column contains numbers in one table and strings in another table.
        """
        return cls._like(items.concat(tables))

    def describe(self, cluster: Cluster | None = None) -> Columns:
        """Return the number of jobs and the mean load of each queue.

        Args:
            cluster: A cluster, to compare the load with its nominal quotas; optional.

        Returns:
            One row per queue, with columns `queue`, `jobs`, `part` (fraction of all jobs), and for each resource `mean`
            (the mean amount in use if no job waited; cores for CPU). With a cluster, a column `load` contains the mean
            divided by the nominal quota of the ClusterQueue.
        """
        return load.describe(self.exact(), cluster)

    def check(self, cluster: Cluster) -> tuple[str, ...]:
        """Return descriptions of the problems that the jobs would have on a cluster.

        The method reports LocalQueues that do not exist, jobs that can never fit, and loads over 1.

        Args:
            cluster: The cluster.
        """
        return load.check(self.exact(), cluster)

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write a Parquet file that `Jobs.read` can read, with Parquet's timestamps and durations.

        Args:
            path: The file.

        Raises:
            StateError: The file cannot be written.
            UnsupportedError: pyarrow is not installed.
        """
        table = self.exact()
        if self.templates:
            table = table._changed(template=template_texts(self.templates, table["template"]))  # noqa: SLF001 - same room
        write_jobs(table, path)
