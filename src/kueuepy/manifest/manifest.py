"""Manifest: the result of reading files, with the line numbers of all objects, which errors name."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar, get_args

import msgspec
from msgspec import field

import kueuepy.objects as api
from kueuepy.errors import DuplicateError, KueueError, Path, checked_methods
from kueuepy.manifest.text.reading import Item


class ReadJob(dict[str, Any]):
    """The manifest of a job that was read from a file, with its position.

    Attributes:
        origin: The position.
    """

    __slots__ = ("origin",)

    def __init__(self, manifest: dict[str, Any], origin: Item) -> None:
        """Copy the manifest of a job, and store the position of the job."""
        super().__init__(manifest)
        self.origin = origin

    def where(self, path: Path = ()) -> str:
        """Return the file and line of the job, or of one of its fields."""
        return self.origin.where(path)


@contextmanager
def placed(where: str) -> Iterator[None]:
    """Add a file and line to each line of an error that is raised in a `with` block."""
    try:
        yield
    except KueueError as error:
        error.locate(where)
        raise


T = TypeVar("T", bound=api.Object)


class Note(msgspec.Struct, frozen=True, eq=False):
    """A warning about input that was ignored or corrected during reading.

    >>> from kueuepy.objects import Cohort
    >>> manifest = Manifest.of(Cohort("org"))
    >>> manifest.notes
    ()

    Attributes:
        origin: The object that the warning concerns.
        path: Path of the field that the warning concerns; empty for the whole object.
        text: The text of the warning.
    """

    origin: Item
    path: Path
    text: str

    @property
    def where(self) -> str:
        """File and line of the field, separated by a colon."""
        return self.origin.where(self.path)

    def __str__(self) -> str:
        """Return the file and line, followed by the text of the note."""
        return f"{self.where}: {self.text}"


@checked_methods
class Manifest(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """The objects read from files, by kind. Objects of a kind are in the order of the files.

    >>> from kueuepy.objects import ClusterQueue, Cohort
    >>> manifest = Manifest.of(Cohort("org"), ClusterQueue("vision", cohort_name="org"))
    >>> manifest.cluster_queues[0].cohort_name
    'org'

    Attributes:
        namespaces: The Namespaces.
        topologies: The Topologies.
        nodes: The Nodes.
        pods: Pods that Kueue does not manage.
        resource_flavors: The ResourceFlavors.
        admission_checks: The AdmissionChecks.
        workload_priority_classes: The WorkloadPriorityClasses.
        priority_classes: The PriorityClasses.
        runtime_classes: The RuntimeClasses.
        limit_ranges: The LimitRanges.
        device_classes: The DeviceClasses.
        resource_claim_templates: The ResourceClaimTemplates.
        resource_claims: The ResourceClaims.
        resource_slices: The ResourceSlices.
        cohorts: The Cohorts.
        cluster_queues: The ClusterQueues.
        local_queues: The LocalQueues.
        workloads: The Workloads.
        configuration: The Configuration; `None` if the files contain none.
        jobs: Jobs of all kinds, as dicts. A job that was read from a file has a method `where`, like `Manifest`.
        others: Objects, as dicts, of kinds that have no Python class but can affect admission.
        notes: Remarks about ignored and corrected input.
        versions: The versions of Kueue's API that occur in the files, such as `v1beta2`.
        origins: Position of each object in the files, by kind and key. The key of the Configuration is empty.
    """

    namespaces: tuple[api.Namespace, ...] = ()
    topologies: tuple[api.Topology, ...] = ()
    nodes: tuple[api.Node, ...] = ()
    pods: tuple[api.Pod, ...] = ()
    resource_flavors: tuple[api.ResourceFlavor, ...] = ()
    admission_checks: tuple[api.AdmissionCheck, ...] = ()
    workload_priority_classes: tuple[api.WorkloadPriorityClass, ...] = ()
    priority_classes: tuple[api.PriorityClass, ...] = ()
    runtime_classes: tuple[api.RuntimeClass, ...] = ()
    limit_ranges: tuple[api.LimitRange, ...] = ()
    device_classes: tuple[api.DeviceClass, ...] = ()
    resource_claim_templates: tuple[api.ResourceClaimTemplate, ...] = ()
    resource_claims: tuple[api.ResourceClaim, ...] = ()
    resource_slices: tuple[api.ResourceSlice, ...] = ()
    cohorts: tuple[api.Cohort, ...] = ()
    cluster_queues: tuple[api.ClusterQueue, ...] = ()
    local_queues: tuple[api.LocalQueue, ...] = ()
    workloads: tuple[api.Workload, ...] = ()
    configuration: api.Configuration | None = None
    jobs: tuple[dict[str, Any], ...] = ()
    others: tuple[dict[str, Any], ...] = ()
    notes: tuple[Note, ...] = ()
    versions: frozenset[str] = frozenset()
    origins: dict[tuple[str, str], Item] = field(default_factory=dict)

    @classmethod
    def of(cls, *objects: api.Object, configuration: api.Configuration | None = None) -> "Manifest":
        """Create a manifest from objects.

        >>> from kueuepy.objects import ClusterQueue, Cohort
        >>> Manifest.of(Cohort("org"), ClusterQueue("vision")).cohorts[0].name
        'org'

        Args:
            objects: Objects of any kinds.
            configuration: The Configuration; `None` if there is none.

        Returns:
            The manifest.

        Raises:
            DuplicateError: Two objects of the same kind have the same name.
        """
        return cls(**group(objects), configuration=configuration)

    def objects(self) -> Iterator[api.Object]:
        """Iterate over all objects by kind. A kind precedes the kinds that refer to it.

        >>> from kueuepy.objects import ClusterQueue, Cohort
        >>> [type(obj).__name__ for obj in Manifest.of(ClusterQueue("vision"), Cohort("org")).objects()]
        ['Cohort', 'ClusterQueue']
        """
        for name in FIELD_OF.values():
            yield from getattr(self, name)

    @property
    def is_empty(self) -> bool:
        """Whether the manifest contains no objects, jobs, other documents or notes."""
        return not (any(True for _ in self.objects()) or self.configuration or self.jobs or self.others or self.notes)

    def where(self, obj: api.Object | None, path: Path = ()) -> str:
        """Return the file and line of an object or of one of its fields.

        Args:
            obj: An object of this manifest; `None` for its Configuration.
            path: Path of a field in API version v1beta2, such as `("spec", "clusterQueue")`. If the file does not
                contain the field, the method returns the position of the innermost parent in the file. An empty path
                represents the object itself.

        Returns:
            The file and line, separated by a colon, or an empty string if the object was not read from a file.
        """
        origin = self.origins.get(("Configuration", "") if obj is None else (type(obj).__name__, obj.key))
        return origin.where(path) if origin else ""

    def __eq__(self, other: object) -> bool:
        """Return whether two manifests have the same objects, jobs and Configuration, regardless of their files."""
        if not isinstance(other, Manifest):
            return NotImplemented
        return self._contents() == other._contents()

    __hash__ = None  # type: ignore[assignment]

    def _contents(self) -> tuple[object, ...]:
        declared = (tuple(getattr(self, name)) for name in FIELD_OF.values())
        return (*declared, self.configuration, self.jobs, self.others)


FIELD_OF: dict[type[api.Object], str] = {
    kind: name
    for name, hint in Manifest.__annotations__.items()
    for kind in get_args(hint)[:1]
    if api.Object in getattr(kind, "__mro__", ())
}
"""The field of a Manifest that contains the objects of a class, by class."""


def group(objects: Iterable[api.Object]) -> dict[str, Any]:
    """Group objects by the Manifest field that holds objects of their kind.

    Raises:
        DuplicateError: Two objects of the same kind have the same name.
    """
    grouped: dict[str, dict[str, api.Object]] = {name: {} for name in FIELD_OF.values()}
    for obj in objects:
        known = grouped[FIELD_OF[type(obj)]]
        if obj.key in known:
            raise DuplicateError(f'{type(obj).__name__} "{obj.key}": is given twice; give each object once')
        known[obj.key] = obj
    return {name: tuple(known.values()) for name, known in grouped.items()}
