"""The numbers that an agent edits: fields of objects, within bounds, and if asked with an unchanged sum."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kueuepy._core import Quantity
from kueuepy.cluster.edit import edited, value_at
from kueuepy.errors import InvalidSpecError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from kueuepy.cluster import Cluster
    from kueuepy.objects import Object

Ints = Any
_MOST = 4096
"""How many edited objects are kept, to be used again where the same numbers come back."""


class Knobs:
    """Whole numbers in a cluster, by path.

    Attributes:
        paths: The paths.
        start: Their values in the cluster.
        low: The least of each.
        high: The largest of each.
    """

    def __init__(
        self, cluster: Cluster, paths: Sequence[str], bounds: Mapping[str, tuple[int, int]], *, conserve: bool
    ) -> None:
        """Reads the numbers.

        Args:
            cluster: Where they are.
            paths: Their paths, each of one object.
            bounds: By path the least and the largest; by default 0, and the sum of all or twice the number.
            conserve: Whether their sum never changes.

        Raises:
            NotFoundError: A path names nothing.
            InvalidSpecError: It names no whole number, or one out of its bounds.
        """
        if not paths:
            raise InvalidSpecError("edit: no path; give one at least")
        self.paths = tuple(paths)
        self._cluster, self._conserve = cluster, conserve
        self.start = np.array([_whole(cluster, path) for path in paths], np.int64)
        total = int(self.start.sum())
        most = [total if conserve else 2 * at for at in self.start.tolist()]
        pairs = np.array([bounds.get(path, (0, high)) for path, high in zip(paths, most, strict=True)], np.int64)
        self.low, self.high = pairs[:, 0], pairs[:, 1]
        if (self.start < self.low).any() or (self.start > self.high).any():
            raise InvalidSpecError(f"edit: {self.start.tolist()} is not within {pairs.tolist()}")
        self._objects = [path.partition(":")[0] for path in paths]
        self._places: dict[str, list[int]] = {}
        for place, name in enumerate(self._objects):
            self._places.setdefault(name, []).append(place)
        self._known: dict[tuple[str, tuple[int, ...]], Object] = {}

    def moved(self, values: NDArray[np.int64], by: NDArray[np.float64]) -> NDArray[np.int64]:
        """The values moved by so much, within bounds, as whole numbers; with their sum unchanged if it is conserved.

        What rounding leaves over goes to the largest remainders, of equal ones to the first.
        """
        wanted = np.clip(values + by, self.low, self.high)
        if not self._conserve:
            return np.rint(wanted).astype(np.int64)
        total = int(values.sum())
        wanted = _with_sum(wanted, self.low, self.high, total)
        whole = np.floor(wanted + 1e-9).astype(np.int64)
        order = np.argsort(-np.round(wanted - whole, 9), kind="stable")
        for place in order:
            if int(whole.sum()) == total:
                break
            whole[place] += whole[place] < self.high[place]
        return whole

    def objects(self, before: NDArray[np.int64], after: NDArray[np.int64]) -> list[Object]:
        """The objects in which anything differs, as they are with the values after."""
        changed = dict.fromkeys(self._objects[place] for place in np.flatnonzero(before != after))
        return [self._object(name, after) for name in changed]

    def _object(self, name: str, values: NDArray[np.int64]) -> Object:
        places = self._places[name]
        key = (name, tuple(int(values[place]) for place in places))
        if key not in self._known:
            if len(self._known) >= _MOST:
                self._known.clear()
            cluster = self._cluster
            for place in places:
                (obj,), _ = edited(cluster.objects(), cluster.configuration, self.paths[place], int(values[place]))
                cluster = cluster.replace(obj)
            self._known[key] = obj
        return self._known[key]


def _whole(cluster: Cluster, path: str) -> int:
    value = value_at(cluster.objects(), path)
    number = None if value is None or isinstance(value, bool | dict | list) else float(Quantity(str(value)))
    if number is None or not number.is_integer():
        raise InvalidSpecError(f'edit: "{path}": {value!r}; it must be a whole number')
    return int(number)


def _with_sum(wanted: NDArray[np.float64], low: Ints, high: Ints, total: int) -> NDArray[np.float64]:
    """The nearest values within bounds that have this sum: all are moved by the same, as far as bounds let them."""
    # The sum grows with the move in straight pieces, which end where a number comes to a bound.
    ends = np.sort(np.concatenate([low - wanted, high - wanted]))
    sums = np.clip(wanted + ends[:, None], low, high).sum(axis=1)
    found: NDArray[np.float64] = np.clip(wanted + np.interp(total, sums, ends), low, high)
    return found
