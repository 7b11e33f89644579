"""Fragmentation: the largest job that fits into a topology, by pod size, now and under other placement profiles.

Feature gates of Kueue select the profile. `Mixed`, the default, uses BestFit, and LeastFreeCapacity for unconstrained
pods. `BestFit` disables TASProfileMixed, and `Balanced` enables TASBalancedPlacement.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from kueuepy.errors import InvalidSpecError, checked
from kueuepy.look.notebook import Sheet, Shown
from kueuepy.objects import QuantityText, Workload
from kueuepy.scheduler import Scheduler
from kueuepy.tables.columns import Columns, table_of
from kueuepy.topology import RackMap
from kueuepy.topology.rackmap import text_of

NOW = "now"
PROFILES: dict[str, dict[str, bool]] = {
    "Mixed": {"TASProfileMixed": True, "TASBalancedPlacement": False},
    "BestFit": {"TASProfileMixed": False, "TASBalancedPlacement": False},
    "Balanced": {"TASProfileMixed": True, "TASBalancedPlacement": True},
}
"""The feature gates of each profile."""


class Row(msgspec.Struct, frozen=True):
    """The largest job for one pod size, level and profile.

    Attributes:
        profile: `now` for the current placement; for a new placement of all workloads, the name of the placement
            profile.
        requests: Requests of each pod.
        level: Level of the domain into which the job must fit; empty for the whole topology.
        largest: Largest number of pods that fit together.
        if_empty: Largest number of pods that would fit without workloads.
        unplaced: Number of workloads that are placed now but do not fit under the profile `profile`.
    """

    profile: str
    requests: dict[str, Any]
    level: str
    largest: int
    if_empty: int
    unplaced: int = 0


class Fragmentation(msgspec.Struct, Shown, frozen=True):
    """The largest jobs that fit, by placement profile, pod size and topology level; displayed as a table in notebooks.

    Attributes:
        topology: Name of the Topology.
        flavor: Name of the ResourceFlavor.
        rows: One row for each profile, pod size and level.
    """

    topology: str
    flavor: str
    rows: tuple[Row, ...]

    def largest(self, level: str = "", profile: str = NOW) -> list[int]:
        """Return the largest numbers of pods for one level and profile, in the order of the pod sizes."""
        return [row.largest for row in self.rows if row.level == level and row.profile == profile]

    @property
    def table(self) -> Columns:
        """The rows as a table."""
        names = ("profile", "pod", "level", "largest", "if_empty", "unplaced")
        rows = ((r.profile, text_of(r.requests), r.level, r.largest, r.if_empty, r.unplaced) for r in self.rows)
        return table_of(names, rows)

    def sheets(self) -> tuple[Sheet, ...]:
        """Return one table with a row for each profile and pod size, and a column for each level."""
        levels = list(dict.fromkeys(row.level for row in self.rows))
        cells: dict[tuple[str, str], dict[str, Row]] = {}
        for row in self.rows:
            cells.setdefault((row.profile, text_of(row.requests)), {})[row.level] = row
        header = ("profile", "requests per pod", *(level or "all" for level in levels), "workloads that do not fit")
        rows = [
            (*key, *(f"{by[level].largest} of {by[level].if_empty}" for level in levels), by[levels[0]].unplaced)
            for key, by in cells.items()
        ]
        place = f"{self.topology} ({self.flavor})"
        caption = f"largest number of pods that fit in {place}, of the number without workloads"
        return (Sheet(header, rows, caption),)


@checked
def fragmentation(
    scheduler: Scheduler,
    name: str,
    sizes: Iterable[Mapping[str, QuantityText]],
    *,
    flavor: str | None = None,
    profiles: Iterable[str] = (),
) -> Fragmentation:
    """Compute the largest jobs that fit into a topology now, or would fit if other profiles had placed the workloads.

    Args:
        scheduler: The Scheduler, which is not changed.
        name: Name of the Topology.
        sizes: Requests per pod, such as `[{"nvidia.com/gpu": 1}, {"nvidia.com/gpu": 8}]`.
        flavor: Name of the ResourceFlavor; required if several flavors use the topology.
        profiles: Any of `Mixed`, `BestFit` and `Balanced`. For each profile, the placed workloads are submitted again
            to empty nodes, one by one in the order of their quota reservation.

    Returns: The largest jobs that fit, by placement profile, pod size and topology level.

    Raises:
        NotFoundError: The topology does not exist, or no flavor uses it.
        InvalidSpecError: A request is not a quantity, a profile is unknown, or `flavor` is missing.
    """
    asked = [dict(size) for size in sizes]
    found = scheduler.topology(name, flavor=flavor)
    rows = list(_rows(found, NOW, asked, 0))
    for profile in profiles:
        if profile not in PROFILES:
            raise InvalidSpecError(f'profiles: is "{profile}"; it must be one of {", ".join(PROFILES)}')
        placed, unplaced = _replaced(scheduler, PROFILES[profile])
        rows += _rows(placed.topology(name, flavor=flavor), profile, asked, unplaced)
    return Fragmentation(found.topology, found.flavor, tuple(rows))


def _rows(found: RackMap, profile: str, sizes: Sequence[dict[str, Any]], unplaced: int) -> Iterable[Row]:
    for size in sizes:
        now, empty = found.largest(size), found.largest(size, empty=True)
        yield from (Row(profile, size, level, count, empty[level], unplaced) for level, count in now.items())


def _replaced(scheduler: Scheduler, gates: dict[str, bool]) -> tuple[Scheduler, int]:
    """Place all placed workloads again under different feature gates.

    Also return the number of workloads that do not fit.
    """
    configuration = scheduler.configuration
    changed = msgspec.structs.replace(configuration, feature_gates={**configuration.feature_gates, **gates})
    fresh = scheduler.with_configuration(changed)
    workloads = sorted(filter(_has_place, map(fresh.workload, fresh.keys())), key=_reserved)
    # All workloads are placed again in their order of admission, beginning with empty nodes.
    fresh.delete(*fresh.keys())
    for workload in workloads:
        fresh.submit(msgspec.structs.replace(workload, status=None))
        fresh.settle()
    return fresh, sum(not _has_place(fresh.workload(workload.key)) for workload in workloads)


def _has_place(workload: Workload) -> bool:
    admission = workload.status.admission if workload.status else None
    return admission is not None and any(one.topology_assignment for one in admission.pod_set_assignments)


def _reserved(workload: Workload) -> int:
    assert workload.status is not None
    return next(c.last_transition_time.value for c in workload.status.conditions if c.type == "QuotaReserved")
