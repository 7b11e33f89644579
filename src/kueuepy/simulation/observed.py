"""Jobs as they ran on a real cluster, read from the Workloads of the cluster."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import numpy as np

from kueuepy.manifest import collector, load
from kueuepy.manifest.body import part
from kueuepy.manifest.text.sources import is_recording, live_parts, opened
from kueuepy.objects import SECOND, Condition, Configuration, Workload, WorkloadStatus
from kueuepy.objects.times import Timestamp, parse_time
from kueuepy.simulation.columns import NEVER
from kueuepy.simulation.grouped import sums
from kueuepy.simulation.items import Lifetime, lifetime_in, lifetime_of, of_workloads
from kueuepy.sources import readers
from kueuepy.tables.columns import categorical

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kueuepy.manifest import Manifest
    from kueuepy.manifest.text.reading import Item
    from kueuepy.simulation.base import JobColumns
    from kueuepy.sources import RecordedJobs

_NEVER_RAN = "finished without an admission; left out"
_UNFINISHED = "not finished; runtime is the time run so far"


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


class _Row(NamedTuple):
    """The times of a job, in nanoseconds."""

    runtime: int
    is_censored: bool
    start: int | None
    past: int
    finish_reason: str


def of_observed(source: Any, user: str | None = None) -> JobColumns:
    """Create jobs from the Workloads of a source; see `Jobs.from_workloads`."""
    found, now = _observed(source, user)
    rows = [_row(one, now) for one in found]
    kept = [place for place, row in enumerate(rows) if row is not None]
    chosen = [found[place] for place in kept]
    times = [row for row in rows if row is not None]
    table = of_workloads(_bare(chosen), [row.runtime for row in times])
    created = table["submit"]
    starts = np.array([NEVER if row.start is None else row.start for row in times], np.int64)
    past = np.array([row.past for row in times], np.int64)
    censored = np.array([row.is_censored for row in times], bool)
    waits = np.where(starts < 0, np.nan, np.maximum(0, starts - created - past) / SECOND)
    reasons = sorted({reason for one in chosen for reason in one.evictions})
    columns = {
        "recorded_start": starts,
        "recorded_wait": waits,
        "past_runtime": past / SECOND,
        "censored": censored,
        "evictions": np.array([sum(one.evictions.values()) for one in chosen], np.int64),
        **{f"evictions {name}": np.array([one.evictions.get(name, 0) for one in chosen], np.int64) for name in reasons},
        "finish_reason": categorical(row.finish_reason for row in times),
        "job": categorical(_job_of(one.workload) for one in chosen),
    }
    if any(one.user for one in chosen):
        columns["user"] = categorical(one.user for one in chosen)
    notes = [(_NEVER_RAN, len(found) - len(kept)), (_UNFINISHED, int(censored.sum()))]
    return table._changed(**columns)._with(notes=tuple(note for note in notes if note[1])).sort()  # noqa: SLF001


def _observed(source: Any, user: str | None) -> tuple[list[Observed], int]:
    """Return the Workloads of a source, and the time of the source in nanoseconds since the Unix epoch."""
    if isinstance(source, str | os.PathLike) and is_recording(os.fspath(source)) and "@" not in os.fspath(source):
        recording = readers().recording(source)
        return list(_of_recording(recording)), recording.end
    workloads = getattr(source, "workloads", None)
    if isinstance(workloads, tuple):  # a Cluster or a Manifest
        source = list(workloads)
    if isinstance(source, list | tuple) and source and all(isinstance(one, Workload) for one in source):
        found = [Observed(one, lifetime_of(one), {}, None, _user(one, user)) for one in source]
        return found, max(map(_latest, source))
    statuses: dict[str, Any] = {}
    source = opened(source)
    manifest = _without_status(source, statuses)
    found = []
    latest = max([0, *(one.time for one in live_parts(source))])
    for one in manifest.workloads:
        status = statuses.get(one.key)
        found.append(Observed(one, lifetime_in(status), _evictions(status), None, _user(one, user)))
        latest = max(latest, _latest(one), _latest_in(status))
    return found, latest


def workloads_of_jobs(manifest: Manifest) -> list[Workload]:
    """Return the Workloads of a dump, and those of the jobs in it that ran but have no Workload in the dump.

    A job ran from the time at which it started to the time at which it ended, according to its own status; a job
    without a start time is left out.
    """
    from kueuepy.jobs.cluster import JobCluster  # noqa: PLC0415 - only jobs need it
    from kueuepy.jobs.convert import conversions  # noqa: PLC0415 - only jobs need it
    from kueuepy.jobs.made import Existing  # noqa: PLC0415 - only jobs need it

    cluster = JobCluster.of(
        manifest.configuration or Configuration(),
        (*manifest.workload_priority_classes, *manifest.priority_classes),
        manifest.others,
        manifest.namespaces,
        manifest.local_queues,
    )
    existing, found = Existing(manifest.workloads), list(manifest.workloads)
    for made in conversions(manifest.jobs, cluster):
        pods = made.manifest.get("items") or [made.manifest]
        starts = [time for pod in pods if (time := _time_in(pod, "startTime")) is not None]
        if not starts or existing.has(made):
            continue
        conditions = [Condition("Admitted", "True", "Admitted", last_transition_time=Timestamp.of(min(starts)))]
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
            metadata["name"] = f"{metadata['name'][:240]}-{str(metadata.get('uid'))[:8]}"
        documents.append(doc)
        others[_key(metadata)] = (deleted, user)
    statuses: dict[str, Any] = {}
    for one in _without_status(documents, statuses).workloads:
        deleted, user = others[one.key]
        status = statuses.get(one.key)
        yield Observed(one, lifetime_in(status), _evictions(status), deleted, user)


def _key(metadata: dict[str, Any]) -> str:
    return f"{metadata.get('namespace', 'default')}/{metadata.get('name')}"


def _evictions(status: Any) -> dict[str, int]:
    """Return the number of evictions by reason (`schedulingStats.evictions`)."""
    stats = status.get("schedulingStats") if isinstance(status, dict) else None
    listed = stats.get("evictions") if isinstance(stats, dict) else None
    counts = [one for one in (listed if isinstance(listed, list) else ()) if isinstance(one, dict)]
    return sums((str(one.get("reason") or ""), one["count"]) for one in counts if isinstance(one.get("count"), int))


def _user(workload: Workload, label: str | None) -> str:
    return "" if label is None else workload.labels.get(label, "")


def _latest(workload: Workload) -> int:
    """Return the latest timestamp in a Workload, in nanoseconds since the Unix epoch."""
    times = [0 if workload.creation_timestamp is None else workload.creation_timestamp.value]
    if workload.status is not None:
        times += [condition.last_transition_time.value for condition in workload.status.conditions]
    return max(times)


def _latest_in(status: Any) -> int:
    """Return the latest time of the conditions in a status, in nanoseconds since the Unix epoch."""
    listed = status.get("conditions") if isinstance(status, dict) else None
    times = [parse_time(str(one.get("lastTransitionTime"))) for one in listed or () if isinstance(one, dict)]
    return max([0, *(time for time in times if time is not None)])


def _row(one: Observed, now: int) -> _Row | None:
    """Return the times of a job; `None` if the job finished without ever being admitted."""
    life = one.life
    if life.end is not None:
        runtime = life.runtime
        return None if runtime is None else _Row(runtime, False, life.start, life.past, life.finish_reason)  # noqa: FBT003
    if life.start is not None and one.deleted is not None:
        return _Row(max(0, one.deleted - life.start), False, life.start, life.past, "Deleted")  # noqa: FBT003
    reason = "" if one.workload.active else "Deactivated"
    so_far = 0 if life.start is None else max(0, now - life.start)
    return _Row(so_far, True, life.start, life.past, reason or ("Deleted" if one.deleted is not None else ""))  # noqa: FBT003


def _bare(found: Sequence[Observed]) -> list[Workload]:
    """Return the Workloads as they were submitted: active, and without a status."""
    return [msgspec.structs.replace(one.workload, status=None, active=True) for one in found]


def _job_of(workload: Workload) -> str:
    """Return the kind and name of a Workload's job; empty if the Workload has no owner."""
    owners = workload.owner_references
    return f"{owners[0].get('kind')}/{owners[0].get('name')}" if owners else ""
