"""The quick way through YAML and JSON by itself, for tests that hold it to the exact one."""

from __future__ import annotations

from typing import Any

from kueuepy.manifest.text.limits import Limits
from kueuepy.manifest.text.quick import Quick
from kueuepy.manifest.text.text import Text


class _OddError(Exception):
    """An item is odd."""


def quick_value(text: str | bytes, limits: Limits = Limits()) -> tuple[Any] | None:  # noqa: B008
    """The value of a document, in a tuple; `None` where anything in it must go the exact way."""
    data = text.encode() if isinstance(text, str) else text
    quick = Quick(Text("f.yaml", data), limits)
    if quick.is_odd:
        return None
    if not quick.is_list:
        return (quick.value,)

    def refuse(_: Text) -> Any:
        raise _OddError

    try:
        items = list(quick.items(refuse))
    except _OddError:
        return None
    if None in items:
        return None
    return ({**quick.value, "items": [item[0] for item in items if item is not None]},)
