"""After a power failure at any place, a journal opens with every acknowledged call.

A crash image is the files of a journal before a write, with some blocks of the files after the write. A disk may write
the blocks of one sync in any order, and may tear a block.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest

from journal.cases import small_cluster, workload
from kueuepy.platform.journal import Journal
from saved import to_bytes

CALLS = 40
CHECKPOINT = 17
"""The number of calls before the checkpoint, which copies pages of the log to the database file."""
SECTOR = 512
HEADER = 32
"""The size of the header of a log, which SQLite syncs before it writes anything to a log that starts again."""
SAMPLE = 25
"""The number of crash images of each test in the ring `suite`."""

sample = pytest.mark.parametrize("is_long", [False, pytest.param(True, marks=pytest.mark.long)])


class Files(NamedTuple):
    """The contents of the database file and of its log."""

    database: bytes
    log: bytes


class History(NamedTuple):
    """What a journal held after each call, and the same with the files of the checkpoint in between."""

    states: list[bytes]
    files: list[Files]
    numbers: list[int]
    """The number of the last call in each of `files`."""


@pytest.fixture(scope="module")
def history(tmp_path_factory):
    path = tmp_path_factory.mktemp("history") / "j.db"
    found = History([], [], [])

    def record():
        found.files.append(Files(path.read_bytes(), Path(f"{path}-wal").read_bytes()))
        found.numbers.append(len(found.states) - 1)

    with Journal(path) as journal:
        scheduler = journal.scheduler(small_cluster())
        for number in range(CALLS + 1):
            if number % 4:
                scheduler.submit(workload(f"w{number}", annotations={"why": "x" * (9_000 * (number % 5))}))
            elif number:
                scheduler.cycle()
            found.states.append(to_bytes(scheduler))
            record()
            if number == CHECKPOINT:
                with closing(sqlite3.connect(path)) as connection:
                    assert connection.execute("PRAGMA wal_checkpoint").fetchone()[0] == 0
                record()
    return found


def torn(before, after):
    """Yield the images of a file while it is written: without a block, up to a position, and from it on.

    An image is a function, because most are not used.
    """
    length = max(len(before), len(after))
    was, now = (memoryview(data.ljust(length, b"\0")) for data in (before, after))
    for start in range(0, length, SECTOR):
        end = start + SECTOR
        if was[start:end] != now[start:end]:
            yield partial(b"".join, (now[:start], was[start:end], now[end:]))
            for at in (start, start + start // SECTOR * 37 % SECTOR):
                yield partial(b"".join, (now[:at], was[at:]))
                yield partial(b"".join, (was[:at], now[at:]))
                yield partial(b"".join, (now[:at], was[at : len(before)]))


def torn_logs(before, after):
    """Yield the images of a log while it is written."""
    begun = after[:HEADER] + before[HEADER:]
    yield from torn(before, begun)
    yield from torn(begun, after)


def recovered(path, files):
    """Return the state with which a journal opens; check that the opened journal accepts calls."""
    path.parent.mkdir()
    for place, data in zip((path, Path(f"{path}-wal")), files, strict=True):
        place.write_bytes(data() if callable(data) else data)
    with Journal(path, durability="process") as journal:
        scheduler = journal.scheduler()
        state = to_bytes(scheduler)
        scheduler.submit(workload("next"))
    return state


def some(images, *, is_long):
    found = list(images)
    assert len(found) > SAMPLE
    return found if is_long else found[:: len(found) // SAMPLE]


@sample
def test_a_power_failure_loses_no_acknowledged_call(tmp_path, history, is_long):
    images = (
        (place, Files(was.database, log))
        for place, (was, now) in enumerate(zip(history.files, history.files[1:], strict=False))
        for log in torn_logs(was.log, now.log)
    )
    for image, (place, files) in enumerate(some(images, is_long=is_long)):
        state = recovered(tmp_path / str(image) / "j.db", files)
        assert state in history.states[history.numbers[place] : history.numbers[place + 1] + 1], place


@sample
def test_a_power_failure_during_a_checkpoint_loses_no_call(tmp_path, history, is_long):
    was, now = (files for files, number in zip(history.files, history.numbers, strict=True) if number == CHECKPOINT)
    images = (Files(database, was.log) for database in torn(was.database, now.database))
    for image, files in enumerate(some(images, is_long=is_long)):
        assert recovered(tmp_path / str(image) / "j.db", files) == history.states[CHECKPOINT]


@sample
def test_a_log_that_was_not_synced_loses_only_the_last_calls(tmp_path, history, is_long):
    """With the durability `process`, the disk may lose any blocks of the log since the checkpoint."""
    whole, begun = history.files[-1], history.files[history.numbers.index(CHECKPOINT) + 1]
    images = (Files(whole.database, log) for log in torn_logs(begun.log, whole.log))
    lost = 0
    for image, files in enumerate(some(images, is_long=is_long)):
        state = recovered(tmp_path / str(image) / "j.db", files)
        assert state in history.states[CHECKPOINT:]
        lost += state != history.states[-1]
    assert lost
