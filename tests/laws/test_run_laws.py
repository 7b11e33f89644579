"""Properties of simulations: accounts of time and quota are exact to the nanosecond, for any run model."""

from __future__ import annotations

import warnings

import msgspec
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import kueuepy as kq
from kueuepy.tables.columns import exact
from kueuepy.testing import clusters
from kueuepy.testing.strategies import RESOURCES
from laws.runs import scaled

END = 300
"""Runs are cut here: with preemption, some would never come to an end."""
SETTINGS = settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])

TIMES = st.integers(0, 9)
MODELS = st.one_of(
    st.builds(kq.sim.RunModel, st.just("restart"), restore=TIMES, grace=TIMES),
    st.builds(kq.sim.RunModel, st.just("resume"), restore=TIMES, grace=TIMES),
    st.builds(kq.sim.RunModel, st.just("checkpoint"), every=st.integers(1, 9), cost=TIMES, restore=TIMES, grace=TIMES),
)


@pytest.fixture(autouse=True)
def _warnings_of_runs_are_read_from_the_result():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield


@st.composite
def jobs(draw, cluster, most=14):
    """A table of jobs for the LocalQueues of a cluster; with small numbers, so that moments are shared."""
    queues = st.sampled_from([queue.name for queue in cluster.local_queues])
    row = st.fixed_dictionaries(
        {
            "queue": queues,
            "submit": st.integers(0, 60),
            "runtime": st.integers(0, 60),
            "pods": st.integers(1, 3),
            "priority": st.integers(-2, 2),
            **{name: st.integers(0, 6) for name in RESOURCES},
        }
    )
    rows = draw(st.lists(row, min_size=1, max_size=most))
    return kq.Jobs({name: [one[name] for one in rows] for name in rows[0]}).sort()


@st.composite
def cases(draw):
    """A cluster, jobs for it and a run model."""
    cluster = draw(clusters())
    return cluster, draw(jobs(cluster)), draw(MODELS)


def run(cluster, table, model, **options):
    return kq.simulate(cluster, table, model=model, until=END, **options)


def holds(found, expected):
    """Return whether two sums are equal except for rounding."""
    return found == pytest.approx(expected, rel=1e-9, abs=1e-6)


@SETTINGS
@given(cases())
def test_the_time_of_a_job_is_counted_once(case):
    cluster, table, model = case
    result = run(cluster, table, model)
    told = result.jobs
    life = np.where(np.isnan(told["end"]), END, told["end"]) - told["submit"]
    assert (told["waited"] + told["held"]).tolist() == pytest.approx(life.tolist(), abs=1e-9)
    finished = told["state"].codes == told["state"].names.index("Finished")
    spent = told["runtime"] + told["lost"] + told["overhead"] + model.grace * told["evictions"]
    assert told["held"][finished].tolist() == spent[finished].tolist()


@SETTINGS
@given(cases())
def test_quota_time_is_progress_plus_loss_plus_overhead(case):
    cluster, table, model = case
    runs = run(cluster, table, model).runs
    for row in runs.rows():
        if row["outcome"] == "Running":
            continue
        held = row["end"] - row["reserved"]
        grace = 0 if row["outcome"] == "Finished" else model.grace
        assert held == row["progress"] + row["lost"] + row["overhead"] + grace, row


@SETTINGS
@given(cases())
def test_progress_is_the_sum_of_runs_and_at_most_the_runtime(case):
    cluster, table, model = case
    result = run(cluster, table, model)
    kept = np.zeros(len(table))
    for row in result.runs.rows():
        if row["outcome"] != "Running":
            kept[row["job"]] = row["progress"] + (kept[row["job"]] if model.on_eviction != "restart" else 0)
            assert kept[row["job"]] <= result.jobs["runtime"][row["job"]]
    finished = result.jobs["state"].codes == result.jobs["state"].names.index("Finished")
    assert kept[finished].tolist() == result.jobs["runtime"][finished].tolist()


@SETTINGS
@given(cases())
def test_run_durations_follow_the_run_model(case):
    cluster, table, model = case
    result = run(cluster, table, model)
    done: dict[int, float] = {}
    for row in result.runs.rows():
        if row["outcome"] == "Running":
            continue
        job, runs_before = row["job"], row["job"] in done
        left = result.jobs["runtime"][job] - done.get(job, 0)
        restore = model.restore if runs_before else 0
        every, cost = (model.every, model.cost) if model.on_eviction == "checkpoint" else (0, 0)
        if row["outcome"] == "Finished":
            checkpoints = -(-left // every) - 1 if every and left else 0
            assert row["end"] - row["start"] == restore + left + cost * checkpoints
            assert (row["lost"], row["overhead"]) == (0, restore + cost * checkpoints)
            continue
        held = row["end"] - row["start"] - model.grace
        worked = max(0, held - restore)
        complete = worked // (every + cost) if every else 0
        kept = {"restart": 0, "resume": worked, "checkpoint": complete * every}[model.on_eviction]
        assert row["progress"] == kept
        assert row["overhead"] == min(held, restore) + complete * cost
        assert row["lost"] == (0 if model.on_eviction == "resume" else worked - complete * (every + cost))
        done[job] = 0 if model.on_eviction == "restart" else done.get(job, 0) + kept


@SETTINGS
@given(cases())
def test_integrals_are_sums_over_jobs(case):
    cluster, table, model = case
    result = run(cluster, table, model)
    told, kpis = result.jobs, result.kpis
    assert holds(kpis.waiting_mean * END, told["waited"].sum())
    for resource in RESOURCES:
        amount = table[resource] * table["pods"]
        for hours, seconds in (
            (kpis.used_hours, told["held"]),
            (kpis.lost_hours, told["lost"]),
            (kpis.overhead_hours, told["overhead"]),
        ):
            total = sum(value for cell, value in hours.items() if cell.endswith(f"/{resource}"))
            assert holds(total * 3600, (amount * seconds).sum())
    assert kpis.evictions == told["evictions"].sum() == result.stats["evictions"]
    assert sum(kpis.preemptions.values()) <= kpis.evictions


@SETTINGS
@given(cases())
def test_usage_never_exceeds_the_quota(case):
    cluster, table, model = case
    result = run(cluster, table, model)
    usage = exact(result.usage)
    assert (usage["borrowed"] == np.maximum(usage["used"] - usage["nominal"], 0)).all()
    nominal = {cell: total / 1e9 / END for cell, total in result.totals["nominal"].items()}
    now: dict[tuple[str, str], int] = {}
    rows = list(usage.rows())
    for place, row in enumerate(rows):
        now[row["cluster_queue"], row["flavor_resource"]] = row["used"]
        if place + 1 < len(rows) and rows[place + 1]["seconds"] == row["seconds"]:
            continue
        for cell, most in nominal.items():
            assert sum(used for (_, of), used in now.items() if of == cell) <= most * (1 + 1e-9)


@SETTINGS
@given(cases())
def test_decisions_about_a_job_follow_each_other(case):
    cluster, table, model = case
    follows = {
        None: {"QuotaReserved"},
        "QuotaReserved": {"Admitted"},
        "Admitted": {"Finished", "Evicted"},
        "Evicted": {"Requeued"},
        "Requeued": {"QuotaReserved"},
    }
    last: dict[int, str] = {}
    before = 0.0
    for row in run(cluster, table, model).decisions.rows():
        assert row["kind"] in follows[last.get(row["job"])]
        assert row["seconds"] >= before
        last[row["job"]], before = row["kind"], row["seconds"]


@SETTINGS
@given(cases(), st.integers(0, 120), st.integers(0, 2**20))
def test_a_fork_and_a_second_run_end_with_the_same_bytes(case, moment, seed):
    cluster, table, model = case
    whole = run(cluster, table, model, seed=seed)
    first = kq.Simulation(cluster, table, model=model, until=END, seed=seed)
    first.run(moment)
    fork = first.fork()
    fork.run()
    first.run()
    assert first.result().fingerprint == fork.result().fingerprint == whole.fingerprint


@SETTINGS
@given(cases())
def test_single_steps_and_a_whole_run_have_the_same_result(case):
    cluster, table, model = case
    steps = kq.Simulation(cluster, table, model=model, until=END)
    while steps.step():
        assert steps.scheduler._engine.check() == []
    assert steps.result().fingerprint == run(cluster, table, model).fingerprint


@SETTINGS
@given(cases())
def test_the_window_from_0_equals_the_whole_run(case):
    cluster, table, model = case
    moved = table.window(0)
    again = moved.window(0)
    assert all(np.array_equal(moved[name], again[name]) for name in moved.names if name != "queue")
    assert moved["queue"].codes.tolist() == again["queue"].codes.tolist() == table["queue"].codes.tolist()
    assert (table.exact()["submit"] - moved.exact()["submit"]).tolist() == [int(table.exact()["submit"].min())] * len(
        table
    )
    result = run(cluster, table, model)
    assert run(cluster, moved, model).fingerprint == result.fingerprint
    assert (
        msgspec.structs.asdict(result.figures(0, result.seconds)).keys() == msgspec.structs.asdict(result.kpis).keys()
    )


@SETTINGS
@given(cases(), st.integers(2, 3))
def test_scaling_quotas_and_jobs_does_not_change_waits(case, factor):
    cluster, table, model = case
    larger, _ = scaled(cluster, [], factor)
    jobs = table.assign(**{name: table[name] * factor for name in RESOURCES})
    for name in ("waited", "first_start", "end", "evictions", "lost"):
        assert np.array_equal(
            run(larger, jobs, model).jobs[name], run(cluster, table, model).jobs[name], equal_nan=True
        )


@SETTINGS
@given(cases(), st.integers(2, 5))
def test_scaling_all_times_only_scales_the_results(case, factor):
    cluster, table, model = case
    slow = table.moved_to(table["submit"] * factor).scale_runtime(factor)
    times = {name: getattr(model, name) * factor for name in ("every", "cost", "restore", "grace")}
    found = kq.simulate(cluster, slow, model=kq.sim.RunModel(model.on_eviction, **times), until=END * factor).jobs
    expected = run(cluster, table, model).jobs
    for name in ("waited", "first_start", "end", "held", "lost", "overhead"):
        assert np.array_equal(found[name], expected[name] * factor, equal_nan=True)


@SETTINGS
@given(cases())
def test_without_preemption_there_are_no_evictions_and_the_run_model_has_no_effect(case):
    cluster, table, model = case
    queues = [msgspec.structs.replace(queue, preemption=kq.Preemption()) for queue in cluster.cluster_queues]
    rest = [obj for obj in cluster.objects() if not isinstance(obj, kq.ClusterQueue)]
    peaceful = kq.Cluster(rest, queues, configuration=cluster.configuration)
    plain = run(peaceful, table, kq.sim.RunModel())
    assert plain.kpis.evictions == 0
    if model.on_eviction != "checkpoint" or not model.cost:
        assert np.array_equal(run(peaceful, table, model).jobs["end"], plain.jobs["end"], equal_nan=True)


@SETTINGS
@given(cases(), st.integers(1, END - 1))
def test_metrics_of_windows_add_up_to_the_whole_run(case, middle):
    result = run(*case)
    whole, early, late = result.kpis, result.figures(0, middle), result.figures(middle, END)
    for name in ("used_hours", "borrowed_hours", "lent_hours", "idle_while_waiting", "lost_hours", "overhead_hours"):
        found, parts = getattr(whole, name), (getattr(early, name), getattr(late, name))
        for cell in {*found, *parts[0], *parts[1]}:
            assert holds(sum(part.get(cell, 0) for part in parts), found.get(cell, 0)), name
    for name in ("waiting_mean", "borrowing_time"):
        assert holds(getattr(early, name) * middle + getattr(late, name) * (END - middle), getattr(whole, name) * END)
    shares = [part.blocked_share for part in (early, late) if part.blocked_share is not None]
    assert (whole.blocked_share is None) == (not shares)
    if shares:
        assert min(shares) - 1e-9 <= whole.blocked_share <= max(shares) + 1e-9
