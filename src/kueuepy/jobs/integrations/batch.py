"""Kubernetes' own jobs: Job, and CronJob that makes Jobs.

Mirrors `pkg/controller/jobs/job/job_controller.go` and `pkg/controller/jobs/job/job_webhook.go`.
"""

import copy
from collections.abc import Sequence

from kueuepy.jobs import keys
from kueuepy.jobs.base import BaseJob, PodSetSource
from kueuepy.jobs.fields import Document, Section
from kueuepy.jobs.indexes import terminal_indexes
from kueuepy.jobs.job import Finished
from kueuepy.jobs.numbers import signed, wrapped
from kueuepy.jobs.parent import ParentJob
from kueuepy.jobs.template import PodSetInfo
from kueuepy.jobs.topology import PodIndex, parse_bool
from kueuepy.manifest.jobkinds import BUILT_IN
from kueuepy.objects import PodSet, ReclaimablePod

_JOB_NAME = "batch.kubernetes.io/job-name"
_OWN_LABELS = ("job-name", "controller-uid", "batch.kubernetes.io/controller-uid")
"""Labels that the Job controller puts on a template, and that are no part of the pod set."""

_SECONDS_PER_MINUTE = 60


def pods_per_job(spec: Section) -> int:
    """How many pods of a Job run at once: its parallelism, or its completions if they are fewer."""
    parallelism = spec.count("parallelism", 1)
    return min(parallelism, spec.count("completions", parallelism))


class BatchJob(BaseJob):
    """A Job: one pod set `main`, which may be admitted in part or, if the Job is elastic, change its size."""

    kind = "Job"
    api_versions = BUILT_IN["Job"]
    is_elastic_kind = True
    checks_groups = False

    def slots(self, root: Section) -> Sequence[PodSetSource]:
        """The Job's template."""
        spec = root.section("spec")
        template = spec.section("template")
        index = PodIndex(keys.JOB_COMPLETION_INDEX)
        return [PodSetSource("main", pods_per_job(spec), template, self.min_parallelism(), index)]

    def amend(self, pod_set: str, template: Document) -> None:  # noqa: ARG002 there is only one
        """Takes away the labels that the Job controller puts on the template."""
        labels = template.get("metadata", {}).get("labels", {})
        for label in _OWN_LABELS:
            labels.pop(label, None)

    def min_parallelism(self) -> int | None:
        """Return the fewest pods that the Job starts with; `None` if it starts with all or not at all.

        Kueue reads 64 bits and keeps the lower 32.
        """
        number = signed(self.annotations.get(keys.JOB_MIN_PARALLELISM, ""))
        return None if number is None else wrapped(number)

    @property
    def has_equal_completions(self) -> bool:
        """Whether the Job's completions follow its parallelism."""
        key = keys.JOB_COMPLETIONS_EQUAL_PARALLELISM
        return key in self.annotations and parse_bool(self.root.section("metadata"), key)

    def validate(self) -> None:
        """Refuse a partial admission, or an elastic Job, that is not possible."""
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
        """Check the fewest pods of a new Job, whose parallelism Kueue has not lowered."""
        least, number = self.min_parallelism(), signed(annotations.text(keys.JOB_MIN_PARALLELISM))
        if least is None or number is None:
            text = annotations.text(keys.JOB_MIN_PARALLELISM)
            raise annotations.error(keys.JOB_MIN_PARALLELISM, f'is "{text}"; it must be a whole number')
        if not self.is_stored and (number <= 0 or least >= most):
            raise annotations.error(
                keys.JOB_MIN_PARALLELISM,
                f"is {number}; it must be greater than 0 and less than the number of pods, {most}",
            )
        if self.is_elastic:
            raise annotations.error(keys.JOB_MIN_PARALLELISM, "is given for an elastic Job; use one or the other")

    def is_suspended(self) -> bool:
        """Whether it is suspended, and not still being stopped: Kueue marks it while it restores its template."""
        return super().is_suspended() and self.annotations.get(keys.STOPPING) != "true"

    def before_start(self, root: Section, infos: Sequence[PodSetInfo]) -> None:
        """Runs as many pods as were admitted, if the Job takes fewer than it asks for."""
        self.require_length(1, infos)
        if self.min_parallelism() is not None:
            self._set_parallelism(root, infos[0].count)

    def restore_slot(self, slot: PodSetSource, pod_set: PodSet) -> None:
        """Restores the template; labels of the Job controller stay on it."""
        labels = slot.metadata.texts("labels")
        super().restore_slot(slot, pod_set)
        kept = {label: labels[label] for label in (*_OWN_LABELS, _JOB_NAME) if label in labels}
        if kept:
            slot.template.ensure("metadata").ensure("labels").data.update(kept)

    def after_stop(self, root: Section, pod_sets: Sequence[PodSet]) -> None:
        """Asks for all of its pods again, and ends the mark of being stopped."""
        root.section("metadata").data.get("annotations", {}).pop(keys.STOPPING, None)
        if self.min_parallelism() is not None:
            self._set_parallelism(root, pod_sets[0].count)

    def reclaimable_pods(self) -> tuple[ReclaimablePod, ...]:
        """The pods that the work left over no longer fills, of a Job of several pods."""
        spec, status = self.root.section("spec"), self.status()
        parallelism = spec.count("parallelism", 1)
        completions = spec.count("completions", parallelism)
        terminal = status.count("succeeded", 0)
        if spec.text("completionMode", "NonIndexed") == "Indexed":
            terminal = terminal_indexes(status.text("completedIndexes"), status.text("failedIndexes"), completions)
        reclaimable = parallelism - max(completions - terminal, 0)
        if parallelism <= 1 or terminal <= 0 or reclaimable <= 0:
            return ()
        return (ReclaimablePod("main", reclaimable),)

    def finished(self) -> Finished | None:
        """Complete or failed, as the Job's conditions say."""
        end = self.condition("Complete", "Failed")
        return None if end is None else Finished(end.text("message"), end.text("type") != "Failed")

    def pods_ready(self) -> bool:
        """Whether as many pods as run at once are ready, or succeeded."""
        status = self.status()
        uncounted = status.find("uncountedTerminatedPods")
        succeeded = status.count("succeeded", 0) + (len(uncounted.items("succeeded")) if uncounted else 0)
        return succeeded + status.count("ready", 0) >= pods_per_job(self.root.section("spec"))

    def _set_parallelism(self, root: Section, count: int) -> None:
        spec = root.section("spec").data
        spec["parallelism"] = count
        if self.has_equal_completions:
            spec["completions"] = count


class CronJob(ParentJob):
    """A CronJob: it gets no Workload, the Jobs that it makes get one each.

    The queue name and whatever else Kueue reads belong in `spec.jobTemplate.metadata`. Kueue knows nothing of
    CronJobs, so that a CronJob runs on schedule and its Jobs wait.
    """

    kind = "CronJob"
    api_versions = BUILT_IN["CronJob"]

    def slots(self, root: Section) -> Sequence[PodSetSource]:
        """Those of the Job that it makes."""
        return self.jobs()[0].slots(root.section("spec").section("jobTemplate"))

    def job(self, scheduled: int | None = None) -> Document:
        """The Job that is made at a time.

        Args:
            scheduled: The time, in nanoseconds since the Unix epoch, which the Job is named after; without it the Job
                has the name of the CronJob.
        """
        section = self.root.section("spec").section("jobTemplate")
        given = section.find("metadata")
        template = copy.deepcopy(section.data)
        minutes = "" if scheduled is None else f"-{scheduled // 10**9 // _SECONDS_PER_MINUTE}"
        owner = {"apiVersion": "batch/v1", "kind": "CronJob", "name": self.name, "controller": True, "uid": self.uid}
        metadata = {"name": f"{self.name}{minutes}", "namespace": self.namespace, "ownerReferences": [owner]}
        template["metadata"] = ({} if given is None else given.data) | metadata
        return {"apiVersion": "batch/v1", "kind": "Job"} | template

    def jobs(self) -> tuple[BatchJob]:
        """The Job that it makes, held back."""
        made = BatchJob(self.job(), config=self.config, related=self.related)
        return (BatchJob(made.suspended(), config=self.config, related=self.related),)

    def validate(self) -> None:
        """Refuse what Kueue's webhooks refuse of the Job that it makes; they never see the CronJob."""
        self.jobs()[0].validate()

    def queue_name(self) -> str:
        """The queue of the Jobs that it makes."""
        return self.jobs()[0].queue_name()


def _check_equal_completions(spec: Section, annotations: Section) -> None:
    """Checks that a Job that is annotated so has as many completions as pods at once."""
    if spec.text("completionMode", "NonIndexed") == "NonIndexed":
        raise annotations.error(
            keys.JOB_COMPLETIONS_EQUAL_PARALLELISM, "is true for a NonIndexed Job; it must be Indexed"
        )
    if spec.count("parallelism", 1) != spec.count("completions", 1):
        raise spec.error("completions", "differs from parallelism; the annotation says that they are equal")
