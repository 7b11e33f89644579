"""The charts of a run: what each shows, its caption, and where it appears; a new chart is a function of this file."""

import heapq
import math
from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypedDict

import msgspec
import numpy as np
from numpy.typing import NDArray

from kueuepy.errors import InvalidSpecError, StateError, counted
from kueuepy.look.chart import Area, Axis, Box, Chart, Key, Label, Line, Rug, ends_of, names_axis, tiles
from kueuepy.look.colours import ALL, MOST_NAMES, OTHERS
from kueuepy.look.numbers import amount, duration, round_duration
from kueuepy.simulation.columns import is_resource
from kueuepy.simulation.confidence import of_cohorts
from kueuepy.simulation.figures import preemptions as evictions_of
from kueuepy.simulation.grouped import Floats, Ints, integral_to, series_of, sums
from kueuepy.simulation.pictures.catalogue import (
    SINCE,
    amounts_of,
    colours,
    groups,
    in_order,
    largest,
    pair_of,
    shown,
    shown_as,
    time_unit,
    work,
    workers_of,
)
from kueuepy.simulation.recorded import Recorded, require, unstarted
from kueuepy.tables.columns import Columns, exact, is_named

PictureName = Literal[
    "usage",
    "queue",
    "shares",
    "consumed",
    "waits",
    "gantt",
    "preemptions",
    "slowdown_by_size",
    "clusters",
    "dispatch",
]
PIECES = 240
"""Maximum number of time intervals in a chart; the same for all drawings, so that they show the same values."""
_ABOVE = 1.15
_POINTS = 300
_LEAST = 1.0
_WAITS = (
    (1.0, "≤ 1 s"), (10.0, "10 s"), (60.0, "1 min"), (600.0, "10 min"), (3600.0, "1 h"), (6 * 3600.0, "6 h"),
    (86400.0, "1 d"), (7 * 86400.0, "7 d"), (30 * 86400.0, "30 d"), (365 * 86400.0, "1 y"),
)  # fmt: skip
# Percentiles with their names and colours, which are no colours of queues.
_PERCENTILES = ((50, "median", OTHERS), (95, "95th percentile", ALL))


class PictureOptions(TypedDict, total=False):
    """Options of pictures; each picture accepts the options of the `result.plot` method with the same name.

    Attributes:
        flavor_resource: The flavor and resource that `usage` and `clusters` show, such as `h100/nvidia.com/gpu`.
        by: The column of the table of jobs by which `waits` groups the jobs.
        flavor: The flavor whose runs `gantt` shows.
        jobs: The largest number of jobs that `gantt` and `dispatch` show.
        start: The time at which `gantt` and `dispatch` begin, in seconds.
        resource: The resource that `consumed` and `slowdown_by_size` use.
        pieces: The number of time intervals of `usage`, `queue`, `shares`, `consumed` and `clusters`.
    """

    flavor_resource: str | None
    by: str
    flavor: str | None
    jobs: int
    start: float
    resource: str | None
    pieces: int


# --- charts over time -----------------------------------------------------------------------------------------------


class _Steps:
    """The time axis of a chart: the intervals, and the mean of a column of a table in each interval."""

    def __init__(self, run: Recorded, table: Columns, rows: Mapping[str, Ints], pieces: int) -> None:
        """Choose the times of all changes if there are few changes, otherwise intervals of equal length."""
        self._table = exact(table)
        end = run.seconds or 1.0
        self.edges: Floats = np.linspace(0.0, end, pieces + 1)
        self.mean = f", mean of {round_duration(end / pieces)}"
        """The end of the chart's title, which names the length of the intervals."""
        indices = np.concatenate([*rows.values(), np.zeros(0, np.int64)]).astype(np.int64)
        # np.unique of many rows takes long, and there are certainly too many changes then.
        if len(indices) <= PIECES * max(1, len(rows)):
            changes = np.unique(np.append(np.minimum(table["seconds"][indices], end), [0.0, end]))
            if len(changes) <= pieces + 1:
                self.edges, self.mean = changes, ""
        unit, self._second = time_unit(run.seconds)
        self.times = self.edges / self._second
        self.axis = Axis(SINCE, (float(self.times[0]), float(self.times[-1])), unit=unit)

    def means(self, rows: Ints, column: str) -> Floats:
        """Return the mean in each interval; infinite values are placed slightly above the largest finite one."""
        begin, values = self._table["seconds"][rows], self._table[column][rows].astype(np.float64)
        finite = np.isfinite(values)
        if not finite.all():
            values = np.where(finite, values, _ABOVE * values[finite].max(initial=1.0))
        total = integral_to(begin, values, self.edges)
        return np.maximum(np.diff(total) / np.diff(self.edges), 0.0)

    def corners(self, values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the corners of a line that has one value in each interval."""
        return np.repeat(self.times, 2)[1:-1], np.repeat(values, 2)


# Own and borrowed amounts of each layer of a stacked chart, in each interval.
_Layers = dict[str, tuple[Any, Any]]


def _stacked(title: str, y: str, steps: _Steps, layers: _Layers, *, names: dict[str, int], limit: Any = ()) -> Chart:
    """Return a chart of stacked layers with an optional limit line."""
    below = np.zeros(len(steps.edges) - 1)
    marks: list[Area | Line] = []
    order = _ordered(layers, names)
    keys = [Key(name, shown_as(name, names)[1]) for name in order]
    for name, key in zip(order, keys, strict=True):
        for values, what in zip(layers[name], ("", ", borrowed"), strict=True):
            if values.any():
                x, low = steps.corners(below)
                below = below + values
                area = Area(x, low, steps.corners(below)[1], key.colour, f"{name}{what}", hatched=bool(what))
                marks.append(area)
    if any(isinstance(mark, Area) and mark.hatched for mark in marks):
        keys.append(Key("borrowed quota", OTHERS, "hatch"))
    if len(limit):
        marks.append(Line(*steps.corners(limit), "ink", width=1.6))
        keys.append(Key("nominal quota", "ink", "line"))
    up = Axis(y, ends_of(np.append(below, limit), zero=True))
    return Chart(f"{title}{steps.mean}", steps.axis, up, tuple(marks), tuple(keys))


def _lined(title: str, x: Axis, y: Axis, lines: list[Line], marks: Iterable[tuple[str, Rug]] = ()) -> Chart:
    """Return a chart of lines with a legend."""
    keys = [Key(line.title, line.colour, "line") for line in lines]
    keys += [Key(name, rug.colour, "line") for name, rug in marks]
    return Chart(title, x, y, (*lines, *(rug for _, rug in marks)), tuple(keys))


@shown(
    "Usage, stacked by ClusterQueue. Hatched areas are borrowed quota, and the line is the nominal quota.",
    *("notebook", "report", "comparison"),
)
def usage(run: Recorded, flavor_resource: str | None = None, pieces: int = PIECES) -> Chart:
    """Draw the usage of a flavor and resource, stacked by ClusterQueue.

    Hatched areas are borrowed quota, and the line is the nominal quota. `flavor_resource` is `flavor/resource`, or a
    resource that only one flavor has; by default, the pair with the highest utilisation.
    """
    return _usage(run, flavor_resource, pieces, colours(run))


@shown("Number of waiting jobs, stacked by ClusterQueue.", "report", "comparison")
def queue(run: Recorded, pieces: int = PIECES) -> Chart:
    """Draw the number of waiting jobs over time, stacked by ClusterQueue."""
    rows, names = _first_series(run), colours(run)
    steps = _Steps(run, run.usage, rows, pieces)
    nothing = np.zeros(len(steps.edges) - 1)
    layers: _Layers = {}
    for name, indices in rows.items():
        group, _ = shown_as(name, names)
        layers[group] = layers.get(group, (0.0, nothing))[0] + steps.means(indices, "waiting"), nothing
    found = _stacked("Waiting jobs", "Number of jobs", steps, layers, names=names)
    return msgspec.structs.replace(found, title=f"{found.title}{_longest(run)}")


@shown("Weighted share of each ClusterQueue.")
def shares(run: Recorded, pieces: int = PIECES) -> Chart:
    """Draw the weighted share of each ClusterQueue; ticks mark admissions (bottom) and evictions (top)."""
    rows, names = _first_series(run), colours(run)
    steps = _Steps(run, run.usage, rows, pieces)
    marks = [
        (name, Rug(at, colour, top=colour == "ink"))
        for name, kind, colour in (("admissions", "QuotaReserved", "quiet"), ("evictions", "Evicted", "ink"))
        if len(at := _times_of(run, kind, steps))
    ]
    lines = _means(steps, rows, "share", names)
    up = Axis("Weighted share (‰ of lendable quota)", _from_zero(lines))
    return _lined(f"Weighted share by ClusterQueue{steps.mean}", steps.axis, up, lines, marks)


@shown("Decayed usage of each LocalQueue under admission fair sharing.")
def consumed(run: Recorded, resource: str | None = None, pieces: int = PIECES) -> Chart:
    """Draw the decayed usage of a resource by LocalQueue, as admission fair sharing computes it.

    By default, `resource` is the first resource in alphabetical order.
    """
    series = list(series_of(run.consumed, ("local_queue", "resource")))
    known = sorted({name for _, name, _ in series})
    if resource is not None and known and resource not in known:
        raise InvalidSpecError(f'picture: resource: "{resource}"; it must be one of {", ".join(known)}')
    resource = resource or next(iter(known), "")
    rows = {name: indices for name, of, indices in series if of == resource}
    steps = _Steps(run, run.consumed, rows, pieces)
    queues = list(dict.fromkeys([*largest(run.jobs["queue"], work(run)), *sorted(rows)]))[:MOST_NAMES]
    unit, size = amounts_of(f"/{resource}")
    size = 1.0 if resource == "cpu" else size  # the table has cores
    lines = _means(steps, rows, "consumed", {name: index for index, name in enumerate(queues)}, size)
    title = f"Decayed usage by LocalQueue{f' ({resource})' if resource else ''}{steps.mean}"
    return _lined(title, steps.axis, Axis(f"Usage ({unit})" if resource else "Usage", _from_zero(lines)), lines)


def _usage(run: Recorded, flavor_resource: str | None, pieces: int, names: dict[str, int], by: str = "") -> Chart:
    """Return the usage of a flavor and resource by ClusterQueue or, with borrowed quota as own, by worker."""
    flavor_resource = pair_of(run, flavor_resource)
    unit, size = amounts_of(flavor_resource)
    rows = {queue: rows for queue, of, rows in _series(run) if of == flavor_resource}
    steps = _Steps(run, run.usage, rows, pieces)
    nothing = np.zeros(len(steps.edges) - 1)
    layers: _Layers = dict.fromkeys(names, (nothing, nothing)) if by else {}
    nominal = nothing if by else nothing + of_cohorts(run, flavor_resource) / size
    for queue, indices in rows.items():
        name, _ = shown_as(queue.partition("/")[0] if by else queue, names)
        own, borrowed = layers.get(name, (nothing, nothing))
        over = nothing if by else steps.means(indices, "borrowed") / size
        layers[name] = own + steps.means(indices, "used") / size - over, borrowed + over
        nominal = nominal + steps.means(indices, "nominal") / size
    found = _stacked(f"Usage of {flavor_resource}{by}", f"Usage ({unit})", steps, layers, names=names, limit=nominal)
    is_most = len(run.totals["nominal"]) > 1 and flavor_resource == pair_of(run, None)
    waiting = sum((steps.means(own, "waiting") for own in _first_series(run).values()), start=nothing)
    at = ((steps.times[:-1] + steps.times[1:]) / 2)[waiting > 0]
    marks = [Rug(at, "ink", top=True)] if len(at) else []
    keys = [Key("jobs wait (top)", "ink", "line")] if len(at) else []
    title = f"{found.title}{'; the most used resource' if is_most else ''}"
    return msgspec.structs.replace(found, title=title, marks=(*found.marks, *marks), keys=(*found.keys, *keys))


def _from_zero(lines: list[Line]) -> tuple[float, float]:
    return ends_of(np.concatenate([np.zeros(1), *(line.y for line in lines)]), zero=True)


def _means(steps: _Steps, rows: dict[str, Any], column: str, names: dict[str, int], size: float = 1.0) -> list[Line]:
    """Return a line for each name that has its own colour: the mean of a value in each interval."""
    return [
        Line(*steps.corners(steps.means(rows[name], column) / size), names[name], name)
        for name in _ordered({name: own for name, own in rows.items() if name in names}, names)
    ]


def _times_of(run: Recorded, kind: str, steps: _Steps) -> NDArray[Any]:
    """Return the midpoints of the intervals that contain decisions of a kind, in the unit of the time axis."""
    counts, _ = np.histogram(run.decisions["seconds"][is_named(run.decisions["kind"], kind)], steps.edges)
    return ((steps.times[:-1] + steps.times[1:]) / 2)[counts > 0]


def _ordered(found: Mapping[str, Any], names: dict[str, int]) -> list[str]:
    return sorted(found, key=lambda name: names.get(name, len(names)))


def _series(run: Recorded) -> Iterable[tuple[str, str, Ints]]:
    require(run, "picture", "usage")
    return series_of(run.usage)


def _first_series(run: Recorded) -> dict[str, Ints]:
    """Return each ClusterQueue's rows for its first `flavor/resource`.

    Values of a whole ClusterQueue, such as `waiting` and `share`, are the same for each `flavor/resource`.
    """
    rows: dict[str, Ints] = {}
    for name, _, indices in _series(run):
        rows.setdefault(name, indices)
    return rows


# --- charts of jobs -------------------------------------------------------------------------------------------------


@shown(
    "Cumulative distribution: the fraction of jobs that waited for at most the time on the x axis.",
    *("notebook", "report", "comparison"),
)
def waits(run: Recorded, by: str = "queue") -> Chart:
    """Draw the cumulative distribution of waiting times, by `queue` or any other column of jobs; 1 s or less is 1 s.

    The lines end below 100 % if jobs did not start.
    """
    counts = np.asarray(run.jobs["counted"])
    if not counts.any():
        raise StateError("picture: needs at least one job that counts")
    values, names = groups(run, by)
    waited, reach = np.where(unstarted(run), np.inf, run.jobs["waited"]), float(run.jobs["waited"][counts].max())
    rest = ~np.isin(values.codes, [values.names.index(name) for name in names])
    parts = [("all jobs", ALL, waited[counts])]
    parts += [(name, index, waited[counts & is_named(values, name)]) for name, index in names.items()]
    parts.append((*shown_as("others", names), waited[counts & rest]))
    lines = [_distribution(*part, reach) for part in parts if len(part[2])]
    low, high = (float(end([end(line.x) for line in lines])) for end in (np.min, np.max))
    if low == high:
        low, high = low / 2, high * 2
    high = next((at for at, _ in _WAITS if at >= high), high)  # a label at the longest wait
    least = float(min(line.y.min() for line in lines))
    bottom = math.floor(4 * least) / 4 if least < 1 else 0.0  # no empty quarter below the lines
    across = Axis("Waiting time (log scale)", (low, high), log=True, ticks=_WAITS)
    quarters = tuple((at / 4, f"{at / 4:.0%}") for at in range(5))
    up = Axis("Jobs that waited at most this long", (bottom, 1.05), ticks=quarters)
    return _lined(f"Distribution of waiting times{_longest(run)}", across, up, lines)


def _longest(run: Recorded) -> str:
    """Return the ClusterQueue and the length of the longest wait, for a title; empty if no job waits."""
    counted, queues = np.asarray(run.jobs["counted"]), run.jobs["cluster_queue"]
    waited = np.where(counted & (queues.codes >= 0), run.jobs["waited"], 0.0)
    row = int(waited.argmax()) if len(waited) else 0
    return f"; longest wait: {duration(float(waited[row]))} ({queues[row]})" if waited.any() else ""


def _distribution(name: str, index: int, waited: Floats, reach: float) -> Line:
    """Return the line of the waits; infinite ones, of jobs that did not start, keep it below 100 % up to `reach`."""
    ordered = np.sort(waited[np.isfinite(waited)])
    rows = np.ceil(np.linspace(0.0, 1.0, _POINTS + 1)[1:] * len(ordered)).astype(np.int64) - 1
    rows = rows[rows >= 0]  # of no job at all
    # A logarithmic axis has no 0.
    x = np.maximum(ordered[rows], _LEAST)
    last = np.append(x[1:] > x[:-1], [True])[: len(x)]
    right, up = np.repeat(x[last], 2)[1:], np.repeat(((rows + 1) / len(waited))[last], 2)[:-1]
    if len(ordered) < len(waited):
        right, up = np.append(right, max(reach, _LEAST)), np.append(up, len(ordered) / len(waited))
    return Line(right, up, index, name, width=2.6 if index == ALL else 1.8)


@shown("Runs of the first jobs. Hatched parts were lost by an eviction.")
def gantt(run: Recorded, flavor: str | None = None, jobs: int = 200, start: float = 0.0) -> Chart:
    """Draw the runs of the first `jobs` jobs after `start` (seconds), with evictions and hatched lost progress."""
    queues = run.jobs["cluster_queue"]
    kept = _first_runs(run, flavor, jobs, start)
    names = [queues[job] or "" for job in run.runs["job"][kept].tolist()]
    title = "Runs of the first {} with quota" + (f" on {flavor}" if flavor is not None else "")
    lanes = [list(range(len(kept)))]
    return _runs(run, title, kept, begin="reserved", groups_=lanes, names=names, known=colours(run), start=start)


@shown("Number of evictions. Rows are the queues of victims, columns the queues of preemptors.")
def preemptions(run: Recorded) -> Chart:
    """Draw the number of evictions by ClusterQueue of the victim and the preemptor; darker tiles have more."""
    table = evictions_of(run)
    hours = next((table[name] for name in table.names if name.startswith("lost_hours ")), np.zeros(len(table)))
    pairs = [(table["victim"][row] or "", table["preemptor"][row] or "no preemptor") for row in range(len(table))]
    rows, columns = (_most(run, pairs, table["count"], side) for side in (0, 1))
    counts, lost = np.zeros((len(rows), len(columns))), np.zeros((len(rows), len(columns)))
    for (victim, preemptor), count, own in zip(pairs, table["count"].tolist(), hours.tolist(), strict=True):
        row = rows.index(victim if victim in rows else "others")
        index = row, columns.index(preemptor if preemptor in columns else "others")
        counts[index] += count
        lost[index] += own
    tips = [
        f"{rows[row]} by {columns[column]}: {int(counts[row, column]):,}, {lost[row, column]:.3g} h lost"
        for row, column in np.ndindex(counts.shape)
    ]
    texts = [f"{int(count):,}" if count else "" for count in counts.flat]
    shades = np.where(counts > 0, counts / (counts.max(initial=0.0) or 1.0), np.nan)
    axes = (("ClusterQueue of the preemptor", columns), ("ClusterQueue of the victim", rows))
    marks = tiles(shades, texts, tips) or (Label(0.5, 0.5, "No evictions", anchor="middle"),)
    across, down = (names_axis(*axis) for axis in axes)
    down = msgspec.structs.replace(down, ends=down.ends[::-1])
    return Chart("Evictions by victim and preemptor", across, down, marks)


@shown("Bounded slowdown of jobs by their size.")
def slowdown_by_size(run: Recorded, resource: str | None = None) -> Chart:
    """Draw the median and 95th percentile of the bounded slowdown, by request rounded up to a power of two."""
    names = [name for name in run.jobs.names if is_resource(name)]
    if resource is not None and resource not in names:
        raise InvalidSpecError(f'picture: resource: "{resource}"; it must be one of {", ".join(names)}')
    resource = resource or next((name for name in names if "/" in name), names[0] if names else None)
    slow, pods = run.jobs["bounded_slowdown"], run.jobs["pods"]
    kept = np.asarray(run.jobs["counted"]) & ~np.isnan(slow)
    asked = pods * run.jobs[resource] if resource else pods * 1.0
    power = np.ceil(np.log2(np.maximum(asked, 1.0))).astype(np.int64)
    sizes, numbers = np.unique(power[kept], return_counts=True)
    groups_ = [np.sort(slow[kept & (power == size)]) for size in sizes]
    lines = [
        Line(2.0**sizes, np.array([own[-(-len(own) * percent // 100) - 1] for own in groups_]), index, name, dots="o")
        for percent, name, index in _PERCENTILES
    ]
    texts = [_size_text(resource, size, number) for size, number in zip(sizes.tolist(), numbers.tolist(), strict=True)]
    unit = "pods" if resource is None else amounts_of(f"/{resource}")[0]
    label = f"Request of {unit} per job, rounded up to a power of two (log scale)"
    across = Axis(label, ends_of(2.0**sizes, log=True), log=True, ticks=tuple(zip((2.0**sizes).tolist(), texts)))  # noqa: B905 - one each
    up = Axis("Bounded slowdown (log scale)", ends_of(np.concatenate([line.y for line in lines]), log=True), log=True)
    return _lined("Slowdown (lifetime / runtime) by job size", across, up, lines)


@shown("Usage, stacked by worker of a fleet. The line is the nominal quota of all workers.", "notebook", "report")
def clusters(run: Recorded, flavor_resource: str | None = None, pieces: int = PIECES) -> Chart:
    """Draw the usage of a flavor and resource, stacked by worker of a fleet; the line is the nominal quota.

    `flavor_resource` is as for `usage`.
    """
    return _usage(run, flavor_resource, pieces, workers_of(run), " by cluster")


@shown("Workers on which the first jobs of a fleet ran. Hatched parts were lost by an eviction.", "report")
def dispatch(run: Recorded, jobs: int = 200, start: float = 0.0) -> Chart:
    """Draw the runs of the first `jobs` jobs after `start` (seconds), in lanes that are grouped by worker."""
    workers = workers_of(run)
    kept = [row for row in _first_runs(run, None, jobs, start) if not np.isnan(run.runs["start"][row])]
    names = run.runs["cluster"]
    codes = names.codes[kept]
    own = [np.flatnonzero(codes == code).tolist() for code in range(len(names.names))]
    titles = [str(names[row]) for row in kept]
    title = "Runs on each worker of the first {}"
    return _runs(run, title, kept, begin="start", groups_=own, names=titles, known=workers, start=start)


def _first_runs(run: Recorded, flavor: str | None, jobs: int, start: float) -> list[int]:
    """Return the rows of the runs of the first jobs, in the order of their starts."""
    require(run, "picture", "runs")
    runs = run.runs
    chosen = runs["reserved"] >= start
    if flavor is not None:
        flavors = runs["flavors"]
        codes = [code for code, name in enumerate(flavors.names) if flavor in name.split(",")]
        chosen &= np.isin(flavors.codes, codes)
    rows = np.flatnonzero(chosen)
    # Runs are recorded in the order of their ends.
    rows = rows[np.lexsort((rows, runs["reserved"][rows]))]
    first: set[int] = set()
    for index, job in enumerate(runs["job"][rows].tolist()):
        if len(first) == jobs and job not in first:
            return list(rows[:index].tolist())
        first.add(job)
    return list(rows.tolist())


def _runs(
    run: Recorded,
    title: str,
    kept: list[int],
    *,
    begin: str,
    groups_: list[list[int]],
    names: list[str],
    known: dict[str, int],
    start: float,
) -> Chart:
    """Return a chart of runs as bars.

    Args:
        run: The run.
        title: The title, with a place for the number of jobs.
        kept: The rows of the runs.
        begin: The column with the beginning of the bars.
        groups_: Groups of positions in `kept`; each group has its own lanes.
        names: The name of each run in the legend.
        known: The colour indices of the names.
        start: The beginning of the chart, in seconds.
    """
    runs = run.runs
    ends = np.where(np.isnan(runs["end"]), run.seconds, runs["end"])[kept]
    begins, lost, jobs = (runs[name][kept] for name in (begin, "lost", "job"))
    unit, second = time_unit(float(ends.max(initial=0.0) - start) if kept else 0.0)
    boxes: list[Box] = []
    evicted: list[Line] = []
    groups_of: dict[str, int] = {}
    free = 0
    for group in groups_:
        lanes = _lanes(begins[group], ends[group])
        for index, lane in zip(group, (free + lane for lane in lanes), strict=True):
            name, colour = shown_as(names[index], known)
            groups_of[name] = colour
            at, end, size = begins[index] / second, ends[index] / second, lost[index] / second
            cut = runs["outcome"][kept[index]] in ("Preempted", "Evicted")
            parts = (Box(end - size, lane + 0.05, size, 0.9, colour, hatched=True),) if cut else ()
            boxes.append(Box(at, lane + 0.05, end - at, 0.9, colour, run.name_of(int(jobs[index])), parts))
            if cut:
                evicted.append(Line(np.full(2, end), np.array([lane, lane + 1.0]), "ink", width=1.6))
        free += max(lanes, default=-1) + 1
    keys = [Key(name, index) for name, index in sorted(groups_of.items(), key=lambda pair: (pair[1] < 0, pair[1]))]
    if evicted:
        keys += [Key("evicted", "ink", "line"), Key("lost progress", OTHERS, "hatch")]
    span = (float(begins.min()) / second, float(ends.max()) / second) if kept else (0.0, 1.0)
    # The number of a lane means nothing, so the y axis has no ticks.
    lanes_ = Axis("Runs of jobs, in free rows", (float(max(free, 1)), 0.0), ticks=())
    title = title.format(counted(len(set(jobs.tolist())), "job"))
    return Chart(title, Axis(SINCE, span, unit=unit), lanes_, (*boxes, *evicted), tuple(keys))


def _lanes(begin: Floats, end: Floats) -> list[int]:
    """Return the lowest free lane for each run, in the order of their starts."""
    free: list[int] = []
    taken: list[tuple[float, int]] = []
    found = []
    for at, until in zip(begin.tolist(), end.tolist(), strict=True):
        while taken and taken[0][0] <= at:
            heapq.heappush(free, heapq.heappop(taken)[1])
        # The lowest free lane keeps the chart low, and short jobs beside long ones.
        lane = heapq.heappop(free) if free else len(taken)
        heapq.heappush(taken, (until, lane))
        found.append(lane)
    return found


def _most(run: Recorded, pairs: list[tuple[str, str]], counts: Any, side: int) -> list[str]:
    """Return the names with the most evictions, in the order of all charts, followed by `others` for the rest."""
    totals = sums((pair[side], count) for pair, count in zip(pairs, counts.tolist(), strict=True))
    order = sorted(totals, key=lambda name: (-totals[name], name))
    if len(order) <= MOST_NAMES:
        return in_order(run, order)
    return [*in_order(run, order[: MOST_NAMES - 1]), "others"]


def _size_text(resource: str | None, power: int, jobs: int) -> str:
    """Return a label with a job size and, on a second line, the number of jobs of this size."""
    size = amount(resource, 2**power) if resource in ("memory", "ephemeral-storage") else f"{2**power:,}"
    return f"{size}\n{counted(jobs, 'job')}"
