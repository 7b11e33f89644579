"""A sweep on a local Dask cluster of one worker and of two, in CPU time.

    python benchmarks/time_dask.py [POLICIES [JOBS]]

The target is 1.8 times the speed of one worker. The CPU time of the busier worker counts, because the wall time is
unreliable on a busy machine; the start of the workers does not count. The load is that of `time_sweep`.
"""

import sys
import time

import distributed
from time_sweep import GPU, load
from timing import say_load

import kueuepy as kq


def main(policies=100, jobs=50_000):
    say_load("dask")
    cluster, table = load(jobs)
    over = kq.lab.sample(
        {f"ClusterQueue/*:quota[default/{GPU}].nominalQuota": kq.lab.Uniform(36, 60)}, policies, seed=1
    )
    spent, frames = [], set()
    for workers in (1, 2):
        with (
            distributed.LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as local,
            distributed.Client(local) as client,
        ):
            client.run(__import__, "kueuepy")
            before = client.run(time.process_time)
            grid = kq.sweep(cluster, table, over, on=client, progress=False)
            after = client.run(time.process_time)
        frames.add(grid.frame["wait_mean"].tobytes())
        times = [after[worker] - before[worker] for worker in after]
        spent.append(max(times))
        print(f"{workers} workers: {', '.join(f'{one:.1f}' for one in sorted(times))} s CPU time")
    assert len(frames) == 1
    print(f"two workers are {spent[0] / spent[1]:.2f} times as fast as one")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
