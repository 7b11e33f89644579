"""Fields that a record keeps in another form than Kubernetes' JSON does.

Reading leaves plain values for the record's own types to check; writing starts from such values.
"""

from collections.abc import Callable
from typing import Any

import msgspec

from kueuepy.errors.problems import Path
from kueuepy.manifest.decoding import Findings, decode, hold
from kueuepy.manifest.shapes import optional, shape
from kueuepy.objects.times import LATEST, LONGEST, format_time, parse_time

Read = Callable[[Any, Path, Findings], Any]
Write = Callable[[Any], Any]


class FieldForm(msgspec.Struct, frozen=True):
    """How one field is read and written.

    Attributes:
        read: From JSON to what the record's type takes.
        write: The other way; `None` leaves the field out.
        inner: The field in JSON that holds what the record keeps, if it is wrapped in an object.
    """

    read: Read
    write: Write
    inner: str = ""


_Named = shape("Named", name=str)
_Level = shape("Level", nodeLabel=str)
_Parameters = shape("Parameters", apiGroup=str, kind=str, name=str)
_Constraints = shape("Constraints", lastAcceptableFlavorName=str)
_Migration = shape("Migration", mode=str, constraints=optional(_Constraints))
_ConcurrentAdmission = shape("ConcurrentAdmissionPolicy", migration=_Migration)


def wrapped(field: str) -> FieldForm:
    """A field that JSON wraps in an object with this one field."""
    wrapper = shape("Wrapper", field)

    def read(raw: Any, path: Path, findings: Findings) -> Any:
        found = hold(wrapper, raw, path, findings)
        if found is None:
            return None
        if found.get(field) in (None, []):
            findings.problem((*path, field), f"is required; leave {path[-1]} out if it is not meant", "Required")
        return found.get(field)

    return FieldForm(read, lambda value: {field: value} if value else None, field)


def listed(kind: Any, field: str) -> FieldForm:
    """A list of texts that JSON wraps in objects with this one field."""

    def read(raw: Any, path: Path, findings: Findings) -> Any:
        items = decode(list[kind], raw, path, findings)
        if items is None:
            return None
        texts = [getattr(item, field) for item in items]
        for position, text in enumerate(texts):
            if text is None:
                findings.problem((*path, position, field), "is required", "Required")
        return texts

    return FieldForm(read, lambda texts: [{field: text} for text in texts])


def kept(kind: Any) -> FieldForm:
    """A mapping of this shape that the record keeps as it is."""
    return FieldForm(lambda raw, path, findings: hold(kind, raw, path, findings), lambda raw: raw)


ZERO_TIME = "0001-01-01T00:00:00Z"


def read_time(raw: Any, path: Path, findings: Findings) -> int | None:
    """Nanoseconds since the Unix epoch; `None` for Go's zero time, which stands for no time."""
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
NAMES = listed(_Named, "name")
LEVELS = listed(_Level, "nodeLabel")
