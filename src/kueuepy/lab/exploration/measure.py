"""Metrics and targets in text form, such as `wait_p95(team-a)[priority >= 100] <= 30m`, and checks of results."""

import html
import math
import operator
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, get_args

import msgspec
import numpy as np
from numpy.typing import NDArray

from kueuepy.engine.decisions import PreemptionReason
from kueuepy.errors import InvalidSpecError, NotFoundError, checked, checked_methods, nearest, shown
from kueuepy.look.notebook import Sheet
from kueuepy.manifest import Limits, items, placed
from kueuepy.objects import SECOND, parse_span
from kueuepy.simulation.catalogue import FIGURES, FLEET_FIGURES, figure_text, unit_of, unit_text
from kueuepy.simulation.figures import Kpis
from kueuepy.simulation.grouped import job_figures, percentile
from kueuepy.simulation.result import Result
from kueuepy.tables.columns import Categorical, Columns, Framed, table_of
from kueuepy.tables.kinds import number_of

_OP = r"\s*(<=|>=|==|!=|<|>)(.*)"
# The text can be untrusted: each \s* is followed by a character that is not a space, so matching takes linear time.
_WRITTEN = re.compile(rf"(\w+)(?:\s*\(([^()]*)\))?(?:\s*\[([^][]*)\])?(?:{_OP})?", re.DOTALL)
# The column may contain spaces inside, but not at its end.
_CONDITION = re.compile(rf"([^<>=!]*[^<>=!\s]){_OP}", re.DOTALL)
# Look-arounds keep the spaces, so that names such as "brand" are not split.
_AND = re.compile(r"(?<=\s)and(?=\s)")
_PERCENTILE = re.compile(r"(first_)?wait_p(\d{1,2}|100)", re.ASCII)
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
    """Return all metrics of a simulation by name.

    The metric names are the same for every simulation: a per-resource metric has one name per flavor and resource, and
    `preemptions` has one per rule. Simulations of a fleet also have metrics for dispatching.
    """
    found: dict[str, float] = {}
    pairs = sorted(result.totals["nominal"])
    parts_of: dict[str, Sequence[str]] = {
        "preemptions": get_args(PreemptionReason),
        "won": getattr(result, "clusters", ()),
        "manager_idle": sorted({pair.partition("/")[2] for pair in pairs}),
    }
    for name in result.kpis.__struct_fields__:
        value = getattr(result.kpis, name)
        if isinstance(value, dict):
            found |= {f"{name} {part}": float(value.get(part, 0.0)) for part in parts_of.get(name, pairs)}
        # Only `figures` gets prices; without them there is no cost.
        elif name != "cost":
            found[name] = math.nan if value is None else float(value)
    return found


class Condition(msgspec.Struct, frozen=True):
    """A condition on a column of the jobs, such as `priority >= 100` or `user == alice`.

    Attributes:
        column: The name of the column.
        op: One of `<`, `<=`, `>`, `>=`, `==`, `!=`.
        value: The value to compare with, as a string.
    """

    column: str
    op: str
    value: str

    def mask(self, result: Result) -> NDArray[np.bool_]:
        """Return a boolean array with one value per job: whether the job satisfies the condition.

        Raises:
            InvalidSpecError: The column is numeric, and the value is not a number.
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
    """A metric of a simulation, optionally restricted to some jobs, a queue, or a flavor and resource.

    Attributes:
        figure: The name of a metric of `Kpis`, or `wait_pN` or `first_wait_pN` for any percentile N from 0 to 100.
        group: The restrictions: a ClusterQueue, a LocalQueue (`namespace/name`), `column=value` of the jobs,
            `flavor/resource` for a per-resource metric, or a rule for `preemptions`.
        conditions: Conditions that the counted jobs must satisfy.
    """

    figure: str
    group: tuple[str, ...] = ()
    conditions: tuple[Condition, ...] = ()

    def __str__(self) -> str:
        """Return the metric in text form, such as `wait_p95(team-a)[priority >= 100]`."""
        group = f"({', '.join(self.group)})" if self.group else ""
        inner = " and ".join(f"{c.column} {c.op} {c.value}" for c in self.conditions)
        return f"{self.figure}{group}" + (f"[{inner}]" if inner else "")

    def of(self, result: Result) -> float | None:
        """Return the value of the metric for a simulation; `None` if it is undefined because no job is counted.

        Raises:
            NotFoundError: The metric, queue or resource does not exist.
            InvalidSpecError: The metric does not support the restrictions.
        """
        parts = _Parts.of(self, result)
        is_of_jobs = (self.figure in FIGURES and FIGURES[self.figure].of_jobs) or _PERCENTILE.fullmatch(self.figure)
        if is_of_jobs:
            return _of_jobs(self.figure, result, parts.mask(result, self.conditions))
        if self.conditions or parts.of_jobs:
            known = ", ".join(name for name, figure in FIGURES.items() if figure.of_jobs)
            raise InvalidSpecError(f'"{self}": {self.figure} is not a figure of single jobs; those are {known}')
        if parts.queue is not None:
            return _of_queue(self, result, parts)
        return _of_run(self, result, parts)


class Promise(msgspec.Struct, frozen=True):
    """A target: a metric and the bound that it must satisfy.

    Attributes:
        measure: The metric.
        op: One of `<`, `<=`, `>`, `>=`, `==`, `!=`.
        value: The bound, in the unit of the metric.
        text: The target as it was written.
    """

    measure: Measure
    op: str
    value: float
    text: str

    def holds(self, value: float | None) -> bool:
        """Return whether a value meets the target; false for `None` and NaN."""
        return value is not None and not math.isnan(value) and bool(_OPERATORS[self.op](value, self.value))


class _Parts(msgspec.Struct, frozen=True):
    queue: str | None = None
    pair: str | None = None
    of_jobs: tuple[Condition, ...] = ()

    @staticmethod
    def of(measure: Measure, result: Result) -> "_Parts":
        queue = pair = None
        of_jobs = []
        pairs, queues = set(result.totals["nominal"]), set(result.trees)
        locals_ = set(map(str, result.jobs["queue"].names))
        for part in measure.group:
            column, equals, value = part.partition("=")
            if equals:
                of_jobs.append(Condition(column.strip(), "==", value.strip(" =")))
            elif part in queues:
                queue = part
            elif part in pairs or measure.figure == "preemptions":
                pair = part
            elif part in locals_:
                of_jobs.append(Condition("queue", "==", part))
            else:
                raise NotFoundError(f'"{measure}": {_near("queue or flavor/resource", part, pairs | queues | locals_)}')
        return _Parts(queue, pair, tuple(of_jobs))

    def mask(self, result: Result, conditions: Iterable[Condition]) -> NDArray[np.bool_]:
        own = (Condition("cluster_queue", "==", self.queue),) if self.queue is not None else ()
        found = np.array(result.jobs["counted"])
        for condition in (*own, *self.of_jobs, *conditions):
            found &= condition.mask(result)
        return found


def _near(what: str, name: str, known: set[str]) -> str:
    close = nearest(name, known)
    hint = f'did you mean "{close}"?' if close else f"there are {', '.join(sorted(known))}"
    return f"{shown(name)} names no {what}; {hint}"


def _of_jobs(figure: str, result: Result, mask: NDArray[np.bool_]) -> float | None:
    """Return a metric for a subset of the jobs; for an empty subset, only counts are defined."""
    known = FIGURES.get(figure)
    if not mask.any() and (known is None or known.source != "count"):
        return None
    if known is not None:
        value = job_figures(result.jobs, mask)[figure]
        return None if value is None else float(value)
    first, _, part = figure.rpartition("_p")
    waits = result.jobs["waited" if first == "wait" else "first_wait"][mask]
    waits = np.sort(waits[~np.isnan(waits)])
    return percentile(waits, int(part)) if len(waits) else None


def _of_queue(measure: Measure, result: Result, parts: _Parts) -> float | None:
    table = result.queues
    row = table["cluster_queue"].names.index(parts.queue)
    names = [name for name in table.names if name.partition(" ")[0] == measure.figure]
    chosen = [name for name in names if parts.pair is None or name == f"{measure.figure} {parts.pair}"]
    # A queue that never used the flavor and resource has no column for it.
    if not chosen and measure.figure in Kpis.__struct_fields__ and names:
        return 0.0
    if len(chosen) != 1:
        known = sorted({name.partition(" ")[0] for name in table.names[1:]})
        which = f"of which resource: {', '.join(names)}" if chosen else f"a queue has {', '.join(known)}"
        raise InvalidSpecError(f'"{measure}": {which}')
    value = float(table[chosen[0]][row])
    return None if math.isnan(value) else value


def _of_run(measure: Measure, result: Result, parts: _Parts) -> float | None:
    known = result.kpis.__struct_fields__
    if measure.figure not in known:
        raise NotFoundError(f'"{measure}": {_near("metric", measure.figure, set(known))}')
    value = getattr(result.kpis, measure.figure)
    if not isinstance(value, dict):
        if parts.pair is not None:
            raise InvalidSpecError(f'"{measure}": {measure.figure} is not by resource')
        return None if value is None else float(value)
    if parts.pair is not None:
        return float(value.get(parts.pair, 0))
    if measure.figure == "preemptions":
        return float(sum(value.values()))
    pairs = sorted(result.totals["nominal"])
    if len(pairs) != 1:
        raise InvalidSpecError(f'"{measure}": of which resource: {", ".join(pairs)}')
    return float(value.get(pairs[0], 0))


def number(text: str, where: str, figure: str = "wait_mean") -> float:
    """Parse a number such as `0.8`, `80%` or `30m`. Durations are converted to the unit of the metric.

    Args:
        text: The text.
        where: The file and line of the string, for error messages.
        figure: The name of the metric. Default: `wait_mean`, whose unit is seconds.

    Raises:
        InvalidSpecError: The string is not a number, or the string is a duration but the metric is not a time.

    Example:
        >>> number("80%", ""), number("1h30m", ""), number("90m", "", "lost_hours")
        (0.8, 5400.0, 1.5)
    """
    value = number_of(text.removesuffix("%"))
    if value is not None:
        return value / 100 if text.endswith("%") else value
    found = parse_span(text)
    hours = unit_of(figure) == "hours"
    if found is None or not (hours or unit_of(figure) == "span" or _PERCENTILE.fullmatch(figure)):
        allowed = (
            "a number, a percentage, or a time such as 30m" if found is None else "a number: the metric is not a time"
        )
        raise InvalidSpecError(f"{where}: {shown(text)}; it must be {allowed}")
    return found / SECOND / (_HOUR if hours else 1)


def _conditions(text: str, inside: str) -> tuple[Condition, ...]:
    """Return the conditions in brackets, which are separated by `and` or commas."""
    made = []
    for part in (one.strip() for clause in inside.split(",") for one in _AND.split(clause)):
        found = _CONDITION.fullmatch(part)
        if found is None or not found[3].strip():
            raise InvalidSpecError(f"{shown(text)}: [{shown(part)[1:-1]}]; it must be such as [priority >= 100]")
        made.append(Condition(found[1], found[2], found[3].strip()))
    return tuple(made)


def _parsed(text: str) -> tuple[Measure, tuple[str, str] | None]:
    """Parse the metric in a string, and the operator and value that follow the metric, if any."""
    found = _WRITTEN.fullmatch(text.strip())
    if found is None or (found[4] and not found[5].strip()):
        raise InvalidSpecError(
            f"{shown(text)}: is not a metric; it must be such as wait_p95(team-a)[priority >= 100] <= 30m"
        )
    figure, group, inside, op, value = found.groups()
    known = {*Kpis.__struct_fields__, *FLEET_FIGURES}
    if figure not in known and not _PERCENTILE.fullmatch(figure):
        raise NotFoundError(f"{shown(text)}: {_near('figure', figure, known)}")
    parts = tuple(part.strip() for part in (group or "").split(",") if part.strip())
    made = Measure(figure, parts, _conditions(text, inside) if inside else ())
    return made, (op, value.strip()) if op else None


def measure(text: str) -> Measure:
    """Parse a metric.

    Args:
        text: The string to parse, such as `wait_p95(team-a)[priority >= 100]`.

    Raises:
        InvalidSpecError: The string is malformed.
        NotFoundError: No metric has the given name.

    Example:
        >>> str(measure("wait_p95( team-a )[priority>=100]"))
        'wait_p95(team-a)[priority >= 100]'
    """
    found, comparison = _parsed(text)
    if comparison is not None:
        raise InvalidSpecError(f"{shown(text)}: a figure alone is asked for here, without {' '.join(comparison)}")
    return found


def promise(text: str) -> Promise:
    """Parse a target.

    Args:
        text: The string to parse, such as `wait_p95(team-a) <= 30m`.

    Raises:
        InvalidSpecError: The string is malformed.
        NotFoundError: No metric has the given name.

    Example:
        >>> promise("utilisation(h100/nvidia.com/gpu) >= 80%").value
        0.8
    """
    found, comparison = _parsed(text)
    if comparison is None:
        raise InvalidSpecError(f"{shown(text)}: there is no comparison; it must be such as {found} <= 30m")
    op, value = comparison
    limit, is_share = number(value, shown(text), found.figure), unit_of(found.figure) == "part"
    if value.endswith("%") and not is_share:
        unit = unit_text(found.figure) or "a plain number"
        raise InvalidSpecError(f"{shown(text)}: {value}; {found.figure} is no share: its unit is {unit}")
    if limit > 1 and is_share and not value.endswith("%"):
        raise InvalidSpecError(f"{shown(text)}: {value}; {found.figure} is a share: it must be such as 60% or 0.6")
    return Promise(found, op, limit, text.strip())


def promises(text: str) -> tuple[Promise, ...]:
    """Parse targets that are joined by `and`, such as `evictions <= 200 and jain > 0.8`."""
    parts, begin, depth, read = [], 0, 0, 0
    for found in _AND.finditer(text):
        between = text[read : found.start()]
        depth += between.count("[") - between.count("]")
        read = found.end()
        if depth <= 0:  # inside brackets, `and` joins conditions of one target
            parts.append(text[begin : found.start()])
            begin = read
    return tuple(promise(part) for part in (*parts, text[begin:]))


class PolicyVerdict(NamedTuple):
    """The result of one target.

    Attributes:
        line: The target as it was written, such as `wait_p95(team-a) <= 30m`.
        value: The value of the metric; `None` if it is undefined because no job is counted. An undefined metric does
            not meet the target.
        passed: Whether the target is met.
        place: The file and line of the target, such as `promises.yaml:3`.
        why: The author's comment on the target.

    Example:
        >>> print(PolicyVerdict("loops == 0", 0.0, True))
        kept: loops == 0: it is 0
    """

    line: str
    value: float | None
    passed: bool
    place: str = ""
    why: str = ""

    def __str__(self) -> str:
        """Return the verdict in one line."""
        found = _value_text(self) if self.value is None else f"it is {_value_text(self)}"
        place = f"{self.place}: " if self.place else ""
        why = f" ({self.why})" if self.why else ""
        return f"{place}{'kept' if self.passed else 'BROKEN'}: {self.line}: {found}{why}"


@checked_methods
class PolicyCheck(tuple[PolicyVerdict, ...], Framed):
    """The verdicts on all targets, in the order of the targets. `check_policy` creates it.

    Example:
        >>> found = PolicyCheck([PolicyVerdict("loops == 0", 0.0, True), PolicyVerdict("evictions <= 5", 9.0, False)])
        >>> found.passed, [verdict.line for verdict in found.failed]
        (False, ['evictions <= 5'])
    """

    __slots__ = ()

    @property
    def passed(self) -> bool:
        """Whether all targets are met."""
        return all(verdict.passed for verdict in self)

    @property
    def failed(self) -> tuple[PolicyVerdict, ...]:
        """The verdicts on the targets that are not met."""
        return tuple(verdict for verdict in self if not verdict.passed)

    def __repr__(self) -> str:
        """Return the number of targets that are met."""
        kept = len(self) - len(self.failed)
        return f"<Gate: {'passed' if self.passed else 'not passed'}, {kept} of {len(self)} promises kept>"

    def __str__(self) -> str:
        """Return one line per target."""
        return "\n".join(map(str, self))

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return the verdicts as dicts that can be written as JSON."""
        return [verdict._asdict() for verdict in self]

    def to_markdown(self) -> str:
        """Return a Markdown table, for example for a comment on a pull request. Targets that are not met come first."""
        rows = ["| promise | is | kept | |", "| --- | --- | --- | --- |"]
        # What is broken comes first, where a pull request shows it.
        for v in sorted(self, key=lambda verdict: verdict.passed):
            cells = (_as_code(v.line), _value_text(v), "yes" if v.passed else "**no**", _as_cell(v.why))
            rows.append(f"| {' | '.join(cells)} |")
        return "\n".join(rows)

    def to_table(self) -> Columns:
        """Return one row per target: `line`, `value`, `passed`, `place` and `why`."""
        return table_of(PolicyVerdict._fields, self)

    def sheets(self) -> tuple[Sheet]:
        """Return a table with one row per target."""
        rows = [(v.line, _value_text(v), "yes" if v.passed else "no", v.why) for v in self]
        return (Sheet(("promise", "is", "kept", "why"), rows),)


def _value_text(verdict: PolicyVerdict) -> str:
    """Return the value with its unit, and with more digits in parentheses, because it may be close to the target."""
    if verdict.value is None:
        return "no job counts"
    name = re.split(r"[<>=!\[]", verdict.line)[0].strip()
    text, exact = figure_text(name, verdict.value), f"{verdict.value:.6g}{' s' * (unit_of(name) == 'span')}"
    return text if text == exact else f"{text} ({exact})"


def _as_cell(text: str) -> str:
    return html.escape(" ".join(text.split())).replace("|", "&#124;")


def _as_code(text: str) -> str:
    """Return text as code in a Markdown table.

    Special characters are escaped if the text contains a backtick, a pipe or a backslash.
    """
    line = " ".join(text.split())
    if not set(line) & set("`|\\"):
        return f"`{line}`"
    # Nothing can be escaped within backquotes; within <code>, references stand for any character.
    return f"<code>{''.join(one if one.isalnum() or one == ' ' else f'&#{ord(one)};' for one in line)}</code>"


class Written(NamedTuple):
    """A target in a file: the parsed target, its file and line, and the author's comment."""

    promise: Promise
    where: str
    why: str


@checked
def check_policy(result: Result, promises: str | PathLike[str] | Sequence[str | Written]) -> PolicyCheck:
    """Check whether a simulation result meets performance targets.

    Args:
        result: The result of a simulation.
        promises: The targets as strings such as `wait_p95(team-a)[priority >= 100] <= 30m`; the result of
            `read_promises`; or the path of a YAML file with a list of targets. Each item of the file is a string, or a
            mapping with `promise` and an optional comment `why`.

    Returns:
        The verdict on each target.

    Raises:
        InvalidSpecError: There are no targets, or the file cannot be read or is malformed; the message names file and
            line.
        NotFoundError: A target names a metric, queue or resource that does not exist.

    Example:
        >>> from kueuepy import Cluster, ClusterQueue, ResourceFlavor, simulate
        >>> cluster = Cluster(ResourceFlavor("h100"), ClusterQueue.of("team", {"h100": {"nvidia.com/gpu": 2}}))
        >>> rows = [{"queue": "team", "submit": 60 * n, "runtime": "1h", "gpu": 1} for n in range(3)]
        >>> print(check_policy(simulate(cluster, rows), ["wait_p95(team) <= 30m", "loops == 0"]))
        BROKEN: wait_p95(team) <= 30m: it is 58 min (3480 s)
        kept: loops == 0: it is 0
    """
    if isinstance(promises, str | PathLike):
        written = read_promises(promises)
    else:
        written = [one if isinstance(one, Written) else Written(promise(one), "", "") for one in promises]
    if not written:
        raise InvalidSpecError("gate: no promise; give one at least")
    return PolicyCheck(_verdict(result, item) for item in written)


def _verdict(result: Result, written: Written) -> PolicyVerdict:
    with placed(written.where) if written.where else nullcontext():
        value = written.promise.measure.of(result)
    return PolicyVerdict(written.promise.text, value, written.promise.holds(value), written.where, written.why)


def read_promises(path: str | PathLike[str]) -> list[Written]:
    """Read the targets of a YAML file.

    Args:
        path: The file.

    Returns:
        The targets with their file and line.

    Raises:
        InvalidSpecError: The file is malformed; the message names file and line.
        NotFoundError: The file cannot be read, or a target names a metric that does not exist.
    """
    entries = list(items(Path(path), Limits(), strict=True))
    if len(entries) != 1 or not isinstance(entries[0].value, list) or not entries[0].value:
        raise InvalidSpecError(f"{path}: it must be a list of promises, such as - wait_p95(team-a) <= 30m")
    return [_written(entries[0].where((index,)), entry) for index, entry in enumerate(entries[0].value)]


def _written(where: str, entry: Any) -> Written:
    fields = entry if isinstance(entry, dict) else {"promise": entry}
    if set(fields) - {"promise", "why"} or "promise" not in fields:
        found = ", ".join(map(str, fields)) or "no field"
        raise InvalidSpecError(f"{where}: has {found}; it must have promise, and may have why")
    for name, value in fields.items():
        if not isinstance(value, str):
            what = "is not a string" if name == "promise" else f"{name} is not a string"
            raise InvalidSpecError(f"{where}: {what}; it must be such as wait_p95(team-a) <= 30m")
    with placed(where):
        return Written(promise(fields["promise"]), where, fields.get("why", ""))
