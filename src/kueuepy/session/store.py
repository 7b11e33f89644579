"""What a Scheduler remembers beside its engine, shared between forks until one of them changes it."""

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
"""Kinds of which the engine need not hear: jobs are read with them."""


class CopyOnWriteDict(Generic[K, V]):
    """A dict that is copied when a fork shares it and one of the two writes."""

    __slots__ = ("_items", "_shared")

    def __init__(self) -> None:
        """Holds nothing yet."""
        self._items: dict[K, V] = {}
        self._shared = False

    def fork(self) -> CopyOnWriteDict[K, V]:
        """One with the same content, in no time."""
        twin: CopyOnWriteDict[K, V] = CopyOnWriteDict()
        twin._items, twin._shared = self._items, True
        self._shared = True
        return twin

    def _own(self) -> dict[K, V]:
        if self._shared:
            self._items, self._shared = dict(self._items), False
        return self._items

    def get(self, key: K) -> V | None:
        """What is kept under the key, if anything."""
        return self._items.get(key)

    def put(self, key: K, value: V) -> None:
        """Keeps the value under the key."""
        self._own()[key] = value

    def drop(self, key: K) -> None:
        """Forgets what is kept under the key, if anything."""
        if key in self._items:
            del self._own()[key]

    def keys(self) -> tuple[K, ...]:
        """All keys, oldest first."""
        return tuple(self._items)

    def values(self) -> Iterator[V]:
        """All values, oldest first."""
        return iter(self._items.values())

    def __len__(self) -> int:
        """How many there are."""
        return len(self._items)


class Declared(CopyOnWriteDict[tuple[type[Object], str], Object]):
    """The declared objects, by kind and name."""

    __slots__ = ("_by_kind",)

    def __init__(self) -> None:
        """Holds nothing yet."""
        super().__init__()
        self._by_kind: dict[type[Object], tuple[Any, ...]] = {}

    def fork(self) -> Declared:
        """One with the same content, in no time."""
        twin = Declared()
        twin._items, twin._shared, twin._by_kind = self._items, True, dict(self._by_kind)
        self._shared = True
        return twin

    def put(self, key: tuple[type[Object], str], value: Object) -> None:
        """Keeps the object under its kind and name."""
        super().put(key, value)
        self._by_kind = {}

    def drop(self, key: tuple[type[Object], str]) -> None:
        """Forgets the object of this kind and name, if there is one."""
        super().drop(key)
        self._by_kind = {}

    def of(self, kind: type[T]) -> tuple[T, ...]:
        """The objects of a kind, oldest first; looked for once until something changes."""
        known = self._by_kind  # before looking, so that what changes meanwhile is not missed
        found: tuple[T, ...] | None = known.get(kind)
        if found is None:
            found = known[kind] = tuple(obj for obj in self._items.values() if isinstance(obj, kind))
        return found


class Submitted(CopyOnWriteDict[str, "Workload"]):
    """The Workloads, by key; and what is not modelled of those of which there is something."""

    __slots__ = ("_outside",)

    def __init__(self) -> None:
        """Holds nothing yet."""
        super().__init__()
        self._outside: CopyOnWriteDict[str, tuple[str, ...]] = CopyOnWriteDict()

    def fork(self) -> Submitted:
        """One with the same content, in no time."""
        twin = Submitted()
        twin._items, twin._shared, twin._outside = self._items, True, self._outside.fork()
        self._shared = True
        return twin

    def put(self, key: str, value: Workload) -> None:
        """Keeps the Workload under its key."""
        super().put(key, value)
        if value.not_modelled:
            self._outside.put(key, value.not_modelled)
        else:
            self._outside.drop(key)

    def drop(self, key: str) -> None:
        """Forgets the Workload of this key, if there is one."""
        super().drop(key)
        self._outside.drop(key)

    def not_modelled(self) -> CopyOnWriteDict[str, tuple[str, ...]] | None:
        """What is not modelled of whom, by key, as it is now; `None` where there is nothing."""
        return self._outside.fork() if len(self._outside) else None


class Store:
    """Objects, Workloads as submitted, manifests of their jobs, and how each was admitted."""

    __slots__ = ("admitted", "jobs", "objects", "workloads")

    def __init__(self) -> None:
        """Holds nothing yet."""
        self.objects = Declared()
        self.workloads = Submitted()
        self.jobs: CopyOnWriteDict[str, dict[str, Any]] = CopyOnWriteDict()
        self.admitted: CopyOnWriteDict[str, Admitted] = CopyOnWriteDict()

    def fork(self) -> Store:
        """One with the same content, in no time."""
        twin = Store.__new__(Store)
        for name in Store.__slots__:
            setattr(twin, name, getattr(self, name).fork())
        return twin

    def forget(self, key: str) -> None:
        """Forgets a workload."""
        for shelf in (self.workloads, self.jobs, self.admitted):
            shelf.drop(key)
