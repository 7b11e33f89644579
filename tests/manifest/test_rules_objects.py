"""Validation of flavors, topologies, checks, priority classes and Kubernetes objects."""

import pytest

from kueuepy.manifest import ManifestError, check, validate
from kueuepy.objects import (
    AdmissionCheck,
    LimitRange,
    LimitRangeItem,
    Namespace,
    Node,
    Object,
    PriorityClass,
    ResourceFlavor,
    RuntimeClass,
    Taint,
    Toleration,
    Topology,
    WorkloadPriorityClass,
)

PARAMETERS = {"apiGroup": "kueue.x-k8s.io", "kind": "ProvisioningRequestConfig", "name": "prov"}


def texts(obj: Object) -> list[str]:
    return [str(problem) for problem in validate(obj)]


VALID: list[Object] = [
    ResourceFlavor("empty"),
    ResourceFlavor("full", node_labels={f"a.b/l{i}": "v" for i in range(8)}, topology_name="racks"),
    ResourceFlavor("tainted", node_taints=[Taint(f"k{i}", "v", "NoSchedule") for i in range(8)]),
    ResourceFlavor("two-effects", node_taints=[Taint("k", "", "NoSchedule"), Taint("k", "", "NoExecute")]),
    ResourceFlavor("tolerant", tolerations=[Toleration(operator="Exists"), Toleration("k", "", "v", "NoExecute", 5)]),
    Topology("racks", levels=["block", "rack", "kubernetes.io/hostname"]),
    Topology("deep", levels=[f"l{i}" for i in range(16)]),
    AdmissionCheck("check", controller_name="kueue.x-k8s.io/provisioning-request", parameters=PARAMETERS),
    AdmissionCheck("long", controller_name="c" * 253),
    WorkloadPriorityClass("high", value=2**31 - 1, description="d" * 2048),
    PriorityClass("low", value=-(2**31)),
    Namespace("team-a"),
    LimitRange("limits", limits=[LimitRangeItem(type="Container", max={"cpu": 4}, default_request={"cpu": "100m"})]),
    RuntimeClass("gvisor", overhead={"memory": "64Mi"}),
    Node("n1", capacity={"cpu": 4}, taints=[Taint("a.b/c", "", "NoSchedule")], unschedulable=True),
]


@pytest.mark.parametrize("obj", VALID, ids=lambda obj: obj.name)
def test_valid(obj: Object):
    assert texts(obj) == []


INVALID: list[tuple[Object, str]] = [
    (ResourceFlavor("f", node_labels={f"l{i}": "" for i in range(9)}), "spec.nodeLabels: has 9 items; at most 8"),
    (ResourceFlavor("f", node_labels={"a/b/c": ""}), 'spec.nodeLabels[a/b/c]: is "a/b/c"; it must be a label key'),
    (ResourceFlavor("f", node_labels={"a": "-b"}), 'spec.nodeLabels.a: is "-b"; it must be a label value'),
    (ResourceFlavor("f", node_labels={"a": "b" * 64}), "spec.nodeLabels.a: is "),
    (
        ResourceFlavor("f", node_taints=[Taint(f"k{i}", "", "NoSchedule") for i in range(9)]),
        "spec.nodeTaints: has 9 items; at most 8",
    ),
    (
        ResourceFlavor("f", node_taints=[Taint("k")]),
        "spec.nodeTaints[0].effect: is required",
    ),
    (ResourceFlavor("f", node_taints=[Taint("", "", "NoExecute")]), 'spec.nodeTaints[0].key: is ""'),
    (ResourceFlavor("f", node_taints=[Taint("k", "a b", "NoExecute")]), 'spec.nodeTaints[0].value: is "a b"'),
    (
        ResourceFlavor("f", node_taints=[Taint("k", "a", "NoExecute"), Taint("k", "b", "NoExecute")]),
        "spec.nodeTaints[1]: k with NoExecute occurs twice",
    ),
    (
        ResourceFlavor("f", tolerations=[Toleration("k", "Exists")] * 9),
        "spec.tolerations: has 9 items; at most 8",
    ),
    (
        ResourceFlavor("f", tolerations=[Toleration()]),
        "spec.tolerations[0].operator: must be Exists where there is no key",
    ),
    (ResourceFlavor("f", tolerations=[Toleration("a b", "Exists")]), 'spec.tolerations[0].key: is "a b"'),
    (ResourceFlavor("f", tolerations=[Toleration("k", "Exists", "v")]), "spec.tolerations[0].value: must be absent"),
    (
        ResourceFlavor("f", tolerations=[Toleration("k", "Exists", "", "NoSchedule", 5)]),
        "spec.tolerations[0].effect: must be NoExecute where tolerationSeconds is set",
    ),
    (ResourceFlavor("f", tolerations=[Toleration("k", "Lt")]), 'spec.tolerations[0].operator: "Lt" is not supported'),
    (
        ResourceFlavor("f", tolerations=[Toleration("k", effect="No")]),
        'spec.tolerations[0].effect: "No" is not supported',
    ),
    (ResourceFlavor("f", topology_name="racks"), "spec.nodeLabels: is empty; a flavor with a topology needs"),
    (ResourceFlavor("f", node_labels={"a": "b"}, topology_name="R"), 'spec.topologyName: is "R"'),
    (Topology("t", levels=[f"l{i}" for i in range(17)]), "spec.levels: has 17 items; at most 16"),
    (Topology("t", levels=["a", "a"]), 'spec.levels[1]: "a" occurs twice'),
    (Topology("t", levels=["a b"]), 'spec.levels[0].nodeLabel: is "a b"'),
    (
        Topology("t", levels=["kubernetes.io/hostname", "rack"]),
        "spec.levels[0].nodeLabel: is kubernetes.io/hostname; it may only be the last level",
    ),
    (AdmissionCheck("c", controller_name="c" * 254), "spec.controllerName: has 254 characters; 1 to 253"),
    (AdmissionCheck("c", controller_name="x", parameters={**PARAMETERS, "name": ""}), 'spec.parameters.name: is ""'),
    (
        AdmissionCheck("c", controller_name="x", parameters={**PARAMETERS, "kind": "A b"}),
        'spec.parameters.kind: is "A b"',
    ),
    (
        AdmissionCheck("c", controller_name="x", parameters={**PARAMETERS, "apiGroup": "_"}),
        "spec.parameters.apiGroup: is",
    ),
    (AdmissionCheck("c", controller_name="x", parameters={**PARAMETERS, "of": 1}), "spec.parameters.of: unknown field"),
    (WorkloadPriorityClass("p", value=2**31), "value: is 2147483648; it must be a signed 32-bit integer"),
    (WorkloadPriorityClass("p", value=0, description="d" * 2049), "description: has 2049 characters; 0 to 2048"),
    (PriorityClass("p", value=-(2**31) - 1), "value: is -2147483649; it must be a signed 32-bit integer"),
    (Namespace("a.b"), 'metadata.name: is "a.b"; it must be a DNS label'),
    (
        LimitRange("l", limits=[LimitRangeItem(type="Pod", default_request={"cpu": "x"})]),
        'spec.limits[0].defaultRequest.cpu: is "x"; it must be a quantity',
    ),
    (RuntimeClass("r", overhead={"cpu": "-1"}), "overhead.podFixed.cpu: is -1; it must be 0 or more"),
    (Node("n", capacity={"cpu": 4}, allocatable={"cpu": "four"}), 'status.allocatable.cpu: is "four"'),
    (Node("n", taints=[Taint("k")]), 'spec.taints[0].effect: "" is not supported'),
    (ResourceFlavor("f", annotations={"a": "b" * 2**18}), "metadata.annotations: has 262145 bytes; at most 262144"),
]


@pytest.mark.parametrize(
    ("obj", "expected"), INVALID, ids=lambda value: value[:60] if isinstance(value, str) else value.name
)
def test_invalid(obj: Object, expected: str):
    (found,) = texts(obj)
    assert found.startswith(expected)


def test_check_raises_the_errors_of_validate():
    check(Topology("t", levels=["rack"]))
    with pytest.raises(
        ManifestError, match=r'^Topology "t": spec\.levels\[1\]: "a" occurs twice; each may occur once$'
    ):
        check(Topology("t", levels=["a", "a"]))


def test_checks_and_topologies_may_have_no_spec():
    assert texts(Topology("t")) == texts(AdmissionCheck("c")) == []


def test_types_are_checked_before_rules():
    assert texts(ResourceFlavor("f", node_labels={"a": 5})) == [  # type: ignore[dict-item]
        "spec.nodeLabels.a: is 5, a number; it must be a string: put it in quotes"
    ]
    (found,) = texts(ResourceFlavor("f", node_labels={"a": object()}))  # type: ignore[dict-item]
    assert "has a field of a wrong type" in found
