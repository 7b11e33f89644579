"""Facts of the core about waiting workloads: kinds and names, so that no code parses messages."""

from __future__ import annotations

import pytest

from kueuepy import Cluster, ClusterQueue, LocalQueue, Namespace, PodSet, ResourceFlavor, Scheduler, Workload, _core
from kueuepy.objects import AdmissionCheckStrategyRule, LabelSelector, Taint
from kueuepy.profiles.gates import DEFAULTS
from kueuepy.profiles.rules import RELEASES

FLAVOR = ResourceFlavor("f")
QUEUE = ClusterQueue.of("q", {"f": {"cpu": 4}})
CHECKS = [AdmissionCheckStrategyRule("a"), AdmissionCheckStrategyRule("b")]


def facts_of(*objects, **given):
    """The facts about a Workload that asks for one cpu."""
    declared = [*objects, LocalQueue("lq", cluster_queue="q"), Namespace("default")]
    scheduler = Scheduler(Cluster(declared, names=False), now=0)
    workload = Workload("w", queue_name="lq", pod_sets=[PodSet.of(requests={"cpu": 1})], **given)
    scheduler.submit(workload)
    scheduler.settle()
    return scheduler._engine.explain(scheduler._engine.find(workload.key))


@pytest.mark.parametrize(
    ("objects", "obstacle", "causes"),
    [
        ([FLAVOR, ClusterQueue.of("other", {"f": {"cpu": 4}})], ("ClusterQueueMissing", "q"), None),
        ([QUEUE], ("ClusterQueueInactive", "q"), [("FlavorNotFound", ["f"])]),
        (
            [ClusterQueue.of("q", {"f": {"cpu": 4}}, stop_policy="Hold", admission_checks_strategy=CHECKS)],
            ("ClusterQueueInactive", "q"),
            [("Stopped", []), ("FlavorNotFound", ["f"]), ("CheckNotFound", ["a", "b"])],
        ),
        (
            [ResourceFlavor("f", topology_name="racks", node_labels={"pool": "f"}), QUEUE],
            ("ClusterQueueInactive", "q"),
            [("TopologyNotFound", ["racks", "f"])],
        ),
    ],
)
def test_obstacles_before_evaluation_have_a_kind(objects, obstacle, causes):
    facts = facts_of(*objects)
    assert (facts["obstacle"]["kind"], facts["obstacle"]["queue"]) == obstacle
    assert (facts["inactivity"] or {}).get("causes") == causes
    assert facts["inadmissibility"] == ""


def test_deactivated_and_gated_workloads_report_it():
    assert facts_of(FLAVOR, QUEUE, active=False)["obstacle"]["kind"] == "Deactivated"
    gated = facts_of(FLAVOR, QUEUE, annotations={"kueue.x-k8s.io/admission-gated-by": "example.com/gate"})
    assert (gated["obstacle"]["kind"], gated["obstacle"]["reason"]) == ("Gated", "AdmissionGated")


def test_a_namespace_that_the_queue_does_not_select_is_distinguished():
    facts = facts_of(FLAVOR, ClusterQueue.of("q", {"f": {"cpu": 4}}, namespace_selector=LabelSelector({"team": "x"})))
    assert facts["obstacle"] is None
    assert facts["inadmissibility"] == "NamespaceMismatch"


def test_a_taint_is_passed_as_key_value_and_effect():
    spot = ResourceFlavor("f", node_taints=[Taint("spot", "a", "NoSchedule"), Taint("gpu", "", "NoExecute")])
    ((pod_set,)) = facts_of(spot, QUEUE)["pod_sets"]
    ((flavor,)) = pod_set["flavors"]
    assert [(why["kind"], why["taint"]) for why in flavor["ineligible"]] == [
        ("UntoleratedTaint", ("spot", "a", "NoSchedule")),
        ("UntoleratedTaint", ("gpu", "", "NoExecute")),
    ]


def test_missing_quota_is_computed_by_the_core():
    queue = ClusterQueue.of("q", {"f": {"cpu": "500m"}})
    ((pod_set,)) = facts_of(FLAVOR, queue)["pod_sets"]
    ((flavor,)) = pod_set["flavors"]
    ((cpu,)) = flavor["cells"]
    assert (cpu["missing"], cpu["shortages"]) == (500, [("q", "quota", 500)])


def test_every_feature_gate_of_the_core_exists_in_kueue():
    latest: dict[str, bool] = {}
    for release in RELEASES:
        latest |= DEFAULTS[release]  # A gate that was removed keeps its last default.
    assert _core.FEATURE_GATES.items() <= latest.items()
    assert len(_core.FEATURE_GATES) >= 18
