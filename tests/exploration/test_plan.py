"""Plans and searches compared with brute force."""

import pytest

import kueuepy as kq
from exploration.conftest import CELL, GPU, NOMINAL, RECLAIM, arrivals

BORROWING = f"ClusterQueue/team-a:quota[{CELL}].borrowingLimit"


def by_hand(teams, target, values, seeds):
    """Return the smallest value that meets the target with each seed, by brute force."""
    figure, _, bound = target.partition(" <= ")
    good = []
    for value in values:
        kpis = [kq.simulate(teams.edit(NOMINAL, value), arrivals(seed)).kpis for seed in seeds]
        if all(getattr(kpi, figure) <= float(bound) for kpi in kpis):
            good.append(value)
    return min(good, default=None)


@pytest.mark.parametrize("target", ["wait_p95 <= 600", "wait_mean <= 60", "longest_wait <= 1", "wait_p50 <= 100000"])
def test_an_exhaustive_plan_tries_every_value(teams, target):
    found = kq.plan(teams, arrivals, target, vary=NOMINAL, low=1, high=12, seeds=2)
    assert found.exhaustive
    assert found.value == by_hand(teams, target, range(1, 13), (0, 1))
    assert found.curve["value"].tolist() == list(range(1, 13))


@pytest.mark.parametrize("target", ["wait_p95 <= 600", "wait_mean <= 60", "wait_p50 <= 100000"])
def test_a_search_finds_the_same_with_fewer_runs(target):
    alone = kq.Cluster(kq.ResourceFlavor("h100"), kq.ClusterQueue.of("team-a", {"h100": {GPU: 4}}))
    jobs = arrivals(3).where(lambda table: table["queue"].codes == 0)
    whole = kq.plan(alone, jobs, target, vary=NOMINAL, low=1, high=60)
    quick = kq.plan(alone, jobs, target, vary=NOMINAL, low=1, high=60, exhaustive=False)
    assert whole.monotone
    assert quick.value == whole.value
    assert len(quick.curve) < 20
    assert not quick.exhaustive
    tried = set(quick.curve["value"].tolist())
    assert {v for v in (quick.value - 1, quick.value, quick.value + 1) if 1 <= v <= 60} <= tried


def test_the_plan_reports_that_more_quota_can_lengthen_waits():
    """With 4, the third job starts next to the first and delays the second; with 3 it does not fit."""
    quota = f"ClusterQueue/q:quota[f/{GPU}].nominalQuota"
    cluster = kq.Cluster(kq.ResourceFlavor("f"), kq.ClusterQueue.of("q", {"f": {GPU: 3}}))
    rows = [
        {"queue": "q", "submit": 0, "runtime": 50, "gpu": 1},
        {"queue": "q", "submit": 10, "runtime": 100, "gpu": 3},
        {"queue": "q", "submit": 20, "runtime": 50, "gpu": 2},
    ]
    found = kq.plan(cluster, rows, "wait_mean <= 25", vary=quota, low=2, high=5)
    assert found.curve["mean"].tolist()[1:] == [20, 30, 10]
    assert found.curve["passed"].tolist() == [False, True, False, True]
    assert (found.value, found.monotone) == (3, False)
    assert "not monotone" in repr(found)


def test_a_plan_without_a_sufficient_value_has_no_value(teams):
    found = kq.plan(teams, arrivals(0), "wait_mean < 0", vary=NOMINAL, low=2, high=200, exhaustive=False)
    assert found.value is None
    assert found.cluster is None
    assert "no value meets" in repr(found)


def test_the_cluster_of_a_plan_meets_the_target(teams):
    found = kq.plan(teams, arrivals(0), "wait_p95 <= 600", vary=NOMINAL, low=1, high=20)
    assert kq.simulate(found.cluster, arrivals(0)).kpis.wait_p95 <= 600
    assert kq.simulate(found.cluster.edit(NOMINAL, found.value - 1), arrivals(0)).kpis.wait_p95 > 600
    assert found._repr_html_()


def test_an_invalid_value_misses_the_target(teams):
    found = kq.plan(teams, arrivals(0), "wait_p50 <= 100000", vary=NOMINAL, low=-2, high=1)
    assert found.curve["passed"].tolist() == [False, False, True, True]


@pytest.mark.parametrize(("low", "high", "step"), [(3, 2, 1), (1, 2, 0)])
def test_an_invalid_range_is_rejected(teams, low, high, step):
    with pytest.raises(kq.errors.InvalidSpecError, match="plan"):
        kq.plan(teams, arrivals(0), "loops == 0", vary=NOMINAL, low=low, high=high, step=step)


SPACE = {NOMINAL: kq.lab.Uniform(2, 6, step=1), BORROWING: [0, 2, None], RECLAIM: ["Never", "Any"]}


def test_a_search_finds_what_brute_force_finds(teams):
    pytest.importorskip("optuna")
    over = {NOMINAL: range(2, 7), BORROWING: [0, 2, None], RECLAIM: ["Never", "Any"]}
    whole = kq.sweep(teams, arrivals(4), over)
    for sampler in ("tpe", "random"):
        found = kq.lab.search(
            teams, arrivals(4), SPACE, "utilisation", subject_to=["wait_p95 <= 90m"], trials=60, sampler=sampler
        )
        best = whole.best("utilisation", where="wait_p95 <= 90m")
        assert len(found) == 60
        assert found.found.figures["utilisation"] == pytest.approx(best.figures[f"utilisation {CELL}"], rel=0.02)
        assert found.found.figures["wait_p95"] <= 5400


def test_a_search_is_the_same_for_the_same_seed_on_any_number_of_threads(teams):
    pytest.importorskip("optuna")
    one, two = (
        kq.lab.search(teams, arrivals(4), SPACE, trials=24, seed=2, threads=threads).policies for threads in (1, 3)
    )
    assert one == two
    assert one != kq.lab.search(teams, arrivals(4), SPACE, trials=24, seed=3).policies


def test_a_search_improves_with_trials(teams):
    """Later trials are better than earlier ones and than random values."""
    pytest.importorskip("optuna")
    space = {NOMINAL: kq.lab.Uniform(1, 40, step=1), "jobs:scale_load": kq.lab.Uniform(0.5, 3.0)}
    found = kq.lab.search(teams, arrivals(4), space, "wait_mean", trials=60, seed=1)
    waits = found.frame["wait_mean"]
    assert waits[40:].mean() < 0.5 * waits[:10].mean()
    assert found.study.best_value == waits.min()


def test_an_impossible_target_has_no_result(teams):
    """A target for an unknown queue is an error, and not a target that no value meets."""
    with pytest.raises(kq.errors.NotFoundError, match='"team-z" names no queue'):
        kq.plan(teams, arrivals, "wait_p95(team-z) <= 1h", vary=NOMINAL, low=1, high=3)
    with pytest.raises(kq.errors.InvalidSpecError, match=r'queueingStrategy: "?1"? is not supported'):
        kq.plan(teams, arrivals, "wait_p95 <= 1h", vary="ClusterQueue/*:queueingStrategy", low=1, high=2)


def test_invalid_values_miss_the_target_and_are_reported(teams):
    found = kq.plan(teams, arrivals, "wait_p95 <= 1000d", vary=NOMINAL, low=-2, high=3)
    assert found.value == 0
    assert list(found.errors) == [-2, -1]
    assert "it must be 0 or more" in found.errors[-2]
    assert "2 are not valid" in repr(found)


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"trials": 0}, "give one at least"),
        ({"space": {}}, "give one at least"),
        ({"subject_to": "evictions <= 2"}, "must be a list of conditions"),
        ({"sampler": "grid"}, "must be one of tpe, random"),
    ],
)
def test_invalid_search_arguments_are_rejected(teams, fields, told):
    arguments = {"space": {NOMINAL: kq.lab.Uniform(1, 8, step=1)}, "trials": 3, "sampler": "random", **fields}
    with pytest.raises(kq.errors.InvalidSpecError, match=told):
        kq.lab.search(teams, arrivals, **arguments)


def test_a_plan_says_what_was_not_tried_and_that_each_seed_counts(teams):
    searched = kq.plan(teams, arrivals, "wait_p50 <= 100000", vary=NOMINAL, low=1, high=60, seeds=2, exhaustive=False)
    tried = len(searched.curve)
    assert f"with each of 2 seeds; {tried} of 60 values tried; others may differ>" in repr(searched)


def test_a_plan_for_jobs_without_a_quota_names_the_quota():
    """The quota of GPUs was named as the limit although none was in use."""
    cluster = kq.Cluster(kq.ResourceFlavor("f"), kq.ClusterQueue.of("q", {"f": {GPU: 4}}))
    rows = kq.Jobs.of([{"queue": "q", "submit": i, "runtime": 60, "gpu": 1, "cpu": 2} for i in range(5)])
    found = kq.plan(cluster, rows, "wait_p95 <= 1s", vary=f"ClusterQueue/q:quota[f/{GPU}].nominalQuota", low=4, high=5)
    text = " ".join(str(found).split())
    assert (
        "5 jobs of default/q request cpu, which the queue does not cover: drop its column, or list it in "
        "resources.excludeResourcePrefixes of the Configuration. Next step: read the reasons" in text
    )
    assert "limits the jobs" not in text
