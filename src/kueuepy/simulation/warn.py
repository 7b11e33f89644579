"""What to know before one trusts a figure of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kueuepy.errors.words import counted
from kueuepy.simulation.columns import is_resource
from kueuepy.tables.columns import is_named

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kueuepy.simulation.figures import Kpis
    from kueuepy.simulation.recorded import Recorded

_NAMED = 10
_UNFINISHED = 0.05
_HOPELESS = ("ExceedsMaxQuota", "NoMatchingFlavor", "Misconfigured")
_ENOUGH, _LONG = 100, 5


def warnings_of(result: Recorded, kpis: Kpis) -> tuple[str, ...]:
    """Loops, jobs that can never fit or never finish, loads over 1, unfinished jobs, a short warm-up, rows left out."""
    return (
        *map(str, result.loops),
        *_hopeless(result),
        *_loads(result),
        *_unfinished(kpis),
        *_short_warmup(result, kpis),
        *(
            f"{counted(rows, 'job')}: {what}"
            for what, rows in result.notes
            if what.startswith(("left out", "wait for", "never finish"))
        ),
    )


def _hopeless(result: Recorded) -> list[str]:
    reason = result.jobs["reason"]
    waits = is_named(result.jobs["state"], "Waiting")
    codes = [code for code, name in enumerate(reason.names) if name in _HOPELESS]
    rows = np.flatnonzero(np.isin(reason.codes, codes) & waits)
    if not len(rows):
        return []
    named = ", ".join(f"{result.name_of(int(row))} ({reason[int(row)]})" for row in rows[:_NAMED])
    more = f" and {len(rows) - _NAMED} more" if len(rows) > _NAMED else ""
    return [f"{counted(len(rows), 'job')} can never be admitted: {named}{more}"]


def _trees(result: Recorded, queues: Iterable[str]) -> dict[str, list[str]]:
    """The ClusterQueues of each tree of cohorts."""
    found: dict[str, list[str]] = {}
    for name in queues:
        found.setdefault(result.trees.get(name, name), []).append(name)
    return found


def _loads(result: Recorded) -> list[str]:
    """Where more comes than quota could ever run: waits grow with the length of the run there.

    Told of many jobs that come for longer than one of them runs; a batch that comes at once has no load.
    """
    jobs = result.jobs
    runtime = np.nan_to_num(jobs["runtime"])
    span = float(jobs["submit"].max(initial=0.0))
    if len(jobs) < _ENOUGH or span < _LONG * float(runtime.mean()):
        return []
    queues = jobs["cluster_queue"]
    trees = _trees(result, queues.names)
    places = {name: place for place, names in enumerate(trees.values()) for name in names}
    tree_of = np.array([*(places[name] for name in queues.names), len(trees)])[queues.codes]
    resources = [name for name in jobs.names if is_resource(name)]
    loads = {
        name: np.bincount(tree_of, jobs[name] * jobs["pods"] * runtime, minlength=len(trees)) for name in resources
    }
    seconds = max(result.seconds - result.warmup, 0.0)
    found = []
    for place, (tree, names) in enumerate(trees.items()):
        for resource in resources:
            cells = [
                nominal
                for name in names
                for cell, (_, nominal, _, _) in result.totals["queues"].get(name, {"cells": {}})["cells"].items()
                if cell.partition("/")[2] == resource
            ]
            quota = sum(cells) / 1e9 / seconds if seconds else 0.0
            asked = float(loads[resource][place]) / span
            if quota and asked > quota and quota < 2**62:
                found.append(
                    f"{tree}: jobs ask for {asked / quota:.2f} times its nominal {resource}: waits grow with the "
                    f"length of the run, and say more about that than about the policy"
                )
    return found


def _unfinished(kpis: Kpis) -> list[str]:
    if not kpis.jobs or kpis.finished >= (1 - _UNFINISHED) * kpis.jobs:
        return []
    return [f"{kpis.jobs - kpis.finished} of {counted(kpis.jobs, 'job')} had not finished at the end"]


def _short_warmup(result: Recorded, kpis: Kpis) -> list[str]:
    if not result.warmup or result.warmup >= kpis.longest_wait:
        return []
    return [f"the warm-up of {result.warmup:g} s is shorter than the longest wait, {kpis.longest_wait:g} s"]
