"""Objects with values of wrong types are read or rejected with a KueueError."""

from __future__ import annotations

import contextlib
import copy
import gzip
from pathlib import Path
from typing import Any

import msgspec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fuzz.mutation import JUNK, places
from kueuepy.errors import KueueError
from kueuepy.manifest import from_dict, load, validate_update

RECORDED = Path(__file__).parent.parent / "vectors" / "validation.jsonl.gz"


def accepted() -> list[dict[str, Any]]:
    """Return the recorded objects that an API server accepts."""
    with gzip.open(RECORDED, "rb") as file:
        cases = [msgspec.json.decode(line) for line in file]
    return [case["object"] for case in cases if "object" in case and case["expect"]["accepted"]]


OBJECTS = accepted()


@st.composite
def mutated(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, Any]]:
    """A valid object, and a copy with one to three parts replaced or removed."""
    base = draw(st.sampled_from(OBJECTS))
    doc = copy.deepcopy(base)
    for _ in range(draw(st.integers(1, 3))):
        path = draw(st.sampled_from(places(doc)[1:] or [("kind",)]))
        parent = doc
        for step in path[:-1]:
            parent = parent[step]
        if draw(st.booleans()) or path[-1] not in parent:
            parent[path[-1]] = copy.deepcopy(draw(st.sampled_from(JUNK)))
        else:
            del parent[path[-1]]
    return base, doc


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(mutated(), st.booleans())
def test_a_mutated_object_is_read_or_rejected(pair: tuple[dict[str, Any], dict[str, Any]], strict: bool):  # noqa: FBT001
    with contextlib.suppress(KueueError):
        load(pair[1], strict=strict)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(mutated())
def test_a_mutated_change_is_accepted_or_rejected(pair: tuple[dict[str, Any], dict[str, Any]]):
    with contextlib.suppress(KueueError):
        old, new = map(from_dict, pair)
        validate_update(old, new)
        validate_update(new, old)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(OBJECTS), st.sampled_from(JUNK), st.data())
def test_mutated_fields_of_old_api_versions_are_read_or_rejected(base: dict[str, Any], junk: Any, data: st.DataObject):
    doc = copy.deepcopy(base)
    doc["apiVersion"] = f"kueue.x-k8s.io/{data.draw(st.sampled_from(['v1alpha1', 'v1alpha2']))}"
    path = data.draw(st.sampled_from(places(doc)[1:]))
    parent = doc
    for step in path[:-1]:
        parent = parent[step]
    parent[path[-1]] = copy.deepcopy(junk)
    for strict in (True, False):
        with contextlib.suppress(KueueError):
            load(doc, strict=strict)
