"""S4: two weeks of the Philly log, 12 queues in one cohort, BestEffortFIFO; most heads wait for many cycles."""

import warnings
from pathlib import Path

from callgrind import measure

import kueuepy as kq

LOG = Path(__file__).parents[1] / "examples" / "logs" / "philly.csv.gz"


def body():
    warnings.simplefilter("ignore", UserWarning)
    jobs = kq.Jobs.read(LOG, format="philly")
    return kq.simulate(kq.sim.cluster_of(jobs), jobs).stats


def figures(parts, did):
    return {"instructions per job": sum(parts) / did["workloads"], "instructions per cycle": sum(parts) / did["cycles"]}


if __name__ == "__main__":
    measure(__file__, body, figures, functions=["kueue::Simulation::Run(*)"])
