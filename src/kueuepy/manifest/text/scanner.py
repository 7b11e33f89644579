"""Scalars in YAML text: where they end, and what text they are.

Line breaks inside of plain and quoted scalars fold: one becomes a blank, more become one less.
"""

import re
from typing import NamedTuple, NoReturn

from kueuepy.errors.problems import LimitError, ProblemKind
from kueuepy.manifest.text.limits import Limits
from kueuepy.manifest.text.text import Text

_FIRST = r"(?:[^\s#&*!|>'\"%@`,\[\]{}?:-]|[?:-](?=[^\s]))"
_FLOW_FIRST = r"(?:[^\s#&*!|>'\"%@`,\[\]{}?:-]|[?:-](?=[^\s,\[\]{}]))"
_REST = r"(?:[^\n:#]|:(?=[^\s])|(?<=[^\s])#)*"
_FLOW_REST = r"(?:[^\n:#,\[\]{}]|:(?=[^\s,\[\]{}])|(?<=[^\s])#)*"
_COLON = r"[ \t]*:(?=\s|\Z)"

PLAIN_KEY = re.compile(rf"({_FIRST}{_REST}){_COLON}")
QUOTED_KEY = re.compile(rf"""(?:"(?:[^"\\\n]|\\[^\n])*"|'(?:[^'\n]|'')*'){_COLON}""")
_PLAIN_LINE = re.compile(rf"{_REST}")
_FLOW_LINE = re.compile(rf"{_FLOW_REST}")
_PLAIN_FIRST = re.compile(_FIRST)
_FLOW_PLAIN_FIRST = re.compile(_FLOW_FIRST)
_DOUBLE = re.compile(r'"([^"\\]*(?:\\.[^"\\]*)*)"', re.DOTALL)
_SINGLE = re.compile(r"'([^']*(?:''[^']*)*)'")
_ESCAPE = re.compile(
    r"\\(u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    r"|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|\n[ \t]*|.)",
    re.DOTALL,
)
_FOLD = re.compile(r"[ \t]*\n(?:[ \t]*\n)*[ \t]*")
_OTHER_BREAK = re.compile("[\x85\u2028\u2029]")
_HEADER = re.compile(r"[|>](?:([-+])([1-9])?|([1-9])([-+])?)?(?:[ \t]+#[^\n]*|[ \t]*)(?:\n|\Z)")
_BLANKS = re.compile(r"(?:[ \t]*\n)*")
_INDENT = re.compile(r" *")
_SIMPLE = {
    "0": "\0",
    "a": "\a",
    "b": "\b",
    "t": "\t",
    "\t": "\t",
    "n": "\n",
    "v": "\v",
    "f": "\f",
    "r": "\r",
    "e": "\x1b",
    " ": " ",
    '"': '"',
    "/": "/",
    "\\": "\\",
    "N": "\x85",
    "_": "\xa0",
    "L": "\u2028",
    "P": "\u2029",
}
_STARTS_NOTHING = {
    "!": "starts a tag, which is not supported",
    "%": "starts a directive",
    "@": "is reserved",
    "`": "is reserved",
    ",": "stands outside of brackets",
    "]": "closes nothing",
    "}": "closes nothing",
    "|": "starts a block of text, which cannot be here",
    ">": "starts a block of text, which cannot be here",
    "&": "starts an anchor, which cannot be here",
    "*": "starts an alias, which cannot be here",
}


class Scalar(NamedTuple):
    """A scalar's text, whether it is in quotes, and where it ends."""

    text: str
    quoted: bool
    end: int


class Scanner:
    """A text with the limits on its scalars."""

    def __init__(self, text: Text, limits: Limits) -> None:
        """Takes the text; all kinds of line breaks become one."""
        self.origin = text
        self.limits = limits
        self.text = text.data.decode().replace("\r\n", "\n").replace("\r", "\n")
        if found := _OTHER_BREAK.search(self.text):
            self.fail(found.start(), f"U+{ord(found.group()):04X} would end the line; write it as an escape in quotes")

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of a character, from 1."""
        return self.origin.line + self.text.count("\n", 0, offset), offset - self.text.rfind("\n", 0, offset)

    def fail(self, offset: int, detail: str, kind: ProblemKind = "Syntax") -> NoReturn:
        """Raises the error of a text that is not YAML."""
        self.origin.fail_at(self.position(offset), detail, kind)

    def exceed(self, offset: int, limit: str, allowed: int, what: str) -> NoReturn:
        """Raises the error of a text that exceeds a limit."""
        raise LimitError(self.origin.name, limit, allowed, what, self.position(offset))

    def checked(self, scalar: Scalar, start: int) -> Scalar:
        """The scalar, if it is not too long."""
        if scalar.end - start > self.limits.scalar_bytes // 4:
            length = len(scalar.text.encode("utf-8", "surrogatepass"))
            if length > self.limits.scalar_bytes:
                self.exceed(start, "scalar_bytes", self.limits.scalar_bytes, f"a text has {length:,} bytes")
        return scalar

    def quoted(self, start: int) -> Scalar:
        """The scalar in quotes that starts here."""
        double = self.text[start] == '"'
        found = (_DOUBLE if double else _SINGLE).match(self.text, start)
        if not found:
            self.fail(start, f"the text in {'double' if double else 'single'} quotes that starts here has no end")
        inner = found.group(1)
        if double:
            value = self._unescaped(inner, start) if "\\" in inner else _folded(inner)
        else:
            value = _folded(inner).replace("''", "'")
        return self.checked(Scalar(value, quoted=True, end=found.end()), start)

    def _unescaped(self, inner: str, start: int) -> str:
        parts = []
        last = 0
        for found in _ESCAPE.finditer(inner):
            parts += [_folded(inner[last : found.start()]), self._escape(found.group(1), start)]
            last = found.end()
        return "".join([*parts, _folded(inner[last:])])

    def _escape(self, code: str, start: int) -> str:
        if code[0] == "\n":
            return ""
        if len(code) > _ONE_UNIT:
            # JSON writes characters beyond 16 bits as two.
            return chr(_PAIRS + ((int(code[1:5], 16) - _FIRST_SURROGATE) << 10) + int(code[7:], 16) - _SECOND_SURROGATE)
        if len(code) > 1:
            value = int(code[1:], 16)
            if value > _LAST_CHARACTER or _FIRST_SURROGATE <= value <= _LAST_SURROGATE:
                self.fail(start, f"\\{code} is no character")
            return chr(value)
        if code not in _SIMPLE:
            self.fail(start, f"\\{code} is no escape; write \\\\ for a backslash")
        return _SIMPLE[code]

    def plain(self, start: int, parent: int, *, flow: bool) -> Scalar:
        """The plain scalar that starts here; in a block it goes on in lines that are indented more than the parent."""
        line = _FLOW_LINE if flow else _PLAIN_LINE
        if not (_FLOW_PLAIN_FIRST if flow else _PLAIN_FIRST).match(self.text, start):
            char = self.text[start]
            self.fail(start, f'"{char}" {_STARTS_NOTHING.get(char, "cannot start a value")}; put the text in quotes')
        found = line.match(self.text, start + 1)
        end = found.end() if found else start + 1
        parts = [self.text[start:end].rstrip(" \t")]
        end = start + len(parts[0])
        while (next_line := self._continued(end, parent, flow=flow)) is not None:
            breaks, begin = next_line
            found = line.match(self.text, begin)
            stop = found.end() if found else begin
            if not flow and self.text[stop : stop + 1] == ":":
                self.fail(stop, "a colon follows a text of several lines; indent the line, or put the text in quotes")
            parts += ["\n" * (breaks - 1) or " ", self.text[begin:stop].rstrip(" \t")]
            end = begin + len(parts[-1])
        return self.checked(Scalar("".join(parts), quoted=False, end=end), start)

    def _continued(self, end: int, parent: int, *, flow: bool) -> tuple[int, int] | None:
        """How many lines further, and where, a plain scalar goes on that is at the end of its line."""
        found = _FOLD.match(self.text, end)
        if not found or found.end() >= len(self.text):
            return None
        begin = found.end()
        column = begin - self.text.rfind("\n", 0, begin) - 1
        ends = ",[]{}:#" if flow else "#"
        if (not flow and column <= parent) or self.text[begin] in ends:
            return None
        return found.group().count("\n"), begin

    def block(self, start: int, parent: int) -> Scalar:
        """The block scalar whose header starts here, in a collection with this indentation."""
        header = _HEADER.match(self.text, start)
        if not header:
            self.fail(start, "a block of text starts in the next line; after | or > only + or - and a digit may follow")
        chomp = header.group(1) or header.group(4) or ""
        digit = header.group(2) or header.group(3)
        blanks = _BLANKS.match(self.text, header.end())
        first = blanks.end() if blanks else header.end()
        found = _INDENT.match(self.text, first)
        indent = max(parent, 0) + int(digit) if digit else (found.end() - first if found else 0)
        lines, end = self._block_lines(header.end(), max(indent, parent + 1))
        folded = self.text[start] == ">"
        value = _block_text(lines, chomp, folded=folded)
        if end == len(self.text) and self.text[-1] != "\n" and lines[-1:] != [""]:
            value = value.removesuffix("\n")
        return self.checked(Scalar(value, quoted=True, end=end), start)

    def _block_lines(self, start: int, indent: int) -> tuple[list[str], int]:
        """The lines that are indented so much, or blank, without the indentation; and where they end."""
        lines = []
        prefix = " " * indent
        while start < len(self.text):
            stop = self.text.find("\n", start)
            stop = len(self.text) if stop < 0 else stop
            if not self.text.startswith(prefix, start) and self.text[start:stop].strip(" "):
                break
            lines.append(self.text[start + indent : stop] if stop - start > indent else "")
            start = stop + 1
        return lines, min(start, len(self.text))


_LAST_CHARACTER = 0x10FFFF
_PAIRS = 0x10000
_ONE_UNIT = 9
_SECOND_SURROGATE = 0xDC00
_FIRST_SURROGATE = 0xD800
_LAST_SURROGATE = 0xDFFF


def _folded(text: str) -> str:
    """The text with its line breaks folded."""
    if "\n" not in text:
        return text
    return _FOLD.sub(lambda found: "\n" * (found.group().count("\n") - 1) or " ", text)


def _block_text(lines: list[str], chomp: str, *, folded: bool) -> str:
    """The text of a block's lines: chomped at the end, folded with > where lines are not indented more."""
    count = len(lines)
    while count and not lines[count - 1]:
        count -= 1
    ending = "\n" * (len(lines) - count + 1) if chomp == "+" and count else "\n" * len(lines) if chomp == "+" else ""
    if not count:
        return ending
    body = _fold_lines(lines[:count]) if folded else "\n".join(lines[:count])
    return body + (ending if chomp == "+" else "" if chomp == "-" else "\n")


def _fold_lines(lines: list[str]) -> str:
    """The lines in one, with breaks only where lines are blank or indented more."""
    parts: list[str] = []
    blanks, spaced = 0, True
    for line in lines:
        if not line:
            blanks += 1
            continue
        now = line[0] in " \t"
        if parts or blanks:
            kept = blanks + (1 if parts and (now or spaced) else 0)
            parts.append("\n" * kept or " ")
        parts.append(line)
        blanks, spaced = 0, now
    return "".join(parts)
