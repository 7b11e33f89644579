"""Written objects can be read back: values of wrong types are detected before."""

from types import MappingProxyType

import pytest

import kueuepy as kq
from kueuepy.manifest import validate
from kueuepy.objects.readable import fault_of, read_again
from kueuepy.session import calls


class Text(str):
    """A text of a class of its own, as NumPy has them."""

    __slots__ = ()


def workload(**fields):
    pods = fields.pop("pod_sets", (kq.PodSet.of(requests={"cpu": 1}),))
    return kq.Workload("w", pod_sets=pods, **fields)


SPEC = "spec.podSets[0].template.spec"
WRONG = [
    (workload(queue_name=None), "spec.queueName: is null; it must be a string"),
    (workload(active=None), "spec.active: is null; it must be a boolean"),
    (workload(labels=None), "metadata.labels: is null; it must be a mapping"),
    (workload(namespace=None), "metadata.namespace: is null; it must be a string"),
    (workload(pod_sets=[kq.PodSet("m", None)]), "spec.podSets[0].count: is null; it must be an integer"),
    (workload(pod_sets=[5]), "spec.podSets[0]: is an integer; it must be a mapping"),
    (workload(annotations={"a": "\ud800"}), "cannot be written ('utf-8' codec can't encode"),
    (workload(pod_sets=[kq.PodSet(template={"spec": {"hostname": 2**64}})]), f"{SPEC}.hostname: is 184467"),
    (workload(pod_sets=[kq.PodSet(template={"spec": {"volumes": [b"x"]}})]), f"{SPEC}.volumes[0]: is "),
    (workload(pod_sets=[kq.PodSet(template={"spec": {"volumes": [{1: 2}]}})]), f"{SPEC}.volumes[0].1: unknown field"),
    (kq.LocalQueue("q", cluster_queue=None), "spec.clusterQueue: is null; it must be a string"),
    (kq.LocalQueue("q", cluster_queue="a", stop_policy=None), "spec.stopPolicy: is null; it must be a string"),
    (kq.ClusterQueue("q", queueing_strategy=None), "spec.queueingStrategy: is null; it must be a string"),
    (kq.ClusterQueue("q", preemption=5), "spec.preemption: is 5, a number; it must be a mapping"),
    (kq.Configuration(feature_gates=5), "featureGates: is an integer; it must be a mapping"),
    (kq.Configuration(wait_for_pods_ready=True), "waitForPodsReady: is a boolean; it must be a mapping or null"),
    (
        kq.Configuration(wait_for_pods_ready=kq.objects.WaitForPodsReady(timeout=None)),
        "waitForPodsReady.timeout: is null; it must be an integer",
    ),
    (5, "is of the class int; it must be one of Kueue's objects"),
    (kq.Toleration("spot"), "is of the class Toleration; it must be one of Kueue's objects"),
]


@pytest.mark.parametrize(("obj", "expected"), WRONG, ids=[expected for _, expected in WRONG])
def test_an_object_that_cannot_be_read_back_is_invalid(obj, expected):
    (problem,) = validate(obj)
    assert str(problem).startswith(expected)


def test_integers_are_valid_as_floats_and_tuples_as_lists():
    weights = kq.objects.AdmissionFairSharing(resource_weights={"cpu": 1})
    assert fault_of(kq.Configuration(admission_fair_sharing=weights)) is None
    assert fault_of({"containers": ({"name": "a"},), "big": 2**64 - 1, "small": -(2**63), "part": 0.5}) is None


@pytest.mark.parametrize("value", [2**64, -(2**63) - 1, "\ud800", float("nan"), b"x", {1: 2}, object], ids=repr)
def test_a_mapping_is_plain_data(value):
    (path, detail) = fault_of({"a": [value]})
    assert path == ()
    assert "it must be plain data: strings in Unicode, numbers" in detail


def test_a_record_converts_its_values_to_plain_data():
    updates = (MappingProxyType({"name": Text(name)}) for name in ("main", "more"))
    read = read_again(calls.SetCheck(Text("w"), Text("c"), "Ready", pod_set_updates=updates))
    assert read == calls.SetCheck("w", "c", "Ready", pod_set_updates=({"name": "main"}, {"name": "more"}))
    assert type(read.workload) is str


@pytest.mark.parametrize(
    ("call", "path", "detail"),
    [
        (
            calls.Finish("w", "Ready"),
            ("reason",),
            "is 'Ready'; it must be one of Succeeded, Failed, FailedToStart, OutOfSync, OwnerNotFound",
        ),
        (calls.Finish("w", "Failed", 5), ("message",), "is an integer; it must be a string"),
        (calls.Delete(b"w"), ("workload",), "is bytes; it must be a string"),
        (calls.Reclaim("w", {"main": "1"}), ("pods",), "holds a value that is a string; it must be an integer"),
        (calls.Reclaim("w", {5: 1}), ("pods",), "holds a key that is an integer; it must be a string"),
        (calls.Reclaim("w", pods=True), ("pods",), "is a boolean; it must be an integer or a mapping"),
        (calls.Settle(2.5), ("max_cycles",), "is a number; it must be an integer or null"),
    ],
)
def test_a_record_that_cannot_be_read_back_names_the_invalid_field(call, path, detail):
    with pytest.raises(ValueError, match="it must be") as error:
        read_again(call)
    assert error.value.args == (path, detail)
