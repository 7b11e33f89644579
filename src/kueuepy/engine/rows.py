"""Workloads from rows of plain values, which the core has already read and validated."""

from collections.abc import Mapping
from functools import lru_cache
from numbers import Integral
from typing import Any

from kueuepy.objects import SECOND, PodSet, Timestamp, Workload

RESOURCES = {"cpu": "cpu", "memory": "memory", "mem": "memory", "ephemeral-storage": "ephemeral-storage"}
"""The resource that each column of a row requests, except for `gpu`."""

_REQUESTS = {**RESOURCES, "gpu": "nvidia.com/gpu"}


def amount_of(value: Any) -> str | int:
    """Convert a value to a quantity. Fractions are converted without rounding."""
    if type(value) is int:
        return value
    if isinstance(value, Integral):
        return int(value)
    return int(value) if isinstance(value, float) and value.is_integer() else str(value)


@lru_cache(1000)  # most rows of a log have one of a few shapes
def _pod_sets(count: int, *requests: tuple[str, str | int]) -> tuple[PodSet, ...]:
    container = {"name": "main", "resources": {"requests": dict(requests)} if requests else {}}
    return (PodSet(count=count, template={"spec": {"containers": [container]}}),)


def from_plain_row(row: Mapping[str, Any], uid: str = "", now: Timestamp | None = None) -> Workload:
    """Create a Workload, as `kueuepy.jobs.from_row` does, from a row that `_core.question_of_row` has accepted.

    Args:
        row: The row.
        uid: The uid of the Workload. Default: none.
        now: The creation time, if the row has no submission time. Default: none.
    """
    requests = ((_REQUESTS[column], amount_of(value)) for column, value in row.items() if column in _REQUESTS)
    submitted = row.get("submit")
    return Workload(
        row["name"],
        namespace=row.get("namespace", "default"),
        queue_name=row["queue"],
        pod_sets=_pod_sets(row.get("pods", 1), *requests),
        priority=row.get("priority", 0),
        uid=uid,
        creation_timestamp=now if submitted is None else Timestamp.of(submitted * SECOND),
    )
