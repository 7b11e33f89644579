"""Fragmentation: the largest job that a topology could place now, by the size of its pods, and under other profiles.

The profiles are what Kueue's feature gates choose between: `Mixed` (BestFit, and LeastFreeCapacity for pods that may go
anywhere) is the default, `BestFit` is TASProfileMixed off, `Balanced` is TASBalancedPlacement on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from kueuepy.errors import InvalidSpecError
from kueuepy.errors.arguments import checked
from kueuepy.notebook import Sheet, repr_html, repr_text
from kueuepy.tables import Columns

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from typing_extensions import Self

    from kueuepy.objects import Configuration, QuantityText, Workload
    from kueuepy.topology.rackmap import RackMap

NOW = "now"
PROFILES: dict[str, dict[str, bool]] = {
    "Mixed": {"TASProfileMixed": True, "TASBalancedPlacement": False},
    "BestFit": {"TASProfileMixed": False, "TASBalancedPlacement": False},
    "Balanced": {"TASProfileMixed": True, "TASBalancedPlacement": True},
}
"""The feature gates of each profile."""


class Row(msgspec.Struct, frozen=True):
    """The largest jobs of one size of pods.

    Attributes:
        profile: `now` for the workloads where they are; else where this profile would have placed them.
        requests: What each pod asks for.
        level: Of one domain of this level; empty for all domains together.
        largest: The most pods that have a place together.
        if_empty: The same if no workload was there.
        unplaced: How many workloads that have a place now have none under this profile.
    """

    profile: str
    requests: dict[str, Any]
    level: str
    largest: int
    if_empty: int
    unplaced: int = 0


class Fragmentation(msgspec.Struct, frozen=True):
    """The largest jobs by profile, size and level; a notebook shows a table.

    Attributes:
        topology: The Topology's name.
        flavor: The ResourceFlavor's name.
        rows: One for each profile, size and level.
    """

    topology: str
    flavor: str
    rows: tuple[Row, ...]

    def largest(self, level: str = "", profile: str = NOW) -> list[int]:
        """The largest counts of one level and profile, in the order of the sizes."""
        return [row.largest for row in self.rows if row.level == level and row.profile == profile]

    @property
    def table(self) -> Columns:
        """The rows as columns."""
        import numpy as np  # noqa: PLC0415 - only on use

        numbers = ("largest", "if_empty", "unplaced")
        texts: dict[str, Any] = {
            "profile": [row.profile for row in self.rows],
            "pod": [text_of(row.requests) for row in self.rows],
            "level": [row.level for row in self.rows],
        }
        return Columns({**texts, **{n: np.array([getattr(r, n) for r in self.rows], dtype=np.int64) for n in numbers}})

    def sheets(self) -> tuple[Sheet, ...]:
        """One table: a row for each profile and size, a column for each level."""
        levels = list(dict.fromkeys(row.level for row in self.rows))
        cells: dict[tuple[str, str], dict[str, Row]] = {}
        for row in self.rows:
            cells.setdefault((row.profile, text_of(row.requests)), {})[row.level] = row
        header = ("profile", "a pod asks for", *(level or "all" for level in levels), "workloads without a place")
        rows = [
            (*key, *(f"{by[level].largest} of {by[level].if_empty}" for level in levels), by[levels[0]].unplaced)
            for key, by in cells.items()
        ]
        return (
            Sheet(
                header,
                rows,
                f"most pods that have a place in {self.topology} ({self.flavor}), of those if it was empty",
            ),
        )

    def __str__(self) -> str:
        """A line for each row of the table."""
        return repr_text(self.sheets(), self)

    _repr_html_ = repr_html


class Runs(Protocol):
    """What is asked of a Scheduler here."""

    @property
    def configuration(self) -> Configuration:
        """The policies that it was made with."""

    def topology(self, name: str, *, flavor: str | None = None) -> RackMap:
        """A topology as it is now."""

    def with_configuration(self, configuration: Configuration) -> Self:
        """One with the same objects and workloads under another Configuration."""

    def keys(self) -> tuple[str, ...]:
        """The keys of all workloads."""

    def workload(self, key: str) -> Workload:
        """A Workload with its status."""

    def delete(self, *keys: str) -> None:
        """The workloads are gone."""

    def submit(self, *items: Any) -> tuple[str, ...]:
        """New workloads."""

    def settle(self) -> object:
        """Runs cycles until nothing changes."""


@checked
def fragmentation(
    scheduler: Runs,
    name: str,
    sizes: Iterable[Mapping[str, QuantityText]],
    *,
    flavor: str | None = None,
    profiles: Iterable[str] = (),
) -> Fragmentation:
    """The largest jobs that have a place now, and where other profiles had placed the same workloads.

    Args:
        scheduler: The Scheduler, which stays as it is.
        name: The Topology.
        sizes: What each pod of a job asks for, such as `[{"nvidia.com/gpu": 1}, {"nvidia.com/gpu": 8}]`.
        flavor: Which ResourceFlavor's nodes, where several have the topology.
        profiles: `Mixed`, `BestFit` or `Balanced`. For each, the workloads that have a place now come again one by
            one, in the order in which they got their quota, to the same nodes without anybody else.

    Raises:
        NotFoundError: No flavor has the topology, or it is not there.
        InvalidSpecError: A request is no amount, or there is no such profile.
    """
    asked = [dict(size) for size in sizes]
    found = scheduler.topology(name, flavor=flavor)
    rows = list(_rows(found, NOW, asked, 0))
    for profile in profiles:
        if profile not in PROFILES:
            raise InvalidSpecError(f'profiles: "{profile}" is none; it must be one of {", ".join(PROFILES)}')
        placed, unplaced = _replaced(scheduler, PROFILES[profile])
        rows += _rows(placed.topology(name, flavor=flavor), profile, asked, unplaced)
    return Fragmentation(found.topology, found.flavor, tuple(rows))


def _rows(found: RackMap, profile: str, sizes: Sequence[dict[str, Any]], unplaced: int) -> Iterable[Row]:
    for size in sizes:
        now, empty = found.largest(size), found.largest(size, empty=True)
        yield from (Row(profile, size, level, count, empty[level], unplaced) for level, count in now.items())


def _replaced(scheduler: Runs, gates: dict[str, bool]) -> tuple[Runs, int]:
    """The workloads that have a place, placed anew under these gates; and how many found none."""
    configuration = scheduler.configuration
    changed = msgspec.structs.replace(configuration, feature_gates={**configuration.feature_gates, **gates})
    fresh = scheduler.with_configuration(changed)
    workloads = sorted(filter(_has_place, map(fresh.workload, fresh.keys())), key=_reserved)
    fresh.delete(*fresh.keys())
    for workload in workloads:
        fresh.submit(msgspec.structs.replace(workload, status=None))
        fresh.settle()
    return fresh, sum(not _has_place(fresh.workload(workload.key)) for workload in workloads)


def _has_place(workload: Workload) -> bool:
    admission = workload.status.admission if workload.status else None
    return admission is not None and any(one.topology_assignment for one in admission.pod_set_assignments)


def _reserved(workload: Workload) -> int:
    """When it got its quota."""
    assert workload.status is not None
    return next(c.last_transition_time.value for c in workload.status.conditions if c.type == "QuotaReserved")


def text_of(requests: Mapping[str, Any]) -> str:
    """What a pod asks for, in words."""
    return ", ".join(f"{name} {amount}" for name, amount in requests.items()) or "nothing"
