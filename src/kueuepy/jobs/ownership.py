"""Which jobs Kueue manages, and on whose behalf.

Mirrors `pkg/controller/jobframework/integrationmanager.go:isKnownOwner`,
`reconciler.go:FindAncestorJobManagedByKueue,ReconcileGenericJob`, `utils.go:WorkloadShouldBeSuspended` and
`defaults.go`.
"""

from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Any

from kueuepy.errors import InvalidSpecError, NotFoundError
from kueuepy.errors.arguments import checked
from kueuepy.jobs import keys
from kueuepy.jobs.fields import Document
from kueuepy.jobs.priority import DEFAULT_CLASS, AnyPriorityClass, has_default_class
from kueuepy.jobs.registry import is_known
from kueuepy.manifest.jobkinds import FRAMEWORKS, PODS_BY, framework_of
from kueuepy.objects import Configuration, Namespace

_LIMIT = 10
_DEFAULT_QUEUE = "default"
_NAME_LABEL = "kubernetes.io/metadata.name"
_REPLICA_SET = ("apps/v1", "ReplicaSet")
_UNMANAGED = {("v1", "List"), ("batch/v1", "CronJob")}
"""Kinds that are read here, but that Kueue knows nothing of."""


class Owners:
    """Manifests by the names by which those that they own refer to them."""

    def __init__(self, manifests: Iterable[Document]) -> None:
        """Of two manifests of one object the later counts."""
        self._by_key = {_key(manifest): manifest for manifest in manifests}

    def find(self, key: tuple[str, ...]) -> Document | None:
        """The manifest of an object, or `None`."""
        return self._by_key.get(key)


class Unmanaged(Enum):
    """Why a job gets no Workload of its own.

    Attributes:
        NAMESPACE: `managedJobsNamespaceSelector` does not select its namespace.
        OWNER: An owner of it has a Workload, for all that it owns.
        QUEUE: It names no queue, and jobs without one are left alone (`manageJobsWithoutQueueName`).
        FRAMEWORK: The Configuration lists the kinds that are managed, and its own is not among them.
        GATE: Kueue knows its kind with a feature gate only, which is off (`pkg/controller/jobs/sparkapplication`).
    """

    NAMESPACE = "its namespace is not selected by managedJobsNamespaceSelector"
    OWNER = "an owner of it has a Workload"
    QUEUE = f"it has no label {keys.QUEUE_NAME}"
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
    """Whether a job gets a Workload of its own: it asks for a queue or all jobs are managed, and no owner has one.

    Args:
        manifest: The job.
        config: Says whether jobs without a queue name are managed, and in which namespaces any are.
        owners: The manifests among which the owners of jobs are.
        namespaces: The namespaces with their labels; one that is not given has only its name for a label.

    Raises:
        NotFoundError: An owner that could be managed is not among the owners.
        InvalidSpecError: Owners go in a circle, or too far up.
    """
    return why_unmanaged(manifest, config=config, owners=owners, namespaces=namespaces) is None


def why_unmanaged(
    manifest: Document,
    *,
    config: Configuration,
    owners: Iterable[Document] | Owners = (),
    namespaces: Iterable[Namespace] = (),
) -> Unmanaged | None:
    """Why a job gets no Workload of its own; `None` if it gets one. Arguments and errors are those of `is_managed`."""
    if _is_suspended_by_parent(manifest):
        return None
    if not _is_enabled(manifest, config):
        return Unmanaged.FRAMEWORK
    if not _selects(config, manifest, namespaces):
        return Unmanaged.NAMESPACE
    if find_ancestor(manifest, owners, all_jobs=config.manage_jobs_without_queue_name) is not None:
        return Unmanaged.OWNER
    if manifest.get("kind") == "SparkApplication" and not config.enabled("SparkApplicationIntegration"):
        return Unmanaged.GATE
    has_queue = _label(manifest, keys.QUEUE_NAME) or config.manage_jobs_without_queue_name
    return None if has_queue else Unmanaged.QUEUE


@checked
def find_ancestor(
    manifest: Document, owners: Iterable[Document] | Owners, *, all_jobs: bool = False
) -> Document | None:
    """The topmost owner of a job that Kueue manages, or `None`.

    An owner is managed if it has a queue name, or if all jobs are. The search ends at an owner of a kind that Kueue
    doesn't know, or that has another uid than the reference says.

    Raises:
        NotFoundError: An owner of a known kind is not among the owners.
        InvalidSpecError: Owners go in a circle, or too far up.
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
        if _metadata(owner).get("uid") != reference.get("uid"):
            return topmost
        if _is_managed_kind(kind) and (all_jobs or _label(owner, keys.QUEUE_NAME)):
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
) -> Document:
    """The manifest of a new job with the queue and the priority class that it gets if it names none.

    A job whose owner could be managed gets neither, nor does a pod that was marked by what makes it.

    Args:
        manifest: The job.
        has_default_queue: Whether its namespace has a LocalQueue named `default`, and its jobs are managed.
        classes: The cluster's priority classes; one of workloads named `default` is the default.
        defaults_class: Whether the feature gate `WorkloadPriorityClassDefaulting` is on.
    """
    added = {}
    reference = _controller(manifest)
    is_owned = reference is not None and _is_managed_kind(_kind(reference))
    if is_owned or _is_suspended_by_parent(manifest):
        return manifest
    if has_default_queue and not _label(manifest, keys.QUEUE_NAME):
        added[keys.QUEUE_NAME] = _DEFAULT_QUEUE
    if defaults_class and not _label(manifest, keys.PRIORITY_CLASS) and has_default_class(classes):
        added[keys.PRIORITY_CLASS] = DEFAULT_CLASS
    if not added:
        return manifest
    metadata = _metadata(manifest)
    return manifest | {"metadata": {**metadata, "labels": {**(metadata.get("labels") or {}), **added}}}


def _selects(config: Configuration, manifest: Document, namespaces: Iterable[Namespace]) -> bool:
    name = _namespace(manifest)
    labels = next((namespace.labels for namespace in namespaces if namespace.name == name), {})
    return config.managed_jobs_namespace_selector.matches({_NAME_LABEL: name} | labels)


def _is_enabled(manifest: Document, config: Configuration) -> bool:
    """Whether a kind is among those that are managed; those of one's own are.

    Source: `pkg/controller/jobframework/setup.go:setupControllers`, `collectImplicitlyEnabledIntegrations`.
    """
    enabled = config.frameworks
    if enabled is None:
        return True
    framework = framework_of(str(manifest.get("apiVersion")), str(manifest.get("kind")))
    implied = framework == "pod" and any(name in enabled for name in PODS_BY)
    return framework in enabled or implied or framework not in FRAMEWORKS


def _is_suspended_by_parent(manifest: Document) -> bool:
    """Whether a pod was marked by what makes it, an object that gets no Workload but through its pods."""
    return manifest.get("kind") == "Pod" and keys.SUSPENDING_PARENT in (_metadata(manifest).get("annotations") or {})


def _is_known_owner(reference: Mapping[str, Any]) -> bool:
    # A ReplicaSet is what stands between a Pod and its Deployment.
    kind = _kind(reference)
    return _is_managed_kind(kind) or kind == _REPLICA_SET


def _kind(reference: Mapping[str, Any]) -> tuple[str, str]:
    return str(reference.get("apiVersion")), str(reference.get("kind"))


def _is_managed_kind(kind: tuple[str, str]) -> bool:
    return is_known(*kind) and kind not in _UNMANAGED


def _controller(manifest: Document) -> Mapping[str, Any] | None:
    references = _metadata(manifest).get("ownerReferences")
    found = references if isinstance(references, list) else ()
    return next((_mapping(reference) for reference in found if _mapping(reference).get("controller")), None)


def _metadata(manifest: Document) -> Mapping[str, Any]:
    return _mapping(manifest.get("metadata"))


def _mapping(value: Any) -> Mapping[str, Any]:
    """The value, or nothing: of objects that are no jobs, nobody has checked the types."""
    return value if isinstance(value, Mapping) else {}


def _label(manifest: Document, key: str) -> str:
    return str(_mapping(_metadata(manifest).get("labels")).get(key) or "")


def _namespace(manifest: Document) -> str:
    return str(_metadata(manifest).get("namespace") or "default")


def _key(manifest: Document) -> tuple[str, ...]:
    name = _metadata(manifest).get("name")
    return str(manifest.get("apiVersion")), str(manifest.get("kind")), _namespace(manifest), str(name)


def _describe(manifest: Document) -> str:
    return f'{manifest.get("kind")} "{_namespace(manifest)}/{_metadata(manifest).get("name")}"'
