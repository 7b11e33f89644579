"""P17: hours of a busy cluster of 1,300 nodes with topology and fair sharing, whose queue never runs dry.

The shape is that of kubernetes-sigs/kueue#14477: a cycle every 2.4 s, and 536 jobs that wait when the day begins; how
much jobs ask for is made up, so that about ten come and go a minute. Two hours of it are counted, which is
what valgrind has the time for; all others are alike.
"""

import random

from sorts import measure_run

import kueuepy as kq
from kueuepy.jobs import Submission

GPU, SECOND = "nvidia.com/gpu", 10**9
COUNTED = 2 * 3600
TEAMS, WAITING, A_MINUTE = 10, 536, 9.6
HALL = kq.Topology("hall", levels=["block", "rack", kq.objects.HOSTNAME_LABEL])
RUNTIME = 6.85, 0.8
"""Of the logarithm of seconds: its mean, and how far it goes from it."""
ASKED = ((1, 8), (2, 8), (4, 8), (8, 8), (16, 8))
"""Pods, and GPUs of each, one as likely as the other."""


def cluster():
    """Ten teams in one cohort, with the GPUs of 10 blocks of 10 racks of 13 hosts."""
    hosts = kq.objects.nodes(HALL, (10, 10, 13), labels={"pool": "gpu"}, capacity={GPU: 8})
    quota = {"gpu": {GPU: 8 * len(hosts) // TEAMS}}
    rules = kq.Preemption(reclaim_within_cohort="Any")
    teams = [kq.ClusterQueue.of(f"team-{n}", quota, cohort_name="all", preemption=rules) for n in range(TEAMS)]
    flavor = kq.ResourceFlavor("gpu", node_labels={"pool": "gpu"}, topology_name="hall")
    strategies = ("LessThanOrEqualToFinalShare", "LessThanInitialShare")
    sharing = kq.Configuration(fair_sharing=kq.FairSharingConfig(preemption_strategies=strategies))
    return kq.Cluster(HALL, flavor, *teams, hosts, configuration=sharing)


def jobs():
    """Who waits when the day begins, and who comes in it."""
    rng = random.Random(17)  # noqa: S311
    at = [0.0] * WAITING
    while at[-1] < COUNTED:
        at.append(at[-1] + rng.expovariate(A_MINUTE / 60))
    for number, submit in enumerate(at):
        pods, gpus = rng.choice(ASKED)
        request = kq.objects.preferred("block") if pods == ASKED[-1][0] else kq.objects.required("rack")
        pod_set = kq.PodSet.of("main", pods, requests={GPU: gpus}, topology_request=request)
        queue, created = f"team-{number % TEAMS}", round(submit * SECOND)
        workload = kq.Workload(f"job-{number}", queue_name=queue, pod_sets=(pod_set,), creation_timestamp=created)
        yield Submission(workload, duration=round(rng.lognormvariate(*RUNTIME) * SECOND))


def prepare():
    """The day, before it begins."""
    nothing = kq.sim.Recording(decisions=False, runs=False)
    run = kq.Simulation(cluster(), list(jobs()), clock=kq.sim.Clock("2.4s"), record=nothing)

    def day():
        run.run(until=COUNTED)
        return run.result().stats

    return day


if __name__ == "__main__":
    measure_run(__file__, prepare)
