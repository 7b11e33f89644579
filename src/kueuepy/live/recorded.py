"""The decisions of Kueue's scheduler in a recording."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec

from kueuepy.decisions import Admitted
from kueuepy.live.recording import Change, Conditions, assignments
from kueuepy.manifest import load

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kueuepy.decisions import Decision
    from kueuepy.live.agreement import Kind

_PREEMPTOR = re.compile(r"\(UID: ([^,)]*)")


class RecordedDecision(msgspec.Struct, eq=False):
    """A decision of the cluster's scheduler.

    Attributes:
        number: Its index among the recorded decisions.
        index: The index of the change that recorded it.
        time: The time at which that change was received, in nanoseconds since the Unix epoch.
        kind: The kind of the decision.
        workload: The workload that was admitted, preempted or moved, `namespace/name`.
        head: The workload that the scheduler considered: the preemptor for a preemption, otherwise the workload itself.
        assigned: For each pod set, the number of pods and the flavor of each resource.
        domains: For each pod set, the topology domains and their numbers of pods; `None` without a topology.
    """

    number: int
    index: int
    time: int
    kind: Kind
    workload: str
    head: str
    assigned: dict[str, tuple[int | None, dict[str, str]]] = {}
    domains: list[Any] = []

    def is_same(self, decision: Decision) -> bool:
        """Return whether a decision is the same, regardless of the topology domains."""
        if self.head != decision.workload:
            return False
        if not isinstance(decision, Admitted):
            return True
        assigned = {one.name: (one.count, dict(one.flavors)) for one in decision.pod_sets}
        return all(
            name in assigned and flavors == assigned[name][1] and count in (None, assigned[name][0])
            for name, (count, flavors) in self.assigned.items()
        )

    def is_placed(self, decision: Decision) -> bool:
        """Return whether a decision assigns the recorded topology domains."""
        if not any(self.domains):
            return True
        return isinstance(decision, Admitted) and placed_pods(decision.pod_sets) == self.domains


def recorded_decisions(changes: Sequence[Change], uids: dict[Any, str]) -> Iterator[RecordedDecision]:
    """Yield the decisions of the scheduler in a recording: quota reservations, preemptions and node replacements.

    Args:
        changes: The recording.
        uids: The keys of the workloads by UID.
    """
    number = 0
    for index, change in enumerate(changes):
        if change.kind != "Workload" or change.new is None or change.old is None:
            continue
        before, after = Conditions(change.old), Conditions(change.new)
        found: list[tuple[Kind, str]] = []
        if after.true("QuotaReserved"):
            if not before.true("QuotaReserved"):
                found.append(("admission", change.key))
            elif _placed(change.old) != _placed(change.new):
                found.append(("replacement", change.key))
        if after.true("Evicted") and not before.true("Evicted") and after.reason("Evicted") == "Preempted":
            by = _PREEMPTOR.search(after["Evicted"].get("message", ""))
            found.append(("preemption", uids.get(by[1], "") if by else ""))
        domains = _recorded_domains(change.new) if found and found[0][0] != "preemption" else []
        for kind, head in found:
            yield RecordedDecision(number, index, change.time, kind, change.key, head, _assigned(change.new), domains)
            number += 1


def _assigned(manifest: dict[str, Any]) -> dict[str, tuple[int | None, dict[str, str]]]:
    return {one["name"]: (one.get("count"), dict(one.get("flavors") or {})) for one in assignments(manifest)}


def _placed(manifest: dict[str, Any]) -> list[Any]:
    return [one.get("topologyAssignment") for one in assignments(manifest)]


def _recorded_domains(manifest: dict[str, Any]) -> list[Any]:
    if not any(_placed(manifest)):
        return []
    (workload,) = load(manifest, strict=False).workloads
    assert workload.status is not None, "it has an admission"
    assert workload.status.admission is not None, "it has an admission"
    return placed_pods(workload.status.admission.pod_set_assignments)


def placed_pods(pod_sets: Iterable[Any]) -> list[Any]:
    """Return the topology domains of each pod set with their numbers of pods; `None` without a topology."""
    placed = [one.topology_assignment for one in pod_sets]
    return [None if one is None else [(domain.values, domain.count) for domain in one.domains] for one in placed]
