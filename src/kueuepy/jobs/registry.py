"""The registered kinds of jobs and their classes, and custom kinds that are described by paths in their manifests."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Protocol

from kueuepy.errors import DuplicateError, InvalidSpecError, UnsupportedError, checked, suggestion
from kueuepy.jobs.base import BaseJob, PodSetSource
from kueuepy.jobs.integrations import appwrapper, batch, kubeflow, pod, ray, serving, spark, trainjob
from kueuepy.jobs.job import Job
from kueuepy.jobs.template import Document, Section
from kueuepy.jobs.topology import PodIndex
from kueuepy.manifest import jobkinds
from kueuepy.objects import Configuration


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


class JobType(Protocol):
    """Protocol of classes that read the manifests of a kind of job. `BaseJob` implements it.

    >>> template = {"spec": {"containers": []}}
    >>> job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "a"}, "spec": {"template": template}}
    >>> from kueuepy.jobs.integrations.batch import BatchJob
    >>> job_type: JobType = BatchJob
    >>> job_type(job, config=Configuration(), related=()).owner
    'Job "default/a"'
    """

    def __call__(self, manifest: Document, *, config: Configuration, related: Iterable[Document]) -> Job:
        """Create the job that a manifest describes.

        Args:
            manifest: The job's manifest.
            config: The Configuration, for its feature gates.
            related: Manifests of other objects that the job refers to.

        Returns:
            The job.
        """


_PLAIN = Configuration()
_MODULES = (appwrapper, batch, kubeflow, pod, ray, serving, spark, trainjob)
_types: dict[tuple[str, str], JobType] = {
    (version, found.kind): found
    for module in _MODULES
    for found in vars(module).values()
    # A base class of several kinds has no kind of its own.
    if isinstance(found, type) and issubclass(found, BaseJob) and "kind" in vars(found)
    for version in found.api_versions
}


@checked
def register(job_type: JobType, kind: str, *api_versions: str) -> None:
    """Register a custom kind of job for the lifetime of the process.

    After the registration, all functions that read manifests accept jobs of the registered kind.

    A kind that is already supported cannot be replaced:

    >>> from kueuepy.jobs.integrations.batch import BatchJob
    >>> register(BatchJob, "Job", "batch/v1")  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    DuplicateError: kind "Job" of batch/v1: is registered already; a kind is read by one class

    Args:
        job_type: Class that reads the manifests, such as a class derived from `BaseJob`.
        kind: Name of the kind.
        api_versions: API versions of the kind, such as `example.com/v1`.

    Raises:
        DuplicateError: The kind is already registered.
        InvalidSpecError: No API version is given, or an argument has a wrong type.
    """
    if not isinstance(kind, str) or not all(isinstance(version, str) for version in api_versions):
        raise InvalidSpecError(
            f"kind {kind!r:.99} of {api_versions!r:.99}: must be texts, such as MyJob and example.com/v1"
        )
    if not callable(job_type):
        raise InvalidSpecError(f'kind "{kind}": job_type: is {job_type!r:.99}; it must be a class such as BaseJob')
    if not api_versions:
        raise InvalidSpecError(f'kind "{kind}": has no API version; give at least one, such as example.com/v1')
    for version in api_versions:
        if (version, kind) in _types:
            raise DuplicateError(f'kind "{kind}" of {version}: is registered already; a kind is read by one class')
    for version in api_versions:
        _types[version, kind] = job_type
        jobkinds.add(version, kind)


@checked
def is_known(api_version: str, kind: str) -> bool:
    """Return whether a kind is registered or built in.

    >>> is_known("batch/v1", "Job")
    True

    Args:
        api_version: API version, such as `batch/v1`.
        kind: Name of the kind.
    """
    return (api_version, kind) in _types


def kinds() -> tuple[tuple[str, str], ...]:
    """Return the built-in and registered kinds.

    >>> ("batch/v1", "Job") in kinds()
    True

    Returns:
        Pairs of API version and kind, sorted.
    """
    return tuple(sorted(_types))


@checked
def adapter_for(manifest: Document, *, config: Configuration = _PLAIN, related: Iterable[Document] = ()) -> Job:
    """Create the job that a manifest describes.

    The pods of a group are passed together, as a manifest of kind List.

    >>> template = {"spec": {"containers": []}}
    >>> job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "a"}, "spec": {"template": template}}
    >>> adapter_for(job).owner
    'Job "default/a"'

    Args:
        manifest: The job's manifest.
        config: The Configuration, for its feature gates.
        related: Manifests that the job refers to: the runtime of a TrainJob, or the live RayCluster of an elastic
            RayJob.

    Returns:
        The job.

    Raises:
        UnsupportedError: The kind is not supported.
    """
    version, kind = str(manifest.get("apiVersion") or ""), str(manifest.get("kind") or "")
    job_type = _types.get((version, kind))
    if job_type is not None:
        return job_type(manifest, config=config, related=related)
    versions = [known for known, name in kinds() if name == kind]
    if versions:
        raise UnsupportedError(f'{kind}: apiVersion: is "{version}"; it must be {" or ".join(versions)}')
    names = {name for _, name in _types}
    raise UnsupportedError(f'kind: "{kind}" is not a job kind that Kueue supports; {suggestion(kind, names)}')
