"""Writing of a recording: each event is written once, in a transaction."""

import hashlib
import os
from collections.abc import Iterable
from typing import Any, NamedTuple

import msgspec

from kueuepy.errors import InvalidSpecError
from kueuepy.files import closed_on_error
from kueuepy.jobs.numbers import unsigned
from kueuepy.objects import SECOND, parse_time
from kueuepy.platform.history.anonymise import Anonymiser
from kueuepy.platform.history.reading import closed, connected, pack, reading, table_of, unpack
from kueuepy.platform.history.reduction import content, key_of, reduced, transitions

_WORKLOAD = (
    "INSERT INTO workloads (uid, namespace, name, queue, priority, job, user, created, pod_sets)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
# `state` is NULL except in the last row of a write, because each write has one state.
_TRANSITION = "INSERT INTO transitions (workload, time, revision, what, reason, state) VALUES (?, ?, ?, ?, ?, ?)"


# The longest time from a write to its receipt: a lost event may have been written before the last one was received.
_DELIVERY = 5 * SECOND


class _Known(NamedTuple):
    """A Workload that has not been deleted.

    Attributes:
        row: The id of the Workload in the table `workloads`.
        key: `namespace/name`.
        revision: The last recorded revision.
        latest: The last recorded version, with its pod sets replaced with their hash.
    """

    row: int
    key: str
    revision: int
    latest: dict[str, Any]


class RecordingWriter:
    """The writer of one recording. All events recorded before a `commit` survive if the process is killed.

    Attributes:
        revisions: The resourceVersion up to which each kind has been recorded.
        stored: The number of events that this writer has added to the recording, as `Recording.events` returns them.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        source: str = "",
        users: str = "",
        anonymiser: Anonymiser | None = None,
    ) -> None:
        """Create a recording, or continue one.

        Args:
            path: The file.
            source: The name of the cluster, such as `cluster:prod`.
            users: The label of a Workload that names its user; an empty string for none.
            anonymiser: The replacement of names; `None` to record names unchanged.

        Raises:
            NotFoundError: The file cannot be opened.
            InvalidSpecError: The file is not a recording, or was written with a different key.
        """
        self._anonymiser = anonymiser
        self._users = users
        self.stored = 0
        # Without it, the file would stay locked after an error.
        with closed_on_error(connected(path, writable=True)) as self._db:
            self._begin()
            self._check_key(str(path))
            if source and anonymiser is None:
                self.set_meta("source", source)
            self.commit()
            with reading(path):
                self.revisions: dict[str, int] = dict(self._db.execute("SELECT kind, revision FROM watches"))
                self._last_seen: dict[str, int] = dict(self._db.execute("SELECT kind, time FROM watches"))
                self._objects = self._known_objects()
                self._workloads = self._known_workloads()
                self._pod_sets: set[bytes] = {row[0] for row in self._db.execute("SELECT hash FROM pod_sets")}

    def set_meta(self, name: str, value: str) -> None:
        """Set a value of the table `meta`."""
        self._begin()
        self._db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, value))

    def event(self, kind: str, deleted: bool, obj: dict[str, Any], time: int) -> None:  # noqa: FBT001 - of a watch
        """Record a watch event; an event that is already recorded is ignored.

        Args:
            kind: The kind of the object.
            deleted: Whether the object was deleted.
            obj: The whole object.
            time: The time of receipt, in nanoseconds since the Unix epoch.
        """
        revision = _revision(obj)
        # A watch that starts again can repeat events.
        if revision <= self.revisions.get(kind, -1):
            return
        self._begin()
        self._write(kind, None if deleted else obj, obj, time, use_conditions=False)
        self._advance(kind, revision, time)

    def listed(self, kind: str, objects: Iterable[dict[str, Any]], revision: int, time: int) -> None:
        """Record a complete list of a kind: objects that are new or changed, and objects that no longer exist.

        Changes that happened before the list are recorded with the times of their conditions. If the kind was recorded
        before, a row is added to the table `gaps`.

        Args:
            kind: The kind of the objects.
            objects: All existing objects of the kind.
            revision: The resourceVersion of the list.
            time: The time of receipt, in nanoseconds since the Unix epoch.
        """
        self._begin()
        if kind in self._last_seen:
            why = "the recorded version expired; the state was listed again"
            row = (kind, self._last_seen[kind] - _DELIVERY, time, why)
            self._db.execute("INSERT INTO gaps VALUES (?, ?, ?, ?)", row)
        present: set[str] = set()
        for obj in objects:
            present.add(self._write(kind, obj, obj, time, use_conditions=True))
        if kind == "Workload":
            for uid in [uid for uid in self._workloads if uid not in present]:
                self._delete(uid, revision, time)
        else:
            for identity in [one for one in self._objects if one[0] == kind and one[1] not in present]:
                self._version(identity, None, revision, time)
        self._advance(kind, revision, time)

    def bookmark(self, kind: str, revision: int, time: int) -> None:
        """Record that the recording contains all events of a kind up to a resourceVersion."""
        self._begin()
        self._advance(kind, revision, time)

    def commit(self) -> None:
        """Make all records since the previous commit durable."""
        if self._db.in_transaction:
            self._db.execute("COMMIT")

    def prune(self, before: int) -> None:
        """Delete Workloads deleted before a given time, and versions of objects replaced before that time.

        Args:
            before: The time, in nanoseconds since the Unix epoch.
        """
        self._begin()
        run = self._db.execute
        run(
            "DELETE FROM transitions WHERE time < ? AND workload IN"
            " (SELECT id FROM workloads WHERE deleted IS NOT NULL AND deleted < ?)",
            (before, before),
        )
        run(
            "DELETE FROM transitions WHERE time < ? AND id NOT IN"
            " (SELECT max(id) FROM transitions WHERE state IS NOT NULL GROUP BY workload)",
            (before,),
        )
        run(
            "DELETE FROM workloads WHERE deleted IS NOT NULL AND deleted < ?"
            " AND NOT EXISTS (SELECT 1 FROM transitions WHERE workload = workloads.id)",
            (before,),
        )
        for table in ("objects", "nodes"):
            run(
                f"DELETE FROM {table} WHERE time < ? AND EXISTS (SELECT 1 FROM {table} AS later"  # noqa: S608 - constant
                f" WHERE later.kind = {table}.kind AND later.key = {table}.key"
                f" AND later.revision > {table}.revision AND later.time < ?)",
                (before, before),
            )
        run("DELETE FROM gaps WHERE until < ?", (before,))
        run("DELETE FROM pod_sets WHERE hash NOT IN (SELECT pod_sets FROM workloads)")
        self.commit()
        self._pod_sets = {row[0] for row in run("SELECT hash FROM pod_sets")}
        # Each row of the result frees one page.
        run("PRAGMA incremental_vacuum").fetchall()

    def close(self) -> None:
        """Commit, and close the file."""
        self.commit()
        closed(self._db)

    def _begin(self) -> None:
        if not self._db.in_transaction:
            # A deferred transaction could fail at its first write, when another process has begun one.
            self._db.execute("BEGIN IMMEDIATE")

    def _check_key(self, path: str) -> None:
        """Record how names are anonymised, or check that it has not changed.

        Raises:
            InvalidSpecError: The recording was started with a different key, or without a key.
        """
        mark = "" if self._anonymiser is None else self._anonymiser.mark
        known = self._db.execute("SELECT value FROM meta WHERE name = 'anonymised'").fetchone()
        if known is None:
            self.set_meta("anonymised", mark)
        elif known[0] != mark:
            self._db.execute("ROLLBACK")
            closed(self._db)
            how = "with another key" if known[0] and mark else "with a key" if known[0] else "without a key"
            raise InvalidSpecError(f"{path}: was begun {how}; continue it in the same way, or write another file")

    def _known_objects(self) -> dict[tuple[str, str], tuple[int, bytes | None]]:
        """Return the revision and the digest of the last version of each existing object."""
        found: dict[tuple[str, str], tuple[int, bytes | None]] = {}
        for table in ("objects", "nodes"):
            rows = self._db.execute(f"SELECT kind, key, revision, body FROM {table} ORDER BY revision")  # noqa: S608
            for kind, key, revision, body in rows:
                if body is None:
                    found.pop((kind, key), None)
                else:
                    found[kind, key] = (revision, _digest(unpack(body)))
        return found

    def _known_workloads(self) -> dict[str, _Known]:
        rows = self._db.execute(
            "SELECT uid, workloads.id, namespace || '/' || name, max(revision), state FROM workloads"
            " JOIN transitions ON workload = workloads.id WHERE deleted IS NULL AND state IS NOT NULL GROUP BY uid"
        )
        return {uid: _Known(row, key, revision, unpack(state)) for uid, row, key, revision, state in rows}

    def _advance(self, kind: str, revision: int, time: int) -> None:
        if revision >= self.revisions.get(kind, -1):
            self.revisions[kind] = revision
            self._last_seen[kind] = time
            self._db.execute("INSERT OR REPLACE INTO watches VALUES (?, ?, ?)", (kind, revision, time))

    def _write(
        self, kind: str, new: dict[str, Any] | None, obj: dict[str, Any], time: int, *, use_conditions: bool
    ) -> str:
        """Write a version of an object, and return the uid of a Workload or the key of another object."""
        found = reduced(obj, kind)
        user = str((found["metadata"].get("labels") or {}).get(self._users, "")) if self._users else ""
        if self._anonymiser is not None:
            found, user = self._anonymiser.object(found, kind), self._anonymiser.name(user, "user") if user else ""
        key = key_of(found["metadata"])
        if kind != "Workload":
            self._version((kind, key), found if new is not None else None, _revision(obj), time)
            return key
        uid = str(found["metadata"].get("uid") or key)
        if new is None:
            self._delete(uid, _revision(obj), time)
        else:
            self._workload(uid, key, (found, user), time, use_conditions=use_conditions)
        return uid

    def _version(self, identity: tuple[str, str], new: dict[str, Any] | None, revision: int, time: int) -> None:
        known = self._objects.get(identity)
        if known is not None and revision <= known[0]:
            return
        # Many writes change only fields that influence no decision, such as heartbeats of nodes.
        digest = None if new is None else _digest(new)
        if (known is None and new is None) or (known is not None and digest == known[1]):
            return
        row = (*identity, time, revision, None if new is None else pack(new))
        self._db.execute(f"INSERT OR IGNORE INTO {table_of(identity[0])} VALUES (?, ?, ?, ?, ?)", row)  # noqa: S608
        self.stored += 1
        if new is None:
            self._objects.pop(identity, None)
        else:
            self._objects[identity] = (revision, digest)

    def _workload(
        self, uid: str, key: str, found: tuple[dict[str, Any], str], time: int, *, use_conditions: bool
    ) -> None:
        obj, user = found
        revision = _revision(obj)
        known = self._workloads.get(uid)
        if known is not None and revision <= known.revision:
            return
        if known is None and self._db.execute("SELECT 1 FROM workloads WHERE uid = ?", (uid,)).fetchone():
            return  # an old event of a Workload whose deletion is recorded
        pod_sets = self._pod_sets_of(obj)
        latest = {**obj, "spec": {**obj["spec"], "podSets": pod_sets.hex()}}
        changes = transitions(None if known is None else known.latest, latest)
        # Each scheduling attempt writes a message, which changes no decision.
        if not changes:
            return
        if known is None:
            row = self._new_workload(uid, obj, pod_sets, user)
        else:
            row = known.row
            if latest["spec"] != known.latest["spec"]:
                given = (str(obj["spec"].get("queueName") or ""), int(obj["spec"].get("priority") or 0), pod_sets, row)
                self._db.execute("UPDATE workloads SET queue = ?, priority = ?, pod_sets = ? WHERE id = ?", given)
        for position, change in enumerate(changes):
            # The time of receipt; for an event before the recording, the time of its condition.
            at = change.time if use_conditions and change.time is not None else time
            state = pack(latest) if position + 1 == len(changes) else None
            self._db.execute(_TRANSITION, (row, at, revision, change.what, change.reason, state))
        self._workloads[uid] = _Known(row, key, revision, latest)
        self.stored += 1

    def _new_workload(self, uid: str, obj: dict[str, Any], pod_sets: bytes, user: str) -> int:
        metadata, spec = obj["metadata"], obj["spec"]
        owner = next(iter(metadata.get("ownerReferences") or ()), None)
        job = f"{owner.get('kind')}/{owner.get('name')}" if owner else ""
        created = parse_time(str(metadata.get("creationTimestamp"))) or 0
        queue, priority = str(spec.get("queueName") or ""), int(spec.get("priority") or 0)
        names = (metadata.get("namespace", ""), metadata["name"], queue, priority)
        row = self._db.execute(_WORKLOAD, (uid, *names, job, user, created, pod_sets)).lastrowid
        assert row is not None, "an insertion sets it"
        return row

    def _pod_sets_of(self, obj: dict[str, Any]) -> bytes:
        """Store the pod sets of a Workload, unless the same pod sets are already stored, and return their hash."""
        pod_sets = obj["spec"].get("podSets") or []
        digest = _digest(pod_sets)
        if digest not in self._pod_sets:
            self._db.execute("INSERT OR IGNORE INTO pod_sets VALUES (?, ?)", (digest, pack(pod_sets)))
            self._pod_sets.add(digest)
        return digest

    def _delete(self, uid: str, revision: int, time: int) -> None:
        known = self._workloads.pop(uid, None)
        if known is None:
            return
        self._db.execute("UPDATE workloads SET deleted = ? WHERE id = ?", (time, known.row))
        self._db.execute(_TRANSITION, (known.row, time, revision, "Deleted", "", None))
        self.stored += 1


def _revision(obj: dict[str, Any]) -> int:
    text = str((obj.get("metadata") or {}).get("resourceVersion", ""))
    found = unsigned(text)
    if found is None:
        raise InvalidSpecError(f"metadata.resourceVersion: is {text!r:.99}; it must be a number")
    return found


def _digest(value: Any) -> bytes:
    # The resourceVersion changes with each write, also of parts that are not recorded.
    if isinstance(value, dict):
        value = content(value)
    return hashlib.sha256(msgspec.json.encode(value, order="deterministic")).digest()[:16]
