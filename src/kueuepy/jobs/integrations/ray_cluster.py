"""RayCluster, and the code that it shares with RayJob and RayService.

Source: `pkg/controller/jobs/raycluster/common.go`, `raycluster_controller.go` and `raycluster_webhook.go`, and
`pkg/controller/jobs/rayservice/rayservice_controller.go`.
"""

import copy
from collections.abc import Sequence
from typing import ClassVar

from kueuepy.jobs import keys
from kueuepy.jobs.base import MAX_POD_SETS, BaseJob, PodSetSource
from kueuepy.jobs.fields import Document, Section
from kueuepy.jobs.quantity import keep_max

HEAD = "head"
MULTIKUEUE = "kueue.x-k8s.io/multikueue"
_FAULT_TOLERANCE = "ray.io/ft-enabled"
_REDIS_CLEANUP = {"cpu": "200m", "memory": "256Mi"}
_AUTOSCALER = {"cpu": "500m", "memory": "512Mi"}


class RayKind(BaseJob):
    """A kind with a Ray cluster: pod set `head`, then one pod set per worker group.

    Attributes:
        cluster_path: Path of the section with the spec of the cluster.
        cluster_name_path: Path of the status section with the name of the live RayCluster; empty for a RayCluster
            itself.
    """

    is_elastic_kind = True
    cluster_path: ClassVar[str]
    cluster_name_path: ClassVar[str] = ""

    def slots(self, root: Section) -> Sequence[PodSetSource]:
        """Return the pod set sources of the head and the worker groups."""
        spec = root.walk(self.cluster_path)
        head = PodSetSource(HEAD, 1, spec.section("headGroupSpec").section("template"))
        live = self._live_counts(spec)
        workers = [
            PodSetSource(name, live.get(name, worker_count(group)), group.section("template"))
            for group in spec.sections("workerGroupSpecs")
            for name in [group.text("groupName")]
        ]
        return [head, *workers]

    def amend(self, pod_set: str, template: Document) -> None:
        """Add the requests of KubeRay's components to the head's pod set: the Redis cleanup and the autoscaler."""
        if pod_set != HEAD:
            return
        spec = self.root.walk(self.cluster_path)
        containers = template["spec"].setdefault("containers", [])
        if self._is_fault_tolerant(spec):
            if not containers:
                raise spec.error(
                    "headGroupSpec", "has no container; with fault tolerance it must have the Ray container"
                )
            resources = containers[0].setdefault("resources", {})
            resources["requests"] = keep_max(resources.get("requests", {}), _REDIS_CLEANUP)
        if spec.flag("enableInTreeAutoscaling"):
            options = spec.find("autoscalerOptions")
            given = options and options.find("resources")
            default: Document = {"requests": dict(_AUTOSCALER), "limits": dict(_AUTOSCALER)}
            containers.append({"name": "autoscaler", "resources": copy.deepcopy(given.data) if given else default})

    def workload_name_extra(self) -> str:
        """Return the generation of the job, followed by the generation of its RayCluster if there is one.

        Kueue writes the generation of the RayCluster to an annotation of the job before it generates the name of the
        Workload.

        Source: `pkg/controller/jobs/raycluster/common.go:GetWorkloadslicingRayClusterCustomAnnotations`.
        """
        live = self._live() if self.cluster_name_path else None
        generation = "" if live is None else f"_{live.root.section('metadata').integer('generation', 0)}"
        return super().workload_name_extra() + generation

    def validate(self) -> None:
        """Apply the validation rules for managed jobs.

        The rules reject autoscaling without workload slices, too many worker groups, and a worker group with the name
        of the head.
        """
        if self.is_managed:
            spec = self.root.walk(self.cluster_path)
            groups = spec.sections("workerGroupSpecs")
            if spec.flag("enableInTreeAutoscaling") and not self.is_elastic:
                raise spec.error(
                    "enableInTreeAutoscaling",
                    f'is true; a job that Kueue manages may do so only with the annotation {keys.ELASTIC_JOB}: "true"',
                )
            _check_groups(spec, groups)
        super().validate()

    @property
    def is_managed(self) -> bool:
        """Whether Kueue's webhook validates the job's spec."""
        return self.config.manage_jobs_without_queue_name or bool(self.queue_name())

    def _is_fault_tolerant(self, spec: Section) -> bool:
        """Return whether the cluster stores its state in Redis, which KubeRay cleans up when the cluster is deleted."""
        return self.annotations.get(_FAULT_TOLERANCE, "").lower() == "true" or "gcsFaultToleranceOptions" in spec.data

    def _live_counts(self, spec: Section) -> dict[str, int]:
        """Return the sizes of the worker groups that Ray has scaled.

        Source: `pkg/controller/jobs/raycluster/common.go:UpdatePodSets`.
        """
        if not (self.cluster_name_path and self.is_elastic and spec.flag("enableInTreeAutoscaling")):
            return {}
        live = self._live()
        if live is None:
            return {}
        own = {group.text("groupName") for group in spec.sections("workerGroupSpecs")}
        counts = {}
        for group in live.root.section("spec").sections("workerGroupSpecs"):
            if group.text("groupName") not in own:
                raise group.error("groupName", f"is not a group of {self.owner}; the two must have the same groups")
            if "replicas" in group.data:
                counts[group.text("groupName")] = worker_count(group)
        return counts

    def _live(self) -> "RayCluster | None":
        """Return the live RayCluster that the status names, if it is among the related objects."""
        status = self.root.find_at(self.cluster_name_path)
        name = status.text("rayClusterName") if status else ""
        for manifest in self.related if name else ():
            if manifest.get("kind") == "RayCluster":
                cluster = RayCluster(manifest)
                if (cluster.namespace, cluster.name) == (self.namespace, name):
                    return cluster
        return None


def worker_count(group: Section) -> int:
    """Return the number of pods of a worker group: its replicas (default 0) times the hosts per replica.

    The default of 0 replicas comes from KubeRay's CustomResourceDefinition. API servers set KubeRay's default in every
    object, so Kueue's own default of 1 replica is never used.
    """
    return group.count("replicas", 0) * max(group.count("numOfHosts", 1), 1)


class RayCluster(RayKind):
    """A RayCluster, with pod set `head`, then one pod set per worker group. It never finishes."""

    kind = "RayCluster"
    cluster_path = "spec"

    def validate(self) -> None:
        """Apply the rules for all Ray kinds, and reject autoscaling of an elastic cluster under MultiKueue."""
        spec = self.root.section("spec")
        is_remote = spec.text("managedBy") == MULTIKUEUE
        if self.is_managed and self.is_elastic and is_remote and spec.flag("enableInTreeAutoscaling"):
            raise spec.error(
                "enableInTreeAutoscaling", "is true; an elastic job of MultiKueue must not use autoscaling"
            )
        super().validate()

    def pods_ready(self) -> bool:
        """Return whether the state of the cluster is ready."""
        return self.status().text("state") == "ready"


class RayService(RayKind):
    """A RayService, with the pod sets of its cluster. It never finishes."""

    kind = "RayService"
    cluster_path = "spec.rayClusterConfig"
    suspend_path = "spec.rayClusterConfig"
    cluster_name_path = "status.activeServiceStatus"
    ready = "Ready"


def _check_groups(spec: Section, groups: Sequence[Section]) -> None:
    if len(groups) + 1 > MAX_POD_SETS:
        raise spec.error("workerGroupSpecs", f"has {len(groups)} groups; it must have at most {MAX_POD_SETS - 1}")
    for group in groups:
        if group.text("groupName") == HEAD:
            raise group.error("groupName", 'is "head", which is reserved for the head group; it must be another')
