"""Sentences that explain the state of a workload, made from the facts of the core."""

import math
from collections.abc import Sequence
from operator import itemgetter

from kueuepy._core import Quantity
from kueuepy.engine.decisions import FlavorAttempt
from kueuepy.engine.facts import (
    Amount,
    CandidateView,
    CellView,
    ComparisonView,
    FactsView,
    FlavorView,
    NodeView,
    PodSetView,
    Precedence,
    QuotaUserView,
    RefusalView,
    ShareView,
    less,
    number,
)
from kueuepy.errors import counted, verb
from kueuepy.explain import placewords
from kueuepy.objects.times import LONGEST

# Descriptions of the result for a flavor, in the present tense (now) and in the past tense (at admission).
_MODES = {
    "NoFit": ("does not fit", "did not fit"),
    "NoCandidates": (
        "does not fit, and there are no preemption candidates",
        "did not fit, and there were no preemption candidates",
    ),
    "Preempt": ("fits after preemption", "would have fit after preemption"),
    "Reclaim": ("fits after reclaiming borrowed quota", "would have fit after reclaiming borrowed quota"),
    "Fit": ("fits", "fit"),
}
# Templates that explain why a candidate is not preempted; each template is used for one or several candidates.
_VERDICTS = {
    "NotNeeded": "{it is a candidate}, but the other targets are sufficient",
    "NotEnough": "{it is a candidate}, but no set of candidates that the preemption rules allow is sufficient",
    "WithinClusterQueueNever": "{it is} in the same queue, and withinClusterQueue is Never",
    "ReclaimWithinCohortNever": "{it is} in another queue, and reclaimWithinCohort is Never",
    "PriorityNotLower": "{its priority is} not lower",
    "NotNewer": "{its priority is} equal, and {it is} not newer",
    "QueueNotBorrowing": "{its} queue does not borrow there",
    "CohortNotBorrowing": "a Cohort above {its} queue does not borrow there",
    "FairSharing": "the fair sharing strategies do not allow it, given the share of {its} queue",
    "QueueInactive": "{its} ClusterQueue is inactive, which protects {its} running workloads",
    "BorrowWithinCohortNever": ("even without {it}, the request would have to borrow, and borrowWithinCohort is Never"),
    "BorrowPriorityNotLower": "the request has to borrow, and borrowWithinCohort requires a lower priority",
    "AboveMaxPriorityThreshold": (
        "the request has to borrow, and {its priority is} above the maxPriorityThreshold of borrowWithinCohort"
    ),
}
# The words of a template in the plural; each names itself in the singular.
_SEVERAL = {
    "it": "them",
    "its": "their",
    "it is": "they are",
    "it is a candidate": "they are candidates",
    "its priority is": "their priorities are",
}
_WAYS_ON = {
    "FlavorNotFound": "it existed",
    "TopologyRequired": "the pods requested a topology",
    "TopologyUnsupported": "the pods requested no topology",
    "TopologyUnknown": "its Topology existed",
    "TopologyLevelMissing": "its Topology had the requested levels",
}
_RULES: dict[Precedence, str] = {
    "Usage": "its LocalQueue has less past usage (admission fair sharing)",
    "Preemptor": "it has preempted workloads, and stays at the head of the queue until it is admitted",
    "Priority": "higher priority",
    "Time": "equal priority, and earlier in the queue",
    "Uid": "equal priority and time, and a smaller UID",
}
_REASONS = {
    "InClusterQueue": "it has a lower rank in the same queue",
    "InCohortReclamation": "its queue borrows the reclaimed quota",
    "InCohortFairSharing": "its queue has the larger share",
    "InCohortReclaimWhileBorrowing": "its queue borrows, and its priority is low enough for borrowWithinCohort",
}


def amount(resource: str, value: int | None) -> str:
    """Format an amount as Kueue does; `None` means unlimited."""
    return "no limit" if value is None else Quantity.format(resource, value)


def requested(resource: str, value: int | None) -> str:
    """Format a request or usage as Kueue does; `None` is the largest number of 64 bits, to which it clamps."""
    return f"at least {Quantity.format(resource, LONGEST)}" if value is None else amount(resource, value)


def flavor(facts: FlavorView, *, uncovered: bool = False) -> str:
    """Describe the result for a flavor; `uncovered` means that the queue does not cover a resource of the pod set."""
    if facts["ineligible"]:
        return f"{facts['flavor']}: not eligible"
    if (mode := facts["mode"]) is None:
        why = "a resource without quota" if uncovered else "an earlier flavor"
        return f"{facts['flavor']}: not tried, because {why} ended the search"
    if mode == "Fit" and placewords.is_missing(facts["place"]):
        return f"{facts['flavor']}: its quota is sufficient, but the pods do not fit into its topology"
    borrows = ", by borrowing" if facts["borrowing_level"] and mode in ("Fit", "Preempt", "Reclaim") else ""
    return f"{facts['flavor']}: {_MODES[mode][0]}{borrows}"


def no_preemption(facts: CellView, *, fair: bool) -> str:
    """Explain why preemption is not considered for a resource."""
    own, resource = facts["path"][0], facts["resource"]
    asked, nominal = requested(resource, facts["asked"]), amount(resource, own["nominal"])
    policy = "reclaimWithinCohort" if fair else "borrowWithinCohort"
    return (
        f"preemption is not considered: {asked} exceeds the nominalQuota of {own['name']}, {nominal}, so the request "
        f"would have to borrow even after preemption, and {policy} is Never"
    )


def pod_set(facts: PodSetView, most: int = 0) -> str:
    """Describe a pod set and its total requests; `most` is the number of pods in its Workload."""
    asked = ", ".join(f"{name} {requested(name, value)}" for name, value in sorted(facts["requests"].items()))
    pods = f"{facts['count']} of {counted(most, 'pod')}" if facts["count"] < most else counted(facts["count"], "pod")
    return f"pod set {facts['name']}, {pods}: {asked}"


def is_impossible(facts: CellView) -> bool:
    """Return whether a request exceeds the largest amount that the queue can ever use."""
    return number(facts["asked"]) > number(facts["potential"])


def need(facts: CellView) -> str:
    """Compare the request of a resource with the available amount."""
    resource = facts["resource"]
    earlier = f" ({requested(resource, facts['before'])} of them for other pod sets)" if number(facts["before"]) else ""
    asked = f"{resource}: requests {requested(resource, facts['asked'])}{earlier}"
    if is_impossible(facts):
        return f"{asked}, but at most {amount(resource, facts['potential'])} can ever be available"
    available = amount(resource, facts["available"])
    if not facts["short"]:
        return f"{asked}, {available} available"
    over = less(facts["missing"], facts["asked"])
    beyond = f", including {amount(resource, over)} used beyond quota" if number(over) > 0 else ""
    return f"{asked}, {available} available: {requested(resource, facts['missing'])} short{beyond}"


def node(facts: NodeView, of: CellView, *, binds: bool = False) -> str:
    """Describe the quota and usage of a ClusterQueue or Cohort on the path to the root."""
    resource = of["resource"]

    def text(name: str) -> str:
        return amount(resource, facts[name])  # type: ignore[literal-required]

    is_queue = facts["kind"] == "ClusterQueue"
    quota = f"nominal {text('nominal')}" if is_queue else f"subtree quota {text('subtree')}"
    parts = [quota, f"used {requested(resource, facts['usage'])}"]
    if facts["borrowing_limit"] is not None:
        parts.append(f"borrowingLimit {text('borrowing_limit')}")
    if facts["lending_limit"] is not None:
        parts.append(f"lendingLimit {text('lending_limit')}, so {text('guaranteed')} guaranteed")
    parts.append(_left(resource, facts["available"]))
    limit = "its borrowingLimit" if of["limit"] == "borrowingLimit" else "its quota"
    counts = f"  ← limited by {limit}" if binds else ""
    return f"{facts['kind']} {facts['name']}: {', '.join(parts)}{counts}"


def _left(resource: str, free: Amount) -> str:
    over = number(free) < 0
    return f"{amount(resource, less(0, free) if over else free)} {'over quota' if over else 'available'}"


def holder(facts: QuotaUserView, resource: str) -> str:
    """Describe the amounts that another queue of the tree uses, borrows and lends."""
    parts = [f"uses {requested(resource, facts['usage'])} of its {amount(resource, facts['nominal'])}"]
    parts.append(f"borrows {amount(resource, facts['borrowed'])}")
    parts.append(f"lends {amount(resource, facts['lends'])}")
    return f"{facts['kind']} {facts['name']}: {', '.join(parts)}"


def lender(facts: QuotaUserView, resource: str) -> str:
    """Describe the lender of borrowed quota."""
    return f"from {facts['kind']} {facts['name']}, which lends {amount(resource, facts['lends'])}"


def pool(facts: NodeView, resource: str) -> str:
    """Describe a Cohort whose own quota is borrowed."""
    return f"from Cohort {facts['name']}, which has {amount(resource, facts['nominal'])} of its own"


def sufficient_alone(workloads: Sequence[str], *, more: bool) -> str:
    """List the workloads such that the end of any one of them would free enough quota."""
    which = "one of these workloads: " if workloads[1:] else ""
    return f"enough would be free after the end of {which}{', '.join(workloads)}{' and others' if more else ''}"


def position(placement: int, queue: str) -> str:
    """Describe the position of a workload in its queue."""
    before = f"{counted(placement, 'workload')} {verb(placement, 'are')} tried before it" if placement else "first"
    return f"{before} in ClusterQueue {queue}"


def ahead(rule: Precedence, workloads: Sequence[str]) -> str:
    """Name workloads that are ahead of a workload in its queue, and the rule that puts them there."""
    return f"{_RULES[rule]}: {', '.join(workloads)}"


def behind(head: str, queue: str) -> str:
    """Name the head of a StrictFIFO queue that blocks the workload."""
    return (
        f"ClusterQueue {queue} is StrictFIFO: no workload is evaluated before its head, {head}, has quota or is removed"
    )


def untried() -> str:
    """Explain that a workload that fits stays inadmissible until an event in its cohort tree."""
    return (
        "no event makes Kueue try it again: a change of its queue, its cohort or a node, or the end of a workload "
        "there, would"
    )


def goes_on() -> str:
    """Explain that the next cycle does not start with the first flavor."""
    return "its flavor search continues where the last cycle stopped, and restarts after the last flavor"


def refused_elsewhere(reason: str) -> str:
    """Explain that Kueue has not admitted a workload that fits."""
    return (
        f"it fits, but Kueue wrote {reason}: either the next cycle admits it, or the cause of its delay is not modelled"
    )


def inactive(queue: str, message: str) -> str:
    """Explain why a ClusterQueue is inactive."""
    return f"ClusterQueue {queue}: {message}"


def backoff(seconds: float, evictions: int, queue: str) -> str:
    """Describe the remaining back-off after evictions."""
    after = "an eviction" if evictions == 1 else f"{evictions} evictions"
    return f"back-off for another {seconds:g} s after {after}; then it returns to ClusterQueue {queue}"


def release(workload: str, seconds: float) -> str:
    """Describe when a workload with a maximum execution time ends at the latest."""
    return f"{workload} finishes in {seconds:g} s at the latest, because of its maximumExecutionTimeSeconds"


def fewer_pods(facts: PodSetView, least: int) -> str:
    """Explain that not even the minimum number of pods fits."""
    asked = ", ".join(
        f"{name} {requested(name, None if value is None else value // facts['count'] * least)}"
        for name, value in sorted(facts["requests"].items())
    )
    pods = f"{counted(facts['count'], 'pod')} of pod set {facts['name']}"
    return f"not even its minCount, {least} of the {pods}, fits: {asked}"


def considered(count: int) -> str:
    """Return the heading for the changes after which a workload would be evaluated."""
    return "it would be evaluated if" + (" all of these were true" if count > 1 else "")


def undeclared(resource: str) -> str:
    """Describe a resource that no resource group covers."""
    return f"{resource}: no resource group of the ClusterQueue covers it"


def cover(queue: str, resource: str) -> str:
    """Describe the change after which a resource group would cover a resource."""
    return f"a resource group of ClusterQueue {queue} covered {resource} (not tried)"


def remedies(count: int, *, all_of: bool) -> str:
    """Return the heading for the changes after which a workload would fit."""
    which = "all of these were" if all_of else "one of these was"
    return "it would fit if" + ("" if count == 1 else f" {which} true")


def choices(resources: Sequence[str], pod_set: str, count: int) -> str:
    """Return the heading for the alternative changes after which a part of a request would fit."""
    return f"{', '.join(resources)} of pod set {pod_set}" + (": one of these" if count > 1 else "")


def remedy(flavor: FlavorView) -> str:
    """Describe the changes after which the request would fit into a flavor."""
    parts = [_eligible(why) for why in flavor["ineligible"]]
    placement = flavor["place"]
    if not parts and not placewords.is_missing(placement) and not any(need["short"] for need in flavor["cells"]):
        return f"{flavor['flavor']}: the flavor search reached it: each evaluation continues where the last one stopped"
    parts += [_more(need) for need in sorted(flavor["cells"], key=itemgetter("resource")) if need["short"]]
    parts += [placewords.remedy(placement)] if placement is not None and placewords.is_missing(placement) else []
    return f"{flavor['flavor']}: {', and '.join(parts)}"


def _eligible(why: RefusalView) -> str:
    if why["taint"] is None:
        return _WAYS_ON.get(why["kind"], "the node selector and affinity of the pods allowed its labels")
    key, value, effect = why["taint"]
    return f"the pods tolerated its taint {key}{'=' if value else ''}{value}:{effect}"


def _more(facts: CellView) -> str:
    resource = facts["resource"]
    if is_impossible(facts):
        most, asked = amount(resource, facts["potential"]), requested(resource, facts["asked"])
        return f"quotas and limits allowed {asked} {resource}; now they allow at most {most}"
    needed = facts["missing"]
    short = facts["shortages"]
    if not short:
        return f"{requested(resource, needed)} {resource} became free in {facts['where']}"
    first, *others = short
    by_first = "that amount" if first.amount == needed else amount(resource, first.amount)
    grown = [f"the {first.limit} of {first.node} increased by {by_first}"]
    grown += [f"the {limit} of {name} by {amount(resource, by)}" for name, limit, by in others]
    return f"{requested(resource, needed)} {resource} became free in {first.node}, or {' and '.join(grown)}"


def preemption(facts: FactsView) -> str:
    """Summarise the result of preemption."""
    taken = facts["counts"].get("Taken", 0)
    if taken:
        return f"preemption: {counted(taken, 'workload')} must be preempted"
    return "preemption cannot help" + ("" if facts["counts"] else ": no other workload holds the missing quota")


def candidate(facts: CandidateView, barred: Sequence[str] = ()) -> str:
    """Explain the verdict on a candidate; `barred` are insufficient resources for which preemption is not allowed."""
    name = f"{facts['workload']} in {facts['cluster_queue']}, priority {facts['priority']}"
    if facts["verdict"] == "NotEnough" and barred:
        also = " and ".join(barred)
        return (
            f"{name}: not preempted: {also} {'are' if barred[1:] else 'is'} also short, and preemption is not "
            f"considered for {'them' if barred[1:] else 'it'}"
        )
    if facts["verdict"] == "Taken":
        reason = facts["reason"] or ""
        already = "being preempted" if facts["leaving"] else "to be preempted"
        return f"{name}: {already}, {reason}: {_REASONS[reason]}"
    return f"{name}: {_verdict(facts['verdict'], 1)}"


def candidates(group: Sequence[CandidateView]) -> str:
    """Explain the common verdict on several candidates of one queue."""
    first = group[0]
    name = f"{first['workload']} and {len(group) - 1} more in {first['cluster_queue']}"
    return f"{name}: {_verdict(first['verdict'], len(group))}"


def _verdict(verdict: str, count: int) -> str:
    """Return the common verdict on one or several candidates."""
    words = _SEVERAL if count > 1 else {word: word for word in _SEVERAL}
    return f"not preempted: {_VERDICTS[verdict].format_map(words)}"


def hidden(count: int, counts: dict[str, int]) -> str:
    """Summarise the candidates that are not listed."""
    counted = [
        f"{number} {'to be preempted' if name == 'Taken' else _verdict(name, number)}"
        for name, number in counts.items()
    ]
    return f"and {count} more; in total: {'; '.join(counted)}"


def comparison(facts: ComparisonView) -> str:
    """Describe the comparison of two shares by a fair sharing strategy."""
    final = facts["strategy"] == "LessThanOrEqualToFinalShare"
    theirs = facts["final_share"] if final else facts["their_share"]
    sign = ("≤" if facts["holds"] else ">") if final else ("<" if facts["holds"] else "≥")
    when = "without it" if final else "with it"
    before = f" (before: {share_text(facts['their_share'])})" if final else ""
    infinite = math.isinf(facts["our_share"]) and math.isinf(theirs)
    ratios = ", compared by borrowed amounts, because both have weight 0" if infinite else ""
    return (
        f"{facts['strategy']}: share of {facts['ours']} with the request {share_text(facts['our_share'])} {sign} "
        f"share of {facts['theirs']} {when} {share_text(theirs)}{before}{ratios}"
    )


def share_text(value: float) -> str:
    """Format a share."""
    return "infinite" if math.isinf(value) else f"{value:g}"


def share(facts: ShareView) -> str:
    """Describe a dominant resource share and its calculation."""
    name = f"share of {facts['kind']} {facts['name']}: {share_text(facts['share'])}"
    if not facts["resource"]:
        return f"{name}, because {'nothing is lendable' if facts['borrowing'] else 'it borrows nothing'}"
    borrowed, lendable = amount(facts["resource"], facts["borrowed"]), amount(facts["resource"], facts["lendable"])
    weight = f", weight {facts['weight']:g}" if facts["weight"] != 1 else ""
    return f"{name}, by {facts['resource']}: borrows {borrowed} of {lendable} lendable{weight}"


def held(facts: CellView, borrowed: int | None) -> str:
    """Describe the quota that a workload holds in a flavor, and the amount of this flavor that its queue borrows."""
    resource = facts["resource"]
    text = f"{resource} {requested(resource, facts['asked'])} of flavor {facts['flavor']}"
    source = f"; its queue borrows {amount(resource, borrowed)}" if number(borrowed) else ", from its queue's own quota"
    return text + source


def attempt(made: FlavorAttempt) -> str:
    """Describe a flavor that was evaluated before the assigned one."""
    why = f" ({made.reason})" if made.reason else ""
    return f"not {made.flavor}: at admission, it {_MODES[made.mode][1]}{why}"


def check(name: str, state: str, message: str) -> str:
    """Describe the state of an admission check."""
    return f"admission check {name}: {state}" + (f": {message}" if message else "")


def preempted(by: str, reason: str) -> str:
    """Name the preemptor and the reason."""
    return f"by {by or 'a deleted workload'}: {reason}: {_REASONS.get(reason, '')}"
