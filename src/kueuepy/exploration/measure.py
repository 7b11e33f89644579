"""Figures by name, as people write them in promises: `wait_p95(team-a)[priority >= 100] <= 30m`."""

from __future__ import annotations

import math
import operator
import re
from typing import TYPE_CHECKING, Any, get_args

import msgspec
import numpy as np

from kueuepy.decisions.kinds import PreemptionReason
from kueuepy.errors import InvalidSpecError, NotFoundError
from kueuepy.errors.problems import nearest
from kueuepy.objects import SECOND
from kueuepy.simulation.catalogue import FIGURES, unit_of
from kueuepy.simulation.figures import Kpis, job_figures, percentile
from kueuepy.simulation.spans import parse_span
from kueuepy.tables import Categorical

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from kueuepy.simulation.result import Result

_TEXT = re.compile(
    r"\s*(?P<figure>\w+)\s*(?:\((?P<group>[^()]*)\))?\s*(?:\[(?P<filter>[^\[\]]*)\])?\s*"
    r"(?:(?P<op><=|>=|==|!=|<|>)\s*(?P<value>\S.*?))?\s*",
    re.DOTALL,
)
_CONDITION = re.compile(r"\s*(?P<column>[^<>=!]+?)\s*(?P<op><=|>=|==|!=|<|>)\s*(?P<value>\S.*?)\s*", re.DOTALL)
_AND = re.compile(r"\s+and\s+|\s*,\s*")
_PERCENTILE = re.compile(r"(first_)?wait_p(\d{1,2}|100)")
_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
_HOUR = 3600


def figures_of(result: Result) -> dict[str, float]:
    """All figures of a run by name, the same names for every run: those of a resource for each, those by rule too."""
    found: dict[str, float] = {}
    for name in Kpis.__struct_fields__:
        value = getattr(result.kpis, name)
        if isinstance(value, dict):
            parts = get_args(PreemptionReason) if name == "preemptions" else sorted(result.totals["nominal"])
            found |= {f"{name} {part}": float(value.get(part, 0.0)) for part in parts}
        elif name != "cost":
            found[name] = math.nan if value is None else float(value)
    return found


class Condition(msgspec.Struct, frozen=True):
    """What must hold of a column of jobs, such as `priority >= 100` or `user == alice`."""

    column: str
    op: str
    value: str

    def mask(self, result: Result) -> NDArray[np.bool_]:
        """The jobs of which it holds.

        Raises:
            InvalidSpecError: The column holds numbers, and the value is none.
        """
        column, compare = result.jobs[self.column], _OPERATORS[self.op]
        if isinstance(column, Categorical):
            known = np.array([compare(str(name), self.value) for name in column.names] + [self.op == "!="], bool)
            return np.asarray(known[column.codes])
        if column.dtype == object:
            return np.array([compare(str(value), self.value) for value in column.tolist()], bool)
        if column.dtype == bool:
            return np.asarray(compare(column, self.value.lower() in ("true", "1")))
        return np.asarray(compare(column, number(self.value, f'"[{self.column} {self.op} {self.value}]"')))


class Measure(msgspec.Struct, frozen=True):
    """A figure of a run, or of a part of it.

    Attributes:
        figure: The name of a figure of `Kpis`; `wait_pN` and `first_wait_pN` have any percentile.
        group: Of whom: ClusterQueues, LocalQueues (`namespace/name`), `column=value` of jobs; and, of figures by
            resource, a `flavor/resource`, of `preemptions` a rule.
        conditions: What must hold of the jobs that count.
    """

    figure: str
    group: tuple[str, ...] = ()
    conditions: tuple[Condition, ...] = ()

    def __str__(self) -> str:
        """As it is written."""
        group = f"({', '.join(self.group)})" if self.group else ""
        inner = " and ".join(f"{c.column} {c.op} {c.value}" for c in self.conditions)
        return f"{self.figure}{group}" + (f"[{inner}]" if inner else "")

    def of(self, result: Result) -> float | None:
        """Its value; `None` where there is none, as no job counts.

        Raises:
            NotFoundError: There is no such figure, queue or resource.
            InvalidSpecError: The figure is not there of a part of the jobs.
        """
        parts = _Parts.of(self, result)
        if _is_of_jobs(self.figure):
            return _of_jobs(self.figure, result, parts.mask(result, self.conditions))
        if self.conditions or parts.of_jobs:
            known = ", ".join(name for name, figure in FIGURES.items() if figure.of_jobs)
            raise InvalidSpecError(f'"{self}": {self.figure} is not a figure of single jobs; those are {known}')
        if parts.queue is not None:
            return _of_queue(self, result, parts)
        return _of_run(self, result, parts)


class Promise(msgspec.Struct, frozen=True):
    """A figure and what it must be.

    Attributes:
        measure: The figure.
        op: One of `<`, `<=`, `>`, `>=`, `==`, `!=`.
        value: In the unit of the figure.
        text: As it was written.
    """

    measure: Measure
    op: str
    value: float
    text: str

    def holds(self, value: float | None) -> bool:
        """Whether a value keeps it; none does not."""
        return value is not None and not math.isnan(value) and bool(_OPERATORS[self.op](value, self.value))


class _Parts(msgspec.Struct, frozen=True):
    """Whom a group names."""

    queue: str | None = None
    cell: str | None = None
    of_jobs: tuple[Condition, ...] = ()

    @staticmethod
    def of(measure: Measure, result: Result) -> _Parts:
        queue = cell = None
        of_jobs = []
        cells, queues = set(result.totals["nominal"]), set(result.trees)
        locals_ = set(map(str, result.jobs["queue"].names))
        for part in measure.group:
            column, equals, value = part.partition("=")
            if equals:
                of_jobs.append(Condition(column.strip(), "==", value.strip(" =")))
            elif part in queues:
                queue = part
            elif part in cells or measure.figure == "preemptions":
                cell = part
            elif part in locals_:
                of_jobs.append(Condition("queue", "==", part))
            else:
                raise NotFoundError(f'"{measure}": {_near("queue or flavor/resource", part, cells | queues | locals_)}')
        return _Parts(queue, cell, tuple(of_jobs))

    def mask(self, result: Result, conditions: Iterable[Condition]) -> NDArray[np.bool_]:
        own = (Condition("cluster_queue", "==", self.queue),) if self.queue is not None else ()
        found = np.array(result.jobs["counted"])
        for condition in (*own, *self.of_jobs, *conditions):
            found &= condition.mask(result)
        return found


def _near(what: str, name: str, known: set[str]) -> str:
    close = nearest(name, known)
    hint = f'did you mean "{close}"?' if close else f"there are {', '.join(sorted(known))}"
    return f'"{name}" names no {what}; {hint}'


def _is_of_jobs(figure: str) -> bool:
    """Whether any part of the jobs has the figure."""
    return (figure in FIGURES and FIGURES[figure].of_jobs) or _PERCENTILE.fullmatch(figure) is not None


def _of_jobs(figure: str, result: Result, mask: NDArray[np.bool_]) -> float | None:
    """A figure of some jobs; of none only how many there are."""
    known = FIGURES.get(figure)
    if not mask.any() and (known is None or known.source != "count"):
        return None
    if known is not None:
        value = job_figures(result, mask)[figure]
        return None if value is None else float(value)
    first, _, part = figure.rpartition("_p")
    waits = result.jobs["waited" if first == "wait" else "first_wait"][mask]
    waits = np.sort(waits[~np.isnan(waits)])
    return percentile(waits, int(part)) if len(waits) else None


def _of_queue(measure: Measure, result: Result, parts: _Parts) -> float | None:
    table = result.queues
    place = table["cluster_queue"].names.index(parts.queue)
    names = [name for name in table.names if name.partition(" ")[0] == measure.figure]
    chosen = [name for name in names if parts.cell is None or name == f"{measure.figure} {parts.cell}"]
    if not chosen and measure.figure in Kpis.__struct_fields__ and names:
        return 0.0
    if len(chosen) != 1:
        known = sorted({name.partition(" ")[0] for name in table.names[1:]})
        which = f"of which resource: {', '.join(names)}" if chosen else f"a queue has {', '.join(known)}"
        raise InvalidSpecError(f'"{measure}": {which}')
    value = float(table[chosen[0]][place])
    return None if math.isnan(value) else value


def _of_run(measure: Measure, result: Result, parts: _Parts) -> float | None:
    if measure.figure not in Kpis.__struct_fields__:
        raise NotFoundError(f'"{measure}": {_near("figure", measure.figure, set(Kpis.__struct_fields__))}')
    value = getattr(result.kpis, measure.figure)
    if not isinstance(value, dict):
        if parts.cell is not None:
            raise InvalidSpecError(f'"{measure}": {measure.figure} is not by resource')
        return None if value is None else float(value)
    if parts.cell is not None:
        return float(value.get(parts.cell, 0))
    if measure.figure == "preemptions":
        return float(sum(value.values()))
    cells = sorted(result.totals["nominal"])
    if len(cells) != 1:
        raise InvalidSpecError(f'"{measure}": of which resource: {", ".join(cells)}')
    return float(value.get(cells[0], 0))


def number(text: str, where: str, figure: str = "wait_mean") -> float:
    """A number: `0.8`, `80%`, or a time such as `30m` in the unit of the figure.

    >>> number("80%", ""), number("1h30m", ""), number("90m", "", "lost_hours")
    (0.8, 5400.0, 1.5)

    Raises:
        InvalidSpecError: It is none.
    """
    try:
        value = float(text[:-1]) / 100 if text.endswith("%") else float(text)
    except ValueError:
        value = math.nan
    if not math.isnan(value):
        return value
    found = parse_span(text)
    hours = unit_of(figure) == "hours"
    if found is None or not (hours or unit_of(figure) == "span" or _PERCENTILE.fullmatch(figure)):
        allowed = "a number, a percentage, or a time such as 30m" if found is None else "a number: it is no time"
        raise InvalidSpecError(f"{where}: {text!r}; it must be {allowed}")
    return found / SECOND / (_HOUR if hours else 1)


def _parsed(text: str) -> tuple[Measure, re.Match[str]]:
    found = _TEXT.fullmatch(text)
    if found is None:
        raise InvalidSpecError(f'"{text}": no figure; it must be such as wait_p95(team-a)[priority >= 100] <= 30m')
    group = tuple(part.strip() for part in (found["group"] or "").split(",") if part.strip())
    conditions = []
    for part in _AND.split(found["filter"]) if found["filter"] else ():
        inner = _CONDITION.fullmatch(part)
        if inner is None:
            raise InvalidSpecError(f'"{text}": [{part}]; it must be such as [priority >= 100]')
        conditions.append(Condition(inner["column"], inner["op"], inner["value"]))
    figure = found["figure"]
    if figure not in Kpis.__struct_fields__ and not _PERCENTILE.fullmatch(figure):
        raise NotFoundError(f'"{text}": {_near("figure", figure, set(Kpis.__struct_fields__))}')
    return Measure(figure, group, tuple(conditions)), found


def measure(text: str) -> Measure:
    """The figure of a text.

    >>> str(measure("wait_p95( team-a )[priority>=100]"))
    'wait_p95(team-a)[priority >= 100]'

    Raises:
        InvalidSpecError: It is none.
        NotFoundError: There is no figure of this name.
    """
    found, match = _parsed(text)
    if match["op"] is not None:
        raise InvalidSpecError(f'"{text}": a figure alone is asked for here, without {match["op"]} {match["value"]}')
    return found


def promise(text: str) -> Promise:
    """The promise of a text.

    >>> promise("utilisation(h100/nvidia.com/gpu) >= 80%").value
    0.8

    Raises:
        InvalidSpecError: It is none.
        NotFoundError: There is no figure of this name.
    """
    found, match = _parsed(text)
    if match["op"] is None:
        raise InvalidSpecError(f'"{text}": nothing is promised; it must be such as {found} <= 30m')
    return Promise(found, match["op"], number(match["value"], f'"{text}"', found.figure), text.strip())


def promises(text: str) -> tuple[Promise, ...]:
    """Promises joined by `and`, as `evictions <= 200 and jain > 0.8`."""
    return tuple(promise(part) for part in re.split(r"\s+and\s+(?![^\[]*\])", text))
