"""Estimate how long usage stays above a quota that is reduced, and which workloads exceed it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from kueuepy.errors import InvalidSpecError
from kueuepy.errors.arguments import checked
from kueuepy.errors.settings import spelled_out
from kueuepy.explain.whatif import Edit, edited, workloads_over_quota
from kueuepy.lab.exploration.remaining import Living, Runtimes
from kueuepy.lab.exploration.runs import NOTHING, in_order
from kueuepy.look.notebook import Sheet
from kueuepy.look.numbers import duration
from kueuepy.objects import SECOND
from kueuepy.session.session import session_of
from kueuepy.simulation.measures import percentile
from kueuepy.simulation.model import Edit as FieldEdit
from kueuepy.simulation.model import RunSettings, moment
from kueuepy.simulation.simulate import Simulation
from kueuepy.simulation.sums import sums
from kueuepy.tables import Categorical, Columns
from kueuepy.tables.framed import Framed

if TYPE_CHECKING:
    import threading
    from collections.abc import Iterator

    from numpy.typing import NDArray
    from typing_extensions import Unpack

    from kueuepy.scheduler import Scheduler

Amounts = dict[str, int]
_POINTS = 60
_SHOWN = 10
_OUTSIDE = (
    "runtimes are drawn from what was given: of a log that has little in common with today's jobs they are wrong",
    "workloads that are removed by hand, and autoscalers",
)


class Shrink(msgspec.Struct, Framed, frozen=True):
    """The time that usage stays above a reduced quota, and the workloads that exceed it. `shrink` creates it.

    Times are in seconds from the reduction.

    Attributes:
        leaving: The keys of the workloads that would have to be removed immediately to be within quota, in the order in
            which to drain them.
        above: The amounts of the workloads in `leaving`, by `flavor/resource`, with cpu in millicores.
        p10: The 10th percentile of the time until usage is within quota; infinite if it lies beyond the horizon.
        p50: The median.
        p90: The 90th percentile of the time until usage is within quota; infinite if it lies beyond the horizon.
        seconds: The time until usage is within quota, for each simulated future; infinite if usage is above quota at
            the horizon.
        curve: The usage above quota over time, with the columns `flavor_resource`, `seconds`, and the `mean` and `p90`
            over the simulated futures.
        horizon: The simulated time span.
        not_modelled: Effects that the result does not consider.

    Example:
        >>> from kueuepy import Cluster, ClusterQueue, ResourceFlavor, Scheduler
        >>> from kueuepy.lab import shrink
        >>> scheduler = Scheduler(Cluster(ResourceFlavor("f"), ClusterQueue.of("team", {"f": {"cpu": 1}})))
        >>> str(shrink(scheduler, ClusterQueue.of("team", {"f": {"cpu": 0}}), runtimes="1h", n=1))
        'usage is within quota at once'
    """

    leaving: tuple[str, ...]
    above: Amounts
    p10: float
    p50: float
    p90: float
    seconds: tuple[float, ...]
    curve: Columns
    horizon: float
    not_modelled: tuple[str, ...] = _OUTSIDE

    def __str__(self) -> str:
        """Return the answer as several lines of text."""
        if not self.leaving:
            return "usage is within quota at once"
        late = sum(map(math.isinf, self.seconds))
        more = f"; not within {duration(self.horizon)} in {late} of {len(self.seconds)}" if late else ""
        middle = f"{duration(self.p10)} to {duration(self.p90)}"
        names = ", ".join(self.leaving[:_SHOWN])
        rest = f" and {len(self.leaving) - _SHOWN} more" if self.leaving[_SHOWN:] else ""
        return "\n".join(
            [
                f"within quota after {duration(self.p50)} (median), {middle} (80% interval){more}",
                f"{len(self.leaving)} would have to be removed for that at once: {names}{rest}",
                *(f"not modelled: {text}" for text in self.not_modelled),
            ]
        )

    def to_table(self) -> Columns:
        """Return `curve`."""
        return self.curve

    def sheets(self) -> tuple[Sheet, ...]:
        """Return tables of the answer and of the workloads to drain."""
        rows = [(text,) for text in str(self).splitlines()]
        return (Sheet(("quota shrinks",), rows), Sheet(("drained in this order",), [(key,) for key in self.leaving]))

    def plot(self, flavor_resource: str | None = None, *, ax: Any = None) -> Any:
        """Plot the amount of a resource in a flavor that is used above its quota, over time.

        Args:
            flavor_resource: The flavor and resource, as `flavor/resource`. Default: the first flavor and resource whose
                usage exceeds the quota.
            ax: The matplotlib Axes to draw on. Default: new Axes.

        Returns:
            The Axes.

        Raises:
            InvalidSpecError: The usage of the flavor and resource is not above its quota.
            UnsupportedError: matplotlib is not installed.
        """
        from kueuepy.look.plot import axes_of  # noqa: PLC0415 - only on use

        name = flavor_resource if flavor_resource is not None else next(iter(self.above), "")
        if name not in self.above:
            raise InvalidSpecError(f'shrink: "{name}": is not above its quota; there are {", ".join(self.above)}')
        rows = self.curve["flavor_resource"] == name
        ax = axes_of(ax)
        hours = self.curve["seconds"][rows] / 3600
        ax.plot(hours, self.curve["mean"][rows], label="mean of the futures")
        ax.plot(hours, self.curve["p90"][rows], linestyle="--", label="90th percentile")
        ax.set(xlabel="hours after the change", ylabel=f"{name} above quota", ylim=(0, None))
        ax.legend()
        return ax


@checked
@spelled_out(RunSettings)
def shrink(
    scheduler: Scheduler,
    *edits: Edit | FieldEdit,
    runtimes: Any,
    future: Any = None,
    n: int = 50,
    seed: int = 0,
    horizon: Any = "30d",
    threads: int | None = None,
    **settings: Unpack[RunSettings],
) -> Shrink:
    """Estimate how long usage stays above quota after edits that reduce quota.

    Kueue does not evict workloads when quota is reduced (kubernetes-sigs/kueue#5176). Each of `n` simulated futures
    draws the remaining runtimes of running workloads; Kueue's rules determine which workloads are admitted in the
    meantime. After each event, `workloads_over_quota` determines the workloads that exceed the quota, and the curve
    records the amounts that they hold.

    Args:
        scheduler: The Scheduler with the current state; the function does not modify it.
        edits: Objects with less quota, field edits as `Edit(path, value)`, a Configuration, or functions that change a
            Scheduler.
        runtimes: The expected runtimes, as `eta` accepts them.
        future: Jobs that will arrive, or a function that returns them for a seed; `submit` times count from now.
            Default: none.
        n: The number of simulated futures. Default: 50.
        seed: The seed of the first simulated future. Default: 0.
        horizon: The time span to simulate. Default: 30 days.
        threads: The number of futures to simulate in parallel. Default: the number of available cores.
        settings: Further arguments of `simulate`, such as `model`, `clock` and `delays`.

    Returns:
        The time until usage is within quota, and the workloads that exceed it.

    Raises:
        InvalidSpecError: An argument, such as an edit, is not valid.
        NotFoundError: `runtimes` does not cover a queue.

    Example:
        >>> from kueuepy import Cluster, ClusterQueue, ResourceFlavor, Scheduler
        >>> scheduler = Scheduler(Cluster(ResourceFlavor("f"), ClusterQueue.of("team", {"f": {"cpu": 1}})))
        >>> _ = scheduler.submit({"name": "job", "queue": "team", "cpu": 1}), scheduler.settle()
        >>> found = shrink(scheduler, ClusterQueue.of("team", {"f": {"cpu": 0}}), runtimes="1h", n=1)
        >>> found.leaving, found.p50
        (('default/job',), 3600.0)
    """
    if n < 1:
        raise InvalidSpecError(f"shrink: n {n}; it must be 1 or more")
    after = scheduler.fork()
    for edit in edits:
        for one in _objects(after, edit):
            after = edited(after, one)
    end = moment("shrink: horizon", horizon) / SECOND
    living, known = Living(after), Runtimes(runtimes)
    leaving = workloads_over_quota(after)
    above = _held(after, leaving)
    if not leaving:
        return Shrink((), {}, 0.0, 0.0, 0.0, (0.0,) * n, _curve([], above, 0.0), end)

    def look(number: int, stop: threading.Event) -> list[tuple[float, Amounts]]:
        run = Simulation(after, living.and_coming(known, future, number), seed=number, record=NOTHING, **settings)
        points = [(0.0, above)]
        while not stop.is_set() and points[-1][1] and run.step() and run.now <= end:
            now = run.scheduler
            points.append((run.now, _held(now, workloads_over_quota(now))))
        return points

    found = in_order(look, range(seed, seed + n), threads)
    seconds = [math.inf if points[-1][1] else points[-1][0] for points in found]
    ordered = np.sort(seconds)
    p10, p50, p90 = (percentile(ordered, percent) for percent in (10, 50, 90))
    last = max((at for at in seconds if math.isfinite(at)), default=end)
    return Shrink(leaving, above, p10, p50, p90, tuple(seconds), _curve(found, above, last), end)


def _held(scheduler: Scheduler, keys: tuple[str, ...]) -> Amounts:
    return sums(item for key in keys for item in _amounts(scheduler, key))


def _amounts(scheduler: Scheduler, key: str) -> Iterator[tuple[str, int]]:
    admission = session_of(scheduler).engine.admission(session_of(scheduler).state.id_of(key))
    for pod_set in admission.pod_sets if admission is not None else ():
        for resource, (flavor, amount) in pod_set.resources.items():
            yield f"{flavor}/{resource}", amount


def _curve(found: list[list[tuple[float, Amounts]]], above: Amounts, last: float) -> Columns:
    """Return the usage above quota at equally spaced times, as mean and 90th percentile over the futures."""
    times = np.linspace(0.0, last, _POINTS) if found else np.zeros(0)
    names = list(above)
    levels = [_levels(found, cell, times) for cell in names]
    means = [table.mean(axis=0) for table in levels]
    highs = [table[math.ceil(0.9 * len(table)) - 1] for table in levels]
    return Columns(
        {
            "flavor_resource": Categorical(np.repeat(np.arange(len(names), dtype=np.int32), len(times)), names),
            "seconds": np.tile(times, len(names)),
            "mean": np.concatenate(means) if means else np.zeros(0),
            "p90": np.concatenate(highs).astype(float) if highs else np.zeros(0),
        }
    )


def _levels(found: list[list[tuple[float, Amounts]]], cell: str, times: NDArray[np.float64]) -> NDArray[Any]:
    """Return the excess usage of a flavor and resource: one row per future, one column per time, each column sorted."""
    rows = []
    for points in found:
        at = np.searchsorted([second for second, _ in points], times, side="right") - 1
        rows.append(np.array([amounts.get(cell, 0) for _, amounts in points])[at])
    return np.sort(np.array(rows), axis=0)


def _objects(scheduler: Scheduler, edit: Edit | FieldEdit) -> list[Edit]:
    """Return an edit in a form that `whatif` accepts; a field edit becomes the objects that it changes."""
    if not isinstance(edit, FieldEdit):
        return [edit]
    cluster = scheduler.cluster
    before = list(cluster.objects())
    after = cluster.edit(edit.path, edit.value)
    changed: list[Edit] = [obj for obj in after.objects() if obj not in before]
    return changed if after.configuration == cluster.configuration else [*changed, after.configuration]
