"""The Python objects that a Scheduler keeps with its engine, shared between forks until one of them changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar

from kueuepy.objects import Object, PriorityClass, WorkloadPriorityClass

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kueuepy.decisions import Admitted
    from kueuepy.objects import Workload

K = TypeVar("K")
V = TypeVar("V")
T = TypeVar("T", bound=Object)

PASSIVE = (PriorityClass, WorkloadPriorityClass)
"""Kinds that the engine does not need, because they only affect how jobs are converted."""


class CopyOnWriteDict(Generic[K, V]):
    """A dict that forks share until one of them writes."""

    __slots__ = ("_items", "_shared")

    def __init__(self) -> None:
        """Create an empty dict."""
        self._items: dict[K, V] = {}
        self._shared = False

    def fork(self) -> CopyOnWriteDict[K, V]:
        """Return a dict with the same contents, in constant time."""
        twin: CopyOnWriteDict[K, V] = CopyOnWriteDict()
        twin._items, twin._shared = self._items, True
        self._shared = True
        return twin

    def _own(self) -> dict[K, V]:
        if self._shared:
            self._items, self._shared = dict(self._items), False
        return self._items

    def get(self, key: K) -> V | None:
        """Return the value of a key, or `None`."""
        return self._items.get(key)

    def put(self, key: K, value: V) -> None:
        """Set the value of a key."""
        self._own()[key] = value

    def drop(self, key: K) -> None:
        """Remove a key, if it exists."""
        if key in self._items:
            del self._own()[key]

    def keys(self) -> tuple[K, ...]:
        """Return all keys in insertion order."""
        return tuple(self._items)

    def values(self) -> Iterator[V]:
        """Return all values in insertion order."""
        return iter(self._items.values())

    def __len__(self) -> int:
        """Return the number of keys."""
        return len(self._items)


class Declared(CopyOnWriteDict[tuple[type[Object], str], Object]):
    """The declared objects by kind and name."""

    __slots__ = ("_by_kind",)

    def __init__(self) -> None:
        """Create an empty collection."""
        super().__init__()
        self._by_kind: dict[type[Object], tuple[Any, ...]] = {}

    def fork(self) -> Declared:
        """Return a collection with the same contents, in constant time."""
        twin = Declared()
        twin._items, twin._shared, twin._by_kind = self._items, True, dict(self._by_kind)
        self._shared = True
        return twin

    def put(self, key: tuple[type[Object], str], value: Object) -> None:
        """Store an object by its kind and name."""
        super().put(key, value)
        self._by_kind = {}

    def drop(self, key: tuple[type[Object], str]) -> None:
        """Remove the object of a kind and name, if it exists."""
        super().drop(key)
        self._by_kind = {}

    def of(self, kind: type[T]) -> tuple[T, ...]:
        """Return the objects of a kind in insertion order. The result is cached until an object changes."""
        known = self._by_kind  # read before the search, so that a concurrent change discards this cache entry
        found: tuple[T, ...] | None = known.get(kind)
        if found is None:
            found = known[kind] = tuple(obj for obj in self._items.values() if isinstance(obj, kind))
        return found


class Submitted(CopyOnWriteDict[str, "Workload"]):
    """The Workloads by key. Requests that kueuepy does not model are stored separately."""

    __slots__ = ("_outside",)

    def __init__(self) -> None:
        """Create an empty collection."""
        super().__init__()
        self._outside: CopyOnWriteDict[str, tuple[str, ...]] = CopyOnWriteDict()

    def fork(self) -> Submitted:
        """Return a collection with the same contents, in constant time."""
        twin = Submitted()
        twin._items, twin._shared, twin._outside = self._items, True, self._outside.fork()
        self._shared = True
        return twin

    def put(self, key: str, value: Workload) -> None:
        """Store a Workload by its key."""
        super().put(key, value)
        if value.not_modelled:
            self._outside.put(key, value.not_modelled)
        else:
            self._outside.drop(key)

    def drop(self, key: str) -> None:
        """Remove the Workload with a key, if it exists."""
        super().drop(key)
        self._outside.drop(key)

    def not_modelled(self) -> CopyOnWriteDict[str, tuple[str, ...]] | None:
        """Return a snapshot of the requests that are not modelled, by workload key; `None` if there are none."""
        return self._outside.fork() if len(self._outside) else None


class Store:
    """Objects, Workloads as submitted, the manifests of their jobs, and their admissions."""

    __slots__ = ("admitted", "jobs", "objects", "workloads")

    def __init__(self) -> None:
        """Create an empty store."""
        self.objects = Declared()
        self.workloads = Submitted()
        self.jobs: CopyOnWriteDict[str, dict[str, Any]] = CopyOnWriteDict()
        self.admitted: CopyOnWriteDict[str, Admitted] = CopyOnWriteDict()

    def fork(self) -> Store:
        """Return a store with the same contents, in constant time."""
        twin = Store.__new__(Store)
        for name in Store.__slots__:
            setattr(twin, name, getattr(self, name).fork())
        return twin

    def forget(self, key: str) -> None:
        """Remove a workload."""
        for shelf in (self.workloads, self.jobs, self.admitted):
            shelf.drop(key)
