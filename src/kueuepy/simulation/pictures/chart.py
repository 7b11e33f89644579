"""Charts with altair, of at most 5,000 rows each."""

from __future__ import annotations

from functools import singledispatch
from typing import TYPE_CHECKING, Any

import numpy as np

from kueuepy.errors.libraries import imported
from kueuepy.simulation.pictures import data, jobs
from kueuepy.simulation.pictures.shown import MOST_NAMES, Bars, Lines, Matrix, Stack, colour_of
from kueuepy.tables import Columns

if TYPE_CHECKING:
    from kueuepy.simulation.pictures.shown import Bar, Shown
    from kueuepy.simulation.recorded import Recorded

_ROWS = 5_000
_PALE = 0.45
_PIECES = _ROWS // (2 * MOST_NAMES + 2)
_WIDTH, _HEIGHT = 560, 260


def _altair() -> Any:
    return imported("altair", "chart", '"kueuepy[plot]"')


class Charts:
    """The charts of a simulation as altair charts.

    The altair theme selects light or dark colours, and tooltips show values. Borrowed quota has a lighter colour than a
    queue's own quota, because altair has no hatching.
    """

    def __init__(self, run: Recorded) -> None:
        """Create the charts of a recorded simulation."""
        self._run = run

    def usage(self, flavor_resource: str | None = None) -> Any:
        """Draw the usage of a flavor and resource, stacked by ClusterQueue.

        Lighter areas are borrowed quota, and the line is the nominal quota.

        Args:
            flavor_resource: `flavor/resource`, or a resource that only one flavor has; by default the pair with the
                highest utilisation.

        Raises:
            StateError: The usage was not recorded.
            UnsupportedError: altair is not installed.
        """
        return chart(data.usage(self._run, flavor_resource, _PIECES))

    def queue(self) -> Any:
        """Draw the number of waiting jobs over time, stacked by ClusterQueue."""
        return chart(data.queue(self._run, _PIECES))

    def shares(self) -> Any:
        """Draw the weighted share of each ClusterQueue over time; ticks mark admissions and evictions."""
        return chart(data.shares(self._run, _PIECES))

    def waits(self, by: str = "queue") -> Any:
        """Draw the cumulative distribution of waiting times, by `queue` or any other column of jobs."""
        return chart(jobs.waits(self._run, by))

    def gantt(self, flavor: str | None = None, jobs_: int = 200, start: float = 0.0) -> Any:
        """Draw the runs of the first `jobs_` jobs after `start` (seconds); lighter parts were lost by an eviction."""
        return chart(jobs.gantt(self._run, flavor, jobs_, start))

    def preemptions(self) -> Any:
        """Draw the number of evictions by ClusterQueue of victim and preemptor."""
        return chart(jobs.preemptions(self._run))

    def slowdown_by_size(self, resource: str | None = None) -> Any:
        """Draw the median and 95th percentile of the bounded slowdown by the size of jobs."""
        return chart(jobs.slowdown_by_size(self._run, resource))


@singledispatch
def chart(shown: Shown) -> Any:
    """Return the altair chart of some data."""
    raise NotImplementedError


def _base(columns: dict[str, Any], title: str) -> Any:
    arrays = {name: values if isinstance(values, list) else np.asarray(values) for name, values in columns.items()}
    altair = _altair()
    return altair.Chart(altair.Data(values=Columns(arrays).rows()), title=title, width=_WIDTH, height=_HEIGHT)


def _colours(altair: Any, names: dict[str, int]) -> Any:
    scale = altair.Scale(domain=list(names), range=[colour_of(place) for place in names.values()])
    return altair.Color("name:N", title=None, scale=scale)


@chart.register
def _stack(shown: Stack) -> Any:
    altair = _altair()
    begin, end = shown.edges[:-1], shown.edges[1:]
    columns: dict[str, list[Any]] = {name: [] for name in ("from", "to", "low", "high", "name", "kind")}
    below = np.zeros(len(begin))
    for layer in shown.layers:
        for values, kind in ((layer.own, "own"), (layer.borrowed, "borrowed")):
            there = values > 0
            above = below + values
            for name, part in (("from", begin), ("to", end), ("low", below), ("high", above)):
                columns[name] += part[there].tolist()
            columns["name"] += [layer.name] * int(there.sum())
            columns["kind"] += [kind] * int(there.sum())
            below = above
    names = {layer.name: layer.colour for layer in shown.layers}
    paler = altair.Scale(domain=["own", "borrowed"], range=[1.0, _PALE])
    encodings = {
        "x": altair.X("from:Q", title=shown.x, scale=altair.Scale(nice=False)),
        "x2": "to:Q",
        "y": altair.Y("low:Q", title=shown.y),
        "y2": "high:Q",
        "color": _colours(altair, names),
        "tooltip": ["name:N", "kind:N", "from:Q", "low:Q", "high:Q"],
    }
    if shown.has_borrowed:
        encodings["opacity"] = altair.Opacity("kind:N", title=None, scale=paler)
    found = _base(columns, shown.title).mark_rect(strokeWidth=0).encode(**encodings)
    if not len(shown.limit):
        return found
    line = _base({"from": shown.edges, "nominal": np.append(shown.limit, shown.limit[-1:])}, shown.title)
    drawn = line.mark_line(interpolate="step-after", color="#8a8f98", strokeWidth=2)
    return found + drawn.encode(x="from:Q", y="nominal:Q", tooltip=["nominal:Q"])


@chart.register
def _lines(shown: Lines) -> Any:
    altair = _altair()
    columns: dict[str, list[Any]] = {name: [] for name in ("x", "y", "name")}
    for line in shown.lines:
        columns["x"] += line.x.tolist()
        columns["y"] += line.y.tolist()
        columns["name"] += [line.name] * len(line.x)
    x = altair.X("x:Q", title=shown.x, scale=altair.Scale(type="log" if shown.log_x else "linear", nice=False))
    if shown.ticks:
        labels = " : ".join(f"datum.value == {at:g} ? '{text}'" for at, text in shown.ticks)
        x = x.axis(values=[at for at, _ in shown.ticks], labelExpr=f"{labels} : ''")
    y = altair.Y("y:Q", title=shown.y, scale=altair.Scale(type="log" if shown.log_y else "linear"))
    look: dict[str, Any] = {"interpolate": "step-after"} if shown.steps else {}
    base = _base(columns, shown.title).mark_line(point=shown.points, **look)
    found = base.encode(
        x=x,
        y=y,
        color=_colours(altair, {line.name: line.colour for line in shown.lines}),
        tooltip=["name:N", "x:Q", "y:Q"],
    )
    for mark in shown.marks:
        ticks = _base({"x": mark.x}, shown.title).mark_tick(
            y=0 if mark.name == "evictions" else _HEIGHT, color="#d55e00" if mark.name == "evictions" else "#009e73",
            tooltip=mark.name,
        )  # fmt: skip
        found += ticks.encode(x="x:Q")
    return found


def _pieces(bar: Bar) -> list[tuple[float, float, int, str, str, str]]:
    """Split an evicted run into the part whose progress was kept and the part that was lost."""
    ends = [(bar.begin, bar.lost_from, "kept"), (bar.lost_from, bar.end, "lost")]
    ends = ends if bar.cut else [(bar.begin, bar.end, "kept")]
    return [(begin, end, bar.lane, bar.queue, bar.name, kind) for begin, end, kind in ends]


@chart.register
def _bars(shown: Bars) -> Any:
    altair = _altair()
    names = ("from", "to", "lane", "name", "job", "kind")
    rows = [row for bar in shown.bars for row in _pieces(bar)]
    columns = {name: [row[place] for row in rows] for place, name in enumerate(names)}
    paler = altair.Scale(domain=["kept", "lost"], range=[1.0, _PALE])
    return (
        _base(columns, shown.title)
        .mark_bar(stroke="white", strokeWidth=0.3)
        .encode(
            x=altair.X("from:Q", title=shown.x, scale=altair.Scale(nice=False)),
            x2="to:Q",
            y=altair.Y("lane:O", title="Concurrent runs", axis=altair.Axis(labels=False, ticks=False)),
            color=_colours(altair, shown.queues),
            opacity=altair.Opacity("kind:N", title=None, scale=paler),
            tooltip=["job:N", "name:N", "from:Q", "to:Q", "kind:N"],
        )
    )


@chart.register
def _matrix(shown: Matrix) -> Any:
    altair = _altair()
    pairs = [(row, column) for row in range(len(shown.rows)) for column in range(len(shown.columns))]
    base = _base(
        {
            "victim": [shown.rows[row] for row, _ in pairs],
            "preemptor": [shown.columns[column] for _, column in pairs],
            "evictions": [int(shown.counts[pair]) for pair in pairs],
            "hours lost": [float(shown.hours[pair]) for pair in pairs],
        },
        shown.title,
    )
    where = {"x": altair.X("preemptor:N", title="Preemptor"), "y": altair.Y("victim:N", title="Victim")}
    colour = altair.Color("evictions:Q", scale=altair.Scale(scheme="cividis"))
    tooltip = ["victim:N", "preemptor:N", "evictions:Q", "hours lost:Q"]
    top = float(shown.counts.max(initial=0.0))
    ink = altair.condition(f"datum.evictions > {top * 0.6:g}", altair.value("black"), altair.value("white"))
    return base.mark_rect().encode(**where, color=colour, tooltip=tooltip) + base.mark_text().encode(
        **where, text="evictions:Q", color=ink
    )
