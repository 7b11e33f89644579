"""Conversion of job manifests to the Workloads that Kueue creates for them.

Source: `pkg/controller/jobframework/reconciler.go:ConstructWorkload,prepareWorkload` and `utils.go:NewWorkload`;
Kueue's webhooks have already been applied to the jobs.
"""

from collections.abc import Iterable, Iterator

from kueuepy.errors import InvalidSpecError, about, checked
from kueuepy.jobs import checks, keys
from kueuepy.jobs.base import MAX_POD_SETS
from kueuepy.jobs.cluster import JobCluster, Unmanaged, checked_manifest, created, new_jobs
from kueuepy.jobs.fields import Document
from kueuepy.jobs.integrations.pod import Pod
from kueuepy.jobs.job import Job
from kueuepy.jobs.made import Made
from kueuepy.jobs.priority import AnyPriorityClass, resolve_priority
from kueuepy.jobs.registry import adapter_for
from kueuepy.objects import Configuration, LocalQueue, Namespace, Timestamp, Workload, parse_time

_NO_CONFIGURATION = Configuration()


@checked
def to_workload(
    manifest: Document,
    *,
    priority_classes: Iterable[AnyPriorityClass] = (),
    config: Configuration = _NO_CONFIGURATION,
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
    config: Configuration = _NO_CONFIGURATION,
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
    config: Configuration = _NO_CONFIGURATION,
    related: Iterable[Document] = (),
    namespaces: Iterable[Namespace] = (),
    local_queues: Iterable[LocalQueue] = (),
) -> Iterator[tuple[Document, Unmanaged]]:
    """Iterate over the jobs for which `to_workloads` returns no Workload, with the reasons.

    Arguments and errors are the same as for `to_workloads`.

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
