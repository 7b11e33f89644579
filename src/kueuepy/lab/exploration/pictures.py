"""Plots of sweeps and plans with matplotlib."""

import textwrap
from collections.abc import Sequence
from typing import Any, Literal, Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

from kueuepy.errors import InvalidSpecError, NotFoundError, checked_methods
from kueuepy.lab.exploration.statistics import Estimate
from kueuepy.look.chart import Axis, Chart, Colour, Key, Label, Line, Mark, depth_of, ends_of, names_axis, tiles
from kueuepy.look.plot import draw
from kueuepy.simulation.catalogue import COUNTS, figure_text, label_of, metric_of, unit_of
from kueuepy.simulation.pages.words import QUOTA
from kueuepy.simulation.pictures.catalogue import amounts_of
from kueuepy.tables import Categorical, Columns

# More entries do not fit beside a chart, and more texts not into its tiles.
_MOST_KEYS, _MOST_TILES = 6, 144
# The number of characters in a line of the name of a metric on an axis.
_LABEL = 36


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
        self._paths = list(dict.fromkeys(path for policy in grid.policies for path in policy))

    def __call__(self, figure: str = "wait_mean", *, ax: Any = None) -> Any:
        """Plot a metric against the paths: a curve for one path, a heat map for two, or else parallel coordinates.

        Args:
            figure: The metric.
            ax: The matplotlib Axes to draw on. Default: new Axes.

        Returns:
            The Axes.

        Raises:
            NotFoundError: The metric does not exist.
            UnsupportedError: matplotlib is not installed.
        """
        methods: dict[int, Any] = {1: self.curve, 2: self.heat}
        method = methods.get(len(self._paths))
        return method(*self._paths, figure, ax=ax) if method else self.parallel(figure, ax=ax)

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
        means, names = self._grid.means, (self._grid.named(x), self._grid.named(y))
        front = self._grid.pareto(minimise=names)
        shades = np.zeros(0) if colour is None else _scaled(self._values(colour).numbers)
        right, up = front[names[0]], front[names[1]]
        ordered = np.lexsort((up, right))
        # A step line: between two policies of the front, only the one to the left is known to be attainable.
        steps = np.repeat(right[ordered], 2)[1:], np.repeat(up[ordered], 2)[:-1]
        marks: list[Mark] = [Line(*steps, 1), *_dots(means[names[0]], means[names[1]], shades)]
        for position, across, above in zip(front["policy"], right, up, strict=True):
            marks.append(Label(float(across), float(above), str(position), 12, shift=(6, -6)))
        keys = [Key("no policy is better in both", 1, "line")]
        keys += [Key("policies", 0, "dot")] if colour is None else self._values(colour).keys("dot")
        x_axis, y_axis = (_axis(name, means[name]) for name in names)
        return draw(Chart("Policies by two metrics; lower left is best", x_axis, y_axis, tuple(marks), tuple(keys)), ax)

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
        field = self._values(path)
        values, name = field.numbers, self._grid.named(figure)
        known = [position for position in range(len(values)) if position not in self._grid.errors]
        found = [self._grid.interval(position, name) for position in known]
        has_intervals = any(one.high > one.mean for one in found)
        there, means = np.unique(values[known]), np.array([one.mean for one in found])
        reach = np.nan_to_num(np.array([one.high for one in found]) - means)
        mean_of = np.array([means[values[known] == at].mean() for at in there])
        marks = [*_bars(values[known], means - reach, means + reach, 0), *_dots(values[known], means, np.zeros(0))]
        marks.append(Line(there, mean_of, 1))
        keys = (
            Key("one policy, with its 95% confidence interval" if has_intervals else "one policy", 0, "dot"),
            Key("mean of the policies with this value", 1, "line"),
        )
        axes = field.axis(there), _axis(name, np.append(means - reach, means + reach))
        return draw(Chart(f"{label_of(name)} by the value of a field", *axes, tuple(marks), keys), ax)

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
        fields = [self._values(path) for path in (right, up)]
        name = self._grid.named(figure)
        means = _mean_by_pair(self._grid.means[name], *fields)
        values = [figure_text(name, value) if value == value else "" for value in means.flat]  # noqa: PLR0124 - not NaN
        shown = values if means.size <= _MOST_TILES else [""] * means.size
        across, above = (names_axis(_in_words(field.name), field.order) for field in fields)
        low, high = _Values(name, means.ravel()).ends
        keys = tuple(
            Key(f"{word} value: {text}", "heat", opacity=depth_of(part))
            for part, word, text in ((0.0, "lowest", low), (1.0, "highest", high))
        )
        title = f"{label_of(name)} by the values of two fields"
        return draw(Chart(title, across, above, tiles(_scaled(means), shown, values), keys), ax)

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
        columns = [self._values(name) for name in (*self._paths, *map(self._grid.named, figures))]
        scaled = np.array([_scaled(column.numbers) for column in columns])
        rows = np.arange(len(columns))
        # The names are below each other, because most of them are too long to be beside each other.
        marks = tuple(Line(values, rows, _shade(values[-1])) for values in scaled.T)
        texts = [f"{_in_words(column.name)}\n{' to '.join(column.ends)}" for column in columns]
        down = Axis("", (len(columns) - 0.7, -0.3), ticks=tuple(enumerate(texts)), names=True)
        across = Axis("", (-0.02, 1.02), ticks=((0.0, "lowest"), (1.0, "highest")))
        title = f"One line per policy, coloured by: {label_of(columns[-1].name)}"
        return draw(Chart(title, across, down, marks, tuple(columns[-1].keys("line"))), ax)

    def _values(self, name: str) -> "_Values":
        """Return the values of a path or a metric, one for each policy."""
        if name in self._paths:
            return _Values(name, self._grid.means[name])
        try:
            return _Values(name, self._grid.means[self._grid.named(name)])
        except NotFoundError:
            raise NotFoundError(f'sweep: "{name}" is neither a path nor a figure of it') from None


class _Values:
    """The values of a path or a metric as numbers and labels; strings are numbered in sorted order."""

    def __init__(self, name: str, column: Any) -> None:
        self.name, self.is_text = name, isinstance(column, Categorical)
        # Rows of a Categorical are texts or None; other columns are numbers.
        each = [column[row] for row in range(len(column))] if self.is_text else [f"{value:g}" for value in column]
        self.labels = ["none" if label is None else str(label) for label in each]
        self.order = sorted(set(self.labels), key=_number_first)
        self.numbers = np.array([self.order.index(label) for label in self.labels] if self.is_text else column, float)

    @property
    def ends(self) -> tuple[str, str]:
        """The minimum and maximum as text with units."""
        if self.is_text:
            return self.order[0], self.order[-1]
        low, high = float(np.nanmin(self.numbers)), float(np.nanmax(self.numbers))
        if metric_of(self.name) in COUNTS and low.is_integer() and high.is_integer():
            low, high = int(low), int(high)
        return figure_text(self.name, low), figure_text(self.name, high)

    def keys(self, look: Literal["dot", "line"]) -> list[Key]:
        """Return the legend by colour: each value if there are few, otherwise the ends."""
        values = np.unique(self.numbers)
        if len(values) <= _MOST_KEYS and not metric_of(self.name):
            texts = [f"{self.name.rpartition('.')[2]}: {text}" for text in self.order]
            return [Key(text, _shade(part), look) for text, part in zip(texts, _scaled(values), strict=False)]
        low, high = self.ends
        return [Key(f"lowest value: {low}", _shade(0.0), look), Key(f"highest value: {high}", _shade(1.0), look)]

    def axis(self, values: Any) -> Axis:
        """Return the axis of a path; strings are names."""
        axis = Axis(_in_words(self.name), ends_of(values))
        return msgspec.structs.replace(axis, ticks=tuple(enumerate(self.order)), names=True) if self.is_text else axis


def _dots(x: Any, y: Any, shades: Any) -> list[Line]:
    """Return points in one colour, or each in the colour of its shade."""
    if not len(shades):
        return [Line(x, y, 0, dots="o", joined=False)]
    return [Line(x[[n]], y[[n]], _shade(part), dots="o", joined=False) for n, part in enumerate(shades)]


def _bars(x: Any, low: Any, high: Any, colour: Colour) -> list[Line]:
    """Return the lines of confidence intervals."""
    return [Line(np.full(2, at), np.array(ends), colour, width=1.2) for at, *ends in zip(x, low, high, strict=True)]


def _number_first(label: str) -> tuple[int, float, str]:
    """Return a sort key of a label: numbers by value, then texts."""
    try:
        return (0, float(label), "")
    except ValueError:
        return (1, 0.0, label)


def _mean_by_pair(values: Any, across: _Values, above: _Values) -> NDArray[Any]:
    """Return the mean of the values for each pair of labels; NaN for a pair without values."""
    found = np.full((len(above.order), len(across.order)), np.nan)
    for row, high in enumerate(above.order):
        for column, wide in enumerate(across.order):
            pairs = zip(values, across.labels, above.labels, strict=True)
            if own := [value for value, *pair in pairs if pair == [wide, high] and not np.isnan(value)]:
                found[row, column] = np.mean(own)
    return found


def _scaled(values: Any) -> Any:
    low, high = np.nanmin(values), np.nanmax(values)
    return (values - low) / (high - low) if high > low else np.full(len(values), 0.5)


def _shade(part: float) -> str:
    """Return a colour between blue (0, the lowest value) and orange (1, the highest value)."""
    part = 0.5 if np.isnan(part) else part
    rgb = (0.84 * part + 0.25 * (1 - part), 0.55 * (1 - part) + 0.37 * part, 0.85 * (1 - part))
    return "#" + "".join(f"{round(255 * share):02x}" for share in rgb)


def plan_curve(curve: Columns, target: str, vary: str, answer: tuple[float, str] | None, *, ax: Any = None) -> Any:
    """Plot the values that a plan has tried, with confidence intervals, and the bound of its target.

    Args:
        curve: `Plan.curve`.
        target: The target.
        vary: The path of the field to vary.
        answer: The smallest value that meets the target, as a number and as text; `None` if none does.
        ax: The matplotlib Axes to draw on. Default: new Axes.

    Returns:
        The Axes.

    Raises:
        UnsupportedError: matplotlib is not installed.
    """
    from kueuepy.lab.exploration.measure import promise  # noqa: PLC0415 - only on use

    wanted = promise(target)
    unit, size = amounts_of(pair[1]) if (pair := QUOTA.search(vary)) else ("", 1.0)
    size = 1.0 if unit == "cores" else size  # the values are in cores, or in bytes
    x, mean, low, high = (curve[name] for name in ("value", "mean", "low", "high"))
    x = x / size
    low, high = (np.where(np.isnan(end), mean, end) for end in (low, high))
    marks: list[Mark] = list(_bars(x, low, high, "others"))
    met = curve["passed"]
    marks.append(Line(x[met], mean[met], "good", dots="o", joined=False))
    marks.append(Line(x[~met], mean[~met], "bad", dots="x", joined=False))
    keys = [Key("target met", "good", "dot"), Key("target missed", "bad", "cross"), Key(target, "ink", "dashes")]
    across = Axis(f"{_in_words(vary)}{f' ({unit})' if unit else ''}", ends_of(x))
    marks.append(Line(np.array(across.ends), np.full(2, wanted.value), "ink", width=1.6, dashed=True))
    up = _axis(str(wanted.measure), np.concatenate([low, high, [wanted.value]]))
    title = f"No value tried meets {target}"
    if answer is not None:
        title = f"{answer[1]} is the smallest value that meets {target}"
        marks.append(Line(np.full(2, answer[0] / size), np.array(up.ends), "good", width=1.6))
        keys.append(Key(f"answer: {answer[1]}", "good", "line"))
    return draw(Chart(title, across, up, tuple(marks), tuple(keys)), ax)


def _in_words(name: str) -> str:
    """Return a metric in words, or a path such as `ClusterQueue/team:quota[h100/cpu].nominalQuota` in lines."""
    if metric_of(name):
        return textwrap.fill(label_of(name), _LABEL)
    return name.replace(":", ":\n", 1).replace("].", "]\n.", 1)


def _axis(name: str, values: Any) -> Axis:
    """Return the axis of a metric; times have labels such as `1 h 30 min`."""
    unit = unit_of(name)
    label = f"{label_of(name)} (h)" if unit == "hours" else label_of(name)
    if unit in ("span", "part"):
        return Axis(label, ends_of(values), kind="duration" if unit == "span" else "share")
    return Axis(label, ends_of(values), kind="whole" if metric_of(name) in COUNTS else "number")
