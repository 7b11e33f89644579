"""Malformed manifests: all parsers must agree, and each document must be either read or rejected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from unittest import mock

import msgspec
import yaml

from fuzz.mutation import Mutator
from kueuepy._core import FastReader
from kueuepy.errors import InternalError, KueueError
from kueuepy.manifest import Limits, dump, load
from kueuepy.manifest.text.exact import parse
from kueuepy.manifest.text.reading import json_value
from kueuepy.manifest.text.scalars import resolve
from kueuepy.manifest.text.text import Text

if TYPE_CHECKING:
    from collections.abc import Callable

_NO_LIMITS = Limits()
_TOLD = 1_000


def exact(text: str, *, libyaml: bool = True) -> tuple[Any] | None:
    """Return the value of a YAML text from the exact parser, in a tuple; `None` if it is rejected."""
    try:
        with mock.patch.object(yaml, "__with_libyaml__", libyaml):
            return (parse(Text("f.yaml", text.encode()), _NO_LIMITS, strict=True),)
    except KueueError:
        return None


def as_json(text: str) -> tuple[Any] | None:
    """Return the value of a JSON text, in a tuple; `None` if it is rejected."""
    try:
        return (json_value(Text("f.json", text.encode()), _NO_LIMITS, strict=True),)
    except (KueueError, msgspec.DecodeError):
        return None


def fast(text: str | bytes, limits: Limits = _NO_LIMITS) -> tuple[Any] | None:
    """Return the value from the fast parser alone, in a tuple; `None` if a part requires the exact parser."""
    data = text.encode() if isinstance(text, str) else text
    depth, scalar = max(0, min(limits.depth - 2, 100)), limits.scalar_bytes // 4
    reader = FastReader(data, 0, len(data), 1, resolve, depth, scalar)
    is_list = reader.open()
    if not is_list:
        return None if is_list is None else (reader.value,)
    items: list[Any] = []
    while reader.is_in_list:
        found = reader.items(2**19)
        if found is None:
            return None
        if not found:
            break
        items += [value for _, _, _, value in found]
    return ({**reader.value, "items": items},)


def run(documents: int, seed: int, *, tell: Callable[[int], None] | None = None) -> str:
    """Parse a number of documents with all parsers.

    Returns:
        A script that reproduces the first failure; an empty string if there is none.
    """
    mutator = Mutator(seed)
    for number in range(1, documents + 1):
        text = mutator.text()
        try:
            hold(text)
        except Exception as error:  # noqa: BLE001 - any exception is a failure
            what = f"{type(error).__name__}: {error}".replace("\n", " ")
            head = "# Run this script with PYTHONPATH=tests.\nfrom fuzz.documents import hold\n"
            return f"{head}\n# document {number}: {what}\nhold({text!r})\n"
        if tell is not None and number % _TOLD == 0:
            tell(number)
    return ""


def hold(text: str) -> None:
    """Parse a document with all parsers and compare the results.

    Raises:
        AssertionError: Two parsers disagree, or writing and reading the result changes it.
    """
    by_events = exact(text)
    # PyYAML's own parser rejects more tabs than libyaml does.
    slow = exact(text, libyaml=False)
    assert slow is None or repr(slow) == repr(by_events), "the parsers of YAML disagree"
    quick = fast(text)
    if quick is not None:
        assert repr(quick) in (repr(by_events), repr(as_json(text))), "the fast reader disagrees with the exact one"
    for strict in (True, False):
        try:
            manifest = load(text, strict=strict)
            written = dump(manifest)
        except InternalError:
            raise
        except KueueError:
            continue
        assert load(written, strict=strict) == manifest, "what is written is read as something else"
