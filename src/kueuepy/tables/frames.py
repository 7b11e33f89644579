"""Tables: what the engine knows as NumPy arrays, and from there as pandas, polars or Arrow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kueuepy import _core
from kueuepy.errors import NotFoundError, UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

UNLIMITED = 2**63 - 1
"""What stands in a table for a limit that isn't given."""


class Categorical:
    """A column of names: a code for each row, and the names by code; code -1 is none."""

    __slots__ = ("codes", "names")

    def __init__(self, codes: NDArray[np.int32], names: Sequence[str]) -> None:
        """Holds codes and names."""
        self.codes = codes
        self.names = names

    def __getitem__(self, row: int) -> Any:
        """The name in a row."""
        code = int(self.codes[row])
        return self.names[code] if code >= 0 else None

    def __len__(self) -> int:
        """How many rows there are."""
        return len(self.codes)


Column = Any  # an array, a Categorical, or a list of texts


class Columns:
    """Columns of equal length under their names; read-only, and not changed by what happens later."""

    __slots__ = ("_columns",)

    def __init__(self, columns: Mapping[str, Column]) -> None:
        """Holds the columns."""
        self._columns = dict(columns)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self._columns)

    def __getitem__(self, name: str) -> Column:
        """One column: an array, or a list of texts.

        Raises:
            NotFoundError: There is no such column.
        """
        if name not in self._columns:
            raise NotFoundError(f'table: "{name}" names no column; it must be one of {", ".join(self._columns)}')
        return self._columns[name]

    def __len__(self) -> int:
        """How many rows there are."""
        return len(next(iter(self._columns.values()), ()))

    def __iter__(self) -> Iterator[Any]:
        """The rows, in order."""
        return iter(self._row(i) for i in range(len(self)))

    def rows(self, limit: int | None = None) -> list[dict[str, Any]]:
        """The rows as dicts, the first ones only if a limit is given."""
        return [self._row(i) for i in range(len(self) if limit is None else min(limit, len(self)))]

    def _row(self, i: int) -> dict[str, Any]:
        return {name: _plain(column[i]) for name, column in self._columns.items()}

    def to_pandas(self) -> Any:
        """A DataFrame; names are categories.

        Raises:
            UnsupportedError: pandas is not installed.
        """
        pandas = _optional("pandas")
        return pandas.DataFrame({name: _for_pandas(pandas, c) for name, c in self._columns.items()})

    def to_polars(self) -> Any:
        """A DataFrame of polars.

        Raises:
            UnsupportedError: polars is not installed.
        """
        return _optional("polars").DataFrame({name: _texts(c) for name, c in self._columns.items()})

    def to_arrow(self) -> Any:
        """A table of pyarrow; columns of numbers are not copied.

        Raises:
            UnsupportedError: pyarrow is not installed.
        """
        pyarrow = _optional("pyarrow")
        return pyarrow.table({name: _for_arrow(pyarrow, column) for name, column in self._columns.items()})

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The table as an Arrow stream (Arrow PyCapsule interface), through pyarrow."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        """How large it is."""
        return f"<{type(self).__name__}: {len(self)} rows of {', '.join(self._columns)}>"

    def _repr_html_(self) -> str:
        """The first rows as a table, for notebooks."""
        from kueuepy.display.html import columns_html  # noqa: PLC0415 - only a notebook asks

        return columns_html(self)


class WorkloadTable(Columns):
    """Every workload: `key`, `cluster_queue`, `local_queue`, `status`, `reason`, `priority`, `created`, `reserved`.

    Times are nanoseconds since the Unix epoch; `reserved` is -1 without quota. `reason` is that of `QuotaReserved`.
    """


class QueueTable(Columns):
    """Who waits: `key`, `cluster_queue`, `local_queue`, both positions from 0, `priority`, `inadmissible`.

    Source: the pending workloads of Kueue's visibility API, `apis/visibility/v1beta2`.
    """


class ShareTable(Columns):
    """Shares: `name`, `kind`, `weight`, `share`, `rounded`, `resource`, `borrowed`, `lendable`.

    `rounded` is what Kueue's status shows as weightedShare (2^63 - 1 for infinity); amounts are of the dominant
    resource, thousandths for cpu.

    Source: KEP-1714; `pkg/cache/scheduler/fair_sharing.go:dominantResourceShare`.
    """


class Grid(Columns):
    """A number for each node of the cohort forest and each flavor and resource.

    The rows of the table are the pairs of an existing node and a cell that it, or a node below it, has quota for or
    uses. The arrays themselves, such as `usage` and `nominal_quota`, have a row for each node and a column for each
    cell; they lie in the engine's memory, are read-only, and show the moment at which the table was made. As long as
    one is alive, the engine keeps that state, and copies it when it next changes, as with a fork.

    Amounts are thousandths for cpu and units for everything else; `UNLIMITED` stands for a limit that isn't given.

    Attributes:
        nodes: Name, kind, row of the parent (-1 for a root), whether it exists, whether it is an active ClusterQueue.
        cells: Flavor and resource of each column of the arrays.
    """

    __slots__ = ("_tables", "cells", "nodes")
    facts: tuple[str, ...] = ()

    def __init__(self, engine: _core.Engine) -> None:
        """Takes the tables of the engine as they are now."""
        self._tables = _core.Tables(engine)
        self.nodes = self._tables.nodes
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
        """One number.

        Raises:
            NotFoundError: There is no such node or cell.
        """
        rows = [i for i, node in enumerate(self.nodes) if node[0] == name and node[3]]
        if not rows or (flavor, resource) not in self.cells:
            raise NotFoundError(f'"{name}", "{flavor}/{resource}": there is no such node or cell in the table')
        return int(self.array(fact or self.facts[0])[rows[0], self.cells.index((flavor, resource))])

    def _long(self) -> dict[str, Column]:
        import numpy as np  # noqa: PLC0415 - only on use

        subtree, usage, nominal = self.array("subtree_quota"), self.array("usage"), self.array("nominal_quota")
        shown = (subtree != 0) | (usage != 0) | (nominal != 0)
        shown &= np.array([node[3] for node in self.nodes], dtype=bool).reshape(-1, 1)
        rows, cells = np.nonzero(shown)
        names, kinds = [node[0] for node in self.nodes], ["ClusterQueue", "Cohort"]
        kind_of = np.array([kinds.index(node[1]) for node in self.nodes], dtype=np.int32)
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


def usage_table(engine: _core.Engine) -> UsageTable:
    """The usage now."""
    return UsageTable(engine)


def quota_table(engine: _core.Engine) -> QuotaTable:
    """The quotas now."""
    return QuotaTable(engine)


def share_table(engine: _core.Engine) -> ShareTable:
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
            "borrowed": np.array([_number(share["borrowed"]) for share in facts], dtype=np.int64),
            "lendable": np.array([_number(share["lendable"]) for share in facts], dtype=np.int64),
        }
    )


def queue_table(engine: _core.Engine) -> QueueTable:
    """Who waits now."""
    return QueueTable(_columns(engine.position_columns()))


def workload_table(engine: _core.Engine) -> WorkloadTable:
    """All workloads now."""
    return WorkloadTable(_columns(engine.workload_columns()))


def _columns(view: Mapping[str, Any]) -> dict[str, Column]:
    return {name: Categorical(*column) if isinstance(column, tuple) else column for name, column in view.items()}


def _number(value: int | None) -> int:
    return UNLIMITED if value is None else value


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value


def _texts(column: Column) -> Any:
    if isinstance(column, Categorical):
        return [column[i] for i in range(len(column))]
    return column


def _for_pandas(pandas: Any, column: Column) -> Any:
    if isinstance(column, Categorical):
        names = dict.fromkeys(column.names)
        if len(names) == len(column.names):
            return pandas.Categorical.from_codes(column.codes, categories=list(names))
        return pandas.Categorical(_texts(column), categories=list(names))
    return column


def _for_arrow(pyarrow: Any, column: Column) -> Any:
    if isinstance(column, Categorical):
        codes = pyarrow.array(column.codes, mask=column.codes < 0)
        return pyarrow.DictionaryArray.from_arrays(codes, pyarrow.array(list(column.names)))
    return pyarrow.array(column)


def _optional(module: str) -> Any:
    from importlib import import_module  # noqa: PLC0415 - only on use

    try:
        return import_module(module)
    except ImportError as error:
        raise UnsupportedError(f"table: {module} is not installed; install it with: pip install {module}") from error
