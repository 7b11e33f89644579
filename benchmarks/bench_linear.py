"""Instructions of calls with four times as many workloads, queues or nodes: about four times as many."""

import gc
import sys
from pathlib import Path

from callgrind import measure

from kueuepy._core import has_controls

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "package"))
from test_linear import CALLS, FEW

TIMES = 4
# None of the calls reads text. The mark of the other benchmarks is the fingerprint, which is one of these calls.
MARK = "kueue::HasControls(*)"


def body():
    for prepare in CALLS.values():
        prepare(FEW)()  # imports happen once
        for count in (FEW, TIMES * FEW):
            call = prepare(count)
            gc.collect()
            gc.freeze()  # a collection during the call visits the objects of the call alone
            has_controls(b"")
            call()
            has_controls(b"")
            gc.unfreeze()
    return {"calls": len(CALLS)}


def figures(parts, _):
    counts = parts[1::2]  # the others are preparations
    pairs = zip(CALLS, counts[::2], counts[1::2], strict=False)
    return {f"instructions for {TIMES} times as many: {call}": many / few for call, few, many in pairs}


if __name__ == "__main__":
    measure(__file__, body, figures, functions=[], marks=[MARK])
