"""RayJob: a Ray cluster for a single job, with an optional pod that submits the job.

Source: `pkg/controller/jobs/rayjob/rayjob_controller.go` and `rayjob_webhook.go`.
"""

import copy
from collections.abc import Sequence

from kueuepy.jobs import checks
from kueuepy.jobs.base import PodSetSource
from kueuepy.jobs.fields import Document, Section
from kueuepy.jobs.integrations.ray_cluster import HEAD, RayKind
from kueuepy.jobs.job import Finished, Job
from kueuepy.jobs.template import PodSetInfo

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
            checks.check_metadata(self)

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
