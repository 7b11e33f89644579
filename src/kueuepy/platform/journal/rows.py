"""Conversion of decisions to rows of a journal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from kueuepy.engine.decisions import Admitted, Preempting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kueuepy.engine.cycle import Cycle
    from kueuepy.platform.journal.file import DecisionRow
    from kueuepy.session.state import SchedulerState

_json = msgspec.json.Encoder(order="deterministic")


def decision_rows(state: SchedulerState, cycles: Sequence[Cycle]) -> list[DecisionRow]:
    """Return the rows of `decisions` for a sequence of cycles.

    Args:
        state: The state after the last cycle.
        cycles: The cycles; idle cycles have no rows.
    """
    rows: list[DecisionRow] = []
    busy = [cycle for cycle in cycles if not cycle.idle]
    for at, cycle in enumerate(busy, sum(state.engine.cycle_counts()) - len(busy) + 1):
        for decision in cycle:
            flavors = targets = reason = ""
            if isinstance(decision, Admitted):
                flavors = _json.encode(decision.flavors).decode()
            else:
                reason = decision.reason
                if isinstance(decision, Preempting):
                    targets = _json.encode([target.workload for target in decision.targets]).decode()
            verdict = type(decision).__name__
            rows.append((at, verdict, decision.workload, decision.cluster_queue, reason, flavors, targets))
    return rows
