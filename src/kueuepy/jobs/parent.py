"""Objects that make jobs or pods, and that Kueue neither suspends nor starts."""

import copy
from collections.abc import Sequence

from kueuepy.jobs import checks
from kueuepy.jobs.base import BaseJob
from kueuepy.jobs.fields import Document
from kueuepy.jobs.template import PodSetInfo
from kueuepy.objects import PodSet


class ParentJob(BaseJob):
    """An object that Kueue neither suspends nor starts: what it makes is held back, jobs or pods."""

    def validate(self) -> None:
        """Refuse what Kueue's webhooks refuse of the object's metadata; the jobs that it makes are checked alone."""
        checks.check_metadata(self)

    def is_suspended(self) -> bool:
        """`False`: what it makes is suspended instead."""
        return False

    def suspended(self) -> Document:
        """The manifest, changed only in what the kind passes on to what it makes."""
        root = self._section(copy.deepcopy(self.manifest))
        self.on_suspended(root)
        return root.data

    def start_patch(self, infos: Sequence[PodSetInfo]) -> Document:  # noqa: ARG002 the kind has no use for them
        """Empty: what it makes is started instead."""
        return {}

    def stop_patch(self, pod_sets: Sequence[PodSet]) -> Document | None:  # noqa: ARG002 the kind has no use for them
        """Empty: what it makes is stopped instead."""
        return {}
