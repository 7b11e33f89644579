"""Kubernetes' own kinds: Job, and CronJob, which creates Jobs; and JobSet: groups of replicated Jobs that run together.

Source: `pkg/controller/jobs/job/job_controller.go`, `pkg/controller/jobs/job/job_webhook.go` and
`pkg/controller/jobs/jobset/jobset_controller.go`.
"""

import copy
from collections.abc import Mapping, Sequence
from typing import ClassVar

from kueuepy.jobs import keys
from kueuepy.jobs.base import BaseJob, ParentJob, PodSetSource
from kueuepy.jobs.numbers import signed, terminal_indexes, wrapped
from kueuepy.jobs.template import Document, PodSetInfo, Section
from kueuepy.jobs.topology import PodIndex, parse_bool
from kueuepy.objects import PodSet, ReclaimablePod

_JOB_NAME = "batch.kubernetes.io/job-name"
# Labels that the Job controller adds to a template, and that are not part of the pod set.
_OWN_LABELS = ("job-name", "controller-uid", "batch.kubernetes.io/controller-uid")


def pods_per_job(spec: Section) -> int:
    """Return the number of pods of a Job that run concurrently: the minimum of its parallelism and its completions."""
    parallelism = spec.count("parallelism", 1)
    return min(parallelism, spec.count("completions", parallelism))


class BatchJob(BaseJob):
    """A Job, with one pod set `main`. A Job may be admitted partially; an elastic Job may be scaled instead."""

    kind = "Job"
    is_elastic_kind = True
    checks_groups = False
    ends: ClassVar[Mapping[str, bool]] = {"Complete": True, "Failed": False}

    def slots(self, root: Section) -> Sequence[PodSetSource]:
        """Return the pod set source for the Job's template."""
        spec = root.section("spec")
        template = spec.section("template")
        index = PodIndex(keys.JOB_COMPLETION_INDEX)
        return [PodSetSource("main", pods_per_job(spec), template, self.min_parallelism(), index)]

    def amend(self, pod_set: str, template: Document) -> None:  # noqa: ARG002 only one pod set
        """Remove the labels that the Job controller adds to the template."""
        labels = template.get("metadata", {}).get("labels", {})
        for label in _OWN_LABELS:
            labels.pop(label, None)

    def min_parallelism(self) -> int | None:
        """Return the smallest number of pods with which the Job may start; `None` without partial admission.

        Kueue parses the annotation as a 64-bit integer and keeps the lower 32 bits.
        """
        number = signed(self.annotations.get(keys.JOB_MIN_PARALLELISM, ""))
        return None if number is None else wrapped(number)

    @property
    def has_equal_completions(self) -> bool:
        """Return whether the Job's completions are kept equal to its parallelism."""
        key = keys.JOB_COMPLETIONS_EQUAL_PARALLELISM
        return key in self.annotations and parse_bool(self.root.section("metadata"), key)

    def validate(self) -> None:
        """Apply the validation rules for partial admission and elastic Jobs."""
        super().validate()
        spec, at = self.root.section("spec"), self.root.section("metadata").find("annotations")
        if at is not None and keys.JOB_MIN_PARALLELISM in at.data:
            self._check_partial_admission(at, pods_per_job(spec))
        if self.has_equal_completions and at is not None:
            _check_equal_completions(spec, at)
        template = self.slots(self.root)[0].metadata
        is_checked = self.is_elastic and self.gate("TopologyAwareScheduling")
        for key in (keys.REQUIRED_TOPOLOGY, keys.PREFERRED_TOPOLOGY):
            if is_checked and key in template.texts("annotations"):
                raise template.section("annotations").error(key, "is not supported with an elastic Job; leave it out")

    def _check_partial_admission(self, annotations: Section, most: int) -> None:
        """Check the minimum number of pods of a Job with partial admission."""
        least, number = self.min_parallelism(), signed(annotations.text(keys.JOB_MIN_PARALLELISM))
        if least is None or number is None:
            text = annotations.text(keys.JOB_MIN_PARALLELISM)
            raise annotations.error(keys.JOB_MIN_PARALLELISM, f'is "{text}"; it must be a whole number')
        # A stored Job was accepted when it had another parallelism.
        if not self.is_stored and (number <= 0 or least >= most):
            raise annotations.error(
                keys.JOB_MIN_PARALLELISM,
                f"is {number}; it must be greater than 0 and less than the number of pods, {most}",
            )
        if self.is_elastic:
            raise annotations.error(keys.JOB_MIN_PARALLELISM, "is given for an elastic Job; use one or the other")

    def is_suspended(self) -> bool:
        """Return whether the Job is suspended and not marked as stopping.

        Kueue marks a Job as stopping while it restores the pod template.
        """
        return super().is_suspended() and self.annotations.get(keys.STOPPING) != "true"

    def before_start(self, root: Section, infos: Sequence[PodSetInfo]) -> None:
        """Set the parallelism to the number of admitted pods after partial admission."""
        self.require_length(1, infos)
        if self.min_parallelism() is not None:
            self._set_parallelism(root, infos[0].count)

    def restore_slot(self, slot: PodSetSource, pod_set: PodSet) -> None:
        """Restore the template, except for labels of the Job controller."""
        labels = slot.metadata.texts("labels")
        super().restore_slot(slot, pod_set)
        kept = {label: labels[label] for label in (*_OWN_LABELS, _JOB_NAME) if label in labels}
        if kept:
            slot.template.ensure("metadata").ensure("labels").data.update(kept)

    def after_stop(self, root: Section, pod_sets: Sequence[PodSet]) -> None:
        """Restore the parallelism, and remove the annotation that marks the Job as stopping."""
        root.section("metadata").data.get("annotations", {}).pop(keys.STOPPING, None)
        if self.min_parallelism() is not None:
            self._set_parallelism(root, pod_sets[0].count)

    def reclaimable_pods(self) -> tuple[ReclaimablePod, ...]:
        """Return the pods that the remaining completions no longer need; empty for a Job with a single pod."""
        spec, status = self.root.section("spec"), self.status()
        parallelism = spec.count("parallelism", 1)
        completions = spec.count("completions", parallelism)
        terminal = status.count("succeeded", 0)
        if spec.text("completionMode", "NonIndexed") == "Indexed":
            terminal = terminal_indexes(status.text("completedIndexes"), status.text("failedIndexes"), completions)
        reclaimable = parallelism - max(completions - terminal, 0)
        # Kueue reclaims nothing before the first pod ends.
        if parallelism <= 1 or terminal <= 0 or reclaimable <= 0:
            return ()
        return (ReclaimablePod("main", reclaimable),)

    def pods_ready(self) -> bool:
        """Return whether the number of ready or succeeded pods reaches the number of concurrent pods."""
        status = self.status()
        uncounted = status.part("uncountedTerminatedPods").items("succeeded")
        succeeded = status.count("succeeded", 0) + len(uncounted)
        return succeeded + status.count("ready", 0) >= pods_per_job(self.root.section("spec"))

    def _set_parallelism(self, root: Section, count: int) -> None:
        spec = root.section("spec").data
        spec["parallelism"] = count
        if self.has_equal_completions:
            spec["completions"] = count


class CronJob(ParentJob):
    """A CronJob, which gets no Workload; each Job that it creates gets one.

    The queue name and other labels and annotations for Kueue belong in `spec.jobTemplate.metadata`. Kueue does not read
    CronJobs: a CronJob creates Jobs on schedule, and the Jobs wait for admission.
    """

    kind = "CronJob"

    def slots(self, root: Section) -> Sequence[PodSetSource]:
        """Return the pod set sources of the Job that the CronJob creates."""
        return self.jobs()[0].slots(root.section("spec").section("jobTemplate"))

    def jobs(self) -> tuple[BatchJob]:
        """Return the suspended Job that the CronJob creates, with the name of the CronJob."""
        section = self.root.section("spec").section("jobTemplate")
        template = copy.deepcopy(section.data)
        owner = {"apiVersion": "batch/v1", "kind": "CronJob", "name": self.name, "controller": True, "uid": self.uid}
        metadata = {"name": self.name, "namespace": self.namespace, "ownerReferences": [owner]}
        template["metadata"] = section.part("metadata").data | metadata
        made = BatchJob({"apiVersion": "batch/v1", "kind": "Job"} | template, config=self.config, related=self.related)
        return (BatchJob(made.suspended(), config=self.config, related=self.related),)

    def validate(self) -> None:
        """Apply the validation rules for the Job that the CronJob creates. Kueue's webhooks ignore the CronJob."""
        self.jobs()[0].validate()

    def queue_name(self) -> str:
        """Return the queue name of the Jobs that the CronJob creates."""
        return self.jobs()[0].queue_name()


def _check_equal_completions(spec: Section, at: Section) -> None:
    """Validate a Job whose annotation requires its completions to equal its parallelism."""
    if spec.text("completionMode", "NonIndexed") == "NonIndexed":
        raise at.error(keys.JOB_COMPLETIONS_EQUAL_PARALLELISM, "is true for a NonIndexed Job; it must be Indexed")
    if spec.count("parallelism", 1) != spec.count("completions", 1):
        raise spec.error("completions", "differs from parallelism; the annotation says that they are equal")


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
