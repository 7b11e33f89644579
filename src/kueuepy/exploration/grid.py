"""What came of a sweep: a row a run, and what the rows say."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from kueuepy.engine.cached import cached_property
from kueuepy.errors import InvalidSpecError, NotFoundError
from kueuepy.errors.arguments import checked_methods
from kueuepy.errors.guesses import guessed
from kueuepy.errors.words import counted
from kueuepy.exploration.measure import promises
from kueuepy.exploration.policy import applied
from kueuepy.exploration.runs import result_under
from kueuepy.exploration.statistics import Estimate, PairedDifference, estimate, paired
from kueuepy.notebook import Sheet, repr_html, repr_text
from kueuepy.simulation.catalogue import FIGURES, figure_text, shown
from kueuepy.simulation.model import Recording
from kueuepy.simulation.table import Jobs
from kueuepy.tables import Categorical, Columns
from kueuepy.tables.columns import categorical
from kueuepy.tables.framed import Framed

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from kueuepy.cluster import Cluster
    from kueuepy.exploration.measure import Measure, Promise
    from kueuepy.exploration.pictures import SweepPlots
    from kueuepy.exploration.policy import Setup
    from kueuepy.exploration.runs import Row
    from kueuepy.simulation.result import Result


ALIKE = (
    "all seeds give the same: nothing is drawn; give jobs as a function of the seed, as "
    "lambda seed: jobs.shuffle_days(seed)"
)
"""The warning that several seeds say no more than one."""
_MANY = 10
"""The best of this many policies on one seed is worth a warning."""
_SHOWN = 201  # one more than a notebook shows


class SelectedPolicy(msgspec.Struct, frozen=True):
    """A policy that was chosen.

    Attributes:
        policy: Its place among the policies.
        edits: Its values by path.
        figures: The mean of each figure over its seeds.
    """

    policy: int
    edits: dict[str, Any]
    figures: dict[str, float]


@guessed(tried="frame", table="frame")
@checked_methods
class Sweep(Framed):
    """What came of many policies; a value.

    Attributes:
        setup: What all runs have in common.
        policies: The values by path of each.
        seeds: The seeds with which each was run.
        rows: By policy and seed, what came of it.
    """

    def __init__(
        self, setup: Setup, policies: Sequence[dict[str, Any]], seeds: Sequence[int], rows: Sequence[Row]
    ) -> None:
        """Holds what was run: rows by policy, of each by seed."""
        self.setup = setup
        self.policies: tuple[dict[str, Any], ...] = tuple(policies)
        self.seeds = tuple(seeds)
        self.rows = tuple(rows)

    def __len__(self) -> int:
        """How many runs there are."""
        return len(self.rows)

    @cached_property
    def figures(self) -> tuple[str, ...]:
        """The names of the figures, those of a resource one by one."""
        return tuple(dict.fromkeys(name for row in self.rows for name in row["figures"]))

    @cached_property
    def frame(self) -> Columns:
        """A row a run: `policy`, `seed`, the edited paths, every figure, `wall_s` and `error`.

        A figure that a run has not is NaN. Paths whose values are not all numbers are texts, lists as JSON.
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
        """A figure by policy and seed; NaN where there is none."""
        name = self.named(figure)
        values = [row["figures"].get(name, math.nan) for row in self.rows]
        return np.array(values, np.float64).reshape(len(self.policies), len(self.seeds))

    def named(self, figure: str) -> str:
        """The name of a column; that of a figure by resource is its own where there is only one resource."""
        if figure in self.figures:
            return figure
        parts = [name for name in self.figures if name.startswith(f"{figure} ")]
        if len(parts) != 1:
            known = parts or self.figures
            raise NotFoundError(
                f'sweep: "{figure}" is no figure of it; there are {", ".join(known)}'
                + ("" if parts else "; others are asked for with figures=[...]")
            )
        return parts[0]

    @property
    def errors(self) -> dict[int, str]:
        """Of the policies that are not valid, what is wrong."""
        n = len(self.seeds)
        return {i // n: row["error"] for i, row in enumerate(self.rows) if row["error"] is not None}

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to know before one trusts a figure."""
        found = []
        if len(self.seeds) > 1 and not self.is_drawn:
            found.append(ALIKE)
        if len(self.policies) >= _MANY and len(self.seeds) == 1:
            found.append(
                f"the best of {len(self.policies)} policies on one seed is partly lucky: compare the first few again "
                "with other seeds"
            )
        if self.errors:
            place, text = next(iter(self.errors.items()))
            found.append(f"{len(self.errors)} of {len(self.policies)} policies are not valid; policy {place}: {text}")
        return tuple(found)

    @property
    def is_drawn(self) -> bool:
        """Whether anything differs from seed to seed: jobs of a function, thinned jobs, or random delays."""
        thinned = any("jobs:thin" in policy for policy in self.policies)
        return thinned or not isinstance(self.setup.jobs, Jobs) or bool(self.setup.settings.delays)

    def to_table(self) -> Columns:
        """Return `frame`: a row for each run."""
        return self.frame

    # What it says.

    @cached_property
    def means(self) -> Columns:
        """A row a policy: its values by path, and the mean of each figure over its seeds."""
        return Columns(
            {
                "policy": np.arange(len(self.policies)),
                **self._paths(),
                **{name: self._means(name) for name in self.figures},
                "error": categorical([self.errors.get(place) for place in range(len(self.policies))]),
            }
        )

    def _means(self, figure: str) -> NDArray[np.float64]:
        return np.array([estimate(row).mean for row in self._values(figure)])

    def interval(self, policy: int, figure: str) -> Estimate:
        """The mean of a figure under a policy over its seeds, and its 95 % interval by Student's t."""
        return estimate(self._values(figure)[self._place(policy)], drawn=self.is_drawn)

    def difference(self, a: int, b: int, figure: str) -> PairedDifference:
        """How much larger a figure is under policy b than under policy a, seed by seed.

        Both saw the same jobs and draws for the same seed, so that what varies from seed to seed alone drops out.

        Raises:
            NotFoundError: There is no such policy or figure.
        """
        values = self._values(figure)
        return paired(values[self._place(a)], values[self._place(b)])

    def _place(self, policy: int) -> int:
        if not 0 <= policy < len(self.policies):
            raise NotFoundError(f"sweep: {policy} names no policy; there are {len(self.policies)}, counted from 0")
        return policy

    def pareto(self, minimise: str | Sequence[str] = (), maximise: str | Sequence[str] = ()) -> Columns:
        """The policies that no other beats in one of the figures without being worse in another; as `means`.

        They are sorted by the first figure. Of equal ones all are there; those without a figure are not.

        Raises:
            NotFoundError: There is no such figure.
            InvalidSpecError: No figure is given.
        """
        down, up = ([names] if isinstance(names, str) else list(names) for names in (minimise, maximise))
        if not down and not up:
            raise InvalidSpecError("pareto: give the figures to minimise or maximise")
        costs = np.column_stack([*(self._means(name) for name in down), *(-self._means(name) for name in up)])
        there = np.flatnonzero(~np.isnan(costs).any(axis=1))
        front: list[int] = [
            i
            for i in there.tolist()
            if not ((costs[there] <= costs[i]).all(axis=1) & (costs[there] < costs[i]).any(axis=1)).any()
        ]
        return _taken(self.means, sorted(front, key=lambda i: (*costs[i], i)))

    def best(self, figure: str, where: str | None = None, *, largest: bool = False) -> SelectedPolicy | None:
        """The policy with the least mean of a figure, or the largest; of equal ones the first. `None`: there is none.

        Args:
            figure: The figure.
            where: What must hold of its means, such as `evictions <= 200 and jain > 0.8`.
            largest: Whether the largest is best.

        Raises:
            NotFoundError: There is no such figure.
            InvalidSpecError: `where` is no condition.
        """
        values = self._means(figure) * (-1 if largest else 1)
        allowed = ~np.isnan(values)
        for condition in promises(where) if where else ():
            allowed &= self._kept(condition)
        if not allowed.any():
            return None
        return self._chosen(int(np.where(allowed, values, np.inf).argmin()))

    def _kept(self, condition: Promise) -> NDArray[np.bool_]:
        means = self._means(self._column_of(condition.measure))
        return np.array([condition.holds(value) for value in means.tolist()])

    def _column_of(self, asked: Measure) -> str:
        """The column of a figure, which a resource of it may be named by as well."""
        by_cell = f"{asked.figure} {asked.group[0]}" if len(asked.group) == 1 and not asked.conditions else ""
        return by_cell if by_cell in self.figures else str(asked)

    def _chosen(self, place: int) -> SelectedPolicy:
        figures = {name: float(self._means(name)[place]) for name in self.figures}
        return SelectedPolicy(place, self.policies[place], figures)

    def effects(self, figure: str) -> Columns:
        """What each value of each path does alone: the mean of a figure over all policies that have it."""
        means = self._means(figure)
        found: dict[str, list[Any]] = {"path": [], "value": [], figure: [], "policies": []}
        for path in dict.fromkeys(path for policy in self.policies for path in policy):
            places: dict[str, list[int]] = {}
            for place, policy in enumerate(self.policies):
                if path in policy and not math.isnan(means[place]):
                    places.setdefault(_text(policy[path]) or "none", []).append(place)
            for value, among in places.items():
                for name, cell in zip(found, (path, value, float(means[among].mean()), len(among)), strict=True):
                    found[name].append(cell)
        texts = {name: categorical(found[name]) for name in ("path", "value")}
        return Columns({**texts, figure: np.array(found[figure]), "policies": np.array(found["policies"], np.int64)})

    # Going back.

    def cluster(self, policy: int) -> Cluster:
        """The cluster under a policy, to be written with `kueuepy.dump`."""
        return applied(self.setup, self.policies[self._place(policy)]).cluster

    def result(self, row: int, *, record: Recording | None = None) -> Result:
        """What came of a row, run again with all tables.

        Args:
            row: The row of the frame.
            record: What is kept; by default all.

        Raises:
            NotFoundError: There is no such row.
            KueueError: The policy is not valid.
        """
        if not 0 <= row < len(self.rows):
            raise NotFoundError(f"sweep: {row} names no row; there are {len(self.rows)}, counted from 0")
        policy, seed = divmod(row, len(self.seeds))
        return result_under(self.setup, self.policies[policy], self.seeds[seed], record or Recording())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the frame as Parquet.

        Raises:
            UnsupportedError: pyarrow is not installed.
        """
        from pathlib import Path  # noqa: PLC0415 - only on use

        from kueuepy.simulation.arrow import write_table  # noqa: PLC0415 - only on use

        write_table(self.frame, Path(path))

    @property
    def plot(self) -> SweepPlots:
        """Pictures as Axes of matplotlib: `pareto`, `curve`, `heat`, `parallel`."""
        from kueuepy.exploration.pictures import SweepPlots  # noqa: PLC0415 - only on use

        return SweepPlots(self)

    def __repr__(self) -> str:
        """Warnings first, then how many policies there are."""
        lines = [f"warning: {text}" for text in self.warnings]
        seeds = f" x {len(self.seeds)} seeds" if len(self.seeds) > 1 else ""
        lines.append(
            f"<Sweep: {counted(len(self.policies), 'policy')}{seeds}, {len(self.policies) - len(self.errors)} valid>"
        )
        return "\n".join(lines)

    def sheets(self) -> tuple[Sheet, ...]:
        """Warnings first, then the first policies: their values, and the means of the figures to look at first."""
        warned = [Sheet(("to know before",), [(text,) for text in self.warnings])] if self.warnings else []
        first = [
            name
            for name in self.figures
            if name.partition(" ")[0] in shown("policies") or name.partition(" ")[0] not in FIGURES
        ]
        first.sort(key=lambda name: "wait" not in name)  # waits first
        names = ["policy", *self._paths(), *first, *(["error"] if self.errors else [])]
        rows = [[_cell(name, row[name]) for name in names] for row in self.means.rows(_SHOWN)]
        note = "means over seeds; .means has all figures" if len(self.seeds) > 1 else ".means has all figures"
        return (*warned, Sheet(names, rows, note))

    def __str__(self) -> str:
        """The number of policies, and the first ones with the figures that a notebook shows; `means` has all."""
        *_, sheet = self.sheets()
        return f"{self!r}\n{repr_text([sheet])}"

    _repr_html_ = repr_html


def _cell(name: str, value: Any) -> Any:
    """Return a cell of a sheet: a figure in readable units, anything else as it is."""
    figure = name.partition("(")[0].partition("[")[0]
    if isinstance(value, float) and (figure.partition(" ")[0] in FIGURES or figure != name):
        return figure_text("wait_p95" if "wait_p" in figure else figure, value)  # any percentile of waits is a time
    return "" if value is None else value


def _text(value: Any) -> str | None:
    """A value of a path as a table shows it."""
    if value is None or isinstance(value, str):
        return value
    return json.dumps(msgspec.to_builtins(value.item() if hasattr(value, "item") else value))


def _column(values: Sequence[Any]) -> Any:
    """Numbers as they are, all else as texts."""
    numbers = all(isinstance(value, int | float | np.number) and not isinstance(value, bool) for value in values)
    return np.array(values) if numbers else categorical([_text(value) for value in values])


def _taken(table: Columns, rows: Sequence[int]) -> Columns:
    """These rows of a table."""
    chosen = np.array(rows, np.int64)
    return Columns(
        {
            name: Categorical(column.codes[chosen], column.names) if isinstance(column, Categorical) else column[chosen]
            for name, column in ((name, table[name]) for name in table.names)
        }
    )
