"""Amounts and times at the limits of 64 bits, quota reduced by failures, and endless simulations."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pytest

import kueuepy as kq
from kueuepy.cluster.planned import Planned
from kueuepy.objects import SECOND
from kueuepy.objects.times import LONGEST
from kueuepy.platform.visibility import cluster_queue_status
from kueuepy.simulation.model import MOST_OCCURRENCES

CLUSTER = kq.Cluster(kq.ResourceFlavor("f"), kq.ClusterQueue.of("a", {"f": {"cpu": 4, "memory": "4Gi"}}))


def job(**columns):
    return {"queue": "a", "submit": 0, "runtime": 60, "cpu": 1, **columns}


def states(*jobs, **options):
    result = kq.simulate(CLUSTER, list(jobs), **options)
    return [result.jobs["state"][row] for row in range(len(result.jobs))]


LARGE = [2**61, 2**63, 2**64, 10**30, np.uint64(2**63), np.int64(2**62), 2.0**61, 2.0**63, 1e300, float("inf")]


@pytest.mark.parametrize("amount", LARGE, ids=repr)
def test_cpu_beyond_64_bits_of_millicores_is_rejected(amount):
    with pytest.raises(
        kq.errors.InvalidSpecError, match=r'jobs row 0, column "cpu": .*it must be less than 9223372036854775'
    ):
        states(job(cpu=amount))


@pytest.mark.parametrize("amount", [2**63 - 2, 2**61, 2.0**62, np.uint64(2**62)], ids=repr)
def test_memory_up_to_64_bits_is_accepted_and_waits(amount):
    assert states(job(memory=amount)) == ["Waiting"]


@pytest.mark.parametrize("amount", [2**63, 2.0**63, np.uint64(2**64 - 1), 10**40], ids=repr)
def test_memory_beyond_64_bits_is_rejected(amount):
    with pytest.raises(kq.errors.InvalidSpecError, match='column "memory"'):
        states(job(memory=amount))


def test_total_requests_are_bounded_like_requests_per_pod():
    with pytest.raises(kq.errors.InvalidSpecError, match="1024 pods ask for"):
        states(job(memory=2**55, pods=1024))
    assert states(job(memory=2**50, pods=1024)) == ["Waiting"]


def test_integer_columns_keep_every_digit():
    jobs = kq.Jobs({"queue": ["a"], "submit": [0], "runtime": [1], "memory": np.array([2**53 + 1])})
    assert jobs["memory"].tolist() == [2**53 + 1]


LEAST = [-(2**63), np.int64(-(2**63)), np.array([-(2**63)])]


@pytest.mark.parametrize("value", LEAST, ids=repr)
@pytest.mark.parametrize("name", ["submit", "runtime", "cpu", "memory"])
def test_the_smallest_64_bit_integer_is_rejected(name, value):
    columns = {"queue": ["a"], "submit": [0], "runtime": [60], "cpu": [1]}
    given = value if isinstance(value, np.ndarray) else [value]
    with pytest.raises(kq.errors.InvalidSpecError, match=f'column "{name}"'):
        kq.Jobs({**columns, name: given})


LATE = [
    ["2600-01-01"],
    ["2600-01-01T00:00:00Z"],
    ["2600-01-01 00:00:00"],
    [dt.date(2600, 1, 1)],
    [dt.datetime(2600, 1, 1, tzinfo=dt.timezone.utc)],
    *(np.array(["2600-01-01"], f"M8[{unit}]") for unit in ("Y", "M", "W", "D", "h", "m", "s", "ms", "us")),
    np.array(["5000000"], "M8[Y]"),
    [np.datetime64("2600-01-01")],
    [np.datetime64("2600")],
]


@pytest.mark.parametrize("submit", LATE, ids=repr)
def test_a_date_beyond_64_bits_of_nanoseconds_is_rejected(submit):
    with pytest.raises(kq.errors.InvalidSpecError, match=r'column "submit": .*; it must be at most 9223372037 s'):
        kq.Jobs({"queue": ["a"], "submit": submit, "runtime": [60]})


def test_a_pandas_date_beyond_64_bits_of_nanoseconds_is_rejected():
    pandas = pytest.importorskip("pandas")
    late = pandas.Timestamp("2600-01-01").as_unit("s")
    for submit in (pandas.Series([late]), [late]):
        with pytest.raises(kq.errors.InvalidSpecError, match='column "submit"'):
            kq.Jobs({"queue": ["a"], "submit": submit, "runtime": [60]})


def test_an_arrow_date_beyond_64_bits_of_nanoseconds_is_rejected():
    arrow = pytest.importorskip("pyarrow")
    day = arrow.array([dt.date(2600, 1, 1)], arrow.date32())
    table = arrow.table({"queue": ["a"], "submit": day, "runtime": [60]})
    with pytest.raises(kq.errors.InvalidSpecError, match='column "submit"'):
        kq.Jobs.of(table)


@pytest.mark.parametrize("unit", ["W", "D", "h", "m", "s", "ms", "us", "ns"])
def test_dates_and_spans_of_each_unit_within_64_bits_are_exact(unit):
    when, span = np.array(["2001-01-01"], f"M8[{unit}]"), np.array([1], f"m8[{unit}]")
    jobs = kq.Jobs({"queue": ["a"], "submit": when, "runtime": span})
    assert jobs.exact()["submit"].tolist() == when.astype("M8[ns]").astype(np.int64).tolist()
    assert jobs.exact()["runtime"].tolist() == span.astype("m8[ns]").astype(np.int64).tolist()


LONG = [
    ["9999999999h"],
    ["1e308d"],
    ["1e30"],
    [1e30],
    [10**30],
    np.array([2**40], "m8[h]"),
    np.array([2**62], "m8[s]"),
    [np.timedelta64(2**62, "s")],
]


@pytest.mark.parametrize("runtime", LONG, ids=repr)
def test_a_duration_beyond_64_bits_of_nanoseconds_is_rejected(runtime):
    with pytest.raises(kq.errors.InvalidSpecError, match='column "runtime"'):
        kq.Jobs({"queue": ["a"], "submit": [0], "runtime": runtime})


def test_scaling_beyond_64_bits_is_rejected_with_the_row():
    jobs = kq.Jobs.of([job(submit=n) for n in range(3)])
    assert jobs.scale_runtime(1e8).exact()["runtime"].tolist() == [6 * 10**18] * 3
    assert jobs.scale_load(1e-5).exact()["submit"].tolist() == [0, 10**14, 2 * 10**14]
    with pytest.raises(kq.errors.InvalidSpecError, match=r'scale_runtime: .*jobs row 0, column "runtime"'):
        jobs.scale_runtime(1e9)
    with pytest.raises(kq.errors.InvalidSpecError, match=r'scale_load: .*jobs row 1, column "submit"'):
        jobs.scale_load(1e-10)
    with pytest.raises(kq.errors.InvalidSpecError, match=r"scale_load: .*jobs row 2.*must end"):
        jobs.scale_runtime(1e8).scale_load(5e-10)


HOSTILE = [
    {"warmup": 1e12},
    {"clock": kq.sim.Clock("9999999999999s")},
    {"clock": kq.sim.Clock(per_head=10**30)},
    {"until": 1e30},
    {"model": kq.sim.RunModel("checkpoint", every=1e30)},
    {"model": kq.sim.RunModel(grace=10**30)},
    {"events": [kq.sim.Event(1e30, kq.sim.Finish(0))]},
    {"events": [kq.sim.Event("99999999999999999:00", kq.sim.Finish(0))]},
    {"events": [kq.sim.Event(every=1e30, what=kq.sim.Finish(0))]},
    {"delays": [kq.sim.Startup("f", 1e30)]},
    {"delays": [kq.sim.Failures("f", 1e30, 1, {"cpu": 1})]},
    {"delays": [kq.sim.Failures("f", "1d", "1h", {"cpu": 1.5})]},
    {"delays": [kq.sim.Failures("f", "1d", "1h", {"cpu": 2**62})]},
    {"delays": [kq.sim.Failures("f", "1d", "1h", {"cpu": True})]},
    {"events": [kq.sim.Event(0, kq.simulation.model.Priority(0, 2**70))]},
]


@pytest.mark.parametrize("options", HOSTILE, ids=repr)
def test_an_option_beyond_64_bits_is_rejected_by_name(options):
    (name,) = options
    with pytest.raises(kq.errors.InvalidSpecError, match=f"{name}|Constant"):
        kq.simulate(CLUSTER, [job()], **options)


def test_times_near_the_end_of_64_bits_do_not_wrap():
    late = 9e9
    jobs = [job(submit=1.7e9 + n) for n in range(3)]
    assert states(*jobs, warmup=late) == ["Finished"] * 3
    assert states(*jobs, clock=kq.sim.Clock(late)) == ["Finished", "Waiting", "Waiting"]
    assert states(*jobs, events=[kq.sim.Event(late, kq.sim.Finish(0))]) == ["Finished"] * 3
    assert states(*jobs, delays=[kq.sim.Startup("f", late)]) == ["Running"] * 3
    assert states(*jobs, delays=[kq.sim.Failures("f", late, late, {"cpu": 1})]) == ["Finished"] * 3
    largest = {"cpu": (2**63 - 1) // 1000}
    assert states(*jobs, delays=[kq.sim.Failures("f", late, late, largest)]) == ["Finished"] * 3
    model = kq.sim.RunModel("checkpoint", every=late, cost=late, restore=late, grace=late)
    assert states(*jobs, model=model, events=[kq.sim.Event(1, kq.sim.Evict(0))])[1:] == ["Finished"] * 2
    assert states(*jobs, until=late) == ["Finished"] * 3


def test_an_elastic_job_that_would_end_after_all_times_does_not_finish():
    jobs = [job(pods=2**31 - 1, min_pods=1, elastic=1, runtime="200d")]
    result = kq.simulate(CLUSTER, jobs)
    assert result.jobs["state"][0] == "Running"
    assert result.kpis.finished == 0
    assert np.isnan(result.jobs["end"][0])
    assert result.seconds < LONGEST / SECOND / 10


# Quota that failures lower.

FAILING = kq.sim.Failures("f", "1h", "5h", {"cpu": 1}, lowers_quota=True)


def _nominal_of(run, queue):
    usage = run.result().usage
    rows = [
        row
        for row in range(len(usage))
        if usage["cluster_queue"][row] == queue and usage["flavor_resource"][row] == "f/cpu"
    ]
    return [int(usage["nominal"][row]) for row in rows]


@pytest.mark.parametrize("cpu", [4, 0, 2, 9])
def test_a_queue_applied_during_node_failures_has_its_full_quota_after_repair(cpu):
    applied = kq.ClusterQueue.of("a", {"f": {"cpu": cpu, "memory": "4Gi"}})
    jobs = [job(runtime="10h", cpu=4), job(submit="200h", runtime=60, cpu=4)]
    options = {"delays": [FAILING], "model": kq.sim.RunModel("resume"), "seed": 1, "until": "400h"}
    run = kq.Simulation(CLUSTER, jobs, events=[kq.sim.Event("5h", applied), kq.sim.Event("6h", applied)], **options)
    run.run("4h")
    assert min(_nominal_of(run, "a")) < 4  # a node was broken when it was applied
    run.run()
    nominal = _nominal_of(run, "a")
    assert max(nominal) <= max(4, cpu)
    assert nominal[-1] == cpu


def test_a_queue_deleted_during_node_failures_stays_deleted():
    jobs = [job(runtime="10h", cpu=4)]
    events = [kq.sim.Event("5h", kq.simulation.model.Delete("ClusterQueue/a"))]
    run = kq.Simulation(CLUSTER, jobs, events=events, delays=[FAILING], seed=1, until="100h")
    run.run("4h")
    assert min(_nominal_of(run, "a")) < 4
    run.run()
    names = [status.name for status in cluster_queue_status(run.scheduler)]
    assert names == []
    assert run.result().usage["cluster_queue"].names == ["a"]


# Runs without end.


def test_very_frequent_failures_stop_the_run_with_a_warning():
    result = kq.simulate(CLUSTER, [job(runtime="1000d", cpu=4)], delays=[kq.sim.Failures("f", "1h", "1h", {"cpu": 1})])
    assert result.jobs["state"][0] in ("Running", "Waiting")
    assert any("1 job: never finish: the last" in text for text in result.warnings)


@pytest.mark.parametrize("until", [None, "2d"])
def test_failures_on_a_worker_evict_copies_as_those_of_a_cluster_evict_jobs(until):
    failures = (kq.sim.Failures("f", "1h", "1h", {"cpu": 1}),)
    jobs = [job(runtime="1000d", cpu=4)]
    alone = kq.simulate(CLUSTER, jobs, delays=failures, until=until)
    fleet = kq.simulate(kq.Fleet({"w": CLUSTER}), jobs, delays={"w": failures}, until=until)
    assert fleet.stats["evictions"] == alone.stats["evictions"] > 100
    assert fleet.jobs["state"][0] in ("Running", "Waiting")
    assert [text for text in fleet.warnings if "never finish" in text] == [
        text for text in alone.warnings if "never finish" in text
    ]
    assert any("never finish" in text for text in fleet.warnings) == (until is None)


def test_deleted_copies_do_not_delay_the_detection_of_endless_evictions():
    """A copy that is deleted no longer counts as a job that holds quota."""
    failures = {"w": (kq.sim.Failures("f", "1h", "1h", {"cpu": 1}),)}
    lost = [job(submit=10 * n, runtime=1) for n in range(200)]
    endless = job(submit="1h", runtime="1000d", cpu=4, cluster="w")
    result = kq.simulate(kq.Fleet({"first": CLUSTER, "w": CLUSTER}), [*lost, endless], delays=failures)
    assert (result.copies["outcome"] == "Lost").sum() == len(lost)
    assert not np.isnan(result.copies["reserved"]).any()
    assert any("never finish: the last" in text for text in result.warnings)
    assert result.stats["evictions"] < 110_000


def test_failures_on_an_idle_worker_do_not_extend_a_simulation():
    failures = (kq.sim.Failures("f", "365d", "1h", {"cpu": 1}),)
    jobs = [job(runtime=60), job(submit="10h", runtime=60)]
    result = kq.simulate(kq.Fleet({"w": CLUSTER, "idle": CLUSTER}), jobs, delays={"w": failures, "idle": failures})
    assert result.stats["finished"] == 2
    assert result.seconds < 11 * 3600


def test_a_fleet_job_that_reserves_quota_at_time_0_ends_like_a_later_one():
    failures = (kq.sim.Failures("f", "365d", "1h", {"cpu": 1}),)
    first, later = (
        kq.simulate(kq.Fleet({"w": CLUSTER}), [job(submit=submit, runtime=60)], delays={"w": failures})
        for submit in (0, 7)
    )
    assert first.fingerprint == later.fingerprint
    assert (first.seconds, first.stats) == (later.seconds, later.stats) == (62, later.stats)


@pytest.mark.parametrize(("mtbf", "unit"), [("1ms", {"cpu": 4}), ("1s", {"cpu": 1}), ("1d", {"memory": 1})])
def test_more_than_one_failure_per_second_is_rejected(mtbf, unit):
    queue = kq.ClusterQueue.of("a", {"f": {"cpu": 4, "memory": "1Gi"}})
    cluster = kq.Cluster(kq.ResourceFlavor("f"), queue)
    with pytest.raises(kq.KueueError, match=r"Failures of flavor f: mtbf: is .* more than one failure per second"):
        kq.simulate(cluster, [job()], delays=[kq.sim.Failures("f", mtbf, "1h", unit)], until="1d")


def test_a_change_of_quota_does_not_cause_more_than_one_failure_per_second():
    grown = kq.sim.Event("1h", kq.ClusterQueue.of("a", {"f": {"cpu": 10**12}}))
    failures = kq.sim.Failures("f", "1h", "1h", {"cpu": 1})
    result = kq.simulate(CLUSTER, [job(runtime="1000d", cpu=4)], delays=[failures], events=[grown], until="2h")
    assert result.jobs["state"][0] in ("Running", "Waiting")


def test_a_check_that_always_fails_stops_the_run_with_a_warning():
    check = kq.AdmissionCheck("c", controller_name="example.com/c")
    queue = kq.ClusterQueue.of(
        "a", {"f": {"cpu": 4}}, admission_checks_strategy=[kq.objects.AdmissionCheckStrategyRule("c")]
    )
    cluster = kq.Cluster(kq.ResourceFlavor("f"), check, queue)
    for delay in (0, 1e-9, "1m"):
        result = kq.simulate(cluster, [job()], delays=[kq.sim.CheckDelay("c", delay, fails=1.0)])
        assert any("never finish" in text for text in result.warnings), delay


def test_a_skipped_preemption_on_a_manager_is_not_repeated_within_one_moment():
    def managed(name, cpu, **fields):
        checks = [kq.objects.AdmissionCheckStrategyRule("mk")]
        return kq.ClusterQueue.of(
            name, {"f": {"cpu": cpu}}, cohort_name="all", admission_checks_strategy=checks, **fields
        )

    manager = kq.Cluster(
        kq.ResourceFlavor("f"),
        kq.AdmissionCheck("mk", controller_name="kueue.x-k8s.io/multikueue"),
        managed("a", 17),
        managed("b", 3, queueing_strategy="StrictFIFO"),
        managed("c", 4, preemption=kq.objects.Preemption("Any", within_cluster_queue="LowerOrNewerEqualPriority")),
    )
    worker = kq.Cluster(kq.ResourceFlavor("f"), *(kq.ClusterQueue.of(name, {"f": {"cpu": 2}}) for name in "abc"))
    rows = [
        ("c", 1, 6, 9, 0, 1),
        ("a", 1, 2, 1, 1, 1),
        ("a", 3, 8, 25, 1, 1),
        ("b", 2, 21, 10, 1, 1),
        ("a", 2, 13, 1, 0, 2),
        ("c", 2, 28, 33, 5, 1),
        ("a", 5, 13, 64, 5, 2),
        ("c", 2, 1, 5, 0, 2),
    ]
    names = ("queue", "cpu", "submit", "runtime", "priority", "pods")
    jobs = [dict(zip(names, row, strict=True)) for row in rows]
    result = kq.simulate(kq.Fleet({"w": worker}, manager, sync=20), jobs, until=3000)
    assert result.seconds == 3000


def test_a_run_with_until_is_not_stopped_earlier():
    delays = [kq.sim.Failures("f", "1s", "1s", {"cpu": 4})]
    result = kq.simulate(CLUSTER, [job(runtime="1000d", cpu=4)], delays=delays, until="2d")
    assert result.kpis.evictions > 100_000
    assert not any("never finish" in text for text in result.warnings)


def test_a_stopped_run_continues_after_a_change():
    run = kq.Simulation(CLUSTER, [job(runtime="1000d", cpu=4)], delays=[kq.sim.Failures("f", "1h", "1h", {"cpu": 1})])
    run.run()
    stopped = run.now
    run.run(stopped + 1e5)
    assert run.now >= stopped + 9e4
    run.apply(kq.sim.Finish(0))
    run.run()
    assert run.result().kpis.finished == 1


@pytest.mark.parametrize(
    "options", [{"every": "1us"}, {"every": "1us", "times": 10**13}, {"every": "1ns", "at": "1:00"}]
)
def test_an_event_with_too_many_repetitions_is_rejected(options):
    jobs = [job(), job(submit="7d")]
    with pytest.raises(
        kq.errors.InvalidSpecError, match=rf"events\[0\]: every .* it must come at most {MOST_OCCURRENCES} times"
    ):
        kq.simulate(CLUSTER, jobs, events=[kq.sim.Event(what=kq.sim.Finish(0), **options)])


def test_a_closed_simulation_cannot_continue():
    run = kq.Simulation(CLUSTER, [job(), job(submit=100)])
    run.run(50)
    result = run.close()
    waits = result.runs["reserved"].tolist()
    for call in (run.run, run.step, lambda: run.submit(job()), lambda: run.apply(kq.sim.Finish(0))):
        with pytest.raises(kq.errors.StateError, match="closed"):
            call()
    assert run.close().runs["reserved"].tolist() == result.runs["reserved"].tolist() == waits


def test_a_repeated_edit_without_effect_is_applied_once(monkeypatch):
    made = []
    edit_of = Planned.edit
    monkeypatch.setattr(Planned, "edit", lambda *arguments: made.append(arguments) or edit_of(*arguments))
    edit = kq.simulation.model.Edit("ClusterQueue/a:quota[f/cpu].nominalQuota", 2)
    run = kq.Simulation(CLUSTER, [job(), job(submit=1)], events=[kq.sim.Event(every="100us", what=edit)])
    assert len(made) == 2
    run.run()
    assert run.result().kpis.finished == 2


@pytest.fixture
def validated(monkeypatch):
    """The objects that a simulation applies to its planned cluster, which validates them."""
    found, apply = [], Planned.apply
    monkeypatch.setattr(Planned, "apply", lambda self, obj: found.append(obj) or apply(self, obj))
    return found


def test_the_object_of_a_repeated_event_is_validated_once(validated):
    queue = kq.ClusterQueue.of("a", {"f": {"cpu": 2, "memory": "4Gi"}})
    run = kq.Simulation(CLUSTER, [job(), job(submit=1)], events=[kq.sim.Event(every="100us", what=queue)])
    assert validated == [queue]
    run.run()
    assert run.result().kpis.finished == 2


def test_an_object_is_validated_again_after_another_change(validated):
    queue, other = kq.ClusterQueue.of("a", {"f": {"cpu": 2, "memory": "4Gi"}}), CLUSTER.cluster_queues[0]
    kq.Simulation(
        CLUSTER, [job(), job(submit=1)], events=[kq.sim.Event(every="100us", what=queue), kq.sim.Event(0.5, other)]
    )
    assert validated == [queue, other, queue]


def test_an_object_that_was_changed_after_it_was_applied_is_validated_again():
    flavor = kq.ResourceFlavor("other", node_labels={"a": "b"})
    run = kq.Simulation(CLUSTER, [job()])
    run.apply(flavor)
    flavor.node_labels["not a key!"] = "b"
    with pytest.raises(kq.KueueError, match="not a key!"):
        run.apply(flavor)
