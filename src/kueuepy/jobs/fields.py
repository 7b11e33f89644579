"""Fields of a manifest, read with their types and named in errors."""

import copy
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from kueuepy.errors import InvalidSpecError
from kueuepy.errors.problems import steps
from kueuepy.jobs.quantity import canonical

Document: TypeAlias = dict[str, Any]
"""A Kubernetes object as its YAML reads: dicts, lists, texts, numbers."""


_SURROGATE = re.compile("[\ud800-\udfff]")


def without_nulls(value: Any) -> Any:
    """Return a deep copy in which a field that is written but null is absent, as Kubernetes reads it.

    Raises:
        InvalidSpecError: A text holds half of a surrogate pair, which no encoding has.
    """
    if isinstance(value, dict):
        return {without_nulls(key): without_nulls(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [without_nulls(item) for item in value]
    if isinstance(value, str) and _SURROGATE.search(value):
        raise InvalidSpecError(f"{value!r} holds half of a surrogate pair; it must be a text of Unicode")
    return copy.deepcopy(value)


def manifests(documents: Iterable[Any]) -> "tuple[Document, ...]":
    """Return documents that are manifests.

    Raises:
        InvalidSpecError: One is not a mapping.
    """
    found = tuple(documents)
    for document in found:
        if not isinstance(document, dict):
            raise InvalidSpecError(f"{document!r} is not a manifest; it must be an object with kind and metadata")
    return found


def with_text_quantities(value: Any) -> Any:
    """A manifest whose quantities that are written as fractions are texts, as Kubernetes' own kinds take them."""
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
    """A mapping inside a manifest that knows what it belongs to and where it is.

    Attributes:
        owner: What the manifest is, as messages name it: `Job "team-a/train"`.
        path: Where the mapping is: `spec.template`; empty for the whole manifest.
        data: The mapping itself; changing it changes the manifest.
    """

    owner: str
    path: str
    data: Document

    def at(self, key: str | int) -> str:
        """The path of a field, in brackets where a dot would be read as part of the path."""
        text = str(key)
        if isinstance(key, int) or "." in text or "/" in text:
            return f"{self.path}[{text}]" if isinstance(key, int) else f'{self.path}["{text}"]'
        return f"{self.path}.{text}" if self.path else text

    def error(self, key: str | int, problem: str) -> InvalidSpecError:
        """The error that says what is wrong with a field, and what is allowed."""
        path = self.at(key)
        return InvalidSpecError(f"{self.owner}: {path}: {problem}").at(*steps(path))

    def find(self, key: str) -> "Section | None":
        """The mapping in a field, or `None` if the field is absent."""
        value = self.data.get(key)
        return None if value is None else Section(self.owner, self.at(key), self._mapping(key, value))

    def section(self, key: str) -> "Section":
        """The mapping in a field that must be there."""
        found = self.find(key)
        if found is None:
            raise self.error(key, "is missing; it must be given")
        return found

    def ensure(self, key: str) -> "Section":
        """The mapping in a field, made if the field is absent."""
        self.data.setdefault(key, {})
        return self.section(key)

    def walk(self, path: str) -> "Section":
        """The mapping at a dotted path of fields that must all be there."""
        section = self
        for key in path.split(".") if path else ():
            section = section.section(key)
        return section

    def sections(self, key: str) -> "list[Section]":
        """The mappings in a field that holds a list of them; empty if the field is absent."""
        values = self.items(key)
        inner = Section(self.owner, self.at(key), {})
        return [Section(self.owner, inner.at(i), inner._mapping(i, value)) for i, value in enumerate(values)]

    def items(self, key: str) -> list[Any]:
        """The list in a field; empty if the field is absent."""
        values = self.data.get(key)
        if values is None:
            return []
        if not isinstance(values, list):
            raise self.error(key, f"is {values!r}; it must be a list")
        return values

    def integer(self, key: str, default: int | None = None) -> int:
        """The whole number in a field, or the default if the field is absent."""
        value = self.data.get(key)
        if value is None:
            if default is None:
                raise self.error(key, "is missing; it must be given")
            return default
        if isinstance(value, bool) or not isinstance(value, int) or not -(2**31) <= value < 2**31:
            raise self.error(key, f"is {value!r}; it must be a whole number of 32 bits")
        return value

    def count(self, key: str, default: int | None = None) -> int:
        """The number of pods or replicas in a field: a whole number, 0 or more."""
        value = self.integer(key, default)
        if value < 0:
            raise self.error(key, f"is {value}; it must be 0 or more")
        return value

    def text(self, key: str, default: str = "") -> str:
        """The text in a field, or the default if the field is absent."""
        value = self.data.get(key)
        if value is None:
            return default
        if not isinstance(value, str):
            raise self.error(key, f"is {value!r}; it must be a text")
        return value

    def flag(self, key: str) -> bool:
        """Whether a field is true; an absent one is false."""
        value = self.data.get(key, False)
        if not isinstance(value, bool):
            raise self.error(key, f"is {value!r}; it must be true or false")
        return value

    def texts(self, key: str) -> dict[str, str]:
        """The labels, annotations or selector in a field: texts by text; empty if the field is absent."""
        found = self.find(key)
        if found is None:
            return {}
        for name, value in found.data.items():
            if not isinstance(value, str):
                raise found.error(name, f"is {value!r}; it must be a text (quote it)")
        return dict(found.data)

    def conditions(self) -> Iterator["Section"]:
        """The conditions of a status that are true."""
        return (condition for condition in self.sections("conditions") if condition.text("status") == "True")

    def _mapping(self, key: str | int, value: Any) -> Document:
        if not isinstance(value, dict):
            raise self.error(key, f"is {value!r}; it must be a mapping")
        return value
