"""Workloads from rows of a table with one job per row."""

import re
from collections.abc import Collection, Mapping
from datetime import datetime, timezone
from decimal import Decimal
from fractions import Fraction
from numbers import Real
from typing import Any, NamedTuple

from kueuepy._core import Quantity
from kueuepy.engine.rows import RESOURCES, amount_of
from kueuepy.errors import InvalidSpecError
from kueuepy.errors.arguments import checked
from kueuepy.errors.problems import suggestion
from kueuepy.objects import SECOND, PodSet, Workload
from kueuepy.objects.base import is_finite
from kueuepy.objects.times import LONGEST, Duration, Seconds, Timestamp, duration_ns, nanoseconds_of

COLUMNS = ("name", "namespace", "queue", "pods", "min_pods", "priority", "submit", "duration", "gpu", *RESOURCES)
# The names of the same columns in logs for simulations.
_ALIASES = {"runtime": "duration", "local_queue": "queue"}
_SECONDS = re.compile(r"[0-9]{1,30}(\.[0-9]{1,30})?([eE]\+?[0-9]{1,2})?", re.ASCII)


class Submission(NamedTuple):
    """A Workload with its running time.

    >>> from_row({"name": "train", "queue": "vision", "cpu": 8, "duration": "1h"}).duration
    3600.0

    Attributes:
        workload: The Workload, created at the submission time of the row.
        duration: Running time after admission, in seconds; `None` if the row has no duration. When a Submission is
            created, `duration` may also be a string or a timedelta.
    """

    workload: Workload
    duration: Duration | None


@checked
def from_row(
    row: Mapping[Any, Any],
    *,
    gpu_resource: str = "nvidia.com/gpu",
    ignore: Collection[str] = (),
    namespace: str = "default",
) -> Submission:
    """Create a Workload from a row: a dict, or a row from `frame.to_dict("records")` or `frame.iterrows()` in pandas.

    >>> from_row({"name": "train", "queue": "vision", "cpu": 8, "gpu": 1, "pods": 4}).workload.pod_sets[0].count
    4

    These columns are recognised:

    - `name`: name of the job; required.
    - `namespace`: its namespace.
    - `queue`: LocalQueue of the job, optionally as `namespace/name`.
    - `pods`: number of pods. Default: 1.
    - `min_pods`: smallest number of pods for partial admission. Default: none.
    - `priority`: priority, an integer. Default: 0.
    - `cpu`, `memory` (or `mem`), `gpu`, and any resource name with a `/`: request of each pod. Memory without a unit is
      in bytes. Requests for devices must be integers.
    - `submit`: submission time, as seconds since the Unix epoch, an RFC 3339 string or a datetime.
    - `duration` (or `runtime`): running time, as seconds, a string such as `1h30m` or a timedelta.

    Args:
        row: The values by column name. `None` counts as absent, and so does NaN in columns other than requests and
            `pods`.
        gpu_resource: Name of the resource that the column `gpu` requests. Default: `nvidia.com/gpu`.
        ignore: Names of columns to ignore.
        namespace: Namespace of jobs whose row has no namespace. Default: `default`.

    Returns:
        The Workload and its running time.

    Raises:
        InvalidSpecError: A column is unknown, or a value is invalid for its column.
    """
    _expect_amounts(row, ignore)
    values = {
        _ALIASES.get(str(key), str(key)): value
        for key, value in row.items()
        if not _is_missing(value) and key not in ignore
    }
    where = f'row "{values.get("name", "")}"'
    space, slash, queue = str(values.get("queue", "")).partition("/")
    # A column queue can name the namespace, as LocalQueues are written elsewhere.
    if slash:
        if values.setdefault("namespace", space) != space:
            raise InvalidSpecError(f"{where}: queue: is {values['queue']}; it must be in {values['namespace']}")
        values["queue"] = queue
    for column in values:
        if column not in COLUMNS and "/" not in column:
            raise InvalidSpecError(f'{where}: "{column}" is not a column; {suggestion(column, COLUMNS)}; or ignore it')
    if "name" not in values:
        raise InvalidSpecError(f"{where}: name: is missing; it must be given")
    requests = {
        gpu_resource if column == "gpu" else RESOURCES.get(column, column): amount_of(value)
        for column, value in values.items()
        if _is_request(column)
    }
    _expect_whole_devices(where, requests)
    min_pods = _whole(where, values, "min_pods", -1)
    pod_set = PodSet.of(
        count=_whole(where, values, "pods", 1), requests=requests, min_count=None if min_pods < 0 else min_pods
    )
    submitted = _time(where, values, "submit")
    workload = Workload(
        str(values["name"]),
        namespace=str(values.get("namespace", namespace)),
        queue_name=str(values.get("queue", "")),
        pod_sets=(pod_set,),
        priority=_whole(where, values, "priority", 0),
        creation_timestamp=None if submitted is None else Timestamp.of(submitted),
    )
    runs = _time(where, values, "duration")
    return Submission(workload, None if runs is None else Seconds.of(runs))


def _is_request(column: str) -> bool:
    return column in ("gpu", *RESOURCES) or "/" in column


def _expect_amounts(row: Mapping[Any, Any], ignore: Collection[str]) -> None:
    """Check that no request is NaN, which could mean either zero or unknown.

    Raises:
        InvalidSpecError: A request is NaN.
    """
    for column, value in row.items():
        is_amount = column not in ignore and (_is_request(str(column)) or column == "pods")
        if is_amount and isinstance(value, Real | Decimal) and not is_finite(value) and _is_missing(value):
            raise InvalidSpecError(
                f'row "{row.get("name", "")}": {column}: is NaN; it must be an amount, 0 or None for none (of a '
                "DataFrame, fillna(0))"
            )


def _expect_whole_devices(where: str, requests: Mapping[str, str | int]) -> None:
    """Check that requests for devices are integers (Kubernetes, "Extended resources").

    Raises:
        InvalidSpecError: A request is a fraction, which Kueue would round up.
    """
    for resource, value in requests.items():
        if isinstance(value, int) or "/" not in resource or "kubernetes.io/" in resource:
            continue
        try:
            asked = Quantity(value)
        except ValueError:  # reported by the validation of the Workload
            continue
        if asked != Quantity(asked.as_units):
            raise InvalidSpecError(f"{where}: {resource}: is {value}; it must be a whole number of devices")


def _is_missing(value: Any) -> bool:
    # NaT of pandas is not a number, but like NaN it is not equal to itself.
    return value is None or (value.is_nan() if isinstance(value, Decimal) else bool(value != value))  # noqa: PLR0124


def _whole(where: str, values: Mapping[str, Any], column: str, default: int) -> int:
    value = values.get(column, default)
    is_number = isinstance(value, Real) and not isinstance(value, bool) and is_finite(value)
    if not is_number or int(value) != value:
        no_text = ", not a string" if isinstance(value, str) else ""
        raise InvalidSpecError(f"{where}: {column}: is {value!r:.99}; it must be a whole number{no_text}")
    return int(value)


def _time(where: str, values: Mapping[str, Any], column: str) -> int | None:
    """Return a time or a duration in nanoseconds; `None` if it is absent."""
    value, where = values.get(column), f"{where}: {column}"
    # Files have numbers as text. A larger number is named as it was written.
    if isinstance(value, str) and _SECONDS.fullmatch(value) and Fraction(value) <= LONGEST // SECOND:
        value = Fraction(value)
    if value is None:
        return None
    if column == "duration":
        return duration_ns(value, where)
    if isinstance(value, datetime) and value.tzinfo is None:
        value = value.replace(tzinfo=timezone.utc)
    return nanoseconds_of(value, where, earliest=0)
