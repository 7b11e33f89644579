"""Decoding of mappings and lists to Python classes, with a description of every problem."""

from typing import Any, TypeVar, cast

import msgspec

from kueuepy.errors import Path
from kueuepy.manifest.findings import Findings
from kueuepy.manifest.forms import Form, decode_text, path_in_manifest
from kueuepy.manifest.schema.classes import schema_of_class
from kueuepy.manifest.schema.structure import conform
from kueuepy.objects.readable import decoding_fault, ready

T = TypeVar("T")


def decode(cls: type[T], raw: Any, path: Path, findings: Findings) -> T | None:
    """Decode a value to an instance of a class that has no other form in a manifest.

    Nulls are treated as absent fields. In lenient mode, unknown fields are removed, and numbers become strings where a
    string is expected.

    Returns:
        The instance, or `None` if problems were added to `findings`.
    """
    before = len(findings.problems)
    clean = conform(schema_of_class(cast("Any", cls)), raw, path, findings)
    return None if len(findings.problems) > before else _converted(cls, None, clean, path, findings)


def decoded(form: Form, flat: dict[str, Any], path: Path, findings: Findings) -> Any:
    """Decode the fields of a class, which `gathered` has returned for a manifest at a path."""
    return _converted(form.cls, form, flat, path, findings)


def _converted(cls: type[T], form: Form | None, flat: Any, path: Path, findings: Findings) -> T | None:
    try:
        return msgspec.convert(flat, ready(cls), dec_hook=decode_text)
    except msgspec.ValidationError as error:
        location, detail = decoding_fault(error, cls)
        findings.problem((*path, *path_in_manifest(form, location)), detail)
        return None
