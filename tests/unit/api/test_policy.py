import kueuepy as kq

from .conftest import DEFAULT, queue


def _jobs():
    first = [{"name": f"a{i}", "queue": "a", "cpu": 1, "submit": 0, "duration": 100} for i in range(8)]
    return first + [{"name": f"b{i}", "queue": "b", "cpu": 1, "submit": 10, "duration": 100} for i in range(4)]


def test_the_same_jobs_under_two_configurations(fair):
    classical = fair.replace(configuration=kq.Configuration())
    comparison = kq.compare(classical, fair, _jobs(), names=("classical", "fair sharing"))
    before, after = comparison.queues["b"]
    assert (before.admitted, after.admitted) == (4, 4)
    assert (before.waited, after.waited) == (90.0, 0.0)
    assert (comparison.before.queues["a"].evictions, comparison.after.queues["a"].evictions) == (0, 4)
    assert comparison.after.queues["a"].peak_share == 1000
    assert len(comparison.changes) == 8
    text = str(comparison)
    assert text.splitlines()[-1].startswith("  default/b3: started at 100 s")
    assert "8 of 12 jobs fare otherwise" in text


def test_an_evicted_job_starts_anew_and_its_first_end_does_not_count(fair):
    run = kq.compare(fair, fair, _jobs()).before
    assert run.seconds == 200
    assert {job.evictions for key, job in run.jobs.items() if key.startswith("default/a")} == {0, 1}
    assert all(job.started is not None for job in run.jobs.values())


def test_usage_is_the_mean_over_the_run():
    cluster = kq.Cluster(DEFAULT, queue("a", 4))
    jobs = [
        {"name": "w", "queue": "a", "cpu": 4, "submit": 0, "duration": 50},
        {"name": "x", "queue": "a", "cpu": 2, "submit": 100, "duration": 50},
    ]
    outcome = kq.compare(cluster, cluster, jobs).before.queues["a"]
    assert outcome.mean_usage == {"default/cpu": (4000 * 50 + 2000 * 50) / 150}
    assert outcome.usage == {}


def test_equal_policies_change_nothing(fair):
    comparison = kq.compare(fair, fair, _jobs())
    assert comparison.changes == ()
    assert "0 of 12 jobs fare otherwise" in str(comparison)


def test_a_comparison_becomes_a_frame(fair):
    frame = kq.compare(fair, fair, _jobs(), names=("one", "two")).to_pandas()
    assert list(frame["policy"].unique()) == ["one", "two"]
    assert frame["jobs"].sum() == 24
