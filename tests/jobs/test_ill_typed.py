"""Fields of wrong types are rejected by name, in every kind of job."""

import copy

import pytest

from job_manifests import NAMES
from job_manifests import example as written
from kueuepy.errors import InvalidSpecError, KueueError
from kueuepy.jobs import to_workload, to_workloads

ILL_TYPED = (5, "x", [5], {"a": 5})


def _paths(value, path=()):
    if path:
        yield path
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        yield from _paths(part, (*path, key))


def _changed(manifest, path, value):
    manifest = place = copy.deepcopy(manifest)
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return manifest


def _refusal(manifest, related):
    """Return the error that rejects it; empty if it is read. Other exceptions are not caught."""
    try:
        to_workloads([manifest], related=related)
    except KueueError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("name", NAMES)
def test_a_manifest_with_any_field_value_is_read_or_rejected(name):
    manifest, related = written(name)
    changed = [_changed(manifest, path, value) for path in _paths(manifest) for value in ILL_TYPED]
    refusals = [_refusal(one, related) for one in changed]
    assert any(refusals)


def test_a_manifest_with_any_value_in_referenced_objects_is_read_or_rejected():
    manifest, related = written("trainjob")
    (runtime,) = related
    changed = [_changed(runtime, path, value) for path in _paths(runtime) for value in ILL_TYPED]
    refusals = [_refusal(manifest, [one]) for one in changed]
    assert any(refusals)


@pytest.mark.parametrize(
    ("name", "path", "value", "problem"),
    [
        (
            "cronjob",
            ("jobTemplate", "metadata"),
            "nightly",
            r"spec.jobTemplate.metadata: is 'nightly'; it must be a mapping",
        ),
        (
            "appwrapper",
            ("components", 1, "template", "spec", "template", "spec", "containers", 0, "image"),
            5,
            r"spec.components\[1\].template.spec.template.spec.containers\[0\].image: is 5, a number",
        ),
        (
            "appwrapper",
            ("components", 1, "template", "spec", "template", "spec", "containers", 0, "resources"),
            {"requests": "1"},
            r"spec.components\[1\].template.spec.template.spec.containers\[0\].resources.requests: is .1., a string",
        ),
        (
            "appwrapper",
            ("components", 1, "template", "spec", "template", "metadata"),
            {"labels": 5},
            r"spec.components\[1\].template.spec.template.metadata.labels: is 5, a number; it must be a mapping",
        ),
    ],
)
def test_the_message_names_the_field(name, path, value, problem):
    manifest, related = written(name)
    with pytest.raises(InvalidSpecError, match=problem):
        to_workload(_changed(manifest, ("spec", *path), value), related=related)
