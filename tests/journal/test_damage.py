"""Files that are not journals, or are damaged, are rejected with a clear error and not changed."""

from __future__ import annotations

import shutil
import sqlite3
import struct

import pytest

from journal.cases import workload
from kueuepy.errors import InvalidSpecError, KueueError, StateError, UnsupportedError
from kueuepy.platform.journal import Journal
from saved import to_bytes

pytestmark = pytest.mark.sanitizer


@pytest.fixture
def written(tmp_path, cluster):
    """Return a closed journal of 16 calls, and the state after each call."""
    path = tmp_path / "whole" / "j.db"
    path.parent.mkdir()
    with Journal(path) as journal:
        scheduler = journal.scheduler(cluster)
        states = [to_bytes(scheduler)]
        for i in range(8):
            scheduler.submit(workload(f"w{i}", priority=i % 3))
            states.append(to_bytes(scheduler))
            scheduler.cycle()
            states.append(to_bytes(scheduler))
    return path, states


def opened(path):
    """Return the state of a file, or the error that rejects it."""
    with Journal(path) as journal:
        return to_bytes(journal.scheduler())


def copy(path, folder, data):
    folder.mkdir(exist_ok=True)
    target = folder / path.name
    target.write_bytes(data)
    return target


FOREIGN = {
    "empty": b"",
    "text": b"apiVersion: v1\nkind: List\n" * 100,
    "cut off within the header": b"SQLite format 3\0" + b"\0" * 50,
    "zeros": b"\0" * 8192,
}


@pytest.mark.parametrize("what", FOREIGN)
def test_a_foreign_file_is_rejected_and_unchanged(tmp_path, what):
    path = tmp_path / "j.db"
    path.write_bytes(FOREIGN[what])
    with pytest.raises(InvalidSpecError, match="it is not changed"):
        opened(path)
    assert path.read_bytes() == FOREIGN[what]
    assert [found.name for found in tmp_path.iterdir()] == ["j.db"]


def test_another_database_is_rejected_and_unchanged(tmp_path):
    path = tmp_path / "j.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE calls (number INTEGER)")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(InvalidSpecError, match="is a database, but not a journal"):
        opened(path)
    assert path.read_bytes() == before


def test_a_newer_journal_is_rejected_and_unchanged(tmp_path, written):
    data = bytearray(written[0].read_bytes())
    struct.pack_into(">i", data, 60, 3)
    path = copy(written[0], tmp_path / "newer", bytes(data))
    with pytest.raises(UnsupportedError, match="has version 3"):
        opened(path)
    assert path.read_bytes() == bytes(data)


def test_a_file_truncated_anywhere_is_rejected_and_unchanged(tmp_path, written):
    whole = written[0].read_bytes()
    ends = {*range(200), *range(0, len(whole), 509), len(whole) - 1}
    for end in sorted(ends):
        path = copy(written[0], tmp_path / "cut", whole[:end])
        with pytest.raises(InvalidSpecError, match="is not changed"):
            opened(path)
        assert path.read_bytes() == whole[:end]


def test_no_flipped_bit_changes_the_restored_state(tmp_path, written):
    path, states = written
    whole = path.read_bytes()
    refused = 0
    for position in range(0, len(whole), 23):
        data = bytearray(whole)
        data[position] ^= 1 << (position % 8)
        flipped = copy(path, tmp_path / "flipped", bytes(data))
        try:
            assert opened(flipped) == states[-1], f"a bit of byte {position} counts, and is not noticed"
        except KueueError:
            refused += 1
            assert flipped.read_bytes() == bytes(data)
        shutil.rmtree(flipped.parent)
    assert refused > 100


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE calls SET body = replace(body, '\"w3\"', '\"w9\"') WHERE number = 7",
        "UPDATE decisions SET workload = 'default/w0' WHERE number = 4",
        "DELETE FROM decisions WHERE number = 2",
        "DELETE FROM calls WHERE number = 3",
        "DELETE FROM calls WHERE number = 16",
        "UPDATE snapshot SET state = substr(state, 1, 900)",
        "DELETE FROM snapshot",
        "DELETE FROM writer",
    ],
)
def test_a_changed_row_is_rejected(written, change):
    path, _ = written
    connection = sqlite3.connect(path)
    connection.execute(change)
    connection.commit()
    connection.close()
    before = path.read_bytes()
    with pytest.raises(InvalidSpecError, match=r"(is damaged|is cut off).* it is not changed") as told:
        opened(path)
    assert "NoneType" not in str(told.value)
    assert ("the row of its writer is missing" in str(told.value)) == (change == "DELETE FROM writer")
    assert path.read_bytes() == before


def test_decisions_that_differ_from_the_journal_are_rejected(written, monkeypatch):
    path, _ = written
    monkeypatch.setattr("kueuepy.platform.journal.journal.decision_rows", lambda *_: [])
    before = path.read_bytes()
    with pytest.raises(StateError, match="this release decides otherwise at call 2"):
        opened(path)
    assert path.read_bytes() == before
