"""Means compared with closed forms of queueing theory, within the tolerances of the vectors."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

import kueuepy as kq

from .conftest import GPU, cluster, queue

THEORY = json.loads(gzip.decompress((Path(__file__).parents[1] / "vectors" / "simulation.json.gz").read_bytes()))[
    "theory"
]
N = 200_000
MICRO = 1e-6
FIGURES = kq.sim.Recording(decisions=False, runs=False, usage=False)


def draws(seed, count):
    rng = np.random.Generator(np.random.PCG64(seed))
    return [rng.random(N) for _ in range(count)]


def expo(u, mean):
    return np.maximum(1, np.floor(-np.log1p(-u) * mean * 1e6)).astype(np.int64)


def jobs(submit, runtime, **columns):
    times = {"submit": (submit * 1000).view("M8[ns]"), "runtime": (runtime * 1000).view("m8[ns]")}
    return kq.Jobs({"queue": ["q"] * len(submit), **times, GPU: np.ones(len(submit), np.int64), **columns})


def close(case, name, value):
    known = THEORY[case]["values"][name]
    assert abs(value - known["theory"]) <= known["tolerance_to_theory"]
    assert value == pytest.approx(known["reference"], rel=1e-5)


def run(there, table, **options):
    return kq.simulate(there, table, record=FIGURES, **options)


@pytest.mark.parametrize(
    ("case", "seed", "gap", "servers"),
    [("mm1", 101, 1.428571429, 1), ("mm4", 102, 0.3125, 4), ("mm16", 103, 0.06944444444, 16)],
)
def test_poisson_arrivals_at_some_servers(case, seed, gap, servers):
    first, second = draws(seed, 2)
    runtime = expo(second, 1)
    result = run(cluster(queue("q", servers, strategy="StrictFIFO")), jobs(np.cumsum(expo(first, gap)), runtime))
    waits = result.jobs["first_wait"]
    close(case, "mean_first_wait", waits.mean())
    close(case, "probability_of_waiting", (waits > 0).mean())
    # The span of the vectors begins at 0, that of a run at its first submission.
    start = expo(first, gap)[0] * MICRO
    span = result.seconds + start
    close(case, "utilisation", runtime.sum() * MICRO / servers / span)
    close(case, "mean_waiting_jobs", waits.sum() / span)
    # Little's law holds in every run: the queue's time average is the sum of waits over the time.
    assert result.kpis.waiting_mean * result.seconds == pytest.approx(waits.sum(), rel=1e-9)
    assert result.kpis.utilisation[f"f/{GPU}"] * result.seconds * servers == pytest.approx(runtime.sum() * MICRO)


def test_constant_runs_and_runs_of_two_lengths():
    (first,) = draws(104, 1)
    there = cluster(queue("q", 1, strategy="StrictFIFO"))
    result = run(there, jobs(np.cumsum(expo(first, 1 / 0.7)), np.full(N, 1_000_000)))
    close("md1", "mean_first_wait", result.jobs["first_wait"].mean())
    first, second = draws(105, 2)
    result = run(there, jobs(np.cumsum(expo(first, 1 / 0.35)), np.where(second < 0.9, 1_000_000, 10_000_000)))
    close("mg1_two_point", "mean_first_wait", result.jobs["first_wait"].mean())


def test_two_priorities_without_preemption():
    first, second, third = draws(106, 3)
    high = third < 0.4
    table = jobs(np.cumsum(expo(first, 1 / 0.8)), expo(second, 1), priority=np.where(high, 100, 0))
    waits = run(cluster(queue("q", 1, strategy="StrictFIFO")), table).jobs["first_wait"]
    close("priority_no_preemption", "mean_first_wait_high", waits[high].mean())
    close("priority_no_preemption", "mean_first_wait_low", waits[~high].mean())


@pytest.mark.parametrize(
    "model",
    [kq.sim.RunModel(), kq.sim.RunModel("checkpoint", every=0.5), kq.sim.RunModel("resume")],
    ids=lambda m: m.on_eviction,
)
def test_the_cost_of_preemption(model):
    first, second, third = draws(107, 3)
    high = second < 0.4 / 0.55
    runtime = np.where(high, expo(third, 0.5), 2_000_000)
    table = jobs(np.cumsum(expo(first, 1 / 0.55)), runtime, priority=np.where(high, 100, 0))
    there = cluster(queue("q", 1, within_cluster_queue="LowerPriority"))
    result = run(there, table, model=model)
    case, found = f"preemption_{model.on_eviction}", result.jobs
    if case == "preemption_restart":
        close(case, "mean_first_wait_high", found["first_wait"][high].mean())
    if case == "preemption_resume":
        close(case, "mean_response_low", (found["end"] - found["submit"])[~high].mean())
    close(case, "evictions_per_low_job", found["evictions"][~high].mean())
    close(case, "lost_seconds_per_low_job", found["lost"][~high].mean())
    # Quota time is progress plus loss plus overhead.
    assert found["held"].sum() == pytest.approx(found["lost"].sum() + found["overhead"].sum() + found["runtime"].sum())


def test_two_queues_share_as_one_cohort():
    first, second, third = draws(108, 3)
    names = np.where(third < 0.5, "b", "a")
    table = jobs(np.cumsum(expo(first, 1 / 3)), expo(second, 1)).assign(queue=names.tolist())
    for cohort, name in (("all", "in_one_cohort"), (None, "without_cohort")):
        there = cluster(*(queue(n, 2, cohort=cohort, strategy="StrictFIFO") for n in "ab"))
        waits = run(there, table).jobs["first_wait"]
        close("pooling_by_cohort", f"mean_first_wait_{name}", waits.mean())


def test_fair_sharing_divides_quota_by_weight():
    queues = [
        kq.ClusterQueue.of(
            f"q{n}",
            {"f": {GPU: 0}},
            cohort_name="org",
            fair_sharing=kq.FairSharing(weight=n),
            preemption=kq.Preemption(reclaim_within_cohort="Any"),
        )
        for n in (1, 2, 3)
    ]
    quotas = (kq.ResourceGroup.of({"f": {GPU: 60}}),)
    there = cluster(kq.Cohort("org", resource_groups=quotas), *queues, fair_sharing=kq.FairSharingConfig())
    names = [f"q{n}" for n in (1, 2, 3) for _ in range(300)]
    result = kq.simulate(
        there, kq.Jobs({"queue": names, "submit": [0] * 900, "runtime": [100] * 900, GPU: [1] * 900}), until=0
    )
    used = [result.totals["queues"][f"q{n}"]["cells"][f"f/{GPU}"][3] for n in (1, 2, 3)]
    expected = THEORY["fair_sharing_weights"]["values"]["usage"]
    assert used == pytest.approx(expected["theory"], abs=expected["tolerance_to_theory"])
