"""P17: hours of a busy cluster of 1,300 nodes with topology and fair sharing, in which jobs are always waiting.

The shape follows kubernetes-sigs/kueue#14477: a cycle every 2.4 s, and 536 jobs waiting at the start. The requests are
synthetic; about ten jobs arrive and ten finish per minute. The benchmark counts two hours, because more would take too
long under valgrind; the other hours of the day are alike.
"""

import random

from sorts import measure_run

import kueuepy as kq
from kueuepy.jobs import Submission

GPU = "nvidia.com/gpu"
COUNTED = 2 * 3600
TEAMS, WAITING, A_MINUTE = 10, 536, 9.6
HALL = kq.Topology("hall", levels=["block", "rack", kq.objects.HOSTNAME_LABEL])
RUNTIME = 6.85, 0.8
"""Mean and standard deviation of the natural logarithm of the run time in seconds."""
ASKED = ((1, 8), (2, 8), (4, 8), (8, 8), (16, 8))
"""Number of pods and GPUs per pod of a job; all are equally likely."""


def cluster():
    """Return a cluster of ten teams in one cohort, with 10 blocks of 10 racks of 13 hosts."""
    hosts = kq.objects.nodes(HALL, (10, 10, 13), labels={"pool": "gpu"}, capacity={GPU: 8})
    quota = {"gpu": {GPU: 8 * len(hosts) // TEAMS}}
    rules = kq.Preemption(reclaim_within_cohort="Any")
    teams = [kq.ClusterQueue.of(f"team-{n}", quota, cohort_name="all", preemption=rules) for n in range(TEAMS)]
    flavor = kq.ResourceFlavor("gpu", node_labels={"pool": "gpu"}, topology_name="hall")
    strategies = ("LessThanOrEqualToFinalShare", "LessThanInitialShare")
    sharing = kq.Configuration(fair_sharing=kq.FairSharingConfig(preemption_strategies=strategies))
    return kq.Cluster(HALL, flavor, *teams, hosts, configuration=sharing)


def jobs():
    """Yield the jobs that wait at the start, then those that arrive later."""
    rng = random.Random(17)  # noqa: S311
    at = [0.0] * WAITING
    while at[-1] < COUNTED:
        at.append(at[-1] + rng.expovariate(A_MINUTE / 60))
    for number, submit in enumerate(at):
        pods, gpus = rng.choice(ASKED)
        request = kq.objects.preferred("block") if pods == ASKED[-1][0] else kq.objects.required("rack")
        pod_set = kq.PodSet.of("main", pods, requests={GPU: gpus}, topology_request=request)
        queue = f"team-{number % TEAMS}"
        workload = kq.Workload(f"job-{number}", queue_name=queue, pod_sets=(pod_set,), creation_timestamp=submit)
        yield Submission(workload, duration=rng.lognormvariate(*RUNTIME))


def prepare():
    """Prepare the simulation; return the function that runs it."""
    nothing = kq.sim.Recording(decisions=False, runs=False)
    run = kq.Simulation(cluster(), list(jobs()), clock=kq.sim.Clock("2.4s"), record=nothing)

    def day():
        run.run(until=COUNTED)
        return run.result().stats

    return day


if __name__ == "__main__":
    measure_run(__file__, prepare)
