"""A child process journals random calls and is killed at random times; all acknowledged calls must be restored.

The child reports each completed call through a pipe. After the kill, the parent opens the journal. Its state must
equal, bit for bit, that of a Scheduler which executed the acknowledged calls without a kill, or these calls and the one
that was running. The child also makes backups repeatedly, while other processes open, read and close the journal. The
last backup must contain all calls that were acknowledged before it started.

    python tests/crash/kills.py 10000
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from fuzz.calls import answering, chosen_at, step
from fuzz.objects import cluster
from kueuepy import Cluster, Scheduler
from kueuepy.platform.journal import Journal
from saved import to_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kueuepy.session.checks import Check

KILLS_PER_JOURNAL = 25
_LONGEST = 0.05  # seconds until the kill
_COMPACTION = 40  # calls


_READERS = 2
_READER = """
import random, select, sqlite3, sys
reads = 0
while not select.select([sys.stdin], [], [], random.random() / 50)[0]:
    try:
        connection = sqlite3.connect(f"file:{sys.argv[1]}?mode=rw", uri=True, isolation_level=None)
        connection.execute("BEGIN")
        connection.execute("SELECT count(*) FROM calls, snapshot").fetchone()
        select.select([sys.stdin], [], [], random.random() / 50)
        connection.close()
        reads += 1
    except sqlite3.Error:
        pass
print(reads)
"""


class Killed(NamedTuple):
    """Result of one kill: calls acknowledged since the previous one, whether one more was durable, and backups."""

    calls: int
    one_more: bool
    backups: int = 0


def kills(count: int, seed: int) -> Iterator[Killed]:
    """Kill child processes repeatedly, and check the journal after each kill.

    Raises:
        AssertionError: An acknowledged call is lost, or the state differs.
    """
    for start in range(0, count, KILLS_PER_JOURNAL):
        with tempfile.TemporaryDirectory() as folder, _readers(Path(folder) / "journal.db"):
            yield from _of_one_journal(Path(folder) / "journal.db", seed + start, min(KILLS_PER_JOURNAL, count - start))


@contextmanager
def _readers(path: Path) -> Iterator[None]:
    """Open, read and close the journal repeatedly; after the kill, as the last client."""
    command = [sys.executable, "-c", _READER, path]
    pipe = subprocess.PIPE
    readers = [subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) for _ in range(_READERS)]  # noqa: S603
    try:
        yield
        told = [reader.communicate()[0] for reader in readers]
        assert all(int(reads) > 0 for reads in told), f"the readers have read nothing: {told}"
    finally:
        for reader in readers:
            reader.kill()
            reader.wait()


def _of_one_journal(path: Path, seed: int, count: int) -> Iterator[Killed]:
    unharmed = Scheduler(_cluster(seed))
    unharmed.answer_checks(_answering(seed))
    done = 0
    chosen = random.Random(seed)  # noqa: S311 - no secret
    for _ in range(count):
        before = done
        # Most children are killed during calls, and some while they open the journal.
        kept = path.with_name("kept.db")
        kept.unlink(missing_ok=True)
        acknowledged, backups = _kill(path, seed, done, chosen.random() * _LONGEST, awake=chosen.random() < 0.8)
        states = [to_bytes(unharmed)] if backups else []
        while done < acknowledged:
            done += 1
            step(unharmed, seed, done)
            if backups:
                states.append(to_bytes(unharmed))
        if not path.exists():
            assert acknowledged == 0, "the journal is gone"
            yield Killed(0, one_more=False)
            continue
        with Journal(path, durability="process") as journal:
            recovered = to_bytes(journal.scheduler())
        one_more = recovered != to_bytes(unharmed)
        if one_more:
            done += 1
            step(unharmed, seed, done)
            assert recovered == to_bytes(unharmed), f"seed {seed}: the state after call {done} differs"
        if backups:
            states.append(recovered)
            with Journal(kept) as copy:
                found = to_bytes(copy.scheduler())
            assert found in states[max(0, backups[-1] - before) :], f"seed {seed}: the backup lacks calls"
        yield Killed(acknowledged - before, one_more, len(backups))


def _kill(path: Path, seed: int, done: int, delay: float, *, awake: bool) -> tuple[int, list[int]]:
    """Runs a child for so long, from its first call on if `awake`.

    Returns:
        The number of the last call that it acknowledged; and for each backup that it made, of the last one before it.
    """
    (reader, writer), (backups, backed_up) = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)  # so that it ends with its parent
        os.close(backups)
        _child(path, seed, done, writer, backed_up)
    os.close(writer)
    os.close(backed_up)
    told = os.read(reader, 8) if awake else b""
    time.sleep(delay)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status), "the child has failed by itself; its error is above"
    with os.fdopen(reader, "rb") as pipe:
        told += pipe.read()
    with os.fdopen(backups, "rb") as pipe:
        made = pipe.read()
    numbers = [int.from_bytes(made[at : at + 8], "little") for at in range(0, len(made), 8)]
    return int.from_bytes(told[-8:], "little") if told else done, numbers


def _child(path: Path, seed: int, done: int, writer: int, backed_up: int) -> None:
    """Journal calls and back the journal up until killed."""
    try:
        journal = Journal(path, durability="process" if seed % 2 else "power")
        scheduler = journal.scheduler(_cluster(seed), on_change="keep")
        scheduler.answer_checks(_answering(seed))
        acknowledged = [done]
        Thread(target=_back_up, args=(journal, acknowledged, backed_up)).start()
        while True:
            done += 1
            step(scheduler, seed, done)
            if done % _COMPACTION == 0:
                journal.compact()
            os.write(writer, done.to_bytes(8, "little"))
            acknowledged[0] = done
    except BaseException:  # noqa: BLE001 - it must not come back into the parent's code
        traceback.print_exc()
        os._exit(1)


def _back_up(journal: Journal, acknowledged: list[int], backed_up: int) -> None:
    while True:
        before = acknowledged[0]
        try:
            journal.backup(journal.path.with_name("kept.db"))
            os.write(backed_up, before.to_bytes(8, "little"))
        except BaseException:  # noqa: BLE001 - as above
            traceback.print_exc()
            os._exit(1)
        time.sleep(0.003)


def _cluster(seed: int) -> Cluster:
    return cluster(chosen_at(seed, 0))


def _answering(seed: int) -> dict[str, Check]:
    """Return a check function for half of the histories."""
    return answering() if seed // KILLS_PER_JOURNAL % 2 else {}


def main(count: int, seed: int = 1) -> None:
    """Run the given number of kills and print the results."""
    began = time.monotonic()
    results = list(kills(count, seed))
    more = sum(killed.one_more for killed in results)
    calls = sum(killed.calls for killed in results)
    print(f"{len(results)} kills among {calls} calls in {time.monotonic() - began:.0f} s")  # noqa: T201 - a command
    print(f"nothing acknowledged was lost, no state differs; {more} calls under way were durable, too")  # noqa: T201
    print(f"{sum(killed.backups for killed in results)} backups were made meanwhile, and {_READERS} clients read")  # noqa: T201


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 500, *map(int, sys.argv[2:3]))
