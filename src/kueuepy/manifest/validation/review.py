"""Shared code of the validation rules: collection of problems, and formats of names, labels and quantities.

Source: `k8s.io/apimachinery/pkg/util/validation` and the patterns of Kueue's CRDs.
"""

from collections.abc import Iterable, Mapping, Sized
from functools import lru_cache
from typing import Any

from kueuepy._core import Quantity
from kueuepy.errors import Path, shown
from kueuepy.manifest.findings import Findings, Validated
from kueuepy.manifest.formats import (
    DNS_LABEL,
    KEY_FORM,
    LABEL_FORM,
    LABEL_LENGTH,
    QUANTITY,
    SUBDOMAIN_FORM,
    VALUE_FORM,
    is_label_key,
    is_label_value,
    is_subdomain,
    read_quantity,
)
from kueuepy.objects import QuantityText
from kueuepy.profiles.gates import FEATURE_GATES

_INT32 = 2**31
_REMEMBERED = 4096  # size of the caches of names and quantities, so that deleted workloads do not use memory
# As in an API server (`TotalAnnotationSizeLimitB` of apimachinery).
_ANNOTATIONS_BYTES = 256 * 1024
ZERO = Quantity("0")


class Review(Findings):
    """The problems and notes that the rules find in one object.

    Attributes:
        gates: Feature gates that differ from their defaults.
        is_update: Whether the rules check an update rather than a new object.
    """

    __slots__ = ("gates", "is_update")

    def __init__(
        self,
        *,
        strict: bool = True,
        gates: Mapping[str, bool] | None = None,
        validated: Validated | None = None,
        is_update: bool = False,
    ) -> None:
        """Create an instance without findings. In lenient mode, an invalid name is a note instead of a problem."""
        super().__init__(strict=strict, validated=validated)
        self.gates = gates or {}
        self.is_update = is_update

    def enabled(self, gate: str) -> bool:
        """Return whether a feature gate is on."""
        return self.gates.get(gate, FEATURE_GATES[gate])

    def at_most(self, items: Sized, limit: int, path: Path) -> None:
        """Check that a list or mapping has at most `limit` items."""
        if len(items) > limit:
            self.problem(path, f"has {len(items)} items; at most {limit} are allowed", "TooMany")

    def unique(self, names: Iterable[str], path: Path, field: str = "") -> None:
        """Check that the names of list items are unique."""
        listed = tuple(names)
        seen: set[str] = set()
        if len(set(listed)) == len(listed):
            return
        for position, name in enumerate(listed):
            if name in seen:
                location = (*path, position, field) if field else (*path, position)
                self.problem(location, f"{shown(name)} occurs twice; each may occur once", "Duplicate")
            seen.add(name)

    def int32(self, value: int | None, path: Path, least: int = -_INT32) -> None:
        """Check that a number is at least `least` and fits into 32 bits."""
        if value is None or least <= value < _INT32:
            return
        allowed = f"{least} or more" if value < least and least > -_INT32 else "a signed 32-bit integer"
        self.problem(path, f"is {shown(value)}; it must be {allowed}")

    def one_of(self, value: Any, allowed: Iterable[Any], path: Path) -> None:
        """Check that a value is one of the allowed values."""
        words = tuple(allowed)
        if value not in words:
            known = ", ".join(str(word) for word in words if word != "")
            hint = f"it must be one of {known}" if known else "there is nothing that it may name; leave it out"
            self.problem(path, f"{shown(value)} is not supported; {hint}", "NotSupported")

    def subdomain(self, name: str | None, path: Path) -> None:
        """Check that a name is a DNS subdomain; `None` is valid."""
        if name is not None and not is_subdomain(name):
            self.odd(path, f"is {shown(name)}; it must be {SUBDOMAIN_FORM}", "taken as it is", "Invalid")

    def label(self, name: str, path: Path) -> None:
        """Check that a name is a DNS label."""
        if not (len(name) <= LABEL_LENGTH and DNS_LABEL.fullmatch(name)):
            self.odd(path, f"is {shown(name)}; it must be {LABEL_FORM}", "taken as it is", "Invalid")

    def label_key(self, key: str, path: Path) -> None:
        """Check that a string is a valid label key. Names of resources have the same form as label keys."""
        if not is_label_key(key):
            self.problem(path, f"is {shown(key)}; it must be {KEY_FORM}")

    def label_value(self, value: str, path: Path) -> None:
        """Check that a string is a valid label value."""
        if not is_label_value(value):
            self.problem(path, f"is {shown(value)}; it must be {VALUE_FORM}")

    def labels(self, labels: Mapping[str, str], path: Path) -> None:
        """Check the keys and values of labels."""
        for key, value in labels.items():
            if not (is_label_key(key) and is_label_value(value)):
                self.label_key(key, (*path, key))
                self.label_value(value, (*path, key))

    def annotations(self, annotations: Mapping[str, str], path: Path) -> None:
        """Check the keys and the total size of annotations."""
        if not annotations:
            return
        for key in annotations:
            self.label_key(key.lower(), (*path, key))
        size = sum(_bytes(key) + _bytes(value) for key, value in annotations.items())
        if size > _ANNOTATIONS_BYTES:
            self.problem(path, f"has {size} bytes; at most {_ANNOTATIONS_BYTES} are allowed", "TooMany")

    def quantities(self, values: Mapping[str, QuantityText | None], path: Path, *, negative: bool = False) -> None:
        """Check that all values are valid quantities."""
        for name, value in values.items():
            if not isinstance(value, str | int) or not _is_valid(value, negative):
                self.quantity(value, (*path, name), negative=negative)

    def quantity(self, value: QuantityText | None, path: Path, *, negative: bool = False) -> Quantity | None:
        """Check that a value is a quantity in the form of the API's schema, and not negative unless allowed.

        Returns:
            The quantity, or `None` if the value is absent or invalid.
        """
        if value is None:
            return None
        if not isinstance(value, int | str):  # the declared type is not enforced
            self.problem(path, _NO_QUANTITY.format(shown(value)))
            return None
        found = parse_quantity(value)
        if isinstance(found, str):
            self.problem(path, found)
            return None
        if not negative and found < ZERO:
            self.problem(path, f"is {value}; it must be 0 or more")
            return None
        return found


def _bytes(text: str) -> int:
    """Return the length in bytes of a string encoded as UTF-8.

    A lone surrogate, which UTF-8 cannot represent, counts as three bytes.
    """
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


_NO_QUANTITY = "is {}; it must be a quantity: an integer, or a string such as 500m or 64Gi"


@lru_cache(maxsize=_REMEMBERED, typed=True)
def _is_valid(value: QuantityText | None, negative: bool) -> bool:  # noqa: FBT001 - a cache knows no names
    found = None if value is None else parse_quantity(value)
    return found is None or (not isinstance(found, str) and (negative or not found < ZERO))


@lru_cache(maxsize=_REMEMBERED, typed=True)
def parse_quantity(value: QuantityText) -> Quantity | str:
    """Parse a quantity; return the quantity, or a description of the problem."""
    if isinstance(value, bool):
        return _NO_QUANTITY.format(value)
    text = str(value)
    if isinstance(value, str) and not QUANTITY.fullmatch(text):
        return f"is {shown(value)}; it must be a quantity: a number, then one of n u m k M G T P E Ki Mi Gi Ti Pi Ei"
    return read_quantity(text)
