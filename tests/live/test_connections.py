"""Every connection to an SQLite file is closed by its owner; Python 3.13 warns of the others."""

import gc
import sqlite3
from pathlib import Path

import pytest

import kueuepy as kq
from kueuepy.errors import InvalidSpecError, NotFoundError
from kueuepy.platform import Journal
from kueuepy.platform.history import Recording, RecordingWriter

HISTORY = Path(__file__).parents[2] / "examples/live/history.db"


@pytest.fixture(autouse=True)
def unclosed(monkeypatch):
    """Count connections that are neither closed nor referenced; there must be none after each test."""
    dropped = []

    class Connection(sqlite3.Connection):
        open = True

        def close(self):
            self.open = False
            super().close()

        def __del__(self):
            if self.open:
                dropped.append(self)

    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *args, **more: connect(*args, factory=Connection, **more))
    yield
    gc.collect()
    assert not dropped


def test_a_dropped_recording_is_closed():
    assert list(Recording(HISTORY).events())
    assert len(kq.Jobs.read(HISTORY)) > 0


@pytest.mark.parametrize("statement", ["SELECT 1", "CREATE TABLE a (b)", "PRAGMA user_version = 99"])
def test_a_rejected_recording_is_closed(tmp_path, statement):
    path = tmp_path / "a.db"
    path.write_bytes(HISTORY.read_bytes() if "version" in statement else b"")
    connection = sqlite3.connect(path)
    connection.executescript(statement)
    connection.close()
    with pytest.raises(InvalidSpecError):
        Recording(path)


def test_a_file_that_is_not_a_database_is_closed(tmp_path):
    (tmp_path / "a.db").write_bytes(b"x" * 5000)
    for use in (Recording, RecordingWriter):
        with pytest.raises(InvalidSpecError, match="is not a recording"):
            use(tmp_path / "a.db")


def test_a_recording_that_cannot_be_written_is_closed(tmp_path):
    path = tmp_path / "a.db"
    RecordingWriter(path).close()
    path.write_bytes(path.read_bytes()[:4096])
    with pytest.raises((InvalidSpecError, NotFoundError)):
        RecordingWriter(path)


def test_a_journal_is_closed(tmp_path, seeds_file):
    with Journal(tmp_path / "j.db") as journal:
        journal.scheduler(kq.load(seeds_file))
    with Journal(tmp_path / "j.db") as journal:
        journal.scheduler(kq.load(seeds_file))
