"""Values that grow while YAML text is read: collections, anchors and aliases, merges, and where everything stands."""

from typing import Any

from kueuepy.errors.problems import Path, shown
from kueuepy.manifest.text.limits import Limits
from kueuepy.manifest.text.scalars import key_text
from kueuepy.manifest.text.scanner import Scalar, Scanner
from kueuepy.manifest.text.text import Text

_MIN_ALIAS_NODES = 1000
Container = dict[str, Any] | list[Any]


class Open:
    """A collection that is still growing.

    Attributes:
        container: The mapping or list.
        indent: The column of its keys or dashes; -1 in brackets.
        key: The key whose value comes next, in a mapping.
        awaiting: Whether a value comes next.
        anchor: The name that the next value gets.
        explicit: Whether the key was written after a question mark, and its colon is yet to come.
        merging: Whether the key is `<<`.
        full: Whether only a comma or the end may come next, in brackets.
        colon: Whether the colon after a key has come, in brackets.
        last: The scalar that came last, in brackets; it may turn out to be a key.
    """

    __slots__ = (
        "anchor",
        "awaiting",
        "colon",
        "container",
        "explicit",
        "full",
        "indent",
        "key",
        "last",
        "merging",
        "start",
    )

    def __init__(self, container: Container, indent: int, start: int) -> None:
        """Opens a collection that begins at this offset."""
        self.container = container
        self.indent = indent
        self.start = start
        self.key = ""
        self.awaiting = False
        self.explicit = False
        self.merging = False
        self.anchor = ""
        self.full = False
        self.colon = False
        self.last: Scalar | None = None


class Nodes(Scanner):
    """A text and the values in it so far."""

    def __init__(self, text: Text, limits: Limits, *, strict: bool, marking: bool = False) -> None:
        """Takes the text, its limits, whether equal keys are an error, and whether to note where values stand."""
        super().__init__(text, limits)
        self.strict = strict
        self.open: list[Open] = [Open([], -1, 0)]
        self.open[0].awaiting = True
        self.marking = marking
        self.places: dict[int, dict[str | int, int]] = {}
        self._anchors: dict[str, tuple[Any, int]] = {}
        self._merges: list[tuple[dict[str, Any], Any, int]] = []
        self._inherited: set[tuple[int, str]] = set()
        self._spent = 0
        self._count = 0

    @property
    def top(self) -> Open:
        """The innermost collection that is still growing."""
        return self.open[-1]

    def enter(self, container: Container, indent: int, start: int) -> None:
        """Opens a collection as the value that comes next."""
        if len(self.open) > self.limits.depth:
            self.exceed(start, "depth", self.limits.depth, f"mappings and lists are nested {len(self.open):,} deep")
        self.add(container, start)
        self.open.append(Open(container, indent, start))

    def leave(self) -> None:
        """Closes the innermost collection; a value that didn't come is null."""
        if self.top.awaiting:
            self.add(None, self.top.start)
        self.open.pop()

    def name_key(self, scalar: Scalar, start: int) -> None:
        """Takes a key of the innermost mapping."""
        top = self.top
        if top.awaiting:
            self.add(None, start)
        key: str | None = scalar.text
        if not scalar.quoted:
            top.merging = key == "<<"
            key = key_text(scalar.text)
        if key is None:
            self.fail(start, "null is no key; put it in quotes if it is meant as text")
        mapping = top.container
        if isinstance(mapping, dict) and not top.merging:
            if (id(mapping), key) in self._inherited:
                self._inherited.remove((id(mapping), key))
            elif self.strict and key in mapping:
                self.fail(start, f"key {shown(key)} is given twice in one mapping; give it once", "Duplicate")
        top.key, top.awaiting = key, True
        self._place(mapping, key, start)

    def add(self, value: Any, start: int) -> None:
        """Takes the value that comes next."""
        top = self.top
        self._count += 1
        if top.anchor:
            self._anchors[top.anchor] = (value, start)
            top.anchor = ""
        if isinstance(top.container, list):
            self._place(top.container, len(top.container), start)
            top.container.append(value)
        elif top.merging:
            self._merges.append((top.container, value, start))
            top.merging = False
        else:
            top.container[top.key] = value
        top.awaiting = top.explicit = False

    def _place(self, container: Container, step: str | int, start: int) -> None:
        if self.marking:
            self.places.setdefault(id(container), {})[step] = start

    def alias(self, name: str, start: int) -> Any:
        """A copy of what an alias stands for."""
        if name not in self._anchors:
            self.fail(start, f'alias "*{name}" refers to no anchor before it')
        value, _ = self._anchors[name]
        growing = {id(collection.container) for collection in self.open}
        if id(value) in growing:
            self.fail(start, f'alias "*{name}" is part of what it stands for')
        self.merge(growing)
        return self._copy(value, start)

    def _copy(self, value: Any, start: int) -> Any:
        """A copy, charged to the limits; the copies of collections are filled level by level."""
        result: list[Any] = [value]
        level: list[tuple[Any, Any]] = [(result, 0)]
        depth = len(self.open) - 1
        while level:
            depth += 1
            below: list[tuple[Any, Any]] = []
            for container, step in level:
                self._spend(start)
                original = container[step]
                if isinstance(original, dict | list):
                    if depth > self.limits.depth:
                        self.exceed(start, "depth", self.limits.depth, f"mappings and lists are nested {depth:,} deep")
                    container[step] = copied = original.copy()
                    below += [(copied, s) for s in (original if isinstance(original, dict) else range(len(original)))]
            level = below
        return result[0]

    def _spend(self, start: int) -> None:
        self._spent += 1
        ratio = max(self.limits.alias_ratio * self._count, _MIN_ALIAS_NODES)
        if self._spent > self.limits.alias_nodes:
            self.exceed(start, "alias_nodes", self.limits.alias_nodes, "aliases stand for too many nodes")
        if self._spent > ratio:
            self.exceed(start, "alias_ratio", ratio, "aliases stand for too many nodes, for so short a document")

    def merge(self, growing: set[int]) -> None:
        """Gives mappings the pairs of their `<<` that they don't have themselves, where those are complete."""
        waiting = [merge for merge in self._merges if id(merge[1]) in growing]
        ready = [merge for merge in self._merges if id(merge[1]) not in growing]
        self._merges = waiting
        for mapping, merged, start in ready:
            for source in merged if isinstance(merged, list) else [merged]:
                if not isinstance(source, dict):
                    self.fail(start, "<< merges a mapping or a list of mappings")
                for key in [key for key in source if key not in mapping]:
                    mapping[key] = source[key]
                    self._inherited.add((id(mapping), key))

    def find(self, path: Path) -> int:
        """Where a field is written, or the innermost part of its path that is."""
        value: Any = self.open[0].container
        found = 0
        for step in (0, *path):
            places = self.places.get(id(value), {})
            if step not in places:
                break
            found = places[step]
            try:
                value = value[step]
            except LookupError:  # gone: what was put right is not as it was written
                break
        return found
