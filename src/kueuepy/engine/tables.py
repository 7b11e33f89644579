"""What an engine knows as tables: NumPy arrays, most of them the engine's own memory."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from kueuepy._core import Engine, Quantity, Tables
from kueuepy.engine.nodes import Node
from kueuepy.errors import NotFoundError
from kueuepy.notebook import MOST_ROWS, Sheet
from kueuepy.tables import Categorical, Column, Columns
from kueuepy.tables.columns import own_units

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray


UNLIMITED = 2**63 - 1
"""What stands in a table for a limit that isn't given."""


class WorkloadTable(Columns):
    """Every workload: `key`, `cluster_queue`, `local_queue`, `status`, `reason`, `priority`, `created`, `reserved`.

    Times are `datetime64[ns]` in UTC; `reserved` is NaT without quota. `reason` is that of `QuotaReserved`.
    """


class QueueTable(Columns):
    """Who waits: `key`, `cluster_queue`, `local_queue`, both positions from 0, `priority`, `inadmissible`.

    Source: the pending workloads of Kueue's visibility API, `apis/visibility/v1beta2`.
    """


class ShareTable(Columns):
    """Shares: `name`, `kind`, `weight`, `share`, `rounded`, `resource`, `borrowed`, `lendable`.

    `rounded` is what Kueue's status shows as weightedShare (2^63 - 1 for infinity); amounts are of the dominant
    resource: cores, bytes or devices.

    Source: KEP-1714; `pkg/cache/scheduler/fair_sharing.go:dominantResourceShare`.
    """


class Grid(Columns):
    """A number for each node of the cohort forest and each flavor and resource.

    The rows of the table are the pairs of an existing node and a cell that it, or a node below it, has quota for or
    uses. The arrays themselves, such as `usage` and `nominal_quota`, have a row for each node and a column for each
    cell; they lie in the engine's memory, are read-only, and show the moment at which the table was made. As long as
    one is alive, the engine keeps that state, and copies it when it next changes, as with a fork.

    Amounts of the table are in the unit of the resource: cores, bytes, devices; a limit that isn't given is infinite.
    `quantities` has them as Kubernetes writes them, and so has what a notebook shows. Those of the arrays are the
    engine's integers: thousandths for cpu, and `UNLIMITED` for a limit that isn't given.

    Attributes:
        nodes: What stands in each row of the arrays.
        cells: Flavor and resource of each column of the arrays.
    """

    __slots__ = ("_tables", "cells", "nodes")
    facts: tuple[str, ...] = ()

    def __init__(self, engine: Engine) -> None:
        """Takes the tables of the engine as they are now."""
        self._tables = Tables(engine)
        self.nodes = [Node(*row) for row in self._tables.nodes]
        self.cells = self._tables.cells
        super().__init__(self._long())

    def array(self, fact: str) -> NDArray[np.int64]:
        """The array of one fact: `usage`, `nominal_quota`, `available` and so on."""
        found: NDArray[np.int64] = getattr(self._tables, fact)
        return found

    @property
    def values(self) -> NDArray[np.int64]:
        """The array of the table's first fact."""
        return self.array(self.facts[0])

    def value(self, name: str, flavor: str, resource: str, fact: str | None = None) -> int:
        """One number, an integer of the engine.

        Raises:
            NotFoundError: There is no such node or cell.
        """
        rows = [i for i, node in enumerate(self.nodes) if node.name == name and node.exists]
        if not rows or (flavor, resource) not in self.cells:
            raise NotFoundError(f'"{name}", "{flavor}/{resource}": there is no such node or cell in the table')
        return int(self.array(fact or self.facts[0])[rows[0], self.cells.index((flavor, resource))])

    def quantity(self, name: str, flavor: str, resource: str, fact: str | None = None) -> Quantity | None:
        """The same as a quantity; `None` for a limit that isn't given.

        Raises:
            NotFoundError: There is no such node or cell.
        """
        found = self.value(name, flavor, resource, fact)
        return None if found == UNLIMITED else Quantity(Quantity.format(resource, found))

    def quantities(self) -> Columns:
        """The rows with amounts as Kubernetes writes them, such as `9` and `32Gi`; `unlimited` without a limit."""
        resources = self["resource"]
        texts = {
            fact: [_written(resources[row], int(amount)) for row, amount in enumerate(self._columns[fact])]
            for fact in self.facts
        }
        return Columns({name: texts.get(name, self[name]) for name in self.names})

    def _column(self, name: str) -> Column:
        """Return a column; amounts in the unit of the resource."""
        column = self._columns[name]
        return own_units(column, self._columns["resource"]) if name in self.facts else column

    def sheets(self) -> tuple[Sheet]:
        """The first rows, with amounts as Kubernetes writes them."""
        rows = [
            [_written(row["resource"], row[name]) if name in self.facts else row[name] for name in self.names]
            for row in Columns(self._columns).rows(MOST_ROWS)
        ]
        return (Sheet(self.names, rows, total=len(self)),)

    def _long(self) -> dict[str, Column]:
        import numpy as np  # noqa: PLC0415 - only on use

        subtree, usage, nominal = self.array("subtree_quota"), self.array("usage"), self.array("nominal_quota")
        shown = (subtree != 0) | (usage != 0) | (nominal != 0)
        shown &= np.array([node.exists for node in self.nodes], dtype=bool).reshape(-1, 1)
        rows, cells = np.nonzero(shown)
        names, kinds = [node.name for node in self.nodes], ["ClusterQueue", "Cohort"]
        kind_of = np.array([kinds.index(node.kind) for node in self.nodes], dtype=np.int32)
        flavors = list(dict.fromkeys(flavor for flavor, _ in self.cells))
        resources = list(dict.fromkeys(resource for _, resource in self.cells))
        flavor_of = np.array([flavors.index(flavor) for flavor, _ in self.cells], dtype=np.int32)
        resource_of = np.array([resources.index(resource) for _, resource in self.cells], dtype=np.int32)
        columns: dict[str, Column] = {
            "name": Categorical(rows.astype(np.int32), names),
            "kind": Categorical(kind_of[rows], kinds),
            "flavor": Categorical(flavor_of[cells], flavors),
            "resource": Categorical(resource_of[cells], resources),
        }
        return columns | {fact: self.array(fact)[rows, cells] for fact in self.facts}


class UsageTable(Grid):
    """What each node uses, beside what it has: `usage`, `nominal_quota`, `available` (negative where over-admitted)."""

    facts = ("usage", "nominal_quota", "available")


class QuotaTable(Grid):
    """The quotas of each node: nominal, limits, and what follows from them.

    `subtree_quota` is what the node and all below it have, `guaranteed` the part that is never lent, `potential` the
    most that it could ever use.
    """

    facts = ("nominal_quota", "borrowing_limit", "lending_limit", "subtree_quota", "guaranteed", "potential")


def usage_table(engine: Engine) -> UsageTable:
    """The usage now."""
    return UsageTable(engine)


def quota_table(engine: Engine) -> QuotaTable:
    """The quotas now."""
    return QuotaTable(engine)


def share_table(engine: Engine) -> ShareTable:
    """The shares now."""
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
    """Who waits now."""
    return QueueTable(_columns(engine.position_columns()))


def workload_table(engine: Engine) -> WorkloadTable:
    """All workloads now."""
    import numpy as np  # noqa: PLC0415 - only on use

    columns = _columns(engine.workload_columns())
    columns["created"] = columns["created"].view("M8[ns]")
    columns["reserved"] = np.where(columns["reserved"] < 0, _NAT, columns["reserved"]).view("M8[ns]")
    return WorkloadTable(columns)


_NAT = -(2**63)


def _columns(view: Mapping[str, Any]) -> dict[str, Column]:
    return {name: Categorical(*column) if isinstance(column, tuple) else column for name, column in view.items()}


def _written(resource: str, amount: int) -> str:
    return "unlimited" if amount == UNLIMITED else Quantity.format(resource, amount)


def _own(resource: str, amount: int | None) -> float:
    """Return an amount in the unit of its resource; infinite without a limit."""
    return math.inf if amount is None else amount / (1000 if resource == "cpu" else 1)
