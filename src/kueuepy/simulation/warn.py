"""What to know before one trusts a figure of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kueuepy.errors.words import counted
from kueuepy.simulation.columns import core_amounts, is_resource
from kueuepy.simulation.text import span_text
from kueuepy.tables.columns import is_named

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kueuepy.simulation.figures import Kpis
    from kueuepy.simulation.recorded import Recorded

_NAMED = 10
_UNFINISHED = 0.05
_HOPELESS = ("ExceedsMaxQuota", "NoMatchingFlavor", "Misconfigured")
_ENOUGH, _LONG = 100, 5
_TAIL, _APART = 0.1, 0.02
"""Fractions: of the run after the last submission, and between two figures of utilisation, that are worth a warning."""
AFTER_LAST = "after the last submission"
"""Words of the warning about the time after the last submission, which a comparison leaves out: it does not show the
utilisation of the whole run."""
_MEAN_WAIT = "the mean wait"
_WAIT = 0.05
"""A mean wait of this fraction of the time in which jobs arrive is worth a warning."""


def is_about_figures(text: str) -> bool:
    """Return whether a warning only says how to read a figure; a result shows it, but `simulate` does not emit it."""
    return AFTER_LAST in text or text.startswith(_MEAN_WAIT)


def warnings_of(result: Recorded, kpis: Kpis) -> tuple[str, ...]:
    """Return what to know before trusting a figure.

    Preemption loops, jobs that can never fit, loads over 1, unfinished jobs, a warm-up that is short or too long, a
    long time after the last submission, waits that are long beside the log, and what was left out.
    """
    return (
        *map(str, result.loops),
        *_hopeless(result),
        *_loads(result),
        *_unfinished(kpis),
        *_warmups(result, kpis),
        *_tail(result, kpis),
        *_unsettled(result, kpis),
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
    if not _is_long(result):
        return []
    runtime, span = np.nan_to_num(jobs["runtime"]), float(jobs["submit"].max(initial=0.0))
    queues = jobs["cluster_queue"]
    trees = _trees(result, queues.names)
    places = {name: place for place, names in enumerate(trees.values()) for name in names}
    tree_of = np.array([*(places[name] for name in queues.names), len(trees)])[queues.codes]
    resources = [name for name in jobs.names if is_resource(name)]
    loads = {
        name: np.bincount(tree_of, core_amounts(jobs, name) * jobs["pods"] * runtime, minlength=len(trees))
        for name in resources
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


def _warmups(result: Recorded, kpis: Kpis) -> list[str]:
    if not result.warmup:
        return []
    if not kpis.jobs and len(result.jobs):
        return [f"no job counts: all were submitted before the warm-up of {span_text(result.warmup)} is over"]
    if result.warmup >= kpis.longest_wait:
        return []
    return [f"the warm-up of {result.warmup:g} s is shorter than the longest wait, {kpis.longest_wait:g} s"]


def _is_long(result: Recorded) -> bool:
    """Whether jobs arrive over a time that is long beside one of them, so that there is a load."""
    span = float(result.jobs["submit"].max(initial=0.0))
    enough = len(result.jobs) >= _ENOUGH
    return enough and span >= _LONG * float(np.nan_to_num(result.jobs["runtime"]).mean())


def _tail(result: Recorded, kpis: Kpis) -> list[str]:
    """Find a long time between the last submission and the end, in which quota falls idle."""
    last = float(result.jobs["submit"].max(initial=0.0))
    tail = result.seconds - max(last, result.warmup)
    if not _is_long(result) or tail < _TAIL * (result.seconds - result.warmup) or last <= result.warmup:
        return []
    apart = {cell: (value, kpis.utilisation[cell]) for cell, value in kpis.submission_utilisation.items()}
    cell, (while_, whole) = max(apart.items(), key=lambda item: item[1][0] - item[1][1], default=("", (0.0, 0.0)))
    if while_ - whole < _APART:
        return []
    text = f"the run ends {span_text(tail)} {AFTER_LAST}: utilisation {cell} includes that time and is"
    return [f"{text} {whole:.1%}; submission_utilisation, until the last submission, is {while_:.1%}"]


def _unsettled(result: Recorded, kpis: Kpis) -> list[str]:
    """Find a mean wait that is long beside the time in which jobs arrive."""
    span = float(result.jobs["submit"].max(initial=0.0)) - result.warmup
    if not _is_long(result) or span <= 0:
        return []
    if kpis.wait_mean < max(_WAIT * span, float(np.nan_to_num(result.jobs["runtime"]).mean())):
        return []
    text = f"{_MEAN_WAIT}, {span_text(kpis.wait_mean)}, is {kpis.wait_mean / span:.0%} of the time in which jobs arrive"
    return [f"{text}, {span_text(span)}: it depends on the length of the log and on the quotas more than on the policy"]
