"""Files and texts into the values of the objects in them, each with the way back to its line."""

import re
from codecs import getincrementaldecoder
from collections.abc import Iterator
from itertools import islice, pairwise
from typing import Any, NamedTuple

import msgspec

from kueuepy import _core
from kueuepy.errors.problems import LimitError, ManifestError, Path
from kueuepy.manifest.text.block import locate, parse
from kueuepy.manifest.text.limits import Limits
from kueuepy.manifest.text.quick import Quick
from kueuepy.manifest.text.scalars import number
from kueuepy.manifest.text.text import Text

_DIRECTIVE = re.compile(rb"^%", re.MULTILINE)
_PREAMBLE = re.compile(rb"(?:[ \t]*(?:#[^\n]*)?\r?\n|%[^\n]*(?:\n|\Z))*")
_CONTENT = re.compile(rb"^[ \t]*[^#\s]", re.MULTILINE)
_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_NODE_MARKS = (b":", b",", b"\n", b"[", b"{", b"- ")
_CHUNK = 2**20
_LINE = b"\n"
_JSON = msgspec.json.Decoder(float_hook=number)


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
        if not self.text.size:
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
    """

    limits: Limits
    strict: bool


def read(name: str, data: bytes, limits: Limits, *, strict: bool) -> Iterator[Item]:
    """The documents of a file, lists already taken apart where they can be.

    Raises:
        ManifestError: The file is not YAML or JSON in UTF-8.
        LimitError: The file exceeds a limit.
    """
    _check_bytes(name, data, limits)
    for text in _documents(name, data):
        yield from _document(text, Way(limits, strict=strict))


def _check_bytes(name: str, data: bytes, limits: Limits) -> None:
    if len(data) > limits.document_bytes:
        raise LimitError(name, "document_bytes", limits.document_bytes, f"the file has {len(data):,} bytes")
    nodes = sum(data.count(mark) for mark in _NODE_MARKS) if len(data) > limits.nodes else 0
    if nodes > limits.nodes:
        raise LimitError(name, "nodes", limits.nodes, f"the file may have {nodes:,} keys, values and items")
    text = Text(name, data)
    if _core.has_controls(data) and (found := _CONTROL.search(data)):
        text.fail(found.start(), f"control character {found.group()[0]:#04x} is not allowed; write it as an escape")
    if not data.isascii():
        _check_utf8(text)


def _check_utf8(text: Text) -> None:
    """Whether the bytes are UTF-8, without a copy of them all."""
    decoder = getincrementaldecoder("utf-8")()
    for start in range(0, text.size, _CHUNK):
        before = start - len(decoder.getstate()[0])
        try:
            decoder.decode(text.whole[start : start + _CHUNK], final=start + _CHUNK >= text.size)
        except UnicodeDecodeError as error:
            text.fail(before + error.start, f"this is not UTF-8: {error.reason}")


def _documents(name: str, data: bytes) -> Iterator[Text]:
    """The texts between document markers that have any content."""
    data = data.removeprefix(b"\xef\xbb\xbf")
    starts, _ = _core.marks(data)
    line, last = 1, 0
    for start, end in pairwise([0, *starts, len(data)]):
        line += data.count(_LINE, last, start)
        last = start
        part = data[start:end]
        if part.startswith((b"---", b"...")):
            part = b"   " + part[3:]
        text = Text(name, _without_directives(part), line)
        _, directive = _core.marks(text.whole)
        if directive is not None:
            text.fail(directive, "a line starts with %, which only directives before a document do")
        if _CONTENT.search(text.whole):
            yield text


def _without_directives(part: bytes) -> bytes:
    """The bytes with comments where there are directives, which stand before anything else."""
    preamble = _PREAMBLE.match(part)
    end = preamble.end() if preamble else 0
    return _DIRECTIVE.sub(b"#", part[:end]) + part[end:] if b"%" in part[:end] else part


def _document(text: Text, way: Way) -> Iterator[Item]:
    """The value of a document, or the items of a list object."""
    quick = Quick(text, way.limits)
    if quick.is_odd:
        yield from _exact(text, way)
    elif not quick.is_list:
        if quick.value is not None:
            yield Item(quick.value, text)
    elif quick.says_list():
        yield from _listed(quick, text, way)
    else:
        yield from _gathered(quick, text, way)


def _listed(quick: Quick, text: Text, way: Way) -> Iterator[Item]:
    """The items of a list object, without the whole of it ever being there."""
    for count, found in enumerate(_taken(quick, way)):
        if found is None:
            # A line that looked like an item was inside of one: only the whole text tells what is wrong, if anything.
            for item in _exact(text, way):
                yield from islice(item.items(), count, None)
            return
        yield found
    if quick.value.get("kind") != "List":
        text.fail(0, "a mapping with items must have a kind that ends in List")


def _gathered(quick: Quick, text: Text, way: Way) -> Iterator[Item]:
    """A mapping with items, of which it is not known whether it is a list object."""
    items: list[Any] = []
    for found in _taken(quick, way):
        if found is None:
            yield from _exact(text, way)
            return
        items.append(found.value)
    yield Item({**quick.value, "items": items}, text)


def _taken(quick: Quick, way: Way) -> Iterator[Item | None]:
    """The items; `None`, and no more, where only the whole text can tell."""
    prefix: Path = () if quick.is_json else (0,)
    try:
        for found in quick.items(lambda part: _item(part, way, is_json=quick.is_json)):
            yield None if found is None else Item(found[0], found[1], prefix)
    except (ManifestError, msgspec.DecodeError, RecursionError, UnicodeError):
        yield None


def _item(part: Text, way: Way, *, is_json: bool) -> Any:
    """The value of an odd item, read the exact way."""
    if is_json:
        return _json_value(part, way)
    (value,) = parse(part, way.limits, strict=way.strict)
    return value


def _exact(text: Text, way: Way) -> Iterator[Item]:
    """The value of a text; by way of JSON, if it is that and no more odd than JSON may be."""
    if text.data.lstrip()[:1] == b"{":
        try:
            yield Item(_json_value(text, way), text)
        except (msgspec.DecodeError, RecursionError, UnicodeError):
            pass
        else:
            return
    value = parse(text, way.limits, strict=way.strict)
    if value is not None:
        yield Item(value, text)


def _json_value(text: Text, way: Way) -> Any:
    """The value of a JSON text; by way of YAML, which JSON is, where a limit or a duplicate needs its place."""
    data = text.data
    value = _JSON.decode(data)
    brackets = data.count(b"{") + data.count(b"[")
    exact = len(data) > way.limits.scalar_bytes or brackets > way.limits.depth
    if exact or (way.strict and has_equal_keys(data, value)):
        parse(text, way.limits, strict=way.strict)
    return value


def has_equal_keys(data: bytes, value: Any) -> bool:
    """Whether JSON had two equal keys in one mapping, of which the decoder kept one.

    Written back, the value has as many keys as the text had. A `":` inside a text counts on both sides.
    """
    return msgspec.json.format(data, indent=-1).count(b'":') != msgspec.json.encode(value).count(b'":')
