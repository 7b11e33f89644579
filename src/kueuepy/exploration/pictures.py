"""Plots of sweeps and plans with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from kueuepy.errors import InvalidSpecError, NotFoundError
from kueuepy.errors.arguments import checked_methods
from kueuepy.simulation.catalogue import unit_of
from kueuepy.simulation.pictures.plot import axes_of
from kueuepy.tables import Categorical

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from kueuepy.exploration.statistics import Estimate
    from kueuepy.tables import Columns


class Grid(Protocol):
    """The part of a `Sweep` that plots use."""

    @property
    def policies(self) -> Sequence[dict[str, Any]]:
        """The values by path of each policy."""

    @property
    def means(self) -> Columns:
        """One row per policy."""

    @property
    def errors(self) -> dict[int, str]:
        """The error of each policy that is not valid."""

    def named(self, figure: str) -> str:
        """Return the name of a metric's column."""

    def pareto(self, minimise: Sequence[str]) -> Columns:
        """Return the Pareto-optimal policies."""

    def interval(self, policy: int, figure: str) -> Estimate:
        """Return a mean and its confidence interval."""


@checked_methods
class SweepPlots:
    """The plots of a sweep. Each method draws on `ax` or, if `ax` is not given, on new Axes."""

    def __init__(self, grid: Grid) -> None:
        """Create the plots of a sweep."""
        self._grid = grid

    def pareto(self, x: str, y: str, colour: str | None = None, *, ax: Any = None) -> Any:
        """Draw a scatter plot of the policies by the means of two metrics, both to be minimised.

        A line connects the Pareto-optimal policies.

        Args:
            x: The metric on the horizontal axis.
            y: The metric on the vertical axis.
            colour: A metric or a path that determines the colour of the points. Default: one colour.
            ax: The matplotlib Axes to draw on. Default: new Axes.

        Returns:
            The Axes.

        Raises:
            NotFoundError: There is no such metric or path.
            UnsupportedError: matplotlib is not installed.
        """
        ax = axes_of(ax)
        means, names = self._grid.means, (self._grid.named(x), self._grid.named(y))
        front = self._grid.pareto(minimise=names)
        shade = None if colour is None else self._numbers(colour)
        points = ax.scatter(means[names[0]], means[names[1]], c=shade, alpha=0.8, label="policies")
        # A step line: between two policies of the front, only the one to the left is known to be attainable.
        right, up = front[names[0]], front[names[1]]
        ordered = np.lexsort((up, right))
        style = {"color": "#d55e00", "marker": "o", "fillstyle": "none"}
        ax.step(right[ordered], up[ordered], where="post", label="front", **style)
        for place, right, up in zip(front["policy"], front[names[0]], front[names[1]], strict=True):
            ax.annotate(str(place), (right, up), xytext=(4, 4), textcoords="offset points", fontsize=8)
        if colour is not None:
            ax.figure.colorbar(points, ax=ax, label=_labelled(colour))
        ax.set(xlabel=_labelled(names[0]), ylabel=_labelled(names[1]))
        ax.legend()
        return ax

    def curve(self, path: str, figure: str, *, ax: Any = None) -> Any:
        """Plot a metric against the values of a path.

        The line shows the mean over all policies with a value. The points show single policies with their 95%
        confidence intervals over the seeds.

        Args:
            path: The path.
            figure: The metric.
            ax: The matplotlib Axes to draw on. Default: new Axes.

        Returns:
            The Axes.

        Raises:
            NotFoundError: There is no such metric or path.
            UnsupportedError: matplotlib is not installed.
        """
        values = self._numbers(path)
        name = self._grid.named(figure)
        ax = axes_of(ax)
        known = [place for place in range(len(values)) if place not in self._grid.errors]
        found = [self._grid.interval(place, name) for place in known]
        ax.errorbar(
            values[known],
            [one.mean for one in found],
            yerr=[np.nan_to_num(one.high - one.mean) for one in found],
            fmt="o",
            alpha=0.6,
            label="a policy, 95 % by seeds",
        )
        there = np.unique(values[known])
        ax.plot(
            there, [np.mean([o.mean for o, v in zip(found, values[known], strict=True) if v == at]) for at in there]
        )
        ax.set(xlabel=path, ylabel=_labelled(name))
        self._ticks(ax, path)
        ax.legend()
        return ax

    def heat(self, right: str, up: str, figure: str, *, ax: Any = None) -> Any:
        """Plot a heat map of a metric against the values of two paths.

        Each tile shows the mean over all policies that have both values.

        Args:
            right: The path on the horizontal axis.
            up: The path on the vertical axis.
            figure: The metric.
            ax: The matplotlib Axes to draw on. Default: new Axes.

        Returns:
            The Axes.

        Raises:
            NotFoundError: There is no such metric or path.
            InvalidSpecError: Both paths are the same.
            UnsupportedError: matplotlib is not installed.
        """
        if right == up:
            raise InvalidSpecError(f'heat: "{right}" twice; give two paths')
        texts = [_labels(self._column(path)) for path in (right, up)]
        name = self._grid.named(figure)
        sides = [_ordered(labels) for labels in texts]
        ax = axes_of(ax)
        image = ax.imshow(_mean_by_cell(self._grid.means[name], texts, sides), origin="lower", aspect="auto")
        ax.set(xlabel=right, ylabel=up)
        ax.set_xticks(range(len(sides[0])), sides[0])
        ax.set_yticks(range(len(sides[1])), sides[1])
        ax.figure.colorbar(image, ax=ax, label=name)
        return ax

    def parallel(self, *figures: str, ax: Any = None) -> Any:
        """Plot each policy as a line through its values and metrics, each scaled from its minimum to its maximum.

        Args:
            figures: The metrics.
            ax: The matplotlib Axes to draw on. Default: new Axes.

        Returns:
            The Axes.

        Raises:
            NotFoundError: There is no such metric.
            InvalidSpecError: No metric is given.
            UnsupportedError: matplotlib is not installed.
        """
        if not figures:
            raise InvalidSpecError("parallel: no figure; give one at least")
        paths = list(dict.fromkeys(path for policy in self._grid.policies for path in policy))
        names = [*paths, *map(self._grid.named, figures)]
        columns = [self._numbers(name) for name in names]
        ax = axes_of(ax)
        scaled = np.array([_scaled(column) for column in columns])
        for place in range(len(self._grid.policies)):
            ax.plot(range(len(names)), scaled[:, place], alpha=0.5, color=_shade(scaled[-1, place]))
        from matplotlib.lines import Line2D  # noqa: PLC0415 - only on use

        words = [(0.0, "least"), (1.0, "largest")]
        last = _labelled(names[-1])
        keys = [Line2D([], [], color=_shade(part), label=f"policies with the {word} {last}") for part, word in words]
        ticks = [f"{_labelled(name)}\n{_range(self._column(name))}" for name in names]
        ax.set_xticks(range(len(names)), ticks, rotation=20, ha="right")
        ax.set_yticks([0, 1], ["least", "largest"])
        ax.legend(handles=keys)
        return ax

    def _column(self, name: str) -> Any:
        if name in {path for policy in self._grid.policies for path in policy}:
            return self._grid.means[name]
        try:
            return self._grid.means[self._grid.named(name)]
        except NotFoundError:
            raise NotFoundError(f'sweep: "{name}" is neither a path nor a figure of it') from None

    def _numbers(self, name: str) -> Any:
        """Return the values of a path or a metric as numbers; texts are numbered in sorted order."""
        column = self._column(name)
        if not isinstance(column, Categorical):
            return np.asarray(column, np.float64)
        labels = _labels(column)
        order = _ordered(labels)
        return np.array([order.index(label) for label in labels], np.float64)

    def _ticks(self, ax: Any, path: str) -> None:
        column = self._column(path)
        if isinstance(column, Categorical):
            order = _ordered(_labels(column))
            ax.set_xticks(range(len(order)), order)


def _labels(column: Any) -> list[str]:
    if isinstance(column, Categorical):
        return ["none" if column[row] is None else str(column[row]) for row in range(len(column))]
    return [f"{value:g}" for value in column]


def _ordered(labels: list[str]) -> list[str]:
    def number(label: str) -> tuple[int, float, str]:
        try:
            return (0, float(label), "")
        except ValueError:
            return (1, 0.0, label)

    return sorted(set(labels), key=number)


def _mean_by_cell(values: Any, labels: Sequence[Sequence[str]], sides: Sequence[Sequence[str]]) -> NDArray[Any]:
    """Return the mean of the values for each pair of labels; NaN for a pair without values."""
    found = np.full((len(sides[1]), len(sides[0])), np.nan)
    for row, high in enumerate(sides[1]):
        for column, wide in enumerate(sides[0]):
            own = [value for value, *pair in zip(values, *labels, strict=True) if pair == [wide, high]]
            if there := [value for value in own if not np.isnan(value)]:
                found[row, column] = np.mean(there)
    return found


def _range(column: Any) -> str:
    """Return the minimum and maximum of a column as text, or its texts."""
    if isinstance(column, Categorical):
        return ", ".join(map(str, column.names))
    return f"{np.nanmin(column):.4g} to {np.nanmax(column):.4g}"


def _scaled(values: Any) -> Any:
    low, high = np.nanmin(values), np.nanmax(values)
    return (values - low) / (high - low) if high > low else np.full(len(values), 0.5)


def _shade(part: float) -> tuple[float, float, float]:
    """Return a colour between blue (0, the smallest value) and orange (1, the largest value)."""
    part = 0.5 if np.isnan(part) else part
    return (0.84 * part, 0.45 * (1 - part) + 0.37 * part, 0.7 * (1 - part))


def plan_curve(curve: Columns, target: str, vary: str, *, ax: Any = None) -> Any:
    """Plot the values that a plan has tried, with confidence intervals, and the bound of its target.

    Args:
        curve: `Plan.curve`.
        target: The target.
        vary: The path of the field.
        ax: The matplotlib Axes to draw on. Default: new Axes.

    Returns:
        The Axes.

    Raises:
        UnsupportedError: matplotlib is not installed.
    """
    from kueuepy.exploration.measure import promise  # noqa: PLC0415 - only on use

    wanted = promise(target)
    ax = axes_of(ax)
    half = np.nan_to_num(curve["high"] - curve["mean"])
    ax.errorbar(curve["value"], curve["mean"], yerr=half, color="#777777", linewidth=1, zorder=1)
    for kept, colour, label in ((True, "#009e73", "kept"), (False, "#d55e00", "broken")):
        rows = curve["passed"] == kept
        ax.scatter(curve["value"][rows], curve["mean"][rows], color=colour, label=label, zorder=2)
    ax.axhline(wanted.value, linestyle="--", color="#0072b2", label=target)
    ax.set(xlabel=vary, ylabel=str(wanted.measure))
    ax.legend()
    return ax


def _labelled(name: str) -> str:
    """Return an axis label: the name of a metric with its unit, if it has one."""
    unit = {"span": "s", "hours": "h", "part": "fraction"}.get(unit_of(name.partition("(")[0]))
    return name if unit is None else f"{name} [{unit}]"
