"""Findings of `kueuepy check` in the formats of CI systems."""

import json
import re
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, TypeAlias
from xml.sax.saxutils import escape, quoteattr

import msgspec

from kueuepy.errors.problems import Problem
from kueuepy.lint import Finding
from kueuepy.profiles.version import installed

Format: TypeAlias = Literal["text", "json", "github", "sarif", "junit"]
_PLACE = re.compile(r"(?P<file>.+?):(?P<line>\d+)(?::(?P<column>\d+))?(?:: (?P<object>.*))?", re.DOTALL)
_COMMANDS = {"error": "error", "warning": "warning", "note": "notice"}


class Row(msgspec.Struct, frozen=True):
    """A finding or a problem, with its place in a file.

    Attributes:
        rule: The ID of the rule, or the kind of the problem.
        severity: `error`, `warning` or `note`; a problem is an error.
        object: Kind and name of the object; empty if it is unknown.
        field: The path of the field; empty for the whole object.
        message: The text.
        where: File and line, as in the text output.
        file: The file; empty if the object is in none.
        line: The line, from 1; 0 if the object is in no file.
        column: The column of the field, from 1; 0 if the object is in no file.
    """

    rule: str
    severity: str
    object: str
    field: str
    message: str
    where: str
    file: str = ""
    line: int = 0
    column: int = 0


def row_of(found: Finding | tuple[str, Problem]) -> Row:
    """Return a finding, or a problem with its place, as a row."""
    if isinstance(found, Finding):
        row = Row(found.rule, found.severity, found.object, found.field, found.message, found.where)
    else:
        where, problem = found
        row = Row(problem.kind, "error", "", problem.field, problem.detail, where)
    match = _PLACE.fullmatch(row.where)
    if match is None:
        return row if row.object else msgspec.structs.replace(row, object=row.where)
    file, line = match["file"], int(match["line"])
    column = int(match["column"] or _column(file, line, row.field))
    return msgspec.structs.replace(row, object=row.object or match["object"] or "", file=file, line=line, column=column)


def _column(file: str, line: int, field: str) -> int:
    """Return the column of the last key of a field in its line; 1 if the file cannot be read again."""
    lines = _lines(file)
    text = lines[line - 1] if line <= len(lines) else ""
    key = re.escape(re.sub(r"\[.*$", "", field.rpartition(".")[2]))
    found = re.search(rf"[\"']?\b{key}[\"']?\s*:", text) if key else None
    return found.start() + 1 if found else len(text) - len(text.lstrip(" -")) + 1


@lru_cache(8)
def _lines(file: str) -> list[str]:
    try:
        return Path(file).read_text(encoding="utf-8").split("\n")
    except (OSError, ValueError):
        return []


def formatted(rows: Iterable[Row], how: Format) -> str:
    """Return rows in a format: commands of GitHub Actions, SARIF 2.1.0, or JUnit's XML."""
    return {"github": _github, "sarif": _sarif, "junit": _junit}[how](list(rows))


def _github(rows: list[Row]) -> str:
    lines = []
    for row in rows:
        given = {"file": row.file, "line": row.line, "col": row.column, "title": row.rule}
        properties = ",".join(f"{name}={_property(value)}" for name, value in given.items() if value)
        lines.append(f"::{_COMMANDS[row.severity]} {properties}::{_message(_text(row))}")
    return "\n".join(lines)


def _text(row: Row) -> str:
    return ": ".join(filter(None, (row.object, row.field, row.message)))


def _message(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(value: Any) -> str:
    return _message(str(value)).replace(":", "%3A").replace(",", "%2C")


def _sarif(rows: list[Row]) -> str:
    results = []
    for row in rows:
        place: dict[str, Any] = {"logicalLocations": [{"name": row.object, "fullyQualifiedName": row.field}]}
        if row.file:
            region = {"startLine": row.line, "startColumn": row.column}
            place["physicalLocation"] = {"artifactLocation": {"uri": row.file}, "region": region}
        level, message = row.severity, {"text": _text(row)}
        results.append({"ruleId": row.rule, "level": level, "message": message, "locations": [place]})
    rules = [{"id": rule} for rule in sorted({row.rule for row in rows})]
    driver = {"name": "kueuepy", "version": installed(), "rules": rules}
    schema = "https://json.schemastore.org/sarif-2.1.0.json"
    return json.dumps(
        {"$schema": schema, "version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": results}]}, indent=2
    )


def _junit(rows: list[Row]) -> str:
    cases = [
        f"  <testcase classname={quoteattr(row.file or 'objects')} "
        f"name={quoteattr(f'{row.rule} {row.object} {row.field}')}>"
        f"<failure type={quoteattr(row.severity)} message={quoteattr(row.message)}>"
        f"{escape(f'{row.file}:{row.line}: {_text(row)}')}</failure></testcase>"
        for row in rows
    ] or ['  <testcase classname="objects" name="check"/>']
    head = f'<testsuite name="kueuepy check" tests="{len(cases)}" failures="{len(rows)}">'
    return "\n".join(['<?xml version="1.0" encoding="UTF-8"?>', head, *cases, "</testsuite>"])
