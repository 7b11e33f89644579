"""What happened in a run of jobs: who got quota and lost it, and how shares, usage and queues went."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import msgspec

from kueuepy.engine.inventory import cluster_queues
from kueuepy.objects import SECOND
from kueuepy.tables import Categorical, Columns

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kueuepy import _core

Fact = Literal["share", "usage", "waiting", "consumed"]
_Key = tuple[str, str, str, str]


class Move(msgspec.Struct, frozen=True):
    """A decision that moved a job in or out.

    Attributes:
        seconds: When, in seconds after the start of the run.
        workload: The key of the job's workload.
        cluster_queue: Its ClusterQueue.
        kind: `QuotaReserved` or `Evicted`, as Kueue's events are called.
        flavors: With quota, the flavor of each resource, by pod set.
        reason: Of an eviction, in Kueue's word.
        rule: Of a preemption, by which rule: `InClusterQueue`, `InCohortReclamation`, `InCohortFairSharing` or
            `InCohortReclaimWhileBorrowing`.
        preemptor: Of a preemption, who needs the quota.
    """

    seconds: float
    workload: str
    cluster_queue: str
    kind: Literal["QuotaReserved", "Evicted"]
    flavors: dict[str, dict[str, str]]
    reason: str = ""
    rule: str = ""
    preemptor: str = ""

    def __str__(self) -> str:
        """What happened, without when and to whom."""
        if self.kind == "QuotaReserved":
            names = sorted({flavor for flavors in self.flavors.values() for flavor in flavors.values()})
            return f"gets quota{' on ' + ', '.join(names) if names else ''}"
        return f"is preempted by {self.preemptor}: {self.rule}" if self.rule else f"is evicted: {self.reason}"


class HistoryTable(Columns):
    """How a run went, tidy: `seconds`, `kind`, `name`, `fact`, `cell`, `value`; a row where a value changes.

    | `fact` | of each | is |
    | --- | --- | --- |
    | `share` | ClusterQueue | its weighted dominant resource share |
    | `usage` | ClusterQueue | what it uses of a flavor and resource (`cell`); thousandths for cpu |
    | `waiting` | ClusterQueue | how many of its workloads wait |
    | `consumed` | LocalQueue | its decayed usage of a resource (`cell`) under admission fair sharing |

    A value holds until the next row of the same; before the first it is 0.
    """

    def series(self, fact: Fact, cell: str = "") -> dict[str, list[tuple[float, float]]]:
        """By name, the moments at which the fact changed, and to what."""
        found: dict[str, list[tuple[float, float]]] = {}
        names, facts, cells = self["name"], self["fact"], self["cell"]
        for i, at in enumerate(self["seconds"]):
            if facts[i] == fact and (not cell or cells[i] == cell):
                found.setdefault(names[i], []).append((float(at), float(self["value"][i])))
        return found


class Recorder:
    """Notes what changed, moment by moment."""

    def __init__(self, engine: _core.Engine, start: int, *, consumed: bool) -> None:
        """Starts with everything 0.

        Args:
            engine: The engine to look at.
            start: The time at which the run starts.
            consumed: Whether admission fair sharing is on.
        """
        self._engine, self._start, self._consumed = engine, start, consumed
        self._series: dict[_Key, list[tuple[float, float]]] = {}

    def note(self) -> None:
        """Looks at the engine now."""
        seen = dict(self._look())
        seconds = (self._engine.now - self._start) / SECOND
        for key in self._series.keys() - seen.keys():
            seen[key] = 0.0
        for key, value in seen.items():
            moments = self._series.get(key)
            if value != (moments[-1][1] if moments else 0.0):
                self._series.setdefault(key, []).append((seconds, value))

    def _look(self) -> Iterator[tuple[_Key, float]]:
        for view in cluster_queues(self._engine):
            yield ("ClusterQueue", view.name, "share", ""), view.share
            yield ("ClusterQueue", view.name, "waiting", ""), float(view.active + view.inadmissible)
            for flavor, resources in view.holdings:
                for resource, reserved, *_ in resources:
                    yield ("ClusterQueue", view.name, "usage", f"{flavor}/{resource}"), float(reserved)
        if self._consumed:
            for name, amounts in self._engine.consumed().items():
                for resource, text in amounts.items():
                    yield ("LocalQueue", name, "consumed", resource), float(text)

    def _of(self, name: str, fact: Fact) -> Iterator[tuple[str, list[tuple[float, float]]]]:
        for (_, whose, what, cell), moments in self._series.items():
            if (whose, what) == (name, fact):
                yield cell, moments

    def means(self, name: str, fact: Fact, seconds: float) -> dict[str, float]:
        """By cell, the mean over a run of so many seconds; the last value if it took no time."""
        return {cell: _mean(moments, seconds) for cell, moments in self._of(name, fact)}

    def largest(self, name: str, fact: Fact) -> float:
        """The largest value that a fact ever had."""
        return max((value for _, moments in self._of(name, fact) for _, value in moments), default=0.0)

    def table(self) -> HistoryTable:
        """Everything that was noted, in the order of time."""
        import numpy as np  # noqa: PLC0415 - only on use

        rows = [(at, key, value) for key, moments in self._series.items() for at, value in moments]
        rows.sort(key=lambda row: row[:2])

        def names(place: int) -> Categorical:
            known: dict[str, int] = {}
            codes = [known.setdefault(key[place], len(known)) for _, key, _ in rows]
            return Categorical(np.array(codes, dtype=np.int32), list(known))

        columns: dict[str, Any] = {"seconds": np.array([at for at, _, _ in rows], dtype=np.float64)}
        columns |= {name: names(place) for place, name in enumerate(("kind", "name", "fact", "cell"))}
        return HistoryTable({**columns, "value": np.array([value for *_, value in rows], dtype=np.float64)})


def _mean(moments: list[tuple[float, float]], seconds: float) -> float:
    if not seconds:
        return moments[-1][1]
    ends = [at for at, _ in moments[1:]] + [seconds]
    # No time of infinity is nothing.
    return sum(value * (end - at) for (at, value), end in zip(moments, ends, strict=True) if end > at) / seconds
