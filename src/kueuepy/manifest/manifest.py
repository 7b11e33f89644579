"""Manifest: all that was read from files, kind by kind, with the way back to the lines."""

from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

import msgspec
from msgspec import field

from kueuepy.errors import DuplicateError
from kueuepy.errors.arguments import checked_methods
from kueuepy.errors.problems import Path
from kueuepy.manifest.text.reading import Item
from kueuepy.objects import (
    AdmissionCheck,
    ClusterQueue,
    Cohort,
    Configuration,
    DeviceClass,
    LimitRange,
    LocalQueue,
    Namespace,
    Node,
    Object,
    Pod,
    PriorityClass,
    ResourceClaim,
    ResourceClaimTemplate,
    ResourceFlavor,
    ResourceSlice,
    RuntimeClass,
    Topology,
    Workload,
    WorkloadPriorityClass,
)

T = TypeVar("T", bound=Object)


class Note(msgspec.Struct, frozen=True, eq=False):
    """Something that reading passed over or put right.

    Attributes:
        origin: The object in question.
        path: The field in question.
        text: What it is.
    """

    origin: Item
    path: Path
    text: str

    @property
    def where(self) -> str:
        """File and line."""
        return self.origin.where(self.path)

    def __str__(self) -> str:
        """The place and the text."""
        return f"{self.where}: {self.text}"


@checked_methods
class Manifest(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Objects by kind, each kind in the order of the files.

    Attributes:
        configuration: The Configuration, if there was one.
        jobs: Jobs of all kinds, as they were written.
        others: Objects that admission may need, of kinds that have no record, as they were written.
        notes: What was passed over or put right.
        versions: The versions of Kueue's API that occurred.
        origins: Where each object was read, by kind and key; the Configuration has an empty key.
        job_origins: Where each job was read; empty for jobs that come from elsewhere.
    """

    resource_flavors: tuple[ResourceFlavor, ...] = ()
    topologies: tuple[Topology, ...] = ()
    nodes: tuple[Node, ...] = ()
    pods: tuple[Pod, ...] = ()
    cohorts: tuple[Cohort, ...] = ()
    cluster_queues: tuple[ClusterQueue, ...] = ()
    local_queues: tuple[LocalQueue, ...] = ()
    admission_checks: tuple[AdmissionCheck, ...] = ()
    workload_priority_classes: tuple[WorkloadPriorityClass, ...] = ()
    priority_classes: tuple[PriorityClass, ...] = ()
    namespaces: tuple[Namespace, ...] = ()
    limit_ranges: tuple[LimitRange, ...] = ()
    runtime_classes: tuple[RuntimeClass, ...] = ()
    device_classes: tuple[DeviceClass, ...] = ()
    resource_claim_templates: tuple[ResourceClaimTemplate, ...] = ()
    resource_claims: tuple[ResourceClaim, ...] = ()
    resource_slices: tuple[ResourceSlice, ...] = ()
    workloads: tuple[Workload, ...] = ()
    configuration: Configuration | None = None
    jobs: tuple[dict[str, Any], ...] = ()
    others: tuple[dict[str, Any], ...] = ()
    notes: tuple[Note, ...] = ()
    versions: frozenset[str] = frozenset()
    origins: dict[tuple[str, str], Item] = field(default_factory=dict)
    job_origins: tuple[Item, ...] = ()

    @classmethod
    def of(cls, *objects: Object, configuration: Configuration | None = None) -> "Manifest":
        """The manifest of these objects.

        >>> Manifest.of(Cohort("org"), ClusterQueue("vision")).cohorts[0].name
        'org'

        Raises:
            DuplicateError: Two objects of one kind have the same name.
        """
        return cls(**group(objects), configuration=configuration)

    def objects(self) -> Iterator[Object]:
        """All objects, kind after kind, what others refer to first."""
        for name in FIELD_OF.values():
            yield from getattr(self, name)

    @property
    def is_empty(self) -> bool:
        """Whether nothing was there to read: no object, no job, and nothing that was passed over either."""
        return not (any(True for _ in self.objects()) or self.configuration or self.jobs or self.others or self.notes)

    def where(self, obj: Object, path: Path = ()) -> str:
        """File and line of an object or of one of its fields; empty if it was not read from a file.

        A path is the field's in version v1beta2, such as `("spec", "clusterQueue")`. Of a field that isn't written, the
        innermost part that is counts.
        """
        origin = self.origins.get((type(obj).__name__, obj.key))
        return origin.where(path) if origin else ""

    def __eq__(self, other: object) -> bool:
        """Whether both hold the same objects, jobs and Configuration, wherever they were read."""
        if not isinstance(other, Manifest):
            return NotImplemented
        return self._contents() == other._contents()

    __hash__ = None  # type: ignore[assignment]

    def _contents(self) -> tuple[object, ...]:
        declared = (tuple(getattr(self, name)) for name in FIELD_OF.values())
        return (*declared, self.configuration, self.jobs, self.others)


FIELD_OF: dict[type[Object], str] = {
    Namespace: "namespaces",
    Topology: "topologies",
    Node: "nodes",
    Pod: "pods",
    ResourceFlavor: "resource_flavors",
    AdmissionCheck: "admission_checks",
    WorkloadPriorityClass: "workload_priority_classes",
    PriorityClass: "priority_classes",
    RuntimeClass: "runtime_classes",
    LimitRange: "limit_ranges",
    DeviceClass: "device_classes",
    ResourceClaimTemplate: "resource_claim_templates",
    ResourceClaim: "resource_claims",
    ResourceSlice: "resource_slices",
    Cohort: "cohorts",
    ClusterQueue: "cluster_queues",
    LocalQueue: "local_queues",
    Workload: "workloads",
}
"""The field of a manifest that holds a kind."""


def group(objects: Iterable[Object]) -> dict[str, Any]:
    """The objects by the field of a manifest that holds their kind.

    Raises:
        DuplicateError: Two objects of one kind have the same name.
    """
    grouped: dict[str, dict[str, Object]] = {name: {} for name in FIELD_OF.values()}
    for obj in objects:
        known = grouped[FIELD_OF[type(obj)]]
        if obj.key in known:
            raise DuplicateError(f'{type(obj).__name__} "{obj.key}": is given twice; give each object once')
        known[obj.key] = obj
    return {name: tuple(known.values()) for name, known in grouped.items()}
