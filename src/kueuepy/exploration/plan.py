"""Planning: the least value of a field with which a promise is kept."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from kueuepy.errors import InvalidSpecError, NotFoundError
from kueuepy.errors.arguments import checked, checked_methods
from kueuepy.errors.guesses import guessed
from kueuepy.exploration.grid import ALIKE
from kueuepy.exploration.measure import promise
from kueuepy.exploration.statistics import estimate
from kueuepy.exploration.sweep import sweep
from kueuepy.notebook import Sheet, repr_html, repr_text
from kueuepy.simulation.catalogue import figure_text
from kueuepy.tables import Columns
from kueuepy.tables.framed import Framed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from kueuepy.cluster import Cluster
    from kueuepy.exploration.measure import Promise

_ALL = 64
"""So many runs at most are all made, unless it is said."""
_AT_ONCE = 3
"""How many values are tried in a round of a search: the same on any number of cores."""


@guessed(table="curve", best="value")
@checked_methods
class Plan(Framed):
    """The least value with which a promise is kept, and what was tried; a value.

    Attributes:
        target: The promise.
        vary: The path that was varied.
        value: The least value that was found to keep the promise in every seed; `None`: none does.
        monotone: Whether, of the values that were tried, all above a good one are good; more quota can make waits
            longer.
        exhaustive: Whether all values were tried, so that no smaller one keeps the promise.
        errors: What was wrong with values that are not valid; they keep no promise.
        warnings: What to know before trusting the answer.
    """

    def __init__(self, cluster: Cluster, target: Promise, vary: str, tried: Mapping[Any, Any], every: int) -> None:
        """Takes the figures by seed of each value that was tried, of so many."""
        self._cluster = cluster
        self.target, self.vary = target.text, vary
        self._figure = target.measure.figure
        self._tried = dict(sorted(tried.items()))
        self._passed = {value: all(map(target.holds, seeds)) for value, seeds in self._tried.items()}
        good = [value for value, passed in self._passed.items() if passed]
        self.value = good[0] if good else None
        self.monotone = sorted(self._passed.values()) == list(self._passed.values())
        self.exhaustive = len(tried) == every
        self.errors: dict[Any, str] = {}
        self.warnings: tuple[str, ...] = ()

    @property
    def curve(self) -> Columns:
        """Return a row for each value that was tried: the mean of the figure over the seeds, and its 95 % interval.

        Columns are `value`, `mean`, `low`, `high`, the number of `seeds` that have the figure, and `passed`. The
        interval is NaN for one seed, and where all seeds give the same.
        """
        drawn = ALIKE not in self.warnings
        found = [estimate(np.array(seeds, np.float64), drawn=drawn) for seeds in self._tried.values()]
        return Columns(
            {
                "value": np.array(list(self._tried)),
                "mean": np.array([one.mean for one in found]),
                "low": np.array([one.low for one in found]),
                "high": np.array([one.high for one in found]),
                "seeds": np.array([one.n for one in found], np.int64),
                "passed": np.array(list(self._passed.values()), bool),
            }
        )

    @property
    def tried(self) -> Columns:
        """Return `curve`: what was tried."""
        return self.curve

    def to_table(self) -> Columns:
        """Return `curve`."""
        return self.curve

    @property
    def cluster(self) -> Cluster | None:
        """The cluster with the value; `None` without one."""
        return None if self.value is None else self._cluster.edit(self.vary, self.value)

    def plot(self, *, ax: Any = None) -> Any:
        """What was tried, with intervals by seeds, and the bound of the promise, on Axes of matplotlib.

        Raises:
            UnsupportedError: matplotlib is not installed.
        """
        from kueuepy.exploration.pictures import plan_curve  # noqa: PLC0415 - only on use

        return plan_curve(self.curve, self.target, self.vary, ax=ax)

    def _answer(self) -> str:
        tried = f"{'all' if self.exhaustive else 'of'} {len(self._tried)} values tried"
        odd = "" if self.monotone else "; not monotone: some larger values break it"
        odd += f"; {len(self.errors)} are not valid" if self.errors else ""
        answer = f"no value keeps {self.target}" if self.value is None else f"{self.value} keeps {self.target}"
        return f"{self.vary}: {answer}; {tried}{odd}"

    def __repr__(self) -> str:
        """Warnings first, then the answer in a line."""
        return "\n".join([*(f"warning: {text}" for text in self.warnings), f"<Plan: {self._answer()}>"])

    def __str__(self) -> str:
        """The answer, and the values that were tried, with units."""
        return f"{self!r}\n{repr_text([self.sheets()[-1]], self)}"

    def sheets(self) -> tuple[Sheet, ...]:
        """Show warnings, the answer, and the curve in readable units."""
        warned = [Sheet(("to know before",), [(text,) for text in self.warnings])] if self.warnings else []
        rows = [
            (row["value"], *(figure_text(self._figure, row[name]) for name in ("mean", "low", "high")), row["seeds"])
            for row in self.curve.rows()
        ]
        passed = ["yes" if passed else "no" for passed in self._passed.values()]
        head = (self.vary, f"mean of {self._figure}", "95 % from", "to", "seeds", self.target)
        return (
            *warned,
            Sheet((self.target,), [(self._answer(),)]),
            Sheet(head, [(*row, text) for row, text in zip(rows, passed, strict=True)]),
        )

    _repr_html_ = repr_html


@checked
def plan(
    cluster: Cluster,
    jobs: Any,
    target: str,
    *,
    vary: str,
    low: int,
    high: int,
    step: int = 1,
    exhaustive: bool | None = None,
    **options: Any,
) -> Plan:
    """The least value of a field with which a promise is kept.

    All values are tried where they are few. Else they are searched for as if more were always better: ever smaller
    parts of the range, three values of it at once, then both neighbours of what was found; `monotone` says whether what
    was tried contradicts that.

    >>> from kueuepy import Cluster, ClusterQueue, ResourceFlavor
    >>> cluster = Cluster(ResourceFlavor("h100"), ClusterQueue.of("team", {"h100": {"nvidia.com/gpu": 1}}))
    >>> rows = [{"queue": "team", "submit": 60 * n, "runtime": "1h", "gpu": 1} for n in range(10)]
    >>> quota = "ClusterQueue/team:quota[h100/nvidia.com/gpu].nominalQuota"
    >>> plan(cluster, rows, "wait_p95 <= 1h", vary=quota, low=1, high=10).value
    5

    Args:
        cluster: The configuration.
        jobs: As `sweep` takes them.
        target: The promise, such as `wait_p95(team-a) <= 30m`. With several seeds it must be kept in each.
        vary: The path of the field, as `Cluster.edit` takes it, or one of the jobs or the run.
        low: The least value.
        high: The largest.
        step: Between two values.
        exhaustive: Whether all values are tried; by default if that takes at most 64 runs.
        options: What `sweep` takes beside: `seeds`, `threads`, `on`, `storage`, `progress`, and settings of runs.

    Raises:
        InvalidSpecError: The target is no promise, or there are no values, or none that is valid.
        NotFoundError: The path or the figure names nothing.
    """
    wanted = promise(target)
    if not step > 0 or not low <= high:
        raise InvalidSpecError(f"plan: {low} to {high} by {step}; low must be at most high, and step more than 0")
    values = [low + place * step for place in range(math.floor((high - low) / step) + 1)]
    tried: dict[Any, NDArray[np.float64]] = {}
    errors: dict[Any, str] = {}
    warned: dict[str, None] = {}
    name = str(wanted.measure)

    def look(places: Iterable[int]) -> None:
        fresh = [values[place] for place in places if 0 <= place < len(values) and values[place] not in tried]
        if fresh:
            found = sweep(cluster, jobs, [{vary: value} for value in fresh], figures=[name], **options)
            figures = [row["figures"].get(name, math.nan) for row in found.rows]
            n = len(found.seeds)
            tried.update({value: np.array(figures[i * n : (i + 1) * n]) for i, value in enumerate(fresh)})
            errors.update({fresh[i]: text for i, text in found.errors.items()})
            warned.update(dict.fromkeys(text for text in found.warnings if text == ALIKE))

    def good(place: int) -> bool:
        return all(map(wanted.holds, tried[values[place]].tolist()))

    seeds = options.get("seeds", 1)
    runs = len(values) * (seeds if isinstance(seeds, int) else len(seeds))
    if exhaustive if exhaustive is not None else runs <= _ALL:
        look(range(len(values)))
        return _plan_of(Plan(cluster, wanted, vary, tried, len(values)), errors, warned)
    below, found = -1, len(values) - 1
    look((0, found))
    while good(found) and found - below > 1:
        inner = sorted({below + (found - below) * part // (_AT_ONCE + 1) for part in range(1, _AT_ONCE + 1)} - {below})
        look(inner)
        kept = [place for place in inner if good(place)]
        found = min([*kept, found])
        below = max([below, *(place for place in inner if place < found)])
    look((found - 1, found + 1))
    return _plan_of(Plan(cluster, wanted, vary, tried, len(values)), errors, warned)


def _plan_of(found: Plan, errors: Mapping[Any, str], warned: Iterable[str]) -> Plan:
    """The plan, with what was wrong with values; if no run was possible, that is the answer.

    Raises:
        KueueError: No value is valid, or the figure is that of nobody.
    """
    found.errors, found.warnings = dict(sorted(errors.items())), tuple(warned)
    if len(errors) == len(found.curve):
        kind, _, text = next(iter(found.errors.values())).partition(": ")
        raise {"NotFoundError": NotFoundError}.get(kind, InvalidSpecError)(f"plan: {text}")
    return found
