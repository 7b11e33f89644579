"""Tables of the engine's state as NumPy arrays, most of which share the engine's memory."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from kueuepy._core import Engine, Quantity, Tables
from kueuepy.errors import NotFoundError, not_copied
from kueuepy.tables.columns import (
    UNLIMITED,
    Amounts,
    Categorical,
    Column,
    Columns,
    categorical,
    columns_of,
    dates,
    quantity_text,
    unit_of,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from typing_extensions import Self


"""The value of a limit that is not set."""


class WorkloadTable(Columns):
    """All workloads: `key`, `cluster_queue`, `local_queue`, `status`, `reason`, `priority`, `created`, `reserved`.

    Times are `datetime64[ns]` in UTC; `reserved` is NaT for a workload without quota. `reason` is the reason of the
    condition `QuotaReserved`; it is empty for a pending workload that no cycle has evaluated yet. `Scheduler.explain`
    evaluates it.
    """


class QueueTable(Columns):
    """Pending workloads: `key`, `cluster_queue`, `local_queue`, positions in both (from 0), `priority`, `inadmissible`.

    Source: the pending workloads of Kueue's visibility API, `apis/visibility/v1beta2`.
    """


class ShareTable(Columns):
    """Shares: `name`, `kind`, `weight`, `share`, `rounded`, `resource`, `borrowed`, `lendable`.

    `rounded` is the value of weightedShare in Kueue's status (2^63 - 1 for infinity). `borrowed` and `lendable` are
    amounts of the dominant resource, in cores, bytes or devices.

    Source: KEP-1714; `pkg/cache/scheduler/fair_sharing.go:dominantResourceShare`.
    """


class Grid(Amounts):
    """A table of numbers for each combination of a node of the cohort forest, a flavor and a resource.

    Each table row is one existing node with one flavor and resource for which the node or a descendant has quota or
    usage. The arrays, such as `usage` and `nominal_quota`, have one row per node and one column per flavor and
    resource. The arrays are read-only views of the engine's memory at the time when the table was created. While an
    array is in use, the engine does not modify the memory of the array, but copies the state before a change.

    Amounts in the table are in the unit of the resource: cores, bytes or devices. Limits that are not set are infinite.
    `quantities` returns Kubernetes quantities, which notebooks also show. Amounts in the arrays are integers, in
    millicores for cpu; `UNLIMITED` marks a limit that is not set.

    Attributes:
        nodes: The node of each row of the arrays.
        flavor_resources: The flavor and resource of each column of the arrays.
    """

    __slots__ = ("_tables", "flavor_resources", "nodes")
    __reduce__ = not_copied

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        """Return the table itself, which does not change."""
        return self

    __copy__ = __deepcopy__

    def __init__(self, engine: Engine) -> None:
        """Create a table of the engine's current state."""
        self._tables = Tables(engine)
        self.nodes = self._tables.nodes
        self.flavor_resources = self._tables.cells
        super().__init__(self._long())

    def array(self, fact: str) -> NDArray[np.int64]:
        """Return the array of one quantity, with one row per node and one column per flavor and resource.

        Args:
            fact: The name of the quantity: `usage`, `nominal_quota`, `available` and so on.
        """
        found: NDArray[np.int64] = getattr(self._tables, fact)
        return found

    @property
    def values(self) -> NDArray[np.int64]:
        """The array of the table's first quantity."""
        return self.array(self.facts[0])

    def value(self, name: str, flavor: str, resource: str, fact: str | None = None) -> int:
        """Return one amount as an integer in the engine's units.

        Args:
            name: The name of the ClusterQueue or Cohort.
            flavor: The name of the flavor.
            resource: The name of the resource.
            fact: The name of the quantity. Default: the first quantity of the table.

        Raises:
            NotFoundError: The table does not contain this node, or this combination of flavor and resource.
        """
        rows = [i for i, node in enumerate(self.nodes) if node.name == name and node.exists]
        if not rows or (flavor, resource) not in self.flavor_resources:
            raise NotFoundError(
                f'"{name}", "{flavor}/{resource}": there is no such name, flavor or resource in the table'
            )
        return int(self.array(fact or self.facts[0])[rows[0], self.flavor_resources.index((flavor, resource))])

    def quantity(self, name: str, flavor: str, resource: str, fact: str | None = None) -> Quantity | None:
        """Return one amount as a Kubernetes quantity; `None` for a limit that is not set.

        Args:
            name: The name of the ClusterQueue or Cohort.
            flavor: The name of the flavor.
            resource: The name of the resource.
            fact: The name of the quantity. Default: the first quantity of the table.

        Raises:
            NotFoundError: The table does not contain this node, or this combination of flavor and resource.
        """
        found = self.value(name, flavor, resource, fact)
        return None if found == UNLIMITED else Quantity(Quantity.format(resource, found))

    def amounts(self, fact: str | None = None) -> dict[str, dict[str, int]]:
        """Return the amounts of each ClusterQueue by `flavor/resource`, without amounts of 0.

        The amounts are integers, in millicores for cpu. `value` returns one amount, which can be 0.

        Args:
            fact: The name of the quantity, such as `usage`. Default: the first quantity of the table.
        """
        names = [f"{flavor}/{resource}" for flavor, resource in self.flavor_resources]
        found = self.array(fact or self.facts[0])
        return {
            node.name: {name: amount for name, amount in zip(names, found[row].tolist(), strict=True) if amount}
            for row, node in enumerate(self.nodes)
            if node.exists and node.kind == "ClusterQueue"
        }

    def quantities(self) -> Columns:
        """Return the table with Kubernetes quantities such as `9` and `32Gi`, or `unlimited` where no limit is set."""
        resources = self["resource"]
        texts = {
            fact: [quantity_text(resources[row], int(amount)) for row, amount in enumerate(self._columns[fact])]
            for fact in self.facts
        }
        return Columns({name: texts.get(name, self[name]) for name in self.names})

    def _long(self) -> dict[str, Column]:
        import numpy as np  # noqa: PLC0415 - only on use

        subtree, usage, nominal = self.array("subtree_quota"), self.array("usage"), self.array("nominal_quota")
        shown = (subtree != 0) | (usage != 0) | (nominal != 0)
        # A node that was deleted keeps its row, so that the others keep theirs.
        shown &= np.array([node.exists for node in self.nodes], dtype=bool).reshape(-1, 1)
        rows, pairs = np.nonzero(shown)
        names, kinds = [node.name for node in self.nodes], ["ClusterQueue", "Cohort"]
        kind_of = np.array([kinds.index(node.kind) for node in self.nodes], dtype=np.int32)
        flavors, resources = (categorical(pair[part] for pair in self.flavor_resources) for part in (0, 1))
        columns: dict[str, Column] = {
            "name": Categorical(rows.astype(np.int32), names),
            "kind": Categorical(kind_of[rows], kinds),
            "flavor": flavors[pairs],
            "resource": resources[pairs],
        }
        return columns | {fact: self.array(fact)[rows, pairs] for fact in self.facts}


class UsageTable(Grid):
    """The usage of each node, with its quota: `usage`, `nominal_quota` and `available`.

    `available` is negative if the usage of a node exceeds its quota and limits.
    """

    facts = ("usage", "nominal_quota", "available")


class QuotaTable(Grid):
    """The quotas of each node: nominal quota, limits, and derived values.

    `subtree_quota` is the quota of the node and its descendants. `guaranteed` is the amount of this quota that is never
    lent, and `potential` is the largest amount that the node could ever use.
    """

    facts = ("nominal_quota", "borrowing_limit", "lending_limit", "subtree_quota", "guaranteed", "potential")


def share_table(engine: Engine) -> ShareTable:
    """Return the current shares."""
    import numpy as np  # noqa: PLC0415 - only on use

    facts = engine.share_facts()
    return ShareTable(
        {
            "name": [share["name"] for share in facts],
            "kind": [share["kind"] for share in facts],
            "weight": np.array([share["weight"] for share in facts], dtype=np.float64),
            "share": np.array([share["share"] for share in facts], dtype=np.float64),
            "rounded": np.array([share["rounded"] for share in facts], dtype=np.int64),
            "resource": [share["resource"] for share in facts],
            "borrowed": np.array([_own(share["resource"], share["borrowed"]) for share in facts], dtype=np.float64),
            "lendable": np.array([_own(share["resource"], share["lendable"]) for share in facts], dtype=np.float64),
        }
    )


def queue_table(engine: Engine) -> QueueTable:
    """Return the pending workloads."""
    return QueueTable(columns_of(engine.position_columns()))


def workload_table(engine: Engine) -> WorkloadTable:
    """Return all workloads."""
    columns = columns_of(engine.workload_columns())
    columns["created"] = columns["created"].view("M8[ns]")
    columns["reserved"] = dates(columns["reserved"], columns["reserved"] < 0)
    return WorkloadTable(columns)


def _own(resource: str, amount: int | None) -> float:
    """Return an amount in the unit of its resource; infinity if it is unlimited."""
    return math.inf if amount is None else amount / unit_of(resource)
