"""Load profiles of Kueue's scheduler performance test.

A profile is a generator file of the performance test (`test/performance/scheduler/configs/*/generator.yaml`). A profile
describes cohorts of queues. Each queue has sets of workloads that arrive at fixed intervals and run for a fixed time
once admitted.
"""

from __future__ import annotations

import math
from array import array
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec

from kueuepy.errors import InvalidSpecError
from kueuepy.manifest import Limits
from kueuepy.manifest.text.reading import items
from kueuepy.objects import (
    ClusterQueue,
    LocalQueue,
    Namespace,
    Node,
    Object,
    PodSet,
    Preemption,
    ResourceFlavor,
    ResourceGroup,
    Topology,
    Workload,
)
from kueuepy.objects.queue import FlavorQuotas, ReclaimWithinCohort, ResourceQuota, WithinClusterQueue

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MILLISECOND = 1_000_000
_MICROSECOND = 1_000
_MOST_WORKLOADS = 10_000_000
_Whole = Annotated[int, msgspec.Meta(ge=0, le=10**12)]


class _Record(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """A section of a profile."""


class WorkloadTemplate(_Record, frozen=True):
    """The requests and the runtime of the workloads in a set."""

    class_name: str
    runtime_ms: _Whole
    request: str | int
    priority: int = 0
    pod_count: Annotated[int, msgspec.Meta(ge=1, le=10**9)] = 1
    tas_constraint: Literal["required", "preferred", "balanced"] | None = None
    tas_level: str | None = None
    slice_size: int | None = None

    @property
    def topology_request(self) -> dict[str, Any] | None:
        """The topology request of the pod set; with `balanced`, the request contains only a slice topology and size."""
        if self.tas_constraint is None:
            return None
        if self.tas_constraint == "balanced":
            return {"podSetSliceRequiredTopology": self.tas_level, "podSetSliceSize": self.slice_size}
        return {self.tas_constraint: self.tas_level}


class WorkloadsSet(_Record, frozen=True):
    """`count` arrivals of each workload at regular intervals; the first arrival occurs after one interval."""

    count: _Whole
    creation_interval_ms: _Whole
    workloads: tuple[WorkloadTemplate, ...]


class QueuesSet(_Record, frozen=True):
    """`count` identical ClusterQueues in one cohort."""

    class_name: str
    count: _Whole
    nominal_quota: str | int
    workloads_sets: tuple[WorkloadsSet, ...]
    borrowing_limit: str | int | None = None
    reclaim_within_cohort: ReclaimWithinCohort = "Never"
    within_cluster_queue: WithinClusterQueue = "Never"


class CohortClass(_Record, frozen=True):
    """`count` identical cohorts."""

    class_name: str
    count: _Whole
    queues_sets: tuple[QueuesSet, ...]


class Level(_Record, frozen=True):
    """A topology level: the number of its domains in each domain of the level above, or the capacity of a node."""

    name: str
    count: Annotated[int, msgspec.Meta(ge=1, le=10**6)]
    node_label: str
    capacity: dict[str, str | int] | None = None


class TopologyShape(_Record, frozen=True):
    """A topology in which all domains of a level are identical."""

    name: str
    levels: Annotated[tuple[Level, ...], msgspec.Meta(min_length=1, max_length=16)]


class FlavorShape(_Record, frozen=True):
    """The flavor that all queues use: its node label and its topology."""

    name: str
    node_label: str
    topology_name: str


class Profile(_Record, frozen=True):
    """The content of a generator file."""

    cohorts: tuple[CohortClass, ...]
    topology: TopologyShape | None = None
    resource_flavor: FlavorShape | None = None


def read_profile(path: str) -> Profile:
    """Read a profile from a generator file.

    Raises:
        InvalidSpecError: The file is not a profile; the message names the file and the field.
        NotFoundError: The file cannot be read.
    """
    document = next((item.value for item in items(Path(path), Limits(), strict=True)), None)
    try:
        profile = msgspec.convert(document, Profile, strict=False)
    except msgspec.ValidationError as error:
        raise InvalidSpecError(f"{path}: {error}; a profile is a generator file of Kueue's performance test") from None
    _check(profile, path)
    return profile


def _check(profile: Profile, path: str) -> None:
    if (profile.topology is None) != (profile.resource_flavor is None):
        raise InvalidSpecError(f"{path}: topology and resourceFlavor: there must be both or neither")
    if (size := _size(profile)) > _MOST_WORKLOADS:
        raise InvalidSpecError(f"{path}: makes {size:,} queues and workloads; at most {_MOST_WORKLOADS:,}")


def _size(profile: Profile) -> int:
    """Return the total number of queues, workloads and nodes in a profile."""
    levels = () if profile.topology is None else profile.topology.levels
    return (math.prod(level.count for level in levels) if levels else 0) + sum(
        cohorts.count * queues.count * (1 + sum(w.count * len(w.workloads) for w in queues.workloads_sets))
        for cohorts in profile.cohorts
        for queues in cohorts.queues_sets
    )


class Load:
    """The objects and arrivals of a profile.

    Attributes:
        objects: The objects of the cluster, in an order in which they can be applied.
        prototypes: The workloads, without their names: one for each queue and template of the profile.
        classes: The class of each prototype.
        queues: The number of ClusterQueues.
    """

    def __init__(self, profile: Profile) -> None:
        """Generate cohorts, queues and workloads in the order of the profile."""
        self.objects: list[Object] = [Namespace("default")]
        self.classes: list[str] = []
        self.prototypes: list[Workload] = []
        self._pod_sets: dict[WorkloadTemplate, PodSet] = {}
        # Of every workload: its arrival and its prototype. Lists of Python numbers would need five times the memory.
        self._at, self._shape = array("q"), array("i")
        # Of every prototype, in nanoseconds: its runtime, and the time from an arrival to the creation of its workload.
        self._runtimes, self._delays = array("q"), array("q")
        self.queues = 0
        self._flavor = "default" if profile.resource_flavor is None else profile.resource_flavor.name
        if profile.topology is None or profile.resource_flavor is None:
            self.objects.append(ResourceFlavor(self._flavor))
        else:
            self._add_topology(profile.topology, profile.resource_flavor)
        for cohorts in profile.cohorts:
            for cohort in range(cohorts.count):
                self._add_cohort(f"{cohorts.class_name}-{cohort}", cohorts.queues_sets)

    def _add_cohort(self, name: str, sets: tuple[QueuesSet, ...]) -> None:
        for queues in sets:
            for queue in range(queues.count):
                self._add_queue(name, f"{queues.class_name}-{queue}", queues)

    def _add_topology(self, topology: TopologyShape, flavor: FlavorShape) -> None:
        *upper, lowest = topology.levels
        self.objects.append(Topology(topology.name, levels=tuple(level.node_label for level in topology.levels)))
        labels = {flavor.node_label: "tas"}
        self.objects.append(ResourceFlavor(flavor.name, node_labels=labels, topology_name=flavor.topology_name))
        for places in product(*(range(level.count) for level in topology.levels)):
            name = "-".join(
                ["node", *(f"{level.name[:1]}{i}" for level, i in zip(topology.levels, places, strict=True))]
            )
            domains = {level.node_label: f"{level.name}-{i}" for level, i in zip(upper, places, strict=False)}
            self.objects.append(
                Node(
                    name,
                    labels={**labels, **domains, lowest.node_label: name},
                    capacity={"pods": 110, **(lowest.capacity or {})},
                )
            )

    def _add_queue(self, cohort: str, suffix: str, queues: QueuesSet) -> None:
        name = f"{cohort}-{suffix}"
        quota = ResourceQuota("cpu", queues.nominal_quota, queues.borrowing_limit)
        group = ResourceGroup(("cpu",), (FlavorQuotas(self._flavor, (quota,)),))
        preemption = Preemption(
            reclaim_within_cohort=queues.reclaim_within_cohort, within_cluster_queue=queues.within_cluster_queue
        )
        self.objects.append(ClusterQueue(name, cohort_name=cohort, resource_groups=(group,), preemption=preemption))
        self.objects.append(LocalQueue(name, cluster_queue=name))
        for workloads in queues.workloads_sets:
            for template in workloads.workloads:
                self._add_arrivals(name, workloads, template)
        self.queues += 1

    def _add_arrivals(self, queue: str, workloads: WorkloadsSet, template: WorkloadTemplate) -> None:
        prototype = len(self.prototypes)
        self.classes.append(template.class_name)
        pod_sets = (self._pod_set(template),)
        self.prototypes.append(Workload("prototype", queue_name=queue, priority=template.priority, pod_sets=pod_sets))
        first = workloads.creation_interval_ms * _MILLISECOND
        self._at.extend(range(first, first * (workloads.count + 1), first) if first else [0] * workloads.count)
        self._shape.extend(array("i", [prototype]) * workloads.count)
        self._runtimes.append(template.runtime_ms * _MILLISECOND)
        # Equal creation times are ordered by queue: each queue is one microsecond later than the one before.
        self._delays.append(self.queues * _MICROSECOND)

    def _pod_set(self, template: WorkloadTemplate) -> PodSet:
        """Return one shared object for all workloads of a template; the core recognises equal pod sets by identity."""
        if template not in self._pod_sets:
            requests = {"cpu": template.request}
            self._pod_sets[template] = PodSet.of(
                "main", template.pod_count, requests=requests, topology_request=template.topology_request
            )
        return self._pod_sets[template]

    @property
    def size(self) -> int:
        """The number of workloads."""
        return len(self._at)

    @property
    def start(self) -> int:
        """The time of the first arrival in nanoseconds; 0 if there is none."""
        return min(self._at, default=0)

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the columns of arrivals in the order of the profile: nanoseconds, and indices of prototypes."""
        import numpy as np  # noqa: PLC0415 - only on use

        at, shape = np.frombuffer(self._at, np.int64), np.frombuffer(self._shape, np.int32)
        created = at + np.frombuffer(self._delays, np.int64)[shape]
        runtime = np.frombuffer(self._runtimes, np.int64)[shape]
        return {"submit": at, "created": created, "runtime": runtime, "shape": shape}
