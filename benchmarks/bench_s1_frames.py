"""S1, S2, S6, S7, S9 at a twentieth of their size: what each takes of instructions, and beside the yardstick."""

import tempfile
import warnings
from pathlib import Path

from callgrind import MARK, measure
from sorts import sort_marked
from weeks import NOTHING, frame_to_frames, lone, steady

import kueuepy as kq
from kueuepy._core import Engine

JOBS = 50_000
STEPS = ("S1", "S2", "S6", "S7", "S9 to Arrow", "S9 to pandas")


def body():
    warnings.simplefilter("ignore", UserWarning)
    cluster, frame = steady(JOBS)
    table = kq.Jobs.from_frame(frame)
    alone, one = lone(1000)
    decided = kq.simulate(cluster, table, record=kq.Record(runs=False, usage=False)).decisions
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "jobs.csv")
        frame.to_csv(path, index=False)
        steps = {
            "S1": lambda: frame_to_frames(cluster, frame),
            "S2": lambda: kq.simulate(cluster, table, record=NOTHING).kpis,
            "S6": lambda: kq.compare(alone, alone, one).figures(),
            "S7": lambda: kq.Jobs.read(path),
            "S9 to Arrow": decided.__arrow_c_stream__,
            "S9 to pandas": decided.to_pandas,
        }
        for step in steps.values():
            step()  # what is imported and kept at the first time is no part of it
        mark = Engine()
        for name in STEPS:
            mark.fingerprint()
            steps[name]()
        sort_marked(mark)
    return {"jobs": JOBS, "decisions": len(decided)}


def figures(parts, did):
    *_, sort, _ = parts
    found = dict(zip(STEPS, parts[1 : 1 + len(STEPS)], strict=True))
    units = {"S6": 2000, "S9 to Arrow": 1, "S9 to pandas": did["decisions"]}
    return {
        **{f"instructions of {name}": count / units.get(name, JOBS) for name, count in found.items()},
        **{f"sorts of {name}": count / sort for name, count in found.items()},
    }


if __name__ == "__main__":
    measure(__file__, body, figures, functions=[], marks=[MARK])
