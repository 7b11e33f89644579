"""Conversion of user input to one table of jobs: rows, DataFrames, Workloads and manifests of jobs."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain, count, groupby
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import numpy as np

from kueuepy.errors import DuplicateError, InvalidSpecError, about
from kueuepy.manifest import Manifest, collector, is_recording, live_parts, load, opened, part
from kueuepy.objects import SECOND, Condition, Configuration, Workload, WorkloadStatus
from kueuepy.objects.times import Timestamp, duration_ns, parse_time
from kueuepy.simulation.base import JobColumns
from kueuepy.simulation.columns import NEVER, SPANS, UNFINISHED, name_of_row, repeated, with_defaults
from kueuepy.simulation.grouped import sums
from kueuepy.simulation.shapes import KnownShapes
from kueuepy.simulation.values import row_columns
from kueuepy.sources import readers
from kueuepy.tables.columns import Categorical, categorical, concatenated, frame_columns

if TYPE_CHECKING:
    from kueuepy.manifest import Item
    from kueuepy.session.submission import JobContext
    from kueuepy.sources import RecordedJobs


class Lifetime(NamedTuple):
    """The lifetime of a job according to the status of its Workload; times are in nanoseconds.

    Attributes:
        start: The time of the last admission, since the Unix epoch; `None` if the workload was never admitted.
        end: The time at which the workload finished, since the Unix epoch; `None` if it has not finished.
        past: The total time for which the workload ran before its last admission.
        finish_reason: The reason of the Finished condition, such as `Succeeded`; empty if the workload has not
            finished.
    """

    start: int | None
    end: int | None
    past: int
    finish_reason: str

    @property
    def runtime(self) -> int | None:
        """The duration of the last run; `None` if the workload has not finished, or was never admitted."""
        if self.start is None or self.end is None:
            return None
        return max(0, self.end - self.start)


def lifetime_of(status: Any) -> Lifetime:
    """Return the lifetime of a job from the status of its Workload, or from one in a manifest.

    The transition time of the Admitted condition does not change when the workload finishes. Kueue adds a run to
    `accumulatedPastExecutionTimeSeconds` when the workload loses its admission
    (`pkg/workload/admissionchecks.go:SyncAdmittedCondition`).
    """
    found = {kind: (time, reason) for kind, value, reason, time in _conditions(status) if value == "True"}
    (start, _), (end, reason) = (found.get(kind, (None, "")) for kind in ("Admitted", "Finished"))
    if isinstance(status, WorkloadStatus):
        past: Any = status.accumulated_past_execution_time_seconds
    else:
        past = status.get("accumulatedPastExecutionTimeSeconds") if isinstance(status, dict) else None
    return Lifetime(start, end, past * SECOND if isinstance(past, int) and past > 0 else 0, reason)


def _conditions(status: Any) -> Iterator[tuple[str, str, str, int]]:
    """Yield type, status, reason and time of each condition; invalid conditions in a manifest are left out."""
    if isinstance(status, WorkloadStatus):
        yield from ((one.type, one.status, one.reason, one.last_transition_time.value) for one in status.conditions)
    for one in _dicts(status, "conditions"):
        if (time := parse_time(str(one.get("lastTransitionTime")))) is not None:
            yield str(one.get("type")), str(one.get("status")), str(one.get("reason") or ""), time


def _dicts(doc: Any, name: str) -> list[dict[str, Any]]:
    """Return the mappings in a list of a manifest; none if the manifest has no such list."""
    listed = doc.get(name) if isinstance(doc, dict) else None
    return [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []


_NO_JOBS = JobColumns({"queue": [], "submit": [], "runtime": []})
_ABSENT = {"pods": 1, "min_pods": NEVER, "template": -1, **dict.fromkeys(SPANS, NEVER)}


def jobs_of(items: Any, around: JobContext | None = None) -> JobColumns:
    """Create a table of jobs from a table, a DataFrame, or any mix of rows, Workloads and manifests.

    A job is submitted at its `submit` time or its creation time; without either, the job is submitted at the start. A
    job without a runtime never ends.

    Args:
        items: The jobs.
        around: The objects that manifests of jobs refer to, such as priority classes; none by default.

    Raises:
        InvalidSpecError: An item is not a job.
    """
    if isinstance(items, JobColumns):
        return items.exact()
    if _is_frame(items):
        return _of_columns(frame_columns(items))
    if isinstance(items, str | bytes):
        raise _no_job(items)
    # A single row or object is a list of one.
    if isinstance(items, Mapping | Workload) or not isinstance(items, Iterable):
        items = [items]
    return concat(list(_tables(list(items), around or _around(Manifest()))))


def _no_job(item: Any) -> InvalidSpecError:
    return InvalidSpecError(
        f"jobs: {item!r:.99} is not a job; read files with Jobs.read, or with kueuepy.load and pass its jobs"
    )


def _is_frame(item: Any) -> bool:
    if type(item).__name__ == "LazyFrame" or hasattr(item, "__arrow_c_stream__"):
        return True
    return hasattr(item, "to_dict") and hasattr(item, "columns")


def _tables(items: list[Any], around: JobContext) -> Iterator[JobColumns]:
    """Convert the items to tables, in order; consecutive rows, and consecutive Workloads, become one table."""
    # Runs of one kind become one table; a table for each item would check the columns each time.
    for kind, run in groupby(items, _kind_of):
        if kind == "table":
            yield from map(jobs_of, run)
        elif kind == "row":
            yield _of_columns(row_columns([{str(key): value for key, value in item.items()} for item in run]))
        else:
            yield _of_workloads(run, around)


def _kind_of(item: Any) -> str:
    """Return whether an item is a `row`, a `table`, or a `workload` or an object that has one."""
    if isinstance(item, Mapping):
        return "workload" if "kind" in item or "apiVersion" in item else "row"
    return "table" if isinstance(item, JobColumns) or _is_frame(item) else "workload"


def _of_columns(columns: dict[str, Any]) -> JobColumns:
    """Create jobs from columns; `queue`, `submit` and `runtime` are optional."""
    return JobColumns(with_defaults(columns))


def _of_workloads(items: Iterable[Any], around: JobContext) -> JobColumns:
    from kueuepy.jobs import Submission  # noqa: PLC0415 - only manifests need it
    from kueuepy.session.submission import submissions  # noqa: PLC0415

    workloads: list[Workload] = []
    durations: list[int | None] = []
    for kind, run in groupby(items, type):
        given = list(run)
        # A path is the most frequent mistake, and deserves its own message.
        if kind is str or kind is bytes:
            raise _no_job(given[0])
        if issubclass(kind, Submission):
            runs = [one.duration for one in given]
            workloads += [one.workload for one in given]
            durations += [None if time is None else duration_ns(time, "Submission: duration") for time in runs]
        else:
            workloads += given if kind is Workload else [one.workload for one in submissions(given, around)]
            durations += [None] * (len(workloads) - len(durations))
    return of_workloads(workloads, durations)


def _around(manifest: Manifest) -> JobContext:
    """Return the objects of a manifest to which its jobs refer."""
    from kueuepy.session.submission import JobContext  # noqa: PLC0415 - only manifests need it

    classes: tuple[Any, ...] = (*manifest.workload_priority_classes, *manifest.priority_classes)
    spaces, queues = manifest.namespaces, manifest.local_queues
    own = manifest.configuration or Configuration()
    return JobContext(own, classes, spaces, queues, manifest.others, numbers=count(1))


def of_manifests(manifests: Any, runtime: Any) -> JobColumns:
    """Create jobs from a Cluster or a list of manifests; see `Jobs.from_manifests`."""
    around = None
    # A Cluster and a Manifest have both.
    if hasattr(manifests, "workloads") and hasattr(manifests, "jobs"):
        around = _around(getattr(manifests, "manifest", manifests))
        manifests = [*manifests.workloads, *manifests.jobs]
    found = jobs_of(manifests, around)
    if runtime is None:
        return found
    if isinstance(runtime, Mapping):
        given = [runtime.get(found.name_of(row)) for row in range(len(found))]
        known = found.assign(runtime=[NEVER if time is None else time for time in given])["runtime"]
        return found._changed(runtime=np.where(known < 0, found["runtime"], known))  # noqa: SLF001 - same package
    return found.assign(runtime=runtime)


def of_workloads(workloads: Sequence[Workload], durations: Sequence[int | None]) -> JobColumns:
    """Create jobs from Workloads.

    Args:
        workloads: The Workloads.
        durations: The runtime of each Workload in nanoseconds. For `None`, a finished Workload has the runtime of its
            last run, and any other Workload never ends.
    """
    given = tuple(workloads)
    # One template for all jobs that differ only in the name, the UID, the creation time and the status.
    templates, codes = KnownShapes(()).find(given)
    ran = [
        lifetime_of(workload.status).runtime if duration is None else duration
        for workload, duration in zip(given, durations, strict=True)
    ]
    uids = np.array([workload.uid or "" for workload in given], object)
    return _NO_JOBS._with(  # noqa: SLF001 - same package
        {
            "name": np.array([workload.name for workload in given], object),
            **({"uid": uids} if any(uids) else {}),
            "queue": categorical(f"{workload.namespace}/{workload.queue_name}" for workload in given),
            "submit": np.array([created(workload) for workload in given], np.int64),
            "runtime": np.array([NEVER if time is None else time for time in ran], np.int64),
            "priority": np.array([w.priority or 0 for w in given], np.int64),
            "template": codes.astype(np.int64),
        },
        templates=tuple(templates),
    )


def created(workload: Workload) -> int:
    """Return the creation time in nanoseconds since the epoch; 0 if it is not set."""
    return 0 if workload.creation_timestamp is None else workload.creation_timestamp.value


def concat(tables: Sequence[JobColumns]) -> JobColumns:
    """Concatenate tables; if a table lacks a column, its rows get the default value of the column."""
    tables = [table.exact() for table in tables if len(table)]
    if len(tables) == 1:
        return tables[0]
    if not tables:
        return _NO_JOBS
    names = dict.fromkeys(name for table in tables for name in table.names)
    # The templates of all tables become one tuple, so indices move by the number of templates before.
    shifts = list(accumulate((len(table.templates) for table in tables[:-1]), initial=0))
    return tables[0]._with(  # noqa: SLF001 - same package
        {name: _joined(name, tables, shifts) for name in names},
        notes=tuple(sums(chain.from_iterable(table.notes for table in tables)).items()),
        templates=tuple(workload for table in tables for workload in table.templates),
    )


def _joined(name: str, tables: Sequence[JobColumns], shifts: Sequence[int]) -> Any:
    """Concatenate one column of all tables, with indices of templates adjusted to the joined tuple of templates."""
    if name == "name":
        rows = count()  # a job without a name is named after its row in the result
        names = [(table["name"] if name in table.names else [None] * len(table)) for table in tables]
        named = zip(chain(*names), rows, strict=False)
        return np.array([name_of_row(row) if own is None else own for own, row in named], object)
    columns = [table[name] if name in table.names else None for table in tables]
    sample = next(column for column in columns if column is not None)
    is_text = isinstance(sample, Categorical)
    if any(column is not None and isinstance(column, Categorical) != is_text for column in columns):
        raise InvalidSpecError(f'jobs: column "{name}" holds numbers in one table and texts in another')
    if is_text:
        absent = [Categorical(np.full(len(table), -1, np.int32), []) for table in tables]
        return concatenated(none if own is None else own for own, none in zip(columns, absent, strict=True))
    default = "" if name == "uid" else _ABSENT.get(name, np.nan if sample.dtype.kind == "f" else 0)
    parts = [
        np.full(len(table), default, sample.dtype) if column is None else column
        for column, table in zip(columns, tables, strict=True)
    ]
    if name == "template":
        parts = [np.where(part >= 0, part + shift, -1) for part, shift in zip(parts, shifts, strict=True)]
    return np.concatenate(parts)


class Names:
    """The names of jobs and the rows of the jobs; names are unique within a namespace."""

    def __init__(self, tables: Sequence[JobColumns] = ()) -> None:
        """Add the tables in order."""
        self._rows: dict[tuple[str, str], int] = {}
        self._size = 0
        for table in tables:
            self.add(table)

    def add(self, table: JobColumns) -> None:
        """Add the jobs of a table, whose rows follow the existing rows; on an error, no job is added.

        Raises:
            DuplicateError: Two jobs have the same namespace and name.
        """
        queues, first = table["queue"], self._size
        spaces = [name.partition("/")[0] for name in queues.names]
        rows = range(first, first + len(table))
        names = table["name"].tolist() if "name" in table.names else map(name_of_row, rows)
        new: dict[tuple[str, str], int] = {}
        for row, name, code in zip(rows, names, queues.codes.tolist(), strict=True):
            key = (spaces[code], name)
            other = self._rows.get(key, new.setdefault(key, row))
            if other != row:
                with about(f"{spaces[code]}/{name}"):
                    raise DuplicateError(
                        f'Workload "{spaces[code]}/{name}": two jobs have this name, rows {other} and {row}; '
                        "each must have its own"
                    )
        # Only now, so that an error leaves the names as they were.
        self._rows |= new
        self._size += len(table)


def check_names(table: JobColumns) -> None:
    """Check that names are unique within their namespaces.

    Raises:
        DuplicateError: Two jobs have the same namespace and name.
    """
    if "name" in table.names and repeated(table["name"], table["queue"]).any():
        Names([table])  # raises the error, which names the rows


_NEVER_RAN = "finished without an admission; left out"


class Observed(NamedTuple):
    """A Workload of a cluster.

    Attributes:
        workload: The Workload.
        life: The lifetime of the Workload, according to its status.
        evictions: The number of evictions by reason.
        deleted: The time at which the Workload was deleted, in nanoseconds since the Unix epoch; `None` if it still
            exists.
        user: The user who owns the Workload; empty if unknown.
    """

    workload: Workload
    life: Lifetime
    evictions: dict[str, int]
    deleted: int | None
    user: str


def of_observed(source: Any, user: str | None = None) -> JobColumns:
    """Create jobs from the Workloads of a source; see `Jobs.from_workloads`."""
    found, now = _observed(source, user)
    outcomes = [_outcome(one, now) for one in found]
    chosen = [one for one, outcome in zip(found, outcomes, strict=True) if outcome is not None]
    runtimes, is_censored, finish_reasons = zip(*filter(None, outcomes), strict=True) if chosen else ((), (), ())
    bare = [msgspec.structs.replace(one.workload, status=None, active=True) for one in chosen]  # as submitted
    table = of_workloads(bare, runtimes)
    starts = np.array([NEVER if one.life.start is None else one.life.start for one in chosen], np.int64)
    past = np.array([one.life.past for one in chosen], np.int64)
    censored = np.array(is_censored, bool)
    # The time from the creation to the last admission includes earlier runs, which are not waits.
    waits = np.where(starts < 0, np.nan, np.maximum(0, starts - table["submit"] - past) / SECOND)
    reasons = sorted({reason for one in chosen for reason in one.evictions})
    columns = {
        "recorded_start": starts,
        "recorded_wait": waits,
        "past_runtime": past / SECOND,
        "censored": censored,
        "evictions": np.array([sum(one.evictions.values()) for one in chosen], np.int64),
        **{f"evictions {name}": np.array([one.evictions.get(name, 0) for one in chosen], np.int64) for name in reasons},
        "finish_reason": categorical(finish_reasons),
        "job": categorical(_job_of(one.workload) for one in chosen),
    }
    if any(one.user for one in chosen):
        columns["user"] = categorical(one.user for one in chosen)
    notes = [(_NEVER_RAN, len(found) - len(chosen)), (UNFINISHED, int(censored.sum()))]
    return table._changed(**columns)._with(notes=tuple(note for note in notes if note[1])).sort()  # noqa: SLF001


def _observed(source: Any, user: str | None) -> tuple[list[Observed], int]:
    """Return the Workloads of a source, and the time of the source in nanoseconds since the Unix epoch."""
    if isinstance(source, str | os.PathLike) and is_recording(os.fspath(source)) and "@" not in os.fspath(source):
        recording = readers().recording(source)
        return list(_of_recording(recording)), recording.end
    workloads = getattr(source, "workloads", None)
    if isinstance(workloads, tuple):  # a Cluster or a Manifest
        source = list(workloads)
    times: list[int] = []
    if isinstance(source, list | tuple) and source and all(isinstance(one, Workload) for one in source):
        pairs: list[tuple[Workload, Any]] = [(one, one.status) for one in source]
    else:
        # A status from a cluster may be invalid, and is read leniently; the rest is validated.
        statuses: dict[str, Any] = {}
        source = opened(source)
        pairs = [(one, statuses.get(one.key)) for one in _without_status(source, statuses).workloads]
        times += [one.time for one in live_parts(source)]
    for one, status in pairs:
        times += (created(one), _latest_in(status))
    return [_seen(one, status, one.labels.get(user or "", "")) for one, status in pairs], max(times, default=0)


def _seen(workload: Workload, status: Any, user: str, deleted: int | None = None) -> Observed:
    return Observed(workload, lifetime_of(status), _evictions(status), deleted, user)


def workloads_of_jobs(manifest: Manifest) -> list[Workload]:
    """Return the Workloads of a dump, and those of the jobs in it that have no Workload in the dump.

    A job ran from the time at which it started to the time at which it ended, according to its own status; a job
    without a start time waits.
    """
    from kueuepy.jobs.cluster import JobCluster  # noqa: PLC0415 - only jobs need it
    from kueuepy.jobs.convert import Existing, conversions  # noqa: PLC0415

    cluster = JobCluster.of_manifest(manifest, manifest.configuration)
    existing, found = Existing(manifest.workloads), list(manifest.workloads)
    for made in conversions(manifest.jobs, cluster):
        pods = made.manifest.get("items") or [made.manifest]
        # The first pod that starts ends the wait of a pod group.
        starts = [time for pod in pods if (time := _time_in(pod, "startTime")) is not None]
        if existing.has(made):
            continue
        first = [Timestamp.of(min(starts))] if starts else []
        conditions = [Condition("Admitted", "True", "Admitted", last_transition_time=at) for at in first]
        if made.outcome is not None:
            ends = (_time_in(pod, "completionTime", "endTime") or _latest_in(part(pod, "status")) for pod in pods)
            reason, end = "Succeeded" if made.outcome.success else "Failed", Timestamp.of(max(ends))
            conditions.append(Condition("Finished", "True", reason, last_transition_time=end))
        status = WorkloadStatus(conditions=tuple(conditions))
        found.append(msgspec.structs.replace(made.workload, status=status))
    return found


def _time_in(job: dict[str, Any], *names: str) -> int | None:
    """Return the first of the given times in the status of a job."""
    times = (parse_time(str(part(job, "status").get(name))) for name in names)
    return next((time for time in times if time is not None), None)


def _without_status(source: Any, statuses: dict[str, Any]) -> Manifest:
    """Read objects without validating the status of Workloads, and store each status by key."""

    def pick(item: Item) -> bool:
        doc = item.value
        if doc.get("kind") == "Workload" and isinstance(doc.get("metadata"), dict):
            statuses[_key(doc["metadata"])] = doc.get("status")
            item.value = {name: value for name, value in doc.items() if name != "status"}
        return False

    with collector.at_rest():
        return load(source, strict=False, pick=pick)


def _of_recording(recording: RecordedJobs) -> Iterator[Observed]:
    """Yield all Workloads of a recording.

    If several jobs have the same name, the start of the UID is appended to the names of all but the first.
    """
    documents, others = [], {}
    for doc, deleted, user in recording.workloads():
        metadata = doc["metadata"]
        if _key(metadata) in others:
            # Jobs that were deleted and created again have one name, but a simulation needs distinct names.
            metadata["name"] = f"{metadata['name'][:240]}-{str(metadata.get('uid'))[:8]}"
        documents.append(doc)
        others[_key(metadata)] = (deleted, user)
    statuses: dict[str, Any] = {}
    for one in _without_status(documents, statuses).workloads:
        deleted, user = others[one.key]
        yield _seen(one, statuses.get(one.key), user, deleted)


def _key(metadata: dict[str, Any]) -> str:
    return f"{metadata.get('namespace', 'default')}/{metadata.get('name')}"


def _evictions(status: Any) -> dict[str, int]:
    """Return the number of evictions by reason (`schedulingStats.evictions`)."""
    counts = _dicts(status.get("schedulingStats") if isinstance(status, dict) else None, "evictions")
    return sums((str(one.get("reason") or ""), one["count"]) for one in counts if isinstance(one.get("count"), int))


def _latest_in(status: Any) -> int:
    """Return the latest time of the conditions in a status, in nanoseconds since the Unix epoch."""
    return max((time for *_, time in _conditions(status)), default=0)


def _outcome(one: Observed, now: int) -> tuple[int, bool, str] | None:
    """Return the runtime of a job, whether it is only a lower bound, and the reason why the job ended.

    Return `None` if the job finished without ever being admitted.
    """
    life = one.life
    if life.end is not None:
        return None if life.runtime is None else (life.runtime, False, life.finish_reason)
    if life.start is not None and one.deleted is not None:
        return max(0, one.deleted - life.start), False, "Deleted"
    reason = "" if one.workload.active else "Deactivated"
    so_far = 0 if life.start is None else max(0, now - life.start)
    return so_far, True, reason or ("Deleted" if one.deleted is not None else "")


def _job_of(workload: Workload) -> str:
    """Return the kind and name of a Workload's job; empty if the Workload has no owner."""
    owners = workload.owner_references
    return f"{owners[0].get('kind')}/{owners[0].get('name')}" if owners else ""
