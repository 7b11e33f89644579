"""What Kueue needs to know of a kind of job.

Mirrors `pkg/controller/jobframework/interface.go:GenericJob` and its optional companions.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from kueuepy.jobs.fields import Document
from kueuepy.jobs.template import PodSetInfo
from kueuepy.objects import PodSet, ReclaimablePod


class Finished(NamedTuple):
    """How a job ended.

    Attributes:
        message: What the job's status says of it.
        success: Whether it succeeded.
    """

    message: str
    success: bool


@runtime_checkable
class Job(Protocol):
    """A job whose pods run if and when Kueue admits them: one manifest, read by the rules of its kind.

    A kind of your own is a class with these methods, given to `kueuepy.jobs.register`. `BaseJob` has all of them but
    `slots`, for kinds that have a field to suspend them and pod templates that may change while they are suspended.

    Attributes:
        manifest: The job's manifest, without fields that are null.
    """

    manifest: Document

    @property
    def metadata(self) -> Document:
        """The metadata whose labels and annotations count: the manifest's own, but for a list of pods."""

    @property
    def owner(self) -> str:
        """The job as messages name it: `Job "team-a/train"`."""

    def jobs(self) -> "Sequence[Job]":
        """The jobs that get a Workload each: the job itself, or the jobs that it makes, held back as they are made."""

    def validate(self) -> None:
        """Refuses what Kueue's webhook for the kind refuses, with an `InvalidSpecError`."""

    def pod_sets(self) -> tuple[PodSet, ...]:
        """The job's pod sets, in their order."""

    def queue_name(self) -> str:
        """The LocalQueue that the job goes to; empty for none."""

    def priority_class(self) -> str | None:
        """The pods' priority class by a rule of the kind's own, empty if it finds none; `None` without such a rule."""

    def workload_name(self) -> str:
        """The name of the job's Workload."""

    def workload_labels(self) -> dict[str, str]:
        """Labels that the kind gives its Workload."""

    def workload_annotations(self) -> dict[str, str]:
        """Annotations that the kind gives its Workload."""

    def is_suspended(self) -> bool:
        """Whether the job runs no pods."""

    def suspended(self) -> Document:
        """The manifest as it is after Kueue's webhook has held back the new job."""

    def start_patch(self, infos: Sequence[PodSetInfo]) -> Document:
        """What starting the job with what its pod sets were given changes, as a JSON merge patch."""

    def stop_patch(self, pod_sets: Sequence[PodSet]) -> Document | None:
        """What stopping the job, and restoring it to its Workload's pod sets, changes; `None` if it is deleted."""

    def reclaimable_pods(self) -> tuple[ReclaimablePod, ...]:
        """Pods that are done and need their quota no more."""

    def finished(self) -> Finished | None:
        """How the job ended; `None` while it has not, and always for a kind that never ends."""

    def pods_ready(self) -> bool:
        """Whether all pods are ready or done."""

    def on_hold(self) -> bool:
        """Whether the job gives its quota back and waits for a change by its user."""
