"""The columns of a table of jobs: allowed values, and constraints between columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kueuepy.errors import InvalidSpecError
from kueuepy.objects import SECOND
from kueuepy.objects.times import LATEST, LONGEST
from kueuepy.simulation.values import SPAN, SPAN_OR_NEVER, TIME, TIME_OR_UNKNOWN, amount, whole
from kueuepy.tables import Categorical
from kueuepy.tables.columns import categorical, exact

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from kueuepy.simulation.values import Column
    from kueuepy.tables import Columns

ALIASES = {"gpu": "nvidia.com/gpu", "mem": "memory", "duration": "runtime", "local_queue": "queue"}
"""Alternative names of columns."""
SPANS = ("runtime", "limit", "every", "cost", "restore", "grace")
CREATED = "kueuepy:created"
"""The column of creation times from performance profiles; queues are ordered by it instead of `submit`."""
RESERVED = ("template", CREATED)
"""Names of columns that only the package creates."""
EPOCHAL = 10 * 365 * 86400 * SECOND
"""A submission at least this long after 1970 is a date; an earlier one is relative to another origin."""
NATIVE = ("cpu", "memory", "ephemeral-storage")
NEVER = -1
"""The runtime of a job that never ends, and the value of an optional span that is not set."""

Note = tuple[str, int]


def is_resource(name: str) -> bool:
    """Return whether a column with the given name contains pod requests."""
    return name in NATIVE or "/" in name


def read_column(column: Column, notes: list[Note]) -> Any:
    """Read a column of jobs according to its name, and add a note if values are replaced with a default.

    Raises:
        InvalidSpecError: The name is reserved, or a value is invalid.
    """
    name = column.name
    if name in RESERVED:
        raise InvalidSpecError(
            f'jobs: column "{name}": is a reserved name; it must be renamed, as with map={{"own_{name}": "{name}"}}'
        )
    if name in _READERS:
        found = _READERS[name](column)
    else:
        kind = _KINDS.get(name) or (amount(name) if is_resource(name) else None)
        found = column.kept() if kind is None else column.integers(kind)
    default = "infinite" if name == "runtime" else "0" if name == "priority" or is_resource(name) else ""
    if default and (absent := int(column.missing().sum())):
        notes.append((f"{name} is missing; treated as {default}", absent))
    notes += column.notes
    return found


def public_column(name: str, columns: Mapping[str, Any] | Columns) -> Any:
    """Return a column of jobs in the units of the public table; dates, devices and bytes are not copied."""
    column = columns[name]
    if name in ("submit", "recorded_start", CREATED):
        absent = column < 0
        if len(column) and int(columns["submit"].min()) >= EPOCHAL:
            return (np.where(absent, _NAT, column) if absent.any() else column).view("M8[ns]")
        return np.where(absent, np.nan, column / SECOND)
    return np.where(column < 0, np.inf, column / SECOND) if name == "runtime" else public_given(name, column)


def public_given(name: str, column: Any) -> Any:
    """Return a column of jobs that a result copies unchanged from its input, in the units of the public table."""
    if name in SPANS and name != "runtime":
        return np.where(column < 0, np.inf if name == "limit" else np.nan, column / SECOND)
    return column / 1000 if name == "cpu" else column


_NAT = np.iinfo(np.int64).min


def core_amounts(table: Columns, name: str) -> NDArray[Any]:
    """Return the request of each pod as an integer in the unit of the usage tables (millicores for CPU)."""
    amounts: NDArray[Any] = exact(table)[name]
    return amounts


def name_of_row(row: int) -> str:
    """Return the generated name of a job's Workload."""
    return f"j{row:07d}"


def _submissions(column: Column) -> NDArray[np.int64]:
    found = column.integers(TIME)
    column.refuse(found < 0, "it must be given")
    return found


def _runtimes(column: Column) -> NDArray[np.int64]:
    found = column.integers(SPAN_OR_NEVER)
    # `Jobs` itself returns infinity for jobs that never end.
    infinite = 0 if column.numbers is None else int((column.numbers == np.inf).sum())
    if endless := int((found < 0).sum()) - int(column.missing().sum()) - infinite:
        column.notes.append(("runtime is -1; the job never ends", endless))
    return found


def _names(column: Column) -> NDArray[Any]:
    """Return the names of Workloads, with a generated name where no name is set."""
    found = np.array(column.texts(), object)
    for row in np.flatnonzero(column.missing()).tolist():
        found[row] = name_of_row(row)
    return found


def _uids(column: Column) -> NDArray[Any]:
    """Return the UIDs, with an empty string where no UID is set."""
    found = np.array(column.texts(), object)
    first: dict[str, int] = {}
    for row, uid in enumerate(found.tolist()):
        if uid and first.setdefault(uid, row) != row:
            raise column.error(row, f"row {first[uid]} has it, too; each job must have its own")
    return found


def _queues(column: Column) -> Categorical:
    """Return LocalQueues as `namespace/name`; the namespace is `default` if it is missing."""
    found = column.names()
    column.refuse(found.codes < 0, "it must be given")
    names = categorical(name if "/" in name else f"default/{name}" for name in found.names)
    return Categorical(names.codes[found.codes], names.names)


_READERS: dict[str, Callable[[Column], Any]] = {
    "submit": _submissions,
    "runtime": _runtimes,
    "queue": _queues,
    "name": _names,
    "uid": _uids,
    "flavor": lambda column: column.names(),
    "namespace": lambda column: column.names(),
    "elastic": lambda column: column.integers(whole(0, missing=0, most=1)) > 0,
}
_KINDS = {
    **dict.fromkeys(SPANS, SPAN),
    "limit": SPAN_OR_NEVER,
    "pods": whole(1, missing=1),
    "min_pods": whole(1, missing=NEVER),
    "priority": whole(-(2**31), missing=0),
    "recorded_start": TIME_OR_UNKNOWN,
}


def is_known(name: str) -> bool:
    """Return whether a column with the given name has a meaning in a table of jobs."""
    return name in _READERS or name in _KINDS or is_resource(name)


def check_columns(columns: dict[str, Any], where: Callable[[int], str]) -> None:
    """Check constraints between columns, and merge the column `namespace` into `queue`.

    Raises:
        InvalidSpecError: `min_pods` exceeds `pods`, a total request does not fit into 64 bits, or a job would end after
            the latest representable time if it started at its submission time.
    """
    namespaces = columns.pop("namespace", None)
    pods: Any = columns.get("pods")
    if namespaces is not None:
        columns["queue"] = _in_namespaces(columns["queue"], namespaces)
    for name, column in columns.items() if pods is not None else ():
        if name == "min_pods" and (row := _first(column > pods)) is not None:
            raise _error(where(row), name, f"{column[row]}; it must be at most pods, {pods[row]}")
        if is_resource(name) and (row := _first(column > (LONGEST - 1) // np.maximum(pods, 1))) is not None:
            unit = 1000 if name == "cpu" else 1
            total = int(column[row]) * int(pods[row]) // unit
            raise _error(where(row), name, f"{pods[row]} pods ask for {total}; it must be {LONGEST // unit} or less")
    submit, runtime = columns["submit"], columns["runtime"]
    if (row := _first(runtime > LONGEST - submit)) is not None:
        end = (int(submit[row]) + int(runtime[row])) // SECOND
        raise _error(where(row), "runtime", f"ends {end} s after 1970; it must be {LATEST} at most")


def _first(bad: NDArray[np.bool_]) -> int | None:
    return int(bad.argmax()) if bad.any() else None


def _error(where: str, name: str, text: str) -> InvalidSpecError:
    return InvalidSpecError(f'{where}, column "{name}": {text}')


def _in_namespaces(queues: Categorical, namespaces: Categorical) -> Categorical:
    width = len(namespaces.names) + 1
    pairs, codes = np.unique(queues.codes.astype(np.int64) * width + namespaces.codes + 1, return_inverse=True)
    names = []
    for pair in pairs.tolist():
        queue, space = divmod(pair, width)
        name = queues.names[queue]
        names.append(name if space == 0 else f"{namespaces.names[space - 1]}/{name.partition('/')[2]}")
    return Categorical(codes.astype(np.int32), names)
