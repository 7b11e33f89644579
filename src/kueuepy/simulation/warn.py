"""Warnings about the reliability of the metrics of a simulation."""

import numpy as np

from kueuepy.errors import counted
from kueuepy.look.numbers import duration
from kueuepy.simulation.columns import is_resource
from kueuepy.simulation.grouped import sums
from kueuepy.simulation.recorded import Recorded
from kueuepy.tables.columns import exact, is_named

_UNFINISHED = 0.05
HOPELESS = ("of ", "can never be admitted")
"""The beginnings of notes about jobs that can never be admitted; `gather` writes them."""
_ENOUGH, _LONG = 100, 5
# Thresholds of the warning about the time after the last submission: its fraction of the run, and the difference of the
# two metrics of utilisation.
_TAIL, _APART = 0.1, 0.02
AFTER_LAST = "after the last submission"
"""Text that identifies the warning about the time after the last submission. A comparison omits this warning, because
it does not show the utilisation of the whole run."""
# Threshold of the warning about a long mean wait, as a fraction of the time in which jobs arrive.
_WAIT = 0.05


def warnings_of(result: Recorded, *, figures: bool = True) -> tuple[str, ...]:
    """Return the warnings about a simulation.

    The warnings report what is missing on the workers of a fleet, preemption loops, jobs that can never fit, loads
    above 1, unfinished jobs, a warm-up of unsuitable length, a long time after the last submission, waits that are long
    compared with the log, columns that are probably misspelled, and jobs left out.

    Args:
        result: The result.
        figures: Whether to include warnings that only explain a metric: results show them, but `simulate`, which does
            not compute metrics, does not emit them.
    """
    return (
        *getattr(result, "remarks", ()),
        *map(str, result.loops),
        *_noted(result, *HOPELESS),
        *_loads(result),
        *_unfinished(result),
        *_warmups(result),
        *((*_tail(result), *_unsettled(result)) if figures else ()),
        *_noted(result, "left out", "wait for", "never finish", 'column "', mark=":"),
    )


def _noted(result: Recorded, *beginnings: str, mark: str = "") -> list[str]:
    """Return the notes with certain beginnings."""
    return [f"{counted(rows, 'job')}{mark} {what}" for what, rows in result.notes if what.startswith(beginnings)]


def _loads(result: Recorded) -> list[str]:
    """Warn about cohort trees whose jobs request more than the nominal quota, so that waits grow with simulated time.

    The check is skipped unless many jobs arrive over a period much longer than their runtime, because a batch of jobs
    submitted at once has no meaningful load.
    """
    jobs = result.jobs
    runtime, span = np.nan_to_num(jobs["runtime"]), float(jobs["submit"].max(initial=0.0))
    if not _is_long(result) or span <= 0:
        return []
    queues = jobs["cluster_queue"]
    trees: dict[str, list[str]] = {}
    for name in queues.names:
        trees.setdefault(result.trees.get(name, name), []).append(name)
    indices = {name: index for index, names in enumerate(trees.values()) for name in names}
    tree_of = np.array([*(indices[name] for name in queues.names), len(trees)])[queues.codes]
    resources = [name for name in jobs.names if is_resource(name)]
    loads = {
        name: np.bincount(tree_of, exact(jobs)[name] * jobs["pods"] * runtime, minlength=len(trees))
        for name in resources
    }
    seconds = max(result.seconds - result.warmup, 0.0)
    found = []
    for index, (tree, names) in enumerate(trees.items()):
        nominal = sums(
            (pair.partition("/")[2], nominal)
            for name in names
            for pair, (_, nominal, _, _) in result.totals["queues"].get(name, {"cells": {}})["cells"].items()
        )
        for resource in resources:
            quota = nominal.get(resource, 0) / 1e9 / seconds if seconds else 0.0
            asked = float(loads[resource][index]) / span
            # An unlimited quota is stored as a huge number.
            if quota and asked > quota and quota < 2**62:
                found.append((asked / quota, tree, resource))
    if not found:
        return []
    # One sentence for all cohorts, which begins with the one that is overloaded most.
    load, tree, resource = max(found)
    others = f" (and {counted(len(found) - 1, 'other overload')})" if len(found) > 1 else ""
    what = f"{tree}: jobs request {load:.2f} times its nominal quota of {resource}{others}"
    return [f"{what}: waiting times grow with the length of the run and depend more on it than on the policy"]


def _unfinished(result: Recorded) -> list[str]:
    finished = is_named(result.jobs["state"], "Finished")[result.jobs["counted"]]
    jobs, done = len(finished), int(finished.sum())
    if done >= (1 - _UNFINISHED) * jobs:
        return []
    return [f"{jobs - done} of {counted(jobs, 'job')} had not finished at the end"]


def _warmups(result: Recorded) -> list[str]:
    if not result.warmup:
        return []
    kpis = result.kpis
    if not kpis.jobs and len(result.jobs):
        return [f"the metrics include no jobs: all were submitted during the warm-up of {duration(result.warmup)}"]
    if result.warmup >= kpis.longest_wait:
        return []
    warmup, wait = duration(result.warmup), duration(kpis.longest_wait)
    return [f"the warm-up of {warmup} is shorter than the longest wait, {wait}"]


def _is_long(result: Recorded) -> bool:
    """Return whether many jobs arrive over a period much longer than their runtime, so that the load is meaningful."""
    span = float(result.jobs["submit"].max(initial=0.0))
    enough = len(result.jobs) >= _ENOUGH
    return enough and span >= _LONG * float(np.nan_to_num(result.jobs["runtime"]).mean())


def _tail(result: Recorded) -> list[str]:
    """Warn about a long time after the last submission, during which unused quota lowers the utilisation."""
    last = float(result.jobs["submit"].max(initial=0.0))
    tail = result.seconds - max(last, result.warmup)
    if not _is_long(result) or tail < _TAIL * (result.seconds - result.warmup) or last <= result.warmup:
        return []
    kpis = result.kpis
    apart = {pair: (value, kpis.utilisation[pair]) for pair, value in kpis.submission_utilisation.items()}
    pair, (while_, whole) = max(apart.items(), key=lambda item: item[1][0] - item[1][1], default=("", (0.0, 0.0)))
    if while_ - whole < _APART:
        return []
    text = f"the run ends {duration(tail)} {AFTER_LAST}: utilisation {pair} includes that time and is"
    return [f"{text} {whole:.1%}; submission_utilisation, which ends at the last submission, is {while_:.1%}"]


def _unsettled(result: Recorded) -> list[str]:
    """Warn about a mean wait that is long compared with the period in which jobs arrive."""
    span = float(result.jobs["submit"].max(initial=0.0)) - result.warmup
    if not _is_long(result) or span <= 0:
        return []
    wait = result.kpis.wait_mean
    if wait < max(_WAIT * span, float(np.nan_to_num(result.jobs["runtime"]).mean())):
        return []
    text = f"the mean wait, {duration(wait)}, is {wait / span:.0%} of the time in which jobs arrive"
    return [f"{text}, {duration(span)}: it depends more on the length of the log and on the quotas than on the policy"]
