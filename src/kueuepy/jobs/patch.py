"""JSON merge patches (RFC 7386). A patch is a manifest that contains only the changed fields.

A null field in the patch removes the field, a mapping is patched field by field, and a value of any other type replaces
the old value. Lists are replaced as a whole. `kubectl patch --type merge` accepts JSON merge patches.
"""

import copy
from typing import Any

from kueuepy.jobs.template import Document


def diff(before: Document, after: Document) -> Document:
    """Return the smallest merge patch that changes one manifest to the other; empty if the manifests are equal.

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
    """Return a copy of the manifest with the patch applied.

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
    """Return whether two values are equal in YAML, which distinguishes `1` from `true`."""
    if isinstance(old, list) and isinstance(new, list):
        return len(old) == len(new) and all(map(_same, old, new))
    if isinstance(old, dict) and isinstance(new, dict):
        return old.keys() == new.keys() and all(_same(old[key], new[key]) for key in old)
    # Python treats 1, 1.0 and True as equal.
    return type(old) is type(new) and bool(old == new)
