"""A child that journals random calls is killed at random moments; what it acknowledged must all be there.

The child tells the parent, through a pipe, which call has returned. After the kill the parent opens the journal: its
state must be, bit for bit, that of a Scheduler which did the acknowledged calls and was never killed; or that with the
one call more that was under way.

    python tests/crash/kills.py 10000
"""

from __future__ import annotations

import os
import random
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

sys.path.insert(0, str(Path(__file__).parent.parent))

import kueuepy as kq
from crash.steps import approve, cluster, step
from kueuepy.journal import Journal
from kueuepy.persist import to_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kueuepy.session.checks import Check

KILLS_PER_JOURNAL = 25
_LONGEST = 0.05  # seconds until the kill


class Killed(NamedTuple):
    """What came of one kill: calls acknowledged since the one before, and whether the one under way was durable."""

    calls: int
    one_more: bool


def kills(count: int, seed: int) -> Iterator[Killed]:
    """That many kills.

    Raises:
        AssertionError: Something was lost, or differs.
    """
    for start in range(0, count, KILLS_PER_JOURNAL):
        with tempfile.TemporaryDirectory() as folder:
            yield from _of_one_journal(Path(folder) / "journal.db", seed + start, min(KILLS_PER_JOURNAL, count - start))


def _of_one_journal(path: Path, seed: int, count: int) -> Iterator[Killed]:
    unharmed = kq.Scheduler(cluster())
    unharmed.answer_checks(_answering(seed))
    done = 0
    chosen = random.Random(seed)  # noqa: S311 - no secret
    for _ in range(count):
        before = done
        # Most are killed in the midst of calls, some while they open the journal.
        acknowledged = _kill(path, seed, done, chosen.random() * _LONGEST, awake=chosen.random() < 0.8)
        while done < acknowledged:
            done += 1
            step(unharmed, seed, done)
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
        yield Killed(acknowledged - before, one_more=one_more)


def _kill(path: Path, seed: int, done: int, delay: float, *, awake: bool) -> int:
    """Runs a child for so long, from its first call on if `awake`; the number of the last call that it acknowledged."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)  # so that it ends with its parent: nobody else listens
        _child(path, seed, done, writer)
    os.close(writer)
    told = os.read(reader, 8) if awake else b""
    time.sleep(delay)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status), "the child has failed by itself; its error is above"
    with os.fdopen(reader, "rb") as pipe:
        told += pipe.read()
    return int.from_bytes(told[-8:], "little") if told else done


def _child(path: Path, seed: int, done: int, writer: int) -> None:
    """Journals calls until it is killed."""
    try:
        scheduler = Journal(path, durability="process" if seed % 2 else "power").scheduler(cluster())
        scheduler.answer_checks(_answering(seed))
        while True:
            done += 1
            step(scheduler, seed, done)
            os.write(writer, done.to_bytes(8, "little"))
    except BaseException:  # noqa: BLE001 - it must not come back into the parent's code
        traceback.print_exc()
        os._exit(1)


def _answering(seed: int) -> dict[str, Check]:
    """Half of the histories have a function that answers the admission check."""
    return {"example.com/approval": approve} if seed // KILLS_PER_JOURNAL % 2 else {}


def main(count: int, seed: int = 1) -> None:
    """Kills so often, and prints what came of it."""
    began = time.monotonic()
    results = list(kills(count, seed))
    more = sum(killed.one_more for killed in results)
    calls = sum(killed.calls for killed in results)
    print(f"{len(results)} kills among {calls} calls in {time.monotonic() - began:.0f} s")  # noqa: T201 - a command
    print(f"nothing acknowledged was lost, no state differs; {more} calls under way were durable, too")  # noqa: T201


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 500, *map(int, sys.argv[2:3]))
