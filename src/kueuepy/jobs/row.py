"""Workloads from rows of a table with one job per row."""

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from kueuepy.engine.rows import RESOURCES, amount_of
from kueuepy.errors import InvalidSpecError, checked, suggestion
from kueuepy.objects import Duration, PodSet, Seconds, Timestamp, Workload
from kueuepy.tables.kinds import MIN_PODS, PODS, PRIORITY, SPAN_OR_NEVER, TIME, Kind, amount, is_missing, plain, text_of

COLUMNS = ("name", "namespace", "queue", "pods", "min_pods", "priority", "submit", "duration", "gpu", *RESOURCES)
# The names of the same columns in logs for simulations.
_ALIASES = {"runtime": "duration", "local_queue": "queue"}


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
    - `min_pods`: smallest number of pods for partial admission; -1: all pods or none. Default: -1.
    - `priority`: priority, an integer. Default: 0.
    - `cpu`, `memory` (or `mem`), `ephemeral-storage`, `gpu`, and any resource name with a `/`: request of each pod.
      Memory without a unit is in bytes. Requests for devices must be integers. Default: no request.
    - `submit`: submission time, as seconds since the Unix epoch, a date and time, or a datetime; without a time zone in
      UTC.
    - `duration` (or `runtime`): running time, as seconds, a string such as `1h30m`, or a timedelta; -1 or infinite: the
      job never ends. Default: unknown.

    Values are read as `kueuepy.Jobs` reads them. `None`, NaN, NaT, pandas' NA, blank texts, and the texts with which
    pandas and SQL write a missing value, such as `nan` and `NULL`, count as absent; a column with such a value has its
    default. In the columns of names, the texts count as names.

    Args:
        row: The values by column name.
        gpu_resource: Name of the resource that the column `gpu` requests. Default: `nvidia.com/gpu`.
        ignore: Names of columns to ignore.
        namespace: Namespace of jobs whose row has no namespace. Default: `default`.

    Returns:
        The Workload and its running time.

    Raises:
        InvalidSpecError: A column is unknown, or a value is invalid for its column.
    """
    named = {_ALIASES.get(str(key), str(key)): plain(value) for key, value in row.items() if key not in ignore}
    values = {column: value for column, value in named.items() if not _is_absent(column, value)}
    where = f'row "{text_of(values.get("name", ""))}"'
    space, slash, queue = text_of(values.get("queue", "")).partition("/")
    # A column queue can name the namespace, as LocalQueues are written elsewhere.
    if slash:
        if values.setdefault("namespace", space) != space:
            raise InvalidSpecError(f"{where}: queue: is {values['queue']}; it must be in {values['namespace']}")
        values["queue"] = queue
    for column in values:
        if column not in COLUMNS and "/" not in column:
            raise InvalidSpecError(f'{where}: "{column}" is not a column; {suggestion(column, COLUMNS)}')
    if "name" not in values:
        raise InvalidSpecError(f"{where}: name: is missing; it must be given")

    def read(column: str, kind: Kind) -> int:
        return kind.read(values.get(column), f"{where}: {column}")

    requests = {}
    for column, value in values.items():
        if column in ("gpu", *RESOURCES) or "/" in column:
            resource = gpu_resource if column == "gpu" else RESOURCES.get(column, column)
            read(column, amount(resource))
            requests[resource] = value.strip() if isinstance(value, str) else amount_of(value)
    least = read("min_pods", MIN_PODS)
    pod_set = PodSet.of(count=read("pods", PODS), requests=requests, min_count=None if least < 0 else least)
    submitted, runs = read("submit", TIME), read("duration", SPAN_OR_NEVER)
    workload = Workload(
        text_of(values["name"]),
        namespace=text_of(values.get("namespace", namespace)),
        queue_name=text_of(values.get("queue", "")),
        pod_sets=(pod_set,),
        priority=read("priority", PRIORITY),
        creation_timestamp=None if submitted < 0 else Timestamp.of(submitted),
    )
    return Submission(workload, None if runs < 0 else Seconds.of(runs))


def _is_absent(column: str, value: Any) -> bool:
    """Return whether a value is missing; a name may be a text such as `nan`."""
    is_name = column in ("name", "namespace", "queue") and isinstance(value, str)
    return not value.strip() if is_name else is_missing(value)
