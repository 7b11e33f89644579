"""Explanations of failed placements: domains, their capacity, obstacles and remedies."""

import msgspec
import pytest

import kueuepy as kq

from .conftest import centre, hosts, job

HOST = kq.objects.HOSTNAME_LABEL


def place(scheduler, item):
    """The facts of the topology in the explanation of a workload in one flavor."""
    (found,) = scheduler.explain(item).find("topology")
    return found.facts


def domains(facts):
    return {"/".join(one["values"]): (one["pods"], one["pods_if_empty"]) for one in facts["domains"]}


@pytest.fixture
def busy():
    """Two blocks of two racks of two hosts; a rack is full, one GPU of another is taken by a pod outside Kueue."""
    scheduler = kq.Scheduler(centre(hosts(2, 2, 2)))
    scheduler.submit(job("full", 8, kq.objects.required("rack")))
    scheduler.settle()
    scheduler.apply(kq.objects.Pod.of("agent", "b1-r2-h1", requests={"nvidia.com/gpu": 1}))
    return scheduler


def test_domains_report_their_capacity_now_and_when_empty(busy):
    facts = place(busy, job("wide", 9, kq.objects.required("rack")))

    assert domains(facts) == {
        "b2": (16, 16),
        "b1": (7, 15),
        "b2/r1": (8, 8),
        "b2/r2": (8, 8),
        "b1/r2": (7, 7),
        "b1/r1": (0, 8),
    }
    assert (facts["mode"], facts["level"], facts["count"]) == ("required", "rack", 9)
    assert (facts["largest"], facts["largest_if_empty"]) == (8, 8)
    assert facts["failure"] == facts["failure_if_empty"] | {"fit": 8}
    assert (facts["failure"]["kind"], facts["failure"]["fit"], facts["failure"]["of"]) == ("NotFit", 8, 9)
    assert facts["sufficient_alone"] == []


def test_the_largest_count_is_admitted_and_one_more_is_not(busy):
    for request in (
        kq.objects.required("rack"),
        kq.objects.required("block"),
        kq.objects.preferred("rack"),
        kq.objects.unconstrained(),
    ):
        largest = place(busy, job("wide", 30, request))["largest"]
        assert isinstance(busy.try_admit(job("w", largest, request)), kq.Admitted)
        assert isinstance(busy.try_admit(job("w", largest + 1, request)), kq.Pending)


def test_only_whole_slices_are_counted(busy):
    facts = place(busy, job("sliced", 15, kq.objects.required("block", slices=[(HOST, 3)])))

    assert facts["slice_size"] == 3
    assert domains(facts)["b2"] == (12, 12)
    assert facts["largest"] == 12


def test_a_workload_whose_removal_frees_enough_capacity_is_named(busy):
    busy.submit(job("more", 16, kq.objects.required("block")))
    busy.settle()
    facts = place(busy, job("wide", 12, kq.objects.required("block")))

    assert facts["failure_if_empty"] is None
    assert sorted(facts["sufficient_alone"]) == ["default/full", "default/more"]
    assert facts["nearest"] == ("b1",)


def test_excluded_nodes_are_counted_by_their_first_reason():
    nodes = list(hosts(1, 1, 4))
    nodes[0] = msgspec.structs.replace(nodes[0], taints=[kq.Taint("spot", "true", "NoSchedule")])
    nodes[1] = msgspec.structs.replace(nodes[1], labels={**nodes[1].labels, "disk": "slow"})
    nodes[2] = msgspec.structs.replace(nodes[2], labels={**nodes[2].labels, "disk": "fast"})
    scheduler = kq.Scheduler(centre(nodes))
    pods = kq.PodSet.of(
        "main",
        2,
        requests={"nvidia.com/gpu": 5},
        node_selector={"disk": "fast"},
        topology_request=kq.objects.required("rack"),
    )
    item = kq.Workload("picky", queue_name="vision", pod_sets=(pods,))
    (rack,) = [one for one in place(scheduler, item)["domains"] if one["level"] == "rack"]

    assert sorted(rack["excluded"]) == [
        ("nodeSelector", "", 2),
        ("resource", "nvidia.com/gpu", 1),
        ("taint", "spot=true:NoSchedule", 1),
    ]
    text = str(scheduler.explain(item))
    assert "2 of 4 nodes do not match the node selector" in text
    assert "1 has too little nvidia.com/gpu for a pod" in text
    assert "1 has the taint spot=true:NoSchedule, which the pods do not tolerate" in text


def test_affinity_is_distinguished_from_the_node_selector():
    scheduler = kq.Scheduler(centre(hosts(1, 1, 2)))
    term = {"matchExpressions": [{"key": "disk", "operator": "Exists"}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}}
    item = job("picky", 1, kq.objects.required("rack"))
    template = {"spec": {**item.pod_sets[0].template["spec"], "affinity": affinity}}
    pods = msgspec.structs.replace(item.pod_sets[0], template=template)
    facts = place(scheduler, msgspec.structs.replace(item, pod_sets=(pods,)))

    assert [one["excluded"] for one in facts["domains"]] == [[("affinity", "", 2)]] * 2


def test_a_leader_and_its_workers_are_explained_together():
    scheduler = kq.Scheduler(centre(hosts(1, 2, 2)))
    group = kq.objects.required("rack", group="g")
    pod_sets = (
        kq.PodSet.of("leader", 1, requests={"nvidia.com/gpu": 1}, topology_request=group),
        kq.PodSet.of("workers", 8, requests={"nvidia.com/gpu": 1}, topology_request=group),
    )
    facts = place(scheduler, kq.Workload("both", queue_name="vision", pod_sets=pod_sets))

    assert facts["has_leader"]
    assert (facts["count"], facts["largest"]) == (8, 7)
    assert domains(facts) == {"b1": (15, 15), "b1/r1": (7, 7), "b1/r2": (7, 7)}


def test_pod_sets_are_explained_after_placing_previous_ones():
    scheduler = kq.Scheduler(centre(hosts(1, 1, 2)))
    pod_sets = tuple(
        kq.PodSet.of(name, count, requests={"nvidia.com/gpu": 1}, topology_request=kq.objects.required("rack"))
        for name, count in (("first", 6), ("second", 3))
    )
    explanation = scheduler.explain(kq.Workload("two", queue_name="vision", pod_sets=pod_sets))
    first, second = (found.facts for found in explanation.find("topology"))

    assert (first["failure"], first["largest"]) == (None, 8)
    assert (second["failure"]["kind"], second["largest"]) == ("NotFit", 2)


def test_remedies_name_the_domain_and_the_missing_capacity(busy):
    remedy = busy.explain(job("wide", 9, kq.objects.required("rack"))).find("remedy")[0]

    assert remedy.text == "h100: a node with capacity for 1 pod was added to b2/r1"
    busy.submit(job("more", 16, kq.objects.required("block")))
    busy.settle()
    (remedy,) = busy.explain(job("wide", 12, kq.objects.required("block"))).find("remedy")
    assert remedy.text == (
        "h100: one of default/full, default/more finished, or 2 nodes with capacity for 4 pods each were added to b1"
    )


def test_a_pod_larger_than_any_node_needs_other_nodes():
    scheduler = kq.Scheduler(centre(hosts(1, 1, 2)))
    explanation = scheduler.explain(job("single", 1, kq.objects.required("rack"), gpus=8))

    assert explanation.reason == "TopologyPlacementFailed"
    assert explanation.find("remedy")[0].text == ("h100: nodes with capacity for a pod were added to b1/r1 (not tried)")


def test_preemption_for_topology_capacity_is_explained():
    policy = kq.Preemption(within_cluster_queue="LowerPriority")
    queue = kq.ClusterQueue.of("vision", {"h100": {"nvidia.com/gpu": 64}}, preemption=policy)
    scheduler = kq.Scheduler(centre(hosts(1, 1, 2)).replace(queue))
    scheduler.submit(job("low", 8, kq.objects.required("rack")))
    scheduler.settle()
    explanation = scheduler.explain(job("high", 4, kq.objects.required("rack"), priority=10))

    assert explanation.verdict == "Preempting"
    assert [cause.facts["workload"] for cause in explanation.find("candidate")] == ["default/low"]


def test_many_domains_are_summarised_and_all_are_in_the_facts():
    scheduler = kq.Scheduler(centre(hosts(1, 20, 2), gpus=1000))
    explanation = scheduler.explain(job("wide", 9, kq.objects.required("rack")))

    assert len([cause for cause in explanation.find("domain") if cause.facts["level"] == "rack"]) == 5
    assert "and 15 more of level rack; at most 8 pods fit into each" in str(explanation)
    assert len(explanation.find("topology")[0].facts["domains"]) == 21


def test_a_possible_placement_is_explained_in_one_line(busy):
    explanation = busy.explain(job("fits", 4, kq.objects.required("rack")))

    (topology,) = explanation.find("topology")
    assert explanation.verdict == "Fits"
    assert topology.text == "topology racks: 4 pods in one rack: fits; up to 8 pods would fit"
    assert topology.causes == ()


def test_the_explanation_of_an_admitted_workload_has_its_domains(busy):
    (place,) = busy.explain("full").find("place")

    assert place.text == "pod set main is on b1-r1-h1: 4, b1-r1-h2: 4"
    assert place.facts["domains"] == ((("b1-r1-h1",), 4), (("b1-r1-h2",), 4))


def test_of_many_hosts_the_first_are_listed():
    scheduler = kq.Scheduler(centre(hosts(1, 1, 10)))
    scheduler.submit(job("many", 40, kq.objects.required("rack")))
    scheduler.settle()
    (place,) = scheduler.explain("many").find("place")

    assert len(place.facts["domains"]) == 10
    assert place.text.endswith("b1-r1-h7: 4 and 2 more")
