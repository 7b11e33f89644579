"""Detection of references to objects that do not exist."""

from collections.abc import Iterator

from kueuepy.errors import NotFoundError, Path, path_text, suggestion
from kueuepy.manifest import Manifest
from kueuepy.manifest.manifest import FIELD_OF
from kueuepy.objects import AdmissionCheck, ClusterQueue, Cohort, LocalQueue, Object, ResourceFlavor, Topology


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
