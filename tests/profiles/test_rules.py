"""Rules that differ between releases: one scenario each, with the last release with the rule and the first without."""

from copy import deepcopy

import pytest

from kueuepy.profiles import DEFAULTS, RELEASES, RULES, release_of
from replay import replay
from stories import (
    KUEUE,
    asking,
    flavor,
    local_queue,
    namespace,
    node,
    placed_flavor,
    queue,
    scenario,
    topology,
    workload,
)


def groups(*flavors, resources=("cpu",)):
    """One resource group; a flavor is its name and the nominal quota of each resource."""
    quotas = [
        {"name": name, "resources": [{"name": r, "nominalQuota": str(q)} for r, q in zip(resources, of, strict=True)]}
        for name, *of in flavors
    ]
    return [{"coveredResources": list(resources), "flavors": quotas}]


def check(name="budget"):
    return {"apiVersion": KUEUE, "kind": "AdmissionCheck", "metadata": {"name": name}, "spec": {"controllerName": "x"}}


CHECKED = {"admissionChecksStrategy": {"admissionChecks": [{"name": "budget"}]}}
USAGE = {"admissionFairSharing": {"usageHalfLifeTime": "10m", "usageSamplingInterval": "1m"}}
SCOPE = {"admissionScope": {"admissionMode": "UsageBasedAdmissionFairSharing"}}


def base(*more, **spec):
    return [namespace(), flavor(), queue(**spec), local_queue(), *more]


def said(results, name="ns/a"):
    """Return the last message of a workload."""
    return [e["message"] for r in results for e in r.get("pending", ()) if e["workload"] == name][-1]


def reserved(results, name="ns/a"):
    """Return the assigned CPU flavor of a workload."""
    found = [e for r in results for e in r.get("reserved", ()) if e["workload"] == name]
    return found[0]["podSets"][0]["flavors"]["cpu"] if found else None


def consumed(results):
    return results[-1]["consumed"]


def flavorless():
    job = workload("a", requests={})
    return scenario({"submit": [job], "cycle": True}, {"settle": True}, objects=[check(), *base(**CHECKED)])


def two_missing():
    spec = {"resourceGroups": groups(("f", 1, 1), resources=("cpu", "memory"))}
    job = workload("a", requests={"cpu": "2", "memory": "2"})
    return scenario({"submit": [job], "cycle": True}, objects=base(**spec))


def no_preemption_candidates():
    """Another queue has borrowed all of f and cannot be preempted; g fits by borrowing."""
    on = "TryNextFlavor"
    both = {"whenCanBorrow": on, "whenCanPreempt": on, "preference": "PreemptionOverBorrowing"}
    own = queue(cohortName="c", resourceGroups=groups(("f", 4), ("g", 0)), flavorFungibility=both)
    lender = queue("other", cohortName="c", resourceGroups=groups(("f", 0), ("g", 4)))
    objects = [namespace(), flavor(), flavor("g"), own, lender, local_queue(), local_queue("door", "other")]
    borrows = {"submit": [workload("first", "4", queue_name="door")], "cycle": True}
    return scenario(borrows, {"submit": [workload("a", "2")], "cycle": True}, objects=objects)


def labelled():
    tiered = {**flavor(), "spec": {"nodeLabels": {"tier": "gold"}}}
    job = workload("a")
    job["spec"]["podSets"][0]["template"]["spec"]["nodeSelector"] = {"tier": "iron"}
    own = queue(resourceGroups=groups(("f", 4), ("g", 4)))
    return scenario({"submit": [job], "cycle": True}, objects=[namespace(), tiered, flavor("g"), own, local_queue()])


def used(**spec):
    return scenario({"submit": [workload("a")], "cycle": True}, {"settle": True}, objects=base(**spec), **USAGE)


def settled_twice():
    story = scenario({"submit": [workload("a")], "cycle": True}, {}, objects=base(**SCOPE), **USAGE)
    story["steps"] += [{"at": at, "settle": True} for at in (1, 30)]
    return story


def rejected():
    event = {"workload": "ns/a", "name": "budget", "state": "Retry"}
    steps = [{"submit": [workload("a")], "cycle": True}, {"settle": True}, {"checks": [event], "settle": True}]
    return scenario(*steps, objects=[check(), *base(**CHECKED)])


def elsewhere():
    selector = {"namespaceSelector": {"matchLabels": {"team": "other"}}}
    return scenario({"submit": [workload("a")], "cycle": True}, objects=base(**selector))


def evicted(results):
    return [entry["workload"] for result in results for entry in result.get("evicted", ())]


def pods_short():
    """The targets free enough CPU, but not enough quota for pods."""
    quotas = groups(("f", 10, 3), resources=("cpu", "pods"))
    objects = base(resourceGroups=quotas, preemption={"withinClusterQueue": "LowerPriority"})
    before = [workload("low", "5", priority=-1), workload("high", "1", priority=9)]
    first = [{"submit": [job], "cycle": True} for job in before]
    return scenario(*first, {"submit": [workload("a", "3", 3)], "cycle": True}, objects=objects)


def lends_nothing():
    """A queue that uses more than its quota in a cohort without lendable quota."""
    own = {"name": "cpu", "nominalQuota": "4", "lendingLimit": "0"}
    group = {"coveredResources": ["cpu"], "flavors": [{"name": "f", "resources": [own]}]}
    cq = queue(cohortName="c", resourceGroups=[group], preemption={"reclaimWithinCohort": "Any"})
    rich, poor = (queue("other", cpu, cohortName="c") for cpu in ("4", "0"))
    objects = [namespace(), flavor(), cq, rich, local_queue(), local_queue("door", "other")]
    holds = {"submit": [workload("b", "4", queue_name="door")], "cycle": True}
    steps = [holds, {"apply": [poor], "submit": [workload("a", "4")], "cycle": True}]
    return scenario(*steps, objects=objects, fairSharing={})


ANYWHERE = {"unconstrained": True}


def racked(*nodes, **spec):
    return [namespace(), topology(), placed_flavor(), *nodes, queue(**spec), local_queue()]


def nothing_covered():
    job = asking(workload("a", requests={}), ANYWHERE)
    return scenario({"submit": [job], "cycle": True}, {"settle": True}, objects=racked(node("n1")))


def two_on_one_node():
    """Both workloads fit, with two resources each, and are considered in one cycle."""
    both = groups(("f", 8, 8), resources=("cpu", "memory"))
    objects = racked(node("n1"), resourceGroups=both)
    objects += [queue("other", resourceGroups=both), local_queue("door", "other")]
    needs = {"cpu": "2", "memory": "1"}
    jobs = [workload("b", requests=needs), workload("a", requests=needs, queue_name="door")]
    step = {"submit": [asking(job, ANYWHERE) for job in jobs], "cycle": True}
    return scenario(step, objects=objects)


def moved_onto_a_node():
    """The node of one fails, and the only other is planned for a second in the same cycle."""
    objects = [*racked(node("n1", "2"), node("n2", "2")), queue("other"), local_queue("door", "other")]
    story = scenario(
        {"submit": [asking(workload("b", "2"), ANYWHERE)], "cycle": True},
        {"remove": [{"kind": "Node", "metadata": {"name": "n1"}}]},
        {"submit": [asking(workload("a", "2", queue_name="door"), ANYWHERE)]},
        objects=objects,
    )
    story["steps"].append({"at": 4, "cycle": True})
    return story


def last_slot():
    """A node has capacity for one more pod, and there are two pod sets."""
    job = asking(workload("a", "1"), ANYWHERE)
    job["spec"]["podSets"].append(deepcopy(job["spec"]["podSets"][0]) | {"name": "second"})
    return scenario({"submit": [job], "cycle": True}, objects=racked(node("n1", pods="1")))


def leader_of_other_things():
    """The requests of the leader do not count for quota."""
    job = workload("a", "1", 2)
    leader = deepcopy(job["spec"]["podSets"][0]) | {"name": "leader", "count": 1}
    leader["template"]["spec"]["containers"][0]["resources"]["requests"] = {"example.com/port": "1"}
    job["spec"]["podSets"].append(leader)
    for pod_set in (0, 1):
        asking(job, {"required": "kubernetes.io/hostname", "podSetGroupName": "g"}, pod_set)
    objects = racked(node("n1", **{"example.com/port": "4"}))
    without = {"excludeResourcePrefixes": ["example.com/"]}
    return scenario({"submit": [job], "cycle": True}, objects=objects, resources=without)


def claiming(**devices):
    """A claim of one device of a class, from a template with more fields."""
    request = {"name": "r", "exactly": {"deviceClassName": "gpu", **devices.pop("exactly", {})}}
    template = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": "t", "namespace": "ns"},
        "spec": {"spec": {"devices": {"requests": [request], **devices}}},
    }
    job = workload("a")
    job["spec"]["podSets"][0]["template"]["spec"]["resourceClaims"] = [{"name": "d", "resourceClaimTemplateName": "t"}]
    mappings = [{"name": "gpus", "deviceClassNames": ["gpu"]}]
    own = queue(resourceGroups=groups(("f", 4, 4), resources=("cpu", "gpus")))
    return scenario(
        {"submit": [job], "settle": True},
        {"cycle": True},
        objects=[namespace(), flavor(), own, local_queue(), template],
        resources={"deviceClassMappings": mappings},
    )


def constrained():
    """In v0.17 the gate of that name turns the counting on; it is on by default since."""
    story = claiming(constraints=[{"matchAttribute": "gpu.example.com/model"}])
    return {**story, "config": {**story["config"], "featureGates": {"DynamicResourceAllocation": True}}}


def dispatched():
    """A manager and one worker, which admits the workload."""
    parameters = {"apiGroup": "kueue.x-k8s.io", "kind": "MultiKueueConfig", "name": "all"}
    multi_kueue = {**check("mk"), "spec": {"controllerName": "kueue.x-k8s.io/multikueue", "parameters": parameters}}
    config = {**check("all"), "kind": "MultiKueueConfig", "spec": {"clusters": ["w1"]}}
    member = {**check("w1"), "kind": "MultiKueueCluster", "spec": {}}
    checks = {"admissionChecksStrategy": {"admissionChecks": [{"name": "mk"}]}}
    manager = {"name": "manager", "objects": base(multi_kueue, config, member, **checks)}
    submit = {"on": "manager", "submit": [workload("a")], "cycle": True}
    works = {"on": "w1", "settle": True, "cycle": True}
    steps = [submit, {"on": "manager", "settle": True}, {"dispatch": True}, works, {"dispatch": True}]
    story = scenario(*steps) | {"clusters": [manager, {"name": "w1", "objects": base()}]}
    del story["objects"]
    return story


def evicted_on_its_worker():
    """A worker evicts the copy of an admitted workload before the manager reconciles the workload."""
    story = dispatched()
    story["config"]["multiKueue"] = {"dispatcherName": "kueue.x-k8s.io/multikueue-dispatcher-incremental"}
    stopped = local_queue()
    stopped["spec"]["stopPolicy"] = "HoldAndDrain"
    evict = {"on": "w1", "apply": [stopped], "settle": True}
    first = len(story["steps"])
    story["steps"] += [{"at": first, **evict}, {"at": first + 1, "dispatch": True}]
    return story


def deleted(results):
    return [entry["cluster"] for result in results for entry in result.get("deleted", ())]


def checked(results):
    return [entry["message"] for result in results for entry in result.get("checks", ())][-1]


def admitted(results):
    return any(r.get("admitted") for r in results)


STORIES = {
    "topology_faults_pass": (nothing_covered, admitted, True),
    "topology_usage_by_quota": (two_on_one_node, reserved, None),
    "moved_pods_are_uncounted": (moved_onto_a_node, reserved, "f"),
    "earlier_pod_sets_take_no_slot": (last_slot, admitted, True),
    "pod_sets_without_requests_inherit_nothing": (leader_of_other_things, admitted, False),
    "flavorless_quota_needs_all_checks": (flavorless, admitted, False),
    "scan_stops_at_first_missing_resource": (two_missing, lambda results: said(results).count("insufficient"), 1),
    "flavors_without_candidates_compete": (no_preemption_candidates, reserved, None),
    "label_keys_of_whole_group": (labelled, reserved, None),
    "preemption_counts_pods": (pods_short, lambda results: "no longer fits" in said(results), False),
    "zero_shares_do_not_borrow": (lends_nothing, evicted, []),
    "usage_in_thousandths": (lambda: used(**SCOPE), consumed, {"ns/lq": {"cpu": "0.066000000"}}),
    "pooled_entry_penalties": (used, lambda results: "penalty:cpu" in consumed(results)["ns/lq"], True),
    "pooled_penalties_stay": (settled_twice, lambda results: consumed(results[3:]) != consumed(results[:3]), True),
    "usage_starts_from_admitted": (used, lambda results: consumed(results[:1])["ns/lq"]["cpu"], "1.000000000"),
    "check_evictions_name_no_state": (rejected, said, "At least one admission check is false"),
    "devices_by_count_only": (constrained, admitted, False),
    "device_admin_access_refused": (lambda: claiming(exactly={"adminAccess": True}), admitted, False),
    "multi_kueue_texts_of_v0_18": (dispatched, checked, 'The workload got reservation on "w1"'),
    "multi_kueue_nominates_during_retries": (evicted_on_its_worker, deleted, ["w1"]),
    "nomination_texts_of_v0_17": (elsewhere, said, "Workload namespace doesn't match ClusterQueue selector"),
}


def test_each_release_rule_has_a_scenario():
    assert STORIES.keys() == {rule.name for rule in RULES}


def told_by(story, release):
    copy = deepcopy(story)
    copy["config"]["version"] = release.name
    return replay(copy)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_decisions_differ_between_releases_before_and_after_a_rule(rule):
    make, ask, before = STORIES[rule.name]
    last = max(release for release in RELEASES if rule.holds_in(release))
    first = min(release for release in RELEASES if release > last)
    assert not rule.holds_in(first)
    assert ask(told_by(make(), last)) == before
    assert ask(told_by(make(), first)) != before


def overlapping():
    """Two queues reclaim quota, and both have the same first candidate."""
    reclaim = {"cohortName": "c", "preemption": {"reclaimWithinCohort": "Any"}}
    queues = [queue(cpu="4", **reclaim), queue("two", "4", **reclaim), queue("guest", "0", cohortName="c")]
    doors = [local_queue(), local_queue("second", "two"), local_queue("door", "guest")]
    borrow = [{"submit": [workload(name, "4", queue_name="door")], "cycle": True} for name in ("g1", "g2")]
    both = [workload("a", "4"), workload("b", "4", queue_name="second")]
    return scenario(*borrow, {"submit": both, "cycle": True}, objects=[namespace(), flavor(), *queues, *doors])


def stood_back():
    """A workload of another queue gets flavor f in the same cycle, and finishes before the next."""
    empty, shared = groups(("f", 0), ("g", 0)), groups(("f", 4), ("g", 4))
    pool = {"apiVersion": KUEUE, "kind": "Cohort", "metadata": {"name": "c"}, "spec": {"resourceGroups": shared}}
    queues = [queue(name, cohortName="c", resourceGroups=empty) for name in ("cq", "two")]
    objects = [namespace(), flavor(), flavor("g"), pool, *queues, local_queue(), local_queue("second", "two")]
    both = [workload("a", "4"), workload("b", "4", queue_name="second", priority=1)]
    return scenario({"submit": both, "cycle": True}, {"finish": ["ns/b"], "cycle": True}, objects=objects)


def alike():
    return scenario({"submit": [workload(name, "20") for name in ("a", "b", "c")], "cycle": True})


GATES = {
    "RecomputeAssignmentUponPreemptionTargetsOverlap": ("v0.19", overlapping, lambda results: len(evicted(results)), 1),
    "FlavorFungibilityPreserveScanProgress": ("v0.17", stood_back, reserved, "f"),
    "SchedulingEquivalenceHashing": ("v0.17", alike, lambda r: r[0]["queues"]["cq"]["inadmissible"], ["ns/a"]),
    "UnadmittedWorkloadsObservability": ("v0.19", alike, lambda results: results[0]["pending"][0]["reason"], "Pending"),
}
"""Gates whose default decides: the last release without it, a story, what is asked of it, and what that one says."""


@pytest.mark.parametrize("gate", GATES)
def test_decisions_differ_between_releases_before_and_after_a_feature_gate(gate):
    last, make, ask, before = GATES[gate]
    last = release_of(last)
    first = min(release for release in RELEASES if release > last)
    assert (DEFAULTS[last].get(gate, False), DEFAULTS[first][gate]) == (False, True)
    assert ask(told_by(make(), last)) == before
    assert ask(told_by(make(), first)) != before
