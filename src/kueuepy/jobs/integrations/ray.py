"""RayCluster, RayService and RayJob.

Source: `pkg/controller/jobs/raycluster/common.go`, `raycluster_controller.go` and `raycluster_webhook.go`,
`pkg/controller/jobs/rayservice/rayservice_controller.go`, `pkg/controller/jobs/rayjob/rayjob_controller.go` and
`rayjob_webhook.go`.
"""

import copy
from collections.abc import Sequence
from typing import ClassVar

from kueuepy._core import Quantity
from kueuepy.jobs import keys
from kueuepy.jobs.base import MAX_POD_SETS, BaseJob, PodSetSource
from kueuepy.jobs.job import Finished, Job
from kueuepy.jobs.template import Document, PodSetInfo, Section
from kueuepy.objects import ResourceList

HEAD = "head"
MULTIKUEUE = "kueue.x-k8s.io/multikueue"
_FAULT_TOLERANCE = "ray.io/ft-enabled"
_REDIS_CLEANUP: ResourceList = {"cpu": "200m", "memory": "256Mi"}
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
            # KubeRay runs the cleanup after the head has ended, so the larger of the two is held.
            resources["requests"] = _keep_max(resources.get("requests", {}), _REDIS_CLEANUP)
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


def _keep_max(first: ResourceList, second: ResourceList) -> ResourceList:
    """Return the resources of both lists, each with the larger of its two quantities.

    Source: `pkg/util/resource/resource.go:MergeResourceListKeepMax`.
    """
    larger = {
        name: quantity
        for name, quantity in second.items()
        if name not in first or Quantity(str(first[name])) < Quantity(str(quantity))
    }
    return first | larger


def _check_groups(spec: Section, groups: Sequence[Section]) -> None:
    if len(groups) + 1 > MAX_POD_SETS:
        raise spec.error("workerGroupSpecs", f"has {len(groups)} groups; it must have at most {MAX_POD_SETS - 1}")
    for group in groups:
        if group.text("groupName") == HEAD:
            raise group.error("groupName", 'is "head", which is reserved for the head group; it must be another')


SUBMITTER = "submitter"
_CONTAINER = "ray-job-submitter"
_RESOURCES = {"requests": {"cpu": "500m", "memory": "200Mi"}, "limits": {"cpu": "1", "memory": "1Gi"}}
_ENDS = ("Complete", "Failed")


class RayJob(RayKind):
    """A RayJob, with the pod sets of its cluster, then `submitter` if a separate pod submits the job.

    A separate pod is the default if `spec.submissionMode` is absent, as in KubeRay's API.
    """

    kind = "RayJob"
    cluster_path = "spec.rayClusterSpec"
    cluster_name_path = "status"
    gates_templates = False

    def jobs(self) -> Sequence[Job]:
        """Return the job itself, or nothing if it runs on an existing cluster and Kueue therefore ignores it."""
        return () if self.uses_existing_cluster and "rayClusterSpec" not in self.root.section("spec").data else (self,)

    @property
    def submission_mode(self) -> str:
        """The submission mode of the job."""
        return self.root.section("spec").text("submissionMode", "K8sJobMode")

    @property
    def uses_existing_cluster(self) -> bool:
        """Whether the job selects an existing cluster."""
        return bool(self.root.section("spec").part("clusterSelector").data)

    def slots(self, root: Section) -> Sequence[PodSetSource]:
        """Return the pod set sources of the cluster and the submitter, with its own template or KubeRay's default."""
        slots = super().slots(root)
        if self.submission_mode != "K8sJobMode":
            return slots
        spec = root.section("spec")
        template = spec.find("submitterPodTemplate") or Section(
            root.owner, spec.at("submitterPodTemplate"), self._default_submitter()
        )
        return [*slots, PodSetSource(SUBMITTER, 1, template)]

    def amend(self, pod_set: str, template: Document) -> None:
        """Add the submitter container that KubeRay runs in the head's pod, and the requests of KubeRay's components."""
        super().amend(pod_set, template)
        if pod_set == HEAD and self.submission_mode == "SidecarMode":
            template["spec"]["containers"].append({"name": _CONTAINER, "resources": copy.deepcopy(_RESOURCES)})

    def validate(self) -> None:
        """Reject a managed job that uses an existing cluster, has no cluster, or keeps its cluster running."""
        spec = self.root.section("spec")
        if self.is_managed:
            self._check_cluster(spec)
        if "rayClusterSpec" in spec.data:
            super().validate()
        else:
            self.check_metadata()

    def _check_cluster(self, spec: Section) -> None:
        has_own_cluster = "rayClusterSpec" in spec.data
        if self.uses_existing_cluster and has_own_cluster:
            raise spec.error("clusterSelector", "is given; a job that Kueue manages must not use an existing cluster")
        if not self.uses_existing_cluster and not has_own_cluster:
            raise spec.error("rayClusterSpec", "is missing; a job that Kueue manages must have its own cluster")
        if has_own_cluster and not spec.flag("shutdownAfterJobFinishes"):
            raise spec.error(
                "shutdownAfterJobFinishes",
                "is false; a job that Kueue manages must delete its cluster when it finishes",
            )

    def checked_slots(self, slots: Sequence[PodSetSource]) -> Sequence[PodSetSource]:
        """Return the pod set sources of the cluster: the webhook does not validate the submitter's annotations."""
        return slots[:-1] if self.submission_mode == "K8sJobMode" else slots

    def before_start(self, root: Section, infos: Sequence[PodSetInfo]) -> None:  # noqa: ARG002 required by the base class
        """Write the submitter's default template to the job, so that an admission can change the template.

        The default template remains in the manifest after the job stops.
        """
        if self.submission_mode == "K8sJobMode":
            root.section("spec").data.setdefault("submitterPodTemplate", self._default_submitter())

    def finished(self) -> Finished | None:
        """Return the outcome.

        The deployment status determines whether the job has finished. The job status determines whether the job
        succeeded.
        """
        status = self.status()
        if status.text("jobDeploymentStatus") not in _ENDS:
            return None
        return Finished(status.text("message"), status.text("jobStatus") == "SUCCEEDED")

    def pods_ready(self) -> bool:
        """Return whether the state of the cluster is ready."""
        return self.status().part("rayClusterStatus").text("state") == "ready"

    def on_hold(self) -> bool:
        """Return whether KubeRay has rejected the job."""
        return self.status().text("jobDeploymentStatus") == "ValidationFailed"

    def _default_submitter(self) -> Document:
        """Return the pod that KubeRay creates to submit a job, with the image of the head."""
        head = self.root.walk(f"{self.cluster_path}.headGroupSpec.template.spec")
        images = [container.text("image") for container in head.sections("containers")]
        if not images:
            raise head.error("containers", "is missing; it must have the Ray container")
        container: Document = {"name": _CONTAINER, "image": images[0], "resources": copy.deepcopy(_RESOURCES)}
        if not images[0]:
            del container["image"]
        return {"spec": {"containers": [container], "restartPolicy": "Never"}}
