"""Mutated dumps, manifests, logs and saved states, which are read or rejected with a KueueError."""

from __future__ import annotations

import contextlib
import copy
import hashlib
import tempfile
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import msgspec

import kueuepy as kq
from field.test_field import SACCT
from fuzz.mutation import JUNK, Mutator, places
from importer.dumps import admitted, cluster_queue, dump, local_queue, pod, workload
from kueuepy.errors import InternalError, KueueError
from kueuepy.lint import lint
from kueuepy.platform.importer import by_label, import_cluster
from kueuepy.session import saved
from kueuepy.session.session import session_of
from simulation.test_hostile import HOSTILE, LOGS

if TYPE_CHECKING:
    from collections.abc import Callable

_RULES = by_label("src", {"a": "lq"})
_JOB = {
    "apiVersion": "batch/v1",
    "kind": "Job",
    "metadata": {"name": "j", "namespace": "team", "uid": "u", "labels": {"kueue.x-k8s.io/queue-name": "lq"}},
    "spec": {"parallelism": 2, "template": {"spec": {"containers": [{"resources": {"requests": {"cpu": "1"}}}]}}},
    "status": {"startTime": "2026-08-01T10:00:00Z", "conditions": [{"type": "Complete", "status": "True"}]},
}
_DUMP = dump(
    cluster_queue(), local_queue(), workload("w", admitted()), workload("v"), pod("p", labels={"src": "a"}), _JOB
)
_LOGS = {**LOGS, "sacct": SACCT}


def mutated(random: Random, value: Any) -> Any:
    """Return a copy in which one to three parts are replaced or removed."""
    value = copy.deepcopy(value)
    for _ in range(random.randint(1, 3)):
        *before, last = random.choice([path for path in places(value) if path])
        parent = value
        for step in before:
            parent = parent[step]
        if random.random() < _REMOVED:
            del parent[last]
        else:
            parent[last] = copy.deepcopy(random.choice(JUNK))
    return value


def damaged(random: Random, data: bytes) -> bytes:
    """Return bytes of which one to three parts are replaced."""
    for _ in range(random.randint(1, 3)):
        start = random.randint(0, len(data))
        piece = random.choice(
            (random.choice(HOSTILE).encode("utf-8", "replace"), random.randbytes(random.randint(0, 6)))
        )
        data = data[:start] + piece + data[start + random.randint(0, 12) :]
    return data


def _dump(random: Random, _: Path) -> None:
    found = mutated(random, _DUMP)
    import_cluster(found, rules=_RULES)
    lint(kq.load(found, strict=False))


def _manifest(random: Random, _: Path) -> None:
    kq.Scheduler(kq.load(Mutator(random.randrange(2**32)).text(), strict=random.random() < _REMOVED))


def _log(random: Random, folder: Path) -> None:
    name = random.choice(tuple(_LOGS))
    (folder / "log").write_bytes(damaged(random, _LOGS[name].encode()))
    kq.Jobs.read(folder / "log", name)


def _state(random: Random, folder: Path) -> None:
    """Change a saved state, most often with a valid checksum, so that the content is read."""
    path = folder / "state"
    scheduler = import_cluster(_DUMP, rules=_RULES).scheduler
    *envelope, payload = msgspec.msgpack.decode(saved.to_bytes(session_of(scheduler)))
    if random.random() < _REMOVED:
        with contextlib.suppress(OverflowError, UnicodeEncodeError):  # MessagePack has no such value
            payload = msgspec.msgpack.encode(mutated(random, msgspec.msgpack.decode(payload)))
    else:
        payload = damaged(random, payload)
    if random.random() > _REMOVED / 3:
        envelope[2] = hashlib.sha256(payload).digest()
    path.write_bytes(msgspec.msgpack.encode([*envelope, payload]))
    loaded = kq.Scheduler.load(path)
    loaded.settle(max_cycles=3)
    _ = loaded.workloads.rows(), loaded.cluster


_REMOVED = 0.3
KINDS: dict[str, Callable[[Random, Path], None]] = {
    "dump": _dump,
    "manifest": _manifest,
    "log": _log,
    "state": _state,
}


def hold(kind: str, number: int) -> bool:
    """Read a mutated input of a kind; return whether it was accepted."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            KINDS[kind](Random(f"{kind}/{number}"), Path(folder))  # noqa: S311 - no secret
        except InternalError:
            raise
        except KueueError:
            return False
    return True
