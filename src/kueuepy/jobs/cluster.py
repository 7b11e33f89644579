"""Objects of a cluster that determine whether and how Kueue manages a job, and defaults for new jobs.

Source: `pkg/controller/jobframework/integrationmanager.go:isKnownOwner,getJobTypeForOwner`,
`reconciler.go:FindAncestorJobManagedByKueue,ReconcileGenericJob`, `utils.go:WorkloadShouldBeSuspended`, `defaults.go`,
and for pods `pkg/controller/jobs/pod/pod_webhook.go:Default` and `pod_controller.go:Skip`.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum

from kueuepy.errors import InvalidSpecError, NotFoundError, about
from kueuepy.jobs import keys
from kueuepy.jobs.base import BaseJob
from kueuepy.jobs.checks import check_metadata
from kueuepy.jobs.integrations.serving import Deployment, is_held_by_another
from kueuepy.jobs.priority import DEFAULT_CLASS, AnyPriorityClass, has_default_class
from kueuepy.jobs.registry import adapter_for, is_known
from kueuepy.jobs.template import Document
from kueuepy.jobs.template import manifests as given_manifests
from kueuepy.manifest import DEFAULT_QUEUE, FRAMEWORKS, PODS_BY, Manifest, framework_of, part, with_queue_label
from kueuepy.objects import NAMESPACE_NAME_LABEL, Configuration, LocalQueue, Namespace

# `managedOwnersChainLimit` in `pkg/controller/jobframework/reconciler.go`.
_LIMIT = 10
# Not a kind of job, but the link between a Pod and its Deployment.
_REPLICA_SET = ("apps/v1", "ReplicaSet")
# Kinds that this library reads, but for which Kueue has no integration.
_UNMANAGED = {("v1", "List"), ("batch/v1", "CronJob")}
# Kinds whose reconcilers manage objects with a queue name in every namespace.
_IN_ANY_NAMESPACE = ("LeaderWorkerSet", "StatefulSet")


class Unmanaged(Enum):
    """Reason why a job gets no Workload of its own.

    >>> template = {"spec": {"containers": []}}
    >>> job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "a"}, "spec": {"template": template}}
    >>> JobCluster.of(Configuration()).why_unmanaged(job).name
    'QUEUE'

    Attributes:
        NAMESPACE: `managedJobsNamespaceSelector` does not select the namespace of the job.
        OWNER: An owner of the job has a Workload, which covers all objects of that owner.
        QUEUE: The job has no queue name, and Kueue does not manage jobs without a queue name
            (`manageJobsWithoutQueueName`).
        MARK: The job is a pod that its owner marked as suspended, but it lacks the label for pods managed by Kueue.
        DELETED: The job is being deleted.
        FRAMEWORK: The kind of the job is not one of the managed kinds in the Configuration.
        GATE: Kueue supports the kind only if a feature gate is on, and the gate is off
            (`pkg/controller/jobs/sparkapplication`).
    """

    NAMESPACE = "its namespace is not selected by managedJobsNamespaceSelector"
    OWNER = "an owner of it has a Workload"
    QUEUE = f"it has no label {keys.QUEUE_NAME}"
    MARK = f"it has the annotation {keys.SUSPENDING_PARENT} without the label {keys.MANAGED}"
    DELETED = "it is being deleted"
    FRAMEWORK = "its kind is not among integrations.frameworks of the Configuration"
    GATE = "the feature gate of its kind, SparkApplicationIntegration, is off"


@dataclass
class JobCluster:
    """Objects of a cluster that determine whether and how Kueue manages a job.

    Attributes:
        config: The Configuration.
        classes: WorkloadPriorityClasses and PriorityClasses.
        related: Manifests of objects that the jobs refer to, or that own the jobs.
        namespaces: Namespaces with their labels. A namespace that is not included is assumed to have only the label
            with its name.
        default_queues: Names of the namespaces with a LocalQueue named `default`.
        owners: The manifests that may own jobs, by the identity that owner references contain.
    """

    config: Configuration
    classes: tuple[AnyPriorityClass, ...]
    related: tuple[Document, ...]
    namespaces: tuple[Namespace, ...]
    default_queues: frozenset[str]
    owners: dict[tuple[str, ...], Document] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        config: Configuration,
        classes: Iterable[AnyPriorityClass] = (),
        related: Iterable[Document] = (),
        namespaces: Iterable[Namespace] = (),
        local_queues: Iterable[LocalQueue] = (),
    ) -> "JobCluster":
        """Create an instance from the objects of a cluster."""
        defaults = frozenset(queue.namespace for queue in local_queues if queue.name == DEFAULT_QUEUE)
        return cls(config, tuple(classes), given_manifests(related), tuple(namespaces), defaults)

    @classmethod
    def of_manifest(cls, manifest: Manifest, config: Configuration | None) -> "JobCluster":
        """Create an instance from the objects of a manifest, and a Configuration instead of the one in it."""
        classes: tuple[AnyPriorityClass, ...] = (*manifest.workload_priority_classes, *manifest.priority_classes)
        return cls.of(config or Configuration(), classes, manifest.others, manifest.namespaces, manifest.local_queues)

    def own(self, manifests: Iterable[Document]) -> "JobCluster":
        """Add manifests that may own jobs, and return the instance. Of several for one object, the last one counts."""
        self.owners.update((_key(manifest), manifest) for manifest in manifests)
        return self

    def defaulted(self, manifest: Document) -> Document:
        """Return a new job, or a list of jobs, with the default queue and the default priority class.

        A job that already names a queue and a priority class does not change. A job whose owner is of a managed kind
        gets no default queue and no default priority class. A pod whose owner is of a managed kind still gets the
        default queue. A pod or StatefulSet that another object has marked as suspended gets neither.
        """
        kind = manifest.get("kind")
        if kind == "List":
            return manifest | {"items": [self.defaulted(item) for item in _items(manifest)]}
        is_marked = kind == "Pod" and _annotation(manifest, keys.SUSPENDING_PARENT) is not None
        # The parent of such a pod gets the defaults, and the pod inherits them.
        if is_marked or (kind == "StatefulSet" and is_held_by_another(manifest)) or not self.enables(manifest):
            return manifest
        reference = _controller(manifest)
        is_owned = reference is not None and self._manages_kind(_kind(reference))
        has_queue = _namespace(manifest) in self.default_queues and self.selects(manifest)
        if has_queue and kind == "Pod":  # the search for owners is left to the kinds that need it
            has_queue = self.ancestor(manifest) is None
        added = {}
        if has_queue and not _label(manifest, keys.QUEUE_NAME) and (kind == "Pod" or not is_owned):
            added[keys.QUEUE_NAME] = DEFAULT_QUEUE
        has_class = is_owned or _label(manifest, keys.PRIORITY_CLASS)
        if self.config.enabled("WorkloadPriorityClassDefaulting") and not has_class and has_default_class(self.classes):
            added[keys.PRIORITY_CLASS] = DEFAULT_CLASS
        if not added:
            return manifest
        metadata = part(manifest, "metadata")
        return manifest | {"metadata": {**metadata, "labels": {**(metadata.get("labels") or {}), **added}}}

    def why_unmanaged(self, manifest: Document) -> Unmanaged | None:
        """Return the reason why a job gets no Workload of its own; `None` if it gets one.

        A Deployment never gets a Workload of its own. For a Deployment, return the reason for its pods.

        Raises:
            NotFoundError: An owner that could be managed is not in `owners`.
            InvalidSpecError: The owner references form a cycle, or the chain of owners is too long.
        """
        pod = self._pod_of(manifest)
        job = manifest if pod is None else pod
        kind = job.get("kind")
        if not self.enables(job):
            return Unmanaged.FRAMEWORK
        if kind == "SparkApplication" and not self.config.enabled("SparkApplicationIntegration"):
            return Unmanaged.GATE
        has_queue = bool(_label(job, keys.QUEUE_NAME))
        always = self.config.enabled("ManagedJobsNamespaceSelectorAlwaysRespected") or kind == "Pod"
        is_exempt = has_queue and (kind in _IN_ANY_NAMESPACE or not always)
        if not (self.selects(job) or is_exempt):
            return Unmanaged.NAMESPACE
        if _is_deleted(job):
            return Unmanaged.DELETED
        if kind == "Pod":
            reason = self._why_pod_unmanaged(job)
        else:
            reason = None if self.ancestor(job) is None else Unmanaged.OWNER
        if reason is None and not (has_queue or self.config.manage_jobs_without_queue_name):
            reason = Unmanaged.QUEUE
        return reason

    def _why_pod_unmanaged(self, pod: Document) -> Unmanaged | None:
        """Return the reason why Kueue ignores a pod regardless of its queue name; `None` if there is none."""
        is_marked = _label(pod, keys.MANAGED) == "true"
        parent = _annotation(pod, keys.SUSPENDING_PARENT)
        if not (parent or self.enables(pod, implied=False)):
            return Unmanaged.FRAMEWORK
        if parent is not None:
            return None if is_marked else Unmanaged.MARK
        return None if is_marked or self.ancestor(pod) is None else Unmanaged.OWNER

    def managed(self, manifest: Document) -> list[Document]:
        """Return the job in a list, or an empty list if it gets no Workload.

        For a Deployment, return the pods that get a Workload.

        A job without a Workload is still validated by Kueue's webhooks.
        """
        why = self.why_unmanaged(manifest)
        pod = self._pod_of(manifest)
        if why is not None or pod is not None:
            self._check_unmanaged(manifest)
        if why is not None:
            return []
        return [manifest] if pod is None else _replicas(manifest, pod, self.config)

    def ancestor(self, manifest: Document) -> Document | None:
        """Return the topmost owner of a job that Kueue manages; `None` if no owner is managed.

        An owner is managed if its kind is managed, and if the owner has a queue name or Kueue manages all jobs. The
        search ends at an owner of a kind without an integration in Kueue, or at an owner whose UID differs from the UID
        in the reference.

        Raises:
            NotFoundError: An owner of a supported kind is not in `owners`.
            InvalidSpecError: The owner references form a cycle, or the chain of owners is too long.
        """
        current, topmost = manifest, None
        seen: list[tuple[str, ...]] = []
        while True:
            if _key(current) in seen:
                raise InvalidSpecError(
                    f"{_describe(manifest)}: metadata.ownerReferences: go in a circle; they must end"
                )
            seen.append(_key(current))
            reference = _controller(current)
            if reference is None or not _is_known_owner(reference):
                return topmost
            kind = _kind(reference)
            # An owner is in the namespace of the object that it owns.
            key = (*kind, _namespace(manifest), str(reference.get("name")))
            owner = self.owners.get(key)
            if owner is None:
                raise NotFoundError(
                    f'{_describe(current)}: metadata.ownerReferences: "{key[-1]}" names no {kind[1]}; it must be given'
                )
            # An object of the same name that was created later is not the owner.
            if part(owner, "metadata").get("uid") != reference.get("uid"):
                return topmost
            is_queued = self.config.manage_jobs_without_queue_name or _label(owner, keys.QUEUE_NAME)
            if self._manages_kind(kind) and is_queued:
                topmost = owner
            current = owner
            if len(seen) > _LIMIT:
                raise InvalidSpecError(
                    f"{_describe(manifest)}: metadata.ownerReferences: go up more than {_LIMIT} levels; "
                    "that is too deep"
                )

    def selects(self, manifest: Document) -> bool:
        """Return whether `managedJobsNamespaceSelector` selects the namespace of a job."""
        name = _namespace(manifest)
        labels = next((namespace.labels for namespace in self.namespaces if namespace.name == name), {})
        return self.config.managed_jobs_namespace_selector.matches({NAMESPACE_NAME_LABEL: name} | labels)

    def enables(self, manifest: Document, *, implied: bool = True) -> bool:
        """Return whether a kind is managed. Custom kinds are always managed.

        With `implied`, pods also count as managed if any kind that creates pods is managed, because Kueue then enables
        its pod integration implicitly.

        Source: `pkg/controller/jobframework/setup.go:setupControllers`, `collectImplicitlyEnabledIntegrations`.
        """
        enabled = self.config.frameworks
        if enabled is None:
            return True
        framework = framework_of(str(manifest.get("apiVersion")), str(manifest.get("kind")))
        is_implied = implied and framework == "pod" and any(name in enabled for name in PODS_BY)
        return framework in enabled or is_implied or framework not in FRAMEWORKS

    def _manages_kind(self, kind: tuple[str, str]) -> bool:
        return _is_known_kind(kind) and self.enables({"apiVersion": kind[0], "kind": kind[1]})

    def _check_unmanaged(self, manifest: Document) -> None:
        """Apply the validation rules of Kueue's webhooks to a job without a Workload.

        The webhooks validate new jobs of managed kinds in managed namespaces. Objects that the job refers to may be
        missing.
        """
        is_seen = self.enables(manifest) and self.selects(manifest)
        job = adapter_for(manifest, config=self.config, related=self.related) if is_seen else None
        if isinstance(job, BaseJob) and not job.is_stored:
            with suppress(NotFoundError):
                job.validate()

    def _pod_of(self, manifest: Document) -> Document | None:
        """Return the first pod of a Deployment, with its owners.

        Kueue's webhooks are applied, but no scheduling gates are added.

        Return `None` if the manifest is not a Deployment, or if the Deployment has no replicas.
        """
        if manifest.get("kind") != "Deployment":
            return None
        job = adapter_for(manifest, config=self.config)
        if not (isinstance(job, Deployment) and job.root.section("spec").count("replicas", 1)):
            return None
        # The webhook marks the template of a managed Deployment, so its pods are created with the marks.
        template = Deployment(job.suspended(), config=self.config) if self._suspends(manifest) else job
        replica_set = {
            "apiVersion": "apps/v1",
            "kind": "ReplicaSet",
            # Any UID that the reference of the pod has as well: only `ancestor` reads it.
            "metadata": {"name": job.name, "namespace": job.namespace, "uid": f"{job.uid}-replicas"},
        }
        self.own((manifest, _owned(replica_set, manifest)))
        return self.defaulted(_owned(next(template.pods()), replica_set))

    def _suspends(self, manifest: Document) -> bool:
        """Return whether Kueue's webhook suspends a new job. This function does not support pods.

        Source: `pkg/controller/jobframework/utils.go:WorkloadShouldBeSuspended`.
        """
        if not self.enables(manifest) or self.ancestor(manifest) is not None:
            return False
        manages_all = self.config.manage_jobs_without_queue_name and self.selects(manifest)
        return bool(_label(manifest, keys.QUEUE_NAME)) or manages_all


def _owned(manifest: Document, owner: Document) -> Document:
    """Return a manifest with an owner reference to its controller."""
    metadata = owner["metadata"]
    reference = {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": metadata.get("name"),
        "uid": metadata.get("uid"),
        "controller": True,
    }
    return {**manifest, "metadata": {**manifest["metadata"], "ownerReferences": [reference]}}


def _replicas(manifest: Document, pod: Document, config: Configuration) -> list[Document]:
    """Return the pods of a Deployment, which differ only in their names."""
    # The ReplicaSet is made up here, so that a reader of the pods would not find it.
    metadata = {key: value for key, value in pod["metadata"].items() if key != "ownerReferences"}
    names = (made["metadata"]["name"] for made in Deployment(manifest, config=config).pods())
    return [{**pod, "metadata": {**metadata, "name": name}} for name in names]


def new_jobs(
    manifests: Iterable[Document], cluster: JobCluster, *, queue_name_annotation: bool
) -> list[tuple[Document, Document]]:
    """Return pairs of a job's original manifest and its manifest with defaults; lists of jobs are expanded.

    The defaults of pods depend on the defaults of their owners.
    """
    new = []
    for manifest in manifests:
        with about(manifest):
            items = list(_items(manifest))
        for item in items:
            with about(item):
                made = created(item, cluster.config, queue_name_annotation=queue_name_annotation)
                new.append((item, made if made.get("kind") == "Pod" else cluster.defaulted(made)))
    # Pods are last, because the defaults of their owners decide whether an owner is managed.
    cluster.owners.clear()
    cluster.own((*cluster.related, *(made for _, made in new)))
    for position, (item, made) in enumerate(new):
        if made.get("kind") == "Pod":
            with about(item):
                new[position] = item, cluster.defaulted(made)
    return new


def created(manifest: Document, config: Configuration, *, queue_name_annotation: bool) -> Document:
    """Return the manifest with its queue-name label. A CronJob is replaced by the Job that it creates."""
    if manifest.get("kind") == "List":
        items = [created(item, config, queue_name_annotation=queue_name_annotation) for item in _items(manifest)]
        return manifest | {"items": items}
    if manifest.get("kind") == "CronJob":
        manifest = checked_manifest(adapter_for(manifest, config=config).jobs()[0].manifest)
    return with_queue_label(manifest) if queue_name_annotation else manifest


def checked_manifest(manifest: Document) -> Document:
    """Check the types of the fields in a manifest's metadata; for a List, check that `items` is a list.

    Raises:
        InvalidSpecError: A field has a wrong type.
    """
    if not isinstance(manifest, dict):
        raise InvalidSpecError(f"{manifest!r:.99} is not a manifest; it must be an object with kind and metadata")
    if manifest.get("kind") != "List":
        check_metadata(manifest)
    elif not isinstance(manifest.get("items") or [], list | tuple):
        raise InvalidSpecError(f"List: items: is {manifest['items']!r:.99}; it must be a list")
    return manifest


def _items(manifest: Document) -> Iterator[Document]:
    """Iterate over the items of a List, or over the manifest itself if it is not a List.

    Raises:
        InvalidSpecError: An item is not a manifest.
    """
    if checked_manifest(manifest).get("kind") != "List":
        yield manifest
        return
    for item in manifest.get("items") or ():
        yield from _items(item)


def _is_deleted(manifest: Document) -> bool:
    """Return whether a job is being deleted. The result is always `False` for a pod that belongs to a group."""
    is_member = manifest.get("kind") == "Pod" and (
        _label(manifest, keys.POD_GROUP_NAME) or _annotation(manifest, keys.POD_GROUP_NAME)
    )
    is_deleted = bool(part(manifest, "metadata").get("deletionTimestamp"))
    return is_deleted and not is_member and manifest.get("kind") not in _IN_ANY_NAMESPACE


def _is_known_owner(reference: Document) -> bool:
    # A Pod of a Deployment is owned by a ReplicaSet.
    kind = _kind(reference)
    return _is_known_kind(kind) or kind == _REPLICA_SET


def _kind(reference: Document) -> tuple[str, str]:
    return str(reference.get("apiVersion")), str(reference.get("kind"))


def _is_known_kind(kind: tuple[str, str]) -> bool:
    return is_known(*kind) and kind not in _UNMANAGED


def _controller(manifest: Document) -> Document | None:
    references = part(manifest, "metadata").get("ownerReferences")
    found = references if isinstance(references, list) else ()
    return next((one for one in found if isinstance(one, dict) and one.get("controller")), None)


def _label(manifest: Document, key: str) -> str:
    return str(part(manifest, "metadata", "labels").get(key) or "")


def _annotation(manifest: Document, key: str) -> str | None:
    value = part(manifest, "metadata", "annotations").get(key)
    return None if value is None else str(value)


def _namespace(manifest: Document) -> str:
    return str(part(manifest, "metadata").get("namespace") or "default")


def _key(manifest: Document) -> tuple[str, ...]:
    name = part(manifest, "metadata").get("name")
    return str(manifest.get("apiVersion")), str(manifest.get("kind")), _namespace(manifest), str(name)


def _describe(manifest: Document) -> str:
    return f'{manifest.get("kind")} "{_namespace(manifest)}/{part(manifest, "metadata").get("name")}"'
