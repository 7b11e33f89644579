"""Kueue's scheduler performance test in virtual time, without a cluster.

A profile is a generator file of the performance test (`test/performance/scheduler/configs/*/generator.yaml`). A profile
describes cohorts of queues. Each queue has sets of workloads that arrive at fixed intervals and run for a fixed time
once admitted.
"""

from __future__ import annotations

import math
import resource
import sys
import time
from array import array
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec

from kueuepy._core import Engine, LockstepRun, VirtualRun
from kueuepy.engine.threads import LEAST_HEADS, number_of_threads
from kueuepy.errors import InvalidSpecError
from kueuepy.manifest.text.limits import Limits
from kueuepy.manifest.text.reading import read
from kueuepy.objects import (
    ClusterQueue,
    Configuration,
    FairSharingConfig,
    LocalQueue,
    Namespace,
    Node,
    PodSet,
    Preemption,
    ResourceFlavor,
    ResourceGroup,
    Topology,
    Workload,
)
from kueuepy.objects.queue import ReclaimWithinCohort, WithinClusterQueue  # noqa: TC001 - msgspec reads them
from kueuepy.objects.quota import FlavorQuotas, ResourceQuota
from kueuepy.profiles import DEVELOPMENT, release_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

_MILLISECOND = 1_000_000
_MICROSECOND = 1_000
_AS_KUEUES_TEST: dict[str, Any] = {
    **dict.fromkeys(("every", "cost", "restore", "grace", "cycle", "per_head", "warmup"), 0),
    **dict.fromkeys(("decisions", "runs", "usage", "cycles", "metrics"), False),
    **dict.fromkeys(("checks", "startups", "failures", "changes"), ()),
    "on_eviction": "restart",
    "until": 2**63 - 1,
    "on_loop": "hold",
    "as_performance_test": True,
}
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
        InvalidSpecError: The file cannot be read, or is not a profile; the message names the file and the field.
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise InvalidSpecError(f"{path}: cannot be read: {error.strerror}") from None
    document = next((item.value for item in read(path, data, Limits(), strict=True)), None)
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
    """The objects and arrivals of a profile."""

    def __init__(self, profile: Profile, *, fair_sharing: bool = False, version: str = DEVELOPMENT) -> None:
        """Generate cohorts, queues and workloads in the order of the profile.

        Args:
            profile: The profile.
            fair_sharing: Whether to enable fair sharing.
            version: The version of Kueue.
        """
        release = release_of(version).name
        config = Configuration(fair_sharing=FairSharingConfig() if fair_sharing else None, version=release)
        self.engine = Engine(config)
        self.classes: list[str] = []
        self.prototypes: list[Workload] = []
        self._pod_sets: dict[WorkloadTemplate, PodSet] = {}
        # Of every workload: its arrival and its prototype. Lists of Python numbers would need five times the memory.
        self._at, self._shape = array("q"), array("i")
        # Of every prototype, in nanoseconds: its runtime, and the time from an arrival to the creation of its workload.
        self._runtimes, self._delays = array("q"), array("q")
        self.queues = 0
        # The numbers of arrivals and of prototypes before each cohort, and in all.
        self._cohorts: list[tuple[int, int]] = []
        self._is_divisible = profile.topology is None  # A topology belongs to all cohorts.
        self.engine.apply(Namespace("default"))
        self._flavor = "default" if profile.resource_flavor is None else profile.resource_flavor.name
        if profile.topology is None or profile.resource_flavor is None:
            self.engine.apply(ResourceFlavor(self._flavor))
        else:
            self._add_topology(profile.topology, profile.resource_flavor)
        for cohorts in profile.cohorts:
            for cohort in range(cohorts.count):
                self._cohorts.append((len(self._at), len(self.prototypes)))
                self._add_cohort(f"{cohorts.class_name}-{cohort}", cohorts.queues_sets)
        self._cohorts.append((len(self._at), len(self.prototypes)))

    def _add_cohort(self, name: str, sets: tuple[QueuesSet, ...]) -> None:
        for queues in sets:
            for queue in range(queues.count):
                self._add_queue(name, f"{queues.class_name}-{queue}", queues)

    def _add_topology(self, topology: TopologyShape, flavor: FlavorShape) -> None:
        *upper, lowest = topology.levels
        self.engine.apply(Topology(topology.name, levels=tuple(level.node_label for level in topology.levels)))
        labels = {flavor.node_label: "tas"}
        self.engine.apply(ResourceFlavor(flavor.name, node_labels=labels, topology_name=flavor.topology_name))
        for places in product(*(range(level.count) for level in topology.levels)):
            name = "-".join(
                ["node", *(f"{level.name[:1]}{i}" for level, i in zip(topology.levels, places, strict=True))]
            )
            domains = {level.node_label: f"{level.name}-{i}" for level, i in zip(upper, places, strict=False)}
            self.engine.apply(
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
        self.engine.apply(ClusterQueue(name, cohort_name=cohort, resource_groups=(group,), preemption=preemption))
        self.engine.apply(LocalQueue(name, cluster_queue=name))
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

    def columns(self, rows: slice = slice(None)) -> dict[str, NDArray[Any]]:
        """Return the columns of arrivals in the order of the profile: times in nanoseconds, and indices of prototypes.

        Args:
            rows: The arrivals.
        """
        import numpy as np  # noqa: PLC0415 - only on use

        at, shape = np.frombuffer(self._at, np.int64)[rows], np.frombuffer(self._shape, np.int32)[rows]
        created = at + np.frombuffer(self._delays, np.int64)[shape]
        runtime = np.frombuffer(self._runtimes, np.int64)[shape]
        return {"submit": at, "created": created, "runtime": runtime, "shape": shape}

    def start(self) -> VirtualRun:
        """Return a simulation of the profile's load that has not been started."""
        return self._simulation(self._cohorts[0], self._cohorts[-1], defers_arrivals=False)

    def divided(self, threads: int | None) -> LockstepRun:
        """Return a simulation on several threads that has not been started.

        The cohorts are divided into as many groups as there are threads. Each group is a simulation of its own, and all
        of them are advanced together, cycle by cycle.

        Args:
            threads: The number of threads; `None` for all available cores.
        """
        number = number_of_threads(threads)
        groups = self._groups(number)
        return LockstepRun([self._simulation(*group, defers_arrivals=True) for group in groups], number)

    def _groups(self, number: int) -> list[tuple[tuple[int, int], tuple[int, int]]]:
        """Divide the cohorts into at most `number` groups with similar numbers of arrivals.

        Returns:
            For each group, the entries of `_cohorts` at its begin and at its end.
        """
        first, last = self._cohorts[0], self._cohorts[-1]
        bounds = [first]
        for group in range(1, number if self._is_divisible else 1):
            wanted = self.size * group // number
            bound = min(self._cohorts, key=lambda cohort: abs(cohort[0] - wanted))
            if bounds[-1][0] < bound[0] < last[0]:
                bounds.append(bound)
        return list(zip(bounds, [*bounds[1:], last], strict=True))

    def _simulation(self, first: tuple[int, int], last: tuple[int, int], *, defers_arrivals: bool) -> VirtualRun:
        """Return a simulation of the cohorts between two entries of `_cohorts`."""
        import numpy as np  # noqa: PLC0415 - only on use

        generated = self.columns(slice(first[0], last[0]))
        order = np.argsort(generated["submit"], kind="stable").astype(np.int32)
        columns: dict[str, Any] = {name: values[order] for name, values in generated.items()}
        columns |= {"shape": columns["shape"] - np.int32(first[1]), "row": order + np.int32(first[0])}
        columns |= {"prefix": "w", "digits": 0, "uid_digits": 9}
        options = {**_AS_KUEUES_TEST, "start": min(self._at, default=0), "defers_arrivals": defers_arrivals}
        return VirtualRun(self.engine, self.prototypes[first[1] : last[1]], columns, options)

    def first_waits(self, run: LockstepRun) -> dict[str, int]:
        """Return the mean time from arrival to first admission by class, in whole milliseconds."""
        found: dict[str, list[int]] = {}
        for name, (wait, count) in zip(self.classes, run.first_waits(), strict=True):
            entry = found.setdefault(name, [0, 0])
            entry[0] += wait
            entry[1] += count
        return {name: wait // _MILLISECOND // count for name, (wait, count) in found.items() if count}


def perf(
    path: str,
    *,
    fair_sharing: bool = False,
    version: str = DEVELOPMENT,
    progress: Callable[[int, int], None] | None = None,
    threads: int | None = None,
) -> dict[str, Any]:
    """Simulate a profile in virtual time.

    Args:
        path: The profile.
        fair_sharing: Whether to enable fair sharing; `False` by default.
        version: The version of Kueue.
        progress: A function that is called periodically with the number of finished workloads and the number of all
            workloads.
        threads: The number of threads. Default: the number of available cores if the profile has at least 64 queues,
            and otherwise 1. Apart from `wall_s` and `peak_rss_mb`, the results do not depend on the number of threads.

    Returns:
        The numbers of `workloads`, `cycles`, `admissions`, `evictions` and `finished` workloads; `virtual_ms`, the
        virtual time in milliseconds; `wall_s`, the wall-clock time of the simulation in seconds; `mean_first_wait_ms`,
        the mean time from arrival to first admission by class, in milliseconds; and `peak_rss_mb`, the largest memory
        usage in MiB.

    Raises:
        InvalidSpecError: The profile cannot be read, or the version is unknown.
    """
    load = Load(read_profile(path), fair_sharing=fair_sharing, version=version)
    run = load.divided(1 if threads is None and load.queues < LEAST_HEADS else threads)
    begin = time.perf_counter()
    while run.advance():
        if progress is not None:
            progress(run.stats.finished, load.size)
    wall = time.perf_counter() - begin
    totals = run.stats._asdict()
    end = totals.pop("end")
    return {
        **totals,
        "virtual_ms": end // _MILLISECOND,
        "wall_s": wall,
        "mean_first_wait_ms": load.first_waits(run),
        "peak_rss_mb": _peak_rss_mb(),
    }


def _peak_rss_mb() -> float:
    """Return the largest resident set size of this process so far, in MiB.

    On Linux, `ru_maxrss` can include memory of the parent process, so the function reads the high-water mark instead.
    """
    status = Path("/proc/self/status")
    if status.exists():
        kib = next(line.split()[1] for line in status.read_text().splitlines() if line.startswith("VmHWM:"))
        return int(kib) / 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024 * 1024 if sys.platform == "darwin" else 1024)
