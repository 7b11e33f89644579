"""Typed access to the fields of a manifest, with errors that name the field."""

import copy
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from kueuepy.errors import InvalidSpecError
from kueuepy.errors.problems import steps
from kueuepy.jobs.quantity import canonical
from kueuepy.manifest.text.text import SURROGATE

Document: TypeAlias = dict[str, Any]
"""A Kubernetes object as a dict, as parsed from YAML."""


def without_nulls(value: Any) -> Any:
    """Return a deep copy without null fields, which Kubernetes treats as absent.

    Raises:
        InvalidSpecError: A string contains an unpaired surrogate, which cannot be encoded.
    """
    if isinstance(value, dict):
        return {without_nulls(key): without_nulls(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [without_nulls(item) for item in value]
    if isinstance(value, str) and SURROGATE.search(value):
        raise InvalidSpecError(f"{value!r} holds half of a surrogate pair; it must be valid Unicode")
    return copy.deepcopy(value)


def manifests(documents: Iterable[Any]) -> "tuple[Document, ...]":
    """Check that documents are mappings, and return them as a tuple.

    Raises:
        InvalidSpecError: A document is not a mapping.
    """
    found = tuple(documents)
    for document in found:
        if not isinstance(document, dict):
            raise InvalidSpecError(f"{document!r} is not a manifest; it must be an object with kind and metadata")
    return found


def with_text_quantities(value: Any) -> Any:
    """Return a manifest with quantities converted from floats to strings; Kubernetes' own kinds accept both forms."""
    if isinstance(value, list):
        return [with_text_quantities(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: {name: canonical(repr(one)) if isinstance(one, float) else one for name, one in item.items()}
        if key in _QUANTITIES and isinstance(item, dict)
        else with_text_quantities(item)
        for key, item in value.items()
    }


_QUANTITIES = ("requests", "limits", "overhead")


@dataclass(frozen=True)
class Section:
    """A mapping in a manifest, with its path and the name of the object for errors.

    >>> spec = Section('Job "team-a/train"', "spec", {"parallelism": 3})
    >>> spec.count("parallelism", 1), spec.text("completionMode")
    (3, '')

    Attributes:
        owner: Name of the object in error messages, such as `Job "team-a/train"`.
        path: Path of the mapping, such as `spec.template`; empty for the whole manifest.
        data: The mapping itself. Changes to this mapping change the manifest.
    """

    owner: str
    path: str
    data: Document

    def at(self, key: str | int) -> str:
        """Return the path of a field. Names that contain a dot or a slash are in brackets."""
        text = str(key)
        if isinstance(key, int) or "." in text or "/" in text:
            return f"{self.path}[{text}]" if isinstance(key, int) else f'{self.path}["{text}"]'
        return f"{self.path}.{text}" if self.path else text

    def error(self, key: str | int, problem: str) -> InvalidSpecError:
        """Return an error for a field.

        Args:
            key: The field, or the index of a list item.
            problem: The value and the allowed values, in the form `is X; it must be Y`.
        """
        path = self.at(key)
        return InvalidSpecError(f"{self.owner}: {path}: {problem}").at(*steps(path))

    def find(self, key: str) -> "Section | None":
        """Return the mapping in a field; `None` if the field is absent.

        Raises:
            InvalidSpecError: The field is not a mapping.
        """
        value = self.data.get(key)
        return None if value is None else Section(self.owner, self.at(key), self._mapping(key, value))

    def part(self, key: str) -> "Section":
        """Return the mapping in a field; an empty mapping, which is not part of the manifest, if the field is absent.

        Raises:
            InvalidSpecError: The field is not a mapping.
        """
        return self.find(key) or Section(self.owner, self.at(key), {})

    def find_at(self, path: str) -> "Section | None":
        """Return the mapping at a dotted path; `None` if a field of the path is absent.

        Raises:
            InvalidSpecError: A field of the path is not a mapping.
        """
        section: Section | None = self
        for key in path.split("."):
            section = section and section.find(key)
        return section

    def section(self, key: str) -> "Section":
        """Return the mapping in a required field.

        Raises:
            InvalidSpecError: The field is absent or is not a mapping.
        """
        found = self.find(key)
        if found is None:
            raise self.error(key, "is missing; it must be given")
        return found

    def ensure(self, key: str) -> "Section":
        """Return the mapping in a field. An absent field is created.

        Raises:
            InvalidSpecError: The field is not a mapping.
        """
        self.data.setdefault(key, {})
        return self.section(key)

    def walk(self, path: str) -> "Section":
        """Return the mapping at a dotted path of required fields.

        Raises:
            InvalidSpecError: A field is absent or is not a mapping.
        """
        section = self
        for key in path.split(".") if path else ():
            section = section.section(key)
        return section

    def sections(self, key: str) -> "list[Section]":
        """Return the mappings in a list field; empty if the field is absent.

        Raises:
            InvalidSpecError: The field is not a list of mappings.
        """
        values = self.items(key)
        inner = Section(self.owner, self.at(key), {})
        return [Section(self.owner, inner.at(i), inner._mapping(i, value)) for i, value in enumerate(values)]

    def items(self, key: str) -> list[Any]:
        """Return the items of a list field; empty if the field is absent.

        Raises:
            InvalidSpecError: The field is not a list.
        """
        values = self.data.get(key)
        if values is None:
            return []
        if not isinstance(values, list):
            raise self.error(key, f"is {values!r}; it must be a list")
        return values

    def integer(self, key: str, default: int | None = None) -> int:
        """Return the 32-bit integer in a field, or the default if the field is absent.

        Raises:
            InvalidSpecError: The field is not an integer, or is absent without a default.
        """
        value = self.data.get(key)
        if value is None:
            if default is None:
                raise self.error(key, "is missing; it must be given")
            return default
        if isinstance(value, bool) or not isinstance(value, int) or not -(2**31) <= value < 2**31:
            raise self.error(key, f"is {value!r}; it must be a whole number of 32 bits")
        return value

    def count(self, key: str, default: int | None = None) -> int:
        """Return the number of pods or replicas in a field: a 32-bit integer, 0 or more.

        Raises:
            InvalidSpecError: The field is not a 32-bit integer of 0 or more, or is absent without a default.
        """
        value = self.integer(key, default)
        if value < 0:
            raise self.error(key, f"is {value}; it must be 0 or more")
        return value

    def text(self, key: str, default: str = "") -> str:
        """Return the string in a field, or the default if the field is absent.

        Raises:
            InvalidSpecError: The field is not a string.
        """
        value = self.data.get(key)
        if value is None:
            return default
        if not isinstance(value, str):
            raise self.error(key, f"is {value!r}; it must be a string")
        return value

    def flag(self, key: str) -> bool:
        """Return the boolean in a field; `False` if the field is absent.

        Raises:
            InvalidSpecError: The field is not a boolean.
        """
        value = self.data.get(key, False)
        if not isinstance(value, bool):
            raise self.error(key, f"is {value!r}; it must be true or false")
        return value

    def texts(self, key: str) -> dict[str, str]:
        """Return a mapping of strings, such as labels, annotations or a selector; empty if the field is absent.

        Raises:
            InvalidSpecError: The field is not a mapping of strings.
        """
        found = self.find(key)
        if found is None:
            return {}
        for name, value in found.data.items():
            if not isinstance(value, str):
                raise found.error(name, f"is {value!r}; it must be a string (quote it)")
        return dict(found.data)

    def conditions(self) -> Iterator["Section"]:
        """Iterate over the conditions of a status that are true.

        Raises:
            InvalidSpecError: The conditions are malformed.
        """
        return (condition for condition in self.sections("conditions") if condition.text("status") == "True")

    def _mapping(self, key: str | int, value: Any) -> Document:
        if not isinstance(value, dict):
            raise self.error(key, f"is {value!r}; it must be a mapping")
        return value
