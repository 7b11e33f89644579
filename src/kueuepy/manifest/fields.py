"""Converters for fields whose form differs between Kubernetes' JSON and the Python class.

The function `read` of a converter returns plain values, which are then checked against the types of the class. The
function `write` converts plain values to JSON.
"""

from collections.abc import Callable
from typing import Any

import msgspec

from kueuepy.errors.problems import Path
from kueuepy.manifest.decoding import decode, hold
from kueuepy.manifest.findings import Findings
from kueuepy.manifest.shapes import shape
from kueuepy.objects.times import LATEST, LONGEST, format_time, parse_time

Read = Callable[[Any, Path, Findings], Any]
Write = Callable[[Any], Any]


class FieldForm(msgspec.Struct, frozen=True):
    """Converter for one field.

    Attributes:
        read: Function that converts the JSON value of the field to the value of the Python attribute.
        write: Function that converts the value of the Python attribute to the JSON value of the field; if the function
            returns `None`, the field is omitted.
        inner: Field of the wrapping JSON object that contains the value; empty if the value is not wrapped.
    """

    read: Read
    write: Write
    inner: str = ""


_Parameters = shape("Parameters", apiGroup=str, kind=str, name=str)
_Constraints = shape("Constraints", lastAcceptableFlavorName=str)
_Migration = shape("Migration", mode=str, constraints=_Constraints | None)
_ConcurrentAdmission = shape("ConcurrentAdmissionPolicy", migration=_Migration)


def wrapped(field: str) -> FieldForm:
    """Return the converter for a value that JSON wraps in an object with one field."""
    wrapper = shape("Wrapper", field)

    def read(raw: Any, path: Path, findings: Findings) -> Any:
        found = hold(wrapper, raw, path, findings)
        if found is None:
            return None
        if found.get(field) in (None, []):
            findings.problem((*path, field), f"is required; leave {path[-1]} out if it is not meant", "Required")
        return found.get(field)

    return FieldForm(read, lambda value: {field: value} if value else None, field)


def listed(field: str) -> FieldForm:
    """Return the converter for a list of strings, each of which JSON wraps in an object with one field."""
    wrapper: Any = shape("Wrapper", **{field: str})

    def read(raw: Any, path: Path, findings: Findings) -> Any:
        items = decode(list[wrapper], raw, path, findings)
        if items is None:
            return None
        texts = [getattr(item, field) for item in items]
        for position, text in enumerate(texts):
            if text is None:
                findings.problem((*path, position, field), "is required", "Required")
        return texts

    return FieldForm(read, lambda texts: [{field: text} for text in texts])


def kept(kind: Any) -> FieldForm:
    """Return the converter for a mapping that is checked against a class but stored unchanged."""
    return FieldForm(lambda raw, path, findings: hold(kind, raw, path, findings), lambda raw: raw)


ZERO_TIME = "0001-01-01T00:00:00Z"


def read_time(raw: Any, path: Path, findings: Findings) -> int | None:
    """Convert a time to nanoseconds since the Unix epoch.

    Go's zero time means that there is no time, and becomes `None`.
    """
    if raw == ZERO_TIME:
        return None
    time = parse_time(raw) if isinstance(raw, str) else None
    if time is None:
        findings.problem(path, f'is "{raw}"; it must be a time such as 2026-01-31T12:00:00Z')
    elif abs(time) > LONGEST:
        findings.problem(path, f'is "{raw}"; it must be a time that fits 64 bits of nanoseconds, {LATEST} at most')
        return None
    return time


TIME = FieldForm(read_time, format_time)
ADMISSION_CHECKS = wrapped("admissionChecks")
ADMISSION_SCOPE = wrapped("admissionMode")
CONCURRENT_ADMISSION = kept(_ConcurrentAdmission)
PARAMETERS = kept(_Parameters)
NAMES = listed("name")
LEVELS = listed("nodeLabel")
