"""Custom kinds of jobs, described by paths in their manifests."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from kueuepy.errors import InvalidSpecError, checked
from kueuepy.jobs.base import BaseJob, PodSetSource
from kueuepy.jobs.template import Section
from kueuepy.jobs.topology import PodIndex


@dataclass(frozen=True)
class PodSetPath:
    """The location of a pod set in a manifest.

    >>> PodSetPath("worker", "spec.worker.template", count="spec.worker.replicas").count
    'spec.worker.replicas'

    Attributes:
        name: Name of the pod set.
        template: Path of the pod set's template, such as `spec.worker.template`.
        count: Path of the field with the pod set's number of pods. Default: an empty path, which means 1 pod. If the
            field is absent, the pod set has 1 pod.
        index: Labels with which the kind numbers its pods. Default: none.
    """

    name: str
    template: str
    count: str = ""
    index: PodIndex = field(default_factory=PodIndex)


class PathJob(BaseJob):
    """Base class of the kinds that `path_kind` creates.

    >>> Sweep = path_kind("Sweep", "example.com/v1", [PodSetPath("trial", "spec.trial.template")])
    >>> issubclass(Sweep, PathJob)
    True

    Attributes:
        paths: Locations of the pod sets.
    """

    paths: ClassVar[tuple[PodSetPath, ...]] = ()

    def slots(self, root: Section) -> Sequence[PodSetSource]:
        """Return the sources of the pod sets whose templates exist in the manifest.

        A pod set without a template in the manifest is omitted.
        """
        found = ((path, root.find_at(path.template)) for path in self.paths)
        return [
            PodSetSource(path.name, _count(root, path.count), template, index=path.index)
            for path, template in found
            if template is not None
        ]


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
    """Create a class for a custom kind of job from paths in its manifest.

    The kind must have a field that suspends a job, and pod templates that may change while the job is suspended. Pass
    the class to `kueuepy.jobs.register`.

    >>> trials = PodSetPath("trial", "spec.trial.template", count="spec.trial.parallel")
    >>> Sweep = path_kind("Sweep", "example.com/v1", [trials])
    >>> template = {"spec": {"containers": []}}
    >>> manifest = {"metadata": {"name": "s"}, "spec": {"trial": {"parallel": 4, "template": template}}}
    >>> Sweep(manifest).pod_sets()[0].count
    4

    Args:
        kind: Name of the kind.
        api_version: API version of the kind, such as `example.com/v1`.
        pod_sets: Locations of the pod sets, in order.
        suspend: Path of the field that suspends a job; its last element must be `suspend`. Default: `spec.suspend`.
        succeeded: Type of the condition that is true when a job has succeeded; empty if the kind has no such condition.
        failed: Type of the condition that is true when a job has failed; empty if the kind has no such condition.
        ready: Type of the condition that is true while all pods are ready; empty if the kind has no such condition.

    Returns:
        The class.

    Raises:
        InvalidSpecError: The path in `suspend` does not end in `suspend`, or has only one element.
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


def _count(root: Section, path: str) -> int:
    section, _, key = path.rpartition(".")
    found = root.find_at(section) if section else None
    return found.count(key, 1) if found else 1
