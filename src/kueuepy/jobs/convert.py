"""From the manifests of jobs to the Workloads that Kueue makes for them.

Mirrors `pkg/controller/jobframework/reconciler.go:ConstructWorkload,prepareWorkload` and
`utils.go:NewWorkload`, for jobs as Kueue's webhooks leave them.
"""

from collections.abc import Iterable, Iterator

from kueuepy.errors import InvalidSpecError, about
from kueuepy.errors.arguments import checked
from kueuepy.jobs import checks, keys
from kueuepy.jobs.fields import Document
from kueuepy.jobs.forms import check_metadata
from kueuepy.jobs.integrations.pod import Pod
from kueuepy.jobs.job import Job
from kueuepy.jobs.ownership import Owners, Unmanaged, is_managed, why_unmanaged, with_defaults
from kueuepy.jobs.priority import AnyPriorityClass, resolve_priority
from kueuepy.jobs.registry import adapter_for
from kueuepy.manifest.jobkinds import with_queue_label
from kueuepy.objects import Configuration, LocalQueue, Namespace, Workload
from kueuepy.objects.times import parse_time

_NO_CONFIGURATION = Configuration()
_DEFAULT_QUEUE = "default"


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
    new = _prepared(_checked(manifest), classes, config, queue_name_annotation=queue_name_annotation)
    found = _held(new, config, tuple(related))
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
    """What `to_workloads` makes: each Workload after the manifest, with the defaults that it gets, of what it starts.

    The pods of a group are one manifest of kind List; instead of a CronJob there is the Job that it makes, instead of
    a Deployment each of its Pods.
    """
    classes, others = tuple(priority_classes), tuple(related)
    new = _new(manifests, classes, config, local_queues, queue_name_annotation=queue_name_annotation)
    owners, known = Owners((*others, *(item for _, item in new))), tuple(namespaces)
    managed = []
    for given, item in new:
        with about(given):
            if is_managed(item, config=config, owners=owners, namespaces=known):
                managed.append((given, item))
    for given, item in _grouped(managed, config):
        with about(given):
            made = [(job, _workload(job, classes, config)) for job in _held(item, config, others)]
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
    """The jobs of which `to_workloads` makes nothing, each with the reason why; arguments and errors are the same."""
    new = _new(manifests, (), config, local_queues, queue_name_annotation=False)
    owners, known = Owners((*related, *(item for _, item in new))), tuple(namespaces)
    reasons = ((item, why_unmanaged(item, config=config, owners=owners, namespaces=known)) for _, item in new)
    return ((item, why) for item, why in reasons if why is not None)


def _new(
    manifests: Iterable[Document],
    classes: tuple[AnyPriorityClass, ...],
    config: Configuration,
    local_queues: Iterable[LocalQueue],
    *,
    queue_name_annotation: bool,
) -> list[tuple[Document, Document]]:
    """The jobs, those of lists one by one: each as it was given, and as Kueue's webhooks leave it."""
    defaults = {queue.namespace for queue in local_queues if queue.name == _DEFAULT_QUEUE}
    new = []
    for manifest in manifests:
        with about(manifest):
            items = list(_items(manifest))
        for item in items:
            with about(item):
                made = _prepared(item, classes, config, defaults, queue_name_annotation=queue_name_annotation)
            new.append((item, made))
    return new


def _prepared(
    manifest: Document,
    classes: tuple[AnyPriorityClass, ...],
    config: Configuration,
    default_queues: Iterable[str] = (),
    *,
    queue_name_annotation: bool,
) -> Document:
    """The manifest, or that of the Job that a CronJob makes, with the queue and the priority class that it gets."""
    if manifest.get("kind") == "List":
        items = [
            _prepared(item, classes, config, default_queues, queue_name_annotation=queue_name_annotation)
            for item in _items(manifest)
        ]
        return manifest | {"items": items}
    if manifest.get("kind") == "CronJob":
        manifest = adapter_for(manifest, config=config).jobs()[0].manifest
    if queue_name_annotation:
        manifest = with_queue_label(manifest)
    namespace = (manifest.get("metadata") or {}).get("namespace") or "default"
    return with_defaults(
        manifest,
        has_default_queue=namespace in default_queues,
        classes=classes,
        defaults_class=config.enabled("WorkloadPriorityClassDefaulting"),
    )


def _held(manifest: Document, config: Configuration, related: tuple[Document, ...]) -> list[Job]:
    """The jobs that get a Workload, held back and found to be right."""
    new = adapter_for(manifest, config=config, related=related)
    jobs = list(adapter_for(new.suspended(), config=config, related=related).jobs())
    for job in jobs:
        job.validate()
    return jobs


def _workload(job: Job, classes: tuple[AnyPriorityClass, ...], config: Configuration) -> Workload:
    metadata = job.metadata
    labels, annotations = metadata.get("labels", {}), metadata.get("annotations", {})
    pod_sets = job.pod_sets()
    priority = resolve_priority(
        labels.get(keys.PRIORITY_CLASS, ""), pod_sets, classes, own_class=job.priority_class(), owner=job.owner
    )
    return Workload(
        job.workload_name(),
        namespace=metadata.get("namespace", "default"),
        labels=job.workload_labels(),
        annotations=_passed_on(annotations, config) | job.workload_annotations(),
        creation_timestamp=_nanoseconds(job.owner, metadata.get("creationTimestamp")),
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


def _checked(manifest: Document) -> Document:
    if not isinstance(manifest, dict):
        raise InvalidSpecError(f"{manifest!r} is no manifest; it must be an object with kind and metadata")
    if manifest.get("kind") != "List":
        check_metadata(manifest)
    elif not isinstance(manifest.get("items") or [], list | tuple):
        raise InvalidSpecError(f"List: items: is {manifest['items']!r}; it must be a list")
    return manifest


def _items(manifest: Document) -> Iterator[Document]:
    """The manifest, or those in a list.

    Raises:
        InvalidSpecError: One is none.
    """
    if _checked(manifest).get("kind") != "List":
        yield manifest
        return
    for item in manifest.get("items") or ():
        yield from _items(item)


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


def _nanoseconds(owner: str, time: object) -> int | None:
    """A time of a manifest in nanoseconds since the Unix epoch."""
    if time is None:
        return None
    parsed = parse_time(str(time))
    if parsed is None:
        raise InvalidSpecError(
            f'{owner}: metadata.creationTimestamp: is "{time}"; it must be a time such as 2024-05-01T12:00:00Z'
        ).at("metadata", "creationTimestamp")
    return parsed
