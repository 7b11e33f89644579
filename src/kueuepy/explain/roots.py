"""The root cause that keeps a workload from running, as a code with facts."""

from typing import Any

from kueuepy._core import Engine
from kueuepy.engine.facts import CellView, FactsView, FlavorView, ObstacleView, PodSetView, number
from kueuepy.engine.records import NO_CONDITION, AdmissionView, CheckView, ConditionView, StatusView
from kueuepy.explain import placewords, words
from kueuepy.explain.cause import RootCause
from kueuepy.explain.obstacles import backoff, by_resource_group

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
    return RootCause(
        "NoMatchingFlavor",
        text,
        {"pod_set": pod_set["name"], "resources": list(resources), "messages": messages},
    )
