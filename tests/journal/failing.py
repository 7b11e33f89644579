"""A sequence of journal calls, repeated with one failing write each; run with `failing.c` preloaded.

    LD_PRELOAD=failing.so python tests/journal/failing.py failing.so FOLDER

The journals are created in the folder. The script prints the results for each kind of failure as JSON.
"""

from __future__ import annotations

import ctypes
import errno
import json
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parent.parent))

from journal.cases import small_cluster, workload
from kueuepy.errors import KueueError, StateError
from kueuepy.platform.journal import Journal
from saved import to_bytes

if TYPE_CHECKING:
    from collections.abc import Callable

    from kueuepy import Scheduler

HALF = -1
FOR_EVER = 10**9
WAYS = {
    "the disk stays full": (errno.ENOSPC, True),
    "the disk is full once": (errno.ENOSPC, False),
    "the disk stays broken": (errno.EIO, True),
    "the disk fails once": (errno.EIO, False),
    "a write is interrupted": (errno.EINTR, False),
    "a write is short": (HALF, False),
}


def story(journal: Journal, scheduler: Scheduler, acknowledged: list[bytes]) -> None:
    """Calls of all kinds; the state after each that returns."""
    calls: list[Callable[[], object]] = [
        lambda: scheduler.submit(workload("a", annotations={"why": "x" * 9000}), workload("b")),
        scheduler.cycle,
        journal.compact,
        lambda: scheduler.submit(*(workload(f"w{i}", "nlp", 2) for i in range(8))),
        scheduler.settle,
        lambda: scheduler.finish("a"),
        journal.compact,
        lambda: scheduler.delete("b"),
    ]
    for call in calls:
        call()
        acknowledged.append(to_bytes(scheduler))


def tell(path: Path) -> tuple[str, int]:
    """Run the calls once and check the final state; return the outcome and the number of writes."""
    journal = scheduler = None
    acknowledged: list[bytes] = []
    try:
        journal = Journal(path)
        scheduler = journal.scheduler(small_cluster())
        acknowledged.append(to_bytes(scheduler))
        story(journal, scheduler, acknowledged)
        outcome = "went on"
    except KueueError as error:
        outcome = "refused" if scheduler is None else "ended"
        check(error, scheduler, acknowledged)
    if journal is not None:
        journal.close()
    writes = _library.writes_seen()
    _library.fail_writes(b"", 0, 0, 0)  # the disk works again
    with Journal(path) as recovered:
        back = recovered.scheduler(small_cluster())
        # The effect of a failed call may be stored or not.
        possible = acknowledged[-2:] if outcome == "ended" else acknowledged[-1:]
        assert outcome == "refused" or to_bytes(back) in possible, "something is lost, or differs"
        back.submit(workload("later"))
    return outcome, writes


def check(error: KueueError, scheduler: Scheduler | None, acknowledged: list[bytes]) -> None:
    """Check that the error is clear, and that the Scheduler rejects calls but can be read."""
    if scheduler is None:
        assert "cannot be" in str(error), error
        return
    assert "accepts no more calls: it cannot be written" in str(error), error
    keys, state = scheduler.keys(), to_bytes(scheduler)
    try:
        scheduler.cycle()
    except StateError as again:
        refusal = str(again)
    assert refusal == str(error)
    assert "read only" in repr(scheduler)
    assert (scheduler.keys(), to_bytes(scheduler)) == (keys, state)
    acknowledged.append(state)


def main(folder: Path) -> None:
    """Let every write fail once in every way."""
    found = {}
    for number, (way, (code, for_ever)) in enumerate(WAYS.items()):
        outcomes: Counter[str] = Counter()
        at = 0
        while True:
            at += 1
            place = folder / f"{number}-{at}"
            place.mkdir()
            _library.fail_writes(str(place).encode(), at, FOR_EVER if for_ever else at, code)
            outcome, writes = tell(place / "j.db")
            if writes < at:
                break
            outcomes[outcome] += 1
        found[way] = {"writes": at - 1, **outcomes}
    print(json.dumps(found))  # noqa: T201 - a command


if __name__ == "__main__":
    _library = ctypes.CDLL(sys.argv[1])
    main(Path(sys.argv[2]))
