"""Reading of a recording: its events, its Workloads, and the state at a given time."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import finalize

from kueuepy.errors import InvalidSpecError
from kueuepy.files import is_file
from kueuepy.objects import Timestamp
from kueuepy.objects.times import LONGEST, moment_ns
from kueuepy.platform.history.schema import connected, reading, unpack
from kueuepy.sources import LiveSource

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

SUFFIX = ".db"


class Recording:
    """A recording, open for reading. Another process can write to the recording at the same time.

    Attributes:
        path: The file.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Open a recording.

        Raises:
            NotFoundError: The file cannot be read.
            InvalidSpecError: The file is not a recording.
        """
        self.path = Path(path)
        self._db = connected(path)
        # Most callers read one recording and drop it; Python 3.13 warns of a connection that is dropped unclosed.
        self._close = finalize(self, self._db.close)

    def close(self) -> None:
        """Close the file, which otherwise is closed when the Recording is no longer referenced."""
        self._close()

    @property
    def meta(self) -> dict[str, str]:
        """The values of the table `meta`."""
        with reading(self.path):
            return dict(self._db.execute("SELECT name, value FROM meta"))

    @property
    def end(self) -> int:
        """The time of the last record, in nanoseconds since the Unix epoch; 0 if there is none."""
        with reading(self.path):
            (time,) = self._db.execute("SELECT max(time) FROM watches").fetchone()
            return int(time or 0)

    def gaps(self) -> list[dict[str, Any]]:
        """Return the periods in which intermediate states might be missing: `kind`, `since`, `until` and `reason`."""
        names = ("kind", "since", "until", "reason")
        with reading(self.path):
            rows = self._db.execute("SELECT kind, since, until, reason FROM gaps ORDER BY since")
            return [dict(zip(names, row, strict=True)) for row in rows]

    def events(self) -> Iterator[dict[str, Any]]:
        """Iterate over the recorded versions as watch events, in the order of their revisions.

        Each event has `received`, `type`, `kind` and `object`.
        """
        seen: set[tuple[str, str]] = set()
        with reading(self.path):
            pod_sets = self._pod_sets()
            rows = self._db.execute(
                "SELECT time, revision, kind, key, body FROM objects"
                " UNION ALL SELECT time, revision, kind, key, body FROM nodes"
                " UNION ALL SELECT transitions.time, revision, 'Workload', namespace || '/' || name, state"
                " FROM transitions JOIN workloads ON workloads.id = workload"
                " WHERE state IS NOT NULL OR what = 'Deleted' ORDER BY 2"
            )
            for time, revision, kind, key, body in rows:
                if body is None:
                    what = "DELETED"
                    seen.discard((kind, key))
                    namespace, _, name = key.rpartition("/")
                    obj: dict[str, Any] = {"kind": kind, "metadata": {"name": name}}
                    if namespace:
                        obj["metadata"]["namespace"] = namespace
                else:
                    what = "MODIFIED" if (kind, key) in seen else "ADDED"
                    seen.add((kind, key))
                    obj = _workload(body, pod_sets) if kind == "Workload" else unpack(body)
                obj["metadata"]["resourceVersion"] = str(revision)
                yield {"received": str(Timestamp.of(time)), "type": what, "kind": kind, "object": obj}

    def workloads(self) -> Iterator[tuple[dict[str, Any], int | None, str]]:
        """Iterate over the last version of each Workload, in the order of creation.

        Yields:
            The Workload, the time of its deletion (nanoseconds since the Unix epoch, or `None`), and its user.
        """
        with reading(self.path):
            pod_sets = self._pod_sets()
            rows = self._db.execute(
                "SELECT state, deleted, user, max(transitions.id) FROM transitions"
                " JOIN workloads ON workloads.id = workload WHERE state IS NOT NULL"
                " GROUP BY workload ORDER BY created, workload"
            )
            for state, deleted, user, _ in rows:
                yield _workload(state, pod_sets), deleted, user

    def state(self, time: int) -> Iterator[dict[str, Any]]:
        """Iterate over the objects that existed at a given time.

        Args:
            time: The time, in nanoseconds since the Unix epoch.
        """
        with reading(self.path):
            for table in ("objects", "nodes"):
                sql = f"SELECT kind, key, body FROM {table} WHERE time <= ? ORDER BY revision"  # noqa: S608 - a constant
                latest = {(kind, key): body for kind, key, body in self._db.execute(sql, (time,))}
                yield from (unpack(body) for body in latest.values() if body is not None)
            pod_sets = self._pod_sets()
            rows = self._db.execute(
                "SELECT state, max(transitions.id) FROM transitions JOIN workloads ON workloads.id = workload"
                " WHERE state IS NOT NULL AND transitions.time <= ? AND (deleted IS NULL OR deleted > ?)"
                " GROUP BY workload ORDER BY created, workload",
                (time, time),
            )
            yield from (_workload(state, pod_sets) for state, _ in rows)

    def _pod_sets(self) -> dict[str, Any]:
        return {key.hex(): unpack(body) for key, body in self._db.execute("SELECT hash, body FROM pod_sets")}


def _workload(state: bytes, pod_sets: dict[str, Any]) -> dict[str, Any]:
    """Return a recorded Workload, with the hash of its pod sets replaced with the pod sets."""
    found: dict[str, Any] = unpack(state)
    found["spec"]["podSets"] = pod_sets[found["spec"]["podSets"]]
    return found


class RecordedState(LiveSource):
    """The objects of a recording at a given time."""

    def __init__(self, recording: Recording, time: int | None = None, name: str = "") -> None:
        """Select the state of a recording.

        Args:
            recording: The recording.
            time: The time in nanoseconds since the Unix epoch; the end of the recording by default.
            name: The name of the source for messages; by default, the path of the recording.

        Raises:
            InvalidSpecError: The recording is empty.
        """
        self.recording = recording
        self.name = name or str(recording.path)
        end = recording.end
        if not end:
            raise InvalidSpecError(f"{self.name}: is empty; `kueuepy record` has not recorded any object yet")
        self.time = end if time is None else time
        self.release = recording.meta.get("release", "")
        self.stamp = {}
        self.notes = []
        if time is not None and time > end:
            self.notes.append(f"{self.name}: ends at {Timestamp.of(end)}; the state of that time is used")
            self.time = end

    @classmethod
    def open(cls, name: str) -> RecordedState:
        """Open `FILE.db` at its end, or `FILE.db@TIME` at the given time.

        Raises:
            NotFoundError: The file cannot be read.
            InvalidSpecError: The file is not a recording, or the time is not valid.
        """
        if name.endswith(SUFFIX) and is_file(name):
            return cls(Recording(name), None, name)
        path, at, text = name.rpartition(f"{SUFFIX}@")
        if not at:
            return cls(Recording(name), None, name)
        time = moment_ns(_completed(text), f"{name}: time")
        return cls(Recording(f"{path}{SUFFIX}"), min(time, LONGEST), name)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Iterate over the objects of the recording."""
        for obj in self.recording.state(self.time):
            self.stamp[obj["kind"]] = str(max(int(self.stamp.get(obj["kind"], 0)), _revision(obj)))
            yield obj


def _revision(obj: dict[str, Any]) -> int:
    text = str(obj["metadata"].get("resourceVersion", "0"))
    return int(text) if text.isdecimal() else 0


_MINUTES = len("2026-11-20T10:00Z")


def _completed(text: str) -> str:
    """Return a time with seconds: `2026-11-20T10:00Z` becomes `2026-11-20T10:00:00Z`."""
    return f"{text[:-1]}:00Z" if len(text) == _MINUTES and text.endswith("Z") else text
