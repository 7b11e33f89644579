"""Deployment and StatefulSet, whose pods run until they are deleted, and LeaderWorkerSet.

A LeaderWorkerSet is groups of a leader and its workers; Kueue admits each group separately.

Source: `pkg/controller/jobs/deployment/deployment_webhook.go`, in `pkg/controller/jobs/statefulset`
`statefulset_reconciler.go:constructWorkload`, `statefulset_pod_reconciler.go:setDefault` and `statefulset_webhook.go`,
and `pkg/controller/jobs/leaderworkerset/leaderworkerset_reconciler.go` and `leaderworkerset_webhook.go`.
"""

import copy
from collections.abc import Iterator, Sequence

from kueuepy.jobs import keys
from kueuepy.jobs.base import ParentJob, PodSetSource
from kueuepy.jobs.integrations.pod import Pod, PodGroup
from kueuepy.jobs.job import Job
from kueuepy.jobs.numbers import signed
from kueuepy.jobs.template import Document, Section
from kueuepy.jobs.topology import PodIndex
from kueuepy.manifest import BUILT_IN, framework_of, part

_STATEFUL_SET = "statefulset"
_MOST_PODS = 150_000  # largest number of pods per cluster that Kubernetes supports


class Deployment(ParentJob):
    """A Deployment. Each pod is a separate job, so a Deployment can run with fewer pods than requested."""

    kind = "Deployment"
    checks_job_labels = False

    def slots(self, root: Section) -> Sequence[PodSetSource]:
        """Return the pod set source for the template of a single pod."""
        template = root.section("spec").section("template")
        return [PodSetSource("main", 1, template, index=PodIndex(keys.POD_GROUP_POD_INDEX), keeps_metadata=False)]

    def jobs(self) -> Sequence[Job]:
        """Return the pods, or the group of the pods, with Kueue's scheduling gates.

        Each returned pod has a number in its name. In a cluster, pods have random names.
        """
        made = Deployment(self.suspended(), config=self.config)
        pods = [Pod(Pod(pod, config=self.config).suspended(), config=self.config) for pod in made.pods()]
        if pods and pods[0].group_name:
            items = [pod.manifest for pod in pods]
            return (PodGroup({"apiVersion": "v1", "kind": "List", "items": items}, config=self.config),)
        return pods

    def pods(self) -> Iterator[Document]:
        """Iterate over the manifests of the pods that the ReplicaSet creates from the template."""
        template = self.root.walk("spec.template")
        return (_pod(template, f"{self.name}-{number}", self.namespace) for number in range(replicas(self)))

    def on_suspended(self, root: Section) -> None:
        """Copy the queue and priority to the pod template, and mark the template as suspended by the Deployment."""
        template = root.section("spec").section("template").ensure("metadata")
        template.ensure("annotations").data[keys.SUSPENDING_PARENT] = "deployment"
        template.ensure("labels").data.update({keys.MANAGED: "true"} | self.passed_labels())


class StatefulSet(ParentJob):
    """A StatefulSet, with one Workload and pod set `main` for all its replicas. It never finishes."""

    kind = "StatefulSet"
    checks_job_labels = False
    checks_topology = False

    def slots(self, root: Section) -> Sequence[PodSetSource]:
        """Return the pod set source for the template. The pod set contains only the spec of the template."""
        spec, index = root.section("spec"), PodIndex(keys.APPS_POD_INDEX)
        count, template = spec.count("replicas", 1), spec.section("template")
        return [PodSetSource("main", count, template, index=index, keeps_metadata=False)]

    def jobs(self) -> "Sequence[StatefulSet]":
        """Return the StatefulSet itself, if it gets a Workload.

        A StatefulSet gets no Workload if it has no replicas, if another kind managed by Kueue creates it, or if it is
        in a MultiKueue worker cluster.
        """
        is_remote = keys.MULTIKUEUE_ORIGIN in self.labels
        has_pods = self.root.section("spec").count("replicas", 1) > 0
        return (self,) if has_pods and not is_held_by_another(self.manifest) and not is_remote else ()

    def validate(self) -> None:
        """Apply the common validation rules, unless another kind managed by Kueue creates the StatefulSet."""
        if not is_held_by_another(self.manifest):
            super().validate()

    def workload_name(self) -> str:
        """Return the name that Kueue generates for the Workload."""
        return self.name_workload(self.name)

    def workload_annotations(self) -> dict[str, str]:
        """Return the annotations with the group and the owner."""
        return group_workload_annotations(self)

    def on_suspended(self, root: Section) -> None:
        """Mark the pod template as suspended by the StatefulSet."""
        if not is_held_by_another(self.manifest):
            template = root.section("spec").section("template").ensure("metadata")
            template.ensure("annotations").data[keys.SUSPENDING_PARENT] = _STATEFUL_SET

    def on_hold(self) -> bool:
        """Return whether the StatefulSet has no replicas."""
        return not self.root.section("spec").count("replicas", 1)


def is_held_by_another(manifest: Document) -> bool:
    """Return whether a StatefulSet was created by an object of another kind, whose Kueue integration suspends the pods.

    Source: `pkg/controller/jobs/statefulset/statefulset_controller.go:managedByAnotherFramework`.
    """
    parent = part(manifest, "spec", "template", "metadata", "annotations").get(keys.SUSPENDING_PARENT)
    return parent is not None and parent != _STATEFUL_SET


def replicas(job: ParentJob) -> int:
    """Return the number of replicas, each of which becomes a pod.

    Raises:
        InvalidSpecError: The number of replicas exceeds the number of pods that a cluster supports.
    """
    spec = job.root.section("spec")
    count = spec.count("replicas", 1)
    if count > _MOST_PODS:
        raise spec.error("replicas", f"is {count}; each becomes a pod, and they must be at most {_MOST_PODS}")
    return count


def group_workload_annotations(job: ParentJob) -> dict[str, str]:
    """Return the annotations for the Workload of an object whose pods form a group."""
    group, _, version = job.api_versions[0].partition("/")
    return {
        keys.IS_GROUP_WORKLOAD: "true",
        keys.JOB_OWNER_GVK: f"{group}/{version}, Kind={job.kind}",
        keys.JOB_OWNER_NAME: job.name,
    }


def _pod(template: Section, name: str, namespace: str) -> Document:
    """Return a pod that is created from a template."""
    metadata = copy.deepcopy(template.part("metadata").data) | {"name": name, "namespace": namespace}
    spec = copy.deepcopy(template.section("spec").data)
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


_WORKER = "worker"
_DOMAIN = "leaderworkerset.sigs.k8s.io"
_NAME = f"{_DOMAIN}/name"
_FRAMEWORK = framework_of(BUILT_IN["LeaderWorkerSet"][0], "LeaderWorkerSet")
_MAX_REPLICAS = 1_000_000


class LeaderWorkerSet(ParentJob):
    """A LeaderWorkerSet, with one Workload per replica.

    With a leader template, the pod sets are `leader`, with one pod, and `worker`. Without a leader template, the only
    pod set is `main`. A LeaderWorkerSet never finishes.

    Attributes:
        index: Index of the replica that this instance represents.
    """

    kind = "LeaderWorkerSet"
    checks_job_labels = False
    index = 0

    def slots(self, root: Section) -> Sequence[PodSetSource]:
        """Return the pod set sources of a replica: the leader, if it has its own template, and the workers."""
        group = root.walk("spec.leaderWorkerTemplate")
        size = group.count("size", 1)
        leader = group.find("leaderTemplate")
        worker = group.section("workerTemplate")
        numbered = PodIndex(keys.LWS_WORKER_INDEX)
        if leader is None:
            return [PodSetSource("main", size, worker, index=numbered)]
        return [PodSetSource("leader", 1, leader), PodSetSource(_WORKER, size - 1, worker, index=numbered)]

    def amend(self, pod_set: str, template: Document) -> None:  # noqa: ARG002 same for all pod sets
        """Remove the labels and annotations that the LeaderWorkerSet controller sets, except for the name label."""
        for texts in (template.get("metadata", {}).get(key, {}) for key in ("labels", "annotations")):
            for key in [key for key in texts if key.startswith(_DOMAIN) and key != _NAME]:
                del texts[key]

    def jobs(self) -> "Sequence[LeaderWorkerSet]":
        """Return the replicas, including the replicas that a rolling update adds to `spec.replicas`.

        In a MultiKueue worker cluster, no replicas are returned, because the manager cluster creates their Workloads.
        """
        return [] if keys.MULTIKUEUE_ORIGIN in self.labels else [self._replica(i) for i in range(self._replicas())]

    def validate(self) -> None:
        """Apply the common validation rules, and reject an excessive number of replicas."""
        spec = self.root.section("spec")
        if spec.count("replicas", 1) > _MAX_REPLICAS:
            raise spec.error("replicas", f"is {spec.count('replicas')}; it must be at most {_MAX_REPLICAS}")
        super(ParentJob, self).validate()

    def workload_name(self) -> str:
        """Return the name that Kueue generates for the replica."""
        return self.name_workload(f"{self.name}-{self.index}")

    def workload_annotations(self) -> dict[str, str]:
        """Return the annotations with the group, the owner and the index of the replica."""
        return group_workload_annotations(self) | {keys.COMPONENT_WORKLOAD_INDEX: str(self.index)}

    def on_suspended(self, root: Section) -> None:
        """Copy the queue and priority to the pod templates, mark them as suspended, and set the pod index offset."""
        for slot in self.slots(root):
            metadata = slot.template.ensure("metadata")
            metadata.ensure("labels").data.update(self.passed_labels())
            annotations = metadata.ensure("annotations").data
            annotations |= {keys.SUSPENDING_PARENT: _FRAMEWORK, keys.POD_GROUP_SERVING: "true"}
            is_grouped = keys.POD_SET_GROUP_NAME in annotations
            if slot.name == _WORKER and not is_grouped and self.gate("TopologyAwareScheduling"):
                annotations[keys.POD_INDEX_OFFSET] = "1"

    def _replica(self, index: int) -> "LeaderWorkerSet":
        replica = LeaderWorkerSet(self.manifest, config=self.config, related=self.related)
        replica.index = index
        return replica

    def _replicas(self) -> int:
        """Return the number of replicas that get a Workload.

        Source: `leaderworkerset_reconciler.go:filterWorkloads`.
        """
        spec, status = self.root.section("spec"), self.status()
        wanted = spec.count("replicas", 1)
        configuration = spec.find_at("rolloutStrategy.rollingUpdateConfiguration")
        surge = configuration.data.get("maxSurge", 0) if configuration else 0
        surge = signed(surge) or 0 if isinstance(surge, str) else surge  # as in Kueue, a percentage counts as 0
        is_surging = isinstance(surge, int) and surge > 0 and status.count("updatedReplicas", 0) < wanted
        # A surge replica holds quota until the rolling update ends.
        return max(wanted, status.count("replicas", 0)) if is_surging else wanted
