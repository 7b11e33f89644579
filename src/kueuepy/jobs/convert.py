"""Conversion of job manifests to the Workloads that Kueue creates for them.

Source: `pkg/controller/jobframework/reconciler.go:ConstructWorkload,prepareWorkload` and `utils.go:NewWorkload`;
Kueue's webhooks have already been applied to the jobs.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import reduce
from operator import getitem
from typing import Any, NamedTuple

from kueuepy.errors import InvalidSpecError, KueueError, ManifestError, Path, Problem, about, checked, steps
from kueuepy.jobs import checks, keys
from kueuepy.jobs.base import MAX_POD_SETS, BaseJob
from kueuepy.jobs.cluster import JobCluster, Unmanaged, checked_manifest, created, new_jobs
from kueuepy.jobs.integrations.pod import Pod
from kueuepy.jobs.job import Finished, Job
from kueuepy.jobs.priority import AnyPriorityClass, resolve_priority
from kueuepy.jobs.registry import adapter_for
from kueuepy.jobs.template import Document
from kueuepy.manifest.manifest import ReadJob
from kueuepy.objects import Configuration, LocalQueue, Namespace, Timestamp, Workload, parse_time

_OF_POD_SET = ("spec", "podSets")
# Length of the path of a pod set's template: `spec.podSets[0].template`.
_TO_TEMPLATE = 4


class Made(NamedTuple):
    """A Workload, and the job from which it was created.

    Attributes:
        given: The job in its original form. For a pod group, `given` is the first pod.
        manifest: The manifest of the job, with default queues and priority classes. The pods of a group are a single
            manifest of kind List. A CronJob is replaced by the Job that it creates, and a Deployment by a Pod.
        workload: The Workload.
        cluster: The objects and settings from which the Workload was created.
        outcome: The outcome of the job according to its status; `None` if the job has not finished.
    """

    given: Document
    manifest: Document
    workload: Workload
    cluster: JobCluster
    outcome: Finished | None = None

    @contextmanager
    def written(self) -> Iterator[None]:
        """Change errors about the Workload to errors about the job, if the job was read from a file.

        Raises:
            KueueError: The error that was raised in the `with` block.
        """
        if not isinstance(self.given, ReadJob):
            with about(self.workload.key):
                yield
            return
        try:
            with about(self.given):
                yield
        except ManifestError as error:
            if error.about != self.workload.key:
                raise
            owner = adapter_for(self.given, config=self.cluster.config, related=self.cluster.related)
            moved = [_moved(self.given, owner, problem) for _, problem in error.problems]
            raise ManifestError(moved) from None
        except KueueError as error:
            if error.about == self.workload.key:
                error.locate(self.given.where(error.path))
            raise


class Existing:
    """The Workloads of a cluster, and the jobs to which they belong."""

    def __init__(self, workloads: Iterable[Workload]) -> None:
        """Index the Workloads.

        The uid identifies the job of a Workload with another name, such as a slice of an elastic job, or one that a
        user named. Kueue finds the Workloads of a job by their owner, too
        (`pkg/controller/jobframework/indexer.go:OwnerReferenceIndexKey`).
        """
        self._keys = set()
        self._uids = set[str]()
        for workload in workloads:
            self._keys.add(workload.key)
            owners = (owner.get("uid") for owner in workload.owner_references)
            self._uids.update(filter(None, (workload.labels.get(keys.JOB_UID), *owners)))

    def lacks(self, made: Made) -> bool:
        """Return whether Kueue would create a Workload of a job.

        Kueue creates no Workload for a finished job, nor for a job that has a Workload
        (`pkg/controller/jobframework/reconciler.go:ReconcileGenericJob`).
        """
        return made.outcome is None and not self.has(made)

    def has(self, made: Made) -> bool:
        """Return whether a job has a Workload."""
        return made.workload.key in self._keys or made.workload.labels.get(keys.JOB_UID) in self._uids


def _moved(given: ReadJob, owner: Job, problem: Problem) -> tuple[str, Problem]:
    """Convert a problem of a Workload to a problem of its job, with its position in the file."""
    path = _path_in(owner, problem.path)
    if path is None:
        return f"{given.where()}: {owner.owner}", problem
    return f"{given.where(path)}: {owner.owner}", Problem(path, problem.kind, problem.detail)


def _path_in(job: Any, path: Path) -> Path | None:
    """Convert the path of a field in a Workload's pod template to its path in the job's manifest; `None` if absent."""
    if path[:2] != _OF_POD_SET or path[_TO_TEMPLATE - 1 : _TO_TEMPLATE] != ("template",):
        return None
    slots = job.slots(job.root) if isinstance(job, BaseJob) else ()
    index = path[2]
    if not isinstance(index, int) or index >= len(slots):
        return None
    found = (*steps(slots[index].template.path), *path[_TO_TEMPLATE:])
    try:
        # A template that the kind builds itself has no path in the manifest.
        reduce(getitem, found, job.manifest)
    except (KeyError, IndexError, TypeError):
        return None
    return found


_PLAIN = Configuration()


@checked
def to_workload(
    manifest: Document,
    *,
    priority_classes: Iterable[AnyPriorityClass] = (),
    config: Configuration = _PLAIN,
    related: Iterable[Document] = (),
    queue_name_annotation: bool = False,
) -> Workload:
    """Return the Workload that Kueue creates for a job.

    The manifest is treated as a new job: the changes and validation rules of Kueue's webhooks are applied. Defaults of
    the API server are added only if they affect the number of pods. The job need not have a queue name, but a Workload
    without a queue name is never admitted.

    >>> template = {"spec": {"containers": []}}
    >>> spec = {"parallelism": 3, "template": template}
    >>> job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "a"}, "spec": spec}
    >>> to_workload(job).pod_sets[0].count
    3

    Args:
        manifest: The job. The pods of a group are passed together, as a manifest of kind List.
        priority_classes: The WorkloadPriorityClasses and PriorityClasses of the cluster.
        config: The Configuration, for its feature gates and its policy for jobs without a queue name.
        related: Manifests that the job refers to, such as the runtime of a TrainJob.
        queue_name_annotation: Whether a queue-name annotation is used if the label is absent, as in API version
            v1alpha2. Since v0.15, Kueue ignores the queue-name annotation. Default: `False`.

    Returns:
        The Workload, with the name that Kueue generates. The name depends on the job's UID; a missing UID counts as
        empty.

    Raises:
        InvalidSpecError: A field is invalid, or the manifest does not yield exactly one Workload, such as a Deployment.
        NotFoundError: A priority class, or an object that the job refers to, is missing.
        UnsupportedError: Kueue does not support the kind.
    """
    classes = tuple(priority_classes)
    cluster = JobCluster.of(config, classes, related)
    new = cluster.defaulted(created(checked_manifest(manifest), config, queue_name_annotation=queue_name_annotation))
    found = _held(new, config, cluster.related)
    if len(found) != 1:
        name = adapter_for(new, config=config).owner
        hint = "use to_workloads" if found else "it is nothing that Kueue manages"
        raise InvalidSpecError(f"{name}: makes {len(found)} Workloads; it must make one here: {hint}")
    return _workload(found[0], classes, config)


@checked
def to_workloads(
    manifests: Iterable[Document],
    *,
    priority_classes: Iterable[AnyPriorityClass] = (),
    config: Configuration = _PLAIN,
    related: Iterable[Document] = (),
    queue_name_annotation: bool = False,
    namespaces: Iterable[Namespace] = (),
    local_queues: Iterable[LocalQueue] = (),
) -> tuple[Workload, ...]:
    """Return the Workloads of all jobs that Kueue manages, in the order of the jobs.

    The pods of a group yield one Workload. A Deployment yields one Workload per pod, and a LeaderWorkerSet one per
    replica. A job yields no Workload in these cases: it has no queue name, unless `config` makes Kueue manage all jobs;
    its namespace is not selected; or one of its owners has a Workload. For a job without a Workload, `unmanaged`
    returns the reason.

    >>> template = {"spec": {"containers": []}}
    >>> metadata = {"name": "a", "labels": {"kueue.x-k8s.io/queue-name": "training"}}
    >>> job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": {"template": template}}
    >>> [workload.queue_name for workload in to_workloads([job, job | {"metadata": {"name": "b"}}])]
    ['training']

    Args:
        manifests: Manifests of jobs, and lists of manifests, in any order.
        priority_classes: The WorkloadPriorityClasses and PriorityClasses of the cluster.
        config: The Configuration, for its feature gates and its policy for jobs without a queue name.
        related: Manifests of other objects that the jobs refer to, or that own the jobs.
        queue_name_annotation: Whether a queue-name annotation is used if the label is absent, as for `to_workload`.
        namespaces: The namespaces with their labels.
        local_queues: The LocalQueues. A LocalQueue named `default` gets the jobs in its namespace that have no queue
            name.

    Returns:
        The Workloads.

    Raises:
        InvalidSpecError: A field is invalid.
        NotFoundError: A priority class, or an object that a job refers to, is missing.
        UnsupportedError: Kueue does not support a kind.
    """
    cluster = JobCluster.of(config, priority_classes, related, namespaces, local_queues)
    found = conversions(manifests, cluster, queue_name_annotation=queue_name_annotation)
    return tuple(made.workload for made in found)


def conversions(
    manifests: Iterable[Document], cluster: JobCluster, *, queue_name_annotation: bool = False
) -> Iterator[Made]:
    """Iterate over the Workloads that `to_workloads` returns, with their jobs."""
    managed = []
    for given, item in new_jobs(manifests, cluster, queue_name_annotation=queue_name_annotation):
        with about(given):
            managed += [(given, job) for job in cluster.managed(item)]
    for given, item in _grouped(managed, cluster.config):
        with about(given):
            made = [
                (job, _workload(job, cluster.classes, cluster.config), job.finished())
                for job in _held(item, cluster.config, cluster.related)
            ]
        for job, workload, outcome in made:
            starts = item if job.manifest.get("kind") == item.get("kind") else job.manifest
            yield Made(given, starts, workload, cluster, outcome)


@checked
def unmanaged(
    manifests: Iterable[Document],
    *,
    config: Configuration = _PLAIN,
    related: Iterable[Document] = (),
    namespaces: Iterable[Namespace] = (),
    local_queues: Iterable[LocalQueue] = (),
) -> Iterator[tuple[Document, Unmanaged]]:
    """Iterate over the jobs for which `to_workloads` returns no Workload, with the reasons.

    The annotation for the queue name, which older releases read, is not read. Errors are those of `to_workloads`; those
    about owners are raised during the iteration.

    >>> template = {"spec": {"containers": []}}
    >>> job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "a"}, "spec": {"template": template}}
    >>> [reason.name for _, reason in unmanaged([job])]
    ['QUEUE']

    Args:
        manifests: Manifests of jobs, and lists of manifests, in any order.
        config: The Configuration.
        related: Manifests of other objects that the jobs refer to, or that own the jobs.
        namespaces: The namespaces with their labels.
        local_queues: The LocalQueues.

    Yields:
        The manifest of a job, and the reason why it gets no Workload.
    """
    cluster = JobCluster.of(config, (), related, namespaces, local_queues)
    new = new_jobs(manifests, cluster, queue_name_annotation=False)
    reasons = ((item, cluster.why_unmanaged(item)) for _, item in new)
    return ((item, why) for item, why in reasons if why is not None)


def _held(manifest: Document, config: Configuration, related: tuple[Document, ...]) -> list[Job]:
    """Return the jobs that get a Workload, after suspension and validation by Kueue's webhooks."""
    new = adapter_for(manifest, config=config, related=related)
    # The webhook changes a job before Kueue reads it.
    held = adapter_for(new.suspended(), config=config, related=related)
    held.validate()
    jobs = list(held.jobs())
    for job in jobs:
        # A job of another kind, such as a pod of a Deployment, has a webhook of its own.
        if type(job) is not type(held):
            job.validate()
    return jobs


def _workload(job: Job, classes: tuple[AnyPriorityClass, ...], config: Configuration) -> Workload:
    metadata = job.metadata
    labels, annotations = metadata.get("labels", {}), metadata.get("annotations", {})
    pod_sets = job.pod_sets()
    if not 1 <= len(pod_sets) <= MAX_POD_SETS:
        raise InvalidSpecError(f"{job.owner}: has {len(pod_sets)} pod sets; it must have 1 to {MAX_POD_SETS}")
    priority = resolve_priority(
        labels.get(keys.PRIORITY_CLASS, ""), pod_sets, classes, own_class=job.priority_class(), owner=job.owner
    )
    return Workload(
        job.workload_name(),
        namespace=metadata.get("namespace", "default"),
        labels=job.workload_labels(),
        annotations=_passed_on(annotations, config) | job.workload_annotations(),
        creation_timestamp=_time(job.owner, metadata.get("creationTimestamp")),
        queue_name=job.queue_name(),
        pod_sets=pod_sets,
        priority=priority.value,
        priority_class_ref=priority.ref,
        maximum_execution_time_seconds=checks.max_execution_time(labels),
    )


def _passed_on(annotations: Document, config: Configuration) -> dict[str, str]:
    """Return the annotations that a Workload copies from its job."""
    passed = {key: value for key, value in annotations.items() if key.startswith(keys.PROVISIONING_REQUEST_PREFIX)}
    gated_by = annotations.get(keys.ADMISSION_GATED_BY, "") if config.enabled("AdmissionGatedBy") else ""
    return passed | ({keys.ADMISSION_GATED_BY: gated_by} if gated_by else {})


def _grouped(jobs: Iterable[tuple[Document, Document]], config: Configuration) -> Iterable[tuple[Document, Document]]:
    """Combine the pods of each group into one list, at the position of the first pod.

    Manifests of other jobs do not change.
    """
    result: dict[tuple[str, ...], tuple[Document, Document]] = {}
    for number, (given, manifest) in enumerate(jobs):
        with about(given):
            pod = Pod(manifest, config=config) if manifest.get("kind") == "Pod" else None
            group_name = pod.group_name if pod is not None else ""
        if pod is None or not group_name:
            result[str(number),] = given, manifest
            continue
        empty: Document = {"apiVersion": "v1", "kind": "List", "items": []}
        _, group = result.setdefault((pod.namespace, group_name), (given, empty))
        group["items"].append(manifest)
    return result.values()


def _time(owner: str, time: object) -> Timestamp | None:
    if time is None:
        return None
    parsed = parse_time(str(time))
    if parsed is None:
        raise InvalidSpecError(
            f'{owner}: metadata.creationTimestamp: is "{time}"; it must be a time such as 2024-05-01T12:00:00Z'
        ).at("metadata", "creationTimestamp")
    return Timestamp.of(parsed)
