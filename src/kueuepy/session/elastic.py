"""Resizing of elastic jobs: the Workload of a resubmitted job changes, or a new slice replaces it.

Mirrors `pkg/workloadslicing/workloadslicing.go:EnsureWorkloadSlices,ScaledDown` and
`pkg/controller/jobframework/reconciler.go:prepareWorkloadSlice`.
"""

from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any, NamedTuple

import msgspec

from kueuepy.errors import InvalidSpecError
from kueuepy.jobs import keys
from kueuepy.objects import Workload
from kueuepy.session.state import SchedulerState
from kueuepy.session.submission import SubmittedWorkload, of_jobs


class Resized(NamedTuple):
    """The changes that a submission requires.

    Attributes:
        key: The key of the resulting workload.
        new: The Workload to add; `None` if an existing Workload is kept or changed.
        changed: The existing Workload with new pod counts; `None` if no Workload changes.
    """

    key: str
    new: SubmittedWorkload | None = None
    changed: Workload | None = None


def resized(state: SchedulerState, one: SubmittedWorkload) -> Resized:
    """Return the changes that a submission requires: a new Workload, unless an elastic job already has one.

    Raises:
        InvalidSpecError: The names of an elastic job's pod sets have changed.
    """
    if one.job is None or one.workload.annotations.get(keys.ELASTIC_JOB) != "true":
        return Resized(one.workload.key, one)
    slices = list(_slices(state, one.job))
    if not slices:
        return Resized(one.workload.key, one)
    # Two slices exist while the newer one waits; it is the newer one that the job replaces.
    before = slices[-1]
    old, asked = _counts(before), _counts(one.workload)
    if old.keys() != asked.keys():
        raise InvalidSpecError(
            f'Workload "{before.key}": its job now has the pod sets {", ".join(asked)}; they must stay {", ".join(old)}'
        )
    if old == asked:
        return Resized(before.key)
    holds_quota = state.engine.admission(state.id_of(before.key)) is not None
    # Only pods that are added to a running job need quota of their own, and so a second Workload.
    if not holds_quota or all(asked[name] <= old[name] for name in old):
        pod_sets = tuple(msgspec.structs.replace(pod_set, count=asked[pod_set.name]) for pod_set in before.pod_sets)
        return Resized(before.key, None, msgspec.structs.replace(before, pod_sets=pod_sets))
    slice_ = _replacing(state, one, before)
    return Resized(slice_.workload.key, slice_)


def _slices(state: SchedulerState, job: Mapping[str, Any]) -> Iterator[Workload]:
    present = state.keys()
    for key in present:
        known = state.store.jobs.get(key)
        if known is None or _identity(known) != _identity(job):
            continue
        finished = state.engine.condition(state.id_of(key), "Finished")
        if finished is None or not finished[0]:
            yield state.workload(key)


def _replacing(state: SchedulerState, one: SubmittedWorkload, before: Workload) -> SubmittedWorkload:
    """Return a new slice, whose name is made from the first generation of the job that results in an unused name."""
    assert one.job is not None
    metadata = one.job["metadata"]
    # A job that is submitted again without a generation has at least the second one.
    first = int(metadata.get("generation") or 2)
    for generation in count(first):
        job = {**one.job, "metadata": {**metadata, "generation": generation}}
        (made,) = of_jobs((job,), state.job_context())
        if state.engine.find(made.workload.key) < 0:
            break
    origin = before.annotations.get(keys.WORKLOAD_SLICE_NAME) or before.name
    linked = {keys.SLICE_REPLACEMENT_FOR: before.key, keys.WORKLOAD_SLICE_NAME: origin}
    annotations = {**made.workload.annotations, **linked}
    return made._replace(workload=msgspec.structs.replace(made.workload, annotations=annotations))


def _counts(workload: Workload) -> dict[str, int]:
    return {pod_set.name: pod_set.count for pod_set in workload.pod_sets}


def _identity(job: Mapping[str, Any]) -> tuple[str, str, str]:
    metadata = job.get("metadata") or {}
    return str(job.get("kind")), str(metadata.get("namespace") or "default"), str(metadata.get("name"))
