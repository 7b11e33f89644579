"""Replay of a scenario step by step, with the changes of each step."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import msgspec

from kueuepy._core import Engine, Quantity
from kueuepy.errors.problems import ManifestError
from kueuepy.manifest.convert import from_dict, to_dict
from kueuepy.manifest.kinds import KINDS
from kueuepy.manifest.validation import review_object
from kueuepy.manifest.validation.review import Review
from kueuepy.manifest.validation.update import same_spec
from kueuepy.objects import Node, Object, PriorityClass, Workload, WorkloadPriorityClass
from kueuepy.session.variants import is_parent, labelled, missing_variants
from scenario.reader import ScenarioError, check_scenario, configuration

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kueuepy.engine.records import PlaceView

EPOCH = 946_684_800 * 1_000_000_000
"""Start of the cluster time, 2000-01-01T00:00:00Z, in nanoseconds since the Unix epoch."""
SECOND = 1_000_000_000
_UNUSED = (PriorityClass, WorkloadPriorityClass)
"""Kinds that are parsed but have no effect on the replay."""
_UNCHECKED = frozenset(("Node", "Pod"))
"""Kinds whose objects are read without the checks of an API server."""
_REMOVABLE = frozenset(kind.name for kind in KINDS.values() if kind.cls not in (*_UNUSED, Workload)) | _UNCHECKED
Result = dict[str, Any]


class Replay:
    """A running scenario.

    A step performs its actions in this order: apply, remove, submit, finish, delete, checks, podsReady, podsFailed,
    reclaimable, settle, cycle.
    """

    def __init__(self, scenario: dict[str, Any]) -> None:
        """Apply the objects of the scenario at time 0.

        Raises:
            ScenarioError: The scenario is not valid.
        """
        check_scenario(scenario)
        config = scenario.get("config") or {}
        self.configuration = configuration(config)
        self.engine = Engine(self.configuration)
        self.engine.set_now(EPOCH)
        self._specs: dict[tuple[str, str], Any] = {}
        self.workloads: dict[str, Workload] = {}
        self._retains = config.get("objectRetentionPolicies") is not None
        self._gone: dict[int, str] = {}
        self._races = self.configuration.gates.get("ConcurrentAdmission", False)
        self._created: list[str] = []
        self._fair = config.get("fairSharing") is not None
        self._usage_based = config.get("admissionFairSharing") is not None
        self._unhealthy: dict[int, list[str]] = {}
        self._written: dict[int, tuple[bool, str, str]] = {}
        self._happened: dict[str, dict[int, tuple[int, str, str]]] = {}
        for doc in scenario["objects"]:
            self._apply(doc)
        self.engine.take_up_delayed()
        self.engine.record_events(on=True)

    def step(self, step: dict[str, Any]) -> Result:
        """Run a step at its time and return the changes.

        Raises:
            ScenarioError: The step names an unknown workload or an unsupported kind.
        """
        engine = self.engine
        engine.set_now(EPOCH + round(float(step["at"]) * SECOND))
        for doc in step.get("apply") or ():
            self._apply(doc)
        for named in step.get("remove") or ():
            self._remove(named)
        for doc in step.get("submit") or ():
            self._submit(doc)
        for key in step.get("finish") or ():
            engine.finish(self._id(key))
        for key in step.get("delete") or ():
            engine.delete(self._id(key))
            self.workloads.pop(key, None)
        for event in step.get("checks") or ():
            self._check(event)
        for name, ready in (("podsReady", True), ("podsFailed", False)):
            for key in step.get(name) or ():
                engine.set_pods_ready(self._id(key), ready=ready)
        for event in step.get("reclaimable") or ():
            counts = {pod_set["name"]: pod_set["count"] for pod_set in event["podSets"]}
            engine.set_reclaimable(self._id(event["workload"]), counts)
        if step.get("settle"):
            self._settle()
        idle = bool(step.get("cycle")) and engine.cycle().idle
        return self.result(idle=idle and not engine.is_blocked)

    def _settle(self) -> None:
        """Run the controllers, which also delete the workloads whose retention is over."""
        self.engine.settle(all_devices=True)  # the recordings reconcile every workload with devices
        while self._races and self._change_variants():
            self.engine.settle(all_devices=True)
        while self._retains and (expired := self.engine.expired()):
            for number in expired:
                self._gone[number] = self.engine.key(number)
                self.workloads.pop(self._gone[number], None)
                self.engine.delete(number)
            self.engine.settle(all_devices=True)

    def _change_variants(self) -> bool:
        """Create and delete variants as Kueue's controller, and return whether anything changed."""
        engine, known = self.engine, {self.engine.find(key): workload for key, workload in self.workloads.items()}
        for number in engine.family_changes()[1]:
            self._gone[number] = engine.key(number)
            self.workloads.pop(self._gone[number], None)
            engine.delete(number)
        missing = list(missing_variants(engine, self.configuration, known.__getitem__))
        for number, variant in missing:
            if not is_parent(known[number]):
                self.workloads[known[number].key] = parent = labelled(known[number], active=variant.active)
                engine.update(number, parent, changed=False)
            self.workloads[variant.key] = variant
            self._created.append(variant.key)
            engine.submit(variant)
        return bool(missing)

    def id_of(self, key: str) -> int:
        """Return the engine's id of a workload.

        Raises:
            ScenarioError: The workload does not exist at this time.
        """
        return self._id(key)

    def apply(self, doc: dict[str, Any]) -> None:
        """Create or change an object.

        Raises:
            ScenarioError: The object is not valid.
        """
        self._apply(doc)

    def ids(self) -> list[int]:
        """Return the engine's ids of all workloads, in the order of submission."""
        return self.engine.ids()

    def happened(self, kind: str) -> list[int]:
        """Return the workloads with events of a kind in the last result."""
        return list(self._happened.get(kind, ()))

    def _id(self, key: str) -> int:
        found: int = self.engine.find(key)
        if found < 0:
            raise ScenarioError(f"a step names the workload {key!r}, which does not exist at that time")
        return found

    def _apply(self, doc: dict[str, Any]) -> None:
        if doc["kind"] == "Workload":
            self._apply_workload(doc)
            return
        if doc["kind"] in _UNCHECKED:
            self.engine.apply(_read_unchecked(doc))
            return
        obj = _read(doc)
        if isinstance(obj, _UNUSED):
            return
        # Kueue retries on any change of a spec; in the recordings, an explicit default stopPolicy is a change.
        written = (obj, (doc.get("spec") or {}).get("stopPolicy"))
        changed = self._specs.get((type(obj).__name__, obj.key)) != written
        self._specs[type(obj).__name__, obj.key] = written
        self.engine.apply(obj, changed=changed)

    def _remove(self, named: dict[str, Any]) -> None:
        kind, name = named["kind"], named["metadata"]["name"]
        if kind not in _REMOVABLE:
            raise ScenarioError(f"remove: kind {kind!r} cannot be removed; it must be one of {sorted(_REMOVABLE)}")
        namespace = named["metadata"].get("namespace")
        self._specs.pop((kind, f"{namespace}/{name}" if namespace else name), None)
        if kind == "Topology":  # recorded without the controller that adds the finalizer
            self.engine.drop_topology(name)
            return
        self.engine.delete_object(kind, namespace or ("default" if kind == "Pod" else ""), name)

    def _submit(self, doc: dict[str, Any]) -> None:
        if doc["kind"] != "Workload":
            raise ScenarioError(f"submit: kind {doc['kind']!r}; it must be Workload")
        self._apply_workload(doc)

    def _apply_workload(self, doc: dict[str, Any]) -> None:
        metadata = doc["metadata"]
        key = f"{metadata.get('namespace', 'default')}/{metadata['name']}"
        known = self.workloads.get(key)
        if known is None:
            self.engine.submit(self._keep(key, doc))
            return
        merged = to_dict(known)
        # Kueue itself may have deactivated the workload since it was submitted.
        active = self.engine.status_details(self._id(key)).active
        merged["spec"] = {**merged.get("spec", {}), "active": active, **doc.get("spec", {})}
        merged["metadata"] = {**merged["metadata"], **metadata}
        written = self._keep(key, merged)
        changed = not same_spec(msgspec.structs.replace(known, active=active), written)
        self.engine.update(self._id(key), written, changed=changed)

    def _keep(self, key: str, doc: dict[str, Any]) -> Workload:
        workload = _read(doc)
        assert isinstance(workload, Workload)
        self.workloads[key] = workload
        return workload

    def _check(self, event: dict[str, Any]) -> None:
        self.engine.set_check(
            self._id(event["workload"]),
            event.get("check") or event["name"],
            event["state"],
            event.get("message"),
            event.get("requeueAfterSeconds"),
            json.dumps(updates) if (updates := event.get("podSetUpdates")) is not None else None,
        )

    def result(self, *, idle: bool = False) -> Result:
        """Return the changes since the last result."""
        engine = self.engine
        happened: dict[str, dict[int, tuple[int, str, str]]] = {}
        for change in engine.take_events():
            if change.workload in self._gone:
                continue
            told = (change.preemptor, change.reason, change.preemption_reason)
            happened.setdefault(change.kind, {})[change.workload] = told
        self._happened = happened
        result: Result = {}
        if idle:
            result["idle"] = True
        if engine.is_blocked:
            result["blocked"] = True
        if reserved := [self._reservation(workload) for workload in happened.get("QuotaReserved", ())]:
            result["reserved"] = [entry for entry in reserved if entry]
        assigned = [self._reservation(workload) for workload in happened.get("Assigned", ())]
        if assigned := [entry for entry in assigned if entry]:
            result["assigned"] = assigned
        if nodes := self._unhealthy_nodes(happened.get("UnhealthyNodes", ())):
            result["unhealthyNodes"] = nodes
        for kind, name in (("Admitted", "admitted"), ("QuotaReleased", "released")):
            if keys := [engine.key(workload) for workload in happened.get(kind, ())]:
                result[name] = keys
        if evicted := [self._eviction(workload, *facts) for workload, facts in happened.get("Evicted", {}).items()]:
            result["evicted"] = evicted
        if self._created:
            result["created"], self._created = self._created, []
        if self._gone:
            result["gone"], self._gone = [*self._gone.values()], {}
        if pending := self._pending({*happened.get("Pending", ()), *happened.get("QuotaReserved", ())}):
            result["pending"] = pending
        result["queues"] = {
            queue: {"pending": keys, "inadmissible": inadmissible}
            for queue, (keys, inadmissible) in engine.queues().items()
        }
        result["usage"] = {
            queue: {cell: str(amount) for cell, amount in cells.items()}
            for queue, cells in engine.usage(active=True).items()
            if cells
        }
        if self._fair:
            result["shares"] = {
                queue: "+Inf" if math.isinf(share) else repr(share) for queue, share in engine.shares().items()
            }
        if self._usage_based:
            result["consumed"] = engine.consumed()
        return result

    def _reservation(self, workload: int) -> Result | None:
        admission = self.engine.admission(workload)
        if admission is None:
            return None
        return {
            "workload": self.engine.key(workload),
            "clusterQueue": admission.cluster_queue,
            "podSets": [
                {
                    "name": name,
                    "count": count,
                    "flavors": {resource: flavor for resource, (flavor, _) in resources.items()},
                    "usage": {
                        resource: Quantity.format(resource, amount) for resource, (_, amount) in resources.items()
                    },
                    **_place(place, delayed),
                }
                for name, count, resources, place, delayed in admission.pod_sets
            ],
        }

    def _unhealthy_nodes(self, workloads: Iterable[int]) -> list[Result]:
        entries: list[Result] = []
        for workload in workloads:
            nodes = self.engine.status_details(workload).unhealthy_nodes
            if nodes != self._unhealthy.get(workload, []):
                entries.append({"workload": self.engine.key(workload), "nodes": nodes})
            self._unhealthy[workload] = nodes
        return sorted(entries, key=lambda entry: str(entry["workload"]))

    def _eviction(self, workload: int, by: int, reason: str, preemption: str) -> Result:
        entry: Result = {"workload": self.engine.key(workload), "reason": reason}
        if by >= 0:
            entry["preempted"] = preemption
            entry["by"] = self.engine.key(by)
        return entry

    def _pending(self, workloads: set[int]) -> list[Result]:
        entries: list[Result] = []
        for key in self.workloads:  # a status update may have removed the condition without an event
            if self.engine.condition(found := self._id(key), "QuotaReserved") is None:
                self._written.pop(found, None)
        for workload in sorted(workloads):
            condition = self.engine.condition(workload, "QuotaReserved")
            if condition is None:
                continue
            status, reason, message, _ = condition
            before = self._written.get(workload)
            self._written[workload] = (status, reason, message)
            if not status and before != (status, reason, message):
                entries.append({"workload": self.engine.key(workload), "reason": reason, "message": message})
        return entries


def _read_unchecked(doc: dict[str, Any]) -> Object:
    """Parse a Node or a Pod. A Node without conditions has no condition Ready; elsewhere, it is read as ready."""
    obj = from_dict(doc)
    if isinstance(obj, Node) and not (doc.get("status") or {}).get("conditions"):
        return msgspec.structs.replace(obj, ready=None)
    return obj


def _read(doc: dict[str, Any]) -> Object:
    """Parse an object that an API server would accept, except that the format of names is not checked.

    Raises:
        ManifestError: An API server would reject the object.
    """
    obj = from_dict(doc)
    review = Review(strict=False)
    review_object(obj, review)
    if review.problems:
        raise ManifestError([(f'{doc["kind"]} "{obj.key}"', problem) for problem in review.problems])
    return obj


def _place(place: PlaceView | None, delayed: str) -> Result:
    written: Result = {"delayedTopologyRequest": delayed} if delayed else {}
    if place is not None:
        levels, domains = place
        counts = [{"values": list(values), "count": count} for values, count in domains]
        written["topology"] = {"levels": list(levels), "domains": counts}
    return written
