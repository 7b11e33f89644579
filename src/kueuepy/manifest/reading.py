"""Files and texts into the values of the objects in them, each with the way back to its line."""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import msgspec

from kueuepy.manifest.limits import Limits
from kueuepy.manifest.problems import LimitError, ManifestError, Path
from kueuepy.manifest.scalars import number
from kueuepy.manifest.text import Text
from kueuepy.manifest.yamlblock import locate, parse
from kueuepy.manifest.yamlfast import has_equal_keys, quick_value

_MARKER = re.compile(rb"^(?:---|\.\.\.)(?=[ \t\r\n]|\Z)", re.MULTILINE)
_DIRECTIVE = re.compile(rb"^%", re.MULTILINE)
_PREAMBLE = re.compile(rb"(?:[ \t]*(?:#[^\n]*)?\r?\n|%[^\n]*(?:\n|\Z))*")
_CONTENT = re.compile(rb"^[ \t]*[^#\s]", re.MULTILINE)
_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_ALLOWED_BYTES = bytes(sorted({9, 10, 13, *range(32, 127), *range(128, 256)}))
_NODE_MARKS = (b":", b",", b"\n", b"[", b"{", b"- ")
_ITEMS = re.compile(rb"^items:[ ]*\r?\n(?:[ ]*\r?\n)*(?P<indent>[ ]*)(?=- )", re.MULTILINE)
_BATCH = 2**19
_SMALL = 2**18
_LINE = b"\n"
_JSON = msgspec.json.Decoder(float_hook=number)
_JSON_FIELDS = msgspec.json.Decoder(dict[str, msgspec.Raw])
_JSON_ITEMS = msgspec.json.Decoder(list[msgspec.Raw])


class Item:
    """A value read from a text, and the way back.

    Attributes:
        value: Mappings, lists and scalars, as Kubernetes' JSON has them.
        text: The text that holds it.
        prefix: Its path in that text.
    """

    __slots__ = ("prefix", "text", "value")

    def __init__(self, value: Any, text: Text, prefix: Path = ()) -> None:
        """Keeps the three."""
        self.value = value
        self.text = text
        self.prefix = prefix

    def where(self, path: Path = ()) -> str:
        """File and line of a field, or of the innermost part of its path that is written."""
        if not self.text.data:
            return self.text.name
        try:
            line = locate(self.text, self.prefix + path)
        except ManifestError:
            # Not all JSON is YAML: it may have tabs and lone surrogates.
            line = self.text.line
        return f"{self.text.name}:{line}"

    def items(self) -> Iterator["Item"]:
        """The items of a list object."""
        listed = {"apiVersion": self.value.get("apiVersion"), "kind": str(self.value.get("kind"))[: -len("List")]}
        for position, raw in enumerate(self.value.get("items") or ()):
            # A typed list may leave out what its own kind says.
            value = {**listed, **raw} if isinstance(raw, dict) and listed["kind"] else raw
            yield Item(value, self.text, (*self.prefix, "items", position))


class Way(NamedTuple):
    """How a file is read.

    Attributes:
        limits: How much it may hold.
        strict: Whether equal keys are an error.
        quick: Whether rapidyaml may be tried. It writes to the standard error where it fails, and small files need no
            haste.
    """

    limits: Limits
    strict: bool
    quick: bool


def read(name: str, data: bytes, limits: Limits, *, strict: bool) -> Iterator[Item]:
    """The documents of a file, lists in large ones already taken apart.

    Raises:
        ManifestError: The file is not YAML or JSON in UTF-8.
        LimitError: The file exceeds a limit.
    """
    _check_bytes(name, data, limits)
    way = Way(limits, strict=strict, quick=len(data) > _SMALL)
    for text in _documents(name, data):
        yield from _json(text, way) or _yaml(text, way)


def _check_bytes(name: str, data: bytes, limits: Limits) -> None:
    if len(data) > limits.document_bytes:
        raise LimitError(name, "document_bytes", limits.document_bytes, f"the file has {len(data):,} bytes")
    nodes = sum(data.count(mark) for mark in _NODE_MARKS) if len(data) > limits.nodes else 0
    if nodes > limits.nodes:
        raise LimitError(name, "nodes", limits.nodes, f"the file may have {nodes:,} keys, values and items")
    text = Text(name, data)
    if data.translate(None, _ALLOWED_BYTES) and (found := _CONTROL.search(data)):
        text.fail(found.start(), f"control character {found.group()[0]:#04x} is not allowed; write it as an escape")
    try:
        data.decode()
    except UnicodeDecodeError as error:
        text.fail(error.start, f"this is not UTF-8: {error.reason}")


def _documents(name: str, data: bytes) -> Iterator[Text]:
    """The texts between document markers that have any content."""
    data = data.removeprefix(b"\xef\xbb\xbf")
    starts = [0, *(found.start() for found in _MARKER.finditer(data)), len(data)]
    line = 1
    for start, end in pairwise(starts):
        part = data[start:end]
        if part.startswith((b"---", b"...")):
            part = b"   " + part[3:]
        text = Text(name, _without_directives(part), line)
        if found := _DIRECTIVE.search(text.data):
            text.fail(found.start(), "a line starts with %, which only directives before a document do")
        if _CONTENT.search(text.data):
            yield text
        line += data.count(_LINE, start, end)


def _without_directives(part: bytes) -> bytes:
    """The bytes with comments where there are directives, which stand before anything else."""
    preamble = _PREAMBLE.match(part)
    end = preamble.end() if preamble else 0
    return _DIRECTIVE.sub(b"#", part[:end]) + part[end:] if b"%" in part[:end] else part


def _json(text: Text, way: Way) -> list[Item]:
    """The objects of a JSON text; none if it is something else."""
    if text.data.lstrip()[:1] != b"{":
        return []
    try:
        fields = _JSON_FIELDS.decode(text.data)
        kind = fields.get("kind")
        if kind is not None and bytes(kind).endswith(b'List"') and "items" in fields:
            return _json_items(text, fields, way)
        return _json_object(text, way)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return []


def _json_items(text: Text, fields: dict[str, msgspec.Raw], way: Way) -> list[Item]:
    items: list[Item] = []
    offset, line = 0, text.line
    for raw in _JSON_ITEMS.decode(fields["items"]) if bytes(fields["items"]) != b"null" else []:
        data = bytes(raw)
        found = text.data.index(data, offset)
        line += text.data.count(_LINE, offset, found)
        offset = found
        items += _json_object(Text(text.name, data, line), way)
    return items


def _json_object(text: Text, way: Way) -> list[Item]:
    """The value of a JSON text; by way of YAML, which JSON is, where a limit or a duplicate needs its place."""
    value = _JSON.decode(text.data)
    brackets = text.data.count(b"{") + text.data.count(b"[")
    exact = len(text.data) > way.limits.scalar_bytes or brackets > way.limits.depth
    if exact or (way.strict and has_equal_keys(msgspec.json.format(text.data, indent=-1), value)):
        parse(text, way.limits, strict=way.strict)
    return [Item(value, text)]


def _yaml(text: Text, way: Way) -> Iterator[Item]:
    if len(text.data) > _BATCH and (found := _ITEMS.search(text.data)):
        try:
            yield from list(_split_list(text, found, way))
        except ManifestError:
            # A line that looked like an item was inside of one: the whole text tells what is wrong, if anything is.
            pass
        else:
            return
    yield from _plain(text, way)


def _plain(text: Text, way: Way) -> Iterator[Item]:
    quick = quick_value(text, way.limits.scalar_bytes) if way.quick else None
    value = quick[0] if quick else parse(text, way.limits, strict=way.strict)
    if value is not None:
        yield Item(value, text)


def _split_list(text: Text, found: re.Match[bytes], way: Way) -> Iterator[Item]:
    """The items of a large list object, parsed in batches, so that no tree of the whole is ever built."""
    data, indent = text.data, found.group("indent")
    start = found.end() - len(indent)
    end = _end_of_list(data, start, len(indent))
    head = Text(text.name, data[:start] + data[end:], text.line)
    for item in _plain(head, way):
        if not (isinstance(item.value, dict) and str(item.value.get("kind")).endswith("List")):
            head.fail(0, "a mapping with items must have a kind that ends in List")
    line = text.line + data.count(_LINE, 0, start)
    mark = _LINE + indent + b"- "
    for batch in _batches(data, start, end, mark, _BATCH):
        yield from _batch_items(Text(text.name, batch, line), mark, way)
        line += batch.count(_LINE)


def _batch_items(text: Text, mark: bytes, way: Way) -> Iterator[Item]:
    """The items of a batch: all at once if that is quick, else one by one."""
    quick = quick_value(text, way.limits.scalar_bytes)
    if quick and isinstance(quick[0], list):
        for position, value in enumerate(quick[0]):
            yield Item(value, text, (position,))
        return
    line = text.line
    for part in _batches(text.data, 0, len(text.data), mark, 0):
        for item in _plain(Text(text.name, part, line), way):
            yield from (Item(value, item.text, (position,)) for position, value in enumerate(item.value))
        line += part.count(_LINE)


def _end_of_list(data: bytes, start: int, indent: int) -> int:
    """Where the lines of a list end that begins at `start`."""
    less = rb"\n {0,%d}[^ \r\n#]|" % (indent - 1) if indent else b""
    ending = re.compile(rb"%b\n {%d}[^ \-\r\n#]" % (less, indent))
    found = ending.search(data, start)
    return found.start() + 1 if found else len(data)


def _batches(data: bytes, start: int, end: int, mark: bytes, size: int) -> Iterator[bytes]:
    """The lines of a list in parts that begin with an item, and are longer than this size by no more than an item."""
    while start < end:
        cut = data.find(mark, start + size, end)
        stop = end if cut < 0 else cut + 1
        yield data[start:stop]
        start = stop
