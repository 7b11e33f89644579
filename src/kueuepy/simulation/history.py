"""The history of a simulation: quota reservations and evictions; shares, usage and queue lengths over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import msgspec

from kueuepy.simulation.series import series_of
from kueuepy.tables import Columns
from kueuepy.tables.columns import categorical, exact

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kueuepy.simulation.recorded import Recorded

Fact = Literal["share", "usage", "waiting", "consumed"]
_Key = tuple[str, str, str, str]


class Move(msgspec.Struct, frozen=True):
    """A quota reservation or an eviction.

    Attributes:
        seconds: The time, in seconds after the start of the simulation.
        workload: The key of the job's Workload, `namespace/name`.
        cluster_queue: Its ClusterQueue.
        kind: `QuotaReserved` or `Evicted`, as in Kueue's events.
        flavors: For a reservation, the flavor of each resource, by pod set.
        reason: For an eviction, Kueue's reason.
        rule: For a preemption, the rule: `InClusterQueue`, `InCohortReclamation`, `InCohortFairSharing` or
            `InCohortReclaimWhileBorrowing`.
        preemptor: For a preemption, the key of the preempting workload.
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
        """Return a description without time and workload."""
        if self.kind == "QuotaReserved":
            names = sorted({flavor for flavors in self.flavors.values() for flavor in flavors.values()})
            return f"gets quota{' on ' + ', '.join(names) if names else ''}"
        return f"is preempted by {self.preemptor}: {self.rule}" if self.rule else f"is evicted: {self.reason}"


class HistoryTable(Columns):
    """History of a simulation: `seconds`, `kind`, `name`, `fact`, `flavor_resource` and `value`, one row per change.

    | `fact` | `kind` | `value` |
    | --- | --- | --- |
    | `share` | ClusterQueue | weighted dominant resource share |
    | `usage` | ClusterQueue | usage of a flavor and resource (`flavor_resource`); thousandths for cpu |
    | `waiting` | ClusterQueue | number of waiting workloads |
    | `consumed` | LocalQueue | decayed usage of a resource (`flavor_resource`) under admission fair sharing |

    A value applies until the next row with the same `name`, `fact` and `flavor_resource`; before the first row it is 0.
    """

    def series(self, fact: Fact, cell: str = "") -> dict[str, list[tuple[float, float]]]:
        """Return the changes of a fact by name, as pairs of time in seconds and new value.

        Args:
            fact: The fact.
            cell: The `flavor/resource` or resource; by default, all.
        """
        found: dict[str, list[tuple[float, float]]] = {}
        names, facts, cells = self["name"], self["fact"], self["flavor_resource"]
        for i, at in enumerate(self["seconds"]):
            if facts[i] == fact and (not cell or cells[i] == cell):
                found.setdefault(names[i], []).append((float(at), float(self["value"][i])))
        return found


def history_of(result: Recorded) -> HistoryTable:
    """Return the history of a simulation from its tables of usage and consumption."""
    import numpy as np  # noqa: PLC0415 - only on use

    rows: list[tuple[float, _Key, float]] = []
    seen: set[str] = set()
    usage = exact(result.usage)
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
    """Return the last value at each time if it differs from the previous one; the value is 0 before the first time."""
    found: list[tuple[float, float]] = []
    last = 0.0
    for place, value in enumerate(values.tolist()):
        if place + 1 < len(at) and at[place + 1] == at[place]:
            continue
        if value != last:
            found.append((float(at[place]), value))
        last = value
    return found
