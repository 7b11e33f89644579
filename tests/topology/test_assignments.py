"""Nodes, Pods and topology assignments, read from and written to manifests."""

import tracemalloc

import pytest

import kueuepy as kq
from kueuepy.manifest import ManifestError, from_dict, load, placements, to_dict, validate
from kueuepy.objects import HOSTNAME_LABEL, TopologyAssignment, TopologyDomain

from .conftest import centre, hosts, job, places


def assignment(levels, **domains):
    return {"levels": levels, "domains": [{"values": name.split("/"), "count": n} for name, n in domains.items()]}


ENCODED = [
    ([HOSTNAME_LABEL], {"n1": 3}, [{"universal": "n1"}], {"universal": 3}),
    (
        [HOSTNAME_LABEL],
        {"pool-a-0": 1, "pool-a-1": 1},
        [{"individual": {"prefix": "pool-a-", "roots": ["0", "1"]}}],
        {"universal": 1},
    ),
    (
        [HOSTNAME_LABEL],
        {"ababa": 1, "aba": 1},
        [{"individual": {"suffix": "aba", "roots": ["ab", ""]}}],
        {"universal": 1},
    ),
    (
        [HOSTNAME_LABEL],
        {"n1.example": 1, "n22.example": 1},
        [{"individual": {"prefix": "n", "suffix": ".example", "roots": ["1", "22"]}}],
        {"universal": 1},
    ),
    (
        ["block", "rack"],
        {"b1/r1": 1, "b1/r2": 2},
        [{"universal": "b1"}, {"individual": {"prefix": "r", "roots": ["1", "2"]}}],
        {"individual": [1, 2]},
    ),
]


@pytest.mark.parametrize(("levels", "domains", "values", "counts"), ENCODED, ids=lambda case: str(case)[:30])
def test_domains_are_written_as_kueue_encodes_them(levels, domains, values, counts):
    written = placements.write(assignment(levels, **domains))

    assert written == {
        "levels": levels,
        "slices": [{"domainCount": len(domains), "valuesPerLevel": values, "podCounts": counts}],
    }


def test_without_domains_there_are_no_slices():
    assert placements.write({"levels": ["rack"]}) == {"levels": ["rack"], "slices": []}


TRUE = {"status": "True", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}


def workload(version, place):
    status = {
        "conditions": [
            {**TRUE, "type": "QuotaReserved", "reason": "QuotaReserved"},
            {**TRUE, "type": "Admitted", "reason": "Admitted"},
        ],
        "admission": {
            "clusterQueue": "vision",
            "podSetAssignments": [
                {
                    "name": "main",
                    "count": 5,
                    "flavors": {"nvidia.com/gpu": "h100"},
                    "resourceUsage": {"nvidia.com/gpu": "5"},
                    "topologyAssignment": place,
                }
            ],
        },
        "unhealthyNodes": [{"name": "b1-r1-h2"}],
    }
    doc = to_dict(job("train", 5, kq.objects.required("rack")))
    return {**doc, "apiVersion": f"kueue.x-k8s.io/{version}", "status": status}


BETA1 = {
    "levels": [HOSTNAME_LABEL],
    "domains": [{"values": ["b1-r1-h1"], "count": 4}, {"values": ["b1-r1-h2"], "count": 1}],
}
BETA2 = {
    "levels": [HOSTNAME_LABEL],
    "slices": [
        {
            "domainCount": 2,
            "valuesPerLevel": [{"individual": {"prefix": "b1-r1-h", "roots": ["1", "2"]}}],
            "podCounts": {"individual": [4, 1]},
        }
    ],
}


@pytest.mark.parametrize(("version", "place"), [("v1beta1", BETA1), ("v1beta2", BETA2)])
def test_a_live_dump_is_read_and_written_and_its_pods_use_capacity(version, place):
    read = from_dict(workload(version, place))
    found = read.status.admission.pod_set_assignments[0].topology_assignment
    assert found == TopologyAssignment(
        (HOSTNAME_LABEL,), (TopologyDomain(("b1-r1-h1",), 4), TopologyDomain(("b1-r1-h2",), 1))
    )
    assert to_dict(read)["status"]["admission"]["podSetAssignments"][0]["topologyAssignment"] == BETA2

    scheduler = kq.Scheduler(kq.Cluster(*centre(hosts(1, 1, 2)).objects(), read))
    assert places(scheduler, "train") == {"b1-r1-h1": 4, "b1-r1-h2": 1}
    assert scheduler.workload("train").status.unhealthy_nodes == ("b1-r1-h2",)
    assert scheduler.largest_count(job("probe", 1, kq.objects.required(HOSTNAME_LABEL))) == 3
    assert scheduler.workload("train").status.admission == read.status.admission


ONE_ROOT = {"valuesPerLevel": [{"individual": {"roots": ["a"]}}], "podCounts": {"universal": 1}}
FAULTS = [
    ({"slices": []}, "topologyAssignment.levels: is required"),
    ({"levels": ["rack"], "slices": [{"domainCount": 0}]}, "slices[0].domainCount: is 0; it must be 1 or more"),
    ({"levels": ["rack"], "slices": [{"domainCount": 1}]}, "slices[0].valuesPerLevel: is required"),
    (
        {"levels": ["rack"], "slices": [{**ONE_ROOT, "domainCount": 2}]},
        "valuesPerLevel[0]: must have either universal, or individual with 2 roots (domainCount)",
    ),
    (
        {"levels": ["rack"], "slices": [{"domainCount": 2, "valuesPerLevel": [{"universal": "a"}], "podCounts": {}}]},
        "podCounts: must have either universal, or individual of 2 (domainCount)",
    ),
    ({"levels": ["rack"], "slices": [{"domains": 2}]}, 'unknown field; did you mean "domainCount"?'),
]


@pytest.mark.parametrize(("place", "text"), FAULTS, ids=lambda case: str(case)[:40])
def test_an_inconsistent_slice_is_rejected(place, text):
    with pytest.raises(ManifestError) as caught:
        from_dict(workload("v1beta2", place))
    assert text in str(caught.value)


NODE = """
apiVersion: v1
kind: Node
metadata: {name: n1, labels: {rack: r1, kubernetes.io/hostname: n1}}
spec:
  unschedulable: true
  taints: [{key: spot, value: "true", effect: NoSchedule}]
status:
  capacity: {cpu: "8", pods: "110"}
  allocatable: {cpu: 7500m, pods: "110"}
  conditions:
  - {type: MemoryPressure, status: "False"}
  - {type: Ready, status: "%s", lastTransitionTime: "2026-01-31T12:00:00Z"}
"""


@pytest.mark.parametrize(("status", "ready"), [("True", True), ("False", False), ("Unknown", False)])
def test_a_node_is_read_from_kubectl_output(status, ready):
    (node,) = load(NODE % status).nodes

    assert node == kq.Node(
        "n1",
        labels={"rack": "r1", HOSTNAME_LABEL: "n1"},
        capacity={"cpu": "8", "pods": "110"},
        allocatable={"cpu": "7500m", "pods": "110"},
        taints=[kq.Taint("spot", "true", "NoSchedule")],
        unschedulable=True,
        ready=ready,
        ready_unknown=status == "Unknown",
        other_conditions={"MemoryPressure": "False"},
        ready_since=1_769_860_800,
    )
    assert from_dict(to_dict(node)) == node


def test_a_node_without_conditions_is_ready_and_one_without_ready_has_failed():
    doc = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}}
    pressed = {**doc, "status": {"conditions": [{"type": "MemoryPressure", "status": "False"}]}}

    assert from_dict(doc).ready is True
    assert from_dict(pressed).ready is None
    assert from_dict(to_dict(from_dict(pressed))).ready is None


POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "agent", "namespace": "kube-system"},
    "spec": {"nodeName": "n1", "containers": [{"name": "c", "image": "x", "resources": {"requests": {"cpu": "1"}}}]},
    "status": {"phase": "Running", "podIP": "10.0.0.1"},
}


def test_a_pod_without_a_queue_is_read_and_written():
    (pod,) = load(POD).pods

    assert (pod.key, pod.node_name, pod.phase) == ("kube-system/agent", "n1", "Running")
    assert from_dict(to_dict(pod)) == pod
    assert kq.Cluster.from_manifest(load(POD)).pods == (pod,)


def test_a_pod_with_a_queue_is_a_job():
    queued = {**POD, "metadata": {"name": "p", "labels": {"kueue.x-k8s.io/queue-name": "vision"}}}
    manifest = load(queued)

    assert manifest.pods == ()
    assert [job["metadata"]["name"] for job in manifest.jobs] == ["p"]


def test_errors_of_pods_and_nodes_have_their_location():
    (text,) = map(str, validate(kq.objects.Pod("p", phase="Sad")))
    assert text.startswith('status.phase: "Sad" is not supported; it must be one of')
    requests = {"containers": [{"resources": {"requests": {"cpu": "much"}}}]}
    (text,) = map(str, validate(kq.objects.Pod("p", spec=requests)))
    assert text.startswith("spec.containers[0].resources.requests.cpu: ")
    (text,) = map(str, validate(kq.objects.Pod("p", spec={"nodeName": "N_1", "containers": [{"name": "c"}]})))
    assert text.startswith('spec.nodeName: is "N_1"')
    with pytest.raises(ManifestError, match=r'Pod "p": spec\.contianers: unknown field'):
        from_dict({**POD, "metadata": {"name": "p"}, "spec": {"contianers": []}})


def test_topology_requests_in_python_equal_those_of_manifests():
    assert kq.objects.required("rack", group="g") == {"required": "rack", "podSetGroupName": "g"}
    assert kq.objects.preferred("block", slices=[("rack", 16), (HOSTNAME_LABEL, 4)]) == {
        "preferred": "block",
        "podsetSliceRequiredTopologyConstraints": [
            {"topology": "rack", "size": 16},
            {"topology": HOSTNAME_LABEL, "size": 4},
        ],
    }
    assert kq.objects.unconstrained() == {"unconstrained": True}
    assert kq.objects.unconstrained(slices=[("rack", 2)]) == {
        "podSetSliceRequiredTopology": "rack",
        "podSetSliceSize": 2,
    }
    with pytest.raises(kq.errors.InvalidSpecError, match="slices: is 'rack'; it must be a list such as"):
        kq.objects.required("rack", slices="rack")


def repeated(count, pods):
    """A short slice that repeats one domain many times."""
    part = {"domainCount": count, "valuesPerLevel": [{"universal": "b1-r1-h1"}], "podCounts": {"universal": pods}}
    return {"levels": [HOSTNAME_LABEL], "slices": [part]}


def test_repeated_domains_of_a_slice_are_read_as_one():
    tracemalloc.start()
    read = from_dict(workload("v1beta2", repeated(2**31 - 1, 1)))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    found = read.status.admission.pod_set_assignments[0].topology_assignment
    assert [(tuple(domain.values), domain.count) for domain in found.domains] == [(("b1-r1-h1",), 2**31 - 1)]
    assert peak < 2**20


@pytest.mark.parametrize(
    ("place", "fault"),
    [
        (
            repeated(2**31 - 1, 2),
            "podCounts.universal: has 2147483647 times 2 pods (domainCount); they must be 2147483647",
        ),
        (repeated(2**63, 1), "domainCount: is 9223372036854775808; it must be a signed 32-bit integer"),
        (repeated(2**31, 1), "domainCount: is 2147483648; it must be a signed 32-bit integer"),
        (
            {
                "levels": [HOSTNAME_LABEL],
                "slices": [
                    {"domainCount": 2, "valuesPerLevel": [{"individual": {}}], "podCounts": {"universal": 1}},
                ],
            },
            "valuesPerLevel[0].individual.roots: is required",
        ),
        (
            {
                "levels": [HOSTNAME_LABEL],
                "slices": [
                    {
                        "domainCount": 2**31 - 1,
                        "valuesPerLevel": [{"individual": {"roots": ["a"]}}],
                        "podCounts": {"universal": 1},
                    }
                ],
            },
            "valuesPerLevel[0]: must have either universal, or individual with 2147483647 roots",
        ),
    ],
)
def test_a_slice_with_too_many_domains_is_rejected_before_expansion(place, fault):
    with pytest.raises(kq.errors.InvalidSpecError) as error:
        from_dict(workload("v1beta2", place))
    assert fault in str(error.value)


def test_a_long_list_of_domains_of_v1beta1_is_read_unchanged():
    domains = [{"values": [f"h{n}"], "count": 1} for n in range(20_000)]
    read = from_dict(workload("v1beta1", {"levels": [HOSTNAME_LABEL], "domains": domains}))
    assert len(read.status.admission.pod_set_assignments[0].topology_assignment.domains) == len(domains)
