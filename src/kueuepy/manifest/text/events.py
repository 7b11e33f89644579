"""Events of YAML text from PyYAML's parsers, limited to text that they and Kubernetes' parser interpret identically.

This module uses libyaml's parser if PyYAML was built with it. If PyYAML lacks libyaml, the module uses PyYAML's own
parser, which is slower and rejects tabs between words. Kubernetes uses go-yaml, a port of an older libyaml. Text that
go-yaml would read differently is rejected with its position.
"""

import re
from collections.abc import Iterator
from typing import Any, Final, NoReturn

import yaml

from kueuepy.errors import KueueError, LimitError, ProblemKind
from kueuepy.manifest.text.text import SURROGATE, Text

TAG: Final = "tag:yaml.org,2002:"
"""Prefix that `!!` stands for."""

_KNOWN_TAGS = {f"{TAG}{name}" for name in ("str", "bool", "int", "float", "null", "map", "seq")}
_UNREADABLE = re.compile("[\x80-\x84\x86-\x9f\ufeff\ufffe\uffff]")
_TOO_DEEP = "exceeded maximum nesting depth"
# The nesting that libyaml supports since version 0.2.6. Its scanner may exceed it before the first event.
_MOST_DEPTH = 1000
_BREAKS = "\n\r\x85\u2028\u2029"
_TAB_FIRST = re.compile(rf"[{_BREAKS}] *\t")
_HEADER = re.compile(rf"[|>][-+0-9]*(?: *| +#[^{_BREAKS}]*)(?:[{_BREAKS}]|\Z)")
_SLASH = re.compile(r"(?:[^\\]|\\[^/])*\\/")
_TAB_IN_BLOCK = re.compile(rf"[|>][-+]?(?:[ \t][^{_BREAKS}]*)?[{_BREAKS}](?: *[{_BREAKS}])* *\t")
_BLANKS = re.compile(rf"[ \t{_BREAKS}]*")
_BARE_TAG = re.compile(r"(?:&\S+\s+)?!(?:\s|\Z)")
_TIGHT_COLON = re.compile(r":[,?\[\]{}]")
# What a text contains if the parsers may read any of its scalars differently.
_SUSPECT = re.compile(r"[\t!&\\?|>]|:[,?\[\]{}]")

_NO_TOKEN = "found character that cannot start any token"  # noqa: S105 - PyYAML's words


class Events:
    """The YAML parser events of a text.

    Attributes:
        text: The text.
        mark: Position of the start of the last parser event.
    """

    def __init__(self, text: Text, source: str | None = None) -> None:
        """Create a parser for a text; iteration yields the events.

        Args:
            text: The text, which is used for the positions.
            source: Text to parse instead of `text`; `None` to parse `text`.
        """
        self.text = text
        self.mark = yaml.Mark(text.name, 0, 0, 0, None, 0)
        self._source = text.data.decode() if source is None else source
        self._flow = 0
        self._documents = 0

    def __iter__(self) -> Iterator[Any]:
        """Iterate over scalars, aliases, and the starts and ends of mappings and lists.

        Raises:
            ManifestError: The text is not YAML, or Kubernetes would read it differently.
            LimitError: Mappings and lists are nested deeper than libyaml supports.
        """
        if found := _UNREADABLE.search(self._source):
            location = (
                self._source.count("\n", 0, found.start()),
                found.start() - self._source.rfind("\n", 0, found.start()),
            )
            detail = f"U+{ord(found.group()):04X} is not allowed; write it as an escape in quotes"
            self.text.fail_at((self.text.line + location[0], location[1]), detail)
        parser = (yaml.cyaml.CParser if yaml.__with_libyaml__ else yaml.SafeLoader)(self._source)
        is_suspect = _SUSPECT.search(self._source)
        # The `try` is outside of the loop: an exception of the code that consumes the events does not get here.
        try:
            while (event := parser.get_event()) is not None:
                self.mark = event.start_mark
                if isinstance(event, yaml.ScalarEvent):
                    if is_suspect:
                        self._check_scalar(event)
                elif isinstance(event, yaml.CollectionStartEvent):
                    if event.tag is not None:
                        self._check_tag(event.tag)
                    self._flow += bool(self._flow or event.flow_style)
                elif isinstance(event, yaml.CollectionEndEvent):
                    self._flow -= bool(self._flow)
                elif isinstance(event, yaml.DocumentStartEvent):
                    self._documents += 1
                    if self._documents > 1:
                        self.fail("another document starts here; write --- before it")
                if isinstance(event, yaml.NodeEvent | yaml.CollectionEndEvent):
                    yield event
        except yaml.MarkedYAMLError as error:
            self._fail_as(error)
        except (ValueError, OverflowError) as error:
            if isinstance(error, KueueError):
                raise
            self.fail("an escape behind this stands for no character")

    def location(self) -> tuple[int, int]:
        """The line and column of the start of the last event, both starting at 1."""
        return self.text.line + self.mark.line, self.mark.column + 1

    def fail(self, detail: str, kind: ProblemKind = "Syntax") -> NoReturn:
        """Raise an error at the position of the last parser event."""
        self.text.fail_at(self.location(), detail, kind)

    def _fail_as(self, error: yaml.MarkedYAMLError) -> NoReturn:
        """Convert an error of a parser to a ManifestError, and raise it.

        If the text ends too early, the error contains the position of the construct that is not closed.
        """
        mark, opened, detail = error.problem_mark or self.mark, error.context_mark, str(error.problem)
        if detail == _TOO_DEEP:
            self.mark = mark
            what = "mappings and lists are nested too deep"
            raise LimitError(self.text.name, "depth", _MOST_DEPTH, what, self.location()) from None
        if detail == _NO_TOKEN and self._source[mark.index : mark.index + 1] == "\t":
            detail = "is indented with a tab; YAML wants spaces"
        ended = self._source.rstrip()
        if mark.index >= len(ended):
            end = yaml.Mark(None, len(ended), ended.count("\n"), len(ended) - ended.rfind("\n") - 1, None, 0)
            mark = opened if opened is not None and opened.index < end.index else end
        elif opened is not None and error.context and opened.line != mark.line:
            detail += f", {error.context} that starts in line {self.text.line + opened.line}"
        self.mark = mark
        self.fail(detail)

    def _check_tag(self, tag: str) -> None:
        """Raise an error for a tag that Kubernetes' parser interprets differently, or that JSON cannot represent."""
        if tag not in _KNOWN_TAGS:
            self.fail(f"tag {tag} is not supported; remove it")

    def _check_scalar(self, event: Any) -> None:
        """Raise an error for a scalar that Kubernetes' parser reads differently."""
        start, end = event.start_mark.index, event.end_mark.index
        tag = event.tag
        if self._source[start : start + 1] in ("!", "&") and _BARE_TAG.match(self._source, start, end):
            tag = "!"  # libyaml's parser does not report this tag
        if tag is not None:
            self._check_tag(tag)
            if not event.value and not event.style:
                self.fail("a tag stands before nothing; remove it, or write a value")
        if event.style in ("|", ">"):
            self._check_block(self._source.index(event.style, start), end)
        elif event.style == '"':
            self._check_escapes(event)
        elif not event.style:
            self._check_plain(event.value, start, end)

    def _check_escapes(self, event: Any) -> None:
        """Raise an error for an escape sequence that one of the parsers does not accept."""
        if SURROGATE.search(event.value):
            self.fail("an escape in this text stands for half a character")
        if "/" in event.value and _SLASH.match(self._source, event.start_mark.index, event.end_mark.index):
            self.fail("\\/ in this text is an escape of JSON alone; write a slash without a backslash")

    def _check_block(self, start: int, end: int) -> None:
        """Raise an error for a block scalar whose first lines the parsers read differently."""
        if not _HEADER.match(self._source, start):
            self.fail("only blanks, or a comment behind a blank, may stand behind | or > and what says how it is read")
        if _TAB_IN_BLOCK.match(self._source, start, end):
            self.fail("a tab begins the first line of this text; say after | or > by how many blanks it is indented")

    def _check_plain(self, text: str, start: int, end: int) -> None:
        """Raise an error for a plain scalar whose end the parsers find at different positions."""
        blanks = _BLANKS.match(self._source, end)
        if _TAB_FIRST.search(self._source, start, blanks.end() if blanks else end):
            self.fail("a tab begins a line in this text or behind it; use blanks, or put the text in quotes")
        if self._flow and ("?" in text or _TIGHT_COLON.match(self._source, end)):
            self.fail("a question mark, or a colon and no blank, in a string in brackets; put the string in quotes")
