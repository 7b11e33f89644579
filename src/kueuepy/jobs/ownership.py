"""Rules for which jobs Kueue manages, and which of their owners has the Workload.

Source: `pkg/controller/jobframework/integrationmanager.go:isKnownOwner,getJobTypeForOwner`,
`reconciler.go:FindAncestorJobManagedByKueue,ReconcileGenericJob`, `utils.go:WorkloadShouldBeSuspended`, `defaults.go`,
and for pods `pkg/controller/jobs/pod/pod_webhook.go:Default` and `pod_controller.go:Skip`.
"""

from collections.abc import Iterable
from enum import Enum

from kueuepy.errors import InvalidSpecError, NotFoundError
from kueuepy.errors.arguments import checked
from kueuepy.jobs import keys
from kueuepy.jobs.fields import Document
from kueuepy.jobs.integrations.serving import is_held_by_another
from kueuepy.jobs.priority import DEFAULT_CLASS, AnyPriorityClass, has_default_class
from kueuepy.jobs.registry import is_known
from kueuepy.manifest.body import part
from kueuepy.manifest.jobkinds import DEFAULT_QUEUE, FRAMEWORKS, PODS_BY, framework_of
from kueuepy.objects import Configuration, Namespace
from kueuepy.objects.namespace import NAMESPACE_NAME_LABEL

_LIMIT = 10
_REPLICA_SET = ("apps/v1", "ReplicaSet")
_UNMANAGED = {("v1", "List"), ("batch/v1", "CronJob")}
"""Kinds that this library reads, but for which Kueue has no integration."""
_IN_ANY_NAMESPACE = ("LeaderWorkerSet", "StatefulSet")
"""Kinds whose reconcilers manage objects with a queue name in every namespace."""
_NO_CONFIGURATION = Configuration()


class Owners:
    """Index of manifests by the identity that owner references contain."""

    def __init__(self, manifests: Iterable[Document]) -> None:
        """Index the manifests. If several manifests describe the same object, the last manifest takes precedence."""
        self._by_key = {_key(manifest): manifest for manifest in manifests}

    def add(self, manifest: Document) -> None:
        """Add a manifest."""
        self._by_key[_key(manifest)] = manifest

    def find(self, key: tuple[str, ...]) -> Document | None:
        """Return the manifest of an object; `None` if it is unknown."""
        return self._by_key.get(key)


class Unmanaged(Enum):
    """Reason why a job gets no Workload of its own.

    >>> template = {"spec": {"containers": []}}
    >>> job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "a"}, "spec": {"template": template}}
    >>> why_unmanaged(job, config=Configuration()).name
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


@checked
def is_managed(
    manifest: Document,
    *,
    config: Configuration,
    owners: Iterable[Document] | Owners = (),
    namespaces: Iterable[Namespace] = (),
) -> bool:
    """Return whether a job gets a Workload of its own.

    A job gets a Workload if none of its owners has one, and if the job has a queue name or Kueue manages all jobs.

    >>> template = {"spec": {"containers": []}}
    >>> job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "a"}, "spec": {"template": template}}
    >>> is_managed(job, config=Configuration())
    False
    >>> is_managed(job, config=Configuration(manage_jobs_without_queue_name=True))
    True

    Args:
        manifest: The job.
        config: The Configuration, which determines whether jobs without a queue name are managed, and the namespaces in
            which jobs are managed.
        owners: Manifests of possible owners.
        namespaces: The namespaces with their labels. A namespace that is not included is assumed to have only the label
            with its name.

    Returns:
        Whether the job gets a Workload.

    Raises:
        NotFoundError: An owner that could be managed is not in `owners`.
        InvalidSpecError: The owner references form a cycle, or the chain of owners is too long.
    """
    return why_unmanaged(manifest, config=config, owners=owners, namespaces=namespaces) is None


def why_unmanaged(
    manifest: Document,
    *,
    config: Configuration,
    owners: Iterable[Document] | Owners = (),
    namespaces: Iterable[Namespace] = (),
) -> Unmanaged | None:
    """Return the reason why a job gets no Workload of its own; `None` if it gets one.

    Arguments and errors are the same as for `is_managed`. A Deployment never gets a Workload of its own. For a
    Deployment, return the reason why Kueue does not label its pods as managed; `None` if it labels them.
    """
    kind = manifest.get("kind")
    if not is_enabled(manifest, config):
        return Unmanaged.FRAMEWORK
    if kind == "SparkApplication" and not config.enabled("SparkApplicationIntegration"):
        return Unmanaged.GATE
    has_queue = bool(_label(manifest, keys.QUEUE_NAME))
    if not (selects(config, manifest, namespaces) or (has_queue and kind in _IN_ANY_NAMESPACE)):
        return Unmanaged.NAMESPACE
    if _is_deleted(manifest):
        return Unmanaged.DELETED
    if kind == "Pod":
        reason = _why_pod_unmanaged(manifest, config, owners)
    else:
        ancestor = find_ancestor(manifest, owners, all_jobs=config.manage_jobs_without_queue_name, config=config)
        reason = None if ancestor is None else Unmanaged.OWNER
    if reason is None and not (has_queue or config.manage_jobs_without_queue_name):
        reason = Unmanaged.QUEUE
    return reason


def _why_pod_unmanaged(pod: Document, config: Configuration, owners: Iterable[Document] | Owners) -> Unmanaged | None:
    """Return the reason why Kueue ignores a pod regardless of its queue name; `None` if there is none."""
    is_marked = _label(pod, keys.MANAGED) == "true"
    parent = _annotation(pod, keys.SUSPENDING_PARENT)
    if not (parent or is_enabled(pod, config, implied=False)):
        return Unmanaged.FRAMEWORK
    if parent is not None:
        return None if is_marked else Unmanaged.MARK
    if is_marked or find_ancestor(pod, owners, all_jobs=config.manage_jobs_without_queue_name, config=config) is None:
        return None
    return Unmanaged.OWNER


def should_suspend(
    manifest: Document,
    *,
    config: Configuration,
    owners: Iterable[Document] | Owners,
    namespaces: Iterable[Namespace] = (),
) -> bool:
    """Return whether Kueue's webhook suspends a new job. This function does not support pods.

    Errors are the same as for `is_managed`.

    Source: `pkg/controller/jobframework/utils.go:WorkloadShouldBeSuspended`.
    """
    if not is_enabled(manifest, config):
        return False
    if find_ancestor(manifest, owners, all_jobs=config.manage_jobs_without_queue_name, config=config) is not None:
        return False
    manages_all = config.manage_jobs_without_queue_name and selects(config, manifest, namespaces)
    return bool(_label(manifest, keys.QUEUE_NAME)) or manages_all


@checked
def find_ancestor(
    manifest: Document,
    owners: Iterable[Document] | Owners,
    *,
    all_jobs: bool = False,
    config: Configuration = _NO_CONFIGURATION,
) -> Document | None:
    """Return the topmost owner of a job that Kueue manages.

    An owner is managed if its kind is managed, and if the owner has a queue name or Kueue manages all jobs. The search
    ends at an owner of a kind without an integration in Kueue, or at an owner whose UID differs from the UID in the
    reference.

    >>> template = {"spec": {"containers": []}}
    >>> metadata = {"name": "set", "uid": "1", "labels": {"kueue.x-k8s.io/queue-name": "training"}}
    >>> jobset = {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": metadata, "spec": {}}
    >>> owner = {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "name": "set", "uid": "1"}
    >>> references = [owner | {"controller": True}]
    >>> job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "a", "ownerReferences": references}}
    >>> find_ancestor(job, [jobset])["kind"]
    'JobSet'

    Args:
        manifest: The job.
        owners: Manifests of possible owners.
        all_jobs: Whether Kueue manages jobs without a queue name. Default: `False`.
        config: The Configuration, which determines the managed kinds.

    Returns:
        The manifest of the owner, or `None` if no owner is managed.

    Raises:
        NotFoundError: An owner of a supported kind is not in `owners`.
        InvalidSpecError: The owner references form a cycle, or the chain of owners is too long.
    """
    known = owners if isinstance(owners, Owners) else Owners(owners)
    current, topmost = manifest, None
    seen: list[tuple[str, ...]] = []
    while True:
        if _key(current) in seen:
            raise InvalidSpecError(f"{_describe(manifest)}: metadata.ownerReferences: go in a circle; they must end")
        seen.append(_key(current))
        reference = _controller(current)
        if reference is None or not _is_known_owner(reference):
            return topmost
        kind = _kind(reference)
        key = (*kind, _namespace(manifest), str(reference.get("name")))
        owner = known.find(key)
        if owner is None:
            raise NotFoundError(
                f'{_describe(current)}: metadata.ownerReferences: "{key[-1]}" names no {kind[1]}; it must be given'
            )
        if part(owner, "metadata").get("uid") != reference.get("uid"):
            return topmost
        if _is_managed_kind(kind, config) and (all_jobs or _label(owner, keys.QUEUE_NAME)):
            topmost = owner
        current = owner
        if len(seen) > _LIMIT:
            raise InvalidSpecError(
                f"{_describe(manifest)}: metadata.ownerReferences: go up more than {_LIMIT} levels; that is too deep"
            )


@checked
def with_defaults(
    manifest: Document,
    *,
    has_default_queue: bool = False,
    classes: Iterable[AnyPriorityClass] = (),
    defaults_class: bool = True,
    config: Configuration = _NO_CONFIGURATION,
) -> Document:
    """Return the manifest of a new job with its default queue and default priority class.

    A job that already names a queue and a priority class does not change. A job whose owner is of a managed kind gets
    no default queue and no default priority class. A pod whose owner is of a managed kind still gets the default queue.
    A pod or StatefulSet that another object has marked as suspended gets neither a default queue nor a default priority
    class.

    >>> job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "a"}}
    >>> with_defaults(job, has_default_queue=True)["metadata"]["labels"]
    {'kueue.x-k8s.io/queue-name': 'default'}

    Args:
        manifest: The job.
        has_default_queue: Whether the namespace has a LocalQueue named `default` and its jobs are managed. For a pod,
            pass `True` only if none of its owners is managed. Default: `False`.
        classes: Priority classes of the cluster. The default priority class is the WorkloadPriorityClass named
            `default`.
        defaults_class: Whether the feature gate `WorkloadPriorityClassDefaulting` is on. Default: `True`.
        config: The Configuration, which determines the managed kinds.

    Returns:
        A changed copy, or the manifest itself if nothing changes.
    """
    added = {}
    reference = _controller(manifest)
    is_owned = reference is not None and _is_managed_kind(_kind(reference), config)
    kind = manifest.get("kind")
    is_marked = kind == "Pod" and _annotation(manifest, keys.SUSPENDING_PARENT) is not None
    if is_marked or (kind == "StatefulSet" and is_held_by_another(manifest)) or not is_enabled(manifest, config):
        return manifest
    if has_default_queue and not _label(manifest, keys.QUEUE_NAME) and (kind == "Pod" or not is_owned):
        added[keys.QUEUE_NAME] = DEFAULT_QUEUE
    has_class = is_owned or _label(manifest, keys.PRIORITY_CLASS)
    if defaults_class and not has_class and has_default_class(classes):
        added[keys.PRIORITY_CLASS] = DEFAULT_CLASS
    if not added:
        return manifest
    metadata = part(manifest, "metadata")
    return manifest | {"metadata": {**metadata, "labels": {**(metadata.get("labels") or {}), **added}}}


def selects(config: Configuration, manifest: Document, namespaces: Iterable[Namespace]) -> bool:
    """Return whether `managedJobsNamespaceSelector` selects the namespace of a job."""
    name = _namespace(manifest)
    labels = next((namespace.labels for namespace in namespaces if namespace.name == name), {})
    return config.managed_jobs_namespace_selector.matches({NAMESPACE_NAME_LABEL: name} | labels)


def is_enabled(manifest: Document, config: Configuration, *, implied: bool = True) -> bool:
    """Return whether a kind is managed. Custom kinds are always managed.

    With `implied`, pods also count as managed if any kind that creates pods is managed, because Kueue then enables its
    pod integration implicitly.

    Source: `pkg/controller/jobframework/setup.go:setupControllers`, `collectImplicitlyEnabledIntegrations`.
    """
    enabled = config.frameworks
    if enabled is None:
        return True
    framework = framework_of(str(manifest.get("apiVersion")), str(manifest.get("kind")))
    is_implied = implied and framework == "pod" and any(name in enabled for name in PODS_BY)
    return framework in enabled or is_implied or framework not in FRAMEWORKS


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


def _is_managed_kind(kind: tuple[str, str], config: Configuration) -> bool:
    return _is_known_kind(kind) and is_enabled({"apiVersion": kind[0], "kind": kind[1]}, config)


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
