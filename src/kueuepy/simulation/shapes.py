"""Shapes: jobs with identical requests share one shape, so that the core receives codes and only a few Workloads."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from kueuepy.errors import InvalidSpecError
from kueuepy.manifest import check
from kueuepy.objects import SECOND, PodSet, ResourceFlavor, Workload
from kueuepy.simulation.base import JobColumns
from kueuepy.simulation.columns import NEVER, name_of_row
from kueuepy.simulation.grouped import Ints
from kueuepy.tables import Categorical

Gates = tuple[tuple[str, bool], ...] | None
_SMALL = 1 << 20
# The number of Workloads and pod sets that are cached for the next simulation.
_KEPT = 1 << 14


def shapes_of(
    jobs: JobColumns, flavors: Sequence[ResourceFlavor], gates: dict[str, bool] | None = None
) -> tuple[list[Workload], NDArray[np.int32]]:
    """Return an unnamed Workload for each shape, and the index of the shape of each row.

    Args:
        jobs: The jobs.
        flavors: The ResourceFlavors of the cluster, for the column `flavor`.
        gates: The feature gates of the cluster; the defaults if `None`.

    Raises:
        InvalidSpecError: A shape is not a valid Workload, or node labels do not distinguish its flavor from the others.
    """
    codes, size = _of_rows(jobs)
    first = np.full(size, len(jobs), np.int64)
    # The first row of a shape stands for it, so that an error names the first row.
    np.minimum.at(first, codes, np.arange(len(jobs)))
    labels = {flavor.name: flavor.node_labels for flavor in flavors}
    read = _Reader(jobs, first, labels, None if gates is None else tuple(sorted(gates.items())))
    return read.shapes(), codes.astype(np.int32)


class KnownShapes:
    """The shapes of a simulation, indexed by their content, so that identical shapes share an index."""

    def __init__(self, shapes: Sequence[Workload]) -> None:
        """Add the shapes; the index of each shape is its position in the list."""
        self._positions: dict[bytes, int] = {}
        self._size = 0
        self.add(shapes)

    def add(self, shapes: Sequence[Workload]) -> None:
        """Add shapes after the existing shapes; their indices continue the existing indices."""
        for index, shape in enumerate(shapes, self._size):
            self._positions.setdefault(_key(shape), index)
        self._size += len(shapes)

    def find(self, shapes: Sequence[Workload]) -> tuple[list[Workload], NDArray[np.int32]]:
        """Return the distinct new shapes, and the index of each given shape after the new shapes are added."""
        fresh: dict[bytes, Workload] = {}
        added: dict[bytes, int] = {}
        indices = np.empty(len(shapes), np.int32)
        for number, shape in enumerate(shapes):
            key = _key(shape)
            known = self._positions.get(key)
            indices[number] = added.setdefault(key, self._size + len(added)) if known is None else known
            if known is None:
                fresh.setdefault(key, shape)
        return list(fresh.values()), indices


def _key(shape: Workload) -> bytes:
    """Return a key that identical shapes share; the key excludes the fields that identify a Workload."""
    unnamed = msgspec.structs.replace(shape, name="", uid="", creation_timestamp=None, status=None)
    # Only equality counts, so that any text of a time serves.
    return msgspec.msgpack.encode(unnamed, enc_hook=repr)


def _columns(jobs: JobColumns) -> dict[str, Any]:
    """Return the columns that determine the shape; jobs from templates differ only in the template."""
    own = ("queue", "priority", "pods", "min_pods", "flavor", "node_selector", "topology", "limit", "template")
    found = jobs.having(*own, *jobs.resources)
    return {name: c.codes if isinstance(c, Categorical) else c for name, c in found.items()}


def _of_rows(jobs: JobColumns) -> tuple[Ints, int]:
    """Return the code of the shape of each row, and the number of shapes."""
    codes, size = np.zeros(len(jobs), np.int64), 1
    for column in _columns(jobs).values():
        own, count = _codes(column)
        if count > 1:
            codes, size = codes * count + own, size * count
            # The product of the numbers of values would overflow for many columns.
            if size > _SMALL:
                codes, size = _dense(codes)
    return _dense(codes)


def _codes(column: NDArray[Any]) -> tuple[Ints, int]:
    if not len(column):
        return column.astype(np.int64), 0
    low, high = int(column.min()), int(column.max())
    if high - low < _SMALL:
        return column.astype(np.int64) - low, high - low + 1
    values, codes = np.unique(column, return_inverse=True)
    return codes.astype(np.int64), len(values)


def _dense(codes: Ints) -> tuple[Ints, int]:
    if len(codes) and int(codes.max()) < _SMALL:
        used = np.zeros(int(codes.max()) + 1, bool)
        used[codes] = True
        return (np.cumsum(used) - 1)[codes], int(used.sum())
    values, dense = np.unique(codes, return_inverse=True)
    return dense.astype(np.int64), len(values)


class _Reader:
    def __init__(self, jobs: JobColumns, rows: Ints, labels: dict[str, Any], gates: Gates) -> None:
        self._jobs, self._rows, self._labels, self._gates = jobs, rows.tolist(), labels, gates
        # As lists, because reading one item of an array is slow.
        found = jobs.having(*_columns(jobs), "name").items()
        self._values: dict[str, list[Any]] = {name: column[rows].tolist() for name, column in found}
        self._pod_sets: dict[tuple[Any, ...], PodSet] = {}
        # The shapes of different queues often have the same pods.
        of_pods = ("pods", "min_pods", "node_selector", "flavor", "topology", *jobs.resources)
        given = [self._values[name] for name in of_pods if name in self._values]
        self._pod_values = list(zip(*given, strict=True)) or [()] * len(rows)
        self._pods: dict[tuple[Any, ...], tuple[Any, ...]] = {}

    def _value(self, name: str, position: int, default: Any) -> Any:
        return self._values[name][position] if name in self._values else default

    def _of_pods(self, position: int) -> tuple[Any, ...]:
        """Return the pods of a shape: their number, the smallest number, requests, node labels, topology request."""
        requests = tuple((name, size) for name in self._jobs.resources if (size := int(self._values[name][position])))
        fewest, labels = self._value("min_pods", position, NEVER), self._value("node_selector", position, None)
        flavor = self._value("flavor", position, None)
        selector = {} if labels is None else dict(label.split("=") for label in labels.split(","))
        if flavor is not None:
            selector |= _selector(flavor, self._rows[position], self._labels)
        count, topology = self._value("pods", position, 1), self._value("topology", position, None)
        return count, None if fewest == NEVER else fewest, requests, tuple(selector.items()), topology

    def shapes(self) -> list[Workload]:
        return [self._shape(position) for position in range(len(self._rows))]

    def _shape(self, position: int) -> Workload:
        jobs, row, template = self._jobs, self._rows[position], int(self._value("template", position, -1))
        if template >= 0:
            return msgspec.structs.replace(jobs.templates[template], status=None)
        values = self._pod_values[position]
        of_pods = self._pods.get(values) or self._pods.setdefault(values, self._of_pods(position))
        # A user's name is included because it must be validated; generated names are valid and would defeat the cache.
        name = str(self._values["name"][position]) if "name" in self._values else name_of_row(0)
        facts = (self._value("priority", position, 0), self._value("limit", position, NEVER))
        try:
            found = _made(name, self._values["queue"][position], facts, of_pods, self._gates)
        except InvalidSpecError as error:
            raise InvalidSpecError(f"jobs row {row}: {error}") from None
        # Equal pod sets must be one object: the core identifies the class of a Workload by it.
        pod_set = self._pod_sets.setdefault(of_pods, found.pod_sets[0])
        return found if pod_set is found.pod_sets[0] else msgspec.structs.replace(found, pod_sets=(pod_set,))


@lru_cache(_KEPT)
def _made(name: str, of_queue: str, facts: tuple[int, int], of_pods: tuple[Any, ...], gates: Gates) -> Workload:
    """Return a validated Workload.

    Args:
        name: The name of the Workload.
        of_queue: The LocalQueue of the Workload, `namespace/name`.
        facts: The priority of the Workload, and its maximum execution time in nanoseconds.
        of_pods: The properties of the Workload's pods.
        gates: The feature gates.
    """
    namespace, _, queue = of_queue.partition("/")
    priority, limit = facts
    workload = Workload(
        name,
        namespace=namespace,
        queue_name=queue,
        priority=priority,
        pod_sets=(_pod_set(*of_pods),),
        # Kueue counts whole seconds, at least one.
        maximum_execution_time_seconds=None if limit == NEVER else max(1, -(-limit // SECOND)),
    )
    known = None if gates is None else dict(gates)
    check(workload, feature_gates=known)
    return workload if known is None or known.get("PartialAdmission", True) else workload.without_min_counts()


@lru_cache(_KEPT)
def _pod_set(
    count: int,
    fewest: int | None,
    requests: tuple[tuple[str, int], ...],
    selector: tuple[tuple[str, str], ...],
    topology: str | None,
) -> PodSet:
    """Return a pod set; CPU requests are in millicores."""
    kind, _, level = (topology or "").partition(":")
    amounts = {name: f"{amount}m" if name == "cpu" else amount for name, amount in requests}
    return PodSet.of(
        count=count,
        requests=amounts,
        min_count=fewest,
        node_selector=dict(selector) or None,
        topology_request={kind: level or True} if kind else None,
    )


def _selector(flavor: str, row: int, labels: dict[str, Any]) -> dict[str, str]:
    """Return the node labels of a flavor, which must not be a subset of another flavor's labels."""
    if flavor not in labels:
        raise InvalidSpecError(
            f'jobs row {row}, column "flavor": "{flavor}" names no ResourceFlavor; '
            f"there are {', '.join(labels) or 'none'}"
        )
    own = dict(labels[flavor] or {})
    same = [name for name, other in labels.items() if name != flavor and own.items() <= dict(other or {}).items()]
    if not own or same:
        raise InvalidSpecError(
            f'jobs row {row}, column "flavor": "{flavor}" has no nodeLabels that tell it from '
            f"{', '.join(same) or 'others'}; it must have"
        )
    return own
