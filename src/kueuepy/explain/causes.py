"""Conversion of the core's facts to causes."""

from itertools import groupby, takewhile
from operator import itemgetter

from kueuepy.engine.decisions import Admitted
from kueuepy.engine.facts import (
    CandidateView,
    CellView,
    FactsView,
    FlavorView,
    NodeView,
    PodSetView,
    less,
    number,
    positive,
)
from kueuepy.engine.records import NO_CONDITION, ConditionView, StatusView
from kueuepy.explain import words
from kueuepy.explain.cause import Cause
from kueuepy.explain.cause import cause as _cause
from kueuepy.explain.obstacles import check_cause, obstacles, remedies, ways_out
from kueuepy.explain.placewords import placement_cause
from kueuepy.objects import Workload

_MOST_NAMED = 5  # workloads each of which would free enough quota alone
_MOST_ALIKE = 3  # more candidates of one queue with the same verdict are combined


# --- pending workloads ----------------------------------------------------------------------------------------------


def waiting_causes(
    facts: FactsView,
    position: int | None,
    head: str | None,
    *,
    before: list[Cause],
    after: list[Cause],
    fair: bool,
    pod_sets: int,
) -> tuple[Cause, ...]:
    """Return why a workload is pending, and which changes would admit it.

    Args:
        facts: The facts of the workload.
        position: The position of the workload in the queue, from 0; `None` if the workload is not queued.
        head: The head of a StrictFIFO queue that blocks the workload, if any.
        before: Causes that describe delays of limited duration; they are listed first.
        after: Causes that concern the whole request; they are listed after the flavors.
        fair: Whether fair sharing is enabled.
        pod_sets: The number of pod sets of the workload.
    """
    causes = list(before)
    if head is not None:
        causes.append(_cause("behind", words.behind(head, facts["cluster_queue"]), {"workload": head}))
    causes += obstacles(facts)
    if facts["goes_on"]:
        causes.append(_cause("search_continues", words.goes_on()))
    for pod_set in facts["pod_sets"]:
        causes += _pod_set(pod_set, alone=len(facts["pod_sets"]) == 1, fair=fair)
    if facts["contested"] or facts["candidates"]:
        causes.append(_preemption(facts))
    if fair:
        causes += shares(facts)
    if position is not None:
        text = words.position(position, facts["cluster_queue"])
        causes.append(_cause("position", text, {"position": position}, _ahead(facts)))
    causes += after
    # What keeps a workload out of the queue must end first; until then, quota does not help.
    if ways := ways_out(facts):
        causes += ways
    elif facts["verdict"] == "Pending":
        causes += remedies(facts, pod_sets)
    return tuple(causes)


def _ahead(facts: FactsView) -> list[Cause]:
    """Return the first workloads that are ahead of a workload, by the rule that puts them there."""
    return [
        _cause("ahead", words.ahead(rule, names), {"rule": rule, "workloads": names})
        for rule, group in groupby(facts["ahead"], itemgetter(1))
        for names in [[name for name, _ in group]]
    ]


def _pod_set(pod_set: PodSetView, *, alone: bool, fair: bool) -> list[Cause]:
    causes = [
        _cause("undeclared", words.undeclared(resource), {"resource": resource}) for resource in pod_set["undeclared"]
    ]
    causes += [_flavor(flavor, uncovered=bool(pod_set["undeclared"]), fair=fair) for flavor in pod_set["flavors"]]
    if alone:
        return causes
    return [_of_pod_set(pod_set, causes)]


def _of_pod_set(pod_set: PodSetView, causes: list[Cause], most: int = 0) -> Cause:
    return _cause("pod_set", words.pod_set(pod_set, most), {"name": pod_set["name"], "count": pod_set["count"]}, causes)


def _flavor(flavor: FlavorView, *, uncovered: bool, fair: bool) -> Cause:
    facts = {
        "flavor": flavor["flavor"],
        "tried": flavor["mode"] is not None,
        "chosen": flavor["chosen"],
        "mode": flavor["mode"] or "",
        "borrowing_level": flavor["borrowing_level"],
        "reason": flavor["reason"],
    }
    if flavor["ineligible"]:
        inner = [_cause("eligibility", why["message"], {"flavor": flavor["flavor"]}) for why in flavor["ineligible"]]
    else:
        needs = sorted(flavor["cells"], key=itemgetter("resource"))
        inner = [_need(need, fair=fair) for need in needs if need["short"] or flavor["chosen"]]
        inner += [placement_cause(flavor["place"])] if flavor["place"] else []
    return _cause("flavor", words.flavor(flavor, uncovered=uncovered), facts, inner)


def _need(need: CellView, *, fair: bool) -> Cause:
    numbers = ("flavor", "resource", "asked", "before", "available", "potential", "where", "limit")
    facts = {**{name: value for name, value in need.items() if name in numbers}, "missing": need["missing"]}
    if need["short"]:
        facts["shortages"] = tuple(shortage._asdict() for shortage in need["shortages"])
    return _cause("resource", words.need(need), facts, _shortage(need, fair=fair) if need["short"] else ())


def _shortage(need: CellView, *, fair: bool) -> list[Cause]:
    causes = [_node(node, need) for node in need["path"]]
    causes += [
        _cause("holder", words.holder(holder, need["resource"]), holder)
        for holder in need["quota_users"]
        if holder["name"] != need["path"][0]["name"]
    ]
    if _is_barred(need):
        causes.append(_cause("no_preemption", words.no_preemption(need, fair=fair)))
    if need["sufficient_alone"]:
        named = tuple(need["sufficient_alone"][:_MOST_NAMED])
        text = words.sufficient_alone(named, more=len(need["sufficient_alone"]) > _MOST_NAMED)
        causes.append(_cause("sufficient_alone", text, {"workloads": named}))
    return causes


def _node(node: NodeView, need: CellView) -> Cause:
    binds = node["name"] == need["where"]
    return _cause("node", words.node(node, need, binds=binds), {**node, "binds": binds})


def _is_barred(need: CellView) -> bool:
    """Return whether a resource is insufficient and preemption is not considered for it."""
    return need["short"] and not need["may_preempt"] and not words.is_impossible(need)


def _barred(facts: FactsView) -> list[str]:
    """Return the resources that rule out preemption; empty if a flavor with candidates has no such resource."""
    contested = [
        [need["resource"] for need in flavor["cells"] if _is_barred(need)]
        for pod_set in facts["pod_sets"]
        for flavor in pod_set["flavors"]
        if flavor["mode"] is not None and any(need["short"] and need["may_preempt"] for need in flavor["cells"])
    ]
    return sorted({resource for barred in contested for resource in barred}) if all(contested) else []


def _preemption(facts: FactsView) -> Cause:
    barred = _barred(facts)
    alike: dict[tuple[str, str], list[CandidateView]] = {}
    for candidate in facts["candidates"]:
        alike.setdefault((candidate["verdict"], candidate["cluster_queue"]), []).append(candidate)
    causes: list[Cause] = []
    for (verdict, queue), group in alike.items():
        # A queue can have thousands of candidates with one verdict.
        if verdict == "Taken" or len(group) <= _MOST_ALIKE or any(c["comparisons"] for c in group):
            causes += [_candidate(candidate, barred) for candidate in group]
        else:
            verdicts = {"verdict": verdict, "cluster_queue": queue, "workloads": tuple(c["workload"] for c in group)}
            causes.append(_cause("candidates", words.candidates(group), verdicts))
    # The core counts all candidates, and names as many as anybody would read.
    hidden = sum(facts["counts"].values()) - len(facts["candidates"])
    if hidden > 0:
        causes.append(_cause("more_candidates", words.hidden(hidden, facts["counts"]), {"counts": facts["counts"]}))
    return _cause("preemption", words.preemption(facts), {"counts": facts["counts"]}, causes)


def _candidate(candidate: CandidateView, barred: list[str]) -> Cause:
    inner = [_cause("comparison", words.comparison(made), made) for made in candidate["comparisons"]]
    numbers = ("workload", "cluster_queue", "verdict", "reason", "leaving", "priority")
    return _cause(
        "candidate",
        words.candidate(candidate, barred),
        {name: value for name, value in candidate.items() if name in numbers},
        inner,
    )


def shares(facts: FactsView) -> list[Cause]:
    """Return the dominant resource shares of the workload's queue and of the Cohorts above it."""
    return [_cause("share", words.share(share), share) for share in facts["shares"]]


# --- workloads with quota -------------------------------------------------------------------------------------------


def holding_causes(
    facts: FactsView, decided: Admitted | None, status: StatusView, workload: Workload | None, *, fair: bool
) -> tuple[Cause, ...]:
    """Return the quota that a workload holds, the lenders of this quota, and why earlier flavors were not assigned."""
    causes: list[Cause] = []
    most = {one.name: one.count for one in workload.pod_sets} if workload is not None else {}
    for pod_set in facts["pod_sets"]:
        inner = [_held(need) for flavor in pod_set["flavors"] for need in flavor["cells"]]
        causes.append(_of_pod_set(pod_set, inner, most.get(pod_set["name"], 0)))
    if decided is not None:
        taken = {flavor for flavors in decided.flavors.values() for flavor in flavors.values()}
        causes += [
            _cause("earlier_flavor", words.attempt(attempt), {"flavor": attempt.flavor, "mode": attempt.mode})
            for attempt in decided.attempts
            # The flavor that was taken is described with its amounts.
            if attempt.flavor not in taken
        ]
    causes += map(check_cause, status.checks)
    if fair:
        causes += shares(facts)
    return tuple(causes)


def _held(need: CellView) -> Cause:
    own = need["path"][0]
    loan = positive(less(own["usage"], own["nominal"]))
    numbers = {"flavor": need["flavor"], "resource": need["resource"], "amount": need["asked"]}
    numbers["borrowed"] = min(need["asked"], loan, key=number)
    return _cause("held", words.held(need, loan), numbers, _loan(need) if number(loan) else ())


def _loan(need: CellView) -> list[Cause]:
    """Return the lenders of borrowed quota, which are all nodes below the lowest Cohort that does not borrow itself."""
    own, *above = need["path"]
    # No node above a Cohort that does not borrow lends quota to this queue.
    borrowing = takewhile(lambda node: number(node["usage"]) > number(node["subtree"]), above)
    within = above[: len(list(borrowing)) + 1]
    names, resource = {node["name"] for node in within}, need["resource"]
    causes = [
        _cause("lender", words.lender(holder, resource), holder)
        for holder in need["quota_users"]
        if number(holder["lends"]) and holder["name"] != own["name"] and holder["meets"] in names
    ]
    causes += [_cause("pool", words.pool(node, resource), node) for node in within if number(node["nominal"])]
    return [*causes, *(_cause("node", words.node(node, need), {**node, "binds": False}) for node in need["path"])]


# --- history ---------------------------------------------------------------------------------------------------------


def history_causes(facts: FactsView, conditions: dict[str, ConditionView]) -> tuple[Cause, ...]:
    """Return the current eviction of a workload, if any."""
    evicted, preempted = conditions.get("Evicted", NO_CONDITION), conditions.get("Preempted", NO_CONDITION)
    if not evicted.is_true:
        return ()
    inner: tuple[Cause, ...] = ()
    if preempted.is_true:
        text = words.preempted(facts["preemptor"], preempted.reason)
        inner = (_cause("preempted_by", text, {"workload": facts["preemptor"], "reason": preempted.reason}),)
    return (_cause("eviction", f"evicted: {evicted.reason}: {evicted.message}", {"reason": evicted.reason}, inner),)
