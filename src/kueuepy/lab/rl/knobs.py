"""The settings that an agent edits: integers within bounds, and fields with a fixed list of allowed values."""

from __future__ import annotations

import math
from itertools import islice, product
from typing import TYPE_CHECKING, Any

from kueuepy._core import Quantity
from kueuepy.cluster.edit import edited_all, named, value_at
from kueuepy.errors import InvalidSpecError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kueuepy.cluster import Cluster
    from kueuepy.objects import Object

# Maximum number of combinations of an object's bounds to validate.
_CORNERS = 256


class Knobs:
    """Settings of a cluster by path: numeric fields first, then choices.

    Attributes:
        paths: The paths of the numeric fields.
        choices: The allowed values of each choice, by path.
        start: Initial values, read from the cluster: the value of each numeric field and, for each choice, the index of
            the cluster's value among the allowed values.
        low: Minimum of each numeric field.
        high: Maximum of each numeric field.
        sums: Index of the sum to which each numeric field belongs; empty if sums are not conserved.
        places: For each object, the indices of its settings.
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
        """Read the settings from a cluster.

        Args:
            cluster: The cluster.
            paths: Paths of integer fields; each path must select exactly one object.
            choices: Allowed values by path. A path may match several objects. Each list must contain the value that the
                cluster has.
            bounds: Minimum and maximum by path. The default minimum is 0. With `conserve`, the default maximum is the
                sum of the initial values of the field; otherwise, it is twice the initial value.
            conserve: Whether to keep the sum of all values of a field constant, such as the nominal quotas of a flavor.

        Raises:
            NotFoundError: A path matches no field.
            InvalidSpecError: The value of a numeric field is not an integer or is out of bounds, or an object is not
                valid with some allowed values.
        """
        if isinstance(paths, str) or not (paths or choices):
            raise InvalidSpecError(f"edit: {paths!r}; it must be a list with at least one path")
        self.paths, self.choices = tuple(paths), {path: tuple(values) for path, values in choices.items()}
        self._all = (*self.paths, *self.choices)
        if len(set(self._all)) < len(self._all):
            raise InvalidSpecError(f"edit: paths must be unique: {', '.join(self._all)}")
        self._configuration = cluster.configuration
        objects = list(cluster.objects())
        found: dict[int, list[int]] = {}
        for position, path in enumerate(self._all):
            for obj in named(objects, path):
                found.setdefault(id(obj), []).append(position)
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
                raise InvalidSpecError(f'bounds: "{path}" is not a path in edit')
        self.start = [*numbers, *(self._chosen(path) for path in self.choices)]
        self._check()

    def made(self, position: int, values: Sequence[int]) -> Object:
        """Return an object with changed settings.

        Args:
            position: Index of the object.
            values: Values of the object's settings; for a choice, the index of the value.

        Raises:
            InvalidSpecError: The changed object is not valid.
        """
        known = len(self.paths)
        settings: dict[str, Any] = {}
        for at, value in zip(self.places[position], values, strict=True):
            path = self._all[at]
            settings[path] = value if at < known else self.choices[path][value]
        ((obj,), _) = edited_all([self._objects[position]], self._configuration, settings)
        return obj

    def by_path(self, values: Iterable[int]) -> dict[str, int]:
        """Return a dict of values by path; the value of a choice is its index in the list of allowed values."""
        return dict(zip(self._all, values, strict=True))

    def _chosen(self, path: str) -> int:
        """Validate all values, and return the index of the value that the cluster has."""
        values = self.choices[path]
        before = named(self._objects, path)
        same = [edited_all(before, self._configuration, {path: value})[0] == before for value in values]
        if True not in same:
            raise InvalidSpecError(f'choose: "{path}": {list(values)}; it must include the value in the cluster')
        return same.index(True)

    def _check(self) -> None:
        """Validate each object at its bounds, so that no step can create an invalid object."""
        known = len(self.paths)
        for position, settings in enumerate(self.places):
            ranges = [
                (self.low[at], self.high[at]) if at < known else range(len(self.choices[self._all[at]]))
                for at in settings
            ]
            # Fields are valid between their bounds if they are valid at all corners, of which there may be too many.
            for values in islice(product(*ranges), _CORNERS):
                self.made(position, values)


def _bounds(path: str, given: Any) -> tuple[int, int]:
    try:
        low, high = (int(value) for value in given)
    except (TypeError, ValueError):
        raise InvalidSpecError(f'bounds: "{path}": {given!r}; it must be the minimum and the maximum') from None
    return low, high


def _whole(objects: list[Object], path: str) -> int:
    value = value_at(objects, path)
    try:
        number = float(Quantity(str(value)))
    except ValueError:
        number = math.nan
    if not number.is_integer():
        raise InvalidSpecError(f'edit: "{path}": {value!r}; it must be an integer')
    return int(number)
