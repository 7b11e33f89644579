"""Admission checks: states, retries, delays and updates (AC).

There are no recordings of Kueue for retry delays, for checks of some flavors, and for pod set updates. These tests are
based on its source:

- AC-02: `pkg/workload/workload.go:AdmissionChecksForWorkload`,
  `pkg/util/admissioncheck/admissioncheck.go:NewAdmissionChecks`,
  `pkg/controller/core/workload_controller.go:syncAdmissionCheckConditions`
- AC-03: `pkg/cache/scheduler/clusterqueue.go:updateWithAdmissionChecks,inactiveReason`; at most 8 states by
  `apis/kueue/v1beta2/workload_types.go:WorkloadStatus`
- AC-04: `pkg/webhooks/workload_webhook.go:validatePodSetUpdates,validateImmutablePodSetUpdates`,
  `pkg/podset/podset.go:Merge`, `pkg/controller/jobframework/reconciler.go:getPodSetsInfoFromStatus,startJob`
- AC-05: `pkg/workload/admissionchecks.go:NeedsRequeueAtUpdate,GetMaxRetryTime`,
  `pkg/controller/core/workload_controller.go:Reconcile`, `pkg/workload/evict/evict.go:resetChecksOnEviction`
- AC-06: `pkg/controller/admissionchecks/provisioning/controller.go:syncCheckStates`,
  `pkg/workload/admissionchecks.go:UpdateAdmissionCheckRequeueState`, `pkg/util/wait/backoff.go`
"""

import msgspec
import pytest

import kueuepy as kq
from kueuepy.platform.visibility import cluster_queue_status

DEFAULT = kq.ResourceFlavor("default")
CONTROLLER = "example.com/checks"
PROVISIONING = "kueue.x-k8s.io/provisioning-request"


def _checks(*names):
    return [kq.AdmissionCheck(name, controller_name=CONTROLLER) for name in names]


def _queue(*rules, quotas=None, **fields):
    strategy = [kq.objects.AdmissionCheckStrategyRule(*rule) if isinstance(rule, tuple) else rule for rule in rules]
    return kq.ClusterQueue.of("q", quotas or {"default": {"cpu": 9}}, admission_checks_strategy=strategy, **fields)


def _one_check(stage, **options):
    return stage(DEFAULT, *_checks("check"), _queue(("check",)), **options)


def _state(story, key, check="check"):
    return next(c for c in story.scheduler.workload(key).status.admission_checks if c.name == check)


def test_AC_01_quota_is_reserved_first_and_the_workload_admitted_when_all_checks_are_ready(stage):
    story = stage(DEFAULT, *_checks("a", "b"), _queue(("a",), ("b",)))
    story.submit("q", name="w")
    story.settle()

    assert story.conditions("w") == {
        "QuotaReserved": ("True", "QuotaReserved"),
        "Admitted": ("False", "UnsatisfiedAdmissionChecks"),
    }
    assert story.used("q") == 1
    assert [_state(story, "w", name).state for name in "ab"] == ["Pending", "Pending"]

    story.scheduler.set_check("w", "a", "Ready")
    story.settle()
    assert not story.is_true("w", "Admitted")
    story.scheduler.set_check("w", "b", "Ready")
    story.settle()
    assert story.condition("w", "Admitted") == ("Admitted", "The workload is admitted")


@pytest.mark.parametrize("admitted", [False, True])
def test_AC_01_retry_evicts_and_queues_again(stage, admitted):
    story = _one_check(stage)
    story.submit("q", name="w")
    story.settle()
    if admitted:
        story.scheduler.set_check("w", "check", "Ready")
        story.settle()
    story.scheduler.set_check("w", "check", "Retry", message="no money")
    story.scheduler.cycle()

    assert story.condition("w", "Evicted") == (
        "QuotaReserved",
        'Previously: Evicted due to AdmissionCheck in Retry state: "check" (no money)',
    )
    assert story.conditions("w")["Requeued"] == ("True", "BackoffFinished")
    assert story.is_true("w", "QuotaReserved")
    assert (_state(story, "w").state, _state(story, "w").retry_count) == ("Pending", 1)
    assert _state(story, "w").message == "Reset to Pending after eviction. Previously: Retry"


def test_AC_01_rejection_deactivates_for_good(stage):
    story = stage(DEFAULT, *_checks("a", "b"), _queue(("a",), ("b",)))
    story.submit("q", name="w")
    story.settle()
    story.scheduler.set_check("w", "a", "Rejected", message="never")
    story.scheduler.set_check("w", "b", "Retry")
    story.settle()

    assert story.scheduler.workload("w").active is False
    assert story.condition("w", "Evicted") == (
        "DeactivatedDueToAdmissionCheck",
        'The workload is deactivated due to AdmissionCheck in Rejected state: "a" (never)',
    )
    assert story.condition("w") == ("Deactivated", "The workload is deactivated")
    assert (story.used("q", flavor="default"), story.scheduler.cycle().idle) == (0, True)


def test_AC_02_a_check_for_some_flavors_applies_only_to_those(stage):
    flavors = [kq.ResourceFlavor(name, node_labels={"type": name}) for name in ("spot", "reserved")]
    quotas = {"spot": {"cpu": 4}, "reserved": {"cpu": 4}}
    story = stage(*flavors, *_checks("all", "some"), _queue(("all",), ("some", ("reserved",)), quotas=quotas))
    story.submit("q", name="on-spot", node_selector={"type": "spot"})
    story.submit("q", name="on-reserved", node_selector={"type": "reserved"})
    story.settle()

    listed = {key: [c.name for c in story.scheduler.workload(key).status.admission_checks] for key in story.running()}
    assert listed == {"on-spot": ["all"], "on-reserved": ["all", "some"]}
    for key in listed:
        story.scheduler.set_check(key, "all", "Ready")
    story.settle()
    assert [story.is_true(key, "Admitted") for key in listed] == [True, False]


def test_AC_02_without_assigned_flavors_only_checks_for_all_flavors_are_listed(stage):
    quotas = {"default": {"cpu": 1}, "other": {"cpu": 1}}
    rules = ("all",), ("some", ("other",))
    story = stage(DEFAULT, kq.ResourceFlavor("other"), *_checks("all", "some"), _queue(*rules, quotas=quotas))
    story.submit("q", name="big", requests={"cpu": 2})
    story.settle()

    assert [c.name for c in story.scheduler.workload("big").status.admission_checks] == ["all"]


def test_AC_02_an_obsolete_check_is_removed(stage):
    story = stage(DEFAULT, *_checks("a", "b"), _queue(("a",), ("b",)))
    story.submit("q", name="w")
    story.settle()
    story.scheduler.set_check("w", "a", "Ready")
    story.settle()
    story.scheduler.apply(_queue(("a",)))
    story.settle()

    assert [c.name for c in story.scheduler.workload("w").status.admission_checks] == ["a"]
    assert story.is_true("w", "Admitted")


def _forget(story, check):
    """Remove the check while no queue uses it, and let the queue use it again."""
    story.scheduler.apply(_queue())
    story.scheduler.remove(check)
    story.scheduler.apply(_queue(("check",)))


def test_a_check_that_is_removed_while_a_queue_uses_it_stays_at_work(stage):
    (check,) = _checks("check")
    story = stage(DEFAULT, check, _queue(("check",)))
    story.scheduler.remove(check)
    story.submit("q", name="w")
    story.settle()
    assert story.is_true("w", "QuotaReserved")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (_forget, "AdmissionCheckNotFound"),
        (
            lambda story, check: story.scheduler.apply(msgspec.structs.replace(check, active=False)),
            "AdmissionCheckInactive",
        ),
    ],
)
def test_AC_03_a_queue_with_a_missing_or_inactive_check_admits_no_workload(stage, change, reason):
    (check,) = _checks("check")
    story = stage(DEFAULT, check, _queue(("check",)))
    change(story, check)
    story.submit("q", name="w")
    story.settle()

    assert story.scheduler.cycle().idle
    assert story.condition("w") == ("Suspended", "ClusterQueue q is inactive")
    assert cluster_queue_status(story.scheduler)["q"].conditions[0].reason == reason
    story.scheduler.apply(check)
    story.settle()
    assert story.is_true("w", "QuotaReserved")


def test_AC_03_a_workload_has_at_most_8_checks():
    states = tuple(kq.objects.AdmissionCheckState(f"c{n}", "Pending") for n in range(9))
    eight = kq.Workload("w", pod_sets=(kq.PodSet.of(),), status=kq.objects.WorkloadStatus(admission_checks=states[:8]))
    kq.manifest.check(eight)
    nine = msgspec.structs.replace(eight, status=kq.objects.WorkloadStatus(admission_checks=states))
    with pytest.raises(kq.errors.InvalidSpecError, match="admissionChecks: has 9 items; at most 8 are allowed"):
        kq.manifest.check(nine)


def _job(**selector):
    template = {
        "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}], "nodeSelector": selector}
    }
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "j", "labels": {"kueue.x-k8s.io/queue-name": "q"}},
        "spec": {"parallelism": 2, "template": template},
    }


UPDATE = {
    "name": "main",
    "labels": {"l": "1"},
    "annotations": {"a": "2"},
    "nodeSelector": {"pool": "new"},
    "tolerations": [{"key": "fresh", "operator": "Exists"}],
}


def test_AC_04_pod_set_updates_of_a_check_are_merged_into_the_job(stage):
    flavor = kq.ResourceFlavor("default", node_labels={"type": "default"})
    story = stage(flavor, *_checks("a", "b"), _queue(("a",), ("b",)))
    (key,) = story.scheduler.submit(_job(disk="ssd"))
    story.settle()
    story.scheduler.set_check(key, "a", "Ready", pod_set_updates=[UPDATE])
    story.scheduler.set_check(key, "b", "Ready", pod_set_updates=[{"name": "main", "nodeSelector": {"zone": "z"}}])
    story.settle()

    template = story.scheduler.start_patch(key)["spec"]["template"]
    assert template["spec"]["nodeSelector"] == {"type": "default", "pool": "new", "zone": "z"}
    assert template["spec"]["tolerations"] == [{"key": "fresh", "operator": "Exists"}]
    assert template["metadata"]["labels"]["l"] == "1"
    assert template["metadata"]["annotations"]["a"] == "2"


@pytest.mark.parametrize(
    "other", [{"nodeSelector": {"pool": "old"}}, {"labels": {"l": "x"}}, {"annotations": {"a": "x"}}]
)
def test_AC_04_conflicting_updates_prevent_the_start(stage, other):
    story = stage(DEFAULT, *_checks("a", "b"), _queue(("a",), ("b",)))
    (key,) = story.scheduler.submit(_job())
    story.settle()
    story.scheduler.set_check(key, "a", "Ready", pod_set_updates=[UPDATE])
    story.scheduler.set_check(key, "b", "Ready", pod_set_updates=[{"name": "main", **other}])
    story.settle()

    with pytest.raises(kq.errors.InvalidSpecError, match='admission check "b"') as caught:
        story.scheduler.start_patch(key)
    story.scheduler.finish(key, reason="FailedToStart", message=str(caught.value))
    assert story.condition(key, "Finished") == ("FailedToStart", str(caught.value))


def test_AC_04_an_update_that_conflicts_with_the_job_prevents_the_start(stage):
    story = _one_check(stage)
    (key,) = story.scheduler.submit(_job(pool="mine"))
    story.settle()
    story.scheduler.set_check(key, "check", "Ready", pod_set_updates=[UPDATE])
    story.settle()

    with pytest.raises(kq.errors.InvalidSpecError, match="pool"):
        story.scheduler.start_patch(key)


def test_AC_04_updates_name_pod_sets_and_stay_while_the_check_is_ready(stage):
    story = _one_check(stage)
    story.submit("q", name="w")
    story.settle()
    with pytest.raises(kq.errors.InvalidSpecError, match='names "worker"; it must be one of main'):
        story.scheduler.set_check("w", "check", "Ready", pod_set_updates=[{"name": "worker"}])
    story.scheduler.set_check("w", "check", "Ready", pod_set_updates=[UPDATE])
    with pytest.raises(kq.errors.InvalidSpecError, match="must stay as it is"):
        story.scheduler.set_check("w", "check", "Ready")

    assert _state(story, "w").pod_set_updates == (UPDATE,)
    story.scheduler.set_check("w", "check", "Retry", pod_set_updates=[UPDATE])
    story.settle()
    assert _state(story, "w").pod_set_updates == ()


def test_AC_05_a_delayed_retry_keeps_its_quota_until_the_delay_is_over(stage):
    story = _one_check(stage)
    story.submit("q", name="w")
    story.settle()
    story.scheduler.set_check("w", "check", "Retry", requeue_after=30)
    seen = []
    for _ in range(31):
        story.scheduler.advance(1)
        story.scheduler._engine.settle()
        seen.append(story.is_true("w", "Evicted"))

    assert seen == [False] * 29 + [True] * 2
    assert (_state(story, "w").retry_count, _state(story, "w").requeue_after_seconds) == (1, 30)


def test_AC_05_a_deactivated_workload_has_no_delay(stage):
    """Kueue writes and deletes the time repeatedly until it is reached; in the end, the field is absent."""
    story = _one_check(stage)
    story.submit("q", name="w")
    story.settle()
    story.scheduler.set_check("w", "check", "Rejected")
    story.settle()
    story.scheduler.set_check("w", "check", "Retry", requeue_after=60)
    story.settle()

    assert story.scheduler.workload("w").status.requeue_state is None
    assert story.conditions("w")["Requeued"] == ("False", "DeactivatedDueToAdmissionCheck")


def test_AC_05_the_longest_of_several_delays_applies_and_retries_are_counted(stage):
    story = stage(DEFAULT, *_checks("a", "b"), _queue(("a",), ("b",)))
    story.submit("q", name="w")
    story.settle()
    for times in (1, 2):
        story.scheduler.set_check("w", "a", "Retry", requeue_after=10)
        story.scheduler.set_check("w", "b", "Retry", requeue_after=20)
        story.scheduler.advance(19)
        story.scheduler.settle()
        assert _state(story, "w", "a").state == "Retry"
        story.scheduler.advance(1)
        story.scheduler.settle()
        assert [_state(story, "w", name).retry_count for name in "ab"] == [times, times]
    story.scheduler.set_check("w", "a", "Ready")
    story.scheduler.set_check("w", "b", "Retry")
    story.settle()
    assert [_state(story, "w", name).retry_count for name in "ab"] == [None, 3]


def test_AC_05_a_retried_workload_queues_behind_workloads_created_during_its_delay(stage):
    story = stage(DEFAULT, *_checks("check"), _queue(("check",), quotas={"default": {"cpu": 1}}))
    story.submit("q", name="first")
    story.settle()
    story.scheduler.advance(10)
    story.submit("q", name="second")
    story.scheduler.set_check("first", "check", "Retry")
    story.settle()

    assert story.running() == ["second"]


def _provisioned(stage, strategy=None, parameters=None, **options):
    """Return a stage whose check has a ProvisioningRequestConfig with this retryStrategy and these parameters."""
    named = {"apiGroup": "kueue.x-k8s.io", "kind": "ProvisioningRequestConfig", "name": "nodes"}
    check = kq.AdmissionCheck("check", controller_name=PROVISIONING, parameters=named)
    spec = {"provisioningClassName": "class", "retryStrategy": strategy, "parameters": parameters}
    config = {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": named["kind"],
        "metadata": {"name": "nodes"},
        "spec": spec,
    }
    answers = {PROVISIONING: kq.sim.Provisioning(**options)}
    return stage(DEFAULT, check, _queue(("check",)), others=[config], checks=answers)


def test_AC_06_WL_18_capacity_arrives_after_a_delay(stage):
    story = _provisioned(stage, delay="5m")
    story.submit("q", name="w")
    story.settle()
    story.scheduler.advance(299)
    story.scheduler.settle()
    assert not story.is_true("w", "Admitted")
    story.scheduler.advance(1)
    story.scheduler.settle()
    assert story.is_true("w", "Admitted")


def test_AC_06_failures_are_retried_after_60_120_and_240_seconds_then_rejected(stage):
    story = _provisioned(stage, delay=10, fails=lambda *_: True)
    story.submit("q", name="w")
    story.settle()
    waits = []
    for _ in range(3):
        story.scheduler.advance(10)
        story.scheduler.settle()
        waits.append(_state(story, "w").requeue_after_seconds)
        assert _state(story, "w").state == "Retry"
        story.scheduler.advance(waits[-1])
        story.scheduler.settle()
    story.scheduler.advance(10)
    story.scheduler.settle()

    assert waits == [60, 120, 240]
    assert story.conditions("w")["Evicted"] == ("True", "DeactivatedDueToAdmissionCheck")


def test_AC_06_the_backoff_has_a_maximum(stage):
    story = _provisioned(stage, {"backoffLimitCount": 9}, delay=0, fails=lambda _, attempt: attempt < 8)
    story.submit("q", name="w")
    story.settle()
    waits = []
    while not story.is_true("w", "Admitted"):
        waits.append(_state(story, "w").requeue_after_seconds)
        story.scheduler.advance(waits[-1])
        story.scheduler.settle()

    assert waits == [60, 120, 240, 480, 960, 1800, 1800]


def test_AC_06_a_check_without_its_config_is_not_active_and_its_queue_admits_nothing(stage):
    check = kq.AdmissionCheck("check", controller_name=PROVISIONING)
    story = stage(DEFAULT, check, _queue(("check",)), checks={PROVISIONING: kq.sim.Provisioning(0)})
    story.submit("q", name="w")
    story.settle()

    assert not story.is_true("w", "QuotaReserved")
    assert "check" in str(story.scheduler.explain("w"))
    assert not story.scheduler.cluster.admission_checks[0].active


def test_AC_06_the_state_of_a_request_survives_forks_and_saved_states(stage, tmp_path):
    story = _provisioned(stage, delay="5m", fails=lambda _, attempt: attempt == 1)
    story.submit("q", name="w")
    story.settle()
    story.scheduler.advance("5m")
    story.scheduler.settle()
    story.scheduler.advance("1m")
    story.scheduler.settle()
    story.scheduler.save(tmp_path / "state")
    restored = kq.Scheduler.load(tmp_path / "state")
    for scheduler in (story.scheduler, story.scheduler.fork(), restored):
        (request,) = kq.sim.Provisioning.requests(scheduler)
        assert request["metadata"]["name"] == "w-check-2"
        scheduler.set_check("w", "check", {"conditions": [{"type": "Failed", "status": "True", "message": "none"}]})
        check = scheduler.workload("w").status.admission_checks[0]
        assert (check.state, check.message) == ("Retry", "Retrying after failure: none")
        assert (check.retry_count, check.requeue_after_seconds) == (1, 120)


@pytest.mark.parametrize(
    ("name", "annotations"),
    [("w" * 250, {}), ("w", {"provreq.kueue.x-k8s.io/pool": "other"})],
    ids=["shortened name", "changed parameter"],
)
def test_AC_06_a_request_that_kueue_does_not_find_again_does_not_change_its_check(stage, name, annotations):
    story = _provisioned(stage, delay="5m", parameters={"pool": "a"})
    pod_sets = (kq.PodSet.of("main", 1, requests={"cpu": 1}),)
    story.scheduler.submit(kq.Workload(name, queue_name="q", annotations=annotations, pod_sets=pod_sets))
    story.settle()
    story.scheduler.set_check(name, "check", {"conditions": [{"type": "Failed", "status": "True", "message": "none"}]})
    assert story.scheduler.workload(name).status.admission_checks[0].state == "Pending"


@pytest.mark.parametrize(
    ("status", "told"),
    [
        ({"conditions": [{"type": "Failed", "status": "yes"}]}, "conditions[0].status: is 'yes'"),
        ({"conditions": [{"type": "Failed"}]}, "conditions[0].status: is required"),
        ({"conditions": {"Failed": "True"}}, "conditions: is a mapping; it must be a list"),
        ({"provisioningClassDetails": {"pool": 7}}, "provisioningClassDetails: holds a value that is an integer"),
        ({"status": {"conditions": []}}, "unknown field `status`"),
    ],
)
def test_AC_06_a_status_that_no_request_can_have_is_an_error(stage, status, told):
    story = _provisioned(stage, delay="5m")
    story.submit("q", name="w")
    with pytest.raises(kq.errors.StateError, match="and so no ProvisioningRequest"):
        story.scheduler.set_check("w", "check", status)
    story.settle()
    with pytest.raises(kq.errors.InvalidSpecError) as caught:
        story.scheduler.set_check("w", "check", status)
    assert told in str(caught.value)


def test_AC_06_a_check_that_has_a_review_is_not_called(stage):
    class Check:
        def __call__(self, workload):
            raise AssertionError(workload)

        def review(self, _request):
            return "Ready"

    story = _one_check(stage, checks={CONTROLLER: Check()})
    story.submit("q", name="w")
    story.settle()
    assert story.is_true("w", "Admitted")


def test_AC_06_only_a_check_of_this_controller_has_the_status_of_a_request(stage):
    story = _one_check(stage)
    story.submit("q", name="w")
    story.settle()
    with pytest.raises(kq.errors.InvalidSpecError, match="only a check of kueue"):
        story.scheduler.set_check("w", "check", {"conditions": []})
    assert kq.sim.Provisioning.requests(story.scheduler) == ()


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        ("Ready", ("True", "Admitted")),
        ("Rejected", ("False", "NoReservation")),
        (None, ("False", "UnsatisfiedAdmissionChecks")),
        (kq.sim.CheckAnswer("Pending", "thinking"), ("False", "UnsatisfiedAdmissionChecks")),
        (kq.sim.CheckAnswer("Retry", requeue_after=60), ("False", "UnsatisfiedAdmissionChecks")),
    ],
)
def test_AC_08_a_python_function_answers_a_check(stage, answer, outcome):
    asked = []

    def decide(workload):
        asked.append((workload.name, workload.status.admission.cluster_queue))
        return answer

    story = _one_check(stage, checks={CONTROLLER: decide})
    story.submit("q", name="w")
    story.settle()

    assert story.conditions("w")["Admitted"] == outcome
    assert set(asked) == {("w", "q")}


def test_AC_08_a_function_that_always_retries_without_delay_is_reported_as_a_loop(stage):
    story = _one_check(stage, checks={CONTROLLER: lambda _: "Retry"})
    story.submit("q", name="w")
    settled = story.settle()

    assert str(settled.loop) == "endless retry: the same decisions every 1 cycle for default/w"
    assert not settled.finished


def test_AC_08_only_the_given_controllers_answer_and_forks_call_them_too(stage):
    other = kq.AdmissionCheck("other", controller_name="example.com/other")
    story = stage(
        DEFAULT, *_checks("check"), other, _queue(("check",), ("other",)), checks={CONTROLLER: lambda _: "Ready"}
    )
    story.submit("q", name="w")
    story.settle()
    assert [_state(story, "w", name).state for name in ("check", "other")] == ["Ready", "Pending"]

    fork = story.scheduler.fork()
    fork.answer_checks({"example.com/other": lambda _: "Ready"})
    fork.settle()
    assert fork.workload("w").status.is_true("Admitted")
    assert not story.is_true("w", "Admitted")


def test_AC_08_an_invalid_check_state_is_rejected(stage):
    story = _one_check(stage, checks={CONTROLLER: lambda _: "Maybe"})
    story.submit("q", name="w")
    with pytest.raises(kq.errors.InvalidSpecError, match="Maybe"):
        story.settle()
