"""Errors about jobs from files: file, line and job are added to the message."""

from __future__ import annotations

from functools import reduce
from operator import getitem
from typing import TYPE_CHECKING, Any

from kueuepy.errors import KueueError
from kueuepy.errors.problems import ManifestError, Path, Problem, steps
from kueuepy.jobs.base import BaseJob
from kueuepy.jobs.convert import to_workloads
from kueuepy.jobs.registry import adapter_for
from kueuepy.manifest.places import placed
from kueuepy.objects import Configuration

if TYPE_CHECKING:
    from collections.abc import Iterable
    from contextlib import AbstractContextManager

    from kueuepy.jobs.fields import Document
    from kueuepy.manifest import Manifest
    from kueuepy.manifest.text.reading import Item
    from kueuepy.objects import Workload

_OF_POD_SET = ("spec", "podSets")
_TO_TEMPLATE = 4
"""Length of the path of a pod set's template: `spec.podSets[0].template`."""


def jobs_placed(manifest: Manifest) -> AbstractContextManager[None]:
    """Return a context manager that adds file, line and job to errors about the jobs of a manifest.

    Raises:
        KueueError: The error that was raised in the `with` block.
    """

    def place(error: KueueError) -> KueueError | None:
        pairs = zip(manifest.jobs, manifest.job_origins, strict=False)
        found = next(((job, item) for job, item in pairs if _is_about(error, job, manifest)), None)
        if found is None:
            return None
        job, item = found
        if isinstance(error, ManifestError):
            return ManifestError([_moved(manifest, job, item, problem) for _, problem in error.problems])
        return type(error)(f"{item.where(error.path)}: {error}")

    return placed(place)


def workloads_among(jobs: Iterable[Document], manifest: Manifest, config: Configuration) -> tuple[Workload, ...]:
    """Return the Workloads of jobs, with the other objects of a manifest as context.

    Raises:
        KueueError: As for `kueuepy.jobs.to_workloads`.
    """
    return to_workloads(
        jobs,
        priority_classes=(*manifest.workload_priority_classes, *manifest.priority_classes),
        config=config,
        related=manifest.others,
        namespaces=manifest.namespaces,
        local_queues=manifest.local_queues,
    )


def _is_about(error: KueueError, job: Document, manifest: Manifest) -> bool:
    """Return whether an error is about a job, or about a Workload created from that job."""
    if not isinstance(error.about, str):
        return job is error.about
    try:
        made = workloads_among([job], manifest, manifest.configuration or Configuration())
    except KueueError:
        return False
    return any(workload.key == error.about for workload in made)


def _moved(manifest: Manifest, job: Document, item: Item, problem: Problem) -> tuple[str, Problem]:
    """Convert a problem of a Workload to a problem of its job, with its position in the file."""
    owner = adapter_for(job, config=manifest.configuration or Configuration(), related=manifest.others)
    path = _path_in(owner, problem.path)
    if path is None:
        return f"{item.where()}: {owner.owner}", problem
    return f"{item.where(path)}: {owner.owner}", Problem(path, problem.kind, problem.detail)


def _path_in(job: Any, path: Path) -> Path | None:
    """Convert the path of a field in a Workload's pod template to its path in the job's manifest; `None` if absent."""
    if path[:2] != _OF_POD_SET or path[_TO_TEMPLATE - 1 : _TO_TEMPLATE] != ("template",):
        return None
    slots = job.slots(job.root) if isinstance(job, BaseJob) else ()
    place = path[2]
    if not isinstance(place, int) or place >= len(slots):
        return None
    found = (*steps(slots[place].template.path), *path[_TO_TEMPLATE:])
    try:
        reduce(getitem, found, job.manifest)
    except (KeyError, IndexError, TypeError):
        return None
    return found
