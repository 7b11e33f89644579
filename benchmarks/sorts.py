"""Compare a run of a load in virtual time with a reference: Python's sort of 2,000,000 random floats.

Kueue's own core needs the time of 22 such sorts for the loads of its baseline and topology tests, and of 33 for the
load of its large-scale test.
"""

import random
import sys
from pathlib import Path

from callgrind import MARK, measure

from kueuepy._core import Engine

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))

from perf import PerformanceTest

COUNTED = ("workloads", "cycles", "admissions", "evictions", "finished")
"""Counts that must equal the committed ones."""


def sort_marked(mark):
    """Run the reference sort as a separate part of the count."""
    mark.fingerprint()
    rng = random.Random(1)  # noqa: S311
    values = [rng.random() for _ in range(2_000_000)]
    mark.fingerprint()
    values.sort()
    mark.fingerprint()


def measure_run(script, prepare, reference_sorts=None):
    """Measure a run.

    Args:
        script: The file of the benchmark.
        prepare: Prepares the run; returns a function that runs it and returns its counts.
        reference_sorts: Time of the run in Kueue's own core, in sorts; `None` if not known.
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
        return found | ({"fraction of the reference": found["sorts"] / reference_sorts} if reference_sorts else {})

    measure(script, body, figures, functions=[], marks=[MARK])


def measure_load(script, reference_sorts, profile, *, fair_sharing=False):
    """Measure the run of a load profile."""

    def prepare():
        run = PerformanceTest(profile, fair_sharing=fair_sharing).start()
        run.stats._asdict()  # imports the class before the measurement

        def to_its_end():
            while run.advance():
                pass
            return run.stats._asdict()

        return to_its_end

    measure_run(script, prepare, reference_sorts)
