"""Plots of sweeps and plans with matplotlib."""

from __future__ import annotations

import math
import textwrap
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from kueuepy.errors import InvalidSpecError, NotFoundError
from kueuepy.errors.arguments import checked_methods
from kueuepy.look.colours import colour_of, contrast
from kueuepy.look.escapes import plain
from kueuepy.look.numbers import duration
from kueuepy.simulation.catalogue import COUNTS, figure_text, metric_of, unit_of
from kueuepy.simulation.labels import label_of
from kueuepy.simulation.pictures.plot import add_legend, axes_of, is_dark, is_narrow, set_title, theme_of
from kueuepy.tables import Categorical

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from kueuepy.lab.exploration.statistics import Estimate
    from kueuepy.tables import Columns


_MOST_TICKS, _MOST_TILES = 6, 144
_TILE = 6
"""The number of characters in a line of a tile on narrow Axes."""
_LABEL, _LONG = 36, 100
"""The number of characters in a line of an axis label, and of a title."""
_TIME_STEPS = (
    *(0.001, 0.01, 0.1, 1, 2, 5, 10, 15, 30),
    *(60 * count for count in (1, 2, 5, 10, 15, 30)),
    *(3600 * count for count in (1, 2, 3, 6, 12)),
    *(86400 * count for count in (1, 2, 5, 10)),
)


class _Grid(Protocol):
    """The methods and attributes of a `Sweep` that plots use."""

    @property
    def policies(self) -> Sequence[dict[str, Any]]: ...
    @property
    def means(self) -> Columns: ...
    @property
    def errors(self) -> dict[int, str]: ...
    def named(self, figure: str) -> str: ...
    def pareto(self, minimise: Sequence[str]) -> Columns: ...
    def interval(self, policy: int, figure: str) -> Estimate: ...


@checked_methods
class SweepPlots:
    """The plots of a sweep. Each method draws on `ax` or, if `ax` is not given, on new Axes."""

    def __init__(self, grid: _Grid) -> None:
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
            NotFoundError: The metric or the path does not exist.
            UnsupportedError: matplotlib is not installed.
        """
        ax = axes_of(ax)
        means, names = self._grid.means, (self._grid.named(x), self._grid.named(y))
        front = self._grid.pareto(minimise=names)
        shade = None if colour is None else self._numbers(colour)
        dark = is_dark(ax)
        own = {"color": colour_of(0, dark=dark)} if shade is None else {"c": shade, "cmap": "cividis"}
        points = ax.scatter(
            means[names[0]], means[names[1]], edgecolors=theme_of(ax).ink, linewidths=0.6, label="policies", **own
        )
        # A step line: between two policies of the front, only the one to the left is known to be attainable.
        right, up = front[names[0]], front[names[1]]
        ordered = np.lexsort((up, right))
        style = {"color": colour_of(1, dark=dark), "marker": "o", "fillstyle": "none", "markersize": 9}
        ax.step(right[ordered], up[ordered], where="post", label="no policy is better in both", **style)
        for place, right, up in zip(front["policy"], front[names[0]], front[names[1]], strict=True):
            ax.annotate(str(place), (right, up), xytext=(4, 4), textcoords="offset points", fontsize="small")
        if colour is not None:
            bar = ax.figure.colorbar(points, ax=ax).ax.yaxis
            _name_axis(bar, colour)
            self._mark_values(bar, colour)
        _name_axis(ax.xaxis, names[0])
        _name_axis(ax.yaxis, names[1])
        set_title(ax, "Policies by two metrics; lower left is best")
        add_legend(ax)
        return ax

    def curve(self, path: str, figure: str, *, ax: Any = None) -> Any:
        """Plot a metric against the values of a path.

        The line shows, for each value, the mean over all policies with that value. The points show single policies with
        their 95% confidence intervals over the seeds.

        Args:
            path: The path.
            figure: The metric.
            ax: The matplotlib Axes to draw on. Default: new Axes.

        Returns:
            The Axes.

        Raises:
            NotFoundError: The metric or the path does not exist.
            UnsupportedError: matplotlib is not installed.
        """
        values = self._numbers(path)
        name = self._grid.named(figure)
        ax = axes_of(ax)
        dark = is_dark(ax)
        known = [place for place in range(len(values)) if place not in self._grid.errors]
        found = [self._grid.interval(place, name) for place in known]
        has_intervals = any(one.high > one.mean for one in found)
        ax.errorbar(
            values[known],
            [one.mean for one in found],
            yerr=[np.nan_to_num(one.high - one.mean) for one in found],
            fmt="o",
            alpha=0.7,
            color=colour_of(0, dark=dark),
            label="one policy, with its 95% confidence interval" if has_intervals else "one policy",
        )
        there = np.unique(values[known])
        ax.plot(
            there,
            [np.mean([o.mean for o, v in zip(found, values[known], strict=True) if v == at]) for at in there],
            color=colour_of(1, dark=dark),
            label="mean of the policies with this value",
        )
        ax.set_xlabel(_lines(path))
        _name_axis(ax.yaxis, name)
        self._ticks(ax, path)
        set_title(ax, f"{label_of(name)} by the value of a field")
        add_legend(ax)
        return ax

    def heat(self, right: str, up: str, figure: str, *, ax: Any = None) -> Any:
        """Plot a heat map of a metric against the values of two paths.

        Each tile shows the mean over all policies that combine the two values of the tile.

        Args:
            right: The path on the horizontal axis.
            up: The path on the vertical axis.
            figure: The metric.
            ax: The matplotlib Axes to draw on. Default: new Axes.

        Returns:
            The Axes.

        Raises:
            NotFoundError: The metric or the path does not exist.
            InvalidSpecError: Both paths are the same.
            UnsupportedError: matplotlib is not installed.
        """
        if right == up:
            raise InvalidSpecError(f'heat: "{right}" twice; give two paths')
        texts = [_labels(self._column(path)) for path in (right, up)]
        name = self._grid.named(figure)
        sides = [_ordered(labels) for labels in texts]
        ax = axes_of(ax)
        tiles = _mean_by_cell(self._grid.means[name], texts, sides)
        image = ax.imshow(tiles, origin="lower", aspect="auto", cmap="cividis")
        _write_values(ax, image, tiles, name)
        ax.set(xlabel=_lines(right), ylabel=_lines(up))
        ax.set_xticks(range(len(sides[0])), sides[0])
        ax.set_yticks(range(len(sides[1])), sides[1])
        _name_axis(ax.figure.colorbar(image, ax=ax).ax.yaxis, name)
        set_title(ax, f"{label_of(name)} by the values of two fields")
        return ax

    def parallel(self, *figures: str, ax: Any = None) -> Any:
        """Plot each policy as a line through its values and metrics, each scaled from its minimum to its maximum.

        Args:
            figures: The metrics.
            ax: The matplotlib Axes to draw on. Default: new Axes.

        Returns:
            The Axes.

        Raises:
            NotFoundError: The metric does not exist.
            InvalidSpecError: No metric is given.
            UnsupportedError: matplotlib is not installed.
        """
        if not figures:
            raise InvalidSpecError("parallel: no figure; give one at least")
        paths = list(dict.fromkeys(path for policy in self._grid.policies for path in policy))
        names = [*paths, *map(self._grid.named, figures)]
        columns = [self._numbers(name) for name in names]
        ax, last = axes_of(ax), names[-1]
        narrow = is_narrow(ax)  # then the names are below each other
        scaled = np.array([_scaled(column) for column in columns])
        for place in range(len(self._grid.policies)):
            ends_of = (range(len(names)), scaled[:, place])
            ax.plot(*(ends_of[::-1] if narrow else ends_of), alpha=0.7, color=_shade(scaled[-1, place]))
        from matplotlib.lines import Line2D  # noqa: PLC0415 - only on use

        ends = zip((0.0, 1.0), ("lowest", "highest"), _ends(last, self._column(last)), strict=True)
        keys = [Line2D([], [], color=_shade(part), label=f"{word} value: {text}") for part, word, text in ends]
        ticks = [f"{_in_words(name)}\n{' to '.join(_ends(name, self._column(name)))}" for name in names]
        names_axis, values_axis = (ax.yaxis, ax.xaxis) if narrow else (ax.xaxis, ax.yaxis)
        names_axis.set_ticks(range(len(names)), ticks, fontsize="small")
        names_axis.set_inverted(narrow)
        values_axis.set_ticks([0, 1], ["lowest", "highest"])
        title = textwrap.fill(plain(f"One line per policy, coloured by: {label_of(last)}"), _LABEL if narrow else _LONG)
        legend = ax.figure.legend if narrow else partial(ax.legend, bbox_to_anchor=(0, 1.01))
        where = "outside upper left" if narrow else "lower left"
        legend(handles=keys, loc=where, frameon=False, title=title, alignment="left")
        return ax

    def _column(self, name: str) -> Any:
        if name in {path for policy in self._grid.policies for path in policy}:
            return self._grid.means[name]
        try:
            return self._grid.means[self._grid.named(name)]
        except NotFoundError:
            raise NotFoundError(f'sweep: "{name}" is neither a path nor a figure of it') from None

    def _numbers(self, name: str) -> Any:
        """Return the values of a path or a metric as numbers; strings are numbered in sorted order."""
        column = self._column(name)
        if not isinstance(column, Categorical):
            return np.asarray(column, np.float64)
        labels = _labels(column)
        order = _ordered(labels)
        return np.array([order.index(label) for label in labels], np.float64)

    def _mark_values(self, axis: Any, path: str) -> None:
        """Label the values of a path on an axis, if there are few: no policy has a value between them."""
        column = self._column(path)
        values = np.unique(self._numbers(path))
        if len(values) <= _MOST_TICKS and not metric_of(path):
            axis.set_ticks(values, _ordered(_labels(column)))

    def _ticks(self, ax: Any, path: str) -> None:
        column = self._column(path)
        if isinstance(column, Categorical):
            order = _ordered(_labels(column))
            ax.set_xticks(range(len(order)), order)


def _labels(column: Any) -> list[str]:
    if isinstance(column, Categorical):
        return ["none" if column[row] is None else plain(str(column[row])) for row in range(len(column))]
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


def _ends(name: str, column: Any) -> tuple[str, str]:
    """Return the minimum and maximum of a column as text with units."""
    if isinstance(column, Categorical):
        ordered = _ordered(_labels(column))
        return ordered[0], ordered[-1]
    low, high = float(np.nanmin(column)), float(np.nanmax(column))
    if metric_of(name) in COUNTS and low.is_integer() and high.is_integer():
        low, high = int(low), int(high)
    return figure_text(name, low), figure_text(name, high)


def _scaled(values: Any) -> Any:
    low, high = np.nanmin(values), np.nanmax(values)
    return (values - low) / (high - low) if high > low else np.full(len(values), 0.5)


def _shade(part: float) -> tuple[float, float, float]:
    """Return a colour between blue (0, the lowest value) and orange (1, the highest value)."""
    part = 0.5 if np.isnan(part) else part
    return (0.84 * part + 0.25 * (1 - part), 0.55 * (1 - part) + 0.37 * part, 0.85 * (1 - part))


def _write_values(ax: Any, image: Any, tiles: Any, name: str) -> None:
    """Write each tile's value on the tile, if there are only a few tiles."""
    if tiles.size > _MOST_TILES:
        return
    from matplotlib.colors import to_hex  # noqa: PLC0415 - only on use

    for (row, column), value in np.ndenumerate(tiles):
        if not np.isnan(value):
            tile = to_hex(image.to_rgba(value))
            ink = "#ffffff" if contrast("#ffffff", tile) > contrast("#000000", tile) else "#000000"
            text = figure_text(name, value)
            text = textwrap.fill(text, _TILE) if is_narrow(ax) else text
            ax.text(column, row, text, ha="center", va="center", color=ink, fontsize="small")


def plan_curve(curve: Columns, target: str, vary: str, *, ax: Any = None) -> Any:
    """Plot the values that a plan has tried, with confidence intervals, and the bound of its target.

    Args:
        curve: `Plan.curve`.
        target: The target.
        vary: The path of the field to vary.
        ax: The matplotlib Axes to draw on. Default: new Axes.

    Returns:
        The Axes.

    Raises:
        UnsupportedError: matplotlib is not installed.
    """
    from kueuepy.lab.exploration.measure import promise  # noqa: PLC0415 - only on use

    wanted = promise(target)
    ax = axes_of(ax)
    ends = [np.nan_to_num(curve["mean"] - curve["low"]), np.nan_to_num(curve["high"] - curve["mean"])]
    theme, figure = theme_of(ax), str(wanted.measure)
    ax.errorbar(curve["value"], curve["mean"], yerr=ends, color=theme.others, linewidth=1, zorder=1)
    looks = ((True, theme.good, "o", "target met"), (False, theme.bad, "X", "target missed"))
    for kept, colour, marker, label in looks:
        rows = curve["passed"] == kept
        ax.scatter(curve["value"][rows], curve["mean"][rows], color=colour, marker=marker, label=label, zorder=2)
    ax.axhline(wanted.value, linestyle="--", color=theme.ink, label=plain(target))
    ax.set_xlabel(_lines(vary))
    _name_axis(ax.yaxis, figure)
    set_title(ax, "Values of a field, and whether they meet a target")
    add_legend(ax)
    return ax


def _lines(path: str) -> str:
    """Break a path such as `ClusterQueue/team:quota[h100/cpu].nominalQuota` into lines."""
    return plain(path.replace(":", ":\n", 1).replace("].", "]\n.", 1))


def _in_words(name: str) -> str:
    """Return the label of an axis: a metric in words, or a path broken into lines."""
    return plain(textwrap.fill(label_of(name), _LABEL)) if metric_of(name) else _lines(name)


def _time_step(wanted: float) -> float:
    """Return the smallest step for ticks of a time axis that is at least as long as `wanted`, in seconds."""
    return next((step for step in _TIME_STEPS if step >= wanted), math.ceil(wanted / 864000) * 864000.0)


def _name_axis(axis: Any, name: str) -> None:
    """Label an axis with the name of a metric and its unit; times have labels such as `1 h 30 min`."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator, MultipleLocator  # noqa: PLC0415 - only on use

    unit = unit_of(name)
    if unit == "span":
        low, high = axis.axes.get_xlim() if axis.axis_name == "x" else axis.axes.get_ylim()
        axis.set_major_locator(MultipleLocator(_time_step((high - low) / _MOST_TICKS)))
        axis.set_major_formatter(FuncFormatter(lambda value, _: duration(value)))
    elif unit == "part":
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.3g}" if value == 0 else f"{value:.0%}"))
    else:
        axis.set_major_locator(MaxNLocator("auto", integer=metric_of(name) in COUNTS, steps=[1, 2, 5, 10]))
    axis.set_label_text(f"{_in_words(name)} (h)" if unit == "hours" else _in_words(name))
