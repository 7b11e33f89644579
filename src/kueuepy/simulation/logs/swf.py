"""Reader of the Standard Workload Format, the format of the Parallel Workloads Archive."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kueuepy.errors import InvalidSpecError
from kueuepy.simulation.read import Source, Table
from kueuepy.tables import Categorical

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from kueuepy.simulation.base import JobColumns

_FIELDS = 18
_MOST_ID = 2.0**53
_QUEUES = {13: "group", 15: "queue", 16: "partition"}
_STATUS = {0: "failed", 1: "completed", 2: "partial", 3: "partial", 4: "partial", 5: "cancelled"}


def read_swf(source: Source, map: Mapping[str, int] | None = None) -> JobColumns:  # noqa: A002
    """Read a log with 18 fields per job.

    | column | field |
    | --- | --- |
    | `submit`, `runtime` | 2, 4; a runtime of 0 s becomes 1 s |
    | `pods` | 5 (allocated processors), or 8 if 5 is unknown; each pod requests one CPU |
    | `memory` | 10 (requested), or 7 (used) if 10 is unknown, in KB per processor |
    | `limit` | 9 |
    | `queue` | 15; if it is unknown for all jobs, their queue is `jobs` |
    | `user`, `state` | 12, 11 |

    Args:
        source: The file.
        map: `{"queue": 13}` uses the group as the queue, and `{"queue": 16}` the partition.

    Raises:
        InvalidSpecError: A line does not have 18 numbers, or `map` is invalid.
    """
    chosen = dict(map or {}).pop("queue", 15)
    if chosen not in _QUEUES or set(map or {}) - {"queue"}:
        raise InvalidSpecError(f"map: {dict(map or {})}; of a log in SWF it must be the queue, from field 13, 15 or 16")
    header, numbers = _numbers(source)
    field = {number: numbers[:, number - 1] for number in range(1, _FIELDS + 1)}
    columns_of = {str(number): values for number, values in field.items()}
    table = Table(source, columns_of).keep(field[4] >= 0, "without a run time")
    table = table.keep(_known(table, "5", "8") > 0, "without processors")
    runtime = table["4"]
    if (short := int((runtime == 0).sum())) > 0:
        table.notes.append(("ran for 0 s, taken for 1 s", short))
    memory = _known(table, "10", "7")
    columns: dict[str, Any] = {
        "queue": _names(table[str(chosen)], _QUEUES[chosen]),
        "submit": table["2"],
        "runtime": np.maximum(runtime, 1),
        "pods": _known(table, "5", "8"),
        "cpu": np.ones(len(table)),
        "limit": _positive(table["9"]),
        "user": _names(table["12"], "user", "user"),
        "state": _states(table["11"]),
    }
    if (memory > 0).any():
        columns["memory"] = np.maximum(memory, 0) * 1024
    return table.jobs(columns, header=header)


def _numbers(source: Source) -> tuple[str, NDArray[np.float64]]:
    lines = source.text().splitlines()
    header = "".join(f"{line}\n" for line in lines if line.startswith(";"))
    body = {number: line for number, line in enumerate(lines, 1) if line.strip() and not line.startswith(";")}
    source.line = list(body).__getitem__
    try:
        found = np.array(" ".join(body.values()).split(), np.float64)
    except ValueError:
        found = np.zeros(1)
    if len(found) != len(body) * _FIELDS:
        for number, line in body.items():
            if not _is_job(line):
                raise InvalidSpecError(f"{source.path}:{number}: {line.strip()!r}; a job must be {_FIELDS} numbers")
    return header, found.reshape(-1, _FIELDS)


def _is_job(line: str) -> bool:
    parts = line.split()
    try:
        return len(list(map(float, parts))) == _FIELDS
    except ValueError:
        return False


def _known(table: Table, first: str, second: str) -> NDArray[np.float64]:
    one, other = table[first], table[second]
    found: NDArray[np.float64] = np.where(one > 0, one, other)
    return found


def _positive(values: Any) -> NDArray[np.float64]:
    found: NDArray[np.float64] = np.where(values > 0, values, np.nan)
    return found


def _names(values: Any, word: str, alone: str = "jobs") -> Categorical:
    known, codes = np.unique(_whole(values), return_inverse=True)
    names = [f"{word}-{number}" if number >= 0 else f"{word}-unknown" for number in known.tolist()]
    return Categorical(codes.astype(np.int32), [alone] if names == [f"{word}-unknown"] else names)


def _states(values: Any) -> Categorical:
    known, codes = np.unique(_whole(values), return_inverse=True)
    return Categorical(codes.astype(np.int32), [_STATUS.get(number, "unknown") for number in known.tolist()])


def _whole(values: Any) -> NDArray[np.int64]:
    """Return identifiers as integers; a value that is not finite or is too large becomes -1 (unknown)."""
    known = np.isfinite(values) & (np.abs(values) < _MOST_ID)
    return np.where(known, values, -1).astype(np.int64)
