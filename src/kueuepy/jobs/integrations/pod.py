"""Plain Pods without an owner that Kueue manages. Each Pod is a job with one pod.

Source: `pkg/controller/jobs/pod/pod_controller.go` and `pod_webhook.go` for single pods.
"""

import copy
from collections.abc import Sequence

from kueuepy.jobs import keys, topology_check
from kueuepy.jobs.base import BaseJob, PodSetSource
from kueuepy.jobs.fields import Document, Section
from kueuepy.jobs.forms import check_pod_spec
from kueuepy.jobs.job import Finished
from kueuepy.jobs.role import role_hash
from kueuepy.jobs.template import PodSetInfo, add_gate, has_gate, inject, remove_gate
from kueuepy.jobs.topology import PodIndex, parse_count
from kueuepy.manifest.formats import is_subdomain
from kueuepy.objects import PodSet

_TERMINATED = ("Succeeded", "Failed")


class Pod(BaseJob):
    """A Pod, whose only pod set `main` has one pod.

    A scheduling gate prevents the pod from running before its admission. To stop the pod, Kueue deletes it.
    """

    kind = "Pod"
    ready = "Ready"
    checks_topology = False

    @property
    def group_name(self) -> str:
        """The group's name; empty if the pod is not in a group. Source: `pkg/util/pod/pod.go:GetPodGroupName`."""
        annotated = self.annotations.get(keys.POD_GROUP_NAME, "") if self.gate("WorkloadIdentifierAnnotations") else ""
        return annotated or self.labels.get(keys.POD_GROUP_NAME, "")

    @property
    def role(self) -> str:
        """The role of the pod in its group: the value of its annotation, or a hash of its spec."""
        spec = self.root.section("spec")
        check_pod_spec(spec.data, spec.owner, "spec")
        return self.annotations.get(keys.ROLE_HASH) or role_hash(spec.data)

    @property
    def phase(self) -> str:
        """The phase of the pod; empty for a new pod."""
        return self.status().text("phase")

    @property
    def is_terminated(self) -> bool:
        """Whether the pod has succeeded or failed."""
        return self.phase in _TERMINATED

    @property
    def is_gated(self) -> bool:
        """Whether the pod has Kueue's scheduling gate."""
        return has_gate(self.root.section("spec"), keys.ADMISSION_GATE)

    @property
    def is_runnable(self) -> bool:
        """Whether the pod can run, runs or has succeeded.

        Failed pods, and pods deleted before they got a node, are not runnable.
        """
        is_deleted = "deletionTimestamp" in self.root.section("metadata").data
        return self.phase != "Failed" and not (is_deleted and not self.root.section("spec").text("nodeName"))

    def slots(self, root: Section) -> Sequence[PodSetSource]:
        """Return the pod set source for the pod itself. The pod set contains only the spec of the pod."""
        return [PodSetSource("main", 1, root, index=PodIndex(keys.POD_GROUP_POD_INDEX), keeps_metadata=False)]

    def check_topology(self) -> None:
        """Validate the topology annotations of the pod like Kueue's webhook, regardless of the feature gate.

        The size of a slice is not limited to one pod, because the pod's group may contain more pods.
        """
        metadata = self.root.section("metadata")
        topology_check.check_template(metadata, multi_layer=self.gate("TASMultiLayerTopology"))

    def validate(self) -> None:
        """Check the labels that Kueue sets, and that the metadata of the pod's group is complete."""
        super().validate()
        self.check_topology()
        metadata = self.root.section("metadata")
        if self.labels.get(keys.MANAGED, "true") != "true":
            raise metadata.section("labels").error(keys.MANAGED, f'is "{self.labels[keys.MANAGED]}"; it must be "true"')
        has_total = keys.POD_GROUP_TOTAL_COUNT in self.annotations
        if has_total != bool(self.group_name):
            raise metadata.error(
                "annotations", f"{keys.POD_GROUP_TOTAL_COUNT} and {keys.POD_GROUP_NAME} go together; give both or none"
            )
        if has_total:
            self.total_count()
        if self.group_name and not is_subdomain(self.group_name):
            raise metadata.error("annotations", f'the group name "{self.group_name}" must be a DNS subdomain')
        prebuilt = self.prebuilt_workload_name()
        if self.group_name and prebuilt and prebuilt != self.group_name:
            raise metadata.error(
                "annotations", f'the prebuilt workload "{prebuilt}" must be the group, "{self.group_name}"'
            )

    def total_count(self) -> int:
        """Return the total number of pods in the group, from the pod's annotation.

        Raises:
            InvalidSpecError: The annotation is missing, or is not an integer greater than 0.
        """
        metadata = self.root.section("metadata")
        if keys.POD_GROUP_TOTAL_COUNT not in self.annotations:
            raise metadata.error("annotations", f"has no {keys.POD_GROUP_TOTAL_COUNT}; a pod of a group must have it")
        total = parse_count(metadata, keys.POD_GROUP_TOTAL_COUNT, bits=64)
        if total < 1:
            raise metadata.section("annotations").error(
                keys.POD_GROUP_TOTAL_COUNT, f"is {total}; it must be greater than 0"
            )
        return total

    def is_suspended(self) -> bool:
        """Return whether the pod is gated or has terminated."""
        return self.is_terminated or self.is_gated

    def suspended(self) -> Document:
        """Return the pod with Kueue's scheduling gates, labels and annotations."""
        root = self._copy()
        metadata = root.section("metadata")
        if keys.SUSPENDING_PARENT not in self.annotations:
            metadata.ensure("labels").data[keys.MANAGED] = "true"
            finalizers = metadata.items("finalizers")
            metadata.data["finalizers"] = [*finalizers, *([] if keys.MANAGED in finalizers else [keys.MANAGED])]
        spec = root.ensure("spec")
        add_gate(spec, keys.ADMISSION_GATE)
        if self.gate("TopologyAwareScheduling"):
            source = self.annotations.get(keys.POD_GROUP_POD_INDEX_LABEL)
            if source is not None:
                metadata.ensure("labels").data[keys.POD_GROUP_POD_INDEX] = self.labels.get(source, "")
            add_gate(spec, keys.TOPOLOGY_GATE)
        metadata.ensure("annotations").data[keys.ROLE_HASH] = self.role
        return root.data

    def started(self, infos: Sequence[PodSetInfo]) -> Document:
        """Return the pod with the changes of its admission applied and Kueue's admission gate removed.

        A running pod does not change.

        Raises:
            InvalidSpecError: There is not exactly one PodSetInfo, or the PodSetInfo conflicts with the pod.
        """
        self.require_length(1, infos)
        return self.ungated(infos[0])

    def ungated(self, info: PodSetInfo) -> Document:
        """Return the pod with the changes in `info` applied and Kueue's admission gate removed.

        The topology gate remains only if a topology assignment will follow.

        Source: `pkg/controller/jobs/pod/pod_controller.go:prepare`.
        """
        root = self._copy()
        if self.is_gated:
            inject(root, info)
            remove_gate(root.section("spec"), keys.ADMISSION_GATE)
            if keys.TOPOLOGY_GATE not in info.scheduling_gates:
                remove_gate(root.section("spec"), keys.TOPOLOGY_GATE)
        return root.data

    def stopped(self, pod_sets: Sequence[PodSet]) -> Document | None:  # noqa: ARG002 nothing to restore
        """Return `None` for a running pod, because Kueue deletes it. A gated or terminated pod does not change."""
        return copy.deepcopy(self.manifest) if self.is_suspended() else None

    def finished(self) -> Finished | None:
        """Determine the outcome of the pod from its phase."""
        return Finished(self.status().text("message"), self.phase == "Succeeded") if self.is_terminated else None
