"""LeaderWorkerSet: groups of a leader and its workers, each group admitted by itself.

Mirrors `pkg/controller/jobs/leaderworkerset/leaderworkerset_reconciler.go` and `leaderworkerset_webhook.go`.
"""

from collections.abc import Sequence

from kueuepy.jobs import keys
from kueuepy.jobs.base import PodSetSource
from kueuepy.jobs.fields import Document, Section
from kueuepy.jobs.integrations.serving import group_pod, group_workload_annotations
from kueuepy.jobs.numbers import signed
from kueuepy.jobs.parent import ParentJob
from kueuepy.jobs.topology import PodIndex
from kueuepy.manifest.jobkinds import BUILT_IN, framework_of

LEADER = "leader"
WORKER = "worker"
_DOMAIN = "leaderworkerset.sigs.k8s.io"
_NAME = f"{_DOMAIN}/name"
_GROUP_INDEX = f"{_DOMAIN}/group-index"
_LEADER_NAME = f"{_DOMAIN}/leader-name"
_FRAMEWORK = framework_of(BUILT_IN["LeaderWorkerSet"][0], "LeaderWorkerSet")
_MAX_REPLICAS = 1_000_000


class LeaderWorkerSet(ParentJob):
    """A LeaderWorkerSet: one Workload for each of its replicas.

    With a template for the leader its pod sets are `leader`, of 1, and `worker`; else `main`. It never finishes.

    Attributes:
        index: Which of the replicas this stands for.
    """

    kind = "LeaderWorkerSet"
    api_versions = BUILT_IN["LeaderWorkerSet"]
    checks_job_labels = False
    index = 0

    def slots(self, root: Section) -> Sequence[PodSetSource]:
        """The templates of one replica's leader, if it has one, and workers."""
        group = root.walk("spec.leaderWorkerTemplate")
        size = group.count("size", 1)
        leader = group.find("leaderTemplate")
        worker = group.section("workerTemplate")
        numbered = PodIndex(keys.LWS_WORKER_INDEX)
        if leader is None:
            return [PodSetSource("main", size, worker, index=numbered)]
        return [PodSetSource(LEADER, 1, leader), PodSetSource(WORKER, size - 1, worker, index=numbered)]

    def amend(self, pod_set: str, template: Document) -> None:  # noqa: ARG002 all of them alike
        """Takes away the labels and annotations of the LeaderWorkerSet's own, but for its name."""
        for texts in (template.get("metadata", {}).get(key, {}) for key in ("labels", "annotations")):
            for key in [key for key in texts if key.startswith(_DOMAIN) and key != _NAME]:
                del texts[key]

    def jobs(self) -> "Sequence[LeaderWorkerSet]":
        """Return its replicas, including those that a rolling update has beyond `spec.replicas`.

        There are none in a worker cluster of MultiKueue, whose Workloads come from the manager cluster.
        """
        return [] if keys.MULTIKUEUE_ORIGIN in self.labels else [self._replica(i) for i in range(self._replicas())]

    def validate(self) -> None:
        """Refuses a number of replicas beyond reason, and what is refused of every kind."""
        spec = self.root.section("spec")
        if spec.count("replicas", 1) > _MAX_REPLICAS:
            raise spec.error("replicas", f"is {spec.count('replicas')}; it must be at most {_MAX_REPLICAS}")
        super(ParentJob, self).validate()

    def workload_name(self) -> str:
        """The name that Kueue makes for the replica."""
        return self.name_workload(f"{self.name}-{self.index}")

    def workload_annotations(self) -> dict[str, str]:
        """The marks of a group's Workload, of the object that it is for, and of the replica."""
        return group_workload_annotations(self) | {keys.COMPONENT_WORKLOAD_INDEX: str(self.index)}

    def pods(self) -> Document:
        """The pods of the replica as Kueue marks them, a List of one group.

        Start them with the infos of the replica's Workload.
        """
        slots = self.slots(self._section(self.suspended()))
        size = sum(slot.count for slot in slots)
        each = (slot for slot in slots for _ in range(slot.count))
        items = [self._pod(slot, number, size) for number, slot in enumerate(each)]
        return {"apiVersion": "v1", "kind": "List", "items": items}

    def _pod(self, slot: PodSetSource, number: int, size: int) -> Document:
        """A pod of the replica; the first one leads it."""
        leader_name = f"{self.name}-{self.index}"
        labels = {_NAME: self.name, _GROUP_INDEX: str(self.index), keys.LWS_WORKER_INDEX: str(number)}
        annotations = {keys.POD_GROUP_TOTAL_COUNT: str(size), keys.ROLE_HASH: slot.name}
        if number:
            annotations[_LEADER_NAME] = leader_name
        name = f"{leader_name}-{number}" if number else leader_name
        return group_pod(slot.template, name, self, labels=labels, annotations=annotations)

    def on_suspended(self, root: Section) -> None:
        """Passes on to its pods their queue, their priority, that they are held back, and where they are numbered."""
        passed = {key: self.labels[key] for key in (keys.QUEUE_NAME, keys.PRIORITY_CLASS) if self.labels.get(key)}
        slots = self.slots(root)
        for slot in slots:
            metadata = slot.template.ensure("metadata")
            metadata.ensure("labels").data.update(passed)
            annotations = metadata.ensure("annotations").data
            annotations |= {keys.SUSPENDING_PARENT: _FRAMEWORK, keys.POD_GROUP_SERVING: "true"}
            is_grouped = keys.POD_SET_GROUP_NAME in annotations
            if slot.name == WORKER and not is_grouped and self.gate("TopologyAwareScheduling"):
                annotations[keys.POD_INDEX_OFFSET] = "1"

    def _replica(self, index: int) -> "LeaderWorkerSet":
        replica = LeaderWorkerSet(self.manifest, config=self.config, related=self.related)
        replica.index = index
        return replica

    def _replicas(self) -> int:
        """How many replicas there are to admit. Source: `leaderworkerset_reconciler.go:filterWorkloads`."""
        spec, status = self.root.section("spec"), self.status()
        wanted = spec.count("replicas", 1)
        rolling = spec.find("rolloutStrategy")
        configuration = rolling and rolling.find("rollingUpdateConfiguration")
        surge = configuration.data.get("maxSurge", 0) if configuration else 0
        surge = signed(surge) or 0 if isinstance(surge, str) else surge  # a percentage counts as 0, as in Kueue
        is_surging = isinstance(surge, int) and surge > 0 and status.count("updatedReplicas", 0) < wanted
        return max(wanted, status.count("replicas", 0)) if is_surging else wanted
