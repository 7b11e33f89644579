"""Errors of jobs that were read from files: they come out with file, line and job."""

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
"""How many steps lead to the template of a pod set: `spec.podSets[0].template`."""


def jobs_placed(manifest: Manifest) -> AbstractContextManager[None]:
    """Around what turns the jobs of a manifest into Workloads: errors name file, line and job.

    Raises:
        KueueError: The error that was raised inside.
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
    """The Workloads of jobs, made with what stands beside them in a manifest.

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
    """Whether an error is about a job, or about a Workload that is made of it."""
    if not isinstance(error.about, str):
        return job is error.about
    try:
        made = workloads_among([job], manifest, manifest.configuration or Configuration())
    except KueueError:
        return False
    return any(workload.key == error.about for workload in made)


def _moved(manifest: Manifest, job: Document, item: Item, problem: Problem) -> tuple[str, Problem]:
    """The place of a problem of a job's Workload, and the problem as it is in the job's manifest."""
    owner = adapter_for(job, config=manifest.configuration or Configuration(), related=manifest.others)
    path = _path_in(owner, problem.path)
    if path is None:
        return f"{item.where()}: {owner.owner}", problem
    return f"{item.where(path)}: {owner.owner}", Problem(path, problem.kind, problem.detail)


def _path_in(job: Any, path: Path) -> Path | None:
    """Where a field of the Workload's pod templates is in the job's manifest; `None` if it is none, or is not there."""
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
