"""Convert submitted items (Workloads, jobs, rows and data frames) into Workloads."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from kueuepy._core import question_of_row as plain_row
from kueuepy.engine.rows import from_plain_row
from kueuepy.errors import InvalidSpecError, about
from kueuepy.manifest import ReadJob, from_dict, object_name
from kueuepy.manifest.convert import generated_name
from kueuepy.objects import EPOCH, Timestamp, Workload
from kueuepy.objects.readable import fault_of

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from kueuepy._core import Question
    from kueuepy.cluster import Cluster
    from kueuepy.jobs.convert import Existing, Made
    from kueuepy.objects import Configuration, LocalQueue, Namespace, PriorityClass, WorkloadPriorityClass


class SubmittedWorkload(NamedTuple):
    """A Workload, the manifest of its job if it has one, and whether the job is a single pod.

    `made` is the Workload together with the job from which it was converted. `prepared` is the Workload as the core has
    read it from a row; such a Workload is valid and has no status.
    """

    workload: Workload
    job: dict[str, Any] | None = None
    single_pod: bool = False
    made: Made | None = None
    prepared: Question | None = None

    def written(self) -> AbstractContextManager[None]:
        """Return a context manager that attributes errors to the Workload, or to its job if the job is from a file."""
        return about(self.workload.key) if self.made is None else self.made.written()


class JobContext(NamedTuple):
    """The objects and settings that determine how a job is converted into a Workload."""

    configuration: Configuration
    priority_classes: tuple[WorkloadPriorityClass | PriorityClass, ...]
    namespaces: tuple[Namespace, ...]
    local_queues: tuple[LocalQueue, ...]
    related: tuple[dict[str, Any], ...]
    covered: Callable[[str], Collection[str]] = lambda _: ()
    """A function that returns the resources covered by the ClusterQueue of a LocalQueue (`namespace/name`)."""
    numbers: Iterator[int] | None = None
    """Numbers that make names from `generateName` unique; with `None`, `generateName` is not changed."""
    stamps: Iterator[tuple[str, Timestamp]] | None = None
    """The uids and the creation time of the workloads of rows; with `None`, they have none."""


class Keys(tuple[str, ...]):  # noqa: SLOT001 - it has an attribute
    """The keys of submitted workloads, with warnings.

    Attributes:
        existing: The keys of the workloads that existed already, and are left as they are.
        remarks: Warnings about missing queues and unknown fields of jobs. They are not errors: Kueue accepts workloads
            without a queue, and a newer API server may have more fields.
    """

    existing: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()

    def __repr__(self) -> str:
        """Return the keys, followed by one line per warning."""
        return "\n".join((super().__repr__(), *self.remarks))


def uid_of(count: int) -> str:
    """Return the uid of a workload that is submitted without a uid, after the given number of workloads."""
    # In the form of a random uid, and in the order of submission, which decides between equals.
    return f"00000000-0000-4000-8000-{count + 1:012d}"


def submissions(items: Iterable[Any], around: JobContext) -> Iterator[SubmittedWorkload]:
    """Yield the Workloads of submitted items, in order.

    Raises:
        InvalidSpecError: An item is not a Workload, job or row, or it is a job without a queue name.
    """
    for item in _with_pods_together(items):
        if (prepared := question_of_row(item, around.covered)) is not None:
            stamp = next(around.stamps) if around.stamps is not None else ()
            yield SubmittedWorkload(from_plain_row(item, *stamp), prepared=prepared)
        elif isinstance(item, Workload):
            yield SubmittedWorkload(item)
        elif isinstance(item, Mapping):
            yield from _mapping(item, around)
        # Known by their methods, so that neither library has to be there.
        elif hasattr(item, "to_dicts") and hasattr(item, "columns"):  # polars
            yield from submissions(item.to_dicts(), around)
        elif hasattr(item, "to_dict") and hasattr(item, "columns"):  # pandas
            yield from submissions(item.to_dict("records"), around)
        elif isinstance(item, Iterable) and not isinstance(item, str | bytes):
            yield from submissions(item, around)
        else:
            raise InvalidSpecError(
                f"submit: {item!r:.99} is not a Workload, job, row or frame; kueuepy.load reads a file"
            )


def _with_pods_together(items: Iterable[Any]) -> Iterator[Any]:
    """Yield the items, with consecutive Pods combined into one List, because the Pods of a group form one Workload."""
    for is_pod, run in groupby(items, key=lambda item: isinstance(item, Mapping) and item.get("kind") == "Pod"):
        if not is_pod:
            yield from run
            continue
        pods = list(run)
        # Several pods can form one group, and then make one Workload.
        yield {"apiVersion": "v1", "kind": "List", "items": pods} if len(pods) > 1 else pods[0]


def _row(item: Mapping[str, Any], around: JobContext) -> Workload:
    from kueuepy.jobs import from_row  # noqa: PLC0415 - only rows need it

    workload = from_row(item).workload
    local_queue = f"{workload.namespace}/{workload.queue_name}"
    # Only then can `gpu` mean nothing but `nvidia.com/gpu`.
    if item.get("gpu") is not None and not _is_gpu_clear(local_queue, around.covered):
        raise InvalidSpecError(
            f'row "{workload.name}": gpu: asks for nvidia.com/gpu, and its queue has quotas of "gpu"; call the '
            "resource nvidia.com/gpu there, or submit a Workload that requests gpu"
        )
    return workload


def question_of_row(item: Any, covered: Callable[[str], Collection[str]]) -> Question | None:
    """Return the workload of a row that requires no further validation; `None` for any other item.

    Args:
        item: The row.
        covered: A function that returns the resources covered by the ClusterQueue of a LocalQueue.
    """
    found = plain_row(item)
    return None if found is None or ("gpu" in item and not _is_gpu_clear(found.local_queue, covered)) else found


def _mapping(item: Mapping[str, Any], around: JobContext) -> Iterator[SubmittedWorkload]:
    if "kind" not in item and "apiVersion" not in item:
        yield SubmittedWorkload(_row(item, around))
    elif item.get("kind") == "Workload":
        found = from_dict(item)
        assert isinstance(found, Workload)
        yield SubmittedWorkload(found)
    else:
        submitted = tuple(of_jobs((item,), around))
        yield from submitted
        if not submitted and not _has_no_pods(item):
            raise InvalidSpecError(
                f"{object_name(item)}: is not a job that Kueue manages; it needs the label kueue.x-k8s.io/queue-name, "
                "a managed namespace, and no owner that has a Workload"
            )


def _is_gpu_clear(local_queue: str, covered: Callable[[str], Collection[str]]) -> bool:
    resources = covered(local_queue)
    return "gpu" not in resources or "nvidia.com/gpu" in resources


def _has_no_pods(job: Mapping[str, Any]) -> bool:
    """Return whether a job has 0 replicas, and therefore no Workload."""
    spec = job.get("spec")
    return isinstance(spec, Mapping) and spec.get("replicas") == 0


def of_jobs(
    jobs: Iterable[Mapping[str, Any]], around: JobContext, existing: Existing | None = None
) -> Iterator[SubmittedWorkload]:
    """Yield the Workloads of the jobs that Kueue manages. The Pods of a group form one Workload.

    Args:
        jobs: Manifests of jobs.
        around: The objects and settings that determine how a job is converted.
        existing: The Workloads of the cluster from which the jobs were read: finished jobs and the jobs of these
            Workloads are left out. Default: all jobs are new.
    """
    from kueuepy.jobs import keys  # noqa: PLC0415 - only jobs need it
    from kueuepy.jobs.cluster import JobCluster  # noqa: PLC0415 - only jobs need it
    from kueuepy.jobs.convert import conversions  # noqa: PLC0415 - only jobs need it

    manifests = []
    for job in jobs:
        with about(job):
            copied = plain(_named(job, around))
        manifests.append(ReadJob(copied, job.origin) if isinstance(job, ReadJob) else copied)
    related = (*around.related, *manifests)
    cluster = JobCluster.of(
        around.configuration, around.priority_classes, related, around.namespaces, around.local_queues
    )
    found = conversions(manifests, cluster)
    for made in found if existing is None else filter(existing.lacks, found):
        is_pod = made.manifest.get("kind") == "Pod"
        single_pod = is_pod and keys.IS_GROUP_WORKLOAD not in made.workload.annotations
        yield SubmittedWorkload(made.workload, dict(made.manifest), single_pod, made=made)


def _named(item: Mapping[str, Any], around: JobContext) -> Mapping[str, Any]:
    """Return the manifest; if it has no name, add a unique name made from `generateName`, as an API server does."""
    if item.get("kind") == "List" and isinstance(items := item.get("items"), list | tuple):
        return {**item, "items": [_named(one, around) if isinstance(one, Mapping) else one for one in items]}
    metadata = item.get("metadata")
    if around.numbers is None or not isinstance(metadata, Mapping) or metadata.get("name"):
        return item
    if not isinstance(prefix := metadata.get("generateName"), str):
        return item
    return {**item, "metadata": {**metadata, "name": generated_name(prefix, next(around.numbers))}}


def plain(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return the manifest as plain data, which can be serialised.

    Raises:
        InvalidSpecError: The manifest contains values that are not plain data.
    """
    copied = dict(manifest)
    if (fault := fault_of(copied)) is not None:
        raise InvalidSpecError(f"{object_name(copied)}: {fault[1]}")
    return copied


def latest_time(cluster: Cluster) -> int:
    """Return the latest time recorded in a Workload or LocalQueue, in nanoseconds since the Unix epoch."""
    times = [EPOCH, *(queue.status.last_update or EPOCH for queue in cluster.local_queues if queue.status is not None)]
    for workload in cluster.workloads:
        times.append(workload.creation_timestamp or EPOCH)
        if workload.status is not None:
            times += [condition.last_transition_time for condition in workload.status.conditions]
    return max(time.value for time in times)
