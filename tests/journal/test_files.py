"""Files of a Journal: locks, log files, backups, damage and permissions."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import tempfile
import textwrap
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

import kueuepy as kq
from journal.cases import small_cluster, workload
from kueuepy.errors import InvalidSpecError, StateError
from kueuepy.platform.journal import Journal
from kueuepy.platform.journal.file import check, is_token
from saved import to_bytes


def outside(script, path):
    """Run Python code with a path in another process; return its output."""
    code = f"import sqlite3, sys; path = sys.argv[1]\n{textwrap.dedent(script)}"
    done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=False)  # noqa: S603
    return done.stdout + done.stderr


def read_outside(path):
    """A client that reads and closes; as the last client of a database, it would remove the log."""
    return outside(
        "c = sqlite3.connect(path); print(c.execute('SELECT count(*) FROM calls').fetchone()[0]); c.close()", path
    )


def killed(path, act):
    """Run a function on a journal in a child process that is then killed."""
    child = os.fork()
    if child == 0:
        try:
            act(Journal(path))
            os.kill(os.getpid(), signal.SIGKILL)
        finally:
            os._exit(1)
    assert os.WIFSIGNALED(os.waitpid(child, 0)[1]), "the child has failed by itself; its error is above"


def submitting(*names):
    def act(journal):
        scheduler = journal.scheduler(small_cluster())
        for name in names:
            scheduler.submit(workload(name))

    return act


def names_in(path):
    with Journal(path) as journal:
        scheduler = journal.scheduler()
        return [scheduler.workload(key).name for key in scheduler.keys()]  # noqa: SIM118 - no mapping


def contents(folder):
    return {file.name: file.read_bytes() for file in folder.iterdir() if not file.name.endswith(("-shm", "-lock"))}


# Only SQLite opens the file, and data lost by other programs is detected.


def test_a_rejected_second_journal_has_no_effect(tmp_path):
    path, names = tmp_path / "j.db", [f"w{i}" for i in range(60)]

    def act(journal):
        scheduler = journal.scheduler(small_cluster())
        with pytest.raises(StateError, match="in use by another Journal"):
            Journal(path)
        assert read_outside(path) == "0\n"
        for name in names:
            scheduler.submit(workload(name))

    killed(path, act)
    assert names_in(path) == names


def test_a_deleted_log_is_detected_before_a_call_is_acknowledged(tmp_path, cluster):
    path = tmp_path / "j.db"
    with Journal(path) as journal:
        scheduler = journal.scheduler(cluster)
        scheduler.submit(workload("known"))
        shutil.copy(path, tmp_path / "copy")  # which drops SQLite's locks
        assert read_outside(path) == "1\n"
        with pytest.raises(StateError, match=r"j.db-wal was removed or replaced while .*; close this Journal, and"):
            scheduler.submit(workload("lost"))
        assert "j.db-wal was removed" in journal.failure
    assert names_in(path)[0] == "known"


@pytest.mark.parametrize("suffix", ["", "-wal", "-lock"])
@pytest.mark.parametrize("way", ["removed", "replaced"])
def test_after_deletion_of_the_file_only_reading_works(tmp_path, cluster, suffix, way):
    path = tmp_path / "j.db"
    with Journal(path) as journal:
        scheduler = journal.scheduler(cluster)
        scheduler.submit(workload("known"))
        gone = Path(f"{path}{suffix}")
        gone.rename(tmp_path / "moved")
        if way == "replaced":
            gone.touch()
        with pytest.raises(StateError, match="was removed or replaced while it was in use"):
            scheduler.submit(workload("late"))


# One writer, whatever the name of the file.


@pytest.mark.parametrize("started", [False, True])
def test_a_symbolic_link_is_the_same_journal(tmp_path, cluster, started):
    (tmp_path / "b.db").symlink_to("a.db")
    with Journal(tmp_path / "a.db") as journal:
        if started:
            journal.scheduler(cluster)
        with pytest.raises(StateError, match="in use by another Journal"):
            Journal(tmp_path / "b.db")
    with Journal(tmp_path / "b.db") as journal:
        journal.scheduler(cluster).submit(workload("a"))
    assert names_in(tmp_path / "a.db") == ["a"]
    assert not (tmp_path / "b.db-lock").exists()


def test_a_file_with_two_hard_links_is_rejected(tmp_path, cluster):
    with Journal(tmp_path / "a.db") as journal:
        journal.scheduler(cluster)
    os.link(tmp_path / "a.db", tmp_path / "b.db")
    with pytest.raises(InvalidSpecError, match=r"has 2 names \(hard links\)"):
        Journal(tmp_path / "b.db")


def test_a_deleted_lock_file_does_not_allow_a_second_writer(tmp_path, cluster):
    path = tmp_path / "j.db"
    script = """
        from kueuepy.platform.journal import Journal
        with Journal(path) as journal:
            journal.scheduler()
    """
    with Journal(path) as journal:
        scheduler = journal.scheduler(cluster)
        scheduler.submit(workload("known"))
        Path(f"{path}-lock").unlink()
        assert "is in use, and its lock" in outside(script, path)
        with Journal(path) as second, pytest.raises(StateError, match="is in use, and its lock"):
            second.scheduler()
        with pytest.raises(StateError, match="-lock was removed or replaced"):
            scheduler.submit(workload("late"))
    with Journal(path) as again:
        again.scheduler().submit(workload("more"))


def test_of_two_writers_that_start_without_a_lock_file_one_continues(tmp_path, cluster):
    path = tmp_path / "j.db"
    with Journal(path) as journal:
        journal.scheduler(cluster)
    first = Journal(path)
    Path(f"{path}-lock").unlink()
    with Journal(path) as second:
        with pytest.raises(StateError, match="-lock was removed or replaced"):
            first.scheduler()
        first.close()
        second.scheduler().submit(workload("a"))
    assert names_in(path) == ["a"]


def test_a_writer_superseded_by_another_stops_writing(tmp_path, cluster):
    path = tmp_path / "j.db"
    with Journal(path) as journal:
        scheduler = journal.scheduler(cluster)
        script = "c = sqlite3.connect(path); c.execute(\"UPDATE writer SET token = 'other'\"); c.commit()"
        assert outside(script, path) == ""
        with pytest.raises(StateError, match="another Journal has written it"):
            scheduler.submit(workload("late"))
    assert names_in(path) == []


# A log of another file.


def copied(path, name):
    target = path.with_name(name)
    shutil.copy(path, target)
    return target


def expect_foreign_log(path):
    before = contents(path.parent)
    with pytest.raises(InvalidSpecError, match=r"the log .*-wal belongs to another file"):
        names_in(path)
    assert contents(path.parent) == before
    Path(f"{path}-wal").unlink()


def test_a_token_that_is_not_whole_counts_only_if_there_is_a_log(tmp_path, cluster):
    path = tmp_path / "j.db"
    with Journal(path) as journal:
        journal.scheduler(cluster)
    token = check(path)
    assert is_token(token)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE writer SET token = ?", (token[:-1],))
    Path(f"{path}-wal").write_bytes(b"x")
    assert check(path) == ""


def test_a_log_without_its_database_is_rejected(tmp_path, cluster):
    path = tmp_path / "j.db"
    killed(path, submitting("old"))
    path.unlink()
    with (
        Journal(path) as journal,
        pytest.raises(StateError, match=r"does not exist, but .*j.db-wal does: the log of a file"),
    ):
        journal.scheduler(cluster)
    assert not path.exists()
    Path(f"{path}-wal").unlink()
    with Journal(path) as journal:
        assert journal.scheduler(cluster).keys() == ()


def test_a_log_next_to_a_restored_copy_is_rejected(tmp_path):
    path = tmp_path / "j.db"
    with Journal(path) as journal:
        submitting("a")(journal)
    kept = copied(path, "kept.db")
    killed(path, submitting("b"))
    shutil.copy(kept, path)
    expect_foreign_log(path)
    assert names_in(path) == ["a"]


def test_a_log_next_to_a_restored_backup_is_rejected(tmp_path):
    path, kept = tmp_path / "j.db", tmp_path / "kept.db"

    def act(journal):
        submitting("a")(journal)
        journal.backup(kept)
        submitting("b")(journal)

    killed(path, act)
    shutil.copy(kept, path)
    expect_foreign_log(path)
    assert names_in(path) == ["a"]


def test_a_log_next_to_another_journal_is_rejected(tmp_path):
    path, other = tmp_path / "j.db", tmp_path / "other.db"
    killed(path, submitting("old"))
    with Journal(other) as journal:
        submitting("new")(journal)
    other.replace(path)
    expect_foreign_log(path)
    assert names_in(path) == ["new"]


def test_a_journal_opens_while_a_reader_is_connected(tmp_path):
    path = tmp_path / "j.db"
    killed(path, submitting("a"))
    reader = sqlite3.connect(path, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM calls").fetchone()
    for name in "bcd":
        killed(path, submitting(name))
    reader.close()
    assert names_in(path) == ["a", "b", "c", "d"]


# Copies.


def test_a_backup_contains_the_acknowledged_calls(tmp_path, cluster):
    path, kept = tmp_path / "j.db", tmp_path / "kept.db"
    with Journal(path) as journal:
        with pytest.raises(StateError, match="there is nothing to copy before the first"):
            journal.backup(kept)
        scheduler = journal.scheduler(cluster)
        scheduler.submit(workload("a"))
        before = to_bytes(scheduler)
        with journal.group():
            scheduler.submit(workload("b"))
            journal.backup(kept)
        assert sorted(file.name for file in tmp_path.iterdir()) == [
            "j.db",
            "j.db-lock",
            "j.db-shm",
            "j.db-wal",
            "kept.db",
        ]
        with Journal(kept) as copy:
            assert to_bytes(copy.scheduler()) == before
        journal.backup(kept)  # replaces the previous file
        assert names_in(kept) == ["a", "b"]
        scheduler.submit(workload("c"))
    assert names_in(path) == ["a", "b", "c"]


def test_a_backup_does_not_overwrite_a_file_in_use(tmp_path, cluster):
    path, other = tmp_path / "j.db", tmp_path / "other.db"
    (tmp_path / "link.db").symlink_to(path)
    with Journal(path) as journal, Journal(other) as used:
        journal.scheduler(cluster)
        used.scheduler(cluster)
        for same in (path, tmp_path / "link.db"):
            with pytest.raises(StateError, match="is the journal itself"):
                journal.backup(same)
        with pytest.raises(StateError, match="is in use, or was not closed in order"):
            journal.backup(other)
        with pytest.raises(StateError, match="cannot be made"):
            journal.backup(tmp_path / "nowhere" / "kept.db")
        with pytest.raises(InvalidSpecError, match="it must be a file"):
            journal.backup(tmp_path)
    with pytest.raises(StateError, match="it is closed"):
        journal.backup(tmp_path / "kept.db")


def test_files_of_a_killed_start_do_not_prevent_opening(tmp_path, cluster):
    other = tmp_path / "other.db"
    killed(other, submitting("old"))
    for suffix in ("", "-wal"):
        Path(f"{other}{suffix}").rename(tmp_path / f".j.db.new{suffix}")
    with Journal(tmp_path / "j.db") as journal:
        assert journal.scheduler(cluster).keys() == ()
    assert sorted(file.name for file in tmp_path.iterdir()) == ["j.db", "j.db-lock", "other.db-lock", "other.db-shm"]


def test_only_the_owner_can_read_the_journal_files(tmp_path, cluster):
    with Journal(tmp_path / "j.db") as journal:
        scheduler = journal.scheduler(cluster)
        journal.backup(tmp_path / "kept.db")
        scheduler.save(tmp_path / "state")
        modes = {
            file.name: stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir() if file.suffix != ".db-lock"
        }
        assert modes == dict.fromkeys(("j.db", "j.db-wal", "j.db-shm", "kept.db", "state"), 0o600)
        (tmp_path / "state").chmod(0o640)
        kq.Scheduler.save(scheduler, tmp_path / "state")
        assert stat.S_IMODE((tmp_path / "state").stat().st_mode) == 0o640


@contextmanager
def somebody_else():
    """Drop the capabilities of root, so that the kernel checks permissions."""
    was = os.geteuid()
    if was == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(was)


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="rights of POSIX")
@pytest.mark.parametrize("missing", ["file", "write", "directory"])
def test_a_file_without_permission_raises_a_kueue_error(missing, cluster):
    folder = Path(tempfile.mkdtemp())
    path = folder / "j.db"
    try:
        with Journal(path) as journal:
            journal.scheduler(cluster)
        before = path.read_bytes()
        (folder / "j.db-lock").chmod(0o666)
        path.chmod({"file": 0, "write": 0o444, "directory": 0o666}[missing])
        folder.chmod(0o555)
        refused = pytest.raises(StateError, match=r"cannot be (opened|locked)")
        with somebody_else(), refused, Journal(path) as journal:
            journal.scheduler()
        assert path.read_bytes() == before
    finally:
        folder.chmod(0o755)
        shutil.rmtree(folder)


@pytest.mark.parametrize("was_there", [False, True])
def test_a_file_that_is_refused_gets_no_lock_file_and_keeps_one(tmp_path, was_there):
    path, lock = tmp_path / "notes.txt", tmp_path / "notes.txt-lock"
    path.write_text("notes", encoding="utf-8")
    if was_there:
        lock.touch()
    with pytest.raises(InvalidSpecError, match="is not a journal"):
        Journal(path)
    assert lock.exists() == was_there
