"""Topology requests from annotations, and the errors of Kueue's webhooks."""

import pytest

from kueuepy.errors import InvalidSpecError
from kueuepy.jobs import to_workload
from kueuepy.objects import Configuration

P = "kueue.x-k8s.io/"
REQUIRED, PREFERRED, FREE = (f"{P}podset-{kind}-topology" for kind in ("required", "preferred", "unconstrained"))
SLICE, SIZE = f"{P}podset-slice-required-topology", f"{P}podset-slice-size"
LAYERS, GROUP = f"{P}podset-slice-required-topology-constraints", f"{P}podset-group-name"
INDEX = {"podIndexLabel": "batch.kubernetes.io/job-completion-index"}


def request(manifest, **options):
    (pod_set,) = to_workload(manifest, **options).pod_sets
    return pod_set.topology_request


@pytest.mark.parametrize(
    ("annotations", "expected"),
    [
        ({}, {}),
        ({REQUIRED: "rack"}, {"required": "rack"}),
        ({PREFERRED: "example.com/block"}, {"preferred": "example.com/block"}),
        ({FREE: "true"}, {"unconstrained": True}),
        ({FREE: "F"}, {"unconstrained": False}),
        ({SLICE: "rack", SIZE: "4"}, {"podSetSliceRequiredTopology": "rack", "podSetSliceSize": 4}),
        (
            {REQUIRED: "block", LAYERS: '[{"topology": "rack", "size": 4}, {"topology": "host", "size": 2}]'},
            {
                "required": "block",
                "podsetSliceRequiredTopologyConstraints": [
                    {"topology": "rack", "size": 4},
                    {"topology": "host", "size": 2},
                ],
            },
        ),
    ],
)
def test_annotations_create_a_topology_request(job, annotations, expected):
    assert request(job(parallelism=8, pod_annotations=annotations)) == expected | INDEX


def test_a_kind_without_pod_indexes_has_no_implicit_topology_request(example):
    head, workers = to_workload(example("raycluster")).pod_sets
    assert head.topology_request is None
    assert workers.topology_request is None
    manifest = example("raycluster")
    manifest["spec"]["headGroupSpec"]["template"]["metadata"] = {"annotations": {REQUIRED: "rack"}}
    assert to_workload(manifest).pod_sets[0].topology_request == {"required": "rack"}


def test_without_topology_aware_scheduling_there_are_no_requests(job):
    off = Configuration(feature_gates={"TopologyAwareScheduling": False})
    assert request(job(pod_annotations={REQUIRED: "rack", PREFERRED: "rack"}), config=off) is None


@pytest.mark.parametrize(
    ("annotations", "problem"),
    [
        ({REQUIRED: "rack", PREFERRED: "rack"}, "must not contain more than one of them"),
        ({REQUIRED: "a rack"}, 'is "a rack"; it must be the name of a node label'),
        ({PREFERRED: "Ex!/rack"}, "it must be the name of a node label"),
        ({FREE: "perhaps"}, "it must be a boolean value"),
        ({SLICE: "rack"}, "has only one of .* give both or none"),
        ({SIZE: "4"}, "has only one of .* give both or none"),
        ({SLICE: "rack", SIZE: "0"}, "it must be 1 or more"),
        ({SLICE: "rack", SIZE: "four"}, "it must be a whole number of 32 bits"),
        ({SLICE: "rack", SIZE: "9" * 5000}, "it must be a whole number of 32 bits"),
        ({SLICE: "rack", SIZE: "9"}, "is 9; it must not be greater than the pod set's count, 8"),
        ({GROUP: "7", REQUIRED: "rack"}, 'is "7"; it must not be a number'),
        ({GROUP: "g"}, "needs .*; give one of them"),
        ({GROUP: "g", REQUIRED: "rack", SLICE: "host", SIZE: "2"}, "is given together with"),
        ({LAYERS: "rack"}, "it must be a JSON list"),
        ({LAYERS: '{"topology": "rack"}'}, "it must be a JSON list"),
        ({LAYERS: "[]"}, "has 0 layers; it must have 1 to 3"),
        ({LAYERS: '[{"topology": "rack", "size": 16}]'}, "is 16; it must not be greater than"),
        ({LAYERS: '[{"topology": "rack", "size": 0}]'}, "with size 0; it must be a node label, with 1 or more"),
        ({LAYERS: '[{"topology": "r", "size": 4}, {"topology": "r", "size": 2}]'}, "names a topology twice"),
        ({LAYERS: '[{"topology": "r", "size": 4}, {"topology": "h", "size": 3}]'}, "has size 3 within 4"),
        ({LAYERS: '[{"topology": "r", "size": 4}]', SLICE: "h", SIZE: "2"}, "use only one form"),
    ],
)
def test_invalid_topology_annotations_are_rejected(job, annotations, problem):
    with pytest.raises(InvalidSpecError, match=problem):
        to_workload(job(parallelism=8, pod_annotations=annotations))


def test_a_group_of_one_pod_set_is_rejected_except_for_a_job(job, example):
    grouped = {GROUP: "g", REQUIRED: "rack"}
    assert request(job(pod_annotations=grouped))["podSetGroupName"] == "g"
    manifest = example("raycluster")
    manifest["spec"]["headGroupSpec"]["template"]["metadata"] = {"annotations": grouped}
    with pytest.raises(InvalidSpecError, match="has 1 pod sets; a group must have exactly 2"):
        to_workload(manifest)


@pytest.mark.parametrize(
    ("text", "layers"),
    [
        ('[{"topology": "rack", "size": 2, "more": 1}]', [{"topology": "rack", "size": 2}]),
        ('[{"TOPOLOGY": "row", "topology": "rack", "Size": 2}]', [{"topology": "rack", "size": 2}]),
        ('[{"topology": "rack", "size": 2, "size": null}]', [{"topology": "rack", "size": 2}]),
    ],
)
def test_slice_layers_are_parsed_like_go_json(job, text, layers):
    found = request(job(parallelism=8, pod_annotations={LAYERS: text}))
    assert found["podsetSliceRequiredTopologyConstraints"] == layers


@pytest.mark.parametrize("text", ["[[]]", "[1]", '[{"topology": "rack", "size": 2.0}]', "[NaN]", "[" * 10_000, "null"])
def test_slice_layers_of_wrong_types_are_rejected(job, text):
    with pytest.raises(InvalidSpecError, match=r"it must be a JSON list|has 0 layers"):
        to_workload(job(parallelism=8, pod_annotations={LAYERS: text}))


def test_several_slice_layers_need_their_feature_gate(job):
    off = Configuration(feature_gates={"TASMultiLayerTopology": False})
    manifest = job(parallelism=8, pod_annotations={LAYERS: '[{"topology": "rack", "size": 4}]'})
    with pytest.raises(InvalidSpecError, match="needs the feature gate TASMultiLayerTopology"):
        to_workload(manifest, config=off)
