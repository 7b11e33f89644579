"""Errors of jobs that were read from files: they come out with file, line and job."""

from __future__ import annotations

import re
from functools import reduce
from itertools import chain
from operator import getitem
from typing import TYPE_CHECKING, Any

from kueuepy.errors import KueueError
from kueuepy.errors.problems import Path, Problem
from kueuepy.jobs import keys
from kueuepy.jobs.base import BaseJob
from kueuepy.jobs.convert import to_workloads
from kueuepy.jobs.registry import adapter_for
from kueuepy.manifest.convert import object_name
from kueuepy.manifest.places import placed, problem_in
from kueuepy.objects import Configuration

if TYPE_CHECKING:
    from collections.abc import Iterable
    from contextlib import AbstractContextManager

    from kueuepy.jobs.fields import Document
    from kueuepy.manifest import Manifest
    from kueuepy.manifest.text.reading import Item
    from kueuepy.objects import Workload

_NAMED = re.compile(r'[\w ]+ "[^"]*": ')
_STEP = re.compile(r'\.?([^.\[\]:" ]+)|\[(\d+)\]|\["([^"]*)"\]')
_OF_POD_SET = ("spec", "podSets")
_TO_TEMPLATE = 4
"""How many steps lead to the template of a pod set: `spec.podSets[0].template`."""


def jobs_placed(manifest: Manifest) -> AbstractContextManager[None]:
    """Around what turns the jobs of a manifest into Workloads: errors name file, line and job.

    Raises:
        KueueError: The error that was raised inside.
    """

    def move(text: str, problem: Problem | None) -> tuple[str, Problem | None]:
        pairs = list(zip(manifest.jobs, manifest.job_origins, strict=False))
        named = [(job, item) for job, item in pairs if _name(job) in text]
        found = (_moved(manifest, job, item, text, problem) for job, item in named)
        called = ((f"{item.where(_path(text))}: {text}", problem) for job, item in named if _is_called(job, text))
        # An error that names no job, or what a job refers to, may be of any.
        others = (_moved(manifest, job, item, text, problem) for job, item in pairs if _name(job) not in text)
        return next(filter(None, chain(found, called, others)), (text, problem))

    return placed(move)


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


def _name(job: Document) -> str:
    """What stands for a job in messages: its name, or that of its group of pods."""
    metadata = job.get("metadata")
    if not isinstance(metadata, dict):
        return ""
    labels = metadata.get("labels")
    group = labels.get(keys.POD_GROUP_NAME) if job.get("kind") == "Pod" and isinstance(labels, dict) else None
    return str(group or metadata.get("name") or "")


def _called(job: Document) -> str:
    metadata = job.get("metadata")
    namespace = metadata.get("namespace") if isinstance(metadata, dict) else None
    return f'{job.get("kind")} "{namespace or "default"}/{_name(job)}"'


def _is_called(job: Document, text: str) -> bool:
    """Whether a message speaks of a job, or of its group of pods, in so many words."""
    _, _, name = _called(job).partition(" ")
    return text.startswith((f"{object_name(job)}: ", f"{_called(job)}: ", f"pod group {name}: ", f"Workload {name}"))


def _moved(
    manifest: Manifest, job: Document, item: Item, text: str, problem: Problem | None
) -> tuple[str, Problem | None] | None:
    """The error with its place, if it is one of this job."""
    try:
        made = workloads_among([job], manifest, manifest.configuration or Configuration())
    except KueueError as error:
        if problem is not None or str(error) != text:
            return None
        if not _NAMED.match(text):
            return f"{item.where()}: {_called(job)}: {text}", None
        return f"{item.where(_path(text) if _name(job) in text else ())}: {text}", None
    if problem is None and not _NAMED.match(text):  # a question about a Workload does not name it
        wrong = next(filter(None, (problem_in(workload, text) for workload in made)), None)
        return None if wrong is None else _told(*_moved_problem(manifest, job, item, wrong))
    if not any(text.startswith(f'Workload "{workload.key}"') for workload in made):
        return None
    if problem is None or len(made) != 1:
        return f"{item.where()}: {text}", problem
    return _moved_problem(manifest, job, item, problem)


def _told(where: str, problem: Problem) -> tuple[str, None]:
    return f"{where}: {problem}", None


def _moved_problem(manifest: Manifest, job: Document, item: Item, problem: Problem) -> tuple[str, Problem]:
    """The place of a problem of a job's Workload, and the problem as it is in the job's manifest."""
    owner = adapter_for(job, config=manifest.configuration or Configuration(), related=manifest.others)
    path = _path_in(owner, problem.path)
    if path is None:
        return f"{item.where()}: {owner.owner}", problem
    return f"{item.where(path)}: {owner.owner}", Problem(path, problem.kind, problem.detail)


def _path(text: str) -> Path:
    """The field that a message names, after the object."""
    field = _NAMED.sub("", text, count=1).partition(": ")[0]
    return tuple(int(number) if number else key or quoted for key, number, quoted in _STEP.findall(field))


def _path_in(job: Any, path: Path) -> Path | None:
    """Where a field of the Workload's pod templates is in the job's manifest; `None` if it is none, or is not there."""
    if path[:2] != _OF_POD_SET or path[_TO_TEMPLATE - 1 : _TO_TEMPLATE] != ("template",):
        return None
    slots = job.slots(job.root) if isinstance(job, BaseJob) else ()
    place = path[2]
    if not isinstance(place, int) or place >= len(slots):
        return None
    found = (*_path(slots[place].template.path), *path[_TO_TEMPLATE:])
    try:
        reduce(getitem, found, job.manifest)
    except (KeyError, IndexError, TypeError):
        return None
    return found
