"""Plain Pods without an owner that Kueue manages: single Pods, each of which is a job, and groups of Pods.

Source: `pkg/controller/jobs/pod/pod_controller.go` and `pod_webhook.go`; for groups `constructGroupPodSets`,
`validatePodGroupMetadata`, `ConstructComposableWorkload`, `Run`, `Stop`, `Finished`, `ReclaimablePods`.

The role of a pod in its group: a hash of the fields of its spec that affect scheduling.

Source: `pkg/util/pod/pod.go:GenerateRoleHash,SpecShape`, which hash JSON as encoded by Go.
"""

import copy
import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from kueuepy.errors import InvalidSpecError
from kueuepy.jobs import keys, topology
from kueuepy.jobs.base import MAX_POD_SETS, BaseJob, PodSetSource
from kueuepy.jobs.checks import check_pod_spec
from kueuepy.jobs.job import Finished
from kueuepy.jobs.numbers import unsigned, wrapped
from kueuepy.jobs.template import Document, PodSetInfo, Section, add_gate, canonical, has_gate, inject, remove_gate
from kueuepy.jobs.topology import PodIndex, parse_count
from kueuepy.manifest.formats import is_subdomain
from kueuepy.objects import Configuration, PodSet, ReclaimablePod

_LENGTH = 8

# Fields of Kubernetes' types in the order of their Go structs. "!" marks fields that Go encodes even if they are empty.
_SELECTOR_TERM: Document = {"key!": None, "operator!": None, "values": None}
_LABEL_SELECTOR: Document = {"matchLabels": None, "matchExpressions": _SELECTOR_TERM}
_NODE_TERM: Document = {"matchExpressions": _SELECTOR_TERM, "matchFields": _SELECTOR_TERM}
_POD_TERM: Document = {
    "labelSelector": _LABEL_SELECTOR,
    "namespaces": None,
    "topologyKey!": None,
    "namespaceSelector": _LABEL_SELECTOR,
    "matchLabelKeys": None,
    "mismatchLabelKeys": None,
}
_POD_AFFINITY: Document = {
    "requiredDuringSchedulingIgnoredDuringExecution": _POD_TERM,
    "preferredDuringSchedulingIgnoredDuringExecution": {"weight!": 0, "podAffinityTerm!": _POD_TERM},
}
_AFFINITY: Document = {
    "nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms!": _NODE_TERM},
        "preferredDuringSchedulingIgnoredDuringExecution": {"weight!": 0, "preference!": _NODE_TERM},
    },
    "podAffinity": _POD_AFFINITY,
    "podAntiAffinity": _POD_AFFINITY,
}
_TOLERATION: Document = {"key": None, "operator": None, "value": None, "effect": None, "tolerationSeconds": None}
_PORT: Document = {"name": None, "hostPort": None, "containerPort!": 0, "protocol": None, "hostIP": None}
_SPREAD: Document = {
    "maxSkew!": 0,
    "topologyKey!": None,
    "whenUnsatisfiable!": None,
    "labelSelector": _LABEL_SELECTOR,
    "minDomains": None,
    "nodeAffinityPolicy": None,
    "nodeTaintsPolicy": None,
    "matchLabelKeys": None,
}
_CLAIM: Document = {"name!": None, "resourceClaimName": None, "resourceClaimTemplateName": None}
# Go escapes these characters in JSON, in case that it is part of HTML.
_HTML = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}


def role_hash(spec: Document) -> str:
    """Return the role of a pod with the given spec, a string of 8 hexadecimal digits.

    Empty lists and mappings count as absent. Default requests, which the API server sets from limits, are taken into
    account. In a cluster, the role also depends on the priority and on the tolerations that admission plugins add.

    >>> role_hash({"containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]})
    'dc85db45'
    """
    shape = {
        "initContainers": _containers(spec.get("initContainers")),
        "containers": _containers(spec.get("containers")),
        "nodeSelector": _sorted(spec.get("nodeSelector") or None),
        "affinity": _ordered(spec.get("affinity"), _AFFINITY),
        "tolerations": _ordered(spec.get("tolerations") or None, _TOLERATION),
        "runtimeClassName": spec.get("runtimeClassName"),
        "priority": spec.get("priority"),
        "topologySpreadConstraints": _ordered(spec.get("topologySpreadConstraints") or None, _SPREAD),
        "overhead": _resources(spec.get("overhead")),
        "resourceClaims": _ordered(spec.get("resourceClaims") or None, _CLAIM),
    }
    if spec.get("resources") is not None:
        shape["resources"] = _resources(spec["resources"].get("requests"))
    text = _json({"spec": _sorted(shape)})
    return hashlib.sha256(text.encode()).hexdigest()[:_LENGTH]


def _json(value: Document) -> str:
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    for character, escaped in _HTML.items():
        text = text.replace(character, escaped)
    return text


def _containers(containers: list[Document] | None) -> list[Document] | None:
    if not containers:
        return None
    return [
        {
            "ports": _ordered(container.get("ports") or None, _PORT),
            "resources": {"requests": _resources(_requests(container.get("resources") or {}))},
        }
        for container in containers
    ]


def _requests(resources: Document) -> Document:
    """Return the requests of a container. As in an API server, a missing request defaults to the limit."""
    return {**(resources.get("limits") or {}), **(resources.get("requests") or {})}


def _resources(resources: Document | None) -> Document | None:
    return {name: canonical(resources[name]) for name in sorted(resources)} if resources else None


def _sorted(mapping: Document | None) -> Document | None:
    return None if mapping is None else dict(sorted(mapping.items()))


def _ordered(value: Any, fields: Document | None) -> Any:
    """Order the fields of a Go type as Go encodes them, and omit empty fields."""
    if isinstance(value, list):
        return [_ordered(item, fields) for item in value]
    if not isinstance(value, dict):
        return value
    if fields is None:
        return _sorted(value)
    result = {}
    for name, inner in fields.items():
        is_always_written = name.endswith("!")
        key = name.rstrip("!")
        nested = inner if isinstance(inner, dict) else None
        found = value.get(key)
        # Go does not treat an empty object behind a pointer as empty, for example a selector that matches everything.
        if found is not None and (found or isinstance(found, dict) or is_always_written):
            result[key] = _ordered(found, nested)
        elif is_always_written:
            result[key] = 0 if inner == 0 else {} if nested else ""
    return result


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
        topology.check_template(metadata, multi_layer=self.gate("TASMultiLayerTopology"))

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
        # A pod with such a parent has the label from its template, and needs no finalizer.
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
            # With a topology assignment, the topology ungater removes this gate instead.
            if keys.TOPOLOGY_GATE not in info.scheduling_gates:
                remove_gate(root.section("spec"), keys.TOPOLOGY_GATE)
        return root.data

    def stopped(self, pod_sets: Sequence[PodSet]) -> Document | None:  # noqa: ARG002 nothing to restore
        """Return `None` for a running pod, because Kueue deletes it. A gated or terminated pod does not change."""
        return copy.deepcopy(self.manifest) if self.is_suspended() else None

    def finished(self) -> Finished | None:
        """Determine the outcome of the pod from its phase."""
        return Finished(self.status().text("message"), self.phase == "Succeeded") if self.is_terminated else None


_PLAIN = Configuration()


class PodGroup(BaseJob):
    """The pods of one group, as a manifest of kind List.

    There is one pod set per role, sorted by the hashes of the roles.

    Attributes:
        pods: The pods, in the order of the list.
    """

    kind = "List"
    api_versions = ("v1",)

    def __init__(self, manifest: Document, *, config: Configuration = _PLAIN, related: Iterable[Document] = ()) -> None:
        """Create a group from a List of its pods.

        Raises:
            InvalidSpecError: The list is empty, or its pods are not all in the same group.
        """
        super().__init__(manifest, config=config, related=related)
        items = Section("List", "", self.manifest).sections("items")
        self.pods = [Pod(item.data, config=config, related=related) for item in items]
        groups = sorted({f"{pod.namespace}/{pod.group_name}" for pod in self.pods})
        if len(groups) != 1 or groups[0].endswith("/"):
            found = ", ".join(groups) if self.pods else "no pods"
            raise InvalidSpecError(f"List: items: has {found}; it must have the pods of one group")

    @property
    def root(self) -> Section:
        """The first pod, whose labels and annotations represent the group."""
        return Section(self.owner, "items[0]", self.pods[0].manifest)

    @property
    def name(self) -> str:
        """The name of the group."""
        return self.pods[0].group_name

    @property
    def namespace(self) -> str:
        """The namespace of the group."""
        return self.pods[0].namespace

    @property
    def owner(self) -> str:
        """The group's name in error messages: `pod group "team-a/train"`."""
        return f'pod group "{self.namespace}/{self.name}"'

    @property
    def total_count(self) -> int:
        """Return the total number of pods in the group, from the annotation of the first pod.

        Raises:
            InvalidSpecError: The annotation is missing, or is not an integer greater than 0.
        """
        return self.pods[0].total_count()

    @property
    def is_fast(self) -> bool:
        """Whether the group can be admitted before all its pods exist (fast admission)."""
        return self.annotations.get(keys.POD_GROUP_FAST_ADMISSION) == "true"

    @property
    def is_serving(self) -> bool:
        """Whether the group runs indefinitely."""
        return self.annotations.get(keys.POD_GROUP_SERVING) == "true"

    def workload_name(self) -> str:
        """Return the name of the prebuilt Workload, or the name of the group."""
        return self.prebuilt_workload_name() or self.name

    def workload_labels(self) -> dict[str, str]:
        """Return no labels: the Workload does not belong to a single pod."""
        return {}

    def workload_annotations(self) -> dict[str, str]:
        """Return the annotation that marks a Workload as the Workload of a pod group."""
        return {keys.IS_GROUP_WORKLOAD: "true"}

    def members(self) -> list[Pod]:
        """Return the runnable pods, limited to the group size. Running pods and older pods take precedence."""
        runnable = [pod for pod in self.pods if pod.is_runnable]
        if len(runnable) <= self.total_count:
            return runnable
        return sorted(runnable, key=_keeping_order)[: self.total_count]

    def slots(self, root: Section) -> Sequence[PodSetSource]:  # noqa: ARG002 each pod has its own manifest
        """Return a pod set source for the first pod of each role; with fast admission, only for the first pod."""
        members = self.members()
        if self.is_fast:
            members = members[:1]
        # The pods that do not exist yet are assumed to have the role of the first one.
        counts = Counter({pod.role: wrapped(self.total_count) for pod in members}) if self.is_fast else _roles(members)
        # Of several pods with one role, the first one in the list stays.
        firsts = {pod.role: pod for pod in reversed(members)}
        index = PodIndex(keys.POD_GROUP_POD_INDEX)
        return [
            PodSetSource(role, counts[role], _copy(firsts[role]), index=index, keeps_metadata=False)
            for role in sorted(counts)
        ]

    def validate(self) -> None:
        """Check that the group is complete, and that its pods agree on the queue and the size of the group."""
        for pod in self.pods:
            pod.validate()
        total = self.total_count
        index = self.labels.get(keys.POD_GROUP_POD_INDEX)
        number = None if index is None else unsigned(index)
        if index is not None and (number is None or number >= total):
            raise (
                self.root.section("metadata")
                .section("labels")
                .error(keys.POD_GROUP_POD_INDEX, f'is "{index}"; it must be a whole number less than {total}')
            )
        if not self.is_fast and len(self.members()) < total:
            raise InvalidSpecError(
                f"{self.owner}: has {len(self.members())} runnable pods; it must have {total}, as"
                f" {keys.POD_GROUP_TOTAL_COUNT} says"
            )
        for pod in (pod for pod in self.pods if pod.phase != "Failed"):
            if pod.queue_name() != self.queue_name():
                raise InvalidSpecError(
                    f'{self.owner}: pods "{self.pods[0].name}" and "{pod.name}" have different queue names,'
                    f' "{self.queue_name()}" and "{pod.queue_name()}"; they must have the same'
                )
            other = pod.total_count()
            if other != total:
                raise InvalidSpecError(
                    f'{self.owner}: pods "{self.pods[0].name}" and "{pod.name}" say that the group has {total} and'
                    f" {other} pods; they must say the same"
                )
        if len(self.slots(self.root)) > MAX_POD_SETS:
            raise InvalidSpecError(f"{self.owner}: has more than {MAX_POD_SETS} roles; it must have at most so many")

    def is_suspended(self) -> bool:
        """Return whether any pod is gated or has terminated."""
        return any(pod.is_suspended() for pod in self.pods)

    def suspended(self) -> Document:
        """Return a List of the pods with scheduling gates added."""
        return self._list(pod.suspended() for pod in self.pods)

    def started(self, infos: Sequence[PodSetInfo]) -> Document:
        """Return a List of the pods, each with the changes for its role.

        Raises:
            InvalidSpecError: There is no PodSetInfo for a role, or a PodSetInfo conflicts with a pod.
        """
        by_role = {info.name: info for info in infos}
        for pod in self.pods:
            if pod.is_gated and pod.role not in by_role:
                raise InvalidSpecError(
                    f'{pod.owner}: its role "{pod.role}" is not admitted; it must be one of {", ".join(by_role)}'
                )
        return self._list(pod.ungated(by_role[pod.role]) if pod.is_gated else pod.manifest for pod in self.pods)

    def stopped(self, pod_sets: Sequence[PodSet]) -> Document | None:
        """Return a List of the pods that remain after Kueue deletes the running pods; `None` if no pod remains."""
        left = [manifest for pod in self.pods if (manifest := pod.stopped(pod_sets)) is not None]
        return self._list(left) if left else None

    def reclaimable_pods(self) -> tuple[ReclaimablePod, ...]:
        """Return the number of succeeded pods per role; empty for a group that runs indefinitely."""
        if self.is_serving:
            return ()
        succeeded = _roles(pod for pod in self.pods if pod.phase == "Succeeded")
        return tuple(ReclaimablePod(role, count) for role, count in succeeded.items())

    def finished(self) -> Finished | None:
        """Return the outcome: the group has finished when all pods have succeeded.

        A group is also finished when all its pods have terminated and one of them is marked as not retriable. A
        finished group always counts as successful.
        """
        succeeded, total = sum(pod.phase == "Succeeded" for pod in self.pods), self.total_count
        may_replace = all(pod.annotations.get(keys.RETRIABLE_IN_GROUP) != "false" for pod in self.pods)
        is_over = all(pod.is_terminated for pod in self.pods) and not may_replace
        if self.is_serving or not (succeeded == total or is_over):
            return None
        return Finished(f"Pods succeeded: {succeeded}/{total}.", success=True)

    def pods_ready(self) -> bool:
        """Return whether the group is complete and all its pods are ready."""
        return len(self.pods) >= self.total_count and all(pod.pods_ready() for pod in self.pods)

    def _section(self, manifest: Document) -> Section:
        return Section(self.owner, "", manifest)

    def _list(self, items: Iterable[Document]) -> Document:
        return copy.deepcopy(self.manifest | {"items": list(items)})


def _roles(pods: Iterable[Pod]) -> Counter[str]:
    """Return the number of pods per role, in the order of the first pod of each role."""
    return Counter(pod.role for pod in pods)


def _copy(pod: Pod) -> Section:
    return Section(pod.owner, "", copy.deepcopy(pod.manifest))


def _keeping_order(pod: Pod) -> tuple[bool, bool, str]:
    """Return the sort key for excess pods.

    Pods that Kueue has marked, pods without a gate, and older pods are kept first.
    """
    metadata = pod.root.section("metadata")
    return keys.MANAGED not in metadata.items("finalizers"), pod.is_gated, metadata.text("creationTimestamp")
