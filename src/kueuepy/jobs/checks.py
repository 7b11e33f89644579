"""Validation rules for the metadata of jobs, and checks of the types of fields in metadata and pod templates.

As in Kueue's webhooks, only the first problem is reported. Unknown fields are ignored: an API server may be newer than
the schemas.

Source: `pkg/controller/jobframework/validation.go:ValidateJobOnCreate` and
`pkg/util/webhook/validation_admissiongatedby.go`.
"""

from collections.abc import Mapping
from functools import reduce
from operator import getitem
from typing import Any

import msgspec

from kueuepy.errors import InvalidSpecError, Path, steps
from kueuepy.jobs import keys
from kueuepy.jobs.numbers import signed
from kueuepy.jobs.template import Document, Section
from kueuepy.manifest import METADATA, OWNER, Findings, Schema, conform, is_admission_gate, is_subdomain, pod_spec


def check_subdomain(metadata: Section, field: str, key: str) -> None:
    """Check that a label or annotation is a DNS subdomain, if it is present.

    Args:
        metadata: The metadata of a job.
        field: `labels` or `annotations`.
        key: The key of the label or annotation.

    Raises:
        InvalidSpecError: The value is not a DNS subdomain.
    """
    texts = metadata.texts(field)
    if key in texts and not is_subdomain(texts[key]):
        raise metadata.section(field).error(
            key, f'is "{texts[key]}"; it must be a DNS subdomain: lower-case letters, digits, "-" and "."'
        )


def check_execution_time(metadata: Section) -> None:
    """Check that the maximum execution time of a job is a positive number of seconds.

    Raises:
        InvalidSpecError: The label is not a positive integer.
    """
    seconds = metadata.texts("labels").get(keys.MAX_EXEC_TIME_SECONDS)
    if seconds is not None and (signed(seconds) or 0) <= 0:
        raise metadata.section("labels").error(
            keys.MAX_EXEC_TIME_SECONDS, f'is "{seconds}"; it must be a whole number of seconds, greater than 0'
        )


def max_execution_time(labels: Mapping[str, str]) -> int | None:
    """Return the maximum execution time of a job in seconds; `None` if the label is absent or invalid.

    Source: `pkg/controller/jobframework/utils.go:MaximumExecutionTimeSecondsForObject`.
    """
    seconds = signed(labels.get(keys.MAX_EXEC_TIME_SECONDS, ""), bits=32)
    return seconds if seconds is not None and seconds > 0 else None


def check_gates(metadata: Section) -> None:
    """Check that the admission gates of a job are unique names with a domain and a path.

    Raises:
        InvalidSpecError: A gate is not a valid name, or occurs twice.
    """
    text = metadata.texts("annotations").get(keys.ADMISSION_GATED_BY, "")
    if not text.strip():
        return
    gates = [gate.strip() for gate in text.split(",")]
    at = metadata.section("annotations")
    for gate in gates:
        if not is_admission_gate(gate):
            raise at.error(
                keys.ADMISSION_GATED_BY, f'has "{gate}"; a gate must be a name such as example.com/controller'
            )
    if len(set(gates)) < len(gates):
        raise at.error(keys.ADMISSION_GATED_BY, "names a gate twice; each must be named once")


# For objects of Kueue's API, `review_metadata` requires these fields; of jobs, only the schema is checked.
_OWNERS = Schema(type="array", items=msgspec.structs.replace(OWNER, required=("apiVersion", "kind")))
_METADATA = msgspec.structs.replace(METADATA, properties={**METADATA.properties, "ownerReferences": _OWNERS})


def check_metadata(manifest: Document) -> None:
    """Check the types of the fields in a manifest's metadata.

    Raises:
        InvalidSpecError: A field has a wrong type; the message names it.
    """
    metadata = manifest.get("metadata")
    name = f' "{metadata.get("name")}"' if isinstance(metadata, dict) else ""
    _check(_METADATA, metadata, f"{manifest.get('kind')}{name}", "metadata")


def check_template(template: Document, owner: str, path: str) -> None:
    """Check the types of the fields in a pod template.

    Raises:
        InvalidSpecError: A field has a wrong type; the message names it.
    """
    _check(_METADATA, template.get("metadata"), owner, f"{path}.metadata")
    check_pod_spec(template["spec"], owner, f"{path}.spec")


def check_pod_spec(spec: Document, owner: str, path: str) -> None:
    """Check the types of the fields in the spec of a pod.

    Raises:
        InvalidSpecError: A field has a wrong type; the message names it.
    """
    _check(pod_spec(), spec, owner, path)


def _check(schema: Schema, value: Any, owner: str, path: str) -> None:
    if value is None:
        return
    findings = Findings(formats=False)
    conform(schema, value, steps(path), findings)
    for problem in findings.problems:
        if problem.kind != "Unknown" and not _is_quantity(value, problem.path[len(steps(path)) :]):
            raise InvalidSpecError(f"{owner}: {problem}").at(*problem.path)


def _is_quantity(value: Any, path: Path) -> bool:
    """Return whether a field is the text of an amount: the reader of quantities reports it at its place in a file."""
    if len(path) < 2 or path[-2] not in ("requests", "limits", "overhead"):  # noqa: PLR2004 - a field and its name
        return False
    try:
        return isinstance(reduce(getitem, path, value), str)
    except KeyError:  # a key that is not a text
        return False
