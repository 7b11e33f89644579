"""Rows of a sweep in a file, so that one that was killed goes on where it was."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

from kueuepy.cluster import dump
from kueuepy.errors import InvalidSpecError
from kueuepy.simulation.result import plain
from kueuepy.tables import Categorical
from kueuepy.version import installed
from kueuepy.visibility.fidelity import fidelity

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Sequence

    from kueuepy.exploration.measure import Measure
    from kueuepy.exploration.policy import Setup
    from kueuepy.exploration.runs import Row, Task
    from kueuepy.simulation.table import Jobs


class Storage:
    """Rows by what they came of: cluster, jobs, settings, policy, seed, and which kueuepy made them."""

    def __init__(
        self, path: str | os.PathLike[str], setup: Setup, measures: Sequence[Measure], seeds: Sequence[int]
    ) -> None:
        """Opens the file, or makes it.

        Raises:
            InvalidSpecError: It is no file of a sweep.
        """
        self._path = path
        self._same = _print_of(setup, measures)
        self._jobs = {seed: _jobs_print(setup.jobs_of(seed)) for seed in seeds}
        with self._naming_the_file("is no file of a sweep"), closing(self._open()) as file, file:
            file.execute("CREATE TABLE IF NOT EXISTS runs (key TEXT PRIMARY KEY, row TEXT NOT NULL)")

    def _open(self) -> sqlite3.Connection:
        return sqlite3.connect(self._path, timeout=60)

    @contextmanager
    def _naming_the_file(self, what: str) -> Iterator[None]:
        """A fault of the file becomes an error that names it."""
        try:
            yield
        except (sqlite3.Error, ValueError) as error:
            raise InvalidSpecError(f"{self._path}: {what}: {error}") from None

    def known(self, tasks: Sequence[Task]) -> dict[int, Row]:
        """The rows that are there already, by place."""
        with self._naming_the_file("is no file of a sweep"), closing(self._open()) as file:
            rows = dict(file.execute("SELECT key, row FROM runs"))
            found = {task.place: rows.get(self._key(task)) for task in tasks}
            return {place: _row(text) for place, text in found.items() if text is not None}

    def keep(self, task: Task, row: Row) -> None:
        """Writes a row; it is in the file when this returns."""
        with self._naming_the_file("cannot be written"), closing(self._open()) as file, file:
            file.execute("INSERT OR REPLACE INTO runs VALUES (?, ?)", (self._key(task), json.dumps(row)))

    def _key(self, task: Task) -> str:
        run = json.dumps([self._same, self._jobs[task.seed], task.policy, task.seed], default=_plain)
        return hashlib.sha256(run.encode()).hexdigest()


def _row(text: str) -> Row:
    row = json.loads(text)
    if not isinstance(row, dict) or not {"figures", "error", "wall_s"} <= row.keys():
        raise ValueError(f"{text[:40]!r} is no row")
    return row


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else plain(value)


def _print_of(setup: Setup, measures: Sequence[Measure]) -> str:
    """What tells one setup from another, and one kueuepy."""
    parts = [
        dump(setup.cluster),
        json.dumps(plain(setup.settings)),
        *map(str, measures),
        installed(),
        fidelity().commit,
    ]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _jobs_print(jobs: Jobs) -> str:
    digest = hashlib.sha256(repr(jobs.templates).encode())
    for name in jobs.names:
        column = jobs[name]
        digest.update(name.encode())
        if isinstance(column, Categorical):
            digest.update("\0".join(map(str, column.names)).encode())
            column = column.codes
        digest.update(repr(column.tolist()).encode() if column.dtype == object else column.tobytes())
    return digest.hexdigest()
