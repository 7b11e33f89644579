"""S5: jobs of 100 queues in 10 cohorts that evict each other, at a load of 0.95."""

import warnings

from callgrind import measure
from weeks import NOTHING, crowd

import kueuepy as kq

JOBS = 4000


def body():
    warnings.simplefilter("ignore", UserWarning)
    return kq.simulate(*crowd(JOBS), record=NOTHING).stats


def figures(parts, did):
    return {"instructions per admission": sum(parts) / did["admissions"]}


if __name__ == "__main__":
    measure(__file__, body, figures, functions=["kueue::Simulation::Run(*)"])
