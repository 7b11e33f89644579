"""Objects of a cluster that determine whether and how Kueue manages a job, and defaults for new jobs.

Source: `pkg/controller/jobframework/defaults.go` and the webhooks of the kinds, for newly created jobs.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field

from kueuepy.errors import InvalidSpecError, NotFoundError, about
from kueuepy.jobs.base import BaseJob
from kueuepy.jobs.checks import check_metadata
from kueuepy.jobs.fields import Document
from kueuepy.jobs.fields import manifests as given_manifests
from kueuepy.jobs.integrations.serving import Deployment
from kueuepy.jobs.ownership import (
    Owners,
    Unmanaged,
    find_ancestor,
    is_enabled,
    selects,
    should_suspend,
    why_unmanaged,
    with_defaults,
)
from kueuepy.jobs.priority import AnyPriorityClass
from kueuepy.jobs.registry import adapter_for
from kueuepy.manifest.body import part
from kueuepy.manifest.jobkinds import DEFAULT_QUEUE, with_queue_label
from kueuepy.objects import Configuration, LocalQueue, Namespace


@dataclass
class JobCluster:
    """Objects of a cluster that determine whether and how Kueue manages a job.

    Attributes:
        config: The Configuration.
        classes: WorkloadPriorityClasses and PriorityClasses.
        related: Manifests of objects that the jobs refer to, or that own the jobs.
        namespaces: Namespaces with their labels.
        default_queues: Names of the namespaces with a LocalQueue named `default`.
        owners: Index of the manifests that may own jobs.
    """

    config: Configuration
    classes: tuple[AnyPriorityClass, ...]
    related: tuple[Document, ...]
    namespaces: tuple[Namespace, ...]
    default_queues: frozenset[str]
    owners: Owners = field(default_factory=lambda: Owners(()))

    @classmethod
    def of(
        cls,
        config: Configuration,
        classes: Iterable[AnyPriorityClass],
        related: Iterable[Document],
        namespaces: Iterable[Namespace] = (),
        local_queues: Iterable[LocalQueue] = (),
    ) -> "JobCluster":
        """Create an instance from the objects of a cluster."""
        defaults = frozenset(queue.namespace for queue in local_queues if queue.name == DEFAULT_QUEUE)
        return cls(config, tuple(classes), given_manifests(related), tuple(namespaces), defaults)

    def defaulted(self, manifest: Document) -> Document:
        """Return a new job, or a list of jobs, with the default queue and the default priority class."""
        if manifest.get("kind") == "List":
            return manifest | {"items": [self.defaulted(item) for item in _items(manifest)]}
        namespace = part(manifest, "metadata").get("namespace") or "default"
        has_default_queue = namespace in self.default_queues and selects(self.config, manifest, self.namespaces)
        if has_default_queue and manifest.get("kind") == "Pod":
            has_default_queue = self._ancestor(manifest) is None
        return with_defaults(
            manifest,
            has_default_queue=has_default_queue,
            classes=self.classes,
            defaults_class=self.config.enabled("WorkloadPriorityClassDefaulting"),
            config=self.config,
        )

    def why_unmanaged(self, manifest: Document) -> Unmanaged | None:
        """Return the reason why a job gets no Workload; for a Deployment, return the reason for its pods."""
        pod = self._pod_of(manifest)
        return why_unmanaged(
            manifest if pod is None else pod, config=self.config, owners=self.owners, namespaces=self.namespaces
        )

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

    def _ancestor(self, manifest: Document) -> Document | None:
        all_jobs = self.config.manage_jobs_without_queue_name
        return find_ancestor(manifest, self.owners, all_jobs=all_jobs, config=self.config)

    def _check_unmanaged(self, manifest: Document) -> None:
        """Apply the validation rules of Kueue's webhooks to a job without a Workload.

        The webhooks validate new jobs of managed kinds in managed namespaces. Objects that the job refers to may be
        missing.
        """
        is_seen = is_enabled(manifest, self.config) and selects(self.config, manifest, self.namespaces)
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
        is_suspended = should_suspend(manifest, config=self.config, owners=self.owners, namespaces=self.namespaces)
        template = Deployment(job.suspended(), config=self.config) if is_suspended else job
        replica_set = {
            "apiVersion": "apps/v1",
            "kind": "ReplicaSet",
            "metadata": {"name": job.name, "namespace": job.namespace, "uid": f"{job.uid}-replicas"},
        }
        self.owners.add(manifest)
        self.owners.add(_owned(replica_set, manifest))
        return self.defaulted(_owned(next(template.pods()), replica_set))


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
    cluster.owners = Owners((*cluster.related, *(made for _, made in new)))
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
        raise InvalidSpecError(f"{manifest!r} is not a manifest; it must be an object with kind and metadata")
    if manifest.get("kind") != "List":
        check_metadata(manifest)
    elif not isinstance(manifest.get("items") or [], list | tuple):
        raise InvalidSpecError(f"List: items: is {manifest['items']!r}; it must be a list")
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
