"""ClusterQueues of v1alpha1: total quota, codependent resources, selectors, flavors, cohorts and maxima."""

import pytest

import kueuepy as kq

GI = 2**30
BLOB = """
apiVersion: kueue.x-k8s.io/v1alpha1
kind: ClusterQueue
metadata: {name: q}
spec:
  namespaceSelector: {}
  cohort: c
  resources:
"""


def _resource(name, **flavors):
    quotas = "".join(f"\n  - {{name: {flavor}, quota: {{{quota}}}}}" for flavor, quota in flavors.items())
    return f"- name: {name}\n  flavors:{quotas}\n"


def _queue(*resources):
    return kq.manifest.load(BLOB + "".join(f"  {line}\n" for text in resources for line in text.splitlines()))


@pytest.mark.parametrize(
    ("requests", "fits"),
    [
        ({"cpu": 9, "memory": "36Gi"}, True),
        ({"cpu": "9.001", "memory": "36Gi"}, False),
        ({"cpu": 9, "memory": 36 * GI + 1}, False),
    ],
)
def test_OBJ_01_total_requests_are_limited_to_9_cpus_and_36Gi(seed, requests, fits):
    story = seed("000/cluster-total")
    story.submit("main", 1, requests, name="job")
    story.settle()

    assert story.running() == (["job"] if fits else [])


def test_OBJ_02_a_maximum_is_a_borrowing_limit(seed, manifest):
    quota = manifest("000/max").cluster_queues[0].resource_groups[0].flavors[0].resources[0]
    assert (quota.nominal_quota, quota.borrowing_limit) == (9, "1")

    for queue, most in (("team-a-cq", 10), ("team-b-cq", 21)):
        story = seed("000/max")
        story.submit(queue, 25)
        story.settle()
        assert story.used(queue) == most


def test_OBJ_02_a_maximum_below_the_minimum_is_rejected():
    with pytest.raises(kq.errors.InvalidSpecError, match="less than min"):
        _queue(_resource("cpu", default="min: 9, max: 8"))


def test_OBJ_03_codependent_resources_become_one_group(manifest):
    groups = manifest("000/codependent", strict=False).cluster_queues[0].resource_groups

    assert [group.covered_resources for group in groups] == [("cpu", "memory"), ("gpu",)]
    assert [[flavor.name for flavor in group.flavors] for group in groups] == [
        ["spot", "on_demand"],
        ["vendor1", "vendor2"],
    ]


def test_OBJ_03_flavors_in_another_order_or_shared_partially_are_rejected():
    cpu = _resource("cpu", spot="min: 18", ondemand="min: 9")
    for other in (_resource("memory", ondemand="min: 1", spot="min: 1"), _resource("gpu", spot="min: 1")):
        with pytest.raises(kq.errors.InvalidSpecError, match="same order, or none in common"):
            _queue(cpu, other)


def test_OBJ_03_T_09_an_underscore_is_invalid_in_an_object_name(seed):
    with pytest.raises(kq.errors.InvalidSpecError, match="on_demand"):
        seed("000/codependent")


_TAINT = "{key: spot, value: 'true', effect: NoSchedule}"


@pytest.mark.parametrize(
    ("version", "body"),
    [
        ("v1alpha1", f"labels: {{instance-type: spot}}\ntaints: [{_TAINT}]"),
        ("v1alpha1", f"metadata: {{name: spot, labels: {{instance-type: spot}}}}\ntaints: [{_TAINT}]"),
        ("v1alpha2", f"metadata: {{name: spot, labels: {{instance-type: spot}}}}\ntaints: [{_TAINT}]"),
        ("v1alpha2", f"labels: {{instance-type: spot}}\ntaints: [{_TAINT}]"),
        ("v1beta2", f"spec: {{nodeLabels: {{instance-type: spot}}, nodeTaints: [{_TAINT}]}}"),
    ],
)
def test_OBJ_04_a_flavor_reads_the_same_from_all_its_spellings(version, body):
    name = "" if "metadata" in body else "metadata: {name: spot}\n"
    text = f"apiVersion: kueue.x-k8s.io/{version}\nkind: ResourceFlavor\n{name}{body}\n"

    (flavor,) = kq.manifest.load(text).resource_flavors
    assert flavor == kq.ResourceFlavor(
        "spot", node_labels={"instance-type": "spot"}, node_taints=(kq.Taint.of("spot=true:NoSchedule"),)
    )


def test_OBJ_06_a_Queue_of_v1alpha1_is_a_LocalQueue(manifest):
    assert manifest("000/cluster-total").local_queues == (kq.LocalQueue("main", cluster_queue="cluster-total"),)


def test_OBJ_12_an_empty_flavor_matches_any_node_selector(seed):
    story = seed("000/cluster-total")
    story.submit("main", 1, name="job", node_selector={"disk": "ssd", "zone": "a"})
    story.settle()

    assert story.flavors("job") == {"cpu": "default"}


def test_OBJ_26_Q_08_only_the_selected_namespaces_are_admitted(seed):
    story = seed("000/namespace-selector")
    for namespace in ("team-a", "team-b"):
        story.submit("main", 1, name=f"of-{namespace}", namespace=namespace)
    story.settle()

    assert story.running() == ["of-team-a"]
    assert story.condition("team-b/of-team-b") == (
        "Misconfigured",
        "workload namespace doesn't match ClusterQueue selector",
    )


def test_QT_04_codependent_resources_come_from_one_flavor(seed):
    story = seed("000/codependent", strict=False)
    story.submit("cluster-total", 1, {"cpu": 16, "memory": 0}, name="first")
    story.settle()
    story.submit("cluster-total", 1, {"cpu": 5, "memory": "60Gi"}, name="second")
    story.settle()

    assert story.flavors("first")["cpu"] == "spot"
    assert story.running() == ["first"]


def test_QT_04_FL_01_18_then_9_then_1_cpus(seed):
    story = seed("000/codependent", strict=False)
    for name, cpu in (("a", 18), ("b", 9), ("c", 1)):
        story.submit("cluster-total", 1, {"cpu": cpu}, name=name)
        story.settle()

    assert [story.flavors(name)["cpu"] for name in story.running()] == ["spot", "on_demand"]


def test_FL_04_a_taint_must_be_tolerated_by_the_pods_themselves(seed):
    story = seed("000/spot")
    story.submit("spot-only", 1, name="plain")
    story.submit("spot-only", 1, name="tolerant", tolerations=["spot=true:NoSchedule"])
    story.settle()

    assert story.running() == ["tolerant"]
    assert "untolerated taint {spot true NoSchedule <nil>} in flavor spot" in story.condition("plain")[1]


def test_QT_05_QT_06_each_team_uses_up_to_21_cpus_and_84Gi_while_the_other_is_idle(seed):
    for queue in ("team-a-cq", "team-b-cq"):
        story = seed("000/team-ab")
        story.submit(queue, 25, {"cpu": 1, "memory": "4Gi"})
        story.settle()
        assert story.used(queue) == 21
        assert story.used(queue, "memory") == 84 * GI


def test_Q_07_T_01_the_quota_of_team_b_is_not_guaranteed(seed):
    story = seed("000/team-ab")
    story.submit("team-a-cq", 25)
    story.submit("team-b-cq", 25)
    story.settle()

    assert (story.used("team-a-cq"), story.used("team-b-cq")) == (10, 11)


def test_PR_02_nothing_is_ever_preempted(seed):
    story = seed("000/team-ab")
    story.submit("team-a-cq", 21)
    story.settle()
    story.submit("team-b-cq", 12, priority=1000)
    story.settle()

    assert story.used("team-a-cq") == 21
    assert story.evicted() == []
