"""From the core's facts to causes: which of them explain what."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kueuepy import explain_words as words

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kueuepy.decision import Admitted
    from kueuepy.explain import Cause
    from kueuepy.explain_facts import (
        CandidateView,
        CellView,
        ConditionView,
        FactsView,
        FlavorView,
        LifeView,
        PodSetView,
    )

_MOST_ALIKE = 3  # workloads of one queue that stay for one reason are told together beyond this number


def _cause(kind: str, text: str, facts: Any = None, causes: Iterable[Cause] = ()) -> Cause:
    from kueuepy.explain import Cause  # noqa: PLC0415 - the two modules need each other

    return Cause(kind, text, dict(facts or {}), tuple(causes))


# --- a workload that waits -----------------------------------------------------------------------------------------


def waiting_causes(facts: FactsView, position: int | None, *, fair: bool) -> tuple[Cause, ...]:
    """Why it waits, and what would have to happen."""
    causes: list[Cause] = []
    reason, text = facts["blocked"]
    if text:
        causes.append(_cause("obstacle", text, {"reason": reason}))
    elif not facts["nominated"]:
        causes.append(_cause("obstacle", facts["message"], {"reason": facts["reason"]}))
    for pod_set in facts["pod_sets"]:
        causes += _pod_set(pod_set, alone=len(facts["pod_sets"]) == 1)
    if facts["contested"]:
        causes.append(_preemption(facts))
    if fair:
        causes += shares(facts)
    if position is not None:
        causes.append(_cause("position", words.position(position, facts["cluster_queue"]), {"position": position}))
    if facts["verdict"] == "Pending":
        causes += _remedies(facts)
    return tuple(causes)


def _pod_set(pod_set: PodSetView, *, alone: bool) -> list[Cause]:
    causes = [
        _cause("undeclared", words.undeclared(resource), {"resource": resource}) for resource in pod_set["undeclared"]
    ]
    causes += [_flavor(flavor) for flavor in pod_set["flavors"]]
    if alone:
        return causes
    return [_cause("pod set", words.pod_set(pod_set), {"name": pod_set["name"], "count": pod_set["count"]}, causes)]


def _flavor(flavor: FlavorView) -> Cause:
    numbers = ("flavor", "mode", "borrowing_level", "reason", "tried", "chosen")
    facts = {name: value for name, value in flavor.items() if name in numbers}
    if flavor["ineligible"]:
        inner = [_cause("eligibility", flavor["ineligible"], {"flavor": flavor["flavor"]})]
    else:
        inner = [_cell(cell) for cell in flavor["cells"] if cell["short"] or flavor["chosen"]]
    return _cause("flavor", words.flavor(flavor), facts, inner)


def _cell(cell: CellView) -> Cause:
    numbers = ("flavor", "resource", "asked", "before", "available", "potential", "where", "limit")
    missing = max(0, cell["asked"] - cell["available"]) if cell["available"] is not None else 0
    facts = {**{name: value for name, value in cell.items() if name in numbers}, "missing": missing}
    return _cause("resource", words.cell(cell), facts, _shortage(cell) if cell["short"] else ())


def _shortage(cell: CellView) -> list[Cause]:
    causes = [
        _cause(
            "node",
            words.node(node, cell, binds=node["name"] == cell["where"]),
            {**node, "binds": node["name"] == cell["where"]},
        )
        for node in cell["path"]
    ]
    causes += [
        _cause("holder", words.holder(holder, cell["resource"]), holder)
        for holder in cell["holders"]
        if holder["cluster_queue"] != cell["path"][0]["name"]
    ]
    if cell["short"] and not cell["may_preempt"] and not words.is_impossible(cell):
        causes.append(_cause("no preemption", words.NO_PREEMPTION))
    if cell["one_would_do"]:
        left = {"workloads": tuple(cell["one_would_do"])}
        causes.append(_cause("one would do", words.one_would_do(cell["one_would_do"]), left))
    return causes


def _preemption(facts: FactsView) -> Cause:
    alike: dict[tuple[str, str], list[CandidateView]] = {}
    for candidate in facts["candidates"]:
        alike.setdefault((candidate["verdict"], candidate["cluster_queue"]), []).append(candidate)
    causes: list[Cause] = []
    for (verdict, queue), group in alike.items():
        if verdict == "Taken" or len(group) <= _MOST_ALIKE or any(c["comparisons"] for c in group):
            causes += map(_candidate, group)
        else:
            told = {"verdict": verdict, "cluster_queue": queue, "workloads": tuple(c["workload"] for c in group)}
            causes.append(_cause("candidates", words.candidates(group), told))
    hidden = sum(facts["counts"].values()) - len(facts["candidates"])
    if hidden > 0:
        causes.append(_cause("candidates", words.hidden(hidden, facts["counts"]), {"counts": facts["counts"]}))
    return _cause("preemption", words.preemption(facts), {"counts": facts["counts"]}, causes)


def _candidate(candidate: CandidateView) -> Cause:
    inner = [_cause("comparison", words.comparison(made), made) for made in candidate["comparisons"]]
    numbers = ("workload", "cluster_queue", "verdict", "reason", "priority")
    return _cause(
        "candidate",
        words.candidate(candidate),
        {name: value for name, value in candidate.items() if name in numbers},
        inner,
    )


def shares(facts: FactsView) -> list[Cause]:
    """The dominant resource share of its queue and of the Cohorts above it."""
    return [_cause("share", words.share(share), share) for share in facts["shares"]]


def _remedies(facts: FactsView) -> list[Cause]:
    remedies: list[Cause] = []
    for pod_set in facts["pod_sets"]:
        remedies += [
            _cause("remedy", words.cover(facts["cluster_queue"], resource), {"resource": resource})
            for resource in pod_set["undeclared"]
        ]
        for flavor in pod_set["flavors"]:
            if flavor["tried"] and not flavor["ineligible"]:
                short = [cell for cell in flavor["cells"] if cell["short"]]
                remedies += [_cause("remedy", words.remedy(cell), {"flavor": flavor["flavor"]}) for cell in short]
    return [_cause("remedies", "it would fit if", None, remedies)] if remedies else []


# --- a workload that holds quota ------------------------------------------------------------------------------------


def holding_causes(facts: FactsView, decided: Admitted | None, life: LifeView, *, fair: bool) -> tuple[Cause, ...]:
    """What it holds, from whom, and why not of an earlier flavor."""
    causes: list[Cause] = []
    for pod_set in facts["pod_sets"]:
        inner = [_held(cell) for flavor in pod_set["flavors"] for cell in flavor["cells"]]
        causes.append(_cause("pod set", words.pod_set(pod_set), {"name": pod_set["name"]}, inner))
    if decided is not None:
        taken = {flavor for flavors in decided.flavors.values() for flavor in flavors.values()}
        causes += [
            _cause("earlier flavor", words.attempt(attempt), {"flavor": attempt.flavor, "mode": attempt.mode})
            for attempt in decided.attempts
            if attempt.flavor not in taken
        ]
    for name, state, message, *_ in life["checks"]:
        causes.append(_cause("check", words.check(name, state, message), {"name": name, "state": state}))
    if fair:
        causes += shares(facts)
    return tuple(causes)


def _held(cell: CellView) -> Cause:
    own = cell["path"][0]
    borrowed = min(cell["asked"], max(0, own["usage"] - own["nominal"]))
    causes = []
    if borrowed:
        causes = [
            _cause("lender", words.lender(holder, cell["resource"]), holder)
            for holder in cell["holders"]
            if holder["lends"] and holder["cluster_queue"] != own["name"]
        ]
        causes += [_cause("node", words.node(node, cell), node) for node in cell["path"]]
    numbers = {"flavor": cell["flavor"], "resource": cell["resource"], "amount": cell["asked"], "borrowed": borrowed}
    return _cause("held", words.held(cell, borrowed), numbers, causes)


# --- what happened to it ---------------------------------------------------------------------------------------------


def history_causes(facts: FactsView, conditions: dict[str, ConditionView]) -> tuple[Cause, ...]:
    """An eviction that is not over."""
    evicted, preempted = conditions.get("Evicted"), conditions.get("Preempted")
    if evicted is None or not evicted[0]:
        return ()
    inner: tuple[Cause, ...] = ()
    if preempted is not None and preempted[0]:
        inner = (
            _cause(
                "preempted by",
                words.preempted(facts["preemptor"], preempted[1]),
                {
                    "workload": facts["preemptor"],
                    "reason": preempted[1],
                },
            ),
        )
    return (_cause("eviction", f"evicted: {evicted[1]}: {evicted[2]}", {"reason": evicted[1]}, inner),)
