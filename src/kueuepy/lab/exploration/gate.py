"""Check a simulation result against performance targets from a file, for example in CI."""

from __future__ import annotations

import html
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from kueuepy.errors import InvalidSpecError, KueueError
from kueuepy.errors.arguments import checked, checked_methods
from kueuepy.lab.exploration.measure import Promise, promise
from kueuepy.look.notebook import Sheet
from kueuepy.manifest.text.limits import Limits
from kueuepy.manifest.text.reading import read
from kueuepy.tables.columns import Framed, table_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kueuepy.simulation.result import Result
    from kueuepy.tables import Columns


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
        found = "no job counts" if self.value is None else f"it is {self.value:.6g}"
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
        for v in sorted(self, key=lambda verdict: verdict.passed):
            value = "no job counts" if v.value is None else f"{v.value:.6g}"
            cells = (_as_code(v.line), value, "yes" if v.passed else "**no**", _as_cell(v.why))
            rows.append(f"| {' | '.join(cells)} |")
        return "\n".join(rows)

    def to_table(self) -> Columns:
        """Return one row per target: `line`, `value`, `passed`, `place` and `why`."""
        return table_of(PolicyVerdict._fields, self)

    def sheets(self) -> tuple[Sheet]:
        """Return a table with one row per target."""
        rows = [(v.line, "" if v.value is None else f"{v.value:.6g}", "yes" if v.passed else "no", v.why) for v in self]
        return (Sheet(("promise", "is", "kept", "why"), rows),)


def _as_cell(text: str) -> str:
    return html.escape(" ".join(text.split())).replace("|", "&#124;")


def _as_code(text: str) -> str:
    """Return text as code in a Markdown table cell.

    Special characters are escaped if the text contains a backtick, a pipe or a backslash.
    """
    line = " ".join(text.split())
    if not set(line) & set("`|\\"):
        return f"`{line}`"
    return f"<code>{''.join(one if one.isalnum() or one == ' ' else f'&#{ord(one)};' for one in line)}</code>"


class Written(NamedTuple):
    """A target in a file: the parsed target, its file and line, and the author's comment."""

    promise: Promise
    place: str
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
        BROKEN: wait_p95(team) <= 30m: it is 3480
        kept: loops == 0: it is 0
    """
    written = read_promises(promises) if isinstance(promises, str | PathLike) else texts(promises)
    if not written:
        raise InvalidSpecError("gate: no promise; give one at least")
    return PolicyCheck(_verdict(result, item) for item in written)


def _verdict(result: Result, written: Written) -> PolicyVerdict:
    try:
        value = written.promise.measure.of(result)
    except KueueError as error:
        raise type(error)(f"{written.place}: {error}" if written.place else str(error)) from None
    return PolicyVerdict(written.promise.text, value, written.promise.holds(value), written.place, written.why)


def texts(promises: Iterable[str | Written]) -> list[Written]:
    """Parse targets; items that `read_promises` has parsed are returned unchanged."""
    return [text if isinstance(text, Written) else Written(promise(text), "", "") for text in promises]


def read_promises(path: str | PathLike[str]) -> list[Written]:
    """Read the targets of a YAML file.

    Args:
        path: The file.

    Returns:
        The targets with their file and line.

    Raises:
        InvalidSpecError: The file cannot be read or is malformed; the message names file and line.
        NotFoundError: A target names a metric that does not exist.
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise InvalidSpecError(f"{path}: cannot be read: {error.strerror}") from None
    entries = list(read(str(path), data, Limits(), strict=True))
    if len(entries) != 1 or not isinstance(entries[0].value, list) or not entries[0].value:
        raise InvalidSpecError(f"{path}: it must be a list of promises, such as - wait_p95(team-a) <= 30m")
    return [_written(entries[0].where((place,)), entry) for place, entry in enumerate(entries[0].value)]


def _written(place: str, entry: Any) -> Written:
    fields = entry if isinstance(entry, dict) else {"promise": entry}
    if set(fields) - {"promise", "why"} or "promise" not in fields:
        found = ", ".join(map(str, fields)) or "no field"
        raise InvalidSpecError(f"{place}: has {found}; it must have promise, and may have why")
    for name, value in fields.items():
        if not isinstance(value, str):
            what = "is not a string" if name == "promise" else f"{name} is not a string"
            raise InvalidSpecError(f"{place}: {what}; it must be such as wait_p95(team-a) <= 30m")
    try:
        return Written(promise(fields["promise"]), place, fields.get("why", ""))
    except KueueError as error:
        raise type(error)(f"{place}: {error}") from None
