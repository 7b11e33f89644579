"""SparkApplication: a driver and its executors.

Mirrors `pkg/controller/jobs/sparkapplication/sparkapplication_controller.go` and `sparkapplication_webhook.go`.
"""

import copy
from collections.abc import Sequence

from kueuepy.jobs.base import BaseJob, PodSetSource
from kueuepy.jobs.fields import Document, Section
from kueuepy.jobs.integrations.spark_pod import DRIVER, EXECUTOR, empty_template, pod_template
from kueuepy.jobs.job import Finished
from kueuepy.jobs.template import (
    METADATA_FIELDS,
    PodSetInfo,
    add_gate,
    merge_texts,
    merge_tolerations,
    restore_fields,
)
from kueuepy.manifest.jobkinds import BUILT_IN
from kueuepy.objects import PodSet

_ROLES = (DRIVER, EXECUTOR)
_ENDS = ("COMPLETED", "FAILED", "SUBMISSION_FAILED")
_READY = ("RUNNING", "COMPLETED")


class SparkApplication(BaseJob):
    """A SparkApplication: pod sets `driver` and `executor`, made from the fields of their roles.

    Kueue knows the kind with its feature gate `SparkApplicationIntegration`; nothing here asks for the gate.
    """

    kind = "SparkApplication"
    api_versions = BUILT_IN["SparkApplication"]
    takes_prebuilt = False
    checks_groups = False

    def slots(self, root: Section) -> Sequence[PodSetSource]:
        """Templates made from the fields of the roles; changing them changes nothing in the application."""
        spec = root.section("spec")
        counts = {DRIVER: 1, EXECUTOR: spec.section(EXECUTOR).count("instances", 0)}
        return [
            PodSetSource(role, counts[role], Section(root.owner, spec.at(role), pod_template(spec, role)))
            for role in _ROLES
        ]

    def validate(self) -> None:
        """Refuses any mode but `cluster`, and executors that come and go."""
        super().validate()
        spec = self.root.section("spec")
        if spec.text("mode") != "cluster":
            raise spec.error("mode", f'is "{spec.text("mode")}"; a job that Kueue manages must have "cluster"')
        allocation = spec.find("dynamicAllocation")
        if allocation is not None and allocation.flag("enabled"):
            raise allocation.error("enabled", "is true; a job that Kueue manages must not change its executors")

    def started(self, infos: Sequence[PodSetInfo]) -> Document:
        """The manifest running, with what each role was given in its fields.

        A node selector of the whole application moves into the roles.

        Raises:
            InvalidSpecError: There are not two infos, or one contradicts the fields of its role.
        """
        root = self._section(copy.deepcopy(self.manifest))
        self.require_length(len(_ROLES), infos)
        spec = root.section("spec")
        common = spec.data.pop("nodeSelector", None)
        for role, info in zip(_ROLES, infos, strict=True):
            _give(spec.section(role), role, info, common)
        self._set_suspend(root, value=False)
        return root.data

    def stopped(self, pod_sets: Sequence[PodSet]) -> Document | None:
        """Return the manifest suspended, with the fields of its roles as the pod sets of its Workload have them.

        As in Kueue, a node selector of the whole application is not restored, and a role keeps the labels and
        annotations that only its template had.
        """
        root = self._section(copy.deepcopy(self.manifest))
        self._set_suspend(root, value=True)
        if len(pod_sets) != len(_ROLES):
            return root.data
        spec = root.section("spec")
        spec.data.pop("nodeSelector", None)
        for role, pod_set in zip(_ROLES, pod_sets, strict=True):
            _restore(spec.section(role), role, pod_set)
        spec.section(EXECUTOR).data["instances"] = pod_sets[_ROLES.index(EXECUTOR)].count
        return root.data

    def finished(self) -> Finished | None:
        """Completed, failed or not submitted, as the state says."""
        state = self._state()
        if state.text("state") not in _ENDS:
            return None
        return Finished(state.text("errorMessage"), state.text("state") == "COMPLETED")

    def pods_ready(self) -> bool:
        """Whether the driver runs, and all executors run or are done."""
        executors = self.status().texts("executorState").values()
        ready = sum(state in _READY for state in executors)
        expected = self.root.section("spec").section(EXECUTOR).count("instances", 0)
        return self._state().text("state") == "RUNNING" and ready >= expected

    def _state(self) -> Section:
        return self.status().find("applicationState") or Section(self.owner, "status.applicationState", {})


def _restore(own: Section, role: str, pod_set: PodSet) -> None:
    """Write into the fields of a role what its pod set has."""
    pod = pod_set.template["spec"]
    restore_fields(own.data, pod_set.template.get("metadata", {}), METADATA_FIELDS)
    restore_fields(own.data, pod, ("nodeSelector", "tolerations"))
    own.data.setdefault("template", empty_template(role))
    restore_fields(own.section("template").ensure("spec").data, pod, ("schedulingGates",))


def _give(own: Section, role: str, info: PodSetInfo, common: Document | None) -> None:
    """Writes into the fields of a role what it was given, beside a node selector of all roles."""
    if common is not None:
        own.data["nodeSelector"] = dict(common)
    merge_texts(own, "annotations", info.annotations)
    merge_texts(own, "labels", info.labels)
    merge_texts(own, "nodeSelector", info.node_selector)
    merge_tolerations(own, info.tolerations)
    own.data.setdefault("template", empty_template(role))
    for gate in info.scheduling_gates:
        add_gate(own.section("template").ensure("spec"), gate)
