"""Semantic comparison of pod sets and admissions, in which different notations of the same value are equal.

Kueue compares the decoded Go values. Different notations of the same quantity are equal, and absent lists, mappings and
strings are equal to empty ones.

Source: `k8s.io/apimachinery/pkg/api/equality/semantic.go`, `k8s.io/api/core/v1/types.go`.
"""

from typing import Any

from kueuepy._core import Quantity
from kueuepy.manifest.schema.table import Schema, schema_of

_ZEROES = frozenset(
    (
        *("hostNetwork", "hostPID", "hostIPC", "stdin", "stdinOnce", "tty", "readOnly", "hostPort"),
        *("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"),
        "terminationMessagePath",
    )
)
"""Fields for which Go does not distinguish zero from absent."""
_ABSENT: tuple[Any, ...] = (None, "", [], {})


def same_pod_sets(one: list[Any], other: list[Any]) -> list[bool]:
    """Return, for each pair of pod sets in the form of v1beta2, whether the two pod sets are semantically equal."""
    before, after = (plain("Workload", part, "spec", "podSets") for part in (one, other))
    return [a == b for a, b in zip(before, after, strict=True)]


def same_status(field: str, one: Any, other: Any) -> bool:
    """Return whether two values of a field in a Workload's status are semantically equal."""
    before, after = (plain("Workload", part, "status", field) for part in (one, other))
    return bool(before == after)


def plain(kind: str, value: Any, *path: str) -> Any:
    """Normalize a v1beta2 object or the value of a field: remove empty values, and make quantities canonical."""
    schema = schema_of(kind, "v1beta2")
    assert schema is not None
    for step in path:
        schema = schema.properties[step]
    return _plain(schema, value)


def _plain(schema: Schema | None, value: Any) -> Any:
    """Normalize a value according to its schema."""
    if schema is None:
        return value
    if isinstance(value, dict):
        inner = {name: _plain(schema.properties.get(name, schema.items), part) for name, part in value.items()}
        return {name: part for name, part in inner.items() if not _is_absent(schema, name, part)}
    if isinstance(value, list | tuple):
        return [_plain(schema.items, part) for part in value]
    if schema.type == "integer or string" and isinstance(value, int | str):
        return _amount(value)
    return value


def _is_absent(schema: Schema, name: str, value: Any) -> bool:
    known = schema.properties.get(name)
    if known is None:  # a mapping with arbitrary keys keeps keys with empty values
        return value is None
    if value in _ABSENT and not isinstance(value, bool):
        return True
    default = str(known.default) if known.type == "integer or string" else known.default
    return bool(value == default or (name in _ZEROES and not value))


def _amount(value: int | str) -> str:
    try:
        return str(Quantity(str(value)))
    except ValueError:  # the name of a port instead of its number
        return str(value)
