"""Mutated manifests: the ways through them agree, and whatever is in them is read or refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from kueuepy.errors import InternalError, KueueError
from kueuepy.manifest import Limits, dump, load
from kueuepy.manifest.text.exact import parse
from kueuepy.manifest.text.fast import FastReader
from kueuepy.manifest.text.jsontext import json_value
from kueuepy.manifest.text.text import Text
from kueuepy.testing.mutation import Mutator

if TYPE_CHECKING:
    from collections.abc import Callable

_NO_LIMITS = Limits()
_TOLD = 1_000


def exact(text: str, *, libyaml: bool = True) -> tuple[Any] | None:
    """The value of a YAML text by the exact reader, in a tuple; `None` where it is refused."""
    try:
        return (parse(Text("f.yaml", text.encode()), _NO_LIMITS, strict=True, libyaml=libyaml),)
    except KueueError:
        return None


def as_json(text: str) -> tuple[Any] | None:
    """The same, of a text that is JSON."""
    try:
        return (json_value(Text("f.json", text.encode()), _NO_LIMITS, strict=True),)
    except (KueueError, msgspec.DecodeError):
        return None


def fast(text: str | bytes, limits: Limits = _NO_LIMITS) -> tuple[Any] | None:
    """The same by the fast reader alone; `None` where anything in it must go the exact reader."""
    data = text.encode() if isinstance(text, str) else text
    reader = FastReader(Text("f.yaml", data), limits)
    if reader.is_unsupported:
        return None
    if not reader.is_list:
        return (reader.value,)

    def refuse(_: Text) -> Any:
        raise _UnsupportedError

    try:
        items = list(reader.items(refuse))
    except _UnsupportedError:
        return None
    if None in items:
        return None
    return ({**reader.value, "items": [item[0] for item in items if item is not None]},)


class _UnsupportedError(Exception):
    """An item is left to the exact reader."""


def run(documents: int, seed: int, *, tell: Callable[[int], None] | None = None) -> str:
    """Reads that many documents in every way.

    Returns:
        A script that repeats what was found first; empty if all holds.
    """
    mutator = Mutator(seed)
    for number in range(1, documents + 1):
        text = mutator.text()
        try:
            hold(text)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is a finding
            what = f"{type(error).__name__}: {error}".replace("\n", " ")
            return f"from kueuepy.testing.fuzz import hold\n\n# document {number}: {what}\nhold({text!r})\n"
        if tell is not None and number % _TOLD == 0:
            tell(number)
    return ""


def hold(text: str) -> None:
    """Reads a document in every way.

    Raises:
        AssertionError: Two ways read it otherwise, or what was read is not what is read once it is written.
    """
    by_events = exact(text)
    assert repr(exact(text, libyaml=False)) == repr(by_events), "the parsers of YAML disagree"
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
