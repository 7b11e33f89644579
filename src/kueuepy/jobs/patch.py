"""JSON merge patches (RFC 7386): what to change in a manifest, as a manifest of only what changes.

A field that is null in the patch is removed, a mapping is patched field by field, and anything else is put in place
of what was there. A list is always replaced as a whole. `kubectl patch --type merge` takes such a patch as it is.
"""

import copy
from typing import Any

from kueuepy.jobs.fields import Document


def diff(before: Document, after: Document) -> Document:
    """The smallest merge patch that turns one manifest into the other; empty if they are equal.

    >>> diff({"spec": {"suspend": True, "parallelism": 3}}, {"spec": {"suspend": False, "parallelism": 3}})
    {'spec': {'suspend': False}}
    """
    patch: Document = {key: None for key in before if key not in after}
    for key, value in after.items():
        old = before.get(key)
        if isinstance(value, dict) and isinstance(old, dict):
            inner = diff(old, value)
            if inner:
                patch[key] = inner
        elif key not in before or not _same(old, value):
            patch[key] = copy.deepcopy(value)
    return patch


def apply(manifest: Document, patch: Document) -> Document:
    """A copy of the manifest with the patch applied.

    >>> apply({"spec": {"suspend": True}}, {"spec": {"suspend": False}, "status": None})
    {'spec': {'suspend': False}}
    """
    result = copy.deepcopy(manifest)
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        elif isinstance(value, dict):
            old = result.get(key)
            result[key] = apply(old if isinstance(old, dict) else {}, value)
        else:
            result[key] = copy.deepcopy(value)
    return result


def _same(old: Any, new: Any) -> bool:
    """Whether two values read the same in YAML, where `1` and `true` differ."""
    if isinstance(old, list) and isinstance(new, list):
        return len(old) == len(new) and all(map(_same, old, new))
    if isinstance(old, dict) and isinstance(new, dict):
        return old.keys() == new.keys() and all(_same(old[key], new[key]) for key in old)
    return type(old) is type(new) and bool(old == new)
