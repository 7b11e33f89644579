"""A full disk or a disk error at any write: the Scheduler stays readable, and nothing acknowledged is lost."""

from __future__ import annotations

import json
import os
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path

import pytest

from journal.cases import small_cluster, workload
from kueuepy.errors import StateError
from kueuepy.platform.journal import Journal
from saved import to_bytes


def run(scheduler, journal, acknowledged):
    """Make calls until one fails; return the states after the successful calls."""
    for i in range(60):
        scheduler.submit(workload(f"w{i}", annotations={"why": "x" * 3000}))
        acknowledged.append(to_bytes(scheduler))
        scheduler.cycle()
        acknowledged.append(to_bytes(scheduler))
        if i % 20 == 19:
            journal.compact()


def check_aftermath(path, scheduler, journal, acknowledged, *, more=()):
    assert journal.failure
    assert "read only" in repr(scheduler)
    keys = scheduler.keys()
    with pytest.raises(StateError, match="accepts no more calls"):
        scheduler.cycle()
    assert scheduler.keys() == keys
    assert scheduler.workloads["status"]
    last = to_bytes(scheduler)
    journal.close()
    with Journal(path) as again:
        # The failed call may be stored or not; all calls before it are.
        assert to_bytes(again.scheduler()) in (acknowledged[-1], last, *more)


@pytest.mark.parametrize("pages", [1, 2, 5, 12, 20, 30])
def test_after_a_full_disk_only_reading_works(tmp_path, cluster, pages):
    path = tmp_path / "j.db"
    journal = Journal(path)
    scheduler = journal.scheduler(cluster)
    acknowledged = [to_bytes(scheduler)]
    used = journal._connection.execute("PRAGMA page_count").fetchone()[0]
    journal._connection.execute(f"PRAGMA max_page_count = {used + pages}")
    with pytest.raises(StateError, match="it cannot be written: database or disk is full"):
        run(scheduler, journal, acknowledged)
    check_aftermath(path, scheduler, journal, acknowledged)


@pytest.mark.parametrize("room", [0, 1, 512, 4096, 5000, 20_000, 77_777, 200_000])
def test_after_a_failed_write_only_reading_works(tmp_path, room):
    """The system rejects writes beyond a file size, in a child process with a lower limit."""
    child = os.fork()
    if child == 0:
        try:
            _with_limit(tmp_path / "j.db", room)
        except BaseException:  # noqa: BLE001
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def _with_limit(path, room):
    journal = Journal(path)
    scheduler = journal.scheduler(small_cluster())
    acknowledged = [to_bytes(scheduler)]
    scheduler.submit(workload("first"))
    acknowledged.append(to_bytes(scheduler))
    largest = max(found.stat().st_size for found in path.parent.iterdir())
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (largest + room, hard))
    with pytest.raises(StateError, match="it cannot be written"):
        run(scheduler, journal, acknowledged)
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    check_aftermath(path, scheduler, journal, acknowledged)


class Failing(sqlite3.Connection):
    """A connection whose statements fail from the n-th one on."""

    left = 10**9

    def _count(self):
        self.left -= 1
        if self.left < 0:
            raise sqlite3.OperationalError("disk I/O error")

    def execute(self, *args):
        self._count()
        return super().execute(*args)

    def executemany(self, *args):
        self._count()
        return super().executemany(*args)


@pytest.mark.parametrize("at", range(24))
def test_after_an_error_at_the_nth_statement_only_reading_works(tmp_path, cluster, monkeypatch, at):
    path = tmp_path / "j.db"
    connect = sqlite3.connect
    monkeypatch.setattr(
        "kueuepy.platform.journal.file.sqlite3.connect", lambda *args, **more: connect(*args, factory=Failing, **more)
    )
    journal = Journal(path)
    scheduler = journal.scheduler(cluster)
    acknowledged = [to_bytes(scheduler)]
    journal._connection.left = at
    with pytest.raises(StateError, match="it cannot be written: disk I/O error"):
        run(scheduler, journal, acknowledged)
    monkeypatch.undo()
    check_aftermath(path, scheduler, journal, acknowledged)


def test_a_failed_snapshot_changes_nothing(tmp_path, cluster, monkeypatch):
    path = tmp_path / "j.db"
    connect = sqlite3.connect
    for at in range(7):
        monkeypatch.setattr(
            "kueuepy.platform.journal.file.sqlite3.connect",
            lambda *args, **more: connect(*args, factory=Failing, **more),
        )
        journal = Journal(path)
        scheduler = journal.scheduler(cluster)
        scheduler.submit(workload(f"w{at}"))
        before = to_bytes(scheduler)
        journal._connection.left = at
        with pytest.raises(StateError, match="it cannot be written"):
            journal.compact()
        journal.close()
        monkeypatch.undo()
        with Journal(path) as again:
            assert to_bytes(again.scheduler()) == before


HERE = Path(__file__).parent
MEMORY = Path("/dev/shm")  # noqa: S108 - a thousand journals are made sooner there


@pytest.mark.skipif(sys.platform != "linux" or shutil.which("cc") is None, reason="needs Linux and a C compiler")
@pytest.mark.skipif("libasan" in os.environ.get("LD_PRELOAD", ""), reason="a sanitizer stands in the same place")
def test_every_write_may_fail_in_every_way(tmp_path):
    """Each write, sync and file creation fails: permanently and once, with a full disk and with an I/O error."""
    library = tmp_path / "failing.so"
    build = ["cc", "-shared", "-fPIC", "-O1", "-o", library, HERE / "failing.c", "-ldl"]
    subprocess.run(build, check=True)  # noqa: S603 - our own
    with tempfile.TemporaryDirectory(dir=MEMORY if os.access(MEMORY, os.W_OK) else None) as folder:
        done = subprocess.run(  # noqa: S603 - our own
            [sys.executable, HERE / "failing.py", library, folder],
            env={**os.environ, "LD_PRELOAD": str(library)},
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    (writes,) = {outcomes.pop("writes") for outcomes in found.values()}
    assert writes > 100
    for way in ("the disk stays full", "the disk stays broken"):
        # After the journal is closed, no caller waits for a result.
        assert found[way]["refused"] + found[way]["ended"] >= writes - 10
        assert found[way]["ended"] > writes / 3
    assert found["a write is short"] == {"went on": writes}
