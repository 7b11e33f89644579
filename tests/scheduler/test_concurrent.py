"""Concurrent admission: variants of a workload in several flavors, of which one runs (KEP 8691)."""

import msgspec

import kueuepy as kq

RESERVED = "default/job-variant-reservation-334c7"
SPOT = "default/job-variant-spot-068bd"
FLAVORS = "kueue.x-k8s.io/workload-allowed-resource-flavors"


def queue(reserved, mode="TryPreferredFlavors"):
    quotas = {"reservation": {"cpu": reserved}, "spot": {"cpu": 5}}
    return kq.ClusterQueue.of("team", quotas, concurrent_admission_policy={"migration": {"mode": mode}})


def started(given, *, gate=True):
    configuration = kq.Configuration(feature_gates={"ConcurrentAdmission": gate})
    flavors = (kq.ResourceFlavor("reservation"), kq.ResourceFlavor("spot"))
    scheduler = kq.Scheduler(kq.Cluster(*flavors, given, configuration=configuration))
    scheduler.submit({"name": "job-a", "queue": "team", "cpu": 2})
    scheduler.settle()
    return scheduler


def is_admitted(scheduler, key):
    return scheduler.workload(key).status.is_true("Admitted")


def flavor_of(scheduler, key="job-a"):
    return scheduler.workload(key).status.admission.pod_set_assignments[0].flavors["cpu"]


def test_kueue_creates_a_variant_for_each_flavor():
    scheduler = started(queue(0))
    assert scheduler.keys() == ("default/job-a", RESERVED, SPOT)
    parent, variant = scheduler.workload("job-a"), scheduler.workload(SPOT)
    assert parent.labels == {"kueue.x-k8s.io/concurrent-admission-parent": "true"}
    assert (variant.labels, variant.annotations) == ({}, {FLAVORS: "spot"})
    assert variant.preemption_gates == ("kueue.x-k8s.io/concurrent-admission",)
    assert [owner["uid"] for owner in variant.owner_references] == [parent.uid]
    assert is_admitted(scheduler, SPOT)
    assert is_admitted(scheduler, "job-a")
    assert parent.status.admission == variant.status.admission
    assert list(scheduler.usage["usage"]) == [2]


def test_a_workload_migrates_to_a_more_favorable_flavor():
    scheduler = started(queue(0))
    scheduler.apply(queue(5))
    scheduler.settle()
    assert flavor_of(scheduler) == "reservation"
    assert not scheduler.workload(SPOT).active
    evicted = {one.type: one.reason for one in scheduler.workload(SPOT).status.conditions}["Evicted"]
    assert evicted == "FlavorMigration"


def test_a_workload_stays_where_it_was_admitted_first():
    scheduler = started(queue(0, "RetainFirstAdmission"))
    assert [scheduler.workload(key).active for key in (RESERVED, SPOT)] == [False, True]
    scheduler.apply(queue(5, "RetainFirstAdmission"))
    scheduler.settle()
    assert flavor_of(scheduler) == "spot"


def test_variants_end_with_their_parent():
    scheduler = started(queue(0))
    scheduler.finish("job-a")
    scheduler.settle()
    assert all(scheduler.workload(key).status.is_true("Finished") for key in (RESERVED, SPOT))
    scheduler.delete("job-a")
    scheduler.settle()
    assert scheduler.keys() == ()


def test_a_flavor_that_is_added_gets_a_variant_and_a_removed_one_loses_it():
    scheduler = started(queue(0))
    scheduler.apply(kq.ResourceFlavor("late"))
    wider = kq.ClusterQueue.of("team", {"late": {"cpu": 9}, "spot": {"cpu": 5}})
    scheduler.apply(msgspec.structs.replace(wider, concurrent_admission_policy=queue(0).concurrent_admission_policy))
    scheduler.settle()
    assert RESERVED not in scheduler.keys()  # noqa: SIM118
    assert flavor_of(scheduler) == "late"


def test_forks_and_saved_schedulers_migrate_alike(tmp_path):
    scheduler = started(queue(0))
    scheduler.save(tmp_path / "state")
    for other in (scheduler.fork(), kq.Scheduler.load(tmp_path / "state")):
        other.apply(queue(5))
        other.settle()
        assert flavor_of(other) == "reservation"
    assert flavor_of(scheduler) == "spot"


def test_without_the_gate_the_policy_has_no_effect():
    scheduler = started(queue(0), gate=False)
    assert scheduler.keys() == ("default/job-a",)
    assert flavor_of(scheduler) == "spot"


def test_an_explanation_of_a_parent_names_its_variants():
    scheduler = started(queue(0))
    (text,) = scheduler.explain("job-a").not_modelled
    assert "explain one of them" in text
    assert scheduler.explain(RESERVED).not_modelled == ()


def test_a_parent_whose_name_has_no_hyphen_gets_no_variants():
    scheduler = started(queue(0))
    scheduler.submit({"name": "plain", "queue": "team", "cpu": 1})
    scheduler.settle()
    assert [key for key in scheduler.keys() if "plain" in key] == ["default/plain"]  # noqa: SIM118
    assert not is_admitted(scheduler, "plain")


def test_a_queue_without_quotas_has_no_variants():
    configuration = kq.Configuration(feature_gates={"ConcurrentAdmission": True})
    scheduler = kq.Scheduler(kq.Cluster(kq.ClusterQueue("team"), configuration=configuration))
    parent = kq.Workload("p", queue_name="team", uid="1", labels={"kueue.x-k8s.io/concurrent-admission-parent": "true"})
    owner = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload", "name": "p", "uid": "1", "controller": True}
    variant = kq.Workload("v", queue_name="team", annotations={FLAVORS: "spot"}, owner_references=(owner,))
    scheduler.submit([parent, variant])
    scheduler.settle()
    assert not is_admitted(scheduler, "p")
    assert not is_admitted(scheduler, "v")
