"""The decisions of Kueue's scheduler in a recording."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec

from kueuepy.engine.decisions import Admitted
from kueuepy.errors import KueueError
from kueuepy.manifest import load
from kueuepy.platform.history import Conditions
from kueuepy.platform.live.recording import Change, assignments

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from kueuepy.engine.decisions import Decision
    from kueuepy.platform.live.agreement import Kind

_PREEMPTOR = re.compile(r"\(UID: ([^,)]*)")


class RecordedDecision(msgspec.Struct, eq=False):
    """A decision of the cluster's scheduler.

    Attributes:
        number: The index of the decision among the recorded decisions.
        index: The index of the change that records the decision.
        time: The time at which the change that records the decision was received, in nanoseconds since the Unix epoch.
        kind: The kind of the decision.
        workload: The workload that was admitted, preempted or moved, `namespace/name`.
        head: The workload that the scheduler considered: the preemptor for a preemption, otherwise the workload itself.
        assigned: For each pod set, the number of pods and the flavor of each resource.
        domains: For each pod set, the topology domains and their numbers of pods; `None` without a topology.
        cluster_queue: The ClusterQueue in which the workload has or had quota.
    """

    number: int
    index: int
    time: int
    kind: Kind
    workload: str
    head: str
    assigned: dict[str, tuple[int | None, dict[str, str]]] = {}
    domains: list[Any] = []
    cluster_queue: str = ""

    def is_same(self, decision: Decision) -> bool:
        """Return whether a decision equals the recorded decision, regardless of the topology domains."""
        if self.head != decision.workload:
            return False
        return self.assigns(decision.pod_sets) if isinstance(decision, Admitted) else True

    def assigns(self, pod_sets: Iterable[Any]) -> bool:
        """Return whether pod set assignments have the recorded numbers of pods and flavors."""
        assigned = {one.name: (one.count, dict(one.flavors)) for one in pod_sets}
        return all(
            name in assigned and flavors == assigned[name][1] and count in (None, assigned[name][0])
            for name, (count, flavors) in self.assigned.items()
        )

    def is_placed(self, decision: Decision) -> bool:
        """Return whether a decision assigns the recorded topology domains."""
        return not any(self.domains) or (isinstance(decision, Admitted) and self.places(decision.pod_sets))

    def places(self, pod_sets: Iterable[Any]) -> bool:
        """Return whether pod set assignments have the recorded topology domains."""
        return not any(self.domains) or placed_pods(pod_sets) == self.domains


def recorded_decisions(changes: Sequence[Change], uids: Mapping[Any, str]) -> Iterator[RecordedDecision]:
    """Yield the decisions of the scheduler in a recording: quota reservations, preemptions and node replacements.

    Args:
        changes: The recording.
        uids: The keys of the workloads by UID.
    """
    number = 0
    for index, change in enumerate(changes):
        for decision in decisions_of(change, index, number, uids):
            yield decision
            number += 1


def decisions_of(change: Change, index: int, number: int, uids: Mapping[Any, str]) -> Iterator[RecordedDecision]:
    """Yield the decisions of the scheduler that one change records.

    Args:
        change: The change.
        index: The index of the change.
        number: The number of the first decision.
        uids: The keys of the workloads by UID.
    """
    if change.kind != "Workload" or change.new is None or change.old is None:
        return
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
    queue = str(((change.new.get("status") or {}).get("admission") or {}).get("clusterQueue") or "")
    assigned = {one["name"]: (one.get("count"), dict(one.get("flavors") or {})) for one in assignments(change.new)}
    for kind, head in found:
        yield RecordedDecision(number, index, change.time, kind, change.key, head, assigned, domains, queue)
        number += 1


def _placed(manifest: dict[str, Any]) -> list[Any]:
    return [one.get("topologyAssignment") for one in assignments(manifest)]


def _recorded_domains(manifest: dict[str, Any]) -> list[Any]:
    if not any(_placed(manifest)):
        return []
    try:
        (workload,) = load(manifest, strict=False).workloads
    except KueueError:  # the follower notes it
        return []
    assert workload.status is not None, "it has an admission"
    assert workload.status.admission is not None, "it has an admission"
    return placed_pods(workload.status.admission.pod_set_assignments)


def placed_pods(pod_sets: Iterable[Any]) -> list[Any]:
    """Return the topology domains of each pod set with their numbers of pods; `None` without a topology."""
    placed = [one.topology_assignment for one in pod_sets]
    return [None if one is None else [(domain.values, domain.count) for domain in one.domains] for one in placed]
