"""Notes about names of jobs and queues that Kubernetes does not accept, and replacement of these names."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kueuepy.manifest.formats import is_subdomain
from kueuepy.simulation.grouped import sums
from kueuepy.tables.columns import Categorical, Columns, table_of

_LENGTH = 253
_OTHER = re.compile(r"[^a-z0-9.-]+")
_DOTS = re.compile(r"-*\.[-.]*")
# In names between NUL characters: a character that is not allowed, or a dash or dot that is not between two others.
_ODD = re.compile(r"[^a-z0-9.\0-]|[.\0-]{2}")

Change = tuple[str, str, str, int]
"""A column, a name in it, the replacement, and the number of rows."""


def name_notes(columns: Mapping[str, Any]) -> list[tuple[str, int]]:
    """Add notes about names that are not valid in Kubernetes, and about names that occur twice in a namespace."""
    found = []
    for column in ("name", "queue", "flavor"):
        rows = int(_invalid(column, columns[column]).sum()) if column in columns else 0
        if rows:
            found.append((f"{column} is not a valid name in Kubernetes; see Jobs.clean", rows))
    if "name" in columns and (rows := int(repeated(columns["name"], columns["queue"]).sum())):
        found.append(("name occurs more than once in its namespace; see Jobs.clean", rows))
    return found


def _invalid(column: str, values: Any) -> NDArray[np.bool_]:
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
    return not _ODD.search(text) and text.count("\0") == len(names) + 1 and max(map(len, names), default=1) <= _LENGTH


def _parts(column: str, name: str) -> list[str]:
    return name.split("/", 1) if column == "queue" else [name]


def repeated(names: Any, queues: Categorical) -> NDArray[np.bool_]:
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
    text = _DOTS.sub(".", _OTHER.sub("-", name.strip().lower()).strip("-."))
    return text[:_LENGTH].strip("-.") or other


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
    while (found := f"{name[: _LENGTH - 12]}-{number}") in taken:
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


def change_table(changes: Iterable[Change]) -> Columns:
    """Return changes as a table: `column`, `before`, `after` and `rows`."""
    return table_of(("column", "before", "after", "rows"), changes)
