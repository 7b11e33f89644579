"""Cluster: all that is declared, as one immutable value."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from kueuepy.cluster.names import check_names
from kueuepy.errors import InvalidSpecError, NotFoundError
from kueuepy.errors.arguments import checked, checked_methods
from kueuepy.errors.words import counted
from kueuepy.manifest import Limits, Manifest, Note, check
from kueuepy.manifest import dump as dump_manifest
from kueuepy.manifest import load as load_manifest
from kueuepy.manifest.manifest import FIELD_OF
from kueuepy.notebook import repr_html
from kueuepy.objects import (
    AdmissionCheck,
    ClusterQueue,
    Cohort,
    Configuration,
    LimitRange,
    LocalQueue,
    Namespace,
    Node,
    Object,
    Pod,
    PriorityClass,
    ResourceFlavor,
    RuntimeClass,
    Topology,
    Workload,
    WorkloadPriorityClass,
)
from kueuepy.profiles import release_of

if TYPE_CHECKING:
    import os

    from kueuepy.manifest.text.sources import Source

T = TypeVar("T", bound=Object)
_LIMITS = Limits()


@checked_methods
class Cluster:
    """Flavors, queues, cohorts and everything else that is declared; a value that never changes.

    Two things are added. Where no LocalQueue is given, each ClusterQueue gets one of its own name in the namespace
    `default`. And the namespaces `default` and those of the LocalQueues exist, with no labels but their names, where no
    Namespace declares them.

    >>> cluster = Cluster(ResourceFlavor("default"), ClusterQueue.of("vision", {"default": {"cpu": 9}}))
    >>> cluster.local_queues[0].key
    'default/vision'
    """

    __slots__ = ("_declared", "_manifest")
    _declared: Manifest
    _manifest: Manifest

    def __init__(
        self,
        *objects: Object | Iterable[Object],
        configuration: Configuration | None = None,
        jobs: Iterable[Mapping[str, Any]] = (),
        names: bool = True,
        version: str | None = None,
    ) -> None:
        """Holds the objects, given one by one or in lists.

        Args:
            objects: Objects of any kind, Workloads included.
            configuration: The policies of the installation; none of them is on by default.
            jobs: Manifests of jobs, which a Scheduler submits.
            names: Whether an object that names one that isn't there is refused. Kueue allows that, and keeps the
                ClusterQueue concerned inactive.
            version: The release of Kueue that decides, such as `v0.18`; `None` for what the configuration says, or the
                present one.

        Raises:
            DuplicateError: Two objects of one kind have the same name.
            NotFoundError: An object names one that isn't there.
            InvalidSpecError: An object is not valid, or the release has no profile.
        """
        if version is not None:
            configuration = of_release(configuration or Configuration(), version)
        flat = list(_flat(objects))
        for obj in (*flat, *((configuration,) if configuration else ())):
            check(obj)
        declared = Manifest.of(*flat, configuration=configuration)
        self._hold(msgspec.structs.replace(declared, jobs=tuple(map(dict, jobs))), names=names)

    @classmethod
    def from_manifest(cls, manifest: Manifest, *, names: bool = True) -> Cluster:
        """The Cluster of what `kueuepy.manifest.load` has read (and checked)."""
        cluster = cls.__new__(cls)
        cluster._hold(manifest, names=names)  # noqa: SLF001 - of its own class
        return cluster

    def _hold(self, declared: Manifest, *, names: bool) -> None:
        complete = _complete(declared)
        if names:
            check_names(complete)
        object.__setattr__(self, "_declared", declared)
        object.__setattr__(self, "_manifest", complete)

    def __reduce__(self) -> tuple[Callable[[Manifest], Cluster], tuple[Manifest]]:
        """What was declared: from it a copy, or a pickle in another process, completes itself again."""
        return _unchecked, (self._declared,)

    def __setattr__(self, name: str, value: object) -> None:
        """A Cluster never changes."""
        raise AttributeError(f"Cluster.{name}: a Cluster is immutable; use replace()")

    # What is in it, kind by kind.

    @property
    def manifest(self) -> Manifest:
        """Everything, with where it was read."""
        return self._manifest

    @property
    def written(self) -> Manifest:
        """What `dump` writes: everything but the Namespaces that nobody declared."""
        return msgspec.structs.replace(self._manifest, namespaces=self._declared.namespaces)

    @property
    def configuration(self) -> Configuration:
        """The policies of the installation."""
        return self._manifest.configuration or Configuration()

    @property
    def resource_flavors(self) -> tuple[ResourceFlavor, ...]:
        """The ResourceFlavors."""
        return self._manifest.resource_flavors

    @property
    def cluster_queues(self) -> tuple[ClusterQueue, ...]:
        """The ClusterQueues."""
        return self._manifest.cluster_queues

    @property
    def cohorts(self) -> tuple[Cohort, ...]:
        """The declared Cohorts; one that is only named by a queue is not among them."""
        return self._manifest.cohorts

    @property
    def local_queues(self) -> tuple[LocalQueue, ...]:
        """The LocalQueues."""
        return self._manifest.local_queues

    @property
    def admission_checks(self) -> tuple[AdmissionCheck, ...]:
        """The AdmissionChecks."""
        return self._manifest.admission_checks

    @property
    def topologies(self) -> tuple[Topology, ...]:
        """The Topologies."""
        return self._manifest.topologies

    @property
    def pods(self) -> tuple[Pod, ...]:
        """The Pods that are no jobs."""
        return self._manifest.pods

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The nodes."""
        return self._manifest.nodes

    @property
    def namespaces(self) -> tuple[Namespace, ...]:
        """The namespaces."""
        return self._manifest.namespaces

    @property
    def limit_ranges(self) -> tuple[LimitRange, ...]:
        """The LimitRanges."""
        return self._manifest.limit_ranges

    @property
    def runtime_classes(self) -> tuple[RuntimeClass, ...]:
        """The RuntimeClasses."""
        return self._manifest.runtime_classes

    @property
    def priority_classes(self) -> tuple[WorkloadPriorityClass | PriorityClass, ...]:
        """The priority classes of Kueue and of Kubernetes."""
        return (*self._manifest.workload_priority_classes, *self._manifest.priority_classes)

    @property
    def workloads(self) -> tuple[Workload, ...]:
        """The Workloads that are there from the start."""
        return self._manifest.workloads

    @property
    def jobs(self) -> tuple[dict[str, Any], ...]:
        """The manifests of jobs."""
        return self._manifest.jobs

    @property
    def notes(self) -> tuple[Note, ...]:
        """What reading passed over or put right."""
        return self._manifest.notes

    def objects(self) -> Iterator[Object]:
        """All objects, kind after kind, what others refer to first."""
        return self._manifest.objects()

    def get(self, kind: type[T], key: str) -> T:
        """The object of this kind and name (`namespace/name` where it has a namespace).

        Raises:
            NotFoundError: There is none.
        """
        found: tuple[T, ...] = getattr(self._manifest, FIELD_OF[kind])
        for obj in found:
            if obj.key == key:
                return obj
        raise NotFoundError(f'{kind.__name__} "{key}": there is no such object in the cluster')

    # Others like it.

    def replace(self, *objects: Object, configuration: Configuration | None = None, names: bool = True) -> Cluster:
        """The Cluster with these objects in place of those of the same kind and name, or beside the others.

        >>> cluster = Cluster(ResourceFlavor("default"), ClusterQueue.of("a", {"default": {"cpu": 9}}))
        >>> cluster.replace(ClusterQueue.of("a", {"default": {"cpu": 5}})) == cluster
        False

        Raises:
            NotFoundError: An object names one that isn't there.
            InvalidSpecError: An object is not valid.
        """
        for obj in objects:
            check(obj)
        return self._replaced(objects, configuration, names=names)

    def _replaced(self, objects: Iterable[Object], configuration: Configuration | None, *, names: bool) -> Cluster:
        changed = {(type(obj), obj.key): obj for obj in objects}
        kept = [changed.pop((type(obj), obj.key), obj) for obj in self._declared.objects()]
        return self._with([*kept, *changed.values()], configuration or self._declared.configuration, names=names)

    def without(self, *objects: Object, names: bool = True) -> Cluster:
        """The Cluster without the objects of these kinds and names.

        Raises:
            NotFoundError: One of them isn't there, or something else names it.
        """
        gone = {(type(obj), obj.key) for obj in objects}
        kept = [obj for obj in self._declared.objects() if (type(obj), obj.key) not in gone]
        for kind, key in gone - {(type(obj), obj.key) for obj in self._declared.objects()}:
            raise NotFoundError(f'{kind.__name__} "{key}": there is no such object in the cluster')
        return self._with(kept, self._declared.configuration, names=names)

    def edit(self, path: str, value: Any) -> Cluster:
        """The Cluster in which one field has another value; `None` takes it away.

        >>> cluster = Cluster(ResourceFlavor("h100"), ClusterQueue.of("a", {"h100": {"cpu": 9}}))
        >>> strict = cluster.edit("ClusterQueue/*:queueingStrategy", "StrictFIFO")
        >>> strict.edit("ClusterQueue/a:quota[h100/cpu].nominalQuota", 5).cluster_queues[0].queueing_strategy
        'StrictFIFO'

        Args:
            path: `Kind/name:field.field[selector]`, with the fields of the manifest's `spec`; `Kind/*` are all of a
                kind, `Kind/{a,b}` two of them. `quota[flavor/resource]` finds the resource group; a selector is a place
                or a name. `Configuration:field` is of the installation's policies.
            value: The value.

        Raises:
            NotFoundError: The path names nothing; the message tells the nearest that is there.
            InvalidSpecError: The object would not be valid.
        """
        return self.edit_all({path: value})

    def edit_all(self, values: Mapping[str, Any]) -> Cluster:
        """The Cluster in which several fields have other values, by path as `edit` takes them; one after the other.

        Only what they come to together must be valid. It raises what `edit` does.
        """
        from kueuepy.cluster.edit import edited_all  # noqa: PLC0415 - only on use

        changed, configuration = edited_all(self.objects(), self.configuration, values)
        return self._replaced(changed, configuration, names=True) if changed or configuration else self

    def _with(self, objects: list[Object], configuration: Configuration | None, *, names: bool) -> Cluster:
        if configuration is not None:
            check(configuration)
        fresh = Manifest.of(*objects, configuration=configuration)
        declared = self._declared
        return Cluster.from_manifest(
            msgspec.structs.replace(
                fresh,
                jobs=declared.jobs,
                others=declared.others,
                origins=declared.origins,
                job_origins=declared.job_origins,
            ),
            names=names,
        )

    def __eq__(self, other: object) -> bool:
        """Whether both declare the same."""
        return self._manifest == other._manifest if isinstance(other, Cluster) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        """How many objects of which kind."""
        counts = {kind.__name__: len(getattr(self._manifest, name)) for kind, name in FIELD_OF.items()}
        inside = ", ".join(counted(count, name) for name, count in counts.items() if count)
        return f"<Cluster: {inside or 'empty'}>"

    _repr_html_ = repr_html


def _unchecked(declared: Manifest) -> Cluster:
    """The Cluster of a manifest whose names have been looked up, or were not to be."""
    return Cluster.from_manifest(declared, names=False)


def of_release(configuration: Configuration, version: str) -> Configuration:
    """The Configuration for another release of Kueue.

    Raises:
        InvalidSpecError: The release has no profile.
    """
    return msgspec.structs.replace(configuration, version=release_of(version).name)


@checked
def load(
    source: Source, *, strict: bool = True, names: bool = True, limits: Limits = _LIMITS, version: str | None = None
) -> Cluster:
    """The Cluster that files declare: YAML or JSON of any of Kueue's API versions, as `kubectl get -o yaml` writes it.

    Args:
        source: A path, a directory, a text, an open file, a parsed object, or several of these.
        strict: Whether what an API server would refuse is refused; otherwise it is put right and noted.
        names: Whether an object that names one that isn't there is refused.
        limits: What a file may have at most.
        version: The release of Kueue that decides, and whose defaults count, such as `v0.18`; by default the present.

    Raises:
        ManifestError: Something is not valid; one line for each problem, with file, line, object and field.
        LimitError: A file exceeds a limit.
        DuplicateError: Two objects of one kind have the same name.
        NotFoundError: There is no such file, or an object names one that isn't there.
    """
    return Cluster.from_manifest(load_manifest(source, strict=strict, limits=limits, version=version), names=names)


@checked
def dump(cluster: Cluster, path: str | os.PathLike[str] | None = None) -> str:
    """The cluster as one YAML text, written to a file if one is named; loaded again, it gives an equal Cluster.

    LocalQueues that nobody declared are written, since a cluster needs them; Namespaces that nobody declared are not.

    Raises:
        InvalidSpecError: This is no Cluster.
    """
    if not isinstance(cluster, Cluster):
        raise InvalidSpecError(f"dump: {cluster!r} is no Cluster; make one of objects: Cluster(*objects)")
    return dump_manifest(cluster.written, path)


def _flat(objects: Iterable[Object | Iterable[Object]]) -> Iterator[Object]:
    for obj in objects:
        if isinstance(obj, Object):
            yield obj
        elif isinstance(obj, Iterable) and not isinstance(obj, str | bytes | Mapping):
            yield from _flat(obj)
        else:
            raise InvalidSpecError(f"Cluster: {obj!r} is no object; use kueuepy.load for manifests")


def _complete(declared: Manifest) -> Manifest:
    """The manifest with the LocalQueues and Namespaces that nobody had to write."""
    queues = declared.local_queues or tuple(
        LocalQueue(queue.name, cluster_queue=queue.name) for queue in declared.cluster_queues
    )
    names = dict.fromkeys(("default", *(queue.namespace for queue in queues)))
    known = {namespace.name for namespace in declared.namespaces}
    added = (Namespace(name) for name in names if name not in known)
    return msgspec.structs.replace(declared, local_queues=queues, namespaces=(*declared.namespaces, *added))
