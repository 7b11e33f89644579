"""Storage of sweep rows in a file, so that an interrupted sweep can continue."""

import hashlib
import json
import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any, TypedDict

import msgspec

from kueuepy.cluster import dump
from kueuepy.errors import InvalidSpecError
from kueuepy.fleet import Fleet
from kueuepy.lab.exploration.measure import Measure
from kueuepy.lab.exploration.policy import Setup
from kueuepy.lab.exploration.runs import Row, Task
from kueuepy.platform.visibility.fidelity import fidelity
from kueuepy.profiles.version import installed
from kueuepy.simulation.saved import fingerprint_of, plain
from kueuepy.simulation.table import Jobs

_SEED = "jobs:seed"


class Storage:
    """A file of rows, keyed by a hash of cluster, jobs, settings, policy, seed and kueuepy version."""

    def __init__(
        self, path: str | os.PathLike[str], setup: Setup, measures: Sequence[Measure], seeds: Sequence[int]
    ) -> None:
        """Open or create the file.

        Raises:
            InvalidSpecError: The file is not the storage file of a sweep, such as a journal or a recording.
        """
        self._path = path
        self._same = _print_of(setup, measures)
        self._setup = setup
        self._jobs = {seed: _jobs_print(setup.jobs_of(seed)) for seed in seeds}
        with self._file("is not a file of a sweep") as file:
            tables = [name for (name,) in file.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
            if tables and "runs" not in tables:
                raise InvalidSpecError(f"{path}: is not a file of a sweep: it has other tables: {', '.join(tables)}")
            file.execute("CREATE TABLE IF NOT EXISTS runs (key TEXT PRIMARY KEY, row TEXT, checksum TEXT)")

    @contextmanager
    def _file(self, what: str) -> Iterator[sqlite3.Connection]:
        """Yield the file in a transaction, and convert SQLite errors to an error that names the file."""
        try:
            with closing(sqlite3.connect(self._path, timeout=60)) as file, file:
                yield file
        except InvalidSpecError:
            raise
        except (sqlite3.Error, ValueError) as error:
            raise InvalidSpecError(f"{self._path}: {what}: {error}") from None

    def known(self, tasks: Sequence[Task]) -> dict[int, Row]:
        """Return the stored rows of the tasks, by position."""
        with self._file("is not a file of a sweep") as file:
            every = file.execute("SELECT key, row, checksum FROM runs")
            rows = {key: (row, checksum) for key, row, checksum in every}
            keys = {task.index: self._key(task) for task in tasks}
            return {index: _row(key, *rows[key]) for index, key in keys.items() if key in rows}

    def keep(self, task: Task, row: Row) -> None:
        """Write a row, and commit it before returning."""
        with self._file("cannot be written") as file:
            key, text = self._key(task), json.dumps(row)
            file.execute("INSERT OR REPLACE INTO runs VALUES (?, ?, ?)", (key, text, _checksum(key, text)))

    def _key(self, task: Task) -> str:
        """Return a hash of all inputs that determine the result of a simulation."""
        of_jobs = task.policy.get(_SEED, task.seed)
        if of_jobs not in self._jobs:
            self._jobs[of_jobs] = _jobs_print(self._setup.jobs_of(of_jobs))
        run = json.dumps([self._same, self._jobs[of_jobs], plain(task.policy), task.seed])
        return hashlib.sha256(run.encode()).hexdigest()


class _Kept(TypedDict):
    figures: dict[str, float]
    error: str | None
    wall_s: float


def _row(key: str, text: Any, checksum: Any) -> Row:
    # The checksum finds rows that were damaged or edited, which a sweep would otherwise return as results.
    if not isinstance(text, str) or checksum != _checksum(key, text):
        raise ValueError(f"{str(text)[:40]!r} is not a row that a sweep wrote; delete the file")
    return dict(msgspec.convert(json.loads(text), _Kept))


def _checksum(key: str, text: str) -> str:
    return hashlib.sha256(f"{key}\0{text}".encode()).hexdigest()


def _print_of(setup: Setup, measures: Sequence[Measure]) -> str:
    """Return a hash of the setup, the metrics and the kueuepy version."""
    cluster = setup.cluster
    fleet = (repr(cluster), repr(cluster.sync)) if isinstance(cluster, Fleet) else ()
    parts = [
        *map(dump, cluster.members if isinstance(cluster, Fleet) else (cluster,)),
        *fleet,
        json.dumps(plain(setup.settings)),
        *map(str, measures),
        # Another version of kueuepy or of Kueue's rules may give other rows.
        installed(),
        fidelity().commit,
    ]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _jobs_print(jobs: Jobs) -> str:
    # Times are hashed as the integers of the core, because decimal seconds lose digits.
    tables = fingerprint_of({"jobs": jobs.exact()})
    return hashlib.sha256(f"{jobs.templates!r}{tables}".encode()).hexdigest()
