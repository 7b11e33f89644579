"""A virtual run of a load, set beside the yardstick: Python's sort of 2,000,000 random floats.

Kueue's own core took 22 such sorts for the loads of its baseline and of its topology test, and 33 for that of its
large-scale test.
"""

import random

from callgrind import MARK, measure

from kueuepy._core import Engine
from kueuepy.simulation.perf import Load

COUNTED = ("workloads", "cycles", "admissions", "evictions", "finished")
"""What must stay as it was committed."""


def sort_marked(mark):
    """The yardstick, which `mark` makes a part of its own."""
    mark.fingerprint()
    rng = random.Random(1)  # noqa: S311
    values = [rng.random() for _ in range(2_000_000)]
    mark.fingerprint()
    values.sort()
    mark.fingerprint()


def measure_run(script, prepare, reference_sorts=None):
    """Measures a run: `prepare` gives what runs it and answers with its counts.

    The reference, if there is one, took `reference_sorts` times the yardstick.
    """

    def body():
        run = prepare()
        mark = Engine()
        mark.fingerprint()
        counts = run()
        sort_marked(mark)
        return {name: counts[name] for name in COUNTED}

    def figures(parts, _):
        _, ours, _, sort, _ = parts
        found = {"instructions": ours, "sorts": ours / sort}
        return found | ({"part of the reference": found["sorts"] / reference_sorts} if reference_sorts else {})

    measure(script, body, figures, functions=[], marks=[MARK])


def measure_load(script, reference_sorts, profile):
    """Measures the run of a load."""

    def prepare():
        run = Load(profile).start()

        def to_its_end():
            while run.advance():
                pass
            return run.stats

        return to_its_end

    measure_run(script, prepare, reference_sorts)
