"""The Python objects that a Scheduler keeps with its engine, shared between forks until one of them changes."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

from kueuepy.objects import Object, PriorityClass, WorkloadPriorityClass

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from typing_extensions import Self

    from kueuepy.engine.decisions import Admitted
    from kueuepy.objects import Workload

K = TypeVar("K")
V = TypeVar("V")
T = TypeVar("T", bound=Object)

_FEW = 64  # changes that a fork may always keep apart
_PART = 8  # and the part of all items that they may be
_NONE: dict[Any, Any] = {}  # no changes; never changed itself
_NO_KEYS: frozenset[Any] = frozenset()

Step: TypeAlias = partial[Any]
"""A call of a function of C, with its arguments."""


def commit(steps: Iterable[Step]) -> list[Any]:
    """Execute steps with no line of Python between them, so that no exception of a signal handler can separate them.

    Args:
        steps: The steps. If a step raises an exception, the steps after it are not executed.

    Returns:
        The result of each step.
    """
    return list(executed(steps))


def executed(steps: Iterable[Step]) -> Iterator[Any]:
    """Return an iterator that executes each step when its result is asked for."""
    return map(partial.__call__, steps)


PASSIVE = (PriorityClass, WorkloadPriorityClass)
"""Kinds that the engine does not need, because they only affect how jobs are converted."""


class CopyOnWriteDict(Generic[K, V]):
    """A dict that forks share. A fork stores its changes separately while there are only a few of them.

    Keys are in insertion order, as in a dict: a key that is set again keeps its position, unless it was removed before.
    """

    __slots__ = ("_gone", "_items", "_own", "_shared")

    def __init__(self, items: Iterable[tuple[K, V]] = ()) -> None:
        """Create a dict with these pairs of key and value."""
        self._items: dict[K, V] = dict(items)
        self._shared = False  # other dicts use `_items`, so it does not change any more
        self._own: dict[K, V] = _NONE  # values that replace those of `_items`, or follow them
        self._gone: set[K] | frozenset[K] = _NO_KEYS  # removed keys of `_items`

    def fork(self) -> Self:
        """Return a dict with the same contents; the items are shared instead of copied."""
        twin = self.__new__(type(self))
        twin._take(self._items, self._own, self._gone)  # noqa: SLF001 - it is being made
        self._shared = True
        return twin

    def _take(self, items: dict[K, V], own: dict[K, V], gone: set[K] | frozenset[K]) -> None:
        self._items, self._shared = items, True
        self._own, self._gone = own.copy() if own else _NONE, gone.copy()

    def get(self, key: K) -> V | None:
        """Return the value of a key, or `None`."""
        if key in self._own:
            return self._own.get(key)
        return None if key in self._gone else self._items.get(key)

    def put(self, key: K, value: V) -> None:
        """Set the value of a key."""
        commit(self.putting({key: value}))

    def putting(self, items: dict[K, V]) -> list[Step]:
        """Return the steps that set the values of keys."""
        self._fold()
        if not self._shared:
            return [partial(self._items.update, items)]
        if self._own is _NONE:
            self._own = {}
        return [partial(self._own.update, items)]

    def dropping(self, key: K) -> list[Step]:
        """Return the steps that remove a key, if it exists."""
        self._fold()
        if not self._shared:
            return [partial(self._items.pop, key, None)]
        steps: list[Step] = [partial(self._own.pop, key, None)] if key in self._own else []
        if key in self._items:
            if not isinstance(self._gone, set):
                self._gone = set()
            steps.append(partial(self._gone.add, key))
        return steps

    def _fold(self) -> None:
        """Copy the items once there are many changes, so that the amortised cost of copying is constant per change."""
        if len(self._own) + len(self._gone) > max(_FEW, len(self._items) // _PART):
            folded = {"_items": self._all(), "_gone": _NO_KEYS, "_own": _NONE, "_shared": False}
            # In this order, so that a reader in another thread finds every value.
            commit([partial(setattr, self, name, value) for name, value in folded.items()])

    def _all(self) -> dict[K, V]:
        """Return all items in insertion order, which the caller must not change."""
        own, gone, items = self._own, self._gone, self._items
        if not own and not gone:
            return items
        kept = {key: own.get(key, value) for key, value in items.items() if key not in gone}
        return kept | {key: value for key, value in own.items() if key in gone or key not in items}

    def keys(self) -> tuple[K, ...]:
        """Return all keys in insertion order."""
        return tuple(self._all())

    def values(self) -> Iterable[V]:
        """Return all values in insertion order."""
        return self._all().values()

    def __len__(self) -> int:
        """Return the number of keys."""
        added = sum(key in self._gone or key not in self._items for key in self._own)
        return len(self._items) - len(self._gone) + added


class Declared(CopyOnWriteDict[tuple[type[Object], str], Object]):
    """The declared objects by kind and name.

    Attributes:
        version: A cache of the objects by kind. The cache is replaced whenever an object is stored or removed, so two
            versions that are the same object have the same contents.
    """

    __slots__ = ("version",)

    def __init__(self, objects: Iterable[Object] = ()) -> None:
        """Create a collection of these objects."""
        super().__init__(((type(obj), obj.key), obj) for obj in objects)
        self.version: dict[type[Object], tuple[Any, ...]] = {}

    def fork(self) -> Self:
        """Return a collection with the same contents; the items are shared instead of copied."""
        twin = super().fork()
        twin.version = self.version.copy()
        return twin

    def putting(self, items: dict[tuple[type[Object], str], Object]) -> list[Step]:
        """Return the steps that store objects by their kinds and names."""
        return [*super().putting(items), partial(setattr, self, "version", {})]

    def dropping(self, key: tuple[type[Object], str]) -> list[Step]:
        """Return the steps that remove the object with a kind and name, if it exists."""
        return [*super().dropping(key), partial(setattr, self, "version", {})]

    def of(self, kind: type[T]) -> tuple[T, ...]:
        """Return the objects of a kind in insertion order. The objects are cached until any object is changed."""
        known = self.version  # read before the search, so that a concurrent change discards this cache entry
        found: tuple[T, ...] | None = known.get(kind)
        if found is None:
            found = known[kind] = tuple(obj for obj in self.values() if isinstance(obj, kind))
        return found


class Store:
    """Objects, Workloads as submitted, the manifests of their jobs, and their admissions.

    Forks of a state share one store until a state changes it; see `SchedulerState.own_store`.
    """

    __slots__ = ("_lent", "admitted", "jobs", "objects", "workloads")

    def __init__(self, other: Store | None = None) -> None:
        """Create an empty store, or a store with the same contents as another one."""
        self._lent = False
        self.objects: Declared = Declared() if other is None else other.objects.fork()
        self.workloads: CopyOnWriteDict[str, Workload] = CopyOnWriteDict() if other is None else other.workloads.fork()
        self.jobs: CopyOnWriteDict[str, dict[str, Any]] = CopyOnWriteDict() if other is None else other.jobs.fork()
        self.admitted: CopyOnWriteDict[str, Admitted] = CopyOnWriteDict() if other is None else other.admitted.fork()

    def lend(self) -> Self:
        """Return this store for use by another state as well.

        From then on, the store must not change; `for_change` returns a copy.
        """
        self._lent = True
        return self

    def for_change(self) -> Store:
        """Return this store, or a store with the same contents if this one was lent."""
        return Store(self) if self._lent else self

    def forgetting(self, key: str) -> list[Step]:
        """Return the steps that remove a workload."""
        return [step for shelf in (self.workloads, self.jobs, self.admitted) for step in shelf.dropping(key)]
