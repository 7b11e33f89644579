"""Obstacles that prevent or delay the evaluation of a workload, changes that would help, and its root cause."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from kueuepy._core import Engine
from kueuepy.engine.facts import CellView, FactsView, FlavorView, ObstacleView, PodSetView, number
from kueuepy.engine.records import NO_CONDITION, AdmissionView, CheckView, ConditionView, StatusView
from kueuepy.explain import placewords, words
from kueuepy.explain.cause import Cause, RootCause
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


# The code of each obstacle that prevents the evaluation of a workload.
_OBSTACLES: dict[str, str] = {
    "LocalQueueMissing": "QueueInactive",
    "LocalQueueStopped": "QueueInactive",
    "ClusterQueueMissing": "QueueInactive",
    "ClusterQueueInactive": "QueueInactive",
    "Deactivated": "Deactivated",
    "Gated": "AdmissionGated",
    "OnHold": "OnHold",
    "PodsReady": "WaitingForPodsReady",
    "DevicesRefused": "InvalidWorkload",
    "DevicesUncounted": "NotModelled",
}
# Codes of causes that do not end when other workloads finish, the most severe first.
_PERMANENT: tuple[str, ...] = ("NoMatchingFlavor", "NeverFits")
_BY_SEVERITY: tuple[str, ...] = (*_PERMANENT, "TopologyNoFit", "QuotaExceeded")


def waiting_root(
    engine: Engine, facts: FactsView, status: StatusView, written: ConditionView, head: str | None
) -> RootCause | None:
    """Return the root cause that keeps a workload pending; `None` if the next cycle would admit it.

    Causes are ranked: first causes that do not end by themselves, then the position in the queue, then a lack of quota.

    Args:
        engine: The engine.
        facts: The facts of the workload.
        status: The status of the workload.
        written: The workload's condition QuotaReserved.
        head: The head of a StrictFIFO queue that blocks the workload, if any.
    """
    if (found := _unconsidered(facts, status)) is not None:
        return found
    unfit = min(
        (root for pod_set in facts["pod_sets"] for root in _unfit(pod_set)),
        key=lambda root: _BY_SEVERITY.index(root.code),
        default=None,
    )
    # A back-off ends by itself, but what never fits does not.
    if unfit is not None and unfit.code in _PERMANENT:
        return unfit
    if (delay := backoff(engine, status, facts)) is not None:
        return RootCause("BackOff", delay.text, delay.facts)
    if head is not None:
        return _behind(facts, head)
    if facts["verdict"] == "Preempting":
        return _preemption(facts)
    if facts["verdict"] == "Admitted":
        return _behind(facts, None) if facts["position"] else _not_modelled(engine, written)
    return unfit or RootCause("SearchContinues", words.goes_on(), {"reason": facts["reason"]})


def holding_root(verdict: str, status: StatusView, admission: AdmissionView | None) -> RootCause | None:
    """Return the root cause that keeps a workload with quota from running; `None` if it runs."""
    if verdict != "QuotaReserved":
        return None
    checks = [check for check in status.checks if check.state != "Ready"]
    if checks:
        return _checks(checks)
    delayed = [one for one in (admission.pod_sets if admission is not None else ()) if one.delayed == "Pending"]
    if not delayed:
        return None
    text = f"pod set {delayed[0].name} has no topology assignment yet"
    return RootCause("CheckPending", text, {"checks": []})


# --- workloads that no cycle evaluates -----------------------------------------------------------------------------


def _unconsidered(facts: FactsView, status: StatusView) -> RootCause | None:
    if (obstacle := facts["obstacle"]) is not None:
        return _obstacle(facts, obstacle)
    rejection, queue = facts["inadmissibility"], facts["cluster_queue"]
    if rejection == "FailedChecks":
        return _checks([check for check in status.checks if check.state in ("Retry", "Rejected")])
    if rejection in ("NamespaceMissing", "NamespaceMismatch"):
        namespace = facts["workload"].partition("/")[0]
        return RootCause("NamespaceNotSelected", facts["message"], {"namespace": namespace, "cluster_queue": queue})
    return None if facts["nominated"] else RootCause("InvalidWorkload", facts["message"], {"reason": facts["reason"]})


def _obstacle(facts: FactsView, obstacle: ObstacleView) -> RootCause:
    code = _OBSTACLES[obstacle["kind"]]
    if code != "QueueInactive":
        return RootCause(code, obstacle["message"], {"reason": obstacle["reason"]})
    inactivity = facts["inactivity"]
    return RootCause(
        code,
        obstacle["message"] if inactivity is None else words.inactive(facts["cluster_queue"], inactivity["message"]),
        {
            "kind": obstacle["kind"],
            "queue": obstacle["queue"] or facts["cluster_queue"],
            "reason": obstacle["reason"],
            "inactivity": [kind for kind, _ in inactivity["causes"]] if inactivity is not None else [],
        },
    )


def _checks(checks: list[CheckView]) -> RootCause:
    text = "; ".join(words.check(check.name, check.state, check.message) for check in checks)
    return RootCause("CheckPending", text, {"checks": [{"name": one.name, "state": one.state} for one in checks]})


def _behind(facts: FactsView, head: str | None) -> RootCause:
    queue, position = facts["cluster_queue"], facts["position"]
    text = words.behind(head, queue) if head is not None else words.position(position or 0, queue)
    return RootCause("BehindInQueue", text, {"cluster_queue": queue, "position": position, "head": head})


def _preemption(facts: FactsView) -> RootCause:
    taken = [one["workload"] for one in facts["candidates"] if one["verdict"] == "Taken"]
    count = facts["counts"].get("Taken", len(taken))
    return RootCause("WaitingForPreemption", words.preemption(facts), {"workloads": taken, "count": count})


def _not_modelled(engine: Engine, written: ConditionView) -> RootCause | None:
    """Return the cause `NotModelled` if Kueue refused a workload that fits and this engine has not run a cycle."""
    if written is NO_CONDITION or written.is_true or any(engine.cycle_counts()):
        return None
    return RootCause("NotModelled", words.refused_elsewhere(written.reason), {"reason": written.reason})


# --- workloads that do not fit -------------------------------------------------------------------------------------


def _unfit(pod_set: PodSetView) -> list[RootCause]:
    """Return, for each resource group in which a pod set fits in no flavor, why the best flavor does not fit."""
    if pod_set["undeclared"]:
        return [_unmatched(pod_set, pod_set["undeclared"], [])]
    found = (_of_group(pod_set, flavors) for flavors in by_resource_group(pod_set))
    return [root for root in found if root is not None]


def _of_group(pod_set: PodSetView, flavors: list[FlavorView]) -> RootCause | None:
    eligible = [flavor for flavor in flavors if not flavor["ineligible"]]
    if not eligible:
        return _unmatched(pod_set, [], flavors)
    # Only a flavor that was tried and fits rules the group out as the reason.
    roots = [(flavor["mode"] is not None, _of_flavor(pod_set, flavor)) for flavor in eligible]
    if any(root is None for tried, root in roots if tried):
        return None
    unfit = [root for _, root in roots if root is not None]
    # Of several flavors, the one that is closest to a fit.
    return max(unfit, key=lambda root: _BY_SEVERITY.index(root.code), default=None)


def _of_flavor(pod_set: PodSetView, flavor: FlavorView) -> RootCause | None:
    short = [need for need in flavor["cells"] if need["short"]]
    impossible = [need for need in short if words.is_impossible(need)]
    if impossible:
        # Of several resources, the one that misses most of what is asked.
        need = max(impossible, key=_excess)
        return _of_need("NeverFits", pod_set, need, {"maximum": need["potential"]})
    if short:
        need = max(short, key=_excess)
        more = {"available": need["available"], "missing": need["missing"], "node": need["where"]}
        return _of_need("QuotaExceeded", pod_set, need, {**more, "limit": need["limit"]})
    placement = flavor["place"]
    if placement is None or not placewords.is_missing(placement):
        return None
    facts = {
        "pod_set": pod_set["name"],
        "flavor": flavor["flavor"],
        "topology": placement["topology"],
        "requested": placement["count"],
        "fits": placement["largest"] if placement["resolved"] else None,
        "fits_if_empty": placement["largest_if_empty"] if placement["resolved"] else None,
    }
    return RootCause("TopologyNoFit", f"{flavor['flavor']}: {placewords.placement(placement)}", facts)


def _excess(need: CellView) -> float:
    """Return the missing amount as a fraction of the request."""
    return number(need["missing"]) / max(1, number(need["asked"]))


def _of_need(code: str, pod_set: PodSetView, need: CellView, more: dict[str, Any]) -> RootCause:
    """Return a root cause that concerns one resource of a flavor, with the additional facts in `more`."""
    facts = {
        "pod_set": pod_set["name"],
        "flavor": need["flavor"],
        "resource": need["resource"],
        "requested": need["asked"],
    }
    return RootCause(code, f"{need['flavor']}: {words.need(need)}", facts | more)


def _unmatched(pod_set: PodSetView, resources: list[str], flavors: list[FlavorView]) -> RootCause:
    messages = {flavor["flavor"]: "; ".join(why["message"] for why in flavor["ineligible"]) for flavor in flavors}
    text = "; ".join([*map(words.undeclared, resources), *messages.values()])
    facts = {"pod_set": pod_set["name"], "resources": list(resources), "messages": messages}
    return RootCause("NoMatchingFlavor", text, facts)
