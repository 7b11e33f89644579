"""The interface that Kueue needs from a kind of job.

Source: `pkg/controller/jobframework/interface.go:GenericJob` and its optional extensions.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from kueuepy.jobs.template import Document, PodSetInfo
from kueuepy.objects import PodSet, ReclaimablePod


class Finished(NamedTuple):
    """The outcome of a finished job.

    >>> Finished("Job finished successfully", success=True).success
    True

    Attributes:
        message: Message from the job's status.
        success: Whether the job succeeded.
    """

    message: str
    success: bool


@runtime_checkable
class Job(Protocol):
    """Protocol of jobs that run their pods only after Kueue has admitted them.

    An instance represents the job in one manifest. To support a custom kind, implement the methods of this protocol in
    a class, and pass the class to `kueuepy.jobs.register`. `BaseJob` implements all methods except `slots`, for kinds
    whose jobs have a field that suspends them, and pod templates that may change during the suspension.

    >>> from kueuepy.jobs import adapter_for
    >>> template = {"spec": {"containers": []}}
    >>> spec = {"parallelism": 3, "template": template}
    >>> job = adapter_for({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "a"}, "spec": spec})
    >>> job.owner, job.pod_sets()[0].count
    ('Job "default/a"', 3)

    Attributes:
        manifest: The manifest of the job, without null fields.
    """

    manifest: Document

    @property
    def metadata(self) -> Document:
        """The metadata with the job's labels and annotations.

        For a list of pods, the result is not the metadata of the list.
        """

    @property
    def owner(self) -> str:
        """The job's name in error messages: `Job "team-a/train"`."""

    def jobs(self) -> "Sequence[Job]":
        """Return the jobs that get a Workload: the job itself, or the suspended jobs that it creates."""

    def validate(self) -> None:
        """Apply the validation rules of Kueue's webhook for the kind.

        Raises:
            InvalidSpecError: The webhook would reject the job.
        """

    def pod_sets(self) -> tuple[PodSet, ...]:
        """Return the pod sets of the job, in order."""

    def queue_name(self) -> str:
        """Return the name of the job's LocalQueue; empty if the job names none."""

    def priority_class(self) -> str | None:
        """Return the priority class of the pods if the kind has its own rule for it.

        Returns:
            Name of the class; empty if the rule finds no class; `None` if the kind has no such rule.
        """

    def workload_name(self) -> str:
        """Return the name of the job's Workload."""

    def workload_labels(self) -> dict[str, str]:
        """Return labels that the kind adds to its Workload."""

    def workload_annotations(self) -> dict[str, str]:
        """Return annotations that the kind adds to its Workload."""

    def is_suspended(self) -> bool:
        """Return whether the job is suspended and therefore runs no pods."""

    def suspended(self) -> Document:
        """Return the manifest as Kueue's webhook returns it for a new job."""

    def start_patch(self, infos: Sequence[PodSetInfo]) -> Document:
        """Return the changes to the manifest when the job starts, as a JSON merge patch.

        Args:
            infos: The changes that the admission makes to each pod set.
        """

    def stop_patch(self, pod_sets: Sequence[PodSet]) -> Document | None:
        """Return the changes to the manifest when the job stops, as a JSON merge patch.

        The result is `None` if Kueue deletes the object to stop the job.

        Args:
            pod_sets: The pod sets of the job's Workload, from which the templates are restored.
        """

    def reclaimable_pods(self) -> tuple[ReclaimablePod, ...]:
        """Return the pods that have finished and no longer need their quota."""

    def finished(self) -> Finished | None:
        """Return the outcome of the job; `None` if the job has not finished or its kind never finishes."""

    def pods_ready(self) -> bool:
        """Return whether all pods are ready or have succeeded."""

    def on_hold(self) -> bool:
        """Return whether the job releases its quota and waits for a change by the user."""
