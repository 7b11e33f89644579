"""The messages from several watches as one sequence of changes, in the order of their writes."""

from __future__ import annotations

import heapq
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

from kueuepy.platform.apiserver import RESOURCES
from kueuepy.platform.history import reduced
from kueuepy.platform.live.recording import Change

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kueuepy.platform.live.watching import Message

_ORDER = {resource.kind: position for position, resource in enumerate(RESOURCES)}


class _Event(NamedTuple):
    revision: int
    number: int
    time: int
    kind: str
    key: str
    new: dict[str, Any] | None


class ChangeStream:
    """A sequence of changes from watches that deliver events of different kinds with different delays.

    Each event is delayed, so that events of other kinds that were written earlier but received later can precede it.

    Attributes:
        relisted: The number of lists after the first list of each kind; changes before a repeated list might be
            missing.
    """

    def __init__(self, kinds: Iterable[str], hold: int) -> None:
        """Create an empty stream.

        Args:
            kinds: The kinds that are watched.
            hold: The time for which each event is delayed, in nanoseconds.
        """
        self._missing = set(kinds)
        self._hold = hold
        self._first: list[_Event] = []
        self._events: list[_Event] = []
        self._known: dict[tuple[str, str], dict[str, Any]] = {}
        self._listed: set[str] = set()
        self._numbers = count()
        self._time = 0
        self.relisted = 0

    def take(self, message: Message) -> None:
        """Add a message from a watch."""
        if message.what == "list":
            self._list(message)
        elif message.what in ("event", "deleted"):
            self._add(message, message.value, deleted=message.what == "deleted")

    def changes(self, now: int) -> Iterator[Change]:
        """Yield the changes that no later message can precede.

        The objects that existed at the start come first, as soon as each kind has been listed.

        Args:
            now: The time in nanoseconds since the Unix epoch.
        """
        if self._missing and not (self._first and now - self._first[0].time > 4 * self._hold):
            return
        self._missing.clear()
        for event in sorted(self._first, key=lambda one: (_ORDER.get(one.kind, 0), one.revision)):
            yield from self._change(event)
        self._first.clear()
        while self._events and self._events[0].time <= now - self._hold:
            yield from self._change(heapq.heappop(self._events))

    def _list(self, message: Message) -> None:
        self._missing.discard(message.kind)
        is_first = message.kind not in self._listed
        self._listed.add(message.kind)
        objects: list[dict[str, Any]] = message.value
        kind = message.kind
        present = {self._add(message, obj, at_start=is_first) for obj in objects}
        if is_first:
            return
        self.relisted += 1
        gone = [place for place in self._known if place[0] == kind and place[1] not in present]
        for _, key in gone:
            event = _Event(message.revision, next(self._numbers), message.time, kind, key, None)
            heapq.heappush(self._events, event)

    def _add(self, message: Message, obj: dict[str, Any], *, deleted: bool = False, at_start: bool = False) -> str:
        found = reduced(obj, message.kind)
        found.setdefault("kind", message.kind)
        metadata = found["metadata"]
        key = f"{metadata['namespace']}/{metadata['name']}" if metadata.get("namespace") else str(metadata["name"])
        revision = int(metadata["resourceVersion"])
        event = _Event(revision, next(self._numbers), message.time, message.kind, key, None if deleted else found)
        if at_start:
            self._first.append(event)
        else:
            heapq.heappush(self._events, event)
        return key

    def _change(self, event: _Event) -> Iterator[Change]:
        place = (event.kind, event.key)
        old = self._known.get(place)
        if old is not None and int(old["metadata"]["resourceVersion"]) >= event.revision:
            return
        if event.new is not None:
            self._known[place] = event.new
        elif self._known.pop(place, None) is None:
            return
        self._time = max(self._time, event.time)
        yield Change(event.revision, self._time, event.kind, event.key, old, event.new)
