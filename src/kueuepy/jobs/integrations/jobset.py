"""JobSet: several groups of like Jobs that run together.

Mirrors `pkg/controller/jobs/jobset/jobset_controller.go`.
"""

from collections.abc import Sequence

from kueuepy.jobs import keys
from kueuepy.jobs.base import BaseJob, PodSetSource
from kueuepy.jobs.fields import Section
from kueuepy.jobs.integrations.batch import pods_per_job
from kueuepy.jobs.job import Finished
from kueuepy.jobs.topology import PodIndex
from kueuepy.manifest.jobkinds import BUILT_IN
from kueuepy.objects import ReclaimablePod


def replicated_job_slots(spec: Section) -> list[PodSetSource]:
    """The pod sets of a JobSet's spec: one for each replicated job, of all the pods of all its replicas."""
    slots = []
    for job in spec.sections("replicatedJobs"):
        replicas = job.count("replicas", 1)
        inner = job.walk("template.spec")
        index = PodIndex(keys.JOB_COMPLETION_INDEX, keys.JOBSET_JOB_INDEX, replicas)
        count = replicas * pods_per_job(inner)
        slots.append(PodSetSource(job.text("name"), count, inner.section("template"), index=index))
    return slots


def succeeded_pods(spec: Section, succeeded: dict[str, int]) -> tuple[ReclaimablePod, ...]:
    """The pods of the replicas that succeeded, counted by replicated job."""
    return tuple(
        ReclaimablePod(name.lower(), succeeded[name] * pods_per_job(job.walk("template.spec")))
        for job in spec.sections("replicatedJobs")
        if 0 < succeeded.get(name := job.text("name"), 0) <= job.count("replicas", 1)
    )


def are_replicas_ready(spec: Section, statuses: Sequence[Section]) -> bool:
    """Whether all replicas are ready or succeeded."""
    replicas = sum(job.count("replicas", 1) for job in spec.sections("replicatedJobs"))
    return replicas == sum(status.count("ready", 0) + status.count("succeeded", 0) for status in statuses)


class JobSet(BaseJob):
    """A JobSet: one pod set for each of its replicated jobs."""

    kind = "JobSet"
    api_versions = BUILT_IN["JobSet"]

    def slots(self, root: Section) -> Sequence[PodSetSource]:
        """The templates of the replicated jobs."""
        return replicated_job_slots(root.section("spec"))

    def reclaimable_pods(self) -> tuple[ReclaimablePod, ...]:
        """The pods of replicas that succeeded."""
        statuses = self.status().sections("replicatedJobsStatus")
        succeeded = {status.text("name"): status.count("succeeded", 0) for status in statuses}
        return succeeded_pods(self.root.section("spec"), succeeded)

    def finished(self) -> Finished | None:
        """Completed or failed, as the conditions say."""
        end = self.condition("Completed") or self.condition("Failed")
        return None if end is None else Finished(end.text("message"), end.text("type") == "Completed")

    def pods_ready(self) -> bool:
        """Whether the Jobs of all replicas are ready or succeeded."""
        return are_replicas_ready(self.root.section("spec"), self.status().sections("replicatedJobsStatus"))
