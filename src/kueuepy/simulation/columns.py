"""The columns of a table of jobs: allowed values, and constraints between columns."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from kueuepy.errors import InvalidSpecError, KueueError, NotFoundError, briefly, suggestion
from kueuepy.errors.problems import nearest
from kueuepy.jobs.numbers import unsigned
from kueuepy.manifest import from_dict, is_subdomain, to_dict
from kueuepy.objects import LATEST, LONGEST, SECOND, Workload
from kueuepy.simulation.grouped import Flags, Ints, sums
from kueuepy.simulation.values import Column
from kueuepy.tables.columns import Categorical, Columns, concatenated, dates
from kueuepy.tables.kinds import (
    MIN_PODS,
    PODS,
    PRIORITY,
    SPAN,
    SPAN_OR_NEVER,
    TIME,
    TIME_OR_UNKNOWN,
    Kind,
    amount,
    whole,
)

ENDED_BY_LIMIT = "DeactivatedDueToMaximumExecutionTimeExceeded"
"""The reason of jobs that ran for longer than their limit."""
_NAME_LENGTH = 253
_NOT_IN_NAMES = re.compile(r"[^a-z0-9.-]+")
_DOTS_IN_NAMES = re.compile(r"-*\.[-.]*")
# In names between NUL characters: a character that is not allowed, or a dash or dot that is not between two others.
_IRREGULAR = re.compile(r"[^a-z0-9.\0-]|[.\0-]{2}")

Note = tuple[str, int]
Change = tuple[str, str, str, int]
"""A column, a name in it, the replacement, and the number of rows."""


class Remark(str):
    """The text of a note.

    Attributes:
        kind: What the note is about: `never` (jobs that can never be admitted), `warning` (another problem of a
            simulation), `name` (names that are not valid), or a column with missing values; empty for other notes.
    """

    __slots__ = ("kind",)
    kind: str


def remark(kind: str, text: str) -> Remark:
    """Return the text of a note of a kind."""
    found = Remark(text)
    found.kind = kind
    return found


def is_about(note: Note, kind: str) -> bool:
    """Return whether a note is of a kind."""
    return getattr(note[0], "kind", "") == kind


def name_notes(columns: Mapping[str, Any]) -> list[Note]:
    """Add notes about names that are not valid in Kubernetes, and about names that occur twice in a namespace."""
    found: list[Note] = []
    for column in ("name", "queue", "flavor"):
        rows = int(_invalid(column, columns[column]).sum()) if column in columns else 0
        if rows:
            found.append((remark("name", f"{column} is not a valid name in Kubernetes; see Jobs.clean"), rows))
    if "name" in columns and (rows := int(repeated(columns["name"], columns["queue"]).sum())):
        found.append((remark("name", "name occurs more than once in its namespace; see Jobs.clean"), rows))
    return found


def _invalid(column: str, values: Any) -> Flags:
    """Return a mask of the rows whose name is not valid."""
    if isinstance(values, Categorical):
        bad = [not all(map(is_subdomain, _parts(column, name))) for name in values.names]
        return np.array([*bad, False], bool)[values.codes]
    listed = values.tolist()
    if _are_plain(listed):
        return np.zeros(len(listed), bool)
    return np.array([not is_subdomain(name) for name in listed], bool)


def _are_plain(names: list[str]) -> bool:
    """Return whether all names are certainly valid, by checking all characters at once."""
    # One search in the text of all names is much faster than a regular expression for each name.
    text = "\0".join(["", *names, ""])
    return (
        not _IRREGULAR.search(text)
        and text.count("\0") == len(names) + 1
        and max(map(len, names), default=1) <= _NAME_LENGTH
    )


def _parts(column: str, name: str) -> list[str]:
    return name.split("/", 1) if column == "queue" else [name]


def repeated(names: Any, queues: Categorical) -> Flags:
    """Return the rows whose name already occurs in an earlier row of the same namespace."""
    listed = names.tolist()
    found = np.zeros(len(listed), bool)
    # The loop is only needed if any name occurs twice, in whatever namespace.
    if len(set(listed)) < len(listed):
        seen: set[tuple[str, str]] = set()
        for row, pair in enumerate(zip(_namespaces(queues), listed, strict=True)):
            found[row] = pair in seen
            seen.add(pair)
    return found


def _namespaces(queues: Categorical) -> list[str]:
    spaces = [name.partition("/")[0] for name in queues.names]
    return [spaces[code] for code in queues.codes.tolist()]


def valid_name(name: str, other: str = "job") -> str:
    """Return a valid name that is similar to a given name, or a default if the given name has no usable character.

    >>> valid_name("My Job_1"), valid_name("___")
    ('my-job-1', 'job')
    """
    text = _DOTS_IN_NAMES.sub(".", _NOT_IN_NAMES.sub("-", name.strip().lower()).strip("-."))
    return text[:_NAME_LENGTH].strip("-.") or other


def cleaned(jobs: Columns) -> tuple[dict[str, Any], list[Change]]:
    """Return the columns of a table with valid unique names, and the changes."""
    columns: dict[str, Any] = {}
    changes: list[Change] = []
    for column in ("queue", "flavor"):
        if column in jobs.names:
            columns[column] = _clean_texts(column, jobs[column], changes)
    if "name" in jobs.names:
        spaces = _namespaces(columns["queue"])
        names, before = _clean_names(spaces, jobs["name"].tolist()), jobs["name"].tolist()
        columns["name"] = np.array(names, object)
        pairs = (pair for pair in zip(before, names, strict=True) if pair[0] != pair[1])
        changes += [("name", *pair, rows) for pair, rows in sums((pair, 1) for pair in pairs).items()]
    return columns, changes


def _clean_texts(column: str, values: Categorical, changes: list[Change]) -> Categorical:
    """Replace invalid names of a categorical column; different names remain different."""
    counts = np.bincount(values.codes[values.codes >= 0], minlength=len(values.names))
    kept = {name for name in values.names if all(map(is_subdomain, _parts(column, name)))}
    other, numbers, found = "jobs" if column == "queue" else column, dict[str, int](), []
    for name, rows in zip(values.names, counts.tolist(), strict=True):
        after = name
        if name not in kept:
            after = "/".join(valid_name(part, other) for part in _parts(column, name))
            after = _numbered(after, kept, numbers) if after in kept else after
            kept.add(after)
        if after != name and rows:
            changes.append((column, name, after, rows))
        found.append(after)
    return Categorical(values.codes, found)


def _clean_names(spaces: list[str], names: list[str]) -> list[str]:
    """Replace invalid job names, and append a number to each name that already occurs in the same namespace."""
    # All names are made valid before any is numbered, so that a number cannot take a name that a later job has.
    valid = [name if is_subdomain(name) else valid_name(name) for name in names]
    taken: dict[str, set[str]] = {space: set() for space in spaces}
    for space, name in zip(spaces, valid, strict=True):
        taken[space].add(name)
    used, numbers = {space: set[str]() for space in taken}, {space: dict[str, int]() for space in taken}
    found = []
    for space, name in zip(spaces, valid, strict=True):
        after = _numbered(name, taken[space], numbers[space]) if name in used[space] else name
        used[space].add(after)
        found.append(after)
    return found


def _numbered(name: str, taken: set[str], numbers: dict[str, int]) -> str:
    """Return a name that is not taken, with the next number for its name, and add it to the names that are taken."""
    number = numbers.get(name, 2)
    # 12 characters are enough for a dash and any number of a row.
    while (found := f"{name[: _NAME_LENGTH - 12]}-{number}") in taken:
        number += 1
    numbers[name] = number + 1  # the search for the next name does not begin again
    taken.add(found)
    return found


def change_notes(changes: Iterable[Change]) -> list[tuple[str, int]]:
    """Return one note per column with the number of changed rows and an example."""
    found: dict[str, tuple[str, str, int]] = {}
    for column, before, after, rows in changes:
        first = found.get(column, (before, after, 0))
        found[column] = (first[0], first[1], first[2] + rows)
    return [(f'{column} is cleaned, as "{old}" to "{new}"', rows) for column, (old, new, rows) in found.items()]


ALIASES = {"gpu": "nvidia.com/gpu", "mem": "memory", "duration": "runtime", "local_queue": "queue"}
"""Alternative names of columns."""
SPANS = ("runtime", "limit", "every", "cost", "restore", "grace")
EPOCHAL = 10 * 365 * 86400 * SECOND
"""A submission at least this long after 1970 is a date; an earlier one is relative to another origin."""
NATIVE = ("cpu", "memory", "ephemeral-storage")
NEVER = -1
"""The runtime of a job that never ends, and the value of an optional span that is not set."""
UNFINISHED = "not finished; runtime is the time run so far"
"""The note about jobs whose runtime is only a lower bound."""


class MissingColumnsError(InvalidSpecError):
    """Columns that a table of jobs must have are missing.

    Attributes:
        names: The names of the missing columns.
        known: The names of the columns of the table.
    """

    def __init__(self, names: Sequence[str], known: Iterable[str]) -> None:
        """Create the error with the argument `map` as the remedy."""
        self.names, self.known = tuple(names), tuple(known)
        keys = ", ".join(f'"{name}": COLUMN' for name in names)
        super().__init__(self.text(f"map={{{keys}}} of Jobs.from_frame and Jobs.read"))

    def text(self, remedy: str) -> str:
        """Return the message with a remedy in the words of the interface."""
        several = len(self.names) > 1
        listed = ", ".join(f'"{name}"' for name in self.names)
        return (
            f"jobs: {'columns' if several else 'column'} {listed} {'are' if several else 'is'} missing; "
            f"there are {', '.join(self.known) or 'none'}; {remedy} takes {'them' if several else 'it'} from "
            f"{'other columns' if several else 'another column'}"
        )


def expect_columns(named: Iterable[str], known: Iterable[str]) -> None:
    """Check that a table of jobs has its columns.

    Args:
        named: The names of the columns, as `Jobs` has them.
        known: The names that the file or the frame has, for the error.

    Raises:
        MissingColumnsError: A column is missing.
    """
    if absent := [name for name in ("queue", "submit", "runtime") if name not in named]:
        raise MissingColumnsError(absent, known)


def is_resource(name: str) -> bool:
    """Return whether a column with the given name contains pod requests."""
    return name in NATIVE or "/" in name


def read_column(column: Column, notes: list[Note]) -> Any:
    """Read a column of jobs according to its name, and add a note if values are replaced with a default.

    Raises:
        InvalidSpecError: A value is invalid.
    """
    name = column.name
    reader = _READERS.get(name) or (amount(name) if is_resource(name) else Column.kept)
    found = column.integers(reader) if isinstance(reader, Kind) else reader(column)
    absent = column.missing()
    if name in ("submit", "queue"):
        column.refuse(absent, "it must be given")
    default = "0" if is_resource(name) else _DEFAULTS.get(name, "")
    if meant := misspelled(name):
        what = f'column "{name}" is not a field of a job; did you mean "{meant}"?'
        notes.append((remark("warning", what), len(found)))
    if default and absent.any():
        notes.append((remark(name, f"{name} is missing; treated as {default}"), int(absent.sum())))
    notes += column.notes
    return found


def public_column(name: str, columns: Mapping[str, Any] | Columns) -> Any:
    """Return a column of jobs in the units of the public table; dates, devices and bytes are not copied."""
    column = columns[name]
    if name in ("submit", "recorded_start"):
        # The internal columns mark a missing time with -1.
        absent = column < 0
        if len(column) and int(columns["submit"].min()) >= EPOCHAL:
            return dates(column, absent) if absent.any() else column.view("M8[ns]")
        return np.where(absent, np.nan, column / SECOND)
    return np.where(column < 0, np.inf, column / SECOND) if name == "runtime" else public_given(name, column)


def public_given(name: str, column: Any) -> Any:
    """Return a column of jobs that a result copies unchanged from its input, in the units of the public table."""
    if name in SPANS and name != "runtime":
        return np.where(column < 0, np.inf if name == "limit" else np.nan, column / SECOND)
    return column / 1000 if name == "cpu" else column


def name_of_row(row: int) -> str:
    """Return the generated name of a job's Workload."""
    return f"j{row:07d}"


def name_of(jobs: Columns, row: int) -> str:
    """Return the name of a job's Workload.

    Raises:
        NotFoundError: The row does not exist.
    """
    if not 0 <= row < len(jobs):
        raise NotFoundError(f"jobs: there is no row {row}; the last one is {len(jobs) - 1}")
    return str(jobs["name"][row]) if "name" in jobs.names else name_of_row(row)


def key_of(jobs: Columns, row: int) -> str:
    """Return the key (`namespace/name`) of a job's Workload; the namespace is the one of its LocalQueue."""
    return f"{str(jobs['queue'][row]).partition('/')[0]}/{name_of(jobs, row)}"


def keys_of(jobs: Columns) -> list[str]:
    """Return the key (`namespace/name`) of each job's Workload."""
    names = jobs["name"] if "name" in jobs.names else map(name_of_row, range(len(jobs)))
    return [f"{space}/{name}" for space, name in zip(_namespaces(jobs["queue"]), names, strict=True)]


def row_of(name: str) -> int | None:
    """Return the row of a job from its generated name, such as `j0000017`; `None` for any other name."""
    return unsigned(name[1:]) if name[:1] == "j" else None


def _runtimes(column: Column) -> Ints:
    found = column.integers(SPAN_OR_NEVER)
    # `Jobs` itself returns infinity for jobs that never end.
    infinite = 0 if column.numbers is None else int((column.numbers == np.inf).sum())
    if endless := int((found < 0).sum()) - int(column.missing().sum()) - infinite:
        column.notes.append((remark("runtime", "runtime is -1; the job never ends"), endless))
    return found


def _uids(column: Column) -> NDArray[Any]:
    """Return the UIDs, with an empty string where no UID is set."""
    found = [uid or "" for uid in column.names()]
    first: dict[str, int] = {}
    for row, uid in enumerate(found):
        if uid and first.setdefault(uid, row) != row:
            raise column.error(row, f"row {first[uid]} has it, too; each job must have its own")
    return np.array(found, object)


def _matching(column: Column, form: re.Pattern[str], allowed: str) -> Categorical:
    """Return texts, all of which must match a pattern."""
    found = column.names()
    bad = [code for code, name in enumerate(found.names) if not form.fullmatch(name)]
    column.refuse(np.isin(found.codes, bad), f"it must be {allowed}")
    return found


_LABELS = re.compile(r"[^=,\s]+=[^=,\s]*(?:,[^=,\s]+=[^=,\s]*)*")
_TOPOLOGY = re.compile(r"(?:required|preferred):\S+|unconstrained")
# The conversion of each column that has a meaning. The namespace of a LocalQueue is `default` if it is missing.
_READERS: dict[str, Kind | Callable[[Column], Any]] = {
    **dict.fromkeys(SPANS, SPAN),
    "submit": TIME,
    "runtime": _runtimes,
    "limit": SPAN_OR_NEVER,
    "recorded_start": TIME_OR_UNKNOWN,
    "pods": PODS,
    "min_pods": MIN_PODS,
    "priority": PRIORITY,
    "elastic": lambda column: column.integers(whole(0, missing=0, most=1)) > 0,
    "name": lambda column: np.array([own or name_of_row(row) for row, own in enumerate(column.names())], object),
    "uid": _uids,
    "queue": lambda column: column.names(lambda name: name if "/" in name else f"default/{name}"),
    "flavor": Column.names,
    "node_selector": lambda column: _matching(column, _LABELS, "node labels such as disk=ssd,zone=a"),
    "topology": lambda column: _matching(column, _TOPOLOGY, "required:LABEL, preferred:LABEL or unconstrained"),
    "namespace": Column.names,
    "template": Column.names,
}
PUBLIC = (*ALIASES, *NATIVE, *(name for name in _READERS if name != "template"))
"""The names of columns to suggest for one that is unknown."""


# The values that replace missing ones, as a note describes them.
_DEFAULTS = {"runtime": "infinite", "priority": "0", "pods": "1"}


def is_known(name: str) -> bool:
    """Return whether a column with the given name has a meaning in a table of jobs."""
    return name in _READERS or is_resource(name)


def misspelled(name: str) -> str | None:
    """Return the column whose name an unknown column probably misspells; `None` for a column of another meaning."""
    meant = None if is_known(name) else nearest(name, PUBLIC, _MISSPELLED)
    # Columns such as id and host have a meaning of their own, although uid and cost are similar.
    return meant if meant and meant[0] == name[0].lower() else None


_MISSPELLED = 0.75  # the columns recorded_wait and past_runtime of Jobs.from_workloads are less similar


def renamed(columns: Mapping[str, Any], names: Mapping[str, str] | None) -> dict[str, Any]:
    """Rename columns, and convert numbers to seconds or bytes.

    With `{"queue": "team", "memory": "mem:GB"}`, the column `team` becomes `queue`, and the numbers of the column `mem`
    are multiplied by 1e9 and become `memory`.

    Raises:
        InvalidSpecError: A key is not a field of a job, or a value to convert is not a number.
        NotFoundError: The column does not exist.
    """
    found, new = dict(columns), {}
    for name, there in (names or {}).items():
        if not is_known(ALIASES.get(name, name)):
            hint = suggestion(name, PUBLIC)
            raise InvalidSpecError(f'map: "{name}" is not a field of a job; {hint}; other columns keep their names')
        # A name that contains a colon itself is preferred to a name with a unit.
        source, _, unit = str(there).rpartition(":") if there not in columns else (there, "", "")
        if source not in columns or (unit and unit not in _UNITS):
            if source in columns:
                raise NotFoundError(f'map: "{there}": "{unit}" is not a unit; {suggestion(unit, _UNITS)}')
            raise NotFoundError(f'map: "{there}" names no column; {suggestion(source or unit, columns)}')
        # The renamed column must not stay under its old name, where it could have a meaning of its own.
        found.pop(source, None)
        new[name] = _in_unit(source, columns[source], _UNITS[unit]) if unit else columns[source]
    if names:
        expect_columns(by_name({**found, **new}), columns)
    return {**found, **new}


def _in_unit(name: str, values: Any, factor: int) -> Any:
    """Return the numbers of a column multiplied by a factor.

    Raises:
        InvalidSpecError: A value is not a number.
    """
    return Column(name, values, lambda row: f"jobs row {row}").plain_numbers() * factor


# The units of `renamed`, in seconds and in bytes.
_UNITS = {
    "s": 1,
    "min": 60,
    "h": 3600,
    "d": 86400,
    **{f"{letter}B": 1000**power for power, letter in enumerate(("k", "M", "G", "T"), 1)},
    **{f"{letter}iB": 1024**power for power, letter in enumerate(("K", "M", "G", "T"), 1)},
}


def by_name(columns: Mapping[str, Any]) -> dict[str, Any]:
    """Return columns with the names of `Jobs` in place of their aliases.

    Raises:
        InvalidSpecError: Two columns have the same name.
    """
    named = {ALIASES.get(name, name): values for name, values in columns.items()}
    if len(named) < len(columns):
        twice = sorted(name for name in columns if name in ALIASES and ALIASES[name] in columns)
        raise InvalidSpecError(f'jobs: columns "{twice[0]}" and "{ALIASES[twice[0]]}" are one; give one of them')
    return named


def with_defaults(columns: dict[str, Any], namespace: str = "default") -> dict[str, Any]:
    """Return columns of jobs with `submit` and `runtime`.

    A job without `submit` is submitted at the start, and a job without `runtime` never ends. A LocalQueue without a
    namespace is in the given one.
    """
    size = len(next(iter(columns.values()), ()))
    absent = {"submit": np.zeros(size, np.int64), "runtime": np.full(size, NEVER)}
    found = {**absent, **by_name(columns)}
    submit = Column("submit", found["submit"], str)
    if (gone := submit.missing()).any():
        found["submit"] = [0 if is_gone else value for value, is_gone in zip(found["submit"], gone, strict=True)]
    if namespace != "default" and "namespace" not in found and "queue" in found:
        queues = Column("queue", found["queue"], str)
        found["namespace"] = [None if "/" in str(name) else namespace for name in queues.values]
    return found


def check_columns(columns: dict[str, Any], where: Callable[[int], str]) -> None:
    """Check constraints between columns, and merge the column `namespace` into `queue`.

    Raises:
        InvalidSpecError: `min_pods` exceeds `pods`, a total request does not fit into 64 bits, or a job would end after
            the latest representable time if it started at its submission time.
    """
    if "namespace" in columns:
        columns["queue"] = _in_namespaces(columns["queue"], columns.pop("namespace"), where)
    # The core multiplies requests by pods in 64 bits; the product must not overflow there.
    pods: Any = columns.get("pods")
    for name, column in columns.items() if pods is not None else ():
        if name == "min_pods" and (row := _first(column > pods)) is not None:
            raise _error(where(row), name, f"{column[row]}; it must be at most pods, {pods[row]}")
        if is_resource(name) and (row := _first(column > (LONGEST - 1) // np.maximum(pods, 1))) is not None:
            unit = 1000 if name == "cpu" else 1
            total = int(column[row]) * int(pods[row]) // unit
            raise _error(where(row), name, f"{pods[row]} pods ask for {total}; it must be {LONGEST // unit} or less")
    submit, runtime = columns["submit"], columns["runtime"]
    if (row := _first(runtime > LONGEST - submit)) is not None:
        end = (int(submit[row]) + int(runtime[row])) // SECOND
        raise _error(where(row), "runtime", f"ends {end} s after 1970; it must be {LATEST} at most")


def _first(bad: Flags) -> int | None:
    return int(bad.argmax()) if bad.any() else None


def _error(where: str, name: str, text: str) -> InvalidSpecError:
    return InvalidSpecError(f'{where}, column "{name}": {text}')


def _in_namespaces(queues: Categorical, namespaces: Categorical, where: Callable[[int], str]) -> Categorical:
    # A pair of codes is one number, so that each combination is built once; code -1 becomes 0.
    width = len(namespaces.names) + 1
    pairs, codes = np.unique(queues.codes.astype(np.int64) * width + namespaces.codes + 1, return_inverse=True)
    names = []
    for number, pair in enumerate(pairs.tolist()):
        queue, space = divmod(pair, width)
        name, own = queues.names[queue], namespaces.names[space - 1] if space else ""
        if own and name.partition("/")[0] not in ("default", own):
            row = int((codes == number).argmax())
            raise _error(where(row), "namespace", f'"{own}", but the queue is {name}; they must be the same')
        names.append(f"{own}/{name.partition('/')[2]}" if own else name)
    return concatenated([Categorical(codes.astype(np.int32), names)])


def template_texts(templates: Sequence[Workload], rows: Ints) -> Categorical:
    """Return the Workload of each row as JSON text, which `read_templates` reads; missing for a row without one."""
    return Categorical(rows.astype(np.int32), [msgspec.json.encode(to_dict(one)).decode() for one in templates])


def read_templates(columns: dict[str, Any], where: Callable[[int], str]) -> tuple[Workload, ...]:
    """Return the Workloads of the column `template`, and replace the column with their indices.

    Args:
        columns: The columns by name; without the column `template`, there are no Workloads.
        where: A function that returns the description of a row for error messages.

    Raises:
        InvalidSpecError: A value is not a Workload in JSON.
    """
    if "template" not in columns:
        return ()
    column = columns["template"]
    columns["template"] = column.codes.astype(np.int64)
    found = []
    for code, text in enumerate(column.names):
        try:
            workload = from_dict(msgspec.json.decode(text))
        except (KueueError, msgspec.MsgspecError):
            workload = None
        if not isinstance(workload, Workload):
            row = int((column.codes == code).argmax())
            raise InvalidSpecError(
                f'{where(row)}, column "template": is {briefly(text)}; it must be a Workload in JSON, as to_pandas '
                "returns it; rename a column of another meaning"
            )
        found.append(workload)
    return tuple(found)
