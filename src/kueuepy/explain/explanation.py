"""Explanations: why a workload waits, has what it has, or had to leave."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from kueuepy.engine.workloads import NO_CONDITION, admission_of, conditions_of, status_of
from kueuepy.errors.arguments import checked, checked_methods
from kueuepy.explain.cause import Cause
from kueuepy.explain.cause import cause as _cause
from kueuepy.explain.causes import history_causes, holding_causes, waiting_causes
from kueuepy.explain.obstacles import delays, fewer_pods, releases
from kueuepy.explain.places import held_places
from kueuepy.notebook import repr_html

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kueuepy._core import Engine
    from kueuepy.decisions import Admitted
    from kueuepy.engine.facts import FactsView
    from kueuepy.engine.workloads import ConditionView
    from kueuepy.objects import Workload


@checked_methods
class Explanation(msgspec.Struct, frozen=True):
    """Why a workload is where it is, as a tree; as text with `str()`, as HTML in a notebook.

    Attributes:
        workload: Its key.
        cluster_queue: Its ClusterQueue; empty if there is none.
        verdict: What would be decided now of one that waits: `Admitted`, `Preempting` or `Pending`; of others
            `Admitted`, `QuotaReserved`, `Evicted` or `Finished`.
        reason: Why, in Kueue's word, as an evaluation now would give it: where Kueue only says that it bypassed the
            evaluation, this is what the evaluation says.
        message: The text that Kueue writes for it.
        written: Reason and message of the condition `QuotaReserved` as it stands.
        causes: What explains it.
    """

    workload: str
    cluster_queue: str
    verdict: str
    reason: str
    message: str
    written: tuple[str, str]
    causes: tuple[Cause, ...]

    @property
    def headline(self) -> str:
        """The whole in one line."""
        held_back = any(cause.kind in ("behind", "back-off") for cause in self.causes)
        verdict = "FitsLater" if self.verdict == "Fits" and held_back else self.verdict
        state = _HEADLINES.get(verdict, verdict)
        return f"{self.workload} {state}" + (f": {self.reason}" if self.reason and self.verdict == "Pending" else "")

    def find(self, kind: str) -> tuple[Cause, ...]:
        """All causes of a kind, wherever they are in the tree."""
        return tuple(found for cause in self.causes for found in cause.walk() if found.kind == kind)

    def to_dict(self) -> dict[str, Any]:
        """The same as plain dicts and lists."""
        plain: dict[str, Any] = msgspec.to_builtins(self, str_keys=True)
        return plain

    def __str__(self) -> str:
        """The tree as text."""
        return "\n".join([self.headline, *_lines(self.causes, "")])

    _repr_html_ = repr_html


_HEADLINES = {
    "Pending": "waits",
    "Preempting": "waits for the workloads that it preempts",
    "Admitted": "is admitted",
    "QuotaReserved": "has quota, and waits for admission checks",
    "Fits": "waits, and fits now",
    "FitsLater": "waits, though it would fit",
    "Evicted": "is evicted, and still holds its quota",
    "Finished": "is finished",
}


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
) -> Explanation:
    """The explanation of a workload of the engine; nothing changes.

    Args:
        engine: The engine.
        found: The workload's id.
        decided: How it was admitted last, if that is known.
        fair: Whether shares matter: fair sharing is on.
        known: The Workload of a key as it was submitted, if it was.
    """
    facts = engine.explain(found)
    conditions = conditions_of(engine, found)
    written = conditions.get("QuotaReserved", NO_CONDITION)
    verdict: str = facts["verdict"]
    causes = history_causes(facts, conditions)
    if facts["holds"]:
        verdict = _holding_verdict(conditions)
        causes += holding_causes(facts, decided, status_of(engine, found), fair=fair)
        causes += held_places(admission_of(engine, found))
    elif conditions.get("Finished", NO_CONDITION).is_true:
        verdict = "Finished"
    else:
        causes += waiting_causes(
            facts,
            facts["position"],
            _head(facts),
            before=delays(engine, found, facts),
            after=[*_fewer_pods(facts, known), *releases(engine, facts, known)],
            fair=fair,
        )
        verdict = "Fits" if verdict == "Admitted" else verdict
    causes += _not_modelled(known(facts["workload"]))
    obstacle = facts["obstacle"]
    waits = verdict in ("Pending", "Preempting", "Fits")
    reason, message = written.reason, written.message
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
    )


def _not_modelled(workload: Workload | None) -> tuple[Cause, ...]:
    """What it asks for that nobody looks at."""
    return () if workload is None else tuple(_cause("not modelled", text) for text in workload.not_modelled)


def _fewer_pods(facts: FactsView, known: Callable[[str], Workload | None]) -> list[Cause]:
    return fewer_pods(facts, known(facts["workload"])) if facts["verdict"] == "Pending" else []


def _holding_verdict(conditions: dict[str, ConditionView]) -> str:
    if conditions.get("Evicted", NO_CONDITION).is_true:
        return "Evicted"
    return "Admitted" if conditions.get("Admitted", NO_CONDITION).is_true else "QuotaReserved"


def _head(facts: FactsView) -> str | None:
    """Who must go before it: the head of a StrictFIFO queue, if it is another."""
    if not facts["strict_fifo"] or facts["obstacle"] is not None:
        return None
    first = facts["first"]
    return first if first and first != facts["workload"] else None
