"""Properties of manifests: dumps load again, both YAML readers agree, and no input does harm."""

import itertools
import json
import time
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fuzz.documents import fast as fast_value
from kueuepy.errors import KueueError
from kueuepy.manifest import Limits, Manifest, dump, from_dict, load, to_dict, validate
from kueuepy.manifest.text.exact import parse
from kueuepy.manifest.text.reading import Item, read
from kueuepy.manifest.text.scalars import WORDS
from kueuepy.manifest.text.text import Text
from kueuepy.manifest.text.writing import yaml_text
from kueuepy.objects import (
    Admission,
    AdmissionCheck,
    AdmissionCheckState,
    AdmissionCheckStrategyRule,
    BorrowWithinCohort,
    ClusterQueue,
    Cohort,
    Condition,
    FairSharing,
    FlavorFungibility,
    LabelSelector,
    LabelSelectorRequirement,
    LocalQueue,
    Namespace,
    Object,
    PodSet,
    PodSetAssignment,
    Preemption,
    PriorityClassRef,
    Quota,
    ReclaimablePod,
    RequeueState,
    ResourceFlavor,
    ResourceGroup,
    Taint,
    Toleration,
    Topology,
    Workload,
    WorkloadPriorityClass,
    WorkloadStatus,
)
from kueuepy.objects.times import Timestamp


def exact(text: str) -> Any:
    return parse(Text("f.yaml", text.encode()), Limits(), strict=True)


names = st.from_regex(r"[a-z0-9]{1,8}(-[a-z0-9]{1,4})?", fullmatch=True)
words = st.from_regex(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,6}[A-Za-z0-9])?", fullmatch=True)
keys = st.one_of(words, st.builds("{}/{}".format, names, words))
labels = st.dictionaries(keys, words | st.just(""), max_size=3)
amounts = st.one_of(
    st.integers(0, 2**63 - 1), st.from_regex(r"[0-9]{1,6}(\.[0-9]{1,3})?(m|k|M|Gi|Ti|e3)?", fullmatch=True)
)
times = st.none() | st.integers(-(10**18), 4 * 10**18).map(Timestamp.of)
texts = st.text(st.characters(codec="utf-8"), max_size=20)
effects = st.sampled_from(["NoSchedule", "PreferNoSchedule", "NoExecute"])
metadata: dict[str, st.SearchStrategy[Any]] = {
    "labels": labels,
    "annotations": st.dictionaries(keys, texts, max_size=2),
    "uid": names | st.just(""),
    "creation_timestamp": times,
}


@st.composite
def resource_groups(draw: st.DrawFn, *, limits: bool) -> tuple[ResourceGroup, ...]:
    covered = draw(st.lists(keys, max_size=4, unique=True))
    flavors = draw(st.lists(names, min_size=1, max_size=4, unique=True))
    cut = draw(st.integers(0, len(covered)))

    def quota() -> Quota:
        nominal = draw(amounts)
        return (
            Quota(nominal, draw(st.none() | amounts), draw(st.none() | st.just(nominal))) if limits else Quota(nominal)
        )

    tables = [(covered[:cut], flavors[::2]), (covered[cut:], flavors[1::2])]
    return tuple(
        ResourceGroup.of({flavor: {name: quota() for name in part} for flavor in kinds})
        for part, kinds in tables
        if part and kinds
    )


selectors = st.builds(
    LabelSelector,
    labels,
    st.lists(
        st.builds(LabelSelectorRequirement, keys, st.just("In"), st.lists(words, min_size=1, max_size=2))
        | st.builds(LabelSelectorRequirement, keys, st.just("Exists")),
        max_size=2,
    ),
)
weights = st.none() | st.builds(FairSharing, st.sampled_from(["0", "1", "0.5", 3]))


@st.composite
def cluster_queues(draw: st.DrawFn) -> ClusterQueue:
    cohort = draw(st.none() | names)
    groups = draw(resource_groups(limits=cohort is not None))
    flavors = [quotas.name for group in groups for quotas in group.flavors]
    rules = st.builds(
        AdmissionCheckStrategyRule,
        names,
        st.lists(st.sampled_from(flavors), unique=True, max_size=2) if flavors else st.just(()),
    )
    return draw(
        st.builds(
            ClusterQueue,
            names,
            resource_groups=st.just(groups),
            cohort_name=st.just(cohort),
            queueing_strategy=st.sampled_from(["StrictFIFO", "BestEffortFIFO"]),
            namespace_selector=st.none() | selectors,
            flavor_fungibility=st.sampled_from(
                [FlavorFungibility(), FlavorFungibility("TryNextFlavor", "TryNextFlavor", "PreemptionOverBorrowing")]
            ),
            preemption=st.builds(
                Preemption,
                st.sampled_from(["LowerPriority", "Any"]),
                st.sampled_from(["Never", "LowerPriority", "LowerOrNewerEqualPriority"]),
                st.builds(
                    BorrowWithinCohort,
                    st.sampled_from(["Never", "LowerPriority"]),
                    st.none() | st.integers(-(2**31), 2**31 - 1),
                ),
            ),
            admission_checks_strategy=st.lists(rules, max_size=2, unique_by=lambda rule: rule.name),
            stop_policy=st.sampled_from(["None", "Hold", "HoldAndDrain"]),
            fair_sharing=weights,
            admission_scope=st.sampled_from([None, "NoAdmissionFairSharing", "UsageBasedAdmissionFairSharing"]),
            **metadata,
        )
    )


pod_sets = st.builds(
    PodSet.of,
    names,
    st.integers(0, 100),
    requests=st.dictionaries(keys, amounts, max_size=2),
    node_selector=labels,
    tolerations=st.lists(st.builds(Toleration, keys, st.just("Exists"), effect=effects), max_size=1),
    topology_request=st.sampled_from([None, {"required": "rack"}]),
)


@st.composite
def workloads(draw: st.DrawFn) -> Workload:
    sets = draw(st.lists(pod_sets, max_size=3, unique_by=lambda pod_set: pod_set.name))
    ref = draw(
        st.none() | st.builds(PriorityClassRef, st.just("kueue.x-k8s.io"), st.just("WorkloadPriorityClass"), names)
    )
    priorities = st.integers(-(2**31), 2**31 - 1)
    admission = Admission(
        draw(names),
        tuple(PodSetAssignment(p.name, draw(st.dictionaries(keys, names, max_size=1)), {}, p.count) for p in sets),
    )
    moments = st.integers(0, 4 * 10**18).map(Timestamp.of)
    statuses = st.builds(
        WorkloadStatus,
        conditions=st.lists(
            st.builds(Condition, words, st.sampled_from(["True", "False"]), st.just("Reason"), texts, moments),
            max_size=2,
            unique_by=lambda condition: condition.type,
        ),
        admission=st.sampled_from([None, admission]),
        requeue_state=st.none() | st.builds(RequeueState, st.integers(0, 9), times),
        reclaimable_pods=st.just([ReclaimablePod(pod_set.name, pod_set.count) for pod_set in sets]),
        admission_checks=st.lists(st.builds(AdmissionCheckState, names, st.just("Ready"), texts, moments), max_size=1),
    )
    return draw(
        st.builds(
            Workload,
            names,
            namespace=names,
            queue_name=names | st.just(""),
            pod_sets=st.just(sets),
            priority=st.none() | priorities if ref is None else priorities,
            priority_class_ref=st.just(ref),
            active=st.booleans(),
            maximum_execution_time_seconds=st.none() | st.integers(1, 10**6),
            preemption_gates=st.lists(names, max_size=2, unique=True),
            status=st.none() | statuses.filter(lambda status: status != WorkloadStatus()),
            **metadata,
        )
    )


objects: st.SearchStrategy[Object] = st.one_of(
    cluster_queues(),
    workloads(),
    st.builds(
        ResourceFlavor,
        names,
        node_labels=labels.filter(bool),
        node_taints=st.lists(st.builds(Taint, keys, words, effects), max_size=2, unique_by=lambda taint: taint.key),
        topology_name=st.none() | names,
        **metadata,
    ),
    st.builds(
        Cohort,
        names,
        parent_name=st.none() | names,
        resource_groups=resource_groups(limits=False),
        fair_sharing=weights,
    ),
    st.builds(LocalQueue, names, namespace=names, cluster_queue=names, fair_sharing=weights, **metadata),
    st.builds(AdmissionCheck, names, controller_name=texts.filter(bool), active=st.booleans()),
    st.builds(WorkloadPriorityClass, names, value=st.integers(-(2**31), 2**31 - 1), description=texts),
    st.builds(Topology, names, levels=st.lists(keys, min_size=1, max_size=3, unique=True)),
    st.builds(Namespace, names, labels=labels),
)


@given(objects)
def test_an_object_survives_conversion_to_json(obj: Object):
    assert from_dict(to_dict(obj)) == obj
    assert from_dict(json.loads(json.dumps(to_dict(obj)))) == obj


@given(objects)
def test_generated_objects_are_valid(obj: Object):
    assert validate(obj) == []


@given(st.lists(objects, max_size=5, unique_by=lambda obj: (type(obj), obj.key)))
def test_dumped_objects_load_again(several: list[Object]):
    manifest = Manifest.of(*several)
    text = dump(manifest)
    assert load(text) == manifest
    assert dump(load(text)) == text
    listed = {"apiVersion": "v1", "kind": "List", "items": [to_dict(obj) for obj in manifest.objects()]}
    assert load(json.dumps(listed)) == manifest
    assert load(yaml_text([listed])) == manifest


scalars = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**63), 2**64 - 1), st.floats(allow_nan=False, allow_infinity=False), texts
)
values = st.recursive(
    scalars | st.sampled_from(sorted(WORDS)),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)


def as_written(value: Any) -> Any:
    """The value as YAML gives it back: a float without a fraction is the integer that it is written as."""
    if isinstance(value, dict):
        return {key: as_written(item) for key, item in value.items()}
    if isinstance(value, list):
        return [as_written(item) for item in value]
    return int(Decimal(repr(value))) if isinstance(value, float) and value.is_integer() else value


@given(st.dictionaries(texts, values, min_size=1, max_size=4))
def test_any_written_value_is_read_back(value: dict[str, Any]):
    text = yaml_text([value])
    assert exact(text) == as_written(value)
    assert fast_value(text) in (None, (as_written(value),))
    for indent in (None, 4):
        assert fast_value(json.dumps(value, indent=indent)) in (None, (as_written(value),))


plain = st.one_of(
    st.sampled_from(sorted(WORDS)),
    st.from_regex(r"[-+.0-9_exXoObBaAfF]{1,8}", fullmatch=True),
    st.from_regex(r"[a-zA-Z.:/ '\"#&*!<>|%@{}\[\],?-]{1,6}", fullmatch=True),
    st.sampled_from(
        [".inf", "-.INF", ".nan", "inf", "Infinity", "<<", "'yes'", '"no"', "!!str 5", "&a b", "*a", "|\n  x", "# c"]
    ),
)
lines = st.lists(
    st.tuples(
        st.sampled_from(["", "  ", "    ", "- ", "  - ", "? "]), plain, st.sampled_from([": ", ":", " ", ""]), plain
    ),
    max_size=6,
)


def fast_is_exact(text: str) -> bool:
    """Return whether the fast reader accepts a text; check that the exact reader then agrees."""
    fast = fast_value(text)
    if fast is None:
        return False
    assert fast == (exact(text),)
    return True


@settings(max_examples=600)
@given(lines)
def test_both_yaml_readers_agree(parts: list[tuple[str, str, str, str]]):
    fast_is_exact("\n".join("".join(part) for part in [*parts, ("", "", "", "")]))


breaks = st.sampled_from(["\n", " \n", "\n\n", "\n  \n\n"])
wordy = st.sampled_from(["a", "b:c", "#d", "e#", "it''s", "-", "é", "12", "yes", '"', "\\"])


@st.composite
def scalars_as_written(draw: st.DrawFn, indent: int) -> str:
    """A scalar as kubectl might write it, in one line or folded."""
    words_ = draw(st.lists(wordy, min_size=1, max_size=5))
    gap = st.just(" ") | breaks.map(lambda text: text + " " * draw(st.integers(max(indent - 1, 0), indent + 3)))
    text = words_[0] + "".join(draw(gap) + word for word in words_[1:])
    form = draw(st.integers(0, 4))
    if form == 0:
        return text
    if form == 1:
        return f"'{text}'"
    if form == 2:
        return '"' + text.replace("\\", draw(st.sampled_from(["\\n", "\\ ", "\\\n  ", "\\x41", '\\"']))) + '"'
    if form == 3:
        inner = "".join(" " * (indent + draw(st.integers(0, 2))) + word + draw(breaks) for word in words_)
        return f"|{draw(st.sampled_from(['', '-', '+']))}\n{inner}".rstrip("\n")
    return draw(st.sampled_from(["{}", "[]", "", "5", "1.5", "yes", "64Gi", "2026-01-31T10:00:00Z"]))


@st.composite
def blocks(draw: st.DrawFn, indent: int = 0, depth: int = 0) -> str:
    """A mapping or a list of lines."""
    lines_ = []
    is_list = draw(st.booleans())
    for number in range(draw(st.integers(1, 4))):
        head = " " * indent + (
            "-" if is_list else f"{draw(st.sampled_from(['a', 'k/b.c', 'items', 'template']))}{number}:"
        )
        if depth < 2 and draw(st.integers(0, 2)) == 0:
            deeper = indent + draw(st.integers(1, 3)) if is_list else indent + draw(st.integers(0, 2))
            body = "\n" + draw(blocks(deeper, depth + 1))
        else:
            body = " " + draw(scalars_as_written(indent + 1))
        comment = draw(st.sampled_from(["", "", "", " # c", "\n# d"]))
        lines_.append(head + body + comment)
    return "\n".join(lines_)


@settings(max_examples=400)
@given(blocks(), st.sampled_from(["", "\n"]))
def test_both_yaml_readers_agree_on_blocks(text: str, end: str):
    fast = fast_value(text + end)
    if fast is not None:
        assert fast == (exact(text + end),)


def test_the_fast_reader_is_used_where_it_should_be():
    taken = [0, 0]

    @settings(max_examples=200, database=None)
    @given(blocks())
    def count(text: str) -> None:
        taken[fast_is_exact(text + "\n")] += 1

    count()
    assert taken[True] > sum(taken) / 10


@settings(max_examples=300)
@given(st.lists(objects, min_size=1, max_size=5, unique_by=lambda obj: (type(obj), obj.key)), *[st.booleans()] * 2)
def test_list_items_read_one_by_one_equal_those_of_the_whole_list(several: list[Object], as_json, is_unsupported):
    parts = json.loads(json.dumps([to_dict(obj) for obj in several]))
    listed = {"apiVersion": "v1", "items": parts, "kind": "List", "metadata": {}}
    text = json.dumps(listed, indent=4) if as_json else yaml_text([listed])
    if is_unsupported:  # an item goes the exact reader
        text = text.replace("metadata:\n", "metadata: # é\n", 1).replace('"name": "', '"name": "\\ud83d\\ude00', 1)
        listed["items"][0]["metadata"]["name"] = ("\U0001f600" if as_json else "") + several[0].name
    found = list(read("f.yaml", text.encode(), Limits(), strict=True))
    assert [item.value for item in found] == listed["items"]
    whole = Item(listed, Text("f.yaml", text.encode()))
    paths = [("kind",), ("metadata", "name")]
    for position, item in enumerate(found):
        for path in paths:
            assert item.where(path) == whole.where(("items", position, *path))


VALID = dump(
    [
        ClusterQueue.of("vision", {"h100": {"cpu": Quota(8, 2, 4)}}, cohort_name="org"),
        Workload("w", pod_sets=[PodSet.of(requests={"cpu": 1})], priority=5),
        ResourceFlavor("h100", node_labels={"gpu": "h100"}, node_taints=[Taint("k", "v", "NoSchedule")]),
    ]
)
pieces = st.sampled_from(
    [
        "[",
        "{",
        "- ",
        ": ",
        "\n",
        "  ",
        "&a ",
        "*a",
        "'",
        '"',
        "|",
        "!!int ",
        "null",
        "-1",
        "---\n",
        "\t",
        "#",
        "<<: ",
        "",
    ]
)


def loaded_or_refused(source: Any, *, strict: bool) -> Manifest | str:
    """Return the objects of a source, or the error that rejects it; other errors are bugs."""
    try:
        return load(source, strict=strict)
    except KueueError as error:
        return str(error)


edits = st.tuples(st.integers(0, len(VALID)), st.integers(0, 12), pieces)


@settings(max_examples=300)
@given(st.lists(edits, min_size=1, max_size=4), st.booleans())
def test_broken_files_are_rejected_within_the_time_limit(cuts: list[tuple[int, int, str]], strict: bool):  # noqa: FBT001
    text = VALID
    for start, length, piece in cuts:
        text = text[:start] + piece + text[start + length :]
    before = time.process_time()
    found = loaded_or_refused(text, strict=strict)
    assert time.process_time() - before < 5
    assert found
    if isinstance(found, Manifest):
        assert load(dump(found), strict=strict) == found


@given(st.dictionaries(st.sampled_from(["apiVersion", "kind", "metadata", "spec", "status", "items"]), values))
def test_any_document_is_read_or_rejected(doc: dict[str, Any]):
    doc = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueue", "metadata": {"name": "x"}, **doc}
    assert loaded_or_refused(doc, strict=True)
    assert loaded_or_refused(doc, strict=False)


KINDS = ["ClusterQueue", "Workload", "ResourceFlavor", "Node", "LimitRange", "Topology", "AdmissionCheck"]
FIELDS = """
    resourceGroups resources cohort admissionChecks admissionChecksStrategy flavorFungibility preemption podSets
    priorityClassRef preemptionGates admission levels limits parameters namespaceSelector taints admissionScope
    conditions requeueState reclaimablePods unhealthyNodes capacity
"""
SHAPES: list[Any] = [
    *(None, 5, "x", [], [5], [[]], [{}], {}),
    {"admissionChecks": 5},
    [{"template": 5}],
    [{"name": 5, "flavors": [5]}],
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("version", ["v1alpha1", "v1alpha2", "v1beta1", "v1beta2"])
def test_specs_of_any_shape_are_read_or_rejected(kind: str, version: str):
    group = "v1" if kind in ("Node", "LimitRange") else f"kueue.x-k8s.io/{version}"
    for value, field in itertools.product(SHAPES, FIELDS.split()):
        part = {field: value}
        doc = {"apiVersion": group, "kind": kind, "metadata": {"name": "x"}, "spec": part, "status": part}
        assert loaded_or_refused(doc, strict=True)
        assert loaded_or_refused(doc, strict=False)
