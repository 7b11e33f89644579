"""Charts with matplotlib; the functions return Axes and do not show or save them."""

from __future__ import annotations

import textwrap
from functools import singledispatch
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from kueuepy.errors.libraries import imported
from kueuepy.look.colours import ALL, DARK_THEME, LIGHT_THEME, Theme, colour_of, contrast, luminance
from kueuepy.look.escapes import plain
from kueuepy.simulation.pictures import data, jobs
from kueuepy.simulation.pictures.shown import LANES, Bars, Lines, Matrix, Stack
from kueuepy.simulation.pictures.svg import ranges

if TYPE_CHECKING:
    from kueuepy.simulation.pictures.shown import Bar, Line, Shown
    from kueuepy.simulation.recorded import Recorded

_HATCH = "////"
_ROOM = 0.04
"""The space beside the first and the last point of a line with points, relative to its width."""
_PALE = 0.5
_TICKS = 8
_NARROW = 6.0
"""The width of a figure, in inches, from which the legend is beside the Axes."""
_SHORT_LINE = 32
"""The number of characters in a line of a title on narrow Axes."""
_MIDDLE = 0.18
"""Luminance above which a background counts as light: as far from black as from white, by contrast."""
_MARKS = {"admissions": (0.0, 0.03), "evictions": (0.96, 1.0)}


def _pyplot() -> Any:
    return imported("matplotlib.pyplot", "plot", '"kueuepy[plot]"')


class Plots:
    """The charts of a simulation as matplotlib Axes.

    Each method draws on `ax`, or on a new figure if `ax` is not given, and returns the Axes. Text and lines use the
    colours of the current matplotlib style, and the colours of ClusterQueues suit its background. The styles
    `kueuepy.look.light` and `kueuepy.look.dark` have the colours of reports and pages:
    `with matplotlib.style.context("kueuepy.look.dark"): result.plot.usage()`.
    """

    def __init__(self, run: Recorded) -> None:
        """Create the charts of a recorded simulation."""
        self._run = run

    def usage(self, flavor_resource: str | None = None, *, ax: Any = None) -> Any:
        """Draw the usage of a flavor and resource, stacked by ClusterQueue.

        Hatched areas are borrowed quota, and the line is the nominal quota.

        Args:
            flavor_resource: `flavor/resource`, or a resource that only one flavor has; by default, the pair with the
                highest utilisation.
            ax: Axes to draw on; by default, the Axes of a new figure.

        Raises:
            StateError: The usage was not recorded.
            UnsupportedError: matplotlib is not installed.
        """
        return self._draw(data.usage(self._run, flavor_resource), ax)

    def queue(self, *, ax: Any = None) -> Any:
        """Draw the number of waiting jobs over time, stacked by ClusterQueue."""
        return self._draw(data.queue(self._run), ax)

    def shares(self, *, ax: Any = None) -> Any:
        """Draw the weighted share of each ClusterQueue; ticks mark admissions (bottom) and evictions (top)."""
        return self._draw(data.shares(self._run), ax)

    def consumed(self, resource: str | None = None, *, ax: Any = None) -> Any:
        """Draw the decayed usage of a resource by LocalQueue, as admission fair sharing computes it.

        Args:
            resource: The resource; by default, the first resource in alphabetical order.
            ax: Axes to draw on; by default, the Axes of a new figure.
        """
        return self._draw(data.consumed(self._run, resource), ax)

    def waits(self, by: str = "queue", *, ax: Any = None) -> Any:
        """Draw the cumulative distribution of waiting times, by `queue` or any other column of jobs.

        Raises:
            StateError: The metrics include no job.
        """
        return self._draw(jobs.waits(self._run, by), ax)

    def gantt(self, flavor: str | None = None, jobs_: int = 200, start: float = 0.0, *, ax: Any = None) -> Any:
        """Draw the runs of the first `jobs_` jobs after `start` (seconds), with evictions and hatched lost progress."""
        return self._draw(jobs.gantt(self._run, flavor, jobs_, start), ax)

    def preemptions(self, *, ax: Any = None) -> Any:
        """Draw the number of evictions by ClusterQueue of the victim and the preemptor."""
        return self._draw(jobs.preemptions(self._run), ax)

    def slowdown_by_size(self, resource: str | None = None, *, ax: Any = None) -> Any:
        """Draw the median and 95th percentile of the bounded slowdown by the size of jobs."""
        return self._draw(jobs.slowdown_by_size(self._run, resource), ax)

    def clusters(self, flavor_resource: str | None = None, *, ax: Any = None) -> Any:
        """Draw the usage of a flavor and resource, stacked by worker of a fleet; the line is the nominal quota.

        Args:
            flavor_resource: `flavor/resource`, or a resource that only one flavor has; by default, the pair with the
                highest utilisation.
            ax: Axes to draw on; by default, the Axes of a new figure.

        Raises:
            StateError: The result is not a result of a Fleet, or the usage was not recorded.
        """
        return self._draw(data.clusters(self._run, flavor_resource), ax)

    def dispatch(self, jobs_: int = 200, start: float = 0.0, *, ax: Any = None) -> Any:
        """Draw the runs of the first `jobs_` jobs after `start` (seconds), in lanes that are grouped by worker.

        Args:
            jobs_: The maximum number of jobs to draw; 200 by default.
            start: The time at which the chart begins, in seconds.
            ax: Axes to draw on; by default, the Axes of a new figure.

        Raises:
            StateError: The result is not a result of a Fleet, or the runs were not recorded.
        """
        return self._draw(jobs.dispatch(self._run, jobs_, start), ax)

    def _draw(self, shown: Shown, ax: Any) -> Any:
        return draw(msgspec.structs.replace(shown, policy=self._run.policy), ax)


def draw(shown: Shown, ax: Any = None) -> Any:
    """Draw on the given Axes or on the Axes of a new figure, and return the Axes."""
    ax = axes_of(ax)
    set_title(ax, shown.title, f"Policy: {shown.policy}" if shown.policy else "")
    _draw(shown, ax)
    return ax


def axes_of(ax: Any = None) -> Any:
    """Return the given Axes or the Axes of a new figure.

    Raises:
        UnsupportedError: matplotlib is not installed.
    """
    pyplot = _pyplot()
    if ax is None:
        _, ax = pyplot.subplots(figsize=(9, 4.2), layout="constrained")
    return ax


def is_narrow(ax: Any) -> bool:
    """Return whether Axes are alone in a figure that is so narrow that its legend must be below them."""
    others = [one for one in ax.figure.axes if one is not ax and one.get_label() != "<colorbar>"]
    return bool(ax.figure.get_figwidth() < _NARROW and not others and ax.figure.get_constrained_layout())


def set_title(ax: Any, title: str, second: str = "") -> None:
    """Set the title, in several lines on narrow Axes.

    Args:
        ax: The Axes.
        title: The title.
        second: A line below the title; empty for none.
    """
    lines = [line for line in (title, second) if line]
    lines = [textwrap.fill(line, _SHORT_LINE) for line in lines] if is_narrow(ax) else lines
    ax.set_title(plain("\n".join(lines)), loc="left")


def paper_of(ax: Any) -> str:
    """Return the background of Axes as `#rrggbb`."""
    from matplotlib.colors import to_hex  # noqa: PLC0415 - only on use

    face = ax.get_facecolor() if ax.get_facecolor()[3] else ax.figure.get_facecolor()
    return str(to_hex(face))


def is_dark(ax: Any) -> bool:
    """Return whether the background of Axes is dark; on a dark background, groups need different colours."""
    return luminance(paper_of(ax)) < _MIDDLE


def theme_of(ax: Any) -> Theme:
    """Return the colours that suit the background of Axes."""
    return DARK_THEME if is_dark(ax) else LIGHT_THEME


@singledispatch
def _draw(shown: Any, ax: Any) -> None:
    raise NotImplementedError


@_draw.register
def _stack(shown: Stack, ax: Any) -> None:
    paper, dark = ax.get_facecolor(), is_dark(ax)
    below = np.zeros(len(shown.edges) - 1)
    for layer in shown.layers:
        for values, hatch in ((layer.own, None), (layer.borrowed, _HATCH)):
            if hatch and not values.any():
                continue
            above = below + values
            label = None if hatch else plain(layer.name)
            edge = paper if hatch else "none"
            face = colour_of(layer.colour, dark=dark)
            ax.fill_between(
                shown.edges, _held(below), _held(above), step="post", facecolor=face, hatch=hatch, edgecolor=edge,
                linewidth=0.0, label=label,
            )  # fmt: skip
            below = above
    if shown.has_borrowed:
        grey = theme_of(ax).others
        ax.fill_between([], [], [], facecolor=grey, hatch=_HATCH, edgecolor=paper, linewidth=0, label="borrowed quota")
    if len(shown.limit):
        ax.step(shown.edges, _held(shown.limit), where="post", color=_ink(), linewidth=1.4, label="nominal quota")
    ax.set_xlim(shown.edges[0], shown.edges[-1])
    top = max(float(below.max(initial=0.0)), float(np.max(shown.limit, initial=0.0)))
    ax.set_ylim(0, top * 1.05 or 1)
    _name(ax, shown.x, shown.y, shown.unit)
    _legend(ax)


def _held(values: Any) -> Any:
    """Return the value of each interval at its start, and repeat the last value at the end."""
    return np.append(values, values[-1:])


def _ink() -> Any:
    return _pyplot().rcParams["text.color"]


def _name(ax: Any, x: str, y: str, unit: str = "") -> None:
    from matplotlib.ticker import AutoLocator, MaxNLocator  # noqa: PLC0415 - only on use

    for axis in (ax.xaxis, ax.yaxis):
        if isinstance(axis.get_major_locator(), AutoLocator):  # its steps include 2.5, as in 17.5 GPUs
            axis.set_major_locator(MaxNLocator(_TICKS, steps=[1, 2, 5, 10]))
    if unit:
        ax.xaxis.set_major_formatter(f"{{x:g}} {unit}")
    ax.set_xlabel(textwrap.fill(x, _SHORT_LINE) if is_narrow(ax) else x)
    ax.set_ylabel(y)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)


def _legend(ax: Any) -> None:
    handles, labels = ax.get_legend_handles_labels()
    if len(handles) > 1:
        marks = [label in ("evicted", "lost progress") for label in labels]
        order = sorted(range(len(labels)), key=marks.__getitem__)  # the queues first
        handles, labels = [handles[place] for place in order], [labels[place] for place in order]
        if is_narrow(ax):
            ax.figure.legend(handles, labels, loc="outside lower left", ncols=2, frameon=False, fontsize="small")
        else:
            ax.legend(handles, labels, loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False, fontsize="small")


def add_legend(ax: Any) -> None:
    """Add a legend inside the Axes where it covers least, or below narrow Axes."""
    if is_narrow(ax):
        ax.figure.legend(loc="outside lower left", frameon=False, fontsize="small")
    else:
        ax.legend()


@_draw.register
def _lines(shown: Lines, ax: Any) -> None:
    theme = theme_of(ax)
    for line in shown.lines:
        style = _style(line, dark=theme is DARK_THEME)
        if shown.points:
            ax.plot(line.x, line.y, marker="o", label=plain(line.name), **style)
        else:
            ax.step(line.x, line.y, where="post", label=plain(line.name), **style)
    _scale(shown, ax)
    ax.margins(x=_ROOM if shown.points else 0)
    _name(ax, shown.x, shown.y, shown.unit)
    for mark in shown.marks:
        low, high = _MARKS[mark.name]
        colour = theme.quiet if mark.name == "admissions" else theme.ink
        ax.vlines(
            mark.x, low, high, transform=ax.get_xaxis_transform(), color=colour, alpha=_PALE + _PALE * mark.weight,
            linewidth=1.0, label=mark.name,
        )  # fmt: skip
    _legend(ax)


def _style(line: Line, *, dark: bool) -> dict[str, Any]:
    if line.colour == ALL:
        return {"color": _ink(), "linewidth": 2.4}
    return {"color": colour_of(line.colour, dark=dark), "linewidth": 1.6}


def _scale(shown: Lines, ax: Any) -> None:
    if shown.log_x:
        ax.set_xscale("log", base=2 if shown.points else 10)
    if shown.log_y:
        ax.set_yscale("log")
        _widen(ax)
    else:
        ax.set_ylim(bottom=0)
    if shown.ticks:
        ax.set_xticks([at for at, _ in shown.ticks], [text for _, text in shown.ticks], minor=False)
        ax.set_xticks([], minor=True)
    if shown.log_y:
        ax.yaxis.set_major_formatter("{x:g}")
        ax.yaxis.set_minor_formatter(_between)
    if shown.shares:
        (left, right), (bottom, top) = shown.ends or ranges(shown)
        ticks = [tick for tick in (0, 0.25, 0.5, 0.75, 1) if tick >= bottom]
        ax.set_yticks(ticks, [f"{tick:.0%}" for tick in ticks])
        ax.set(xlim=(left, right), ylim=(bottom, top))


def _widen(ax: Any) -> None:
    """Extend a logarithmic axis to the next values that are labelled, so that the reader can estimate each point."""
    low, high = ax.dataLim.intervaly
    labelled = [digit * 10.0**power for power in range(-9, 13) for digit in (1, 2, 5)]
    if 0 < low <= high < labelled[-1] and low >= labelled[0]:
        above = next(value for value in labelled if value >= high)
        ax.set_ylim(0.94 * next(value for value in reversed(labelled) if value <= low), 1.06 * above)


def _between(value: float, _: int) -> str:
    """Return the label of a minor tick on a logarithmic axis: only 2 and 5 times a power of ten are labelled."""
    return f"{value:g}" if f"{value:e}"[0] in "25" else ""


def _draw_evicted(bars: list[Bar], ax: Any) -> None:
    """Hatch the lost progress of evicted runs, and mark the ends of these runs."""
    if not bars:
        return
    paper = ax.get_facecolor()
    ax.barh(
        [bar.lane for bar in bars], [bar.end - bar.lost_from for bar in bars], left=[bar.lost_from for bar in bars],
        height=0.9, color="none", edgecolor=paper, hatch=_HATCH, linewidth=0.0,
    )  # fmt: skip
    ax.vlines(
        [bar.end for bar in bars], [bar.lane - 0.45 for bar in bars], [bar.lane + 0.45 for bar in bars],
        color=_ink(), linewidth=1.6, label="evicted",
    )  # fmt: skip
    grey = theme_of(ax).others
    ax.barh([0], [0], color=grey, hatch=_HATCH, edgecolor=paper, linewidth=0, label="lost progress")


@_draw.register
def _bars(shown: Bars, ax: Any) -> None:
    paper, dark = ax.get_facecolor(), is_dark(ax)
    for queue, place in shown.queues.items():
        mine = [bar for bar in shown.bars if bar.queue == queue]
        ax.barh(
            [bar.lane for bar in mine], [bar.end - bar.begin for bar in mine], left=[bar.begin for bar in mine],
            height=0.9, color=colour_of(place, dark=dark), edgecolor=paper, linewidth=0.3, label=plain(queue),
        )  # fmt: skip
    _draw_evicted([bar for bar in shown.bars if bar.cut], ax)
    ax.set_ylim(-0.6, max(shown.lanes, 1) - 0.4)
    ax.invert_yaxis()
    ax.set_yticks([])  # the number of a lane means nothing
    _name(ax, shown.x, LANES, shown.unit)
    _legend(ax)


@_draw.register
def _matrix(shown: Matrix, ax: Any) -> None:
    ax.set_xlabel("ClusterQueue of the preemptor")
    ax.set_ylabel("ClusterQueue of the victim")
    if not shown.rows:
        ax.text(0.5, 0.5, "No evictions", ha="center", va="center", transform=ax.transAxes)
        ax.set_xticks([])
        ax.set_yticks([])
        return
    from matplotlib.colors import LinearSegmentedColormap, to_hex  # noqa: PLC0415 - only on use

    shades = LinearSegmentedColormap.from_list("evictions", [paper_of(ax), theme_of(ax).heat])
    image = ax.imshow(shown.counts, cmap=shades, aspect="auto", vmin=0)
    ax.figure.colorbar(image, ax=ax, label="Number of evictions")
    ax.set_xticks(range(len(shown.columns)), list(map(plain, shown.columns)), rotation=20, ha="right")
    ax.set_yticks(range(len(shown.rows)), list(map(plain, shown.rows)))
    for (row, column), count in np.ndenumerate(shown.counts):
        tile = to_hex(image.to_rgba(count))
        ink = "#ffffff" if contrast("#ffffff", tile) > contrast("#000000", tile) else "#000000"
        ax.text(column, row, shown.text(row, column), ha="center", va="center", color=ink, fontsize="small")
