"""Structure of metadata and pod templates, which is used to check the types of fields before they are read."""

from typing import Any

import msgspec

from kueuepy.errors import InvalidSpecError
from kueuepy.errors.problems import steps
from kueuepy.jobs.fields import Document
from kueuepy.objects.readable import said_by_msgspec

_Quantities = dict[str, str | int | float] | None


class _Form(msgspec.Struct, rename="camel"):
    """Base class for the validated sections of a manifest. Unknown fields are ignored."""


class _Owner(_Form):
    kind: str
    api_version: str
    name: str | None = None
    uid: str | None = None
    controller: bool | None = None


class _Metadata(_Form):
    name: str | None = None
    generate_name: str | None = None
    namespace: str | None = None
    uid: str | None = None
    labels: dict[str, Any] | None = None
    annotations: dict[str, Any] | None = None
    owner_references: list[_Owner] | None = None


class _Resources(_Form):
    requests: _Quantities = None
    limits: _Quantities = None


class _Variable(_Form):
    name: str


class _Container(_Form):
    name: str | None = None
    image: str | None = None
    image_pull_policy: str | None = None
    env: list[_Variable] | None = None
    ports: list[dict[str, Any]] | None = None
    resources: _Resources | None = None


class _PodSpec(_Form):
    init_containers: list[_Container] | None = None
    containers: list[_Container] | None = None
    node_selector: dict[str, Any] | None = None
    affinity: dict[str, Any] | None = None
    tolerations: list[dict[str, Any]] | None = None
    topology_spread_constraints: list[dict[str, Any]] | None = None
    resource_claims: list[dict[str, Any]] | None = None
    overhead: _Quantities = None
    resources: _Resources | None = None


def check_metadata(manifest: Document) -> None:
    """Check the types of the fields in a manifest's metadata.

    Raises:
        InvalidSpecError: A field has a wrong type; the message names it.
    """
    metadata = manifest.get("metadata")
    name = f' "{metadata.get("name")}"' if isinstance(metadata, dict) else ""
    _check(metadata, _Metadata | None, f"{manifest.get('kind')}{name}", "metadata")


def check_template(template: Document, owner: str, path: str) -> None:
    """Check the types of the fields that are read from a pod template.

    Raises:
        InvalidSpecError: A field has a wrong type; the message names it.
    """
    _check(template.get("metadata"), _Metadata | None, owner, f"{path}.metadata")
    check_pod_spec(template["spec"], owner, f"{path}.spec")


def check_pod_spec(spec: Document, owner: str, path: str) -> None:
    """Check the types of the fields that are read from the spec of a pod.

    Raises:
        InvalidSpecError: A field has a wrong type; the message names it.
    """
    _check(spec, _PodSpec, owner, path)


def _check(value: Any, form: Any, owner: str, path: str) -> None:
    try:
        msgspec.convert(value, form)
    except UnicodeEncodeError as error:
        text = str(error.object)
        raise InvalidSpecError(f"{owner}: {path}: has {text!r}; it must be valid Unicode").at(*steps(path)) from None
    except msgspec.ValidationError as error:
        problem, place = said_by_msgspec(error)
        field = f"{path}{place}"
        raise InvalidSpecError(f"{owner}: {field}: {problem[0].lower()}{problem[1:]}").at(*steps(field)) from None
