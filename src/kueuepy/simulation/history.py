"""What happened in a run of jobs: who got quota and lost it, and how shares, usage and queues went."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import msgspec

from kueuepy.simulation.series import series_of
from kueuepy.tables import Columns
from kueuepy.tables.columns import categorical

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kueuepy.simulation.recorded import Recorded

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
        names, facts, cells = self["name"], self["fact"], self["flavor_resource"]
        for i, at in enumerate(self["seconds"]):
            if facts[i] == fact and (not cell or cells[i] == cell):
                found.setdefault(names[i], []).append((float(at), float(self["value"][i])))
        return found


def history_of(result: Recorded) -> HistoryTable:
    """How a run went, from its tables of usage and of what is consumed."""
    import numpy as np  # noqa: PLC0415 - only on use

    rows: list[tuple[float, _Key, float]] = []
    seen: set[str] = set()
    usage = result.usage
    for queue, cell, places in series_of(usage):
        at = usage["seconds"][places]
        facts = [("usage", cell, usage["used"][places])]
        if queue not in seen:
            seen.add(queue)
            facts += [(name, "", usage[name][places]) for name in ("share", "waiting")]
        for fact, of, values in facts:
            key = ("ClusterQueue", queue, fact, of)
            rows += [(time, key, value) for time, value in _changes(at, values.astype(np.float64))]
    consumed = result.consumed
    for queue, resource, places in series_of(consumed, ("local_queue", "resource")):
        key = ("LocalQueue", queue, "consumed", resource)
        values = consumed["consumed"][places]
        rows += [(time, key, value) for time, value in _changes(consumed["seconds"][places], values)]
    rows.sort(key=lambda row: row[:2])

    columns: dict[str, Any] = {"seconds": np.array([at for at, _, _ in rows], dtype=np.float64)}
    columns |= {
        name: categorical(key[place] for _, key, _ in rows)
        for place, name in enumerate(("kind", "name", "fact", "flavor_resource"))
    }
    return HistoryTable({**columns, "value": np.array([value for *_, value in rows], dtype=np.float64)})


def _changes(at: NDArray[Any], values: NDArray[Any]) -> list[tuple[float, float]]:
    """The last value of each moment, where it is not what it was; before the first, it is 0."""
    found: list[tuple[float, float]] = []
    last = 0.0
    for place, value in enumerate(values.tolist()):
        if place + 1 < len(at) and at[place + 1] == at[place]:
            continue
        if value != last:
            found.append((float(at[place]), value))
        last = value
    return found
