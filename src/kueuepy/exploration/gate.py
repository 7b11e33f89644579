"""Promises in a file, held against a run: what a change of quota must keep."""

from __future__ import annotations

import html
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import yaml

from kueuepy.errors import InvalidSpecError, KueueError
from kueuepy.errors.arguments import checked, checked_methods
from kueuepy.exploration.measure import Promise, promise
from kueuepy.notebook import Sheet, repr_html
from kueuepy.tables.framed import Framed, table_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kueuepy.simulation.result import Result
    from kueuepy.tables import Columns


class PolicyVerdict(NamedTuple):
    """A promise, and whether a run keeps it.

    Attributes:
        line: The promise as it is written.
        value: The figure's value; `None` where there is none, as no job counts. Such a promise is not kept.
        passed: Whether it is kept.
        place: Where it stands, as `promises.yaml:3`.
        why: What its author says of it.
    """

    line: str
    value: float | None
    passed: bool
    place: str = ""
    why: str = ""

    def __str__(self) -> str:
        """The verdict in a line."""
        found = "no job counts" if self.value is None else f"it is {self.value:.6g}"
        place = f"{self.place}: " if self.place else ""
        why = f" ({self.why})" if self.why else ""
        return f"{place}{'kept' if self.passed else 'BROKEN'}: {self.line}: {found}{why}"


@checked_methods
class PolicyCheck(Sequence[PolicyVerdict], Framed):
    """The verdicts on all promises, in their order."""

    __slots__ = ("_verdicts",)

    def __init__(self, verdicts: Iterable[PolicyVerdict]) -> None:
        """Holds the verdicts."""
        self._verdicts = tuple(verdicts)

    @property
    def passed(self) -> bool:
        """Whether all promises are kept."""
        return all(verdict.passed for verdict in self._verdicts)

    @property
    def failed(self) -> tuple[PolicyVerdict, ...]:
        """The promises that are not kept."""
        return tuple(verdict for verdict in self._verdicts if not verdict.passed)

    @overload
    def __getitem__(self, index: int) -> PolicyVerdict: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[PolicyVerdict, ...]: ...
    def __getitem__(self, index: int | slice) -> PolicyVerdict | tuple[PolicyVerdict, ...]:
        """One verdict, or several."""
        return self._verdicts[index]

    def __len__(self) -> int:
        """How many promises there are."""
        return len(self._verdicts)

    def __repr__(self) -> str:
        """How many are kept."""
        kept = len(self) - len(self.failed)
        return f"<Gate: {'passed' if self.passed else 'not passed'}, {kept} of {len(self)} promises kept>"

    def __str__(self) -> str:
        """A line for each promise."""
        return "\n".join(map(str, self._verdicts))

    def to_dicts(self) -> list[dict[str, Any]]:
        """The verdicts as JSON holds them."""
        return [verdict._asdict() for verdict in self._verdicts]

    def to_markdown(self) -> str:
        """A table, as a comment on a pull request shows it; those that are not kept come first."""
        rows = ["| promise | is | kept | |", "| --- | --- | --- | --- |"]
        for v in sorted(self._verdicts, key=lambda verdict: verdict.passed):
            value = "no job counts" if v.value is None else f"{v.value:.6g}"
            cells = (_as_code(v.line), value, "yes" if v.passed else "**no**", _as_cell(v.why))
            rows.append(f"| {' | '.join(cells)} |")
        return "\n".join(rows)

    def to_table(self) -> Columns:
        """Return a row for each promise: `line`, `value`, `passed`, `place` and `why`."""
        return table_of(PolicyVerdict._fields, self._verdicts)

    def sheets(self) -> tuple[Sheet]:
        """A row a promise."""
        rows = [(v.line, "" if v.value is None else f"{v.value:.6g}", "yes" if v.passed else "no", v.why) for v in self]
        return (Sheet(("promise", "is", "kept", "why"), rows),)

    _repr_html_ = repr_html


def _as_cell(text: str) -> str:
    """Return a text as one cell of a Markdown table, in which it is neither HTML nor the end of the cell."""
    return html.escape(" ".join(text.split())).replace("|", "&#124;")


def _as_code(text: str) -> str:
    """Return a text as code in a cell; a text that could end a code span has references for all that is special."""
    line = " ".join(text.split())
    if not set(line) & set("`|\\"):
        return f"`{line}`"
    return f"<code>{''.join(one if one.isalnum() or one == ' ' else f'&#{ord(one)};' for one in line)}</code>"


class Written(NamedTuple):
    """A promise in a file."""

    promise: Promise
    place: str
    why: str


@checked
def check_policy(result: Result, promises: str | PathLike[str] | Sequence[str | Written]) -> PolicyCheck:
    """Whether a run keeps promises.

    >>> from kueuepy import Cluster, ClusterQueue, ResourceFlavor, simulate
    >>> cluster = Cluster(ResourceFlavor("h100"), ClusterQueue.of("team", {"h100": {"nvidia.com/gpu": 2}}))
    >>> result = simulate(cluster, [{"queue": "team", "submit": 60 * n, "runtime": "1h", "gpu": 1} for n in range(3)])
    >>> print(check_policy(result, ["wait_p95(team) <= 30m", "loops == 0"]))
    BROKEN: wait_p95(team) <= 30m: it is 3480
    kept: loops == 0: it is 0

    Args:
        result: What came of the run.
        promises: A YAML file: a list of promises, each a text such as `wait_p95(team-a)[priority >= 100] <= 30m`, or
            a mapping of `promise` and `why`. Or the texts themselves, or what `read_promises` has read.

    Raises:
        InvalidSpecError: The file cannot be read, or holds something else; the message names file and line. Or there is
            no promise.
        NotFoundError: A promise names a figure, a queue or a resource that is not there.
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
    """The promises of texts; those that were read are left as they are."""
    return [text if isinstance(text, Written) else Written(promise(text), "", "") for text in promises]


def read_promises(path: str | PathLike[str]) -> list[Written]:
    """The promises of a YAML file, with their places.

    Raises:
        InvalidSpecError: It cannot be read, or holds something else; the message names file and line.
        NotFoundError: A promise names no figure.
    """
    document = _document(path)
    if not isinstance(document, yaml.SequenceNode) or not document.value:
        raise InvalidSpecError(f"{path}: it must be a list of promises, such as - wait_p95(team-a) <= 30m")
    return [_written(str(path), node) for node in document.value]


def _document(path: str | PathLike[str]) -> yaml.Node | None:
    try:
        return yaml.compose(Path(path).read_text(encoding="utf-8"), Loader=yaml.SafeLoader)
    except OSError as error:
        raise InvalidSpecError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise InvalidSpecError(f"{path}: is no UTF-8: {error.reason} at byte {error.start}") from None
    except yaml.MarkedYAMLError as error:
        line = f":{error.problem_mark.line + 1}" if error.problem_mark else ""
        raise InvalidSpecError(f"{path}{line}: is no YAML: {error.problem}") from None
    except (yaml.YAMLError, RecursionError) as error:
        what = "it is nested too deeply" if isinstance(error, RecursionError) else error
        raise InvalidSpecError(f"{path}: is no YAML: {what}") from None


def _fields(place: str, node: yaml.MappingNode) -> dict[str, yaml.Node]:
    """Return `promise` and `why` of a mapping, if it has nothing else."""
    names = [key.value if isinstance(key, yaml.ScalarNode) else "a key that is no text" for key, _ in node.value]
    fields = dict(zip(names, (value for _, value in node.value), strict=True))
    if set(fields) - {"promise", "why"} or "promise" not in fields:
        found = ", ".join(map(str, fields)) or "no field"
        raise InvalidSpecError(f"{place}: has {found}; it must have promise, and may have why")
    if len(fields) < len(names):
        raise InvalidSpecError(f"{place}: has {', '.join(names)}; it must have each field once")
    if "why" in fields and not isinstance(fields["why"], yaml.ScalarNode):
        raise InvalidSpecError(f"{place}: why is no text; it must be one")
    return fields


def _written(path: str, node: yaml.Node) -> Written:
    place = f"{path}:{node.start_mark.line + 1}"
    why = ""
    if isinstance(node, yaml.MappingNode):
        fields = _fields(place, node)
        why = fields["why"].value if "why" in fields else ""
        node = fields["promise"]
    if not isinstance(node, yaml.ScalarNode):
        raise InvalidSpecError(f"{place}: is no text; it must be such as wait_p95(team-a) <= 30m")
    try:
        return Written(promise(node.value), place, why)
    except KueueError as error:
        raise type(error)(f"{place}: {error}") from None
