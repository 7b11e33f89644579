"""The objects of a cluster during a sequence of changes."""

from collections.abc import Iterable
from copy import copy
from typing import Any

from kueuepy.cluster.cluster import Cluster, check_names, references
from kueuepy.cluster.edit import edited_all, kind_and_name
from kueuepy.engine.cached import cached_property
from kueuepy.errors import InvalidSpecError, NotFoundError, suggestion
from kueuepy.manifest import Manifest, check
from kueuepy.objects import Cohort, Configuration, Object


class Planned:
    """The objects of a cluster during a sequence of planned changes, by kind and key.

    A change checks only the objects that it changes. `Cluster.edit` and `Cluster.replace` check and copy all objects,
    so n changes of n objects would take time proportional to n².
    """

    def __init__(self, cluster: Cluster) -> None:
        """Start with the objects of a cluster."""
        self._cluster = cluster

    @cached_property
    def _objects(self) -> dict[tuple[str, str], Object]:
        # Made on use, because most simulations have no changes.
        return {(type(obj).__name__, obj.key): obj for obj in self._cluster.objects()}

    def copy(self) -> "Planned":
        """Return an independent copy; it shares the objects, which are immutable."""
        twin = copy(self)
        twin._objects = dict(self._objects)  # noqa: SLF001 - of its own class
        return twin

    @property
    def cluster(self) -> Cluster:
        """The Cluster with all changes."""
        return self._cluster.replace(*self._objects.values(), names=False)

    def expect(self, kind: str, key: str) -> None:
        """Check that an object exists before any of the changes, or that one of them adds it.

        Raises:
            NotFoundError: There is no such object.
        """
        if (kind, key) not in self._objects:
            hint = suggestion(f"{kind}/{key}", map("/".join, self._objects))
            raise NotFoundError(f'events: "{kind}/{key}" names no object; {hint}')

    def apply(self, obj: Object) -> None:
        """Add an object, or replace the object of the same kind and key.

        Raises:
            NotFoundError: The object refers to an object that does not exist.
            InvalidSpecError: The object is not valid.
        """
        check(obj)
        self._replace([obj])

    def edit(self, path: str, value: Any) -> list[Object]:
        """Apply an edit in the form of `Cluster.edit`, and return the changed objects.

        Raises:
            NotFoundError: The path does not match any object or field.
            InvalidSpecError: An object would not be valid, or the path selects the Configuration.
        """
        kind, name = kind_and_name(path)
        if kind == Configuration.__name__:
            raise InvalidSpecError(f'edit: "{path}": the Configuration cannot change while the scheduler runs')
        # No name contains a wildcard, so a path with the key of an object selects this object alone. The quotas that an
        # edit of a Cohort can set depend on all objects.
        exact = None if kind == Cohort.__name__ else self._objects.get((kind, str(name)))
        objects = self._objects.values() if exact is None else [exact]
        made, _ = edited_all(objects, self._cluster.configuration, {path: value})
        changed = [obj for obj in made if self._objects.get((type(obj).__name__, obj.key)) != obj]
        self._replace(changed)
        return changed

    def _replace(self, objects: Iterable[Object]) -> None:
        fresh = {(type(obj).__name__, obj.key): obj for obj in objects}
        for obj in fresh.values():
            for _, name, kind in references(obj):
                target = (kind.__name__, name)
                if target not in fresh and target not in self._objects:
                    check_names(Manifest.of(*(self._objects | fresh).values()))
        self._objects |= fresh
