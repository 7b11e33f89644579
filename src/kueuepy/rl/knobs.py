"""What an agent edits: whole numbers within bounds, and fields with a choice of values."""

from __future__ import annotations

from itertools import islice, product
from typing import TYPE_CHECKING, Any

from kueuepy._core import Quantity
from kueuepy.cluster.edit import edited_all, named, value_at
from kueuepy.errors import InvalidSpecError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kueuepy.cluster import Cluster
    from kueuepy.objects import Object

_CORNERS = 256
"""So many combinations of an object's bounds are tried."""


class Knobs:
    """Settings of a cluster by path: numbers first, then choices.

    Attributes:
        paths: The paths of the numbers.
        choices: The values of each choice, by path.
        start: The numbers in the cluster, and of each choice the place of the value that the cluster has.
        low: The least of each number.
        high: The largest of each number.
        sums: By number, of which sum it is a part; empty where no sum is kept.
        places: By object, the places of its settings.
    """

    def __init__(
        self,
        cluster: Cluster,
        paths: Sequence[str],
        choices: Mapping[str, Sequence[Any]],
        bounds: Mapping[str, tuple[int, int]],
        *,
        conserve: bool,
    ) -> None:
        """Reads them.

        Args:
            cluster: Where they are.
            paths: The paths of numbers, each of one object.
            choices: By path, of one object or several, the values that it may have; what the cluster has is one.
            bounds: By path the least and the largest; by default 0, and the sum of all or twice the number.
            conserve: Whether the sum of the numbers of one field, such as a flavor's nominal quotas, never changes.

        Raises:
            NotFoundError: A path names nothing.
            InvalidSpecError: It names no whole number, or one out of its bounds; or an object is not valid with what
                its settings may be.
        """
        if isinstance(paths, str) or not (paths or choices):
            raise InvalidSpecError(f"edit: {paths!r}; it must be a list of one path or more")
        self.paths, self.choices = tuple(paths), {path: tuple(values) for path, values in choices.items()}
        self._all = (*self.paths, *self.choices)
        if len(set(self._all)) < len(self._all):
            raise InvalidSpecError(f"edit: a path is given twice: {', '.join(self._all)}")
        self._configuration = cluster.configuration
        objects = list(cluster.objects())
        found: dict[int, list[int]] = {}
        for place, path in enumerate(self._all):
            for obj in named(objects, path):
                found.setdefault(id(obj), []).append(place)
        self._objects = [obj for obj in objects if id(obj) in found]
        self.places = [found[id(obj)] for obj in self._objects]
        numbers = [_whole(objects, path) for path in self.paths]
        fields = [path.partition(":")[2] for path in self.paths]
        self.sums = [list(dict.fromkeys(fields)).index(field) for field in fields] if conserve else []
        totals = {field: sum(n for n, other in zip(numbers, fields, strict=True) if other == field) for field in fields}
        self.low, self.high = [], []
        for path, field, number in zip(self.paths, fields, numbers, strict=True):
            low, high = _bounds(path, bounds.get(path, (0, totals[field] if conserve else 2 * number)))
            if not low <= number <= high:
                raise InvalidSpecError(f'edit: "{path}": {number} is not within its bounds, {low} to {high}')
            self.low.append(low)
            self.high.append(high)
        for path in bounds:
            if path not in self.paths:
                raise InvalidSpecError(f'bounds: "{path}" is no path that is edited')
        self.start = [*numbers, *(self._chosen(path) for path in self.choices)]
        self._check()

    def made(self, place: int, values: Sequence[int]) -> Object:
        """An object as it is with these values of its settings.

        Raises:
            InvalidSpecError: It is not valid.
        """
        known = len(self.paths)
        settings: dict[str, Any] = {}
        for at, value in zip(self.places[place], values, strict=True):
            path = self._all[at]
            settings[path] = value if at < known else self.choices[path][value]
        ((obj,), _) = edited_all([self._objects[place]], self._configuration, settings)
        return obj

    def by_path(self, values: Iterable[int]) -> dict[str, int]:
        """Values by path; of a choice its place in the list."""
        return dict(zip(self._all, values, strict=True))

    def _chosen(self, path: str) -> int:
        """The place of the value that the cluster has; all of them are tried."""
        values = self.choices[path]
        before = named(self._objects, path)
        same = [edited_all(before, self._configuration, {path: value})[0] == before for value in values]
        if True not in same:
            raise InvalidSpecError(f'choose: "{path}": {list(values)}; what the cluster has must be one of them')
        return same.index(True)

    def _check(self) -> None:
        """Tries the bounds of each object, so that no step finds one that is not valid."""
        known = len(self.paths)
        for place, settings in enumerate(self.places):
            ranges = [
                (self.low[at], self.high[at]) if at < known else range(len(self.choices[self._all[at]]))
                for at in settings
            ]
            for values in islice(product(*ranges), _CORNERS):
                self.made(place, values)


def _bounds(path: str, given: Any) -> tuple[int, int]:
    try:
        low, high = (int(value) for value in given)
    except (TypeError, ValueError):
        raise InvalidSpecError(f'bounds: "{path}": {given!r}; it must be the least and the largest') from None
    return low, high


def _whole(objects: list[Object], path: str) -> int:
    value = value_at(objects, path)
    number = None if value is None or isinstance(value, bool | dict | list) else _quantity(str(value))
    if number is None or not number.is_integer():
        raise InvalidSpecError(f'edit: "{path}": {value!r}; it must be a whole number')
    return int(number)


def _quantity(text: str) -> float | None:
    try:
        return float(Quantity(text))
    except ValueError:
        return None
