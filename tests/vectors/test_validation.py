"""Recorded results of an API server with Kueue's CRDs and webhooks: accepted objects and errors."""

from __future__ import annotations

import re
from typing import Any

import msgspec
import pytest

from kueuepy.errors import DuplicateError
from kueuepy.manifest import ManifestError, from_dict, load, to_dict, validate_update
from kueuepy.manifest.convert import read_object, split_api_version
from kueuepy.manifest.findings import Findings
from kueuepy.manifest.kinds import KINDS
from kueuepy.manifest.validation.update import plain
from kueuepy.manifest.versions import to_v1beta2
from kueuepy.objects.times import SECOND, parse_time
from vectors.files import lines

WITHOUT_RECORD = {"ProvisioningRequestConfig", "MultiKueueConfig", "MultiKueueCluster"}


def created(text: bytes) -> tuple[Any, list[str]]:
    """The object of a manifest, or the fields that are wrong."""
    try:
        manifest = load(text)
    except ManifestError as error:
        return None, [problem.field for _, problem in error.problems]
    except DuplicateError:
        return None, [""]
    found = [*manifest.objects(), *manifest.others]
    return (found[0], []) if found else (None, [""])


def changed(old: dict[str, Any], new: dict[str, Any], version: str) -> tuple[Any, list[str]]:
    """The new state of an object, or the fields that are wrong."""
    before, wrong = created(msgspec.json.encode(old))
    assert not wrong, "the state before is not valid"
    try:
        after = from_dict(new)
    except ManifestError as error:
        return None, [problem.field for _, problem in error.problems]
    wrong = [problem.field for problem in validate_update(before, after, version=version)]
    return (None, wrong) if wrong else (after, [])


def answer(case: dict[str, Any]) -> tuple[Any, list[str]]:
    if "old" in case and case["kind"] not in WITHOUT_RECORD:
        return changed(case["old"], case["object"], case["version"])
    text = case.get("yaml") or case.get("text")
    return created(text.encode() if text else msgspec.json.encode(case["object"]))


def steps(field: str) -> tuple[str, ...]:
    """The steps of a path. Items of lists, which Kueue names by position or key, count as their list."""
    items = re.sub(r"\[\d+\]|(?<=reclaimablePods)(\[[^\]]*\]|\.main)", "", field.replace('"', ""))
    return tuple(step for step in re.split(r"[.\[\]]", items) if step)


def agree(one: str, other: str) -> bool:
    """Whether two fields are the same, one within the other, or beside each other in one object."""
    a, b = steps(one), steps(other)
    shorter = min(len(a), len(b))
    return a[:shorter] == b[:shorter] or (len(a) == len(b) > 1 and a[:-1] == b[:-1])


def without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: without_nulls(part) for name, part in value.items() if part is not None}
    return [without_nulls(part) for part in value] if isinstance(value, list) else value


def stored(doc: dict[str, Any]) -> Any:
    """The record of an object as the server stores it; what is stored once need not be valid for a new object."""
    doc = without_nulls(doc)
    group, version = split_api_version(doc)
    return read_object(KINDS[group, doc["kind"]], to_v1beta2(group, version, doc, Findings()), Findings())


def in_seconds(value: Any) -> Any:
    """The value with times as the server stores them."""
    if isinstance(value, dict):
        return {name: in_seconds(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [in_seconds(part) for part in value]
    time = parse_time(value) if isinstance(value, str) else None
    return value if time is None else time // SECOND


def meaning(obj: Any) -> dict[str, Any]:
    doc = in_seconds(to_dict(obj))
    metadata = {name: doc["metadata"].get(name) or {} for name in ("labels", "annotations")}
    return {**plain(type(obj).__name__, {name: part for name, part in doc.items() if name != "metadata"}), **metadata}


@pytest.mark.parametrize("case", lines("validation"))
def test_an_object_is_validated_like_by_an_api_server(case: dict[str, Any]):
    found, wrong = answer(case)
    expected = case["expect"]
    assert (not wrong) == expected["accepted"], (case["what"], wrong, expected.get("fields"))
    if wrong and any(wrong) and any(expected["fields"]):
        pairs = [(one, other) for one in wrong for other in expected["fields"] if one and other]
        assert any(agree(one, other) for one, other in pairs), (case["what"], wrong, expected["fields"])
    if not wrong and not isinstance(found, dict):
        kept = stored(expected["object"])
        if kept is None:  # written in v1beta1, the object is stored as one that v1beta2 would refuse
            assert case["version"] == "v1beta1"
        else:
            assert meaning(found) == meaning(kept), case["what"]
