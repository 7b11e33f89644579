"""Explanation: why a workload is pending, admitted, evicted or finished."""

import math
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from kueuepy._core import Engine
from kueuepy.engine.decisions import Admitted
from kueuepy.engine.facts import FactsView
from kueuepy.engine.records import NO_CONDITION, ConditionView
from kueuepy.errors import checked, checked_methods
from kueuepy.explain.cause import Cause, RootCause
from kueuepy.explain.causes import history_causes, holding_causes, waiting_causes
from kueuepy.explain.obstacles import delays, fewer_pods, releases
from kueuepy.explain.placewords import held_placements
from kueuepy.explain.roots import holding_root, waiting_root
from kueuepy.look.notebook import repr_html
from kueuepy.objects import Workload

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
