"""The results of kueuepy for a recorded job, in the format of `forms`."""

from __future__ import annotations

import copy
from collections import defaultdict
from typing import Any

import msgspec

import kueuepy as kq
from kueuepy import jobs as kj
from kueuepy._core import pod_requests
from kueuepy.errors import KueueError
from kueuepy.jobs.cluster import JobCluster
from kueuepy.jobs.convert import conversions
from kueuepy.objects import (
    Admission,
    AdmissionCheckState,
    Configuration,
    LimitRange,
    LocalQueue,
    Namespace,
    PodSetAssignment,
    PriorityClass,
    ResourceFlavor,
    RuntimeClass,
    TopologyAssignment,
    TopologyDomain,
    Workload,
    WorkloadPriorityClass,
    WorkloadStatus,
)
from recorded_jobs.forms import Form, changes, pod_set, workload
from recorded_jobs.recorded import REFUSED

_RECORDS = (
    Namespace,
    LocalQueue,
    ResourceFlavor,
    WorkloadPriorityClass,
    PriorityClass,
    RuntimeClass,
    LimitRange,
)


class Answers:
    """The results for one case.

    Attributes:
        problem: Why the job was refused; empty if it was not.
    """

    def __init__(self, case: Form) -> None:
        self.problem = ""
        self._case, self._kind = case, case["kind"]
        self._objects: dict[type, list[Any]] = defaultdict(list)
        self._related: list[Form] = []
        records = {record.__name__: record for record in _RECORDS}
        for document in case["objects"]:
            record = records.get(document["kind"])
            if record is None:
                self._related.append(document)
            else:
                self._objects[record].append(kq.manifest.from_dict(document))
        config = case["config"]
        self._config = Configuration(
            feature_gates=dict(config.get("featureGates", {})),
            manage_jobs_without_queue_name=bool(config.get("manageJobsWithoutQueueName")),
        )
        self._around = {"config": self._config, "related": self._related}

    def answer(self) -> Form:
        """Return what kueuepy does with the job of the case."""
        try:
            made = self._made()
        except KueueError as error:
            self.problem = str(error)
            return {"outcome": REFUSED}
        if not made:
            return {"outcome": 0}
        workloads = sorted((self._workload(one) for _, one in made), key=lambda one: str(one["name"]))
        manifests = list({id(manifest): (manifest, one) for manifest, one in made}.values())
        answer: Form = {"outcome": len(made), "workloads": workloads, "webhook": self._webhooks(manifests)}
        if "admission" in self._case:
            answer |= self._runs(manifests)
        answer["statuses"] = [self._status(manifests[0][0], status) for status in self._case.get("statuses") or ()]
        return answer

    def _made(self) -> list[tuple[Form, Workload]]:
        """Return the Workloads, each with the manifest that it starts."""
        cluster = JobCluster.of(
            classes=(*self._objects[WorkloadPriorityClass], *self._objects[PriorityClass]),
            namespaces=self._objects[Namespace],
            local_queues=self._objects[LocalQueue],
            **self._around,
        )
        made = [(one.manifest, one.workload) for one in conversions(self._case["jobs"], cluster)]
        for _, one in made:
            problems = kq.manifest.validate(one, feature_gates=self._config.gates)
            if problems:
                raise kq.errors.InvalidSpecError(str(problems[0]))
        return made

    def _workload(self, made: Workload) -> Form:
        document = kq.manifest.to_dict(made)
        ranges = [one for one in self._objects[LimitRange] if one.namespace == made.namespace]
        requests = {
            one.name: pod_requests(
                one.template,
                runtime_classes=self._objects[RuntimeClass],
                limit_ranges=ranges,
                configuration=self._config,
            )
            for one in made.pod_sets
            if one.count
        }
        sets = [
            pod_set(one.name, (one.count, one.min_count), one.topology_request, one.template, kind=self._kind)
            for one in made.pod_sets
        ]
        return workload(document["metadata"], document.get("spec", {}), sets, requests, kind=self._kind)

    def _webhooks(self, manifests: list[tuple[Form, Workload]]) -> list[Form]:
        found = []
        for manifest, _ in manifests:
            plain, held = kj.apply_patch(manifest, {}), kj.suspend(manifest, **self._around)
            found += [changes(*pair) for pair in zip(_items(plain), _items(held), strict=True)]
        return found

    def _runs(self, manifests: list[tuple[Form, Workload]]) -> Form:
        starts: list[Form] = []
        stops: list[Form | str] = []
        for manifest, made in manifests:
            held = kj.suspend(manifest, **self._around)
            admitted = msgspec.structs.replace(made, status=self._admission(made))
            try:
                patch = kj.start_patch(held, admitted, self._objects[ResourceFlavor], **self._around)
            except KueueError:
                return {"start": [REFUSED]}
            started = kj.apply_patch(held, patch)
            starts += [changes(*pair) for pair in zip(_items(held), _items(started), strict=True)]
            back = kj.stop_patch(started, made, **self._around)
            if back is None:
                stops += ["deleted"] * len(_items(started))
            else:
                stopped = kj.apply_patch(started, back)
                stops += [changes(*pair) for pair in zip(_items(started), _items(stopped), strict=True)]
        return {"start": starts, "stop": stops}

    def _admission(self, made: Workload) -> WorkloadStatus:
        given = self._case["admission"]
        sets, assignments = given["podSets"], []
        for index, one in enumerate(made.pod_sets):
            assigned = sets.get(one.name) or sets.get(str(index)) or sets.get("*") or {}
            count, topology = assigned.get("count", one.count), None
            if "topologyLevels" in assigned:
                levels = tuple(assigned["topologyLevels"])
                topology = TopologyAssignment(levels, (TopologyDomain(("a",) * len(levels), count),))
            flavors = assigned.get("flavors", {})
            assignments.append(PodSetAssignment(one.name, flavors=flavors, count=count, topology_assignment=topology))
        admission = Admission(given.get("clusterQueue", "cq"), tuple(assignments))
        states = []
        for check in given.get("checks", ()):
            updates = [
                {**update, "name": one.name}
                for update in check.get("podSetUpdates", ())
                for one in made.pod_sets
                if update["name"] in ("*", one.name)
            ]
            states.append(AdmissionCheckState(check["name"], "Ready", pod_set_updates=tuple(updates)))
        return WorkloadStatus(admission=admission, admission_checks=tuple(states))

    def _status(self, manifest: Form, status: Any) -> Form:
        """Return the interpretation of a status, of one object or of each pod of a group."""
        manifest = copy.deepcopy(kj.suspend(manifest, **self._around))
        for item, one in zip(_items(manifest), status if self._kind == "Pod" else [status], strict=True):
            item["status"] = one
        try:
            job = kj.adapter_for(manifest, **self._around)
            ended, reclaimable = job.finished(), job.reclaimable_pods()
            found: Form = {"podsReady": job.pods_ready(), "finished": ended is not None}
        except KueueError as error:
            return {"error": str(error)}
        if ended is not None:
            found |= {"success": ended.success, "message": ended.message}
        if reclaimable:
            found["reclaimable"] = [{"name": one.name, "count": one.count} for one in reclaimable]
        return found


def _items(manifest: Form) -> list[Form]:
    """Return the pods of a group, or the manifest alone."""
    return manifest["items"] if manifest.get("kind") == "List" else [manifest]
