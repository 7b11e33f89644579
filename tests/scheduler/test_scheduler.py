from datetime import datetime, timedelta, timezone

import pytest

import kueuepy as kq
from teams import DEFAULT, queue, workload


def test_submit_accepts_workloads_jobs_and_rows_and_returns_their_keys(team):
    scheduler = kq.Scheduler(team)
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "sample", "labels": {"kueue.x-k8s.io/queue-name": "team-a"}},
        "spec": {
            "parallelism": 3,
            "template": {"spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": 1}}}]}},
        },
    }
    keys = scheduler.submit(workload("w", "team-a"), job, [{"name": "row", "queue": "team-b", "cpu": 2}])
    assert keys[0] == "default/w"
    assert keys[1].startswith("default/job-sample-")
    assert keys[2] == "default/row"
    settled = scheduler.settle()
    assert {decision.workload for decision in settled.admitted} == set(keys)
    assert scheduler.start_patch(keys[1])["spec"]["suspend"] is False
    assert scheduler.stop_patch(keys[1])["spec"]["suspend"] is True


def test_submit_is_atomic(team):
    scheduler = kq.Scheduler(team)
    with pytest.raises(kq.errors.InvalidSpecError):
        scheduler.submit(workload("good", "team-a"), workload("bad", "team-a", cpu=-1))
    with pytest.raises(kq.errors.DuplicateError):
        scheduler.submit(workload("good", "team-a"), workload("good", "team-a"))
    assert scheduler.keys() == ()


def test_workloads_with_equal_times_are_ordered_by_submission(team):
    scheduler = kq.Scheduler(team)
    scheduler.submit(workload("z", "team-a", 15), workload("a", "team-a", 15))
    (first,) = scheduler.cycle()
    assert (first.workload, type(first)) == ("default/z", kq.Admitted)


def test_decisions_match(team):
    scheduler = kq.Scheduler(team)
    scheduler.submit(workload("small", "team-a", 6), workload("large", "team-b", 100))
    seen = {}
    for decision in scheduler.cycle():
        match decision:
            case kq.Admitted(name, cluster_queue, flavors=flavors):
                seen[name] = (cluster_queue, flavors)
            case kq.Pending(name, reason):
                seen[name] = reason
    assert seen == {"default/small": ("team-a", {"main": {"cpu": "default"}}), "default/large": "ExceedsMaxQuota"}


def test_a_preemptor_names_its_targets_and_the_rule():
    lower = kq.Preemption(within_cluster_queue="LowerPriority")
    scheduler = kq.Scheduler(kq.Cluster(DEFAULT, queue("a", 4, preemption=lower)))
    scheduler.submit(workload("low", "a", 4, priority=1))
    scheduler.settle()
    scheduler.submit(workload("high", "a", 4, priority=9))
    (decision,) = scheduler.cycle()
    match decision:
        case kq.Preempting(name, (target,)):
            assert (name, target) == ("default/high", kq.Target("default/low", "InClusterQueue", "a"))
    assert scheduler.settle().admitted[0].workload == "default/high"


def test_finish_frees_quota_and_cannot_be_done_twice(team):
    scheduler = kq.Scheduler(team)
    scheduler.submit(workload("first", "team-a", 21), workload("second", "team-a", 21))
    scheduler.settle()
    scheduler.finish("first")
    assert [d.workload for d in scheduler.settle().admitted] == ["default/second"]
    with pytest.raises(kq.errors.StateError, match="finished already"):
        scheduler.finish("first")


def test_an_unknown_key_is_reported(team):
    scheduler = kq.Scheduler(team)
    for call in (scheduler.finish, scheduler.delete, scheduler.explain, scheduler.workload, scheduler.try_admit):
        with pytest.raises(kq.errors.NotFoundError, match='Workload "nobody"'):
            call("nobody")
    scheduler.apply(kq.LocalQueue("train", namespace="prod", cluster_queue="team-a"))
    (key,) = scheduler.submit({"name": "train-0", "queue": "prod/train", "cpu": 1})
    for call in (scheduler.finish, scheduler.delete, scheduler.explain, scheduler.pods_ready, scheduler.job_stopped):
        with pytest.raises(kq.errors.NotFoundError, match=f"did you mean {key}"):
            call("train-0")


def test_apply_and_remove_change_only_the_cluster_of_the_scheduler(team):
    scheduler = kq.Scheduler(team)
    scheduler.submit(workload("large", "team-a", 25))
    assert not scheduler.settle().admitted
    scheduler.apply(queue("team-a", 13, cohort_name="all"))
    assert [d.workload for d in scheduler.settle().admitted] == ["default/large"]
    assert team.cluster_queues[0] == queue("team-a", 9, cohort_name="all")
    assert scheduler.cluster.get(kq.ClusterQueue, "team-a") == queue("team-a", 13, cohort_name="all")
    scheduler.remove(scheduler.cluster.get(kq.LocalQueue, "default/team-b"))
    with pytest.raises(kq.errors.NotFoundError):
        scheduler.remove(kq.LocalQueue("team-b"))


def test_a_change_forbidden_by_the_api_is_rejected(team):
    scheduler = kq.Scheduler(team)
    with pytest.raises(kq.errors.InvalidSpecError, match="clusterQueue"):
        scheduler.apply(kq.LocalQueue("team-a", cluster_queue="team-b"))


def test_a_workload_is_not_admitted_until_its_checks_are_ready():
    rule = kq.objects.AdmissionCheckStrategyRule("prov")
    check = kq.AdmissionCheck("prov", controller_name="example.com/prov")
    cluster = kq.Cluster(DEFAULT, check, queue("a", 4, admission_checks_strategy=[rule]))
    scheduler = kq.Scheduler(cluster)
    scheduler.submit(workload("w", "a"))
    (decision,) = scheduler.cycle()
    assert isinstance(decision, kq.Admitted)
    assert not decision.admitted
    scheduler.settle()
    assert scheduler.explain("w").verdict == "QuotaReserved"
    assert [c.text for c in scheduler.explain("w").find("check")] == ["admission check prov: Pending"]
    scheduler.set_check("w", "prov", "Ready")
    scheduler.settle()
    assert scheduler.workload("w").status.is_true("Admitted")
    assert scheduler.workload("w").status.admission_checks[0].state == "Ready"


def checked_scheduler(answer):
    rule = kq.objects.AdmissionCheckStrategyRule("prov")
    check = kq.AdmissionCheck("prov", controller_name="example.com/prov")
    cluster = kq.Cluster(DEFAULT, check, queue("a", 4, admission_checks_strategy=[rule]))
    scheduler = kq.Scheduler(cluster, checks={"example.com/prov": answer})
    scheduler.submit(*(workload(name, "a") for name in ("u", "v", "w")))
    return scheduler


@pytest.mark.parametrize("call", ["delete", "settle"])
def test_a_function_that_answers_checks_may_only_read_the_scheduler(call):
    def answer(asked):
        assert scheduler.workload(asked.name).status.is_true("QuotaReserved")
        scheduler.delete("u") if call == "delete" else scheduler.settle()
        return "Ready"

    scheduler = checked_scheduler(answer)
    with pytest.raises(kq.errors.StateError, match="the function may only read it"):
        scheduler.settle()
    assert sorted(scheduler.keys()) == ["default/u", "default/v", "default/w"]
    scheduler.answer_checks({"example.com/prov": lambda _: "Ready"})
    scheduler.settle()
    assert all(scheduler.workload(name).status.is_true("Admitted") for name in ("u", "v", "w"))


def test_reclaimed_pods_release_their_quota(team):
    scheduler = kq.Scheduler(team)
    scheduler.submit(workload("w", "team-a", pods=9))
    scheduler.settle()
    scheduler.reclaim("w", 4)
    assert scheduler.usage.value("team-a", "default", "cpu") == 5000
    with pytest.raises(kq.errors.InvalidSpecError, match="0 to its count"):
        scheduler.reclaim("w", {"main": 10})


def test_time_changes_only_by_advance(team):
    scheduler = kq.Scheduler(team, now="2026-08-01T12:00:00Z")
    start = scheduler.now
    scheduler.settle()
    assert scheduler.now == start == datetime(2026, 8, 1, 12, tzinfo=timezone.utc).timestamp()
    for duration in (1.5, "1h30m", timedelta(seconds=2)):
        scheduler.advance(duration)
    assert scheduler.now == start + 1.5 + 5400 + 2
    for wrong in (-1, "soon", float("nan"), True):
        with pytest.raises(kq.errors.InvalidSpecError, match="duration"):
            scheduler.advance(wrong)


def test_the_maximum_execution_time_applies_after_advance(team):
    scheduler = kq.Scheduler(team)
    scheduler.submit(workload("w", "team-a", maximum_execution_time_seconds=60))
    scheduler.settle()
    scheduler.advance("1d")
    scheduler.settle()
    assert scheduler.workloads["status"][0] == "Deactivated"


def test_a_fork_and_its_original_are_independent(team):
    scheduler = kq.Scheduler(team)
    scheduler.submit(workload("w", "team-a", 21))
    scheduler.settle()
    twin = scheduler.fork()
    twin.submit(workload("x", "team-b", 12))
    twin.finish("w")
    twin.settle()
    scheduler.submit(workload("y", "team-b"))
    assert scheduler.keys() == ("default/w", "default/y")
    assert twin.keys() == ("default/w", "default/x")
    assert scheduler.usage.value("team-a", "default", "cpu") == 21000
    assert twin.usage.value("team-b", "default", "cpu") == 12000


def test_a_dump_of_a_running_cluster_continues_from_its_state(team):
    scheduler = kq.Scheduler(team)
    scheduler.submit(workload("w", "team-a", 18), workload("x", "team-b", 3))
    scheduler.settle()
    keys = scheduler.keys()
    workloads = [scheduler.workload(key) for key in keys]
    again = kq.Scheduler(kq.load(kq.dump(scheduler.cluster.replace(*workloads))))
    assert again.usage.value("team-a", "default", "cpu") == 18000
    assert [again.workload(key).status.admission for key in keys] == [w.status.admission for w in workloads]


def test_a_change_of_objects_applies_to_later_jobs_and_not_to_forks():
    row = {"kind": "Job", "apiVersion": "batch/v1", "metadata": {"name": "j", "labels": {}}, "spec": {}}
    row["metadata"]["labels"] = {"kueue.x-k8s.io/queue-name": "q", "kueue.x-k8s.io/priority-class": "high"}
    row["spec"] = {"template": {"spec": {"containers": [{"name": "c"}]}}}
    scheduler = kq.Scheduler(kq.Cluster(kq.ResourceFlavor("f"), kq.ClusterQueue.of("q", {"f": {"cpu": 4}})))
    with pytest.raises(kq.errors.NotFoundError, match="high"):
        scheduler.submit(row)
    twin = scheduler.fork()
    scheduler.apply(kq.WorkloadPriorityClass("high", value=7))

    (key,) = scheduler.submit(row)
    assert scheduler.workload(key).priority == 7
    with pytest.raises(kq.errors.NotFoundError, match="high"):
        twin.submit(row)
    scheduler.remove(kq.WorkloadPriorityClass("high", value=7))
    with pytest.raises(kq.errors.NotFoundError, match="high"):
        scheduler.question({**row, "metadata": {**row["metadata"], "name": "k"}})


def test_jobs_of_the_cluster_and_submitted_jobs_have_the_same_rules(team):
    container = {"name": "c", "resources": {"requests": {"cpu": -5}}}
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "less", "labels": {"kueue.x-k8s.io/queue-name": "team-a"}},
        "spec": {"template": {"spec": {"containers": [container]}}},
    }
    with pytest.raises(kq.errors.InvalidSpecError) as submitted:
        kq.Scheduler(team).submit(job)
    with pytest.raises(kq.errors.InvalidSpecError) as given:
        kq.Scheduler(kq.Cluster(*team.objects(), jobs=[job]))
    assert str(given.value) == str(submitted.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"now": -1}, "time: is -1; it must be seconds since 1970, 0 or more"),
        ({"now": True}, "time: is True; it must be seconds since 1970"),
        ({"now": 1e10}, "time: is 10000000000.0; it must be 2262-04-11T23:47:16Z at most, second 9223372036 since"),
        ({"now": "9999-01-01T00:00:00Z"}, "it must be 2262-04-11T23:47:16Z at most"),
        ({"now": datetime(2300, 1, 1, tzinfo=timezone.utc)}, "it must be 2262-04-11T23:47:16Z at most"),
        ({"stopping": 1e10}, "duration: is 10000000000.0; it must be 9223372036 seconds at most"),
        ({"stopping": timedelta(days=200_000)}, "it must be 9223372036 seconds at most"),
        ({"stopping": "-1s"}, "duration: is '-1s'; it must be seconds, 0 or more"),
        ({"checks": 5}, "checks: is 5; it must be a mapping"),
    ],
)
def test_times_beyond_the_clock_are_rejected(team, options, message):
    with pytest.raises(kq.errors.InvalidSpecError) as error:
        kq.Scheduler(team, **options)
    assert message in str(error.value)


def test_the_clock_reaches_the_largest_time(team):
    scheduler = kq.Scheduler(team, now="2262-04-11T23:47:15Z")
    scheduler.advance(1)
    assert scheduler.now == 9223372036
    with pytest.raises(kq.errors.InvalidSpecError, match="it must end at 2262-04-11T23:47:16Z at most"):
        scheduler.advance(1)
    assert scheduler.now == 9223372036


def test_the_error_of_a_loaded_job_names_file_line_and_field(tmp_path):
    path = tmp_path / "cluster.yaml"
    path.write_text("""\
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: default}
---
apiVersion: batch/v1
kind: Job
metadata:
  name: big
  labels: {kueue.x-k8s.io/queue-name: team-a}
spec:
  template:
    spec:
      containers:
        - name: c
          resources:
            requests: {cpu: -5}
""")
    with pytest.raises(
        kq.errors.InvalidSpecError, match=r"cluster\.yaml:16: Job \"default/big\": spec\.template\S+cpu"
    ):
        kq.Scheduler(kq.load(path))


def test_a_saved_state_with_a_changed_byte_is_rejected(team, tmp_path):
    kq.Scheduler(team).save(path := tmp_path / "state")
    whole = path.read_bytes()
    for position in [*range(60), *range(60, len(whole), 97)]:
        for bit in range(8):
            damaged = bytearray(whole)
            damaged[position] ^= 1 << bit
            path.write_bytes(damaged)
            with pytest.raises((kq.errors.InvalidSpecError, kq.errors.UnsupportedError), match=str(path)):
                kq.Scheduler.load(path)
