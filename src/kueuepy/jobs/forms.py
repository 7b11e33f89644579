"""Checks of the types of fields in metadata and pod templates, before these fields are read.

An API server checks the types of all fields. Unknown fields are ignored: an API server may be newer than the schemas.
"""

from functools import reduce
from operator import getitem
from typing import Any

import msgspec

from kueuepy.errors import InvalidSpecError
from kueuepy.errors.problems import Path, steps
from kueuepy.jobs.fields import Document
from kueuepy.manifest.findings import Findings
from kueuepy.manifest.schema.structure import conform
from kueuepy.manifest.schema.table import METADATA, OWNER, Schema, pod_spec

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
    named = len(path) > 1 and path[-2] in ("requests", "limits", "overhead")
    return named and isinstance(reduce(getitem, path, value), str)
