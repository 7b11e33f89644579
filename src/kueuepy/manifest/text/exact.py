"""Conversion of YAML text to Python values as in Kubernetes: PyYAML's events are interpreted by the rules of go-yaml.

Text that Kubernetes would accept by accident, or read in an unexpected way, is rejected: keys that are fractions, tags
without an equivalent in JSON, and `<<` after a key that it overrides.

Source: `vendor/go.yaml.in/yaml/v2/decode.go` for merges, aliases and duplicate keys, `vendor/sigs.k8s.io/yaml` for
keys.
"""

import re
from functools import lru_cache
from typing import Any, NoReturn

import msgspec
import yaml

from kueuepy.errors import LimitError, Path, shown
from kueuepy.manifest.text.events import Events
from kueuepy.manifest.text.scalars import NUMBER_START, WORDS, Scalar, TagError, key_text, resolve, tagged
from kueuepy.manifest.text.text import Limits, Text

# A ratio alone would refuse a few aliases in a text of some lines.
_MIN_ALIAS_NODES = 1000
_MERGE = "<<"
Container = dict[str, Any] | list[Any]


def parse(text: Text, limits: Limits, *, strict: bool) -> Any:
    """Parse a document.

    Args:
        text: The text.
        limits: Limits on the size of the text.
        strict: Whether duplicate keys are an error; otherwise the last one is used.

    Returns:
        The value of the document; `None` if it is empty.

    Raises:
        ManifestError: The text is not YAML, has duplicate keys, or has an undefined alias.
        LimitError: The nesting, a scalar or the aliases exceed their limit.
    """
    return Nodes(Events(text), limits, strict=strict).value()


class _Open(msgspec.Struct):
    """A mapping or list that is not complete yet.

    Attributes:
        container: The mapping or list.
        is_mapping: Whether it is a mapping.
        key: The key of the next value, in a mapping.
        merging: Whether the next value is the value of `<<`.
        merged: Whether the mapping has a key `<<`.
        inherited: The keys that were merged by `<<`.
    """

    container: Any
    is_mapping: bool
    key: str | None = None
    merging: bool = False
    merged: bool = False
    inherited: set[str] = msgspec.field(default_factory=set)


class Nodes:
    """Reader that converts the events of a YAML text to values."""

    def __init__(self, events: Events, limits: Limits, *, strict: bool, marking: bool = False) -> None:
        """Create the reader of a text.

        Args:
            events: YAML parser events of the text.
            limits: Limits on the size of the values.
            strict: Whether duplicate keys are an error.
            marking: Whether to record the lines of values.
        """
        self._events = events
        self._limits = limits
        self._strict = strict
        self._root: list[Any] = []
        self._open = [_Open(self._root, is_mapping=False)]
        self._anchors: dict[str, tuple[Any, str | None]] = {}
        self._spent = self._count = 0
        # The entry keeps the container alive, so that the id of a replaced container is not reused.
        self._locations: dict[int, tuple[Container, dict[str | int, int]]] | None = {} if marking else None

    def value(self) -> Any:
        """Read the text and return its value."""
        for event in self._events:
            if isinstance(event, yaml.ScalarEvent):
                self._scalar(event)
            elif isinstance(event, yaml.AliasEvent):
                self._alias(event.anchor)
            elif isinstance(event, yaml.CollectionEndEvent):
                closed = self._open.pop().container
                if self._open[-1].merging:
                    self._merge(self._open[-1], closed if isinstance(closed, list) else [closed])
            else:
                self._enter({} if isinstance(event, yaml.MappingStartEvent) else [], event.anchor)
        return self._root[0] if self._root else None

    def line_of(self, path: Path) -> int:
        """Return the line of a field, or of its innermost parent in the text. The text must already have been read."""
        value: Any = self._root
        found = self._events.text.line
        for step in (0, *path):
            _, locations = (self._locations or {}).get(id(value), (value, {}))
            if step not in locations:
                break
            found = locations[step]
            value = value[step]
        return found

    def _mark(self, step: str | int) -> None:
        container = self._open[-1].container
        if self._locations is not None:
            self._locations.setdefault(id(container), (container, {}))[1][step] = self._events.location()[0]

    def _enter(self, container: Container, anchor: str | None) -> None:
        if len(self._open) > self._limits.depth:
            self._exceed("depth", self._limits.depth, f"mappings and lists are nested {len(self._open):,} deep")
        top = self._open[-1]
        if top.is_mapping and top.key is None and not top.merging:
            self._no_key()
        if anchor:
            self._anchors[anchor] = (container, None)
        self._count += 1
        self._add(container)
        self._open.append(_Open(container, isinstance(container, dict)))

    def _scalar(self, event: Any) -> None:
        text: str = event.value
        top, most = self._open[-1], self._limits.scalar_bytes
        # A character has at most 4 bytes, so most texts need not be encoded to know that they are short enough.
        if len(text) > most // 4 and (length := len(text.encode("utf-8", "surrogatepass"))) > most:
            self._exceed("scalar_bytes", most, f"a string has {length:,} bytes")
        value: Scalar = text
        if event.tag is not None:
            try:
                value = tagged(event.tag, text)
            except TagError as error:
                self._events.fail(str(error))
        elif event.implicit[0]:
            value = resolve(text) if text in WORDS or text[0] in NUMBER_START else text
        wants_key = top.is_mapping and top.key is None and not top.merging
        key = text if isinstance(value, str) else key_text(text) if wants_key or event.anchor else None
        if event.anchor:
            self._anchors[event.anchor] = (value, key)
        elif isinstance(value, float) and not wants_key and value - value != 0:
            self._events.fail(f"{text} is not a number in JSON; put it in quotes if it is meant as a string")
        if wants_key and text == _MERGE and event.implicit[0]:
            self._take_merge(top)
        elif wants_key:
            self._name(top, key)
        else:
            self._count += 1
            if top.is_mapping and not top.merging:  # the usual case of `_add`
                top.container[top.key] = value
                top.key = None
            else:
                self._add(value)
            if top.merging:
                self._merge(top, [value])

    def _name(self, top: _Open, key: str | None) -> None:
        """Set the key of the next value."""
        if key is None:
            self._no_key()
        if key in top.inherited:
            top.inherited.remove(key)
        elif self._strict and key in top.container:
            self._events.fail(f"key {shown(key)} is given twice in one mapping; give it once", "Duplicate")
        top.key = key
        if self._locations is not None:
            self._mark(key)

    def _no_key(self) -> NoReturn:
        what = "null, a fraction, a mapping or a list"
        self._events.fail(f"{what} cannot be a key; put it in quotes if it is meant as a string")

    def _add(self, value: Any) -> None:
        """Add a value. The value of a `<<` key is merged when the value is complete."""
        top = self._open[-1]
        if isinstance(top.container, list):
            if self._locations is not None:
                self._mark(len(top.container))
            top.container.append(value)
        elif top.key is not None:
            top.container[top.key] = value
            top.key = None

    def _take_merge(self, top: _Open) -> None:
        if self._strict and top.merged:
            self._events.fail('key "<<" is given twice in one mapping; give it once', "Duplicate")
        top.merging = top.merged = True

    def _merge(self, top: _Open, sources: list[Any]) -> None:
        """Merge source mappings into a mapping.

        If several merged mappings have the same key, the value from the earliest mapping is used.
        """
        top.merging = False
        for source in reversed(sources):
            if not isinstance(source, dict):
                self._events.fail("<< merges a mapping or a list of mappings")
            for key in source:
                if self._strict and key in top.container and key not in top.inherited:
                    self._events.fail(f"<< gives key {shown(key)} another value; write it first", "Duplicate")
            if isinstance(top.container, dict):
                top.container.update(source)
            top.inherited.update(source)

    def _alias(self, name: str) -> None:
        if name not in self._anchors:
            self._events.fail(f'alias "*{name}" refers to no anchor before it')
        value, key = self._anchors[name]
        if any(value is collection.container for collection in self._open):
            self._events.fail(f'alias "*{name}" is part of what it stands for')
        top = self._open[-1]
        if top.is_mapping and top.key is None and not top.merging:
            self._name(top, key)
        else:
            copied = self._copy(value)
            self._add(copied)
            if top.merging:
                self._merge(top, [copied])

    def _copy(self, value: Any) -> Any:
        """Return a copy, and count it towards the limits. Copies of collections are filled level by level."""
        result: list[Any] = [value]
        level: list[tuple[Any, Any]] = [(result, 0)]
        depth = len(self._open) - 1
        while level:
            depth += 1
            below: list[tuple[Any, Any]] = []
            for container, step in level:
                self._spend()
                original = container[step]
                if isinstance(original, dict | list):
                    if depth > self._limits.depth:
                        self._exceed("depth", self._limits.depth, f"mappings and lists are nested {depth:,} deep")
                    container[step] = copied = original.copy()
                    below += [(copied, s) for s in (original if isinstance(original, dict) else range(len(original)))]
            level = below
        return result[0]

    def _spend(self) -> None:
        self._spent += 1
        ratio = max(self._limits.alias_ratio * self._count, _MIN_ALIAS_NODES)
        if self._spent > self._limits.alias_nodes:
            self._exceed("alias_nodes", self._limits.alias_nodes, "aliases stand for too many nodes")
        if self._spent > ratio:
            self._exceed("alias_ratio", ratio, "aliases stand for too many nodes, for so short a document")

    def _exceed(self, limit: str, allowed: int, what: str) -> NoReturn:
        raise LimitError(self._events.text.name, limit, allowed, what, self._events.location())


# For a text that was read within its limits, and is read again to find the lines of values.
_NO_LIMITS = Limits(depth=2**31, alias_nodes=2**31, alias_ratio=2**31, scalar_bytes=2**31)
_ESCAPE = re.compile(rb"\\(u[dD][89a-fA-F][0-9a-fA-F]{2}|.)")


def line_of(text: Text, path: Path) -> int:
    """Return the line of a field, or of its innermost parent in the text.

    Raises:
        ManifestError: The text is not YAML.
    """
    return _read(text).line_of(path)


@lru_cache(maxsize=2)
def _read(text: Text) -> Nodes:
    """Parse a text, and cache the result for further searches.

    In JSON, escape sequences that differ in YAML are replaced.
    """
    source = _ESCAPE.sub(_as_yaml, text.data).decode()
    nodes = Nodes(Events(text, source), _NO_LIMITS, strict=False, marking=True)
    nodes.value()
    return nodes


def _as_yaml(escape: re.Match[bytes]) -> bytes:
    """Return a replacement of the same length for a JSON escape sequence that YAML does not support."""
    code = escape[1]
    return rb"\u0041" if len(code) > 1 else b"//" if code == b"/" else escape[0]
