"""Explanation: why a workload is pending, admitted, evicted or finished, as a tree of causes."""

import math
from collections.abc import Callable, Iterator
from itertools import groupby, takewhile
from operator import itemgetter
from typing import Any

import msgspec

from kueuepy._core import Engine
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
from kueuepy.errors import checked, checked_methods
from kueuepy.explain import words
from kueuepy.explain.cause import Cause, RootCause
from kueuepy.explain.cause import cause as _cause
from kueuepy.explain.obstacles import (
    check_cause,
    delays,
    fewer_pods,
    holding_root,
    obstacles,
    releases,
    remedies,
    waiting_root,
    ways_out,
)
from kueuepy.explain.placewords import held_placements, placement_cause
from kueuepy.look.notebook import repr_html
from kueuepy.objects import Timestamp, Workload

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
    causes = [_cause("undeclared", words.undeclared(name), {"resource": name}) for name in pod_set["undeclared"]]
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
    """Return the end of a workload, or its current eviction, if any."""
    finished = conditions.get("Finished", NO_CONDITION)
    if finished.is_true:
        text = f"finished {Timestamp.of(finished.transition)}: {finished.message} ({finished.reason})"
        return (_cause("finished", text, {"reason": finished.reason}),)
    evicted, preempted = conditions.get("Evicted", NO_CONDITION), conditions.get("Preempted", NO_CONDITION)
    if not evicted.is_true:
        return ()
    inner: tuple[Cause, ...] = ()
    if preempted.is_true:
        text = words.preempted(facts["preemptor"], preempted.reason)
        inner = (_cause("preempted_by", text, {"workload": facts["preemptor"], "reason": preempted.reason}),)
    return (_cause("eviction", f"evicted: {evicted.reason}: {evicted.message}", {"reason": evicted.reason}, inner),)


SCHEMA = "kueuepy.explain/v1"
"""The name and version of the data that `Explanation.to_dict` returns. Within a version, fields are only added."""


@checked_methods
class Explanation(msgspec.Struct, frozen=True):
    """An explanation of the state of a workload, as a tree; `str()` formats it as text, and notebooks as HTML.

    Attributes:
        workload: The key of the workload, `namespace/name`.
        cluster_queue: The ClusterQueue of the workload; empty if it has none.
        verdict: For a pending workload, the result of evaluating it now: `Fits`, `Preempting` or `Pending`. For a
            workload that is not pending, its state: `Admitted`, `QuotaReserved`, `Evicted` or `Finished`.
        reason: The reason that Kueue would report if it evaluated the workload now. The condition of the workload might
            state only that Kueue skipped the evaluation. The attribute `reason` contains the result of a complete
            evaluation.
        message: Kueue's message for the reason.
        written: Reason and message of the current condition `QuotaReserved`.
        causes: The causes of the state.
        root_cause: The root cause that keeps the workload from running; `None` if the workload runs, is evicted or
            finished, or would be admitted by the next cycle.
        not_modelled: Parts of the input that kueuepy does not model and that could change the state.
    """

    workload: str
    cluster_queue: str
    verdict: str
    reason: str
    message: str
    written: tuple[str, str]
    causes: tuple[Cause, ...]
    root_cause: RootCause | None = None
    not_modelled: tuple[str, ...] = ()

    @property
    def headline(self) -> str:
        """The explanation in one line."""
        held_back = any(cause.kind in ("behind", "backoff", "untried") for cause in self.causes)
        verdict = "FitsLater" if self.verdict == "Fits" and held_back else self.verdict
        root = self.root_cause
        # All checks are Ready: the second pass of topology-aware scheduling is open.
        if verdict == "QuotaReserved" and root is not None and not root.facts.get("checks"):
            verdict = "Placing"
        state = _HEADLINES.get(verdict, verdict)
        return f"{self.workload} {state}" + (f": {self.reason}" if self.reason and self.verdict == "Pending" else "")

    def find(self, kind: str) -> tuple[Cause, ...]:
        """Return all causes of a kind in the tree, depth first."""
        return tuple(found for cause in self.causes for found in cause.walk() if found.kind == kind)

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as data for JSON, in the form of the schema `kueuepy.explain/v1`.

        Infinite shares are the strings `+Inf` and `-Inf`.
        """
        plain: dict[str, Any] = _finite(msgspec.to_builtins(self, str_keys=True))
        return {"schema": SCHEMA, **plain}

    def __str__(self) -> str:
        """Format the explanation as text: first the parts of the input that kueuepy does not model, then the tree."""
        said = (f"not modelled: {text}" for text in self.not_modelled)
        return "\n".join([*said, self.headline, *_lines(self.causes, "")])

    _repr_html_ = repr_html


_HEADLINES = {
    "Pending": "is pending",
    "Preempting": "is waiting for preempted workloads to stop",
    "Admitted": "is admitted",
    "QuotaReserved": "has quota and is waiting for admission checks",
    "Placing": "has quota and is waiting for a topology assignment",
    "Fits": "is pending and fits now",
    "FitsLater": "is pending although it would fit",
    "Evicted": "is evicted and still holds its quota",
    "Finished": "is finished",
}


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else ("+Inf" if value > 0 else "-Inf")
    if isinstance(value, dict):
        return {key: _finite(inner) for key, inner in value.items()}
    return [_finite(inner) for inner in value] if isinstance(value, list | tuple) else value


def _lines(causes: tuple[Cause, ...], indent: str) -> Iterator[str]:
    for i, cause in enumerate(causes):
        last = i == len(causes) - 1
        yield f"{indent}{'└─' if last else '├─'} {cause.text}"
        yield from _lines(cause.causes, f"{indent}{'   ' if last else '│  '}")


@checked
def explain(
    engine: Engine,
    found: int,
    decided: Admitted | None,
    *,
    fair: bool,
    known: Callable[[str], Workload | None],
    not_modelled: tuple[str, ...] = (),
) -> Explanation:
    """Explain the state of a workload without changing the engine.

    Args:
        engine: The engine.
        found: The internal id of the workload.
        decided: The last admission of the workload, or `None` if it is unknown.
        fair: Whether fair sharing is enabled, so that shares are explained.
        known: A function that returns the submitted Workload for a key, or `None`.
        not_modelled: The parts of the input that kueuepy does not model.

    Returns:
        The explanation.
    """
    facts = engine.explain(found)
    conditions = engine.conditions(found)
    written = conditions.get("QuotaReserved", NO_CONDITION)
    verdict: str = facts["verdict"]
    causes = history_causes(facts, conditions)
    status = engine.status_details(found)
    root: RootCause | None = None
    workload = known(facts["workload"])
    if facts["holds"]:
        verdict = _holding_verdict(conditions)
        admission = engine.admission(found)
        causes += holding_causes(facts, decided, status, workload, fair=fair)
        causes += held_placements(admission)
        root = holding_root(verdict, status, admission)
    elif conditions.get("Finished", NO_CONDITION).is_true:
        verdict = "Finished"
    else:
        # A workload that preempts has already been tried with fewer pods.
        fewer = fewer_pods(facts, workload) if verdict == "Pending" else []
        causes += waiting_causes(
            facts,
            facts["position"],
            _head(facts),
            before=delays(engine, found, facts),
            after=[*fewer, *releases(engine, facts, known)],
            fair=fair,
            pod_sets=len(workload.pod_sets) if workload is not None else 0,
        )
        root = waiting_root(engine, facts, status, written, _head(facts))
        verdict = "Fits" if verdict == "Admitted" else verdict
    obstacle = facts["obstacle"]
    waits = verdict in ("Pending", "Preempting", "Fits")
    reason, message = written.reason, written.message
    # The condition was written by an earlier cycle; the facts are of now.
    if waits:
        source = facts if obstacle is None else obstacle
        reason, message = source["reason"], source["message"]
    return Explanation(
        facts["workload"],
        facts["cluster_queue"],
        "Pending" if waits and obstacle is not None else verdict,
        reason,
        message,
        (written.reason, written.message),
        causes,
        root,
        not_modelled,
    )


def _holding_verdict(conditions: dict[str, ConditionView]) -> str:
    if conditions.get("Evicted", NO_CONDITION).is_true:
        return "Evicted"
    return "Admitted" if conditions.get("Admitted", NO_CONDITION).is_true else "QuotaReserved"


def _head(facts: FactsView) -> str | None:
    """Return the head of a StrictFIFO queue if it blocks the workload."""
    if not facts["strict_fifo"] or facts["obstacle"] is not None:
        return None
    return facts["ahead"][0][0] if facts["ahead"] else None
