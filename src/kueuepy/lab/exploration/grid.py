"""Sweep: the rows of a sweep, and methods to compare its policies."""

import json
import math
import os
from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from kueuepy.cluster import Cluster
from kueuepy.engine.cached import cached_property
from kueuepy.errors import InvalidSpecError, NotFoundError, checked_methods, counted
from kueuepy.errors.guesses import guessed
from kueuepy.fleet import Fleet
from kueuepy.lab.exploration.measure import Measure, promises
from kueuepy.lab.exploration.pictures import SweepPlots
from kueuepy.lab.exploration.policy import Setup, applied
from kueuepy.lab.exploration.runs import Row, result_under
from kueuepy.lab.exploration.statistics import Estimate, PairedDifference, estimate, paired
from kueuepy.look.notebook import MOST_ROWS, Sheet, listed, repr_text
from kueuepy.simulation.catalogue import COUNTS, FIGURES, figure_text, interval_text, is_shown, metric_of, titled
from kueuepy.simulation.model import Recording
from kueuepy.simulation.result import Result
from kueuepy.simulation.table import Jobs
from kueuepy.tables.columns import Columns, Framed, categorical, table_of

ALIKE = (
    "all seeds give the same: nothing is drawn; give jobs as a function of the seed, as "
    "lambda seed: jobs.shuffle_days(seed)"
)
"""The warning that the seeds of a sweep give identical results."""
# The number of policies from which a sweep has a best one.
_FEWEST = 2
# With at least this many policies and one seed, a warning says that the best policy may be best by chance.
_MANY = 10


class SelectedPolicy(msgspec.Struct, frozen=True):
    """A selected policy.

    Attributes:
        policy: The position of the policy in the sweep, counted from 0.
        edits: The values of the policy by path.
        figures: The mean of each metric over the seeds.

    Example:
        >>> SelectedPolicy(0, {"jobs:scale_load": 2}, {"wait_mean": 60.0}).edits
        {'jobs:scale_load': 2}
    """

    policy: int
    edits: dict[str, Any]
    figures: dict[str, float]


@guessed(tried="frame", table="frame")
@checked_methods
class Sweep(Framed):
    """The results of a sweep, with one row of metrics per policy and seed. `sweep` creates it.

    Attributes:
        setup: The cluster, jobs and settings that all simulations share.
        policies: For each policy, its values by path.
        seeds: The seeds with which each policy was simulated.
        rows: The metrics of each simulation, ordered by policy and then by seed.

    Example:
        >>> from kueuepy import Cluster, ClusterQueue, ResourceFlavor, sweep
        >>> cluster = Cluster(ResourceFlavor("f"), ClusterQueue.of("team", {"f": {"cpu": 1}}))
        >>> jobs = [{"queue": "team", "submit": 0, "runtime": "1h", "cpu": 1}] * 2
        >>> grid = sweep(cluster, jobs, {"ClusterQueue/team:quota[f/cpu].nominalQuota": [1, 2]})
        >>> grid.means["wait_mean"].tolist()
        [1800.0, 0.0]
        >>> grid.best("wait_mean").policy
        1
    """

    def __init__(
        self, setup: Setup, policies: Sequence[dict[str, Any]], seeds: Sequence[int], rows: Sequence[Row]
    ) -> None:
        """Create a Sweep from rows that are sorted by policy and then by seed."""
        self.setup = setup
        self.policies: tuple[dict[str, Any], ...] = tuple(policies)
        self.seeds = tuple(seeds)
        self.rows = tuple(rows)

    def __len__(self) -> int:
        """Return the number of simulations."""
        return len(self.rows)

    @cached_property
    def figures(self) -> tuple[str, ...]:
        """The names of the metrics. A per-resource metric has one name per flavor and resource."""
        return tuple(dict.fromkeys(name for row in self.rows for name in row["figures"]))

    @cached_property
    def frame(self) -> Columns:
        """One row per simulation: `policy`, `seed`, the values by path, every metric, `wall_s` and `error`.

        `wall_s` is the wall-clock time of the simulation in seconds. An undefined metric is NaN. The values of a path
        are strings (lists as JSON) unless all of them are numbers.
        """
        n = len(self.seeds)
        errors = [row["error"] for row in self.rows]
        return Columns(
            {
                "policy": np.repeat(np.arange(len(self.policies)), n),
                "seed": np.tile(np.array(self.seeds, np.int64), len(self.policies)),
                **self._paths(n),
                **{name: self._values(name).ravel() for name in self.figures},
                "wall_s": np.array([row["wall_s"] for row in self.rows], np.float64),
                "error": categorical(errors),
            }
        )

    def _paths(self, times: int = 1) -> dict[str, Any]:
        paths = dict.fromkeys(path for policy in self.policies for path in policy)
        return {path: _column([p.get(path) for p in self.policies for _ in range(times)]) for path in paths}

    def _values(self, figure: str) -> NDArray[np.float64]:
        """Return a metric as an array with one row per policy and one column per seed; NaN where it is undefined."""
        name = self.named(figure)
        values = [row["figures"].get(name, math.nan) for row in self.rows]
        return np.array(values, np.float64).reshape(len(self.policies), len(self.seeds))

    def named(self, figure: str) -> str:
        """Return the name of a metric's column.

        The flavor and resource of a per-resource metric may be omitted if there is only one pair.

        Raises:
            NotFoundError: The metric does not exist, or its flavor and resource are ambiguous.
        """
        if figure in self.figures:
            return figure
        if not self.figures:
            raise NotFoundError("sweep: no policy was valid, so there are no metrics; see the column error of frame")
        parts = [name for name in self.figures if name.startswith(f"{figure} ")]
        if len(parts) != 1:
            known = parts or self.figures
            raise NotFoundError(
                f'sweep: "{figure}" is not one of its metrics; there are {", ".join(known)}'
                + ("" if parts else "; others are asked for with figures=[...]")
            )
        return parts[0]

    @property
    def errors(self) -> dict[int, str]:
        """The error of each policy that is not valid, by the policy's position."""
        n = len(self.seeds)
        return {i // n: row["error"] for i, row in enumerate(self.rows) if row["error"] is not None}

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings to consider before using the metrics."""
        found = []
        if len(self.seeds) > 1 and not self.is_drawn:
            found.append(ALIKE)
        if len(self.policies) >= _MANY and len(self.seeds) == 1:
            found.append(
                f"the best of {len(self.policies)} policies on one seed is partly lucky: compare the first few again "
                "with other seeds"
            )
        if self.errors:
            index, text = next(iter(self.errors.items()))
            found.append(f"{len(self.errors)} of {len(self.policies)} policies are not valid; policy {index}: {text}")
        return tuple(found)

    @property
    def is_drawn(self) -> bool:
        """Whether the results can differ between seeds because of generated jobs, thinned jobs or delays."""
        thinned = any("jobs:thin" in policy for policy in self.policies)
        return thinned or not isinstance(self.setup.jobs, Jobs) or bool(self.setup.settings.delays)

    def to_table(self) -> Columns:
        """Return `frame`, which has one row per simulation."""
        return self.frame

    # Analysis.

    @cached_property
    def means(self) -> Columns:
        """One row per policy: its values by path, the mean of each metric over its seeds, and `error`."""
        return Columns(
            {
                "policy": np.arange(len(self.policies)),
                **self._paths(),
                **{name: self._means(name) for name in self.figures},
                "error": categorical([self.errors.get(index) for index in range(len(self.policies))]),
            }
        )

    def _means(self, figure: str) -> NDArray[np.float64]:
        return np.array([estimate(row).mean for row in self._values(figure)])

    def interval(self, policy: int, figure: str) -> Estimate:
        """Return the mean of a metric over the seeds of a policy, and its 95% confidence interval by Student's t.

        Args:
            policy: The position of the policy, counted from 0.
            figure: The name of the metric.

        Raises:
            NotFoundError: The policy or the metric does not exist.
        """
        return estimate(self._values(figure)[self._place(policy)], drawn=self.is_drawn)

    def difference(self, a: int, b: int, figure: str) -> PairedDifference:
        """Return how much larger a metric is under policy `b` than under policy `a`, paired by seed.

        With the same seed, both policies saw the same jobs and random numbers, so variation between seeds cancels out.

        Args:
            a: The position of the first policy, counted from 0.
            b: The position of the second policy, counted from 0.
            figure: The name of the metric.

        Raises:
            NotFoundError: The policy or the metric does not exist.
        """
        values = self._values(figure)
        return paired(values[self._place(a)], values[self._place(b)])

    def _place(self, policy: int) -> int:
        if not 0 <= policy < len(self.policies):
            raise NotFoundError(f"sweep: {policy} names no policy; there are {len(self.policies)}, counted from 0")
        return policy

    def pareto(self, minimise: str | Sequence[str] = (), maximise: str | Sequence[str] = ()) -> Columns:
        """Return the Pareto-optimal policies as rows of `means`, sorted by the first metric.

        A policy is Pareto-optimal if no other policy is better in one metric and at least as good in all others.
        If several Pareto-optimal policies have identical metrics, all of them are included. Policies without one of the
        metrics are excluded.

        Args:
            minimise: The name of a metric to minimise, or a list of names.
            maximise: The name of a metric to maximise, or a list of names.

        Raises:
            NotFoundError: The metric does not exist.
            InvalidSpecError: No metric is given.
        """
        down, up = ([names] if isinstance(names, str) else list(names) for names in (minimise, maximise))
        if not down and not up:
            raise InvalidSpecError("pareto: give the figures to minimise or maximise")
        # Maximising a metric is minimising its negative.
        costs = np.column_stack([*(self._means(name) for name in down), *(-self._means(name) for name in up)])
        there = np.flatnonzero(~np.isnan(costs).any(axis=1))
        front: list[int] = [
            i
            for i in there.tolist()
            if not ((costs[there] <= costs[i]).all(axis=1) & (costs[there] < costs[i]).any(axis=1)).any()
        ]
        rows = np.array(sorted(front, key=lambda i: (*costs[i], i)), np.int64)
        return Columns({name: self.means[name][rows] for name in self.means.names})

    def best(self, figure: str, where: str | None = None, *, largest: bool = False) -> SelectedPolicy | None:
        """Return the policy with the smallest or the largest mean of a metric.

        Args:
            figure: The name of the metric.
            where: Conditions on the means, such as `evictions <= 200 and jain > 0.8`. Default: none.
            largest: Whether to maximise the metric. Default: False.

        Returns:
            The policy; if several policies are equally good, the first of them; `None` if no policy satisfies the
            conditions.

        Raises:
            NotFoundError: The metric does not exist.
            InvalidSpecError: `where` is not a condition.
        """
        # An undefined mean (NaN) is never the best.
        values = self._means(figure) * (-1 if largest else 1)
        allowed = ~np.isnan(values)
        for condition in promises(where) if where else ():
            means = self._means(self._column_of(condition.measure))
            allowed &= np.array([condition.holds(value) for value in means.tolist()])
        if not allowed.any():
            return None
        index = int(np.where(allowed, values, np.inf).argmin())
        figures = {name: float(self._means(name)[index]) for name in self.figures}
        return SelectedPolicy(index, self.policies[index], figures)

    def _column_of(self, asked: Measure) -> str:
        """Return the column of a metric, which may also be written with its flavor and resource in parentheses."""
        by_cell = f"{asked.figure} {asked.group[0]}" if len(asked.group) == 1 and not asked.conditions else ""
        return by_cell if by_cell in self.figures else str(asked)

    def effects(self, figure: str) -> Columns:
        """Return the marginal effect of each value: the mean of a metric over all policies with that value.

        Args:
            figure: The name of the metric.

        Returns:
            One row per path and value: `path`, `value`, the mean, and the number of `policies`.

        Raises:
            NotFoundError: The metric does not exist.
        """
        means = self._means(figure)
        rows = []
        for path in dict.fromkeys(path for policy in self.policies for path in policy):
            places: dict[str, list[int]] = {}
            for index, policy in enumerate(self.policies):
                if path in policy and not math.isnan(means[index]):
                    places.setdefault(_text(policy[path]) or "none", []).append(index)
            rows += [(path, value, float(means[among].mean()), len(among)) for value, among in places.items()]
        return table_of(("path", "value", figure, "policies"), rows)

    # Single policies and runs.

    def cluster(self, policy: int) -> Cluster | Fleet:
        """Return the cluster or fleet under a policy, which `kueuepy.dump` can write to a file.

        Args:
            policy: The position of the policy, counted from 0.

        Raises:
            NotFoundError: The policy does not exist.
            InvalidSpecError: The policy is not valid.
        """
        return applied(self.setup, self.policies[self._place(policy)]).cluster

    def result(self, row: int, *, record: Recording | None = None) -> Result:
        """Repeat one simulation, and return its result with all tables.

        Args:
            row: The row in `frame`, counted from 0.
            record: The tables to record. Default: all.

        Raises:
            NotFoundError: The row does not exist.
            KueueError: The policy is not valid.
        """
        if not 0 <= row < len(self.rows):
            raise NotFoundError(f"sweep: {row} names no row; there are {len(self.rows)}, counted from 0")
        policy, seed = divmod(row, len(self.seeds))
        return result_under(self.setup, self.policies[policy], self.seeds[seed], record or Recording())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write `frame` as a Parquet file.

        Args:
            path: The file.

        Raises:
            UnsupportedError: pyarrow is not installed.
        """
        from kueuepy.files import write_files  # noqa: PLC0415 - only on use
        from kueuepy.simulation.recorded import table_writer  # noqa: PLC0415 - only on use

        write_files({path: table_writer(self.frame)})

    @property
    def plot(self) -> SweepPlots:
        """Methods that draw the sweep with matplotlib: `pareto`, `curve`, `heat` and `parallel`."""
        return SweepPlots(self)

    def __repr__(self) -> str:
        """Return the warnings, followed by the number of policies."""
        lines = [f"warning: {text}" for text in self.warnings]
        seeds = f" x {len(self.seeds)} seeds" if len(self.seeds) > 1 else ""
        lines.append(
            f"<Sweep: {counted(len(self.policies), 'policy')}{seeds}, {len(self.policies) - len(self.errors)} valid>"
        )
        return "\n".join(lines)

    def sheets(self) -> tuple[Sheet, ...]:
        """Return the warnings, and the first 20 policies with their values and the means of the main metrics."""
        said = (("Warning", self.warnings), ("Result", self._in_words()))
        about = [sheet for name, texts in said for sheet in listed(name, texts)]
        return (*about, self.sheet(self.means, MOST_ROWS))

    def sheet(self, means: Columns, most: int) -> Sheet:
        """Return the first policies of `means` or `pareto`, with their values and the means of the main metrics."""
        first = [name for name in self.figures if is_shown("sweep", name) or name.partition(" ")[0] not in FIGURES]
        first.sort(key=lambda name: "wait" not in name)  # waits first
        found = means.rows(most)
        # A metric that is equal for all policies does not help to choose one.
        shown = [name for name in first if len(found) < _FEWEST or len({_cell(name, row[name]) for row in found}) > 1]
        names = ["policy", *self._paths(), *shown, *(["error"] if self.errors else [])]
        rows = [[_cell(name, row[name]) for name in names] for row in found]
        note = ".means has all metrics"
        if len(shown) < len(first):
            note += ", including those that are equal for all policies"
        note = f"Means over seeds; {note}" if len(self.seeds) > 1 else note
        heads = {"policy": "Policy", "error": "Error"}
        return Sheet([heads.get(name) or titled(name) for name in names], rows, note, len(means))

    def _in_words(self) -> list[str]:
        """Return the policy with the shortest mean wait and its certainty, and the next step, as sentences."""
        if "wait_mean" not in self.figures or len(self.policies) - len(self.errors) < _FEWEST:
            return []
        means = np.asarray(self._means("wait_mean"), np.float64)
        first, second, *_ = np.argsort(means, kind="stable").tolist()  # NaN is last
        edits = ", ".join(f"{path.rpartition('.')[2]} {_text(value)}" for path, value in self.policies[first].items())
        best = f"Policy {first} ({edits}) has the shortest mean wait: {figure_text('wait_mean', float(means[first]))}. "
        best += f"Policy {second} is next with {figure_text('wait_mean', float(means[second]))}; "
        if len(self.seeds) == 1:
            sure = "each policy ran with one seed, so that it is not known how sure the difference is."
        else:
            found = self.difference(first, second, "wait_mean")
            sure = f"95% confidence interval of the difference {interval_text('wait_mean', found.low, found.high)}."
        step = f'Next step: kueuepy.dump(sweep.cluster({first}), "policy.yaml") writes this policy.'
        return [best + sure, step]

    def __str__(self) -> str:
        """Return the number of policies, and the first policies with the main metrics; `means` has all policies."""
        return f"{self!r}\n{repr_text(self.sheets()[len(self.warnings) > 0 :], self)}"


def _cell(name: str, value: Any) -> Any:
    """Return a table cell: a metric in readable units, any other value unchanged."""
    if isinstance(value, float) and metric_of(name):
        is_count = metric_of(name) in COUNTS and value.is_integer()
        return figure_text(name, int(value) if is_count else value)
    return "" if value is None else value


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(msgspec.to_builtins(value.item() if hasattr(value, "item") else value))


def _column(values: Sequence[Any]) -> Any:
    """Return an array if all values are numbers; otherwise, return the values as categorical text."""
    numbers = all(isinstance(value, int | float | np.number) and not isinstance(value, bool) for value in values)
    return np.array(values) if numbers else categorical([_text(value) for value in values])
