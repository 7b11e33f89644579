"""YAML text into Python values, scalar by scalar, as Kubernetes reads it; and back from a field to its line.

rapidyaml finds the structure. This walk gives scalars their types, follows aliases within limits, and sees equal keys.
"""

from typing import Any, NoReturn

import numpy as np
import ryml  # type: ignore[import-untyped]

from kueuepy.manifest.limits import Limits
from kueuepy.manifest.problems import LimitError, ManifestError, Path, Problem, shown
from kueuepy.manifest.scalars import key_text, resolve
from kueuepy.manifest.text import Text

_QUOTED_KEY = ryml.KEYQUO
_QUOTED_VALUE = ryml.VALQUO
_NOT_PLAIN_START = frozenset("@`%!")
_MIN_ALIAS_NODES = 1000


class Tree:
    """The structure that rapidyaml finds in a text: nodes in the order of the text, each with its parent."""

    def __init__(self, text: Text) -> None:
        """Parses the text.

        Raises:
            ManifestError: The text is not YAML.
        """
        self.text = text
        self._buffer = bytearray(text.safe)
        self._tree = ryml.Tree()
        try:
            if self._buffer:
                ryml.parse_in_place(self._buffer, tree=self._tree)
        except ryml.ExceptionParse as error:
            place = error.errdata_parse.ymlloc
            text.fail(min(place.offset, len(text.data)), f"this is not YAML: {error.msg}")
        except (ryml.ExceptionBasic, ryml.ExceptionVisit) as error:
            text.fail(0, f"this is not YAML: {error.msg}")
        count = self._tree.size() if self._buffer else 0
        self.types: list[int] = list(map(self._tree.type, range(count)))
        self.parents: list[int] = list(map(self._tree.parent, range(count)))

    def key(self, node: int) -> str:
        """The text of a node's key."""
        return self.text.restored(str(self._tree.key(node) or b"", "utf-8"))

    def value(self, node: int) -> str:
        """The text of a scalar node; empty where nothing is written."""
        return self.text.restored(str(self._tree.val(node) or b"", "utf-8"))

    def reference(self, node: int) -> str:
        """The name of the anchor to which an alias refers."""
        return str(self._tree.val_ref(node), "utf-8").lstrip("*")

    def anchor(self, node: int) -> str:
        """The name that an anchor gives to the node's value."""
        return str(self._tree.val_anchor(node), "utf-8").lstrip("&")

    def roots(self) -> list[int]:
        """The top nodes of the documents."""
        if not self.types:
            return []
        if self.types[0] & ryml.STREAM != ryml.STREAM:
            return [0]
        return [node for node, parent in enumerate(self.parents) if node and parent == 0]

    def offset(self, node: int) -> int:
        """Where a node begins in the text: at its key, or at the first scalar in it."""
        base = int(np.frombuffer(self._buffer, np.uint8).ctypes.data)
        for candidate in range(node, len(self.types)):
            for has, read in ((ryml.KEY, self._tree.key), (ryml.VAL, self._tree.val)):
                if self.types[candidate] & has and (view := read(candidate)):
                    found = int(np.frombuffer(view, np.uint8).ctypes.data) - base
                    if 0 <= found < len(self._buffer):
                        return found
        return 0

    def find(self, path: Path, root: int) -> int:
        """The node of a field, or of the innermost part of its path that is written."""
        node = root
        for step in path:
            children = [child for child, parent in enumerate(self.parents) if parent == node and child > node]
            if isinstance(step, int):
                found = children[step] if step < len(children) else None
            else:
                keyed = (child for child in children if self.types[child] & ryml.KEY and self.key(child) == step)
                found = next(keyed, None)
            if found is None:
                break
            node = found
        return node


class Builder:
    """The values of a tree's documents."""

    def __init__(self, tree: Tree, limits: Limits, *, strict: bool) -> None:
        """Takes what to build from, and whether equal keys are an error."""
        self._tree = tree
        self._limits = limits
        self._strict = strict
        self._values: list[Any] = [None] * len(tree.types)
        self._depths = [0] * len(tree.types)
        self._anchors: dict[str, int] = {}
        self._merges: list[tuple[int, int]] = []
        self._inherited: set[tuple[int, str]] = set()
        self._spent = 0

    def documents(self) -> list[Any]:
        """The value of each document.

        Raises:
            ManifestError: Two equal keys, a key that is no text, an unknown alias, or a tag that is not supported.
            LimitError: The nesting, a scalar or the aliases exceed their limit.
        """
        for node, (flags, parent) in enumerate(zip(self._tree.types, self._tree.parents, strict=True)):
            value = self._value(node, flags, parent)
            self._values[node] = value
            if flags & ryml.VALANCH:
                self._anchors[self._tree.anchor(node)] = node
            if flags & ryml.KEY:
                self._set(node, flags, parent, value)
            elif node and isinstance(self._values[parent], list):
                self._values[parent].append(value)
        self._apply_merges(frozenset())
        return [self._values[root] for root in self._tree.roots()]

    def _value(self, node: int, flags: int, parent: int) -> Any:
        if flags & ryml.STREAM == ryml.STREAM:
            return None
        if flags & (ryml.MAP | ryml.SEQ):
            depth = self._depths[node] = self._depths[parent] + 1 if node else 1
            if depth > self._limits.depth:
                self._exceeds(node, "depth", self._limits.depth, f"mappings and lists are nested {depth:,} deep")
            return {} if flags & ryml.MAP else []
        if flags & ryml.VALREF:
            return self._alias(node)
        text = self._tree.value(node)
        if len(text) > self._limits.scalar_bytes // 4:
            self._check_length(node, text)
        if flags & _QUOTED_VALUE:
            return text
        if text and text[0] in _NOT_PLAIN_START:
            self._fail(node, f"{shown(text)} starts with {text[0]}; put it in quotes, or leave out a tag")
        if ":\t" in text:
            self._fail(node, "a tab follows a colon; write a space there, or put the text in quotes")
        return resolve(text)

    def _set(self, node: int, flags: int, parent: int, value: Any) -> None:
        mapping: dict[str, Any] = self._values[parent]
        key = self._tree.key(node)
        if flags & ryml.KEYREF or (key[:1] in _NOT_PLAIN_START and not flags & _QUOTED_KEY):
            self._fail(node, f"{shown(key)} is no key; write its text, without an alias or a tag")
        if len(key) > self._limits.scalar_bytes // 4:
            self._check_length(node, key)
        if not flags & _QUOTED_KEY:
            if key == "<<":
                self._merges.append((parent, node))
                return
            if (plain := key_text(key)) is None:
                self._fail(node, "null is no key; put it in quotes if it is meant as text")
            key = plain
        if (parent, key) in self._inherited:
            self._inherited.remove((parent, key))
        elif self._strict and key in mapping:
            self._fail(node, f"key {shown(key)} is given twice in one mapping; give it once", "Duplicate")
        mapping[key] = value

    def _alias(self, node: int) -> Any:
        name = self._tree.reference(node)
        target = self._anchors.get(name)
        if target is None:
            self._fail(node, f'alias "*{name}" refers to no anchor before it')
        ancestors = self._ancestors(node)
        if target in ancestors:
            self._fail(node, f'alias "*{name}" is part of what it stands for')
        self._apply_merges(ancestors)
        return self._copy(node, self._values[target], self._depths[self._tree.parents[node]])

    def _copy(self, node: int, value: Any, depth: int) -> Any:
        """A copy of what an alias stands for, charged to the limits."""
        self._spent += 1
        ratio = max(self._limits.alias_ratio * len(self._values), _MIN_ALIAS_NODES)
        if self._spent > self._limits.alias_nodes:
            self._exceeds(node, "alias_nodes", self._limits.alias_nodes, "aliases stand for too many nodes")
        if self._spent > ratio:
            self._exceeds(node, "alias_ratio", ratio, "aliases stand for too many nodes, for so short a document")
        if isinstance(value, dict | list) and depth >= self._limits.depth:
            self._exceeds(node, "depth", self._limits.depth, f"mappings and lists are nested {depth + 1:,} deep")
        if isinstance(value, dict):
            return {key: self._copy(node, item, depth + 1) for key, item in value.items()}
        if isinstance(value, list):
            return [self._copy(node, item, depth + 1) for item in value]
        return value

    def _ancestors(self, node: int) -> frozenset[int]:
        found = []
        while node:
            node = self._tree.parents[node]
            found.append(node)
        return frozenset(found)

    def _apply_merges(self, unfinished: frozenset[int]) -> None:
        """Gives mappings the pairs of their `<<` that they don't have themselves, where those are complete."""
        waiting = [(owner, node) for owner, node in self._merges if node in unfinished]
        for owner, node in self._merges:
            if node not in unfinished:
                self._merge(owner, node)
        self._merges = waiting

    def _merge(self, owner: int, node: int) -> None:
        merged = self._values[node]
        for mapping in merged if isinstance(merged, list) else [merged]:
            if not isinstance(mapping, dict):
                self._fail(node, "<< merges a mapping or a list of mappings")
            for key in [key for key in mapping if key not in self._values[owner]]:
                self._values[owner][key] = mapping[key]
                self._inherited.add((owner, key))

    def _check_length(self, node: int, text: str) -> None:
        length = len(text.encode())
        if length > self._limits.scalar_bytes:
            self._exceeds(node, "scalar_bytes", self._limits.scalar_bytes, f"a text has {length:,} bytes")

    def _exceeds(self, node: int, limit: str, allowed: int, what: str) -> NoReturn:
        text = self._tree.text
        raise LimitError(text.name, limit, allowed, what, text.position(self._tree.offset(node)))

    def _fail(self, node: int, detail: str, kind: Any = "Syntax") -> NoReturn:
        line, column = self._tree.text.position(self._tree.offset(node))
        raise ManifestError([(f"{self._tree.text.name}:{line}:{column}", Problem((), kind, detail))])
