"""From the manifests of jobs to the Workloads that Kueue makes for them.

Mirrors `pkg/controller/jobframework/reconciler.go:ConstructWorkload,prepareWorkload` and
`utils.go:NewWorkload`, for jobs as Kueue's webhooks leave them.
"""

from collections.abc import Iterable, Iterator

from kueuepy.errors import InvalidSpecError, about
from kueuepy.errors.arguments import checked
from kueuepy.jobs import checks, keys
from kueuepy.jobs.base import MAX_POD_SETS
from kueuepy.jobs.cluster import JobCluster, checked_manifest, created, new_jobs
from kueuepy.jobs.fields import Document
from kueuepy.jobs.integrations.pod import Pod
from kueuepy.jobs.job import Job
from kueuepy.jobs.ownership import Unmanaged
from kueuepy.jobs.priority import AnyPriorityClass, resolve_priority
from kueuepy.jobs.registry import adapter_for
from kueuepy.objects import Configuration, LocalQueue, Namespace, Workload
from kueuepy.objects.times import Timestamp, parse_time

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
    """The Workload that Kueue makes for a job.

    The job is taken as its user writes it, and goes through what Kueue's webhooks change and refuse. Of the defaults
    that an API server fills in only those are that make a difference to counts. That the job has a queue name is not
    asked; a Workload without one is never admitted.

    Args:
        manifest: The job; the pods of a group are given together, as a manifest of kind List.
        priority_classes: The cluster's WorkloadPriorityClasses and PriorityClasses.
        config: The Configuration, for its feature gates and its policy for jobs without a queue name.
        related: Manifests that the job refers to, such as the runtime of a TrainJob.
        queue_name_annotation: Whether an annotation with the key of the queue name's label counts where the label is
            absent, as it did in Kueue's first versions (API v1alpha2). Kueue ignores it since v0.15.

    Returns:
        The Workload, named as Kueue names it for a job with this uid, or none.

    Raises:
        InvalidSpecError: A field is wrong; or the manifest makes no Workload, or several, as a Deployment does.
        NotFoundError: A priority class, or an object that the job refers to, is not given.
        UnsupportedError: Kueue doesn't know the kind.
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
    """The Workloads of all the jobs that Kueue manages, in the order of the jobs.

    Pods of one group make one Workload, a Deployment one for each pod, a LeaderWorkerSet one for each replica. A job
    makes none if it has no queue name, unless `config` says that all are managed; if its namespace is not selected;
    or if an owner of it has a Workload.

    Args:
        manifests: The jobs, and the lists of them, in any order.
        priority_classes: The cluster's WorkloadPriorityClasses and PriorityClasses.
        config: The Configuration, for its feature gates and its policy for jobs without a queue name.
        related: Manifests of other objects, to which jobs refer or which own them.
        queue_name_annotation: As in `to_workload`.
        namespaces: The namespaces with their labels.
        local_queues: The LocalQueues; one named `default` takes the jobs of its namespace that name none.

    Raises:
        InvalidSpecError: A field is wrong.
        NotFoundError: A priority class, or an object that a job refers to, is not given.
        UnsupportedError: Kueue doesn't know a kind.
    """
    found = with_manifests(
        manifests,
        priority_classes=priority_classes,
        config=config,
        related=related,
        queue_name_annotation=queue_name_annotation,
        namespaces=namespaces,
        local_queues=local_queues,
    )
    return tuple(workload for _, workload in found)


def with_manifests(
    manifests: Iterable[Document],
    *,
    priority_classes: Iterable[AnyPriorityClass],
    config: Configuration,
    related: Iterable[Document],
    queue_name_annotation: bool = False,
    namespaces: Iterable[Namespace],
    local_queues: Iterable[LocalQueue],
) -> Iterator[tuple[Document, Workload]]:
    """Return what `to_workloads` returns, each Workload after the manifest that it starts, with its defaults.

    The pods of a group are one manifest of kind List. A CronJob is replaced by the Job that it makes, a Deployment by
    each of its Pods.
    """
    cluster = JobCluster.of(config, priority_classes, related, namespaces, local_queues)
    managed = []
    for given, item in new_jobs(manifests, cluster, queue_name_annotation=queue_name_annotation):
        with about(given):
            managed += [(given, job) for job in cluster.managed(item)]
    for given, item in _grouped(managed, config):
        with about(given):
            made = [(job, _workload(job, cluster.classes, config)) for job in _held(item, config, cluster.related)]
        for job, workload in made:
            yield item if job.manifest.get("kind") == item.get("kind") else job.manifest, workload


@checked
def unmanaged(
    manifests: Iterable[Document],
    *,
    config: Configuration = _NO_CONFIGURATION,
    related: Iterable[Document] = (),
    namespaces: Iterable[Namespace] = (),
    local_queues: Iterable[LocalQueue] = (),
) -> Iterator[tuple[Document, Unmanaged]]:
    """Return the jobs of which `to_workloads` makes nothing, each with the reason.

    Arguments and errors are those of `to_workloads`.
    """
    cluster = JobCluster.of(config, (), related, namespaces, local_queues)
    new = new_jobs(manifests, cluster, queue_name_annotation=False)
    reasons = ((item, cluster.why_unmanaged(item)) for _, item in new)
    return ((item, why) for item, why in reasons if why is not None)


def _held(manifest: Document, config: Configuration, related: tuple[Document, ...]) -> list[Job]:
    """Return the jobs that get a Workload, suspended and accepted by Kueue's webhooks."""
    new = adapter_for(manifest, config=config, related=related)
    held = adapter_for(new.suspended(), config=config, related=related)
    held.validate()
    jobs = list(held.jobs())
    for job in jobs:
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
    """The annotations of a job that its Workload gets."""
    passed = {key: value for key, value in annotations.items() if key.startswith(keys.PROVISIONING_REQUEST_PREFIX)}
    gated_by = annotations.get(keys.ADMISSION_GATED_BY, "") if config.enabled("AdmissionGatedBy") else ""
    return passed | ({keys.ADMISSION_GATED_BY: gated_by} if gated_by else {})


def _grouped(jobs: Iterable[tuple[Document, Document]], config: Configuration) -> Iterable[tuple[Document, Document]]:
    """The manifests, with the pods of each group in one list, at the place of the first of them."""
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
    """Return a time of a manifest."""
    if time is None:
        return None
    parsed = parse_time(str(time))
    if parsed is None:
        raise InvalidSpecError(
            f'{owner}: metadata.creationTimestamp: is "{time}"; it must be a time such as 2024-05-01T12:00:00Z'
        ).at("metadata", "creationTimestamp")
    return Timestamp.of(parsed)
