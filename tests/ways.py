"""The fast reader through YAML and JSON by itself, for tests that hold it to the exact reader."""

from __future__ import annotations

from typing import Any

from kueuepy.manifest.text.fast import FastReader
from kueuepy.manifest.text.limits import Limits
from kueuepy.manifest.text.text import Text


class _UnsupportedError(Exception):
    """An item is left to the exact reader."""


def fast_value(text: str | bytes, limits: Limits = Limits()) -> tuple[Any] | None:  # noqa: B008
    """The value of a document, in a tuple; `None` where anything in it must go the exact reader."""
    data = text.encode() if isinstance(text, str) else text
    fast = FastReader(Text("f.yaml", data), limits)
    if fast.is_unsupported:
        return None
    if not fast.is_list:
        return (fast.value,)

    def refuse(_: Text) -> Any:
        raise _UnsupportedError

    try:
        items = list(fast.items(refuse))
    except _UnsupportedError:
        return None
    if None in items:
        return None
    return ({**fast.value, "items": [item[0] for item in items if item is not None]},)
