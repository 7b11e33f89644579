"""Jobs: a table with one row per job, and its analysis before a simulation: loads, and jobs that can never fit."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from kueuepy.cluster import Cluster
from kueuepy.errors import InvalidSpecError, briefly, checked, checked_methods, counted, spelled_out, verb
from kueuepy.fleet.value import nominal_of
from kueuepy.look.numbers import amount
from kueuepy.manifest.text.reading import is_live
from kueuepy.objects import SECOND, ClusterQueue, Cohort, LocalQueue, ResourceFlavor
from kueuepy.scheduler import Scheduler
from kueuepy.session.session import session_of
from kueuepy.simulation import items
from kueuepy.simulation.base import JobColumns, completed
from kueuepy.simulation.columns import public_column, renamed, template_texts
from kueuepy.simulation.generate import GeneratedJobs
from kueuepy.simulation.grouped import Groups, sums
from kueuepy.simulation.items import of_observed
from kueuepy.simulation.logs import LogOptions, is_log, read
from kueuepy.simulation.recorded import write_jobs
from kueuepy.tables.columns import Categorical, Columns, categorical, exact, frame_columns, unit_of

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray
    from typing_extensions import Self, Unpack


def loads(jobs: JobColumns) -> dict[str, NDArray[np.float64]]:
    """Return the load of each queue by resource; see `_loads`."""
    queue, span = jobs["queue"], jobs.span
    found = [_loads(jobs, rows, span) for rows in Groups.by(queue.codes, len(queue.names)).parts()]
    return {name: np.array([own[name] for own in found]) for name in jobs.resources}


def _loads(jobs: JobColumns, rows: NDArray[np.int64], span: float) -> dict[str, float]:
    """Return the mean usage of some jobs by resource if no job waited: `sum(runtime * amount) / span`.

    It is at most the largest usage, which this mean exceeds if jobs run for longer than the log. CPU amounts are in
    millicores.
    """
    submit, runtime = jobs["submit"][rows].astype(float), np.maximum(jobs["runtime"][rows], 0).astype(float)
    pods, order = jobs.column("pods", 1)[rows], np.argsort(np.concatenate([submit, submit + runtime]), kind="stable")
    asked = {name: (jobs[name][rows] * pods).astype(float) for name in jobs.resources}
    # Jobs that are all submitted at once have no mean.
    mean = {name: (runtime * size).sum() / SECOND / (span or np.inf) for name, size in asked.items()}
    most = {n: np.concatenate([size, -size])[order].cumsum().max(initial=0.0) for n, size in asked.items()}
    return {name: float(min(mean[name], most[name])) for name in asked}


def trees_of(cluster: Cluster) -> dict[str, str]:
    """Return the root Cohort of each ClusterQueue, or the ClusterQueue itself if it has no cohort."""
    above = {cohort.name: cohort.parent_name for cohort in cluster.cohorts}
    return {queue.name: _root(queue.cohort_name, above) or queue.name for queue in cluster.cluster_queues}


def _root(cohort: str | None, above: dict[str, str | None]) -> str | None:
    # A cycle of cohorts is an error of the cluster, which the Scheduler reports.
    seen = {cohort}
    while cohort and (parent := above.get(cohort)) and parent not in seen:
        seen.add(cohort := parent)
    return cohort


def describe(jobs: JobColumns, cluster: Cluster | None = None) -> Columns:
    """Return the number of jobs and the mean load of each queue; see `Jobs.describe`."""
    queue = jobs["queue"]
    counts = np.bincount(queue.codes, minlength=len(queue.names))
    columns: dict[str, Any] = {
        "queue": categorical(queue.names),
        "jobs": counts.astype(np.int64),
        "part": counts / max(1, len(jobs)),
    }
    there = {local.key: local.cluster_queue for local in cluster.local_queues} if cluster is not None else {}
    nominal = {queue.name: nominal_of(queue) for queue in cluster.cluster_queues} if cluster is not None else {}
    for resource, own in loads(jobs).items():
        columns[f"mean {resource}"] = own / unit_of(resource)
        if cluster is not None:
            quota = np.array([nominal.get(there.get(name, ""), {}).get(resource, 0) for name in queue.names])
            columns[f"load {resource}"] = np.divide(own, quota, out=np.full(len(own), np.nan), where=quota > 0)
    return Columns(columns)


def check(jobs: JobColumns, cluster: Cluster) -> tuple[str, ...]:
    """Return descriptions of the problems that the jobs would have on a cluster; see `Jobs.check`."""
    there = {local.key: local.cluster_queue for local in cluster.local_queues}
    return (*_absent(jobs, there), *never_admitted(jobs, cluster), *_overloads(jobs, cluster, there))


def never_admitted(jobs: JobColumns, cluster: Cluster) -> list[str]:
    """Return a description of the jobs of each LocalQueue that can never get their quota."""
    return [f"{counted(n, 'job')} of {name} {what}" for name, n, what in too_large(jobs, Scheduler(cluster))]


def _absent(jobs: JobColumns, there: Mapping[str, str]) -> Iterator[str]:
    queue = jobs["queue"]
    counts = np.bincount(queue.codes, minlength=len(queue.names))
    for name, count in zip(queue.names, counts.tolist(), strict=True):
        if count and name not in there:
            yield f"{counted(count, 'job')} {verb(count, 'name')} the LocalQueue {name}, which does not exist"


def too_large(jobs: JobColumns, scheduler: Scheduler) -> Iterator[tuple[str, int, str]]:
    """Yield the LocalQueues with jobs that can never get their quota, with the number of jobs and a description.

    The largest quota of a single flavor that is available to a ClusterQueue limits its jobs.
    """
    queues = session_of(scheduler).state.store.objects.of(LocalQueue)
    there = {local.key: local.cluster_queue for local in queues}
    most, queue = _potential(scheduler), jobs["queue"]
    pods, fewest = jobs.column("pods", 1), jobs.column("min_pods", -1)
    # Partial admission needs no more than the smallest number of pods.
    pods = np.where(fewest > 0, fewest, pods)
    limits = {name: [most.get(there.get(own, ""), {}).get(name, 0) for own in queue.names] for name in jobs.resources}
    rules = scheduler.configuration.resources
    replaced = {one.input for one in rules.transformations if one.strategy == "Replace"}
    large = {
        resource: np.bincount(
            queue.codes[jobs[resource] * pods > np.array(limit, np.int64)[queue.codes]], minlength=len(queue.names)
        )
        for resource, limit in limits.items()
        if not resource.startswith(tuple(rules.exclude_resource_prefixes)) and resource not in replaced
    }
    for code, name in enumerate(queue.names):
        for resource, counts in large.items() if name in there else ():
            if (count := int(counts[code])) and resource not in most.get(there[name], ()):
                if rules.quota_check_strategy == "IgnoreUndeclared":
                    continue
                remedy = "drop its column, or list it in resources.excludeResourcePrefixes of the Configuration"
                yield name, count, f"{verb(count, 'request')} {resource}, which the queue does not cover: {remedy}"
            elif count:
                limit = amount(resource, limits[resource][code] / unit_of(resource))
                yield name, count, f"{verb(count, 'request')} more {resource} than the queue can ever get, {limit}"


def _potential(scheduler: Scheduler) -> dict[str, dict[str, int]]:
    """Return the largest quota of a single flavor that is available to a ClusterQueue, by ClusterQueue and resource."""
    table = exact(scheduler.quota)  # in millicores, as the jobs
    found: dict[str, dict[str, int]] = {}
    for row in table.rows():
        if row["kind"] == "ClusterQueue":
            own = found.setdefault(row["name"], {})
            own[row["resource"]] = max(own.get(row["resource"], 0), row["potential"])
    return found


def _overloads(jobs: JobColumns, cluster: Cluster, there: Mapping[str, str]) -> list[str]:
    tree_of, above = trees_of(cluster), {cohort.name: cohort.parent_name for cohort in cluster.cohorts}
    trees, mean = [tree_of.get(there.get(name, ""), "") for name in jobs["queue"].names], loads(jobs)
    asked = sums(((tree, name), float(own[code])) for code, tree in enumerate(trees) for name, own in mean.items())
    nodes: list[tuple[str, ClusterQueue | Cohort]] = [(tree_of[queue.name], queue) for queue in cluster.cluster_queues]
    nodes += [(_root(cohort.name, above) or cohort.name, cohort) for cohort in cluster.cohorts]
    quota = sums(((root, name), amount) for root, node in nodes for name, amount in nominal_of(node).items())
    return [
        f"{tree}: a load of {mean / quota[tree, resource]:.2f} on {resource}: waits grow with the length of the run"
        for (tree, resource), mean in asked.items()
        if quota.get((tree, resource)) and mean > quota[tree, resource]
    ]


@checked
def cluster_of(
    jobs: JobColumns, headroom: float = 1.05, cohort: str | None = "all", flavor: str = "default", **fields: Any
) -> Cluster:
    """Create a cluster configuration for a log: one ClusterQueue for each queue, in one cohort.

    The quotas are estimates, because a log contains neither the size of its cluster nor the quota of each queue. The
    nominal quota of a queue and flavor is the larger of two values, rounded up: the request of its largest job, and
    `headroom` times its mean load, which is at most its largest usage if no job waited. Simulated waits depend on the
    quotas. Replace the estimates with the real quotas before you compare simulated waits with the waits in the log.

    If the jobs have a column `flavor`, each flavor in it becomes a ResourceFlavor with the node label
    `kueuepy.dev/flavor`. With a column `flavor`, each queue gets quota only for the flavors that its jobs use.

    >>> from kueuepy import Jobs
    >>> jobs = Jobs({"queue": ["a", "b"], "submit": [0, 60], "runtime": ["1h", "90s"], "gpu": [1, 8]})
    >>> [queue.name for queue in cluster_of(jobs).cluster_queues]
    ['a', 'b']

    Args:
        jobs: The jobs.
        headroom: The factor between mean load and nominal quota, 0 or more; 1.05 by default, which adds 5 %.
        cohort: The cohort of all ClusterQueues; `all` by default, `None` for no cohort.
        flavor: The flavor of jobs without a flavor; `default` by default.
        fields: Fields of each ClusterQueue, such as `queueing_strategy="StrictFIFO"`.

    Returns:
        A cluster with the ResourceFlavors, ClusterQueues and LocalQueues of the jobs.

    Raises:
        InvalidSpecError: `headroom` is negative or not finite, or an option is invalid.
    """
    jobs = jobs.exact()
    queue, flavors, span = jobs["queue"], _flavors_of(jobs, flavor), jobs.span
    used = {flavors.names[code]: code for code in np.unique(flavors.codes).tolist()} or {flavor: 0}
    # A single flavor needs no node label to tell it from others.
    alone = [*used] == [flavor]
    objects: list[Any] = [ResourceFlavor(n) if alone else ResourceFlavor(n, node_labels={_LABEL: n}) for n in used]
    for key, rows in zip(queue.names, Groups.by(queue.codes, len(queue.names)).parts(), strict=True):
        if len(rows):
            namespace, _, name = key.partition("/")
            own = {f: rows[flavors.codes[rows] == code] for f, code in used.items()}
            quotas = {f: _quotas(jobs, mine, headroom, span) for f, mine in own.items() if len(mine)}
            covered = dict.fromkeys(resource for amounts in quotas.values() for resource in amounts)
            whole = {f: {resource: amounts.get(resource, 0) for resource in covered} for f, amounts in quotas.items()}
            objects.append(ClusterQueue.of(name, whole, cohort_name=cohort, **fields))
            objects.append(LocalQueue(name, namespace=namespace, cluster_queue=name))
    return Cluster(objects)


_LABEL = "kueuepy.dev/flavor"


def _flavors_of(jobs: JobColumns, other: str) -> Categorical:
    """Return the flavor of each job; a job without a flavor has the flavor `other`."""
    if "flavor" not in jobs.names:
        return Categorical(np.zeros(len(jobs), np.int32), [other])
    column = jobs["flavor"]
    names = [*column.names, *([] if other in column.names else [other])]
    return Categorical(np.where(column.codes < 0, names.index(other), column.codes).astype(np.int32), names)


def _quotas(jobs: JobColumns, rows: NDArray[np.int64], headroom: float, span: float) -> dict[str, int]:
    """Return the nominal quota for some jobs by resource, in displayed units (cores for CPU).

    Args:
        jobs: All jobs.
        rows: The rows of the jobs.
        headroom: The factor between mean load and nominal quota.
        span: The span of all jobs.

    Raises:
        InvalidSpecError: The headroom is negative or not finite.
    """
    if not 0 <= headroom < math.inf:
        raise InvalidSpecError(f"cluster_of: headroom: {headroom!r:.99}; it must be 0 or more")
    found, pods = {}, jobs.column("pods", 1)[rows]
    for resource, load in _loads(jobs, rows, span).items():
        size, asked = unit_of(resource), jobs[resource][rows] * pods
        # The largest job must fit, however low the mean load is; 9 digits hide errors of binary fractions.
        found[resource] = max(-(-int(asked.max()) // size), math.ceil(round(headroom * load / size, 9)))
    return {resource: amount for resource, amount in found.items() if amount}


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
        | `cpu`, `memory`, `gpu` | AllocTRES, ReqTRES, or NCPUS (AllocCPUS, ReqCPUS) and ReqMem; divided by NNodes |
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
        return describe(self.exact(), cluster)

    def check(self, cluster: Cluster) -> tuple[str, ...]:
        """Return descriptions of the problems that the jobs would have on a cluster.

        The method reports LocalQueues that do not exist, jobs that can never fit, and loads over 1.

        Args:
            cluster: The cluster.
        """
        return check(self.exact(), cluster)

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
