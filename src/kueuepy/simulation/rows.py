"""Row numbers of jobs, in the order of the core and by name."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from kueuepy.errors import InvalidSpecError, NotFoundError
from kueuepy.simulation.columns import name_of_row

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kueuepy.simulation.model import Priority
    from kueuepy.tables import Columns


def ordered(columns: dict[str, Any], order: NDArray[np.int64]) -> dict[str, Any]:
    """Reorder the rows of columns for the core; if the order changes, a column `row` is added."""
    if not bool((order[1:] > order[:-1]).all()):
        columns = {"row": np.arange(len(order), dtype=np.int32), **columns}
        columns = {name: column[order] for name, column in columns.items()}
    found = {name: np.ascontiguousarray(column) for name, column in columns.items()}
    return found | {name: list(map(str, found[name].tolist())) for name in ("names", "uids") if name in found}


def rows_of_names(table: Columns) -> dict[str, int]:
    """Return the row of each name; if a name occurs in several namespaces, return its last row."""
    names = table["name"].tolist() if "name" in table.names else ()
    return {str(name): row for row, name in enumerate(names)}


def priority_of(change: Priority) -> int:
    """Return the new priority of a `Priority` event.

    Raises:
        InvalidSpecError: The priority is not a 32-bit integer.
    """
    value: Any = change.priority
    found = int(value) if isinstance(value, Integral) and not isinstance(value, bool) else None
    if found is None or not -(2**31) <= found < 2**31:
        raise InvalidSpecError(f"events: {change}: priority: is {value!r}; it must be a whole number of 32 bits")
    return found


def name_of(jobs: Columns, row: int) -> str:
    """Return the name of a job's Workload.

    Raises:
        NotFoundError: The row does not exist.
    """
    if not 0 <= row < len(jobs):
        raise NotFoundError(f"jobs: there is no row {row}; the last one is {len(jobs) - 1}")
    return str(jobs["name"][row]) if "name" in jobs.names else name_of_row(row)


def key_of(jobs: Columns, row: int) -> str:
    """Return the key (`namespace/name`) of a job's Workload; the namespace is the one of its LocalQueue."""
    return f"{str(jobs['queue'][row]).partition('/')[0]}/{name_of(jobs, row)}"


def keys_of(jobs: Columns) -> list[str]:
    """Return the key (`namespace/name`) of each job's Workload."""
    queues, names = jobs["queue"], jobs["name"] if "name" in jobs.names else map(name_of_row, range(len(jobs)))
    spaces = [name.partition("/")[0] for name in queues.names]
    return [f"{spaces[code]}/{name}" for code, name in zip(queues.codes.tolist(), names, strict=True)]


def row_of(name: str) -> int | None:
    """Return the row of a job from its generated name, such as `j0000017`; `None` for any other name."""
    return int(name[1:]) if name[:1] == "j" and name[1:].isdigit() else None
