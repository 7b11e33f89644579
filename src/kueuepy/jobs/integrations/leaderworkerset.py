"""LeaderWorkerSet: groups of a leader and its workers. Kueue admits each group separately.

Source: `pkg/controller/jobs/leaderworkerset/leaderworkerset_reconciler.go` and `leaderworkerset_webhook.go`.
"""

from collections.abc import Sequence

from kueuepy.jobs import keys
from kueuepy.jobs.base import ParentJob, PodSetSource
from kueuepy.jobs.fields import Document, Section
from kueuepy.jobs.integrations.serving import group_workload_annotations
from kueuepy.jobs.numbers import signed
from kueuepy.jobs.topology import PodIndex
from kueuepy.manifest.jobkinds import BUILT_IN, framework_of

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
