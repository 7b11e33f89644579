"""The Cluster class, an immutable collection of objects, whose references to each other are checked."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

import msgspec

import kueuepy.objects as api
from kueuepy.errors import (
    InvalidSpecError,
    NotFoundError,
    Path,
    checked,
    checked_methods,
    counted,
    path_text,
    shown,
    suggestion,
)
from kueuepy.look.notebook import repr_html
from kueuepy.manifest import Limits, Manifest, Note, check
from kueuepy.manifest import dump as dump_manifest
from kueuepy.manifest import load as load_manifest
from kueuepy.manifest.manifest import FIELD_OF
from kueuepy.manifest.text.reading import Source
from kueuepy.objects import AdmissionCheck, ClusterQueue, Cohort, LocalQueue, Object, ResourceFlavor, Topology
from kueuepy.profiles import version_of


def check_names(manifest: Manifest) -> None:
    """Raise an error if an object refers to an object that does not exist.

    A Cohort need not be declared, because Kueue creates it implicitly. A Workload may name a LocalQueue that is created
    later.

    Args:
        manifest: The objects.

    Raises:
        NotFoundError: The message has one line per reference, with file and line if known.
    """
    lines = [_line(manifest, found) for found in dangling(manifest)]
    if lines:
        raise NotFoundError("\n".join(lines))


_Reference = tuple[Object, Path, str, str, frozenset[str]]
_TARGETS: tuple[type[Object], ...] = (Topology, ResourceFlavor, AdmissionCheck, ClusterQueue)


def dangling(manifest: Manifest) -> Iterator[_Reference]:
    """Yield the references to objects that do not exist.

    Each item contains the object, the field, the name, the kind that the name refers to, and the existing names of that
    kind.
    """
    known = {kind: frozenset(obj.name for obj in getattr(manifest, FIELD_OF[kind])) for kind in _TARGETS}
    for obj in manifest.objects():
        for path, name, kind in references(obj):
            if name not in known[kind]:
                yield obj, path, name, kind.__name__, known[kind]


def references(obj: Object) -> Iterator[tuple[Path, str, type[Object]]]:
    """Yield the field, the name and the kind of each object to which an object refers."""
    if isinstance(obj, ResourceFlavor) and obj.topology_name:
        yield ("spec", "topologyName"), obj.topology_name, Topology
    if isinstance(obj, ClusterQueue | Cohort):
        for i, group in enumerate(obj.resource_groups):
            for j, quotas in enumerate(group.flavors):
                yield ("spec", "resourceGroups", i, "flavors", j, "name"), quotas.name, ResourceFlavor
    if isinstance(obj, ClusterQueue):
        for i, rule in enumerate(obj.admission_checks_strategy):
            yield ("spec", "admissionChecksStrategy", "admissionChecks", i, "name"), rule.name, AdmissionCheck
    if isinstance(obj, LocalQueue):
        yield ("spec", "clusterQueue"), obj.cluster_queue, ClusterQueue


def _line(manifest: Manifest, reference: _Reference) -> str:
    obj, path, name, kind, known = reference
    where = manifest.where(obj, path)
    called = f'{type(obj).__name__} "{obj.key}"'
    text = f'{called}: {path_text(path)}: "{name}" names no {kind}; {suggestion(name, known)}'
    return f"{where}: {text}" if where else text


T = TypeVar("T", bound=api.Object)
_LIMITS = Limits()


@checked_methods
class Cluster:
    """An immutable collection of objects: flavors, queues, cohorts, workloads and all other declared objects.

    The constructor adds missing LocalQueues and Namespaces. If no LocalQueue is given, each ClusterQueue gets a
    LocalQueue with the name of the ClusterQueue in the namespace `default`. The namespace `default` and the namespaces
    of the LocalQueues are created, with their name as the only label.

    Attributes:
        manifest: All objects, with the file and line from which each was read.
        configuration: Kueue's Configuration.
        resource_flavors: The ResourceFlavors.
        cluster_queues: The ClusterQueues.
        cohorts: The declared Cohorts. An undeclared cohort, which exists only because a queue refers to it, is not
            included.
        local_queues: The LocalQueues.
        admission_checks: The AdmissionChecks.
        topologies: The Topologies.
        pods: The Pods that Kueue does not manage as jobs.
        nodes: The Nodes.
        namespaces: The Namespaces.
        limit_ranges: The LimitRanges.
        runtime_classes: The RuntimeClasses.
        priority_classes: The WorkloadPriorityClasses of Kueue and the PriorityClasses of Kubernetes.
        workloads: The Workloads that exist when a Scheduler starts.
        jobs: The job manifests.
        notes: Notes about fields that were ignored or corrected when the files were read.

    Example:
        >>> from kueuepy.objects import ClusterQueue, ResourceFlavor
        >>> cluster = Cluster(ResourceFlavor("default"), ClusterQueue.of("vision", {"default": {"cpu": 9}}))
        >>> cluster.local_queues[0].key
        'default/vision'
    """

    _declared: Manifest
    manifest: Manifest
    configuration: api.Configuration
    resource_flavors: tuple[api.ResourceFlavor, ...]
    cluster_queues: tuple[api.ClusterQueue, ...]
    cohorts: tuple[api.Cohort, ...]
    local_queues: tuple[api.LocalQueue, ...]
    admission_checks: tuple[api.AdmissionCheck, ...]
    topologies: tuple[api.Topology, ...]
    pods: tuple[api.Pod, ...]
    nodes: tuple[api.Node, ...]
    namespaces: tuple[api.Namespace, ...]
    limit_ranges: tuple[api.LimitRange, ...]
    runtime_classes: tuple[api.RuntimeClass, ...]
    priority_classes: tuple[api.WorkloadPriorityClass | api.PriorityClass, ...]
    workloads: tuple[api.Workload, ...]
    jobs: tuple[dict[str, Any], ...]
    notes: tuple[Note, ...]

    def __init__(
        self,
        *objects: api.Object | Iterable[api.Object],
        configuration: api.Configuration | None = None,
        jobs: Iterable[Mapping[str, Any]] = (),
        names: bool = True,
        version: str | None = None,
    ) -> None:
        """Create a Cluster from objects.

        Args:
            objects: Objects of any kind, including Workloads, as separate arguments or in iterables.
            configuration: Kueue's Configuration. Default: Kueue's defaults.
            jobs: Job manifests, which a Scheduler submits when it starts.
            names: Whether to reject an object that refers to an object that does not exist. Kueue itself accepts a
                reference to a missing object and marks the ClusterQueue as inactive. Default: True.
            version: The Kueue release whose rules apply, such as `v0.18`. The default is the release in the
                Configuration or, without one, the release that this package implements.

        Raises:
            DuplicateError: Two objects of one kind have the same name.
            NotFoundError: An object refers to an object that does not exist, and `names` is True.
            InvalidSpecError: An object is not valid, or the release is unknown.
        """
        if version is not None:
            configuration = of_release(configuration or api.Configuration(), version)
        given = list(flat(objects))
        for obj in (*given, *((configuration,) if configuration else ())):
            check(obj)
        declared = Manifest.of(*given, configuration=configuration)
        self._hold(msgspec.structs.replace(declared, jobs=tuple(map(dict, jobs))), names=names)

    @classmethod
    def from_manifest(cls, manifest: Manifest, *, names: bool = True) -> "Cluster":
        """Create a Cluster from a Manifest that `kueuepy.manifest.load` has read and validated.

        Args:
            manifest: The manifest.
            names: Whether to reject an object that refers to an object that does not exist. Default: True.

        Raises:
            NotFoundError: An object refers to an object that does not exist, and `names` is True.
        """
        cluster = cls.__new__(cls)
        cluster._hold(manifest, names=names)  # noqa: SLF001 - of its own class
        return cluster

    def _hold(self, declared: Manifest, *, names: bool) -> None:
        whole = complete(declared)
        if names:
            check_names(whole)
        classes = (*whole.workload_priority_classes, *whole.priority_classes)
        configuration = whole.configuration or api.Configuration()
        own = {name: getattr(whole, name) for name in Cluster.__annotations__ if name in Manifest.__struct_fields__}
        own |= {"configuration": configuration, "priority_classes": classes, "manifest": whole, "_declared": declared}
        vars(self).update(own)  # `__setattr__` refuses every assignment

    def __reduce__(self) -> "tuple[Callable[[Manifest], Cluster], tuple[Manifest]]":
        """Pickle the declared objects only; unpickling adds the missing LocalQueues and Namespaces again."""
        return _unchecked, (self._declared,)

    def __setattr__(self, name: str, value: object) -> None:
        """Raise an AttributeError, because a Cluster is immutable."""
        raise AttributeError(f"Cluster.{name}: a Cluster is immutable; use replace()")

    @property
    def written(self) -> Manifest:
        """The objects that `dump` writes: all except the Namespaces that were added automatically."""
        return msgspec.structs.replace(self.manifest, namespaces=self._declared.namespaces)

    def objects(self) -> Iterator[api.Object]:
        """Return all objects, grouped by kind; referenced kinds come before the kinds that refer to them."""
        return self.manifest.objects()

    def get(self, kind: type[T], key: str) -> T:
        """Return the object with the given kind and name.

        Args:
            kind: The class of the object.
            key: The name, or `namespace/name` for a namespaced kind.

        Raises:
            NotFoundError: The cluster contains no object with this kind and key.
            InvalidSpecError: The kind is not a class of objects.
        """
        if kind not in FIELD_OF:
            raise InvalidSpecError(f"Cluster.get: kind: is {shown(kind)}; it must be a class such as ClusterQueue")
        found: tuple[T, ...] = getattr(self.manifest, FIELD_OF[kind])
        for obj in found:
            if obj.key == key:
                return obj
        hint = suggestion(key, (obj.key for obj in found))
        raise NotFoundError(f'{kind.__name__} "{key}": there is no such object in the cluster; {hint}')

    # Modified copies.

    def replace(
        self, *objects: api.Object, configuration: api.Configuration | None = None, names: bool = True
    ) -> "Cluster":
        """Return a Cluster with the given objects added, replacing existing objects of the same kind and name.

        Args:
            objects: The complete new objects.
            configuration: The new Configuration. Default: unchanged.
            names: Whether to reject an object that refers to an object that does not exist. Default: True.

        Raises:
            NotFoundError: An object refers to an object that does not exist, and `names` is True.
            InvalidSpecError: An object is not valid.

        Example:
            >>> from kueuepy.objects import ClusterQueue, ResourceFlavor
            >>> cluster = Cluster(ResourceFlavor("default"), ClusterQueue.of("a", {"default": {"cpu": 9}}))
            >>> cluster.replace(ClusterQueue.of("a", {"default": {"cpu": 5}})) == cluster
            False
        """
        for obj in objects:
            check(obj)
        return self._replaced(objects, configuration, names=names)

    def _replaced(
        self, objects: Iterable[api.Object], configuration: api.Configuration | None, *, names: bool
    ) -> "Cluster":
        changed = {(type(obj), obj.key): obj for obj in objects}
        # A replaced object keeps its place, so that files and tables keep their order.
        kept = [changed.pop((type(obj), obj.key), obj) for obj in self._declared.objects()]
        return self._with([*kept, *changed.values()], configuration or self._declared.configuration, names=names)

    def without(self, *objects: api.Object, names: bool = True) -> "Cluster":
        """Return a Cluster without the objects of the given kinds and names.

        Args:
            objects: The objects to remove; only their kind, namespace and name are used.
            names: Whether to reject an object that refers to an object that does not exist. Default: True.

        Raises:
            NotFoundError: An object to remove does not exist, or `names` is True and a remaining object refers to a
                removed object.
        """
        gone = {(type(obj), obj.key) for obj in objects}
        kept = [obj for obj in self._declared.objects() if (type(obj), obj.key) not in gone]
        for kind, key in gone - {(type(obj), obj.key) for obj in self._declared.objects()}:
            raise NotFoundError(f'{kind.__name__} "{key}": there is no such object in the cluster')
        return self._with(kept, self._declared.configuration, names=names)

    def edit(self, path: str, value: Any) -> "Cluster":
        """Return a Cluster with a new value in one field.

        Args:
            path: `Kind/name:field.field[selector]`, with the fields of the manifest's `spec`. `Kind/*` selects all
                objects of a kind, and `Kind/{a,b}` selects the objects named a and b. A selector is a position (from 0)
                or a name in a list. `quota[flavor/resource]` selects a quota in any resource group.
                `Configuration:field` selects a field of the Configuration. If the path selects a cohort that is not
                declared, the edit declares it. An edit can set a Cohort's quota for any flavor and resource for which
                at least one queue has a quota.
            value: The new value; `None` removes the field.

        Returns:
            The new Cluster.

        Raises:
            NotFoundError: The path does not match any object or field. The message suggests a similar name.
            InvalidSpecError: The object would not be valid.

        Example:
            >>> from kueuepy.objects import ClusterQueue, ResourceFlavor
            >>> cluster = Cluster(ResourceFlavor("h100"), ClusterQueue.of("a", {"h100": {"cpu": 9}}))
            >>> strict = cluster.edit("ClusterQueue/*:queueingStrategy", "StrictFIFO")
            >>> strict.edit("ClusterQueue/a:quota[h100/cpu].nominalQuota", 5).cluster_queues[0].queueing_strategy
            'StrictFIFO'
        """
        return self.edit_all({path: value})

    def edit_all(self, values: Mapping[str, Any]) -> "Cluster":
        """Return a Cluster with new values in several fields.

        The edits are applied in order. Objects are validated only after the last edit.

        Args:
            values: The new values, keyed by path, in the form that `edit` accepts.

        Returns:
            The new Cluster.

        Raises:
            NotFoundError: A path does not match any object or field.
            InvalidSpecError: An object would not be valid.
        """
        from kueuepy.cluster.edit import edited_all  # noqa: PLC0415 - only on use

        changed, configuration = edited_all(self.objects(), self.configuration, values)
        return self._replaced(changed, configuration, names=True) if changed or configuration else self

    def patch(self, *manifests: Mapping[str, Any]) -> "Cluster":
        """Return a Cluster with objects changed by partial manifests, which are merged as `kubectl apply` does.

        Args:
            manifests: Each has `kind`, `metadata.name` and the fields to change; `None` removes a field. Lists whose
                items have a name are merged by name.

        Returns:
            The new Cluster.

        Raises:
            NotFoundError: An object refers to an object that does not exist.
            InvalidSpecError: An object would not be valid.

        Example:
            >>> from kueuepy.objects import ClusterQueue, ResourceFlavor
            >>> cluster = Cluster(ResourceFlavor("h100"), ClusterQueue.of("a", {"h100": {"cpu": 9}}, cohort_name="all"))
            >>> hold = {"kind": "ClusterQueue", "metadata": {"name": "a"}, "spec": {"stopPolicy": "Hold"}}
            >>> cluster.patch(hold).cluster_queues[0].cohort_name
            'all'
        """
        from kueuepy.cluster.patch import Existing, patched  # noqa: PLC0415 - only on use

        there, changed = Existing.of(self.objects()), dict[tuple[type[api.Object], str], api.Object]()
        now = Existing(lambda cls, key: changed.get((cls, key)) or there.find(cls, key), there.all)
        for manifest in manifests:
            made = patched(now, manifest).object
            changed[type(made), made.key] = made
        return self.replace(*changed.values())

    def _with(self, objects: list[api.Object], configuration: api.Configuration | None, *, names: bool) -> "Cluster":
        if configuration is not None:
            check(configuration)
        fresh = Manifest.of(*objects, configuration=configuration)
        declared = self._declared
        return Cluster.from_manifest(
            msgspec.structs.replace(fresh, jobs=declared.jobs, others=declared.others, origins=declared.origins),
            names=names,
        )

    def __eq__(self, other: object) -> bool:
        """Return whether both Clusters contain equal objects."""
        return self.manifest == other.manifest if isinstance(other, Cluster) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        """Return the number of objects of each kind."""
        counts = {kind.__name__: len(getattr(self.manifest, name)) for kind, name in FIELD_OF.items()}
        inside = ", ".join(counted(count, name) for name, count in counts.items() if count)
        return f"<Cluster: {inside or 'empty'}>"

    _repr_html_ = repr_html


def _unchecked(declared: Manifest) -> Cluster:
    return Cluster.from_manifest(declared, names=False)


def of_release(configuration: api.Configuration, version: str) -> api.Configuration:
    """Return a copy of the Configuration with another Kueue release.

    Args:
        configuration: The Configuration.
        version: The release, such as `v0.18`.

    Raises:
        InvalidSpecError: The release is unknown.
    """
    return msgspec.structs.replace(configuration, version=version_of(version))


@checked
def load(
    source: Source, *, strict: bool = True, names: bool = True, limits: Limits = _LIMITS, version: str | None = None
) -> Cluster:
    """Read a Cluster from YAML or JSON, such as the output of `kubectl get -o yaml`, in any version of Kueue's API.

    Args:
        source: A path, a directory, a string, an open file, a parsed object, or a list of these.
        strict: Whether to reject input that an API server would reject. If False, problems are corrected where possible
            and reported in `Cluster.notes`. Default: True.
        names: Whether to reject an object that refers to an object that does not exist. Default: True.
        limits: Limits on the size of the input.
        version: The Kueue release whose rules and defaults apply, such as `v0.18`. Default: the release that this
            package implements.

    Returns:
        The Cluster.

    Raises:
        ManifestError: The input is not valid. The message has one line per problem, with file, line, object and field.
        LimitError: A file exceeds a limit.
        DuplicateError: Two objects of one kind have the same name.
        NotFoundError: A file does not exist, or `names` is True and an object refers to an object that does not exist.

    Example:
        >>> cluster = load('''
        ... apiVersion: kueue.x-k8s.io/v1beta2
        ... kind: ResourceFlavor
        ... metadata: {name: default}
        ... ''')
        >>> cluster.resource_flavors[0].name
        'default'
    """
    return Cluster.from_manifest(load_manifest(source, strict=strict, limits=limits, version=version), names=names)


@checked
def dump(cluster: Cluster, path: str | os.PathLike[str] | None = None) -> str:
    """Return a Cluster as YAML, and write it to a file if a path is given. Loading the YAML returns an equal Cluster.

    LocalQueues that were added automatically are included, because a real cluster needs them. Namespaces that were
    added automatically are omitted.

    Args:
        cluster: The Cluster.
        path: The file to write. Default: none.

    Returns:
        The YAML text.

    Raises:
        InvalidSpecError: `cluster` is not a Cluster.

    Example:
        >>> from kueuepy.objects import ClusterQueue, ResourceFlavor
        >>> cluster = Cluster(ResourceFlavor("default"), ClusterQueue.of("vision", {"default": {"cpu": 9}}))
        >>> load(dump(cluster)) == cluster
        True
    """
    if not isinstance(cluster, Cluster):
        raise InvalidSpecError(
            f"dump: {cluster!r:.99} is not a Cluster; kueuepy.load(path) or Cluster(*objects) makes one"
        )
    return dump_manifest(cluster.written, path)


def flat(objects: Iterable[api.Object | Iterable[api.Object]]) -> Iterator[api.Object]:
    """Yield the objects of nested iterables.

    Raises:
        InvalidSpecError: An item is not an object.
    """
    for obj in objects:
        if isinstance(obj, api.Object):
            yield obj
        elif isinstance(obj, Iterable) and not isinstance(obj, str | bytes | Mapping):
            yield from flat(obj)
        else:
            raise InvalidSpecError(f"Cluster: {obj!r:.99} is not an object; use kueuepy.load for manifests")


def complete(declared: Manifest) -> Manifest:
    """Return the manifest with the LocalQueues and Namespaces that a Cluster adds if they are missing."""
    behind = (queue.name for queue in declared.cluster_queues)
    queues = declared.local_queues or tuple(api.LocalQueue(name, cluster_queue=name) for name in behind)
    names = dict.fromkeys(("default", *(queue.namespace for queue in queues)))
    known = {namespace.name for namespace in declared.namespaces}
    added = (api.Namespace(name) for name in names if name not in known)
    return msgspec.structs.replace(declared, local_queues=queues, namespaces=(*declared.namespaces, *added))
