"""What becomes of a cluster whose quota shrinks: how long usage stays above it, and who would have to leave."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from kueuepy.engine.workloads import admission_of
from kueuepy.errors import InvalidSpecError
from kueuepy.errors.arguments import checked
from kueuepy.exploration.remaining import Living, Runtimes
from kueuepy.exploration.runs import NOTHING, in_order
from kueuepy.notebook import Sheet, repr_html
from kueuepy.objects import SECOND
from kueuepy.simulation.measures import percentile
from kueuepy.simulation.model import Edit as FieldEdit
from kueuepy.simulation.model import moment
from kueuepy.simulation.simulate import Simulation
from kueuepy.simulation.sums import sums
from kueuepy.simulation.text import span_text
from kueuepy.tables import Categorical, Columns
from kueuepy.tables.framed import Framed
from kueuepy.whatif import Edit, edited, workloads_over_quota

if TYPE_CHECKING:
    import threading
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from kueuepy.scheduler import Scheduler

Amounts = dict[str, int]
_POINTS = 60
_SHOWN = 10
_OUTSIDE = (
    "runtimes are drawn from what was given: of a log that has little in common with today's jobs they are wrong",
    "nobody drains by hand, and no autoscaler reacts",
)


class Shrink(msgspec.Struct, Framed, frozen=True):
    """How long usage stays above a quota that shrinks; a value. Times are seconds from the change.

    Attributes:
        leaving: Who would have to leave at once for all to be within quota, in the order in which one would drain them.
        above: By `flavor/resource` what these hold; thousandths for cpu.
        p10: In 10 of 100 futures all is within quota by then; infinite if not before the horizon.
        p50: In half of them.
        p90: In 90 of 100.
        seconds: Of each future; infinite where not before the horizon.
        curve: A row a point in time and cell: the `mean` over the futures of what would still have to leave, and `p90`.
        horizon: How far was looked.
        not_modelled: What the answer does not speak of.
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
        """The answer in lines."""
        if not self.leaving:
            return "all is within quota at once"
        late = sum(map(math.isinf, self.seconds))
        more = f"; not within {span_text(self.horizon)} in {late} of {len(self.seconds)}" if late else ""
        middle = f"{span_text(self.p10)} to {span_text(self.p90)}"
        names = ", ".join(self.leaving[:_SHOWN])
        rest = f" and {len(self.leaving) - _SHOWN} more" if self.leaving[_SHOWN:] else ""
        return "\n".join(
            [
                f"within quota after {span_text(self.p50)} (half of the futures), {middle} (80 of 100){more}",
                f"{len(self.leaving)} would have to leave for that at once: {names}{rest}",
                *(f"not modelled: {text}" for text in self.not_modelled),
            ]
        )

    def to_table(self) -> Columns:
        """Return a row for each point in time and FlavorResource, as `curve`."""
        return self.curve

    def sheets(self) -> tuple[Sheet, ...]:
        """The answer, then who would have to leave."""
        rows = [(text,) for text in str(self).splitlines()]
        return (Sheet(("quota shrinks",), rows), Sheet(("drained in this order",), [(key,) for key in self.leaving]))

    _repr_html_ = repr_html

    def plot(self, cell: str | None = None, *, ax: Any = None) -> Any:
        """What would still have to leave of a cell, over time, on Axes of matplotlib.

        Args:
            cell: `flavor/resource`; by default the first.
            ax: Axes to draw on.

        Raises:
            InvalidSpecError: There is no such cell above its quota.
        """
        from kueuepy.simulation.pictures.plot import axes_of  # noqa: PLC0415 - only on use

        name = cell if cell is not None else next(iter(self.above), "")
        if name not in self.above:
            raise InvalidSpecError(f'shrink: "{name}": is not above its quota; there are {", ".join(self.above)}')
        column = self.curve["flavor_resource"]
        rows = column.codes == list(column.names).index(name)
        ax = axes_of(ax)
        hours = self.curve["seconds"][rows] / 3600
        ax.plot(hours, self.curve["mean"][rows], label="mean of the futures")
        ax.plot(hours, self.curve["p90"][rows], linestyle="--", label="90 of 100 are below")
        ax.set(xlabel="hours after the change", ylabel=f"{name} above quota", ylim=(0, None))
        ax.legend()
        return ax


@checked
def shrink(
    scheduler: Scheduler,
    *edits: Edit | FieldEdit,
    runtimes: Any,
    future: Any = None,
    n: int = 50,
    seed: int = 0,
    horizon: Any = "30d",
    threads: int | None = None,
    **settings: Any,
) -> Shrink:
    """What becomes of usage after edits that take quota away, where Kueue evicts nobody (kubernetes-sigs/kueue#5176).

    In each of `n` futures it is drawn for how long those who run still do; Kueue's rules decide who is admitted
    meanwhile. At each moment it is asked who would have to leave for all to be within quota (`workloads_over_quota`); the
    curve has what these hold.

    Args:
        scheduler: As it is now; it is not changed.
        edits: The objects with less quota, edits of fields as `Edit(path, value)`, a Configuration, or functions that
            change a Scheduler.
        runtimes: What is known of runtimes, as `eta` takes it.
        future: Jobs that come meanwhile, or a function that makes them from a seed; `submit` counts from now.
        n: How many futures.
        seed: Of the first.
        horizon: How far is looked.
        threads: How many go on at once; by default one on each core.
        settings: What `simulate` takes beside, as `model`, `clock`, `delays`.

    Raises:
        InvalidSpecError: An edit is none, or something else is not valid.
        NotFoundError: Nothing is known of a queue's runtimes.
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
    """What workloads hold, by `flavor/resource`."""
    return sums(item for key in keys for item in _amounts(scheduler, key))


def _amounts(scheduler: Scheduler, key: str) -> Iterator[tuple[str, int]]:
    admission = admission_of(scheduler.engine, scheduler.id_of(key))
    for pod_set in admission.pod_sets if admission is not None else ():
        for resource, (flavor, amount) in pod_set.resources.items():
            yield f"{flavor}/{resource}", amount


def _curve(found: list[list[tuple[float, Amounts]]], above: Amounts, last: float) -> Columns:
    """What is above quota at points in time, over the futures."""
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
    """What is above quota of a cell, at each time a column, sorted over the futures."""
    rows = []
    for points in found:
        at = np.searchsorted([second for second, _ in points], times, side="right") - 1
        rows.append(np.array([amounts.get(cell, 0) for _, amounts in points])[at])
    return np.sort(np.array(rows), axis=0)


def _objects(scheduler: Scheduler, edit: Edit | FieldEdit) -> list[Edit]:
    """An edit as `whatif` takes it: of a field the objects that have it."""
    if not isinstance(edit, FieldEdit):
        return [edit]
    cluster = scheduler.cluster
    before = list(cluster.objects())
    after = cluster.edit(edit.path, edit.value)
    changed: list[Edit] = [obj for obj in after.objects() if obj not in before]
    return changed if after.configuration == cluster.configuration else [*changed, after.configuration]
