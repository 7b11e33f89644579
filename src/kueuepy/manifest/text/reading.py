"""Reading of objects from files and strings, with the positions of all fields."""

import os
import pathlib
import re
from codecs import getincrementaldecoder
from collections.abc import Iterator
from itertools import islice, pairwise
from typing import Any, NamedTuple

import msgspec

from kueuepy._core import has_controls, marks
from kueuepy.errors import InvalidSpecError
from kueuepy.errors.problems import LimitError, ManifestError, Path
from kueuepy.manifest.text.fast import FastReader
from kueuepy.manifest.text.jsontext import json_value
from kueuepy.manifest.text.limits import Limits
from kueuepy.manifest.text.text import Text

_CONTENT = re.compile(rb"^[ \t]*[^#\s]", re.MULTILINE)
_MARKER_ALONE = re.compile(rb"(?:---|\.\.\.)[ \t]*(?:[ \t]#[^\n]*)?\r?(?:\n|\Z)")
_VERSION_ALONE = re.compile(
    rb"(?:\s|#[^\n]*\n)*^%YAML[ \t]+1\.1[ \t]*(?:[ \t]#[^\n]*)?\r?\n(?:\s|#[^\n]*\n)*", re.MULTILINE
)
_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_NODE_MARKS = (b":", b",", b"\n", b"[", b"{", b"- ")
_CHUNK = 2**20
_LINE = b"\n"
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
"""The first bytes of a text in UTF-16, as PowerShell writes it."""


class Item:
    """A value read from a text, with its position.

    Attributes:
        value: Mappings, lists and scalars, as in Kubernetes' JSON.
        text: The text that contains the value.
        prefix: Path of the value in the text.
    """

    __slots__ = ("prefix", "text", "value")

    def __init__(self, value: Any, text: Text, prefix: Path = ()) -> None:
        """Create an item."""
        self.value = value
        self.text = text
        self.prefix = prefix

    def where(self, path: Path = ()) -> str:
        """Return the file and line of a field, or of its innermost parent in the text."""
        if not self.text.size:
            return self.text.name
        from kueuepy.manifest.text.exact import line_of  # noqa: PLC0415 - PyYAML is imported where it is needed

        try:
            line = line_of(self.text, self.prefix + path)
        except ManifestError:  # JSON that is not valid YAML
            line = self.text.line
        return f"{self.text.name}:{line}"

    def items(self) -> Iterator["Item"]:
        """Iterate over the items of a list object."""
        listed = {"apiVersion": self.value.get("apiVersion"), "kind": str(self.value.get("kind"))[: -len("List")]}
        for position, raw in enumerate(self.value.get("items") or ()):
            # Items of a typed list may omit apiVersion and kind.
            value = {**listed, **raw} if isinstance(raw, dict) and listed["kind"] else raw
            yield Item(value, self.text, (*self.prefix, "items", position))


class ReadOptions(NamedTuple):
    """Options for reading a file.

    Attributes:
        limits: Limits on the size of the file.
        strict: Whether duplicate keys are an error.
    """

    limits: Limits
    strict: bool


def read(name: str, data: bytes, limits: Limits, *, strict: bool) -> Iterator[Item]:
    """Iterate over the documents of a file. A list object is split into its items if possible.

    Raises:
        ManifestError: The file is not YAML or JSON in UTF-8.
        LimitError: The file exceeds a limit.
    """
    _check_bytes(name, data, limits)
    for text in _documents(name, data):
        yield from _document(text, ReadOptions(limits, strict=strict))


def read_file(path: str | os.PathLike[str]) -> Iterator[Item]:
    """Iterate over the documents of a file that contains no objects of the API, such as a list of events.

    Raises:
        InvalidSpecError: The file cannot be read.
        ManifestError: The file is not YAML or JSON in UTF-8.
        LimitError: The file exceeds a default limit.
    """
    try:
        data = pathlib.Path(path).read_bytes()
    except OSError as error:
        raise InvalidSpecError(f"{path}: cannot be read: {error.strerror}") from None
    return read(str(path), data, Limits(), strict=True)


def _check_bytes(name: str, data: bytes, limits: Limits) -> None:
    if len(data) > limits.document_bytes:
        raise LimitError(name, "document_bytes", limits.document_bytes, f"the file has {len(data):,} bytes")
    nodes = sum(data.count(mark) for mark in _NODE_MARKS) if len(data) > limits.nodes else 0
    if nodes > limits.nodes:
        raise LimitError(name, "nodes", limits.nodes, f"the file may have {nodes:,} keys, values and items")
    text = Text(name, data)
    if data.startswith(_UTF_16):
        text.fail(0, "this is UTF-16; save it as UTF-8")
    if has_controls(data) and (found := _CONTROL.search(data)):
        text.fail(found.start(), f"control character {found.group()[0]:#04x} is not allowed; write it as an escape")
    if not data.isascii():
        _check_utf8(text)


def _check_utf8(text: Text) -> None:
    """Raise an error if the bytes are not UTF-8, without copying all of them."""
    decoder = getincrementaldecoder("utf-8")()
    for start in range(0, text.size, _CHUNK):
        before = start - len(decoder.getstate()[0])
        try:
            decoder.decode(text.whole[start : start + _CHUNK], final=start + _CHUNK >= text.size)
        except UnicodeDecodeError as error:
            text.fail(before + error.start, f"this is not UTF-8: {error.reason}")


def _documents(name: str, data: bytes) -> Iterator[Text]:
    """Iterate over the non-empty texts between document markers."""
    data = data.removeprefix(b"\xef\xbb\xbf")
    starts, _ = marks(data)
    line, last = 1, 0
    for start, end in pairwise([0, *starts, len(data)]):
        line += data.count(_LINE, last, start)
        last = start
        part = data[start:end]
        is_end = part.startswith(b"...")
        if _MARKER_ALONE.match(part):
            part = b"   " + part[3:]
        text = Text(name, part, line)
        _, directive = marks(part)
        if directive is None:
            if content := _CONTENT.search(part):
                if is_end:
                    text.fail(content.end() - 1, "a document starts here after ...; write --- before it")
                yield text
        elif (
            data[start : start + 3] == b"---" or not data.startswith(b"---", end) or not _VERSION_ALONE.fullmatch(part)
        ):
            text.fail(directive, "a line starts with %, which only %YAML 1.1 before --- does")


def _document(text: Text, options: ReadOptions) -> Iterator[Item]:
    """Iterate over the items of a list object; yield the value of any other document."""
    fast = FastReader(text, options.limits)
    if fast.is_unsupported:
        yield from _exact(text, options)
    elif not fast.is_list:
        if fast.value is not None:
            yield Item(fast.value, text)
    elif fast.says_list():
        yield from _listed(fast, text, options)
    else:
        yield from _gathered(fast, text, options)


def _listed(fast: FastReader, text: Text, options: ReadOptions) -> Iterator[Item]:
    """Iterate over the items of a list object without holding all items in memory."""
    for count, found in enumerate(_taken(fast, options)):
        if found is None:
            # A line that looked like the start of an item was inside an item. Read the whole text instead.
            for item in _exact(text, options):
                yield from islice(item.items(), count, None)
            return
        yield found
    if fast.value.get("kind") != "List":
        text.fail(0, "a mapping with items must have a kind that ends in List")


def _gathered(fast: FastReader, text: Text, options: ReadOptions) -> Iterator[Item]:
    """Read a mapping that contains `items` but might not be a list object."""
    items: list[Any] = []
    for found in _taken(fast, options):
        if found is None:
            yield from _exact(text, options)
            return
        items.append(found.value)
    yield Item({**fast.value, "items": items}, text)


def _taken(fast: FastReader, options: ReadOptions) -> Iterator[Item | None]:
    """Iterate over the items that the fast reader returns.

    If the last element is `None`, the exact reader must read the whole text instead.
    """
    prefix: Path = () if fast.is_json else (0,)
    try:
        for found in fast.items(lambda part: _item(part, options, is_json=fast.is_json)):
            yield None if found is None else Item(found[0], found[1], prefix)
    except LimitError:
        raise
    except (ValueError, RecursionError):  # not a complete item
        yield None


def _item(part: Text, options: ReadOptions, *, is_json: bool) -> Any:
    """Return the value of an item that the fast reader cannot read."""
    if is_json:
        return json_value(part, options.limits, strict=options.strict)
    (value,) = _parse(part, options)
    return value


def _exact(text: Text, options: ReadOptions) -> Iterator[Item]:
    """Read a text with the exact reader, or with the JSON reader if it is JSON."""
    if text.data.lstrip()[:1] == b"{":
        try:
            yield Item(json_value(text, options.limits, strict=options.strict), text)
        except (msgspec.DecodeError, RecursionError, UnicodeError):
            pass
        else:
            return
    value = _parse(text, options)
    if value is not None:
        yield Item(value, text)


def _parse(text: Text, options: ReadOptions) -> Any:
    from kueuepy.manifest.text.exact import parse  # noqa: PLC0415 - PyYAML is imported where it is needed

    return parse(text, options.limits, strict=options.strict)
