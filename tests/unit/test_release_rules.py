"""Each rule by which a release decides otherwise: one story, told by the last release with it and the first without."""

from copy import deepcopy

import pytest

from kueuepy.profiles import RELEASES, RULES
from kueuepy.replay import replay
from stories import KUEUE, flavor, local_queue, namespace, queue, scenario, workload


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
    """The last text that was written about a workload."""
    return [e["message"] for r in results for e in r.get("pending", ()) if e["workload"] == name][-1]


def reserved(results, name="ns/a"):
    """The flavor of cpu that a workload got."""
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


def nobody_to_preempt():
    """Another queue has borrowed all of f, and may keep it; g fits by borrowing."""
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


STORIES = {
    "flavorless_quota_needs_all_checks": (flavorless, lambda results: any(r.get("admitted") for r in results), False),
    "scan_stops_at_first_missing_resource": (two_missing, lambda results: said(results).count("insufficient"), 1),
    "flavors_without_candidates_compete": (nobody_to_preempt, reserved, None),
    "label_keys_of_whole_group": (labelled, reserved, None),
    "usage_in_thousandths": (lambda: used(**SCOPE), consumed, {"ns/lq": {"cpu": "0.066000000"}}),
    "pooled_entry_penalties": (used, lambda results: "penalty:cpu" in consumed(results)["ns/lq"], True),
    "pooled_penalties_stay": (settled_twice, lambda results: consumed(results[3:]) != consumed(results[:3]), True),
    "usage_starts_from_admitted": (used, lambda results: consumed(results[:1])["ns/lq"]["cpu"], "1.000000000"),
    "check_evictions_name_no_state": (rejected, said, "At least one admission check is false"),
    "nomination_texts_of_v0_17": (elsewhere, said, "Workload namespace doesn't match ClusterQueue selector"),
}


def test_each_rule_has_a_story():
    assert STORIES.keys() == {rule.name for rule in RULES}


def told_by(story, release):
    copy = deepcopy(story)
    copy["config"]["version"] = release.name
    return replay(copy)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_the_releases_on_either_side_of_a_rule_decide_otherwise(rule):
    make, ask, before = STORIES[rule.name]
    last = max(release for release in RELEASES if rule.holds_in(release))
    first = min(release for release in RELEASES if release > last)
    assert not rule.holds_in(first)
    assert ask(told_by(make(), last)) == before
    assert ask(told_by(make(), first)) != before
