"""Pod templates: errors with locations, and equivalence of pods for the scheduler."""

from __future__ import annotations

import pytest

from kueuepy._core import pod_requests
from kueuepy.errors import InvalidSpecError
from kueuepy.objects import LimitRange, LimitRangeItem, RuntimeClass
from rules import rules


def pod(requests=None, limits=None, container=None, **spec):
    resources = {"requests": requests or {}, "limits": limits or {}}
    return {"spec": {"containers": [{"resources": resources, **(container or {})}], **spec}}


AFFINITY = "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution"


def terms(*items):
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": list(items)}}}


@pytest.mark.parametrize(
    ("template", "place"),
    [
        ({"spec": []}, "template.spec: it must be an object"),
        ({"spec": {"containers": {}}}, "template.spec.containers: it must be a list"),
        ({"spec": {"containers": ["a"]}}, r"template.spec.containers\[0\]: it must be an object"),
        ({"spec": {"containers": [{}, {"resources": 1}]}}, r"containers\[1\].resources: it must be an object"),
        (pod({"cpu": "1K"}), r'containers\[0\].resources.requests.cpu: quantity "1K": "K" is not a suffix'),
        (pod({"cpu": 1.5}), r"containers\[0\].resources.requests.cpu: it must be a quantity"),
        (pod({"cpu": None}), r"containers\[0\].resources.requests.cpu: it must be a quantity"),
        (pod(limits={"cpu": ""}), r"containers\[0\].resources.limits.cpu: quantity"),
        (pod(container={"restartPolicy": 1}), r"containers\[0\].restartPolicy: it must be a string"),
        (pod(container={"ports": [80]}), r"containers\[0\].ports\[0\]: it must be an object"),
        (pod(resources={"requests": []}), "spec.resources.requests: it must be an object"),
        (pod(overhead={"cpu": "x"}), "spec.overhead.cpu: quantity"),
        (pod(runtimeClassName=["a"]), "spec.runtimeClassName: it must be a string"),
        (pod(nodeSelector={"zone": 1}), "spec.nodeSelector: its keys and values must be strings"),
        (pod(tolerations=[None]), r"spec.tolerations\[0\]: it must be an object"),
        (pod(tolerations=[{"key": 1}]), r"spec.tolerations\[0\].key: it must be a string"),
        (pod(affinity=terms(1)), rf"{AFFINITY}.nodeSelectorTerms\[0\]: it must be an object"),
        (
            pod(affinity=terms({"matchExpressions": [{"key": "a", "operator": "In", "values": [1]}]})),
            rf"{AFFINITY}.nodeSelectorTerms\[0\].matchExpressions\[0\].values: it must be a list of strings",
        ),
    ],
)
def test_errors_name_the_location(template, place):
    with pytest.raises(InvalidSpecError, match=place):
        pod_requests(template)


def test_fields_irrelevant_for_admission_may_have_any_value():
    template = pod({"cpu": 1}, container={"image": 1, "env": "x"}, volumes=3, hostNetwork="maybe")
    assert pod_requests(template) == {"cpu": 1000}


ALIKE = [
    (pod({"cpu": "1"}), pod({"cpu": "1000m"})),
    (pod({"cpu": "1.5"}), pod({"cpu": "1500m"})),
    (pod({"cpu": 1, "memory": "1Gi"}), pod({"memory": "1Gi", "cpu": "1"})),
    (pod({"cpu": "1"}), pod(limits={"cpu": "1"})),
    (pod({"cpu": "1"}), pod({"cpu": "1"}, {"cpu": "2"})),
    (pod({"cpu": "1"}, {"cpu": "+2"}), pod({"cpu": "1"}, {"cpu": "2"})),
    (pod(container={"name": "a", "image": "x"}), pod(container={"name": "b", "image": "y"})),
    (
        pod(container={"ports": [{"containerPort": 1}]}),
        pod(container={"ports": [{"containerPort": 1, "protocol": "TCP"}]}),
    ),
    (pod(nodeSelector={"a": "1", "b": "2"}), pod(nodeSelector={"b": "2", "a": "1"})),
    (pod(tolerations=[{"key": "a", "value": ""}]), pod(tolerations=[{"key": "a"}])),
    (pod(), pod(priorityClassName="high", volumes=[])),
]

UNLIKE = [
    (pod({"cpu": "1"}), pod({"cpu": "2"})),
    (pod({"cpu": "1"}), pod({"memory": "1"})),
    (pod({"memory": "1Ki"}), pod({"memory": "1024"})),
    (pod({"cpu": "5"}), pod({"cpu": "+5"})),
    (pod({"cpu": "5"}), pod(limits={"cpu": "+5"})),
    (pod({"cpu": "1"}), pod({"cpu": "1"}, {"memory": "1"})),
    (pod(), {"spec": {"containers": [{}, {}]}}),
    (pod(), {"spec": {"initContainers": [{}], "containers": []}}),
    (pod(container={"ports": [{"containerPort": 1}]}), pod(container={"ports": [{"containerPort": 2}]})),
    (pod(), pod(nodeSelector={"a": "1"})),
    (pod(nodeSelector={"a": "11", "b": "2"}), pod(nodeSelector={"a": "1", "1b": "2"})),
    (pod(), pod(affinity=terms({"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n"]}]}))),
    (pod(tolerations=[{"key": "a"}]), pod(tolerations=[{"key": "a", "operator": "Exists"}])),
    (pod(tolerations=[{"tolerationSeconds": 1}]), pod(tolerations=[{"tolerationSeconds": "1"}])),
    (pod(), pod(runtimeClassName="kata")),
    (pod(), pod(priority=1)),
    (pod(), pod(topologySpreadConstraints=[{"maxSkew": 1}])),
    (pod(), pod(overhead={"cpu": "1"})),
    (pod(), pod(resourceClaims=[{"name": "gpu"}])),
    (pod(), pod(resources={"requests": {"cpu": "1"}})),
    (pod(), pod(resources={})),
]


@pytest.mark.parametrize(("one", "other"), ALIKE)
def test_equivalent_templates_are_equal(one, other):
    assert rules().pod_shape(one) == rules().pod_shape(other)


@pytest.mark.parametrize(("one", "other"), UNLIKE)
def test_different_templates_are_not_equal(one, other):
    assert rules().pod_shape(one) != rules().pod_shape(other)


def test_pods_are_equal_after_cluster_defaults():
    kata = RuntimeClass("kata", overhead={"cpu": "100m"})
    bare, written = pod(runtimeClassName="kata"), pod(runtimeClassName="kata", overhead={"cpu": "100m"})
    assert rules().pod_shape(bare) != rules().pod_shape(written)
    assert rules().pod_shape(bare, runtime_classes=[kata]) == rules().pod_shape(written, runtime_classes=[kata])

    ranges = [LimitRange("one", limits=(LimitRangeItem(type="Container", default_request={"cpu": "1"}),))]
    assert rules().pod_shape(pod(), limit_ranges=ranges) == rules().pod_shape(pod({"cpu": "1"}), limit_ranges=ranges)
