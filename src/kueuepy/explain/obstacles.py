"""Obstacles that prevent the evaluation of a workload, or delay a workload that would fit.

Changes after which a workload would fit.
"""

from collections.abc import Callable, Iterable, Iterator

from kueuepy._core import Engine
from kueuepy.engine.facts import FactsView, FlavorView, PodSetView
from kueuepy.engine.records import NO_CONDITION, CheckView, StatusView
from kueuepy.explain import words
from kueuepy.explain.cause import Cause
from kueuepy.explain.cause import cause as _cause
from kueuepy.explain.placewords import is_missing, new_nodes
from kueuepy.objects import SECOND, Workload


def remedies(facts: FactsView, pod_sets: int) -> list[Cause]:
    """Return the changes after which a workload would fit: alternatives by flavor for each part that does not fit.

    Args:
        facts: The facts, which have the pod sets up to the first one that does not fit.
        pod_sets: The number of pod sets of the workload.
    """
    queue = facts["cluster_queue"]
    parts = [
        _cause("remedy", words.cover(queue, resource), {"resource": resource})
        for pod_set in facts["pod_sets"]
        for resource in pod_set["undeclared"]
    ]
    count = pod_sets if len(facts["pod_sets"]) == pod_sets else None
    parts += [] if parts else [_choice(*part, count=count) for part in _parts(facts)]
    if not parts:
        return []
    lone = parts[0].causes if len(parts) == 1 and parts[0].kind == "remedy_for" else ()
    shown = lone or tuple(parts)
    return [_cause("remedies", words.remedies(len(shown), all_of=not lone), None, shown)]


def _parts(facts: FactsView) -> Iterator[tuple[PodSetView, list[FlavorView]]]:
    """Yield, for each resource group in which no flavor fits a pod set, the pod set and the flavors of the group."""
    for pod_set in facts["pod_sets"]:
        for flavors in by_resource_group(pod_set):
            if not any(_fits(flavor) and flavor["mode"] is not None for flavor in flavors):
                yield pod_set, flavors


def by_resource_group(pod_set: PodSetView) -> Iterable[list[FlavorView]]:
    """Return the flavors of a pod set, grouped by resource group."""
    groups: dict[int, list[FlavorView]] = {}
    for flavor in pod_set["flavors"]:
        groups.setdefault(flavor["resource_group"], []).append(flavor)
    return groups.values()


def _fits(flavor: FlavorView) -> bool:
    return (
        not is_missing(flavor["place"])
        and not flavor["ineligible"]
        and not any(need["short"] for need in flavor["cells"])
    )


def _choice(pod_set: PodSetView, flavors: list[FlavorView], count: int | None) -> Cause:
    held = [_remedy(flavor, count) for flavor in flavors]
    resources = sorted({need["resource"] for flavor in flavors for need in flavor["cells"]})
    text = words.choices(resources, pod_set["name"], len(held))
    return _cause("remedy_for", text, {"pod_set": pod_set["name"], "resources": tuple(resources)}, held)


def _remedy(flavor: FlavorView, count: int | None) -> Cause:
    """Return the changes after which the request would fit into a flavor.

    The changes are `complete` unless one of them has no numbers, or the quota for other pod sets is unknown: `count`,
    the number of pod sets, is `None`, or one of several lacks more than quota. `tests/laws/test_remedies.py` applies
    complete changes.
    """
    short, place = [need for need in flavor["cells"] if need["short"]], flavor["place"]
    no_place = place is not None and is_missing(place)
    nodes = new_nodes(place) if place is not None and no_place and place["slice_size"] <= 1 else None
    taints = [why["taint"] for why in flavor["ineligible"] if why["taint"] is not None]
    finish = list(place["sufficient_alone"]) if place is not None and no_place and place["resolved"] else []
    is_complete = (
        (count == 1 or (count is not None and not (flavor["ineligible"] or no_place)))
        and len(taints) == len(flavor["ineligible"])
        and all(need["shortages"] and not words.is_impossible(need) for need in short)
        and (bool(finish or nodes) or not no_place)
        and (bool(short) or bool(flavor["ineligible"]) or no_place)
    )
    facts = {
        "flavor": flavor["flavor"],
        "tolerations": taints,
        "increases": [{"resource": need["resource"], **one._asdict()} for need in short for one in need["shortages"]],
        "finish": finish,
        "nodes": nodes,
        "complete": is_complete,
    }
    text = words.remedy(flavor) + ("" if is_complete else " (not tried)")
    return _cause("remedy", text, facts)


_WAYS_OUT = {
    "Deactivated": "it was active again",
    "Gated": "its admission gate was removed",
    "PodsReady": "the pods of every admitted workload were ready",
    "LocalQueueMissing": "LocalQueue {} existed",
    "LocalQueueStopped": "the stopPolicy of LocalQueue {} was None",
    "ClusterQueueMissing": "ClusterQueue {} existed",
    "DevicesUncounted": "the workload controller had counted its devices: settle() runs it",
}
_WAYS_OUT_OF_INACTIVITY = {
    "Stopped": "the stopPolicy of ClusterQueue {} was None",
    "FlavorNotFound": "the ResourceFlavors that ClusterQueue {} names existed",
    "CheckNotFound": "the AdmissionChecks that ClusterQueue {} names existed",
    "CheckInactive": "the AdmissionChecks of ClusterQueue {} were active",
    "TopologyNotFound": "the Topologies that the flavors of ClusterQueue {} name existed",
    "CohortCycle": "the Cohorts above ClusterQueue {} did not form a cycle",
}
_UNCOUNTED = "needs a reconcile: the workload controller has not counted its devices yet, so it is not in a queue"
_WAYS_TO_BE_ADMISSIBLE = {
    "FailedChecks": "its admission checks were reset to Pending, which happens after its eviction",
    "NamespaceMismatch": "the namespaceSelector of ClusterQueue {} matched the labels of its namespace",
}


def obstacles(facts: FactsView) -> list[Cause]:
    """Return why no cycle evaluates a workload, or why a cycle rejects it before it evaluates flavors."""
    if (obstacle := facts["obstacle"]) is not None:
        text = _UNCOUNTED if obstacle["kind"] == "DevicesUncounted" else obstacle["message"]
        return [_cause("obstacle", text, {"reason": obstacle["reason"]}, _inactivity(facts))]
    if not facts["nominated"]:
        return [_cause("obstacle", facts["message"], {"reason": facts["reason"]})]
    return []


def _inactivity(facts: FactsView) -> list[Cause]:
    if (inactivity := facts["inactivity"]) is None:
        return []
    text = words.inactive(facts["cluster_queue"], inactivity["message"])
    return [_cause("inactive", text, {"reason": inactivity["reason"]})]


def ways_out(facts: FactsView) -> list[Cause]:
    """Return the changes after which a cycle would evaluate the workload."""
    ways = [_cause("remedy", text) for text in _ways_out(facts)]
    return [_cause("remedies", words.considered(len(ways)), None, ways)] if ways else []


def _ways_out(facts: FactsView) -> Iterator[str]:
    queue, obstacle = facts["cluster_queue"], facts["obstacle"]
    if obstacle is not None and obstacle["kind"] in _WAYS_OUT:
        yield _WAYS_OUT[obstacle["kind"]].format(obstacle["queue"])
    elif facts["inactivity"] is not None:
        ways = [_WAYS_OUT_OF_INACTIVITY.get(kind, "") for kind, _ in facts["inactivity"]["causes"]]
        yield from (way.format(queue) for way in dict.fromkeys(ways) if way)
    elif obstacle is None and facts["inadmissibility"] in _WAYS_TO_BE_ADMISSIBLE:
        yield _WAYS_TO_BE_ADMISSIBLE[facts["inadmissibility"]].format(queue)


# --- delays ----------------------------------------------------------------------------------------------------------


def delays(engine: Engine, found: int, facts: FactsView) -> list[Cause]:
    """Return failed admission checks, the current back-off after an eviction, and that no cycle tries the workload."""
    status = engine.status_details(found)
    delaying = [check_cause(check) for check in status.checks if check.state in ("Retry", "Rejected")]
    if (waits := backoff(engine, status, facts)) is not None:
        delaying.append(waits)
    # A notified tree is tried in the next cycle; which trees that concerns is not asked.
    elif facts["verdict"] == "Admitted" and facts["obstacle"] is None and not engine.notified_trees():
        _, inadmissible = engine.queues().get(facts["cluster_queue"], ((), ()))
        if facts["workload"] in inadmissible:
            delaying.append(_cause("untried", words.untried()))
    return delaying


def check_cause(check: CheckView) -> Cause:
    """Return the state of an admission check."""
    text = words.check(check.name, check.state, check.message)
    return _cause("check", text, {"name": check.name, "state": check.state})


def backoff(engine: Engine, status: StatusView, facts: FactsView) -> Cause | None:
    """Return the current back-off after an eviction; `None` if there is none."""
    until = status.requeue_at
    # A back-off that has passed stays in the status.
    if until is None or until <= engine.now:
        return None
    left = (until - engine.now) / SECOND
    text = words.backoff(left, status.requeue_count or 0, facts["cluster_queue"])
    return _cause("backoff", text, {"until": until, "seconds": left})


def releases(engine: Engine, facts: FactsView, known: Callable[[str], Workload | None]) -> list[Cause]:
    """Return the latest possible end of a workload that holds enough quota, if it has a maximum execution time."""
    ends = sorted(
        (end, key)
        for key in {
            key
            for pod_set in facts["pod_sets"]
            for flavor in pod_set["flavors"]
            for need in flavor["cells"]
            for key in need["sufficient_alone"]
        }
        if (end := _end(engine, key, known(key))) is not None
    )
    if not ends:
        return []
    end, key = ends[0]
    left = (end - engine.now) / SECOND
    return [_cause("release", words.release(key, left), {"workload": key, "at": end, "seconds": left})]


def _end(engine: Engine, key: str, workload: Workload | None) -> int | None:
    if workload is None or workload.maximum_execution_time_seconds is None:
        return None
    found = engine.find(key)
    admitted = engine.conditions(found).get("Admitted", NO_CONDITION)
    if not admitted.is_true:
        return None
    # The limit is for all runs of the workload together.
    past = engine.status_details(found).past_execution_seconds or 0
    return admitted.transition + (workload.maximum_execution_time_seconds - past) * SECOND


def fewer_pods(facts: FactsView, workload: Workload | None) -> list[Cause]:
    """Return the minimum number of pods of each pod set that can start with fewer pods."""
    sizes = {one.name: one.min_count for one in (workload.pod_sets if workload is not None else ())}
    return [
        _cause(
            "fewer_pods",
            words.fewer_pods(pod_set, least),
            {"pod_set": pod_set["name"], "min_count": least, "count": pod_set["count"]},
        )
        for pod_set in facts["pod_sets"]
        if (least := sizes.get(pod_set["name"])) is not None and least < pod_set["count"]
    ]
