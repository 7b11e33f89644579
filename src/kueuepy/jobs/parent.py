"""Base class for objects that Kueue does not suspend; Kueue suspends the jobs or pods that they create."""

from collections.abc import Sequence

from kueuepy.jobs import keys
from kueuepy.jobs.base import BaseJob
from kueuepy.jobs.fields import Document
from kueuepy.jobs.template import PodSetInfo
from kueuepy.objects import PodSet


class ParentJob(BaseJob):
    """An object that Kueue neither suspends nor starts.

    Instead, Kueue suspends the jobs or pods that the object creates.
    """

    def validate(self) -> None:
        """Apply the validation rules for the object's metadata.

        The jobs that the object creates are validated separately.
        """
        self.check_metadata()

    def is_suspended(self) -> bool:
        """Return `False`: Kueue suspends the jobs or pods that the object creates, not the object."""
        return False

    def passed_labels(self) -> dict[str, str]:
        """Return the labels with the queue and the priority class, which the object's pods inherit."""
        return {key: self.labels[key] for key in (keys.QUEUE_NAME, keys.PRIORITY_CLASS) if self.labels.get(key)}

    def suspended(self) -> Document:
        """Return the manifest with the changes that the object's jobs or pods inherit."""
        root = self._copy()
        self.on_suspended(root)
        return root.data

    def start_patch(self, infos: Sequence[PodSetInfo]) -> Document:  # noqa: ARG002 unused
        """Return an empty patch: Kueue starts the jobs or pods that the object creates, not the object."""
        return {}

    def stop_patch(self, pod_sets: Sequence[PodSet]) -> Document | None:  # noqa: ARG002 unused
        """Return an empty patch: Kueue stops the jobs or pods that the object creates, not the object."""
        return {}
