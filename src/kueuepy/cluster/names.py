"""Detection of references to objects that do not exist."""

from collections.abc import Iterator

from kueuepy.errors import NotFoundError
from kueuepy.errors.problems import Path, path_text, suggestion
from kueuepy.manifest import Manifest
from kueuepy.objects import ClusterQueue, Cohort, Object


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


def dangling(manifest: Manifest) -> Iterator[_Reference]:
    """Yield the references to objects that do not exist.

    Each item contains the object, the field, the name, the kind that the name refers to, and the existing names of that
    kind.
    """
    return (found for found in _references(manifest) if found[2] not in found[4])


def _references(manifest: Manifest) -> Iterator[_Reference]:
    flavors = frozenset(flavor.name for flavor in manifest.resource_flavors)
    checks = frozenset(check.name for check in manifest.admission_checks)
    queues = frozenset(queue.name for queue in manifest.cluster_queues)
    topologies = frozenset(topology.name for topology in manifest.topologies)
    for flavor in manifest.resource_flavors:
        if flavor.topology_name:
            yield flavor, ("spec", "topologyName"), flavor.topology_name, "Topology", topologies
    owners: tuple[ClusterQueue | Cohort, ...] = (*manifest.cluster_queues, *manifest.cohorts)
    for owner in owners:
        for i, group in enumerate(owner.resource_groups):
            for j, quotas in enumerate(group.flavors):
                yield owner, ("spec", "resourceGroups", i, "flavors", j, "name"), quotas.name, "ResourceFlavor", flavors
    for queue in manifest.cluster_queues:
        for i, rule in enumerate(queue.admission_checks_strategy):
            yield (
                queue,
                ("spec", "admissionChecksStrategy", "admissionChecks", i, "name"),
                rule.name,
                "AdmissionCheck",
                checks,
            )
    for local in manifest.local_queues:
        yield local, ("spec", "clusterQueue"), local.cluster_queue, "ClusterQueue", queues


def _line(manifest: Manifest, reference: _Reference) -> str:
    obj, path, name, kind, known = reference
    where = manifest.where(obj, path)
    called = f'{type(obj).__name__} "{obj.key}"'
    text = f'{called}: {path_text(path)}: "{name}" names no {kind}; {suggestion(name, known)}'
    return f"{where}: {text}" if where else text
