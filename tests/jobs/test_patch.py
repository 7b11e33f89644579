"""Merge patches, and the property that a stop reverts a start."""

import copy

from hypothesis import given
from hypothesis import strategies as st

from kueuepy.jobs import patch
from kueuepy.jobs.template import PodSetInfo, Section, inject, restore, sanitized, without_nulls

TEXTS = st.text("abc", min_size=1, max_size=2)
LABELS = st.dictionaries(TEXTS, TEXTS, max_size=3)
SCALARS = st.one_of(st.integers(0, 3), st.booleans(), TEXTS)
VALUES = st.recursive(SCALARS, lambda v: st.lists(v, max_size=3) | st.dictionaries(TEXTS, v, max_size=3), max_leaves=8)
MANIFESTS = st.dictionaries(TEXTS, VALUES, max_size=4)
TOLERATIONS = st.lists(
    st.fixed_dictionaries({"key": TEXTS}, optional={"operator": st.just("Equal"), "value": TEXTS}), max_size=2
)
GATES = st.lists(TEXTS, unique=True, max_size=2)
SPECS = st.fixed_dictionaries(
    {"containers": st.just([])},
    optional={
        "nodeSelector": LABELS,
        "tolerations": TOLERATIONS,
        "schedulingGates": GATES.map(lambda names: [{"name": name} for name in names]),
    },
)
TEMPLATES = st.fixed_dictionaries(
    {"spec": SPECS},
    optional={"metadata": st.fixed_dictionaries({}, optional={"labels": LABELS, "annotations": LABELS, "name": TEXTS})},
)
UPPER = st.dictionaries(TEXTS.map(str.upper), TEXTS, max_size=2)
INFOS = st.builds(
    PodSetInfo,
    labels=UPPER,
    annotations=UPPER,
    node_selector=UPPER,
    tolerations=TOLERATIONS.map(tuple),
    scheduling_gates=GATES.map(tuple),
)


@given(MANIFESTS, MANIFESTS)
def test_the_patch_between_two_manifests_converts_one_to_the_other(before, after):
    change = patch.diff(before, after)
    assert repr_sorted(patch.apply(before, change)) == repr_sorted(after)
    assert (change == {}) == (repr_sorted(before) == repr_sorted(after))


def repr_sorted(value):
    """Return a text that distinguishes 1 from true and ignores the order of keys."""
    if isinstance(value, dict):
        return repr(sorted((key, repr_sorted(item)) for key, item in value.items()))
    return repr([repr_sorted(item) for item in value]) if isinstance(value, list) else repr(value)


@given(MANIFESTS, MANIFESTS)
def test_a_patch_does_not_change_its_input(before, after):
    copied = copy.deepcopy(before)
    patch.apply(before, patch.diff(before, after))
    assert before == copied


@given(TEMPLATES, INFOS)
def test_injected_pod_set_info_can_be_restored(template, info):
    started = copy.deepcopy(template)
    inject(Section("Job", "", started), info)
    restore(Section("Job", "", started), template)
    assert started == template


@given(TEMPLATES, INFOS)
def test_injection_adds_everything_and_loses_nothing(template, info):
    started = copy.deepcopy(template)
    inject(Section("Job", "", started), info)
    labels = started.get("metadata", {}).get("labels", {})
    assert labels == template.get("metadata", {}).get("labels", {}) | info.labels
    spec = started["spec"]
    assert spec.get("nodeSelector", {}) == template["spec"].get("nodeSelector", {}) | info.node_selector
    gates = [gate["name"] for gate in spec.get("schedulingGates", [])]
    assert set(info.scheduling_gates) <= set(gates)
    assert len(gates) == len(set(gates))
    before = template["spec"].get("tolerations", [])
    assert spec.get("tolerations", [])[: len(before)] == before


@given(TEMPLATES, INFOS)
def test_repeated_injection_has_no_effect(template, info):
    once = copy.deepcopy(template)
    inject(Section("Job", "", once), info)
    twice = copy.deepcopy(once)
    inject(Section("Job", "", twice), info)
    assert once == twice


def test_a_repeated_environment_variable_keeps_its_last_value_and_first_position():
    env = [{"name": "A", "value": "1"}, {"name": "B"}, {"name": "A", "value": "2"}]
    template = {"spec": {"containers": [{"env": env}], "initContainers": [{"env": env[:1]}]}}
    spec = sanitized(template)["spec"]
    assert spec["containers"][0]["env"] == [{"name": "A", "value": "2"}, {"name": "B"}]
    assert spec["initContainers"][0]["env"] == env[:1]
    assert len(template["spec"]["containers"][0]["env"]) == 3


def test_a_field_that_is_null_is_absent():
    assert without_nulls({"a": None, "b": [{"c": None, "d": 1}], "e": {"f": None}}) == {"b": [{"d": 1}], "e": {}}
