"""Estimate how long usage stays above a quota that is reduced, and which workloads exceed it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from kueuepy.errors import InvalidSpecError
from kueuepy.explain.whatif import edited, workloads_over_quota
from kueuepy.lab.exploration.answer import Fact, Guarantee, facts_of
from kueuepy.lab.exploration.remaining import Living, Runtimes
from kueuepy.lab.exploration.runs import NOTHING, in_order
from kueuepy.look.numbers import duration
from kueuepy.objects import SECOND
from kueuepy.session.session import session_of
from kueuepy.simulation.grouped import sums
from kueuepy.simulation.measures import percentile
from kueuepy.simulation.model import Edit as FieldEdit
from kueuepy.simulation.model import moment
from kueuepy.simulation.simulate import Simulation

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Iterator, Sequence

    from typing_extensions import Unpack

    from kueuepy.explain.whatif import Edit
    from kueuepy.scheduler import Scheduler
    from kueuepy.simulation.model import RunSettings

_SHOWN = 10
_PERCENTS = (10, 50, 90)
_OUTSIDE = (
    "runtimes are drawn from what was given: of a log that has little in common with today's jobs they are wrong",
    "workloads that are removed by hand, and autoscalers",
)


def shrink(
    scheduler: Scheduler,
    edits: Sequence[Edit | FieldEdit],
    *,
    runtimes: Any,
    future: Any = None,
    n: int = 50,
    seed: int = 0,
    horizon: Any = "30d",
    threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    **settings: Unpack[RunSettings],
) -> Guarantee:
    """Estimate how long usage stays above quota after edits that reduce quota; see `guarantee`."""
    if n < 1:
        raise InvalidSpecError(f"guarantee: n {n}; it must be 1 or more")
    after = scheduler.fork()
    for edit in edits:
        for one in _objects(after, edit):
            after = edited(after, one)
    end = moment("guarantee: horizon", horizon) / SECOND
    living, known = Living(after), Runtimes(runtimes)
    leaving = workloads_over_quota(after)
    # If usage is within quota now, no future has to be simulated: admissions respect the reduced quota.
    if not leaving:
        at_once = facts_of(_times([0.0] * n, seed))
        return Guarantee("shrink", True, ("usage is within quota at once",), at_once, _OUTSIDE)  # noqa: FBT003 - a verdict

    def look(number: int, stop: threading.Event) -> float:
        run = Simulation(after, living.and_coming(known, future, number), seed=number, record=NOTHING, **settings)
        while not stop.is_set() and run.step() and run.now <= end:
            if not workloads_over_quota(run.scheduler):
                return run.now
        return math.inf

    tell = None if progress is None else lambda done: progress(done, n)
    seconds = in_order(look, range(seed, seed + n), threads, tell)
    low, middle, high = (duration(percentile(np.sort(seconds), percent)) for percent in _PERCENTS)
    late = sum(map(math.isinf, seconds))
    more = f"; not within {duration(end)} in {late} of {n}" if late else ""
    rest = f" and {len(leaving) - _SHOWN} more" if leaving[_SHOWN:] else ""
    because = (
        f"within quota after {middle} (median), {low} to {high} (80% interval){more}",
        f"{len(leaving)} would have to be removed for that at once: {', '.join(leaving[:_SHOWN])}{rest}",
    )
    facts = [Fact(key, "order of removal", place) for place, key in enumerate(leaving, 1)]
    above = sums(item for key in leaving for item in _amounts(after, key))
    facts += [Fact(cell, "above quota", amount) for cell, amount in above.items()]
    return Guarantee("shrink", not late, because, facts_of([*facts, *_times(seconds, seed)]), _OUTSIDE)


def _times(seconds: list[float], seed: int) -> list[Fact]:
    """Return the percentiles of the time until usage is within quota, and the time of each simulated future."""
    ordered = np.sort(seconds)
    found = [Fact("all futures", f"p{percent}", float(percentile(ordered, percent))) for percent in _PERCENTS]
    found += [Fact(f"future {number}", "within quota after", each) for number, each in enumerate(seconds, seed)]
    return [fact._replace(detail=duration(fact.value)) for fact in found]


def _amounts(scheduler: Scheduler, key: str) -> Iterator[tuple[str, int]]:
    admission = session_of(scheduler).engine.admission(session_of(scheduler).state.id_of(key))
    for pod_set in admission.pod_sets if admission is not None else ():
        for resource, (flavor, amount) in pod_set.resources.items():
            yield f"{flavor}/{resource}", amount


def _objects(scheduler: Scheduler, edit: Edit | FieldEdit) -> list[Edit]:
    """Return an edit in a form that `whatif` accepts; a field edit becomes the objects that it changes."""
    if not isinstance(edit, FieldEdit):
        return [edit]
    cluster = scheduler.cluster
    before = list(cluster.objects())
    after = cluster.edit(edit.path, edit.value)
    changed: list[Edit] = [obj for obj in after.objects() if obj not in before]
    return changed if after.configuration == cluster.configuration else [*changed, after.configuration]
