"""A virtual run of a load, set beside the yardstick: Python's sort of 2,000,000 random floats.

Kueue's own core took 22 such sorts for the loads of its baseline and of its topology test, and 33 for that of its
large-scale test.
"""

import random

from callgrind import MARK, measure

from kueuepy._core import Engine
from kueuepy.simulation.perf import Load


def sort_marked(mark):
    """The yardstick, which `mark` makes a part of its own."""
    mark.fingerprint()
    rng = random.Random(1)  # noqa: S311
    values = [rng.random() for _ in range(2_000_000)]
    mark.fingerprint()
    values.sort()
    mark.fingerprint()


def measure_load(script, reference_sorts, profile):
    """Measures the run of a load; the reference took `reference_sorts` times the yardstick."""

    def body():
        run = Load(profile).start()
        mark = Engine()
        mark.fingerprint()
        while run.advance():
            pass
        sort_marked(mark)
        return {name: run.stats[name] for name in ("workloads", "cycles", "admissions", "evictions", "finished")}

    def figures(parts, _):
        _, ours, _, sort, _ = parts
        return {"instructions": ours, "sorts": ours / sort, "part of the reference": ours / sort / reference_sorts}

    measure(script, body, figures, functions=[], marks=[MARK])
