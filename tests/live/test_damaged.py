"""A damaged recording is read, or rejected with an error that names the file."""

import random
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

import pytest

import kueuepy as kq
from kueuepy.errors import InvalidSpecError, KueueError
from kueuepy.platform.history import Recording, RecordingWriter

WHOLE = (Path(__file__).parents[2] / "examples/live/history.db").read_bytes()
PAGE = 4096
VALUES = (None, -1, 2**62, 1.5, "x", "{}", b"\xff\x00", b"x\x9c\x03\x00\x00\x00\x00\x01")


def read(path):
    recording = Recording(path)
    try:
        recording.meta, recording.gaps()
        for records in (recording.events(), recording.workloads(), recording.state(recording.end)):
            list(records)
    finally:
        recording.close()
    kq.Jobs.read(path)


def damage(path, way, draw):
    data = bytearray(WHOLE)
    position = draw.randrange(len(data))
    if way == "cut":
        del data[position:]
    elif way == "zeros":
        data[position : position + PAGE] = bytes(len(data[position : position + PAGE]))
    elif way == "flipped":
        for _ in range(draw.choice([1, 3, 30])):
            data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
    path.write_bytes(data)
    if way == "row":
        with closing(sqlite3.connect(path)) as file, file, suppress(sqlite3.IntegrityError):
            table = draw.choice([name for (name,) in file.execute("SELECT name FROM sqlite_schema WHERE type='table'")])
            column = draw.choice([row[1] for row in file.execute(f"PRAGMA table_info({table})")])
            file.execute(f"UPDATE {table} SET {column} = ?", (draw.choice(VALUES),))  # noqa: S608 - its own names


def write(path):
    RecordingWriter(path).close()


def rejection(use, path):
    """The error that rejects the file; an empty text if it is used."""
    try:
        use(path)
    except KueueError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("way", ["cut", "zeros", "flipped", "row"])
def test_a_damaged_recording_is_read_or_rejected(tmp_path, way):
    path, draw, told = tmp_path / "history.db", random.Random(way), []  # noqa: S311 - no secret
    for _ in range(15):
        damage(path, way, draw)
        told += [rejection(read, path), rejection(write, path)]
    rejected = [error for error in told if error]
    assert len(rejected) > 3
    assert [error for error in rejected if "history.db" not in error] == []


def test_a_row_that_is_not_json_is_rejected_with_the_name_of_the_file(tmp_path):
    path = tmp_path / "history.db"
    path.write_bytes(WHOLE)
    with closing(sqlite3.connect(path)) as file, file:
        file.execute("UPDATE pod_sets SET body = x'00'")
    with pytest.raises(InvalidSpecError, match=r"history\.db: the recording is damaged: Error -. while decompressing"):
        read(path)
