"""S1, S2, S4 to S7 and S9: simulate whole logs, and read and convert their tables.

    python benchmarks/time_simulation.py [--record] [LOG ...]

The targets, on one core without other load, are:

- S1: 5 s and 1 GiB; S2: 3 s; S4: 1 s; S6: 0.3 s;
- S5: 15 µs per admission;
- S7: 1.5 s for a million rows of CSV;
- S9: 0.001 s to Arrow and 0.1 s to pandas.

S4 uses the Philly log if `philly.csv.gz` is one of the arguments, and otherwise random jobs with similar sizes. For any
other log, the script measures only the time to read it. `--record` writes the results into `figures.json`.
"""

import csv
import json
import resource
import sys
import tempfile
import warnings
from pathlib import Path

from callgrind import FIGURES as FILE
from timing import say_load, sort, taking
from weeks import NOTHING, crowd, frame_to_frames, lone, steady

import kueuepy as kq

FIGURES = {}


def timed(name, what):
    """Call `what`, print its time in seconds and in sorts, and return its result with the CPU time."""
    times = []
    with taking(times):
        found = what()
    (took,) = times
    sorts = took.cpu / sort().cpu
    FIGURES[f"{name}: sorts"] = round(sorts, 3)
    FIGURES[f"{name}: seconds"] = round(took.cpu, 4)
    print(f"{name}: {took.cpu:.3f} s CPU time, {took.wall:.3f} s wall time, {sorts:.1f} sorts")
    return found, took.cpu


def written(frame, folder):
    path = Path(folder, "jobs.csv")
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(frame.columns)
        rows.writerows(zip(*(frame[name].tolist() for name in frame.columns), strict=True))
    return path


def main(paths, *, record):
    warnings.simplefilter("ignore", UserWarning)
    say_load("simulation")
    logs = {}
    for path in paths:
        logs[Path(path).name], _ = timed(f"S7 {Path(path).name}", lambda path=path: kq.Jobs.read(path))
    philly = next((jobs for name, jobs in logs.items() if name.startswith("philly")), None)
    if philly is None:
        names = [f"vc{i}" for i in range(15)]
        philly = kq.Jobs.gpu_mix(seed=1, days=109, gpus=400, load=0.95, queues=names)
    result, _ = timed(f"S4 {len(philly)} jobs", lambda: kq.simulate(kq.sim.cluster_of(philly), philly))
    print(f"   {result.stats['cycles']} cycles, mean wait {result.kpis.wait_mean / 3600:.1f} h")
    cluster, jobs = crowd(20_000)
    result, took = timed("S5 jobs that evict each other", lambda: kq.simulate(cluster, jobs, record=NOTHING))
    print(f"   {took / result.stats['admissions'] * 1e6:.1f} µs per admission, {result.stats['admissions']} admissions")
    alone, one = lone(20_000)
    timed("S6 compare of 20,000 jobs", lambda: kq.compare(alone, alone, one).figures())
    cluster, frame = steady(1_000_000)
    timed("S1 a million jobs, frame to frames", lambda: frame_to_frames(cluster, frame))
    print(f"   peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GiB")
    table = kq.Jobs.from_frame(frame)
    result, _ = timed("S2 metrics only", lambda: kq.simulate(cluster, table, record=NOTHING))
    result = kq.simulate(cluster, table.head(340_000), record=kq.sim.Recording(runs=False, usage=False))
    print(f"   {len(result.decisions)} decisions")
    timed("S9 to Arrow", result.decisions.__arrow_c_stream__)
    timed("S9 to pandas", result.decisions.to_pandas)
    with tempfile.TemporaryDirectory() as folder:
        path = written(frame, folder)
        timed("S7 a million rows of CSV", lambda: kq.Jobs.read(path))
    if record:
        known = json.loads(FILE.read_text(encoding="utf-8"))
        known["time_simulation"] = {"did": {"jobs of S4": len(philly)}, "figures": FIGURES}
        FILE.write_text(json.dumps(known, indent=2, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main([path for path in sys.argv[1:] if path != "--record"], record="--record" in sys.argv)
