"""Workloads created from jobs, with errors that refer to the jobs as the user wrote them."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import reduce
from operator import getitem
from typing import Any, NamedTuple

from kueuepy.errors import KueueError, ManifestError, Path, Problem, about, steps
from kueuepy.jobs import keys
from kueuepy.jobs.base import BaseJob
from kueuepy.jobs.cluster import JobCluster
from kueuepy.jobs.fields import Document
from kueuepy.jobs.job import Finished, Job
from kueuepy.jobs.registry import adapter_for
from kueuepy.manifest.places import ReadJob
from kueuepy.objects import Workload

_OF_POD_SET = ("spec", "podSets")
# Length of the path of a pod set's template: `spec.podSets[0].template`.
_TO_TEMPLATE = 4


class Made(NamedTuple):
    """A Workload, and the job from which it was created.

    Attributes:
        given: The job in its original form. For a pod group, `given` is the first pod.
        manifest: The manifest of the job, with default queues and priority classes. The pods of a group are a single
            manifest of kind List. A CronJob is replaced by the Job that it creates, and a Deployment by a Pod.
        workload: The Workload.
        cluster: The objects and settings from which the Workload was created.
        outcome: The outcome of the job according to its status; `None` if the job has not finished.
    """

    given: Document
    manifest: Document
    workload: Workload
    cluster: JobCluster
    outcome: Finished | None = None

    @contextmanager
    def written(self) -> Iterator[None]:
        """Change errors about the Workload to errors about the job, if the job was read from a file.

        Raises:
            KueueError: The error that was raised in the `with` block.
        """
        if not isinstance(self.given, ReadJob):
            with about(self.workload.key):
                yield
            return
        try:
            with about(self.given):
                yield
        except ManifestError as error:
            if error.about != self.workload.key:
                raise
            owner = adapter_for(self.given, config=self.cluster.config, related=self.cluster.related)
            moved = [_moved(self.given, owner, problem) for _, problem in error.problems]
            raise ManifestError(moved) from None
        except KueueError as error:
            if error.about == self.workload.key:
                error.locate(self.given.where(error.path))
            raise


class Existing:
    """The Workloads of a cluster, and the jobs to which they belong."""

    def __init__(self, workloads: Iterable[Workload]) -> None:
        """Index the Workloads.

        The uid identifies the job of a Workload with another name, such as a slice of an elastic job.
        """
        self._keys = set()
        self._uids = set()
        for workload in workloads:
            self._keys.add(workload.key)
            if uid := workload.labels.get(keys.JOB_UID):
                self._uids.add(uid)

    def lacks(self, made: Made) -> bool:
        """Return whether Kueue would create a Workload of a job.

        Kueue creates no Workload for a finished job, nor for a job that has a Workload
        (`pkg/controller/jobframework/reconciler.go:ReconcileGenericJob`).
        """
        return made.outcome is None and not self.has(made)

    def has(self, made: Made) -> bool:
        """Return whether a job has a Workload."""
        return made.workload.key in self._keys or made.workload.labels.get(keys.JOB_UID) in self._uids


def _moved(given: ReadJob, owner: Job, problem: Problem) -> tuple[str, Problem]:
    """Convert a problem of a Workload to a problem of its job, with its position in the file."""
    path = _path_in(owner, problem.path)
    if path is None:
        return f"{given.where()}: {owner.owner}", problem
    return f"{given.where(path)}: {owner.owner}", Problem(path, problem.kind, problem.detail)


def _path_in(job: Any, path: Path) -> Path | None:
    """Convert the path of a field in a Workload's pod template to its path in the job's manifest; `None` if absent."""
    if path[:2] != _OF_POD_SET or path[_TO_TEMPLATE - 1 : _TO_TEMPLATE] != ("template",):
        return None
    slots = job.slots(job.root) if isinstance(job, BaseJob) else ()
    index = path[2]
    if not isinstance(index, int) or index >= len(slots):
        return None
    found = (*steps(slots[index].template.path), *path[_TO_TEMPLATE:])
    try:
        # A template that the kind builds itself has no path in the manifest.
        reduce(getitem, found, job.manifest)
    except (KeyError, IndexError, TypeError):
        return None
    return found
