"""Reading of objects from files and strings, with the positions of all fields, and the sources of manifests.

The C++ core reads YAML and JSON text in the form that kubectl prints, the items of a list object a few at a time.
Unsupported text is passed to the exact reader. Tests check that both readers agree on text that both support. Positions
of errors in JSON are found by reading the text as YAML. Sources are files, directories, strings, open files, parsed
objects, running clusters and recordings.
"""

import json
import os
import pathlib
import re
from codecs import getincrementaldecoder
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice, pairwise
from typing import IO, Any, NoReturn, TypeAlias, cast

import msgspec

from kueuepy._core import FastReader, has_controls, marks
from kueuepy.errors import LimitError, ManifestError, NotFoundError, Path, Problem
from kueuepy.files import begins_saved_state, is_file, uncompressed
from kueuepy.manifest.text.scalars import integer, number, resolve
from kueuepy.manifest.text.text import Limits, Text
from kueuepy.sources import LiveSource, readers

# The core reads nested values by recursion, which a hostile text must not drive to the end of the stack.
_DEPTH = 100
# Bytes of items that are in memory at a time: fewer would cross into the core more often.
_AT_ONCE = 2**19
# kubectl prints `kind` and `metadata` after the items of a list.
_END = 2**12
_YAML_LIST = re.compile(rb"^kind: List[ ]*$", re.MULTILINE)
_JSON_KEY = re.compile(rb"\s*\{\r?\n( +)\"")

_JSON = msgspec.json.Decoder(float_hook=number)
_LONG_INTEGER = re.compile(rb"[0-9]{19}")


def json_value(text: Text, limits: Limits, *, strict: bool) -> Any:
    """Parse a JSON text.

    Args:
        text: The text.
        limits: Limits on the size of the text.
        strict: Whether duplicate keys are an error; otherwise the last one is used.

    Raises:
        msgspec.DecodeError: The text is not JSON.
        RecursionError: The text is nested too deeply.
        ManifestError: A mapping has duplicate keys, and `strict` is true.
        LimitError: The nesting or a scalar exceeds its limit.
    """
    data = text.data
    value = _JSON.decode(data)
    if _LONG_INTEGER.search(data):
        value = json.loads(data, parse_int=integer, parse_float=number)
    brackets = data.count(b"{") + data.count(b"[")
    if (len(data) > limits.scalar_bytes or brackets > limits.depth) and (found := _excess(value, limits)):
        name, allowed, what = found
        _refuse(text, limits, LimitError(text.name, name, allowed, what, (text.line, 1)))
    if strict and has_equal_keys(data, value):
        problem = Problem((), "Duplicate", "a key is given twice in one mapping; give it once")
        _refuse(text, limits, ManifestError([(f"{text.name}:{text.line}:1", problem)]))
    return value


def has_equal_keys(data: bytes, value: Any) -> bool:
    """Return whether any object in the JSON text has duplicate keys, of which the decoder keeps only one.

    The function encodes the value again and compares the number of `":` in both texts. A `":` inside a string occurs in
    both texts, so it does not change the comparison.
    """
    return msgspec.json.format(data, indent=-1).count(b'":') != msgspec.json.encode(value).count(b'":')


def _refuse(text: Text, limits: Limits, fault: ManifestError | LimitError) -> NoReturn:
    """Raise an error with its position, which is found by reading the JSON as YAML if possible."""
    from kueuepy.manifest.text.exact import parse  # noqa: PLC0415 - PyYAML is imported where it is needed

    try:
        parse(text, limits, strict=True)
    except ManifestError as error:
        if error.problems[0][1].kind == "Duplicate":
            raise
    raise fault


def _excess(value: Any, limits: Limits) -> tuple[str, int, str] | None:
    """Return the name and value of the limit that a value exceeds, and a description of the excess."""
    level, depth = [value], 0
    while level:
        texts = [text for part in level if isinstance(part, dict) for text in part]
        texts += [part for part in level if isinstance(part, str)]
        longest = max((len(text.encode()) for text in texts if len(text) > limits.scalar_bytes // 4), default=0)
        if longest > limits.scalar_bytes:
            return "scalar_bytes", limits.scalar_bytes, f"a string has {longest:,} bytes"
        depth += any(isinstance(part, dict | list) for part in level)
        if depth > limits.depth:
            return "depth", limits.depth, f"mappings and lists are nested {depth:,} deep"
        level = [
            inner
            for part in level
            if isinstance(part, dict | list)
            for inner in (part.values() if isinstance(part, dict) else part)
        ]
    return None


_CONTENT = re.compile(rb"^[ \t]*[^#\s]", re.MULTILINE)
_MARKER_ALONE = re.compile(rb"(?:---|\.\.\.)[ \t]*(?:[ \t]#[^\n]*)?\r?(?:\n|\Z)")
_VERSION_ALONE = re.compile(
    rb"(?:\s|#[^\n]*\n)*^%YAML[ \t]+1\.1[ \t]*(?:[ \t]#[^\n]*)?\r?\n(?:\s|#[^\n]*\n)*", re.MULTILINE
)
_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_NODE_MARKS = (b":", b",", b"\n", b"[", b"{", b"- ")
_CHUNK = 2**20
_LINE = b"\n"
# The first bytes of a text in UTF-16, as PowerShell writes it.
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


class Item(msgspec.Struct, eq=False):
    """A value read from a text, with its position.

    Attributes:
        value: Mappings, lists and scalars, as in Kubernetes' JSON.
        text: The text that contains the value.
        prefix: Path of the value in the text.
    """

    value: Any
    text: Text
    prefix: Path = ()

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


def read(name: str, data: bytes, limits: Limits, *, strict: bool) -> Iterator[Item]:
    """Iterate over the documents of a file, which may be gzipped. A list object is split into its items if possible.

    Raises:
        ManifestError: The file is not YAML or JSON in UTF-8.
        LimitError: The file exceeds a limit.
    """
    try:
        content = uncompressed(data, limits.document_bytes + 1)
    except OSError as error:
        Text(name, data).fail(0, str(error))
    if content is not data and len(content) > limits.document_bytes:
        raise LimitError(name, "document_bytes", limits.document_bytes, "the file is gzipped, and has more bytes")
    _check_bytes(name, content, limits)
    for text in _documents(name, content):
        yield from _Document(text, limits, strict=strict).items()


def _check_bytes(name: str, data: bytes, limits: Limits) -> None:
    if len(data) > limits.document_bytes:
        raise LimitError(name, "document_bytes", limits.document_bytes, f"the file has {len(data):,} bytes")
    nodes = sum(data.count(mark) for mark in _NODE_MARKS) if len(data) > limits.nodes else 0
    if nodes > limits.nodes:
        raise LimitError(name, "nodes", limits.nodes, f"the file may have {nodes:,} keys, values and items")
    text = Text(name, data)
    if data.startswith(_UTF_16):
        text.fail(0, "this is UTF-16; save it as UTF-8")
    if begins_saved_state(data):
        text.fail(0, "this is a saved state, which run, explain, whatif and page read, and kueuepy.Scheduler.load")
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


class _Document:
    """A document: text in the form that kubectl prints is read by the core, and any other text by the exact reader."""

    def __init__(self, text: Text, limits: Limits, *, strict: bool) -> None:
        self._text, self._limits, self._strict = text, limits, strict
        # A list object and its items add two levels. If a limit may be exceeded, the exact reader decides.
        deepest, longest = max(0, min(limits.depth - 2, _DEPTH)), limits.scalar_bytes // 4
        self._core = FastReader(text.whole, text.start, text.stop, text.line, resolve, deepest, longest)

    def items(self) -> Iterator[Item]:
        """Iterate over the items of a list object; yield the value of any other document."""
        is_list = self._core.open()
        if is_list is None:
            yield from self._exact()
        elif not is_list:
            if self._core.value is not None:
                yield Item(self._core.value, self._text)
        elif self._says_list():
            yield from self._listed()
        else:
            yield from self._gathered()

    def _says_list(self) -> bool:
        """Return whether the kind is List.

        The kind is read from the keys before the items, or from a line near the end that is indented like the keys of
        the document. The line near the end is not reliable if a text is constructed to mislead the reader.
        """
        if "kind" in self._core.value:
            return bool(self._core.value["kind"] == "List")
        whole, start, stop = self._text.whole, self._text.start, self._text.stop
        line = _YAML_LIST
        if self._core.is_json:
            key = _JSON_KEY.match(whole, start, stop)
            if not key:
                return False
            line = re.compile(rb'^%b"kind": *"List",?\s*$' % key.group(1), re.MULTILINE)
        return bool(line.search(whole, max(start, stop - _END), stop))

    def _listed(self) -> Iterator[Item]:
        """Iterate over the items of a list object without holding all items in memory."""
        for count, found in enumerate(self._taken()):
            if found is None:
                # A line that looked like the start of an item was inside an item. Read the whole text instead.
                for item in self._exact():
                    yield from islice(item.items(), count, None)
                return
            yield found
        if self._core.value.get("kind") != "List":
            self._text.fail(0, "a mapping with items must have a kind that ends in List")

    def _gathered(self) -> Iterator[Item]:
        """Read a mapping that contains `items` but might not be a list object."""
        items: list[Any] = []
        for found in self._taken():
            if found is None:
                yield from self._exact()
                return
            items.append(found.value)
        yield Item({**self._core.value, "items": items}, self._text)

    def _taken(self) -> Iterator[Item | None]:
        """Iterate over the items of a list.

        If the last element is `None`, the exact reader must read the whole text instead.
        """
        prefix: Path = () if self._core.is_json else (0,)
        try:
            while self._core.is_in_list:
                found = self._core.items(_AT_ONCE)
                for start, stop, line, value in found or ():
                    yield Item(value, self._text.part(start, stop, line), prefix)
                if found is None:
                    unsupported = self._core.pass_over()
                    if unsupported is None:
                        yield None
                        return
                    part = self._text.part(*unsupported)
                    yield Item(self._item(part), part, prefix)
                elif not found:
                    return
        except LimitError:
            raise
        except (ValueError, RecursionError):  # not a complete item
            yield None

    def _item(self, part: Text) -> Any:
        """Return the value of an item that the core cannot read."""
        if self._core.is_json:
            return json_value(part, self._limits, strict=self._strict)
        (value,) = self._parse(part)  # the text of an item is a list with one item
        return value

    def _exact(self) -> Iterator[Item]:
        """Read the text with the exact reader, or with the JSON reader if it is JSON."""
        if self._text.data.lstrip()[:1] == b"{":
            try:
                yield Item(json_value(self._text, self._limits, strict=self._strict), self._text)
            except (msgspec.DecodeError, RecursionError, UnicodeError):
                pass
            else:
                return
        value = self._parse(self._text)
        if value is not None:
            yield Item(value, self._text)

    def _parse(self, text: Text) -> Any:
        from kueuepy.manifest.text.exact import parse  # noqa: PLC0415 - PyYAML is imported where it is needed

        return parse(text, self._limits, strict=self._strict)


One: TypeAlias = str | bytes | os.PathLike[str] | IO[str] | IO[bytes] | Mapping[str, Any] | LiveSource
Source: TypeAlias = One | Iterable[One]
"""A path, a directory, a string, an open file, a parsed object, a running cluster, or an iterable of these.

`cluster:` is the cluster of the current kubeconfig context, `cluster:NAME` that of another context, and `cluster:in`
the cluster in which the process runs. A path of a recording, such as `history.db`, or of one of its times, such as
`history.db@2026-11-20T10:00:00Z`, is also accepted.
"""

_SUFFIXES = tuple(f".{suffix}{zipped}" for suffix in ("yaml", "yml", "json") for zipped in ("", ".gz"))
_NOWHERE = Text("object", b"")
CLUSTER = "cluster:"
"""The beginning of the name of a running cluster."""
_RECORDING = ".db"


def items(source: Source, limits: Limits, *, strict: bool) -> Iterator[Item]:
    """Iterate over the documents and objects of a source, in order.

    Raises:
        NotFoundError: A file does not exist.
        ManifestError: A file is not YAML or JSON.
        LimitError: A file exceeds a limit.
    """
    source = opened(source)
    if isinstance(source, LiveSource):
        location = Text(source.name, b"")
        for value in source:
            yield Item(value, location)
    elif isinstance(source, Mapping):
        yield Item(dict(source), _NOWHERE)
    elif isinstance(source, bytes):
        yield from read("text", source, limits, strict=strict)
    elif isinstance(source, str) and _is_text(source):
        yield from read("text", source.encode("utf-8", "surrogatepass"), limits, strict=strict)
    elif isinstance(source, str | os.PathLike):
        yield from _file(pathlib.Path(source), limits, strict=strict)
    elif hasattr(source, "read") and hasattr(source, "close"):
        yield from _open_file(cast("IO[Any]", source), limits, strict=strict)
    else:
        yield from _all(source, limits, strict=strict)


def is_live(source: object) -> bool:
    """Return whether a source is a running cluster or a recording, given by its name or already opened."""
    if isinstance(source, LiveSource):
        return True
    if not isinstance(source, str | os.PathLike):
        return False
    name = os.fspath(source)
    return isinstance(name, str) and (name.startswith(CLUSTER) or is_recording(name))


def is_recording(name: str) -> bool:
    """Return whether a name is the name of a recording: `FILE.db` or `FILE.db@TIME`."""
    return "\n" not in name and (name.endswith(_RECORDING) or f"{_RECORDING}@" in name)


def opened(source: Any) -> Any:
    """Return a source in which the names of running clusters and recordings are replaced with readers.

    Raises:
        ApiError: A cluster cannot be reached.
        UnsupportedError: The Kubernetes client is not installed.
        NotFoundError: A recording cannot be read.
    """
    if isinstance(source, list | tuple):
        return [opened(one) for one in source]
    if isinstance(source, LiveSource) or not is_live(source):
        return source
    name = os.fspath(source)
    if name.startswith(CLUSTER):
        return readers().cluster(name.removeprefix(CLUSTER))
    return readers().state(name)


def live_parts(source: Any) -> list[LiveSource]:
    """Return the running clusters and recordings that an opened source contains."""
    parts = source if isinstance(source, list) else [source]
    return [one for one in parts if isinstance(one, LiveSource)]


def _all(sources: Iterable[One], limits: Limits, *, strict: bool) -> Iterator[Item]:
    """Iterate over the documents of several sources. Errors are raised after all sources are read.

    Raises:
        ManifestError: Some documents could not be read; the message has one line for each of them.
    """
    problems: list[tuple[str, Problem]] = []
    for part in sources:
        try:
            yield from items(part, limits, strict=strict)
        except ManifestError as error:  # noqa: PERF203 - few sources
            problems += error.problems
    if problems:
        raise ManifestError(problems)


def _is_text(source: str) -> bool:
    """Return whether a string is a manifest instead of a path."""
    return not source.strip() or "\n" in source or ": " in source or source.lstrip()[0] in "{["


def _open_file(source: IO[Any], limits: Limits, *, strict: bool) -> Iterator[Item]:
    data = source.read()
    yield from read(
        str(getattr(source, "name", "text")), data.encode() if isinstance(data, str) else data, limits, strict=strict
    )


def _file(path: pathlib.Path, limits: Limits, *, strict: bool) -> Iterator[Item]:
    """Iterate over the documents of a file, or of all YAML and JSON files in a directory tree, sorted by name."""
    found = _content(path, limits.document_bytes)
    if isinstance(found, bytes):
        yield from read(str(path), found, limits, strict=strict)
    elif isinstance(found, int):
        raise LimitError(str(path), "document_bytes", limits.document_bytes, f"the file has {found:,} bytes")
    else:
        yield from items(found, limits, strict=strict)


_UNRENDERED = {
    "Chart.yaml": "is part of a Helm chart; give the output of: helm template",
    "kustomization.yaml": "is part of a kustomization; give the output of: kubectl kustomize",
    "kustomization.yml": "is part of a kustomization; give the output of: kubectl kustomize",
}
"""What to do about a file with each name, and about the directory that contains it."""


def _expect_rendered(path: pathlib.Path) -> None:
    """Check that a path is neither a chart, nor a kustomization, nor a Terraform module.

    Raises:
        ManifestError: The path must be rendered first; the message names the command.
    """
    where = path.parent if path.name in _UNRENDERED or path.suffix == ".tf" else path
    ways = [f"{how} {where}" for name, how in _UNRENDERED.items() if path.name == name or is_file(path / name)]
    if path.suffix == ".tf":
        ways = [
            f"is Terraform; apply it, and give the output of: kubectl get -o yaml, or terraform -chdir={where} show"
        ]
    if ways:
        raise ManifestError([(str(path), Problem((), "Invalid", ways[0]))])


def _content(path: pathlib.Path, most: int) -> bytes | int | list[pathlib.Path]:
    """Return the bytes of a file, or its size if the file exceeds the limit; for a directory, return its files."""
    _expect_rendered(path)
    try:
        if path.is_dir():
            return sorted(found for found in path.rglob("*") if found.name.endswith(_SUFFIXES) and found.is_file())
        size = path.stat().st_size
        return size if size > most else path.read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise NotFoundError(f"{str(path)[:200]}: cannot be read: {reason}") from error
