"""Planning: find the smallest value of a field that meets a target."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from kueuepy.cluster import Cluster
from kueuepy.cluster.edit import value_at
from kueuepy.errors import InvalidSpecError, KueueError, NotFoundError, checked, checked_methods, first_of, spelled_out
from kueuepy.errors.guesses import guessed
from kueuepy.lab.exploration.grid import ALIKE, Sweep
from kueuepy.lab.exploration.measure import Promise, promise
from kueuepy.lab.exploration.sweep import SweepSettings, sweep
from kueuepy.look.notebook import Sheet, listed
from kueuepy.look.numbers import amount, busiest
from kueuepy.objects.base import whole
from kueuepy.simulation.catalogue import figure_text, label_of, titled
from kueuepy.simulation.pages.words import QUOTA, plan_call, quotas, report_step
from kueuepy.simulation.table import Jobs, never_admitted
from kueuepy.tables.columns import Framed, table_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from typing_extensions import Unpack

    from kueuepy.fleet import Fleet
    from kueuepy.lab.exploration.runs import Row
    from kueuepy.objects import QuantityText
    from kueuepy.tables import Columns

# The maximum number of simulations for which all values are tried by default.
_ALL = 64
# The number of values per round of a search, which does not depend on the number of cores.
_AT_ONCE = 3


@guessed(table="curve", best="value")
@checked_methods
class Plan(Framed):
    """The smallest value of a field that meets a target, and all values that were tried. `plan` creates it.

    Attributes:
        target: The target, such as `wait_p95 <= 1h`.
        vary: The path of the field to vary.
        value: The smallest value found that meets the target with every seed; `None` if no value does.
        monotone: Whether each tried value above a value that meets the target also meets the target. More quota can
            make waits longer, so `monotone` can be False.
        exhaustive: Whether all values were tried; if they were, no smaller value meets the target.
        errors: The error of each value that is not valid. An invalid value does not meet the target.
        warnings: Warnings to consider before using the answer.
        source: The arguments of a command that name the cluster and the jobs; empty in Python.

    Example:
        >>> from kueuepy import Cluster, ClusterQueue, ResourceFlavor, plan
        >>> cluster = Cluster(ResourceFlavor("f"), ClusterQueue.of("team", {"f": {"cpu": 1}}))
        >>> jobs = [{"queue": "team", "submit": 0, "runtime": "1h", "cpu": 1}] * 2
        >>> quota = "ClusterQueue/team:quota[f/cpu].nominalQuota"
        >>> found = plan(cluster, jobs, "wait_p95 <= 1m", vary=quota, low=1, high=3)
        >>> found.value, found.exhaustive
        (2, True)
    """

    def __init__(self, grid: Sweep, target: Promise, vary: str, every: range) -> None:
        """Create a Plan from a sweep.

        Args:
            grid: The sweep of the tried values, in ascending order.
            target: The target.
            vary: The path of the field to vary.
            every: All values of the range.
        """
        self._grid, self.target, self.vary = grid, target.text, vary
        self._figure = str(target.measure)
        self._values = [policy[vary] for policy in grid.policies]
        n = len(grid.seeds)
        kept = [target.holds(row["figures"].get(self._figure)) for row in grid.rows]
        self._passed = [all(kept[i * n : (i + 1) * n]) for i in range(len(self._values))]
        self.value = next((value for value, passed in zip(self._values, self._passed, strict=True) if passed), None)
        self.monotone = sorted(self._passed) == self._passed
        self.exhaustive, self._every = len(self._values) == len(every), every
        self.errors = {self._values[position]: text for position, text in grid.errors.items()}
        # The warning that the best of many policies is partly lucky does not apply to values in order.
        self.warnings = tuple(text for text in grid.warnings if text == ALIKE)
        self.source = ""
        self._group = target.measure.group

    @property
    def curve(self) -> Columns:
        """Return one row per tried value: the mean of the metric over the seeds, and its 95% confidence interval.

        The columns are `value`, `mean`, `low`, `high`, `seeds` (the number of seeds for which the metric is defined)
        and `passed`. The interval is NaN for a single seed, or if all seeds give the same result.
        """
        found = [self._grid.interval(position, self._figure) for position in range(len(self._values))]
        rows = (
            (value, one.mean, one.low, one.high, one.n, passed)
            for value, one, passed in zip(self._values, found, self._passed, strict=True)
        )
        return table_of(("value", "mean", "low", "high", "seeds", "passed"), rows)

    @property
    def tried(self) -> Columns:
        """Return `curve`."""
        return self.curve

    def to_table(self) -> Columns:
        """Return `curve`."""
        return self.curve

    @property
    def cluster(self) -> Cluster | Fleet | None:
        """The cluster with the value that was found; `None` if no value meets the target."""
        return None if self.value is None else self._grid.cluster(self._values.index(self.value))

    def plot(self, *, ax: Any = None) -> Any:
        """Plot the tried values with their confidence intervals, and the bound of the target.

        Args:
            ax: The matplotlib Axes to draw on. Default: new Axes.

        Returns:
            The Axes.

        Raises:
            UnsupportedError: matplotlib is not installed.
        """
        from kueuepy.lab.exploration.pictures import plan_curve  # noqa: PLC0415 - only on use

        answer = None if self.value is None else (self.value, self._text(self.value))
        return plan_curve(self.curve, self.target, self.vary, answer, ax=ax)

    def _answer(self) -> str:
        n, seeds = len(self._values), len(self._grid.seeds)
        tried = (
            f"all {n} values tried" if self.exhaustive else f"{n} of {len(self._every)} values tried; others may differ"
        )
        odd = "" if self.monotone else "; not monotone: some larger values break it"
        odd += f"; {len(self.errors)} are not valid" if self.errors else ""
        found = "no value" if self.value is None else self._text(self.value)
        each = f" with each of {seeds} seeds" if seeds > 1 else ""
        return f"{self.vary}: {found} meets {self.target}{each}; {tried}{odd}"

    def _text(self, value: Any) -> str:
        """Return a value, as an amount if the field is a quota."""
        found = QUOTA.search(self.vary)
        return amount(found[1].partition("/")[2], value) if found else str(value)

    def _next(self) -> list[str]:
        """Return how sure the answer is, and the next step, as sentences."""
        seeds = len(self._grid.seeds)
        sure = ["Each value ran with one seed, so that there is no confidence interval."] if seeds == 1 else []
        values = self._every
        same = len(self._values) > 1 and len(set(self.curve["mean"].tolist())) == 1
        if same:
            sure.append(f"{label_of(self._figure)} is the same with every value, so the field has no effect on it.")
        if self.value is None:
            by, last = values.step, values[-1]
            step, vary, values = "plan a larger range:", self.vary, range(last + by, 2 * last + by + 1, by)
            if same:
                cluster, jobs = self._grid.setup.cluster, self._grid.setup.jobs
                never = []
                if isinstance(cluster, Cluster) and isinstance(jobs, Jobs):
                    never = never_admitted(jobs.exact(), cluster)
                if never:
                    step, command = report_step(self.source)
                    return [*sure, f"{first_of(never, 1)}.", f"Next step: {step}", command]
                with suppress(KueueError, AttributeError):  # a fleet has no objects of its own
                    vary, pair, values = self._other()
                    step = f"{pair.partition('/')[2]} limits the jobs; plan its quota:"
            return [*sure, f"Next step: {step}", plan_call(self.source, self.target, vary, values, seeds)]
        write = 'kueuepy.dump(plan.cluster, "planned.yaml")'
        if self.source:
            write = f"{plan_call(self.source, self.target, self.vary, values, seeds)} --output planned.yaml"
        return [*sure, "Next step: write the configuration with this value:", write]

    def _other(self) -> tuple[str, str, range]:
        """Return the nominal quota of the target's ClusterQueue for the resource that limits the jobs, and its values.

        Raises:
            KueueError: There is no such quota.
        """
        means, name = self._grid.means[0], "utilisation "
        # What the jobs lack is most likely what is used most.
        pair = busiest({one[len(name) :]: means[one] for one in self._grid.figures if one.startswith(name)})
        vary = f"ClusterQueue/{self._group[0] if self._group else '*'}:quota[{pair}].nominalQuota"
        cluster: Any = self._grid.setup.cluster
        nominal = whole("plan", value_at(cluster.objects(), vary))
        return vary, pair, quotas(pair, nominal, 2 * nominal + 2)

    def __repr__(self) -> str:
        """Return the warnings, followed by the answer in one line."""
        return "\n".join([*(f"warning: {text}" for text in self.warnings), f"<Plan: {self._answer()}>"])

    def sheets(self) -> tuple[Sheet, ...]:
        """Return the warnings, the answer, and the curve in readable units."""
        rows = []
        for row in self.curve.rows():
            mean = (figure_text(self._figure, row[name]) for name in ("mean", "low", "high"))
            rows.append((self._text(row["value"]), *mean, row["seeds"], "yes" if row["passed"] else "no"))
        head = (self.vary.rpartition(".")[2], titled(self._figure), "95% from", "to", "Seeds", "Target met")
        note = "Means over seeds" if len(self._grid.seeds) > 1 else ""
        answer = listed(self.target, [self._answer(), *self._next()])
        return (*listed("Warning", self.warnings), *answer, Sheet(head, rows, note))


@checked
@spelled_out(SweepSettings)
def plan(
    cluster: Cluster | Fleet,
    jobs: Any,
    target: str,
    *,
    vary: str,
    low: QuantityText,
    high: QuantityText,
    step: QuantityText = 1,
    exhaustive: bool | None = None,
    **options: Unpack[SweepSettings],
) -> Plan:
    """Find the smallest value of a field that meets a target.

    All values of a small range are tried. In a larger range, three values are tried per round; finally, both neighbours
    of the result are tried. The search assumes that larger values are better; `Plan.monotone` is False if this
    assumption is wrong.

    Args:
        cluster: The cluster.
        jobs: The jobs, as `sweep` accepts them.
        target: The target, such as `wait_p95(team-a) <= 30m`. The target must be met with every seed.
        vary: The path of the field, as for `Cluster.edit`, or a path of the jobs or the simulation, as for `sweep`.
        low: The smallest value to try, an integer or a quantity such as `64Gi`.
        high: The largest value to try, in the same form.
        step: The step between two consecutive values. Default: 1.
        exhaustive: Whether to try all values. Default: True if all values together need at most 64 simulations.
        options: Further arguments of `sweep`, such as `seeds`, `threads` and settings of the simulations.

    Returns:
        The smallest value that meets the target, and the values that were tried.

    Raises:
        InvalidSpecError: The target is malformed, the range is empty, or no value is valid.
        NotFoundError: The path or the metric does not exist.

    Example:
        >>> from kueuepy import Cluster, ClusterQueue, ResourceFlavor
        >>> cluster = Cluster(ResourceFlavor("f"), ClusterQueue.of("a", {"f": {"cpu": 1}}))
        >>> rows = [{"queue": "a", "submit": 60 * n, "runtime": "1h", "cpu": 1} for n in range(10)]
        >>> plan(cluster, rows, "wait_p95 <= 1h", vary="ClusterQueue/a:quota[f/cpu].nominalQuota", low=1, high=9).value
        5
    """
    wanted = promise(target)
    first, last, by = (whole(f"plan: {name}", value) for name, value in (("low", low), ("high", high), ("step", step)))
    if not by > 0 or not first <= last:
        raise InvalidSpecError(f"plan: {low} to {high} by {step}; low must be at most high, and step more than 0")
    values = range(first, last + 1, by)
    tried: dict[int, Sequence[Row]] = {}
    name = str(wanted.measure)
    grids: list[Sweep] = []

    def look(places: Iterable[int]) -> None:
        fresh = [values[at] for at in places if 0 <= at < len(values) and values[at] not in tried]
        if fresh:
            grids.append(sweep(cluster, jobs, [{vary: value} for value in fresh], figures=[name], **options))
            n = len(grids[-1].seeds)
            tried.update({value: grids[-1].rows[i * n : (i + 1) * n] for i, value in enumerate(fresh)})

    def good(position: int) -> bool:
        return all(wanted.holds(row["figures"].get(name)) for row in tried[values[position]])

    seeds = options.get("seeds", 1)
    runs = len(values) * (seeds if isinstance(seeds, int) else len(seeds))
    if exhaustive if exhaustive is not None else runs <= _ALL:
        look(range(len(values)))
    else:
        _narrow(look, good, len(values) - 1)
    # A search tries values in its own order; the answer lists them by size.
    ordered = sorted(tried)
    rows = [row for value in ordered for row in tried[value]]
    grid = Sweep(grids[0].setup, [{vary: value} for value in ordered], grids[0].seeds, rows)
    # An invalid path or target is an error of the caller, unlike single values that are not valid.
    if len(grid.errors) == len(tried):
        kind, _, text = grid.errors[0].partition(": ")
        raise {"NotFoundError": NotFoundError}.get(kind, InvalidSpecError)(f"plan: {text}")
    return Plan(grid, wanted, vary, values)


def _narrow(look: Callable[[Iterable[int]], None], good: Callable[[int], bool], found: int) -> None:
    """Try the first and last position, then three per round, then the neighbours of the smallest good one."""
    below = -1
    look((0, found))
    while good(found) and found - below > 1:
        inner = sorted({below + (found - below) * part // (_AT_ONCE + 1) for part in range(1, _AT_ONCE + 1)} - {below})
        look(inner)
        kept = [position for position in inner if good(position)]
        found = min([*kept, found])
        below = max([below, *(position for position in inner if position < found)])
    # The neighbours show whether the assumption that larger values are better holds near the answer.
    look((found - 1, found + 1))
