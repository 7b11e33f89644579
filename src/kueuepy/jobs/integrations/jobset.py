"""JobSet: groups of replicated Jobs that run together.

Source: `pkg/controller/jobs/jobset/jobset_controller.go`.
"""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from kueuepy.jobs import keys
from kueuepy.jobs.base import BaseJob, PodSetSource
from kueuepy.jobs.fields import Section
from kueuepy.jobs.integrations.batch import pods_per_job
from kueuepy.jobs.topology import PodIndex
from kueuepy.objects import ReclaimablePod


def replicated_job_slots(spec: Section) -> list[PodSetSource]:
    """Return one pod set source per replicated job in the spec of a JobSet, with the pods of all its replicas."""
    slots = []
    for job in spec.sections("replicatedJobs"):
        replicas = job.count("replicas", 1)
        inner = job.walk("template.spec")
        index = PodIndex(keys.JOB_COMPLETION_INDEX, keys.JOBSET_JOB_INDEX, replicas)
        count = replicas * pods_per_job(inner)
        slots.append(PodSetSource(job.text("name"), count, inner.section("template"), index=index))
    return slots


def succeeded_pods(spec: Section, succeeded: dict[str, int]) -> tuple[ReclaimablePod, ...]:
    """Return the reclaimable pods of succeeded replicas."""
    return tuple(
        ReclaimablePod(name.lower(), succeeded[name] * pods_per_job(job.walk("template.spec")))
        for job in spec.sections("replicatedJobs")
        if 0 < succeeded.get(name := job.text("name"), 0) <= job.count("replicas", 1)
    )


def are_replicas_ready(spec: Section, statuses: Sequence[Section]) -> bool:
    """Return whether all replicas are ready or have succeeded."""
    replicas = sum(job.count("replicas", 1) for job in spec.sections("replicatedJobs"))
    return replicas == sum(status.count("ready", 0) + status.count("succeeded", 0) for status in statuses)


class JobSet(BaseJob):
    """A JobSet, with one pod set per replicated job."""

    kind = "JobSet"
    ends: ClassVar[Mapping[str, bool]] = {"Completed": True, "Failed": False}

    def slots(self, root: Section) -> Sequence[PodSetSource]:
        """Return the pod set sources of the replicated jobs."""
        return replicated_job_slots(root.section("spec"))

    def reclaimable_pods(self) -> tuple[ReclaimablePod, ...]:
        """Return the pods of replicas that have succeeded."""
        statuses = self.status().sections("replicatedJobsStatus")
        succeeded = {status.text("name"): status.count("succeeded", 0) for status in statuses}
        return succeeded_pods(self.root.section("spec"), succeeded)

    def pods_ready(self) -> bool:
        """Return whether the Jobs of all replicas are ready or have succeeded."""
        return are_replicas_ready(self.root.section("spec"), self.status().sections("replicatedJobsStatus"))
