"""Kinds of your own, described by the paths in their manifests."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from kueuepy.errors import InvalidSpecError
from kueuepy.errors.arguments import checked
from kueuepy.jobs.base import BaseJob, PodSetSource
from kueuepy.jobs.fields import Section
from kueuepy.jobs.job import Finished
from kueuepy.jobs.topology import PodIndex


@dataclass(frozen=True)
class PodSetPath:
    """Where a pod set is in a manifest.

    Attributes:
        name: The pod set's name.
        template: The path of its pod template: `spec.worker.template`.
        count: The path of its number of pods, 1 if there is nothing at it; empty for always 1.
        index: The labels by which the kind numbers its pods.
    """

    name: str
    template: str
    count: str = ""
    index: PodIndex = field(default_factory=PodIndex)


class PathJob(BaseJob):
    """A job of a kind that `path_kind` describes."""

    paths: tuple[PodSetPath, ...] = ()
    ends: Mapping[str, bool] = {}
    ready: str = ""

    def slots(self, root: Section) -> Sequence[PodSetSource]:
        """The templates that are there; a pod set whose template is absent is absent too."""
        found = ((path, _find(root, path.template)) for path in self.paths)
        return [
            PodSetSource(path.name, _count(root, path.count), template, index=path.index)
            for path, template in found
            if template is not None
        ]

    def finished(self) -> Finished | None:
        """How the job ended, by the condition that says so."""
        end = self.condition(*self.ends)
        return None if end is None else Finished(end.text("message"), self.ends[end.text("type")])

    def pods_ready(self) -> bool:
        """Whether the condition for it is true."""
        return bool(self.ready) and self.condition(self.ready) is not None


@checked
def path_kind(
    kind: str,
    api_version: str,
    pod_sets: Sequence[PodSetPath],
    *,
    suspend: str = "spec.suspend",
    succeeded: str = "",
    failed: str = "",
    ready: str = "",
) -> type[PathJob]:
    """A kind of job that has a field to suspend it, and pod templates that may change while it is suspended.

    That is all that Kueue needs of a kind. Give the result to `kueuepy.jobs.register`.

    >>> trials = PodSetPath("trial", "spec.trial.template", count="spec.trial.parallel")
    >>> Sweep = path_kind("Sweep", "example.com/v1", [trials])
    >>> template = {"spec": {"containers": []}}
    >>> manifest = {"metadata": {"name": "s"}, "spec": {"trial": {"parallel": 4, "template": template}}}
    >>> Sweep(manifest).pod_sets()[0].count
    4

    Args:
        kind: The kind's name.
        api_version: Its API version.
        pod_sets: Where its pod sets are, in their order.
        suspend: The path of the field that suspends it; its last part must be `suspend`.
        succeeded: The condition that is true when a job has succeeded.
        failed: The condition that is true when a job has failed.
        ready: The condition that is true while all pods are ready.

    Raises:
        InvalidSpecError: The path of the field that suspends it doesn't end in `suspend`.
    """
    section, _, field_name = suspend.rpartition(".")
    if field_name != "suspend" or not section:
        raise InvalidSpecError(f'{kind}: suspend: is "{suspend}"; it must be a path such as "spec.suspend"')
    ends = {condition: outcome for condition, outcome in ((succeeded, True), (failed, False)) if condition}
    fields = {
        "__doc__": f"A {kind}.",
        "kind": kind,
        "api_versions": (api_version,),
        "suspend_path": section,
        "paths": tuple(pod_sets),
        "ends": ends,
        "ready": ready,
        "takes_prebuilt": False,
    }
    return type(kind, (PathJob,), fields)


def _find(root: Section, path: str) -> Section | None:
    section: Section | None = root
    for key in path.split("."):
        section = section and section.find(key)
    return section


def _count(root: Section, path: str) -> int:
    section, _, key = path.rpartition(".")
    found = _find(root, section) if section else None
    return found.count(key, 1) if found else 1
