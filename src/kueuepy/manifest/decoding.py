"""Decoding of mappings and lists to Python classes, with a description of every problem.

msgspec decodes valid values at full speed. Only values that msgspec rejects are compared with the declared types, field
by field. Nulls are treated as absent fields. In lenient mode, unknown fields are removed, and numbers become strings
where a string is expected.
"""

from typing import Any, TypeVar, cast

import msgspec

from kueuepy.errors.problems import Path
from kueuepy.manifest.findings import Findings
from kueuepy.manifest.schema.classes import schema_of_class
from kueuepy.manifest.schema.examine import examine
from kueuepy.objects.readable import decoding_fault
from kueuepy.objects.ready import ready
from kueuepy.objects.times import decode_time

T = TypeVar("T")


def decode(cls: type[T], raw: Any, path: Path, findings: Findings) -> T | None:
    """Decode a value to an instance of a class; return `None` if `findings` contains problems."""
    found = _decode(cls, raw, path, findings)
    return found and found[0]


def hold(cls: type[Any], raw: T, path: Path, findings: Findings) -> T | None:
    """Check a value against a class. Return the value with corrections, or `None` if `findings` contains problems."""
    found = _decode(cls, raw, path, findings)
    return found and found[1]


def _decode(cls: type[T], raw: Any, path: Path, findings: Findings) -> tuple[T, Any] | None:
    try:
        return msgspec.convert(raw, ready(cls), dec_hook=decode_time), raw
    except msgspec.ValidationError:
        pass
    before = len(findings.problems)
    clean = examine(schema_of_class(cast("Any", cls)), raw, path, findings)
    if len(findings.problems) > before:
        return None
    try:
        return msgspec.convert(clean, ready(cls), dec_hook=decode_time), clean
    except msgspec.ValidationError as error:
        place, detail = decoding_fault(error, cls)
        findings.problem((*path, *place), detail)
        return None
