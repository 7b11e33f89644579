"""Job and CronJob: status, changes and errors."""

import pytest

from kueuepy.errors import InvalidSpecError
from kueuepy.jobs import adapter_for, apply_patch, start_patch, stop_patch, suspend, to_workload
from kueuepy.jobs.numbers import terminal_indexes
from kueuepy.objects import Configuration, PodSetAssignment, ReclaimablePod

MIN = "kueue.x-k8s.io/job-min-parallelism"
EQUAL = "kueue.x-k8s.io/job-completions-equal-parallelism"


@pytest.mark.parametrize(
    ("spec", "status", "reclaimable"),
    [
        ({"parallelism": 3, "completions": 10}, {"succeeded": 8}, 1),
        (
            {"parallelism": 3, "completions": 8, "completionMode": "Indexed"},
            {"completedIndexes": "0-4,6", "failedIndexes": "5"},
            2,
        ),
        ({"parallelism": 1, "completions": 1}, {"succeeded": 1}, 0),
        ({"parallelism": 3, "completions": 10}, {"succeeded": 7}, 0),
        ({"parallelism": 3}, {"succeeded": 3}, 3),
        ({"parallelism": 3}, {}, 0),
    ],
)
def test_pods_not_needed_for_remaining_completions_are_reclaimable(job, spec, status, reclaimable):
    expected = (ReclaimablePod("main", reclaimable),) if reclaimable else ()
    assert adapter_for(job(**spec) | {"status": status}).reclaimable_pods() == expected


@pytest.mark.parametrize(
    ("completed", "failed", "completions", "count"),
    [
        ("0-4,6", "5", 8, 7),
        ("0-3", "2-5", 8, 6),
        ("0-9", "", 4, 4),
        ("5-3,x,1", "", 8, 1),
        ("", "", 8, 0),
        ("0-2", "0-2", 0, 0),
    ],
)
def test_indexes_are_counted_once_and_below_the_completions(completed, failed, completions, count):
    assert terminal_indexes(completed, failed, completions) == count


def test_labels_of_the_job_controller_are_not_in_the_pod_set_and_stay_on_the_job(job, admit, flavors):
    held = suspend(job())
    own = {"job-name": "train", "controller-uid": "u", "batch.kubernetes.io/job-name": "train", "app": "x"}
    held["spec"]["template"]["metadata"] = {"labels": own}
    workload = to_workload(held)
    kept = {"batch.kubernetes.io/job-name": "train", "app": "x"}
    assert workload.pod_sets[0].template["metadata"]["labels"] == kept
    started = apply_patch(held, start_patch(held, admit(workload), flavors))
    assert apply_patch(started, stop_patch(started, workload)) == held


def test_a_stop_with_other_pod_sets_only_suspends(example, workloads, admit, flavors):
    held = suspend(example("job"))
    started = apply_patch(held, start_patch(held, admit(to_workload(held)), flavors))
    assert stop_patch(started, workloads("jobset")[0]) == {"spec": {"suspend": True}}


def test_a_job_that_is_being_stopped_is_not_suspended_yet(example, admit, flavors):
    held = suspend(example("job"))
    workload = to_workload(held)
    stopping = apply_patch(held, start_patch(held, admit(workload), flavors))
    stopping["spec"]["suspend"] = True
    stopping["metadata"]["annotations"] = {"kueue.x-k8s.io/stopping": "true"}
    assert not adapter_for(stopping).is_suspended()
    stopped = apply_patch(stopping, stop_patch(stopping, workload))
    assert adapter_for(stopped).is_suspended()
    assert stopped["spec"] == held["spec"]


def test_completions_follow_the_parallelism_with_the_annotation(job, admit, flavors):
    manifest = job(
        annotations={MIN: "2", EQUAL: "true"}, parallelism=8, completions=8, completionMode="Indexed", suspend=True
    )
    fewer = (PodSetAssignment("main", flavors={"cpu": "spot"}, count=3),)
    workload = to_workload(manifest)
    started = apply_patch(manifest, start_patch(manifest, admit(workload, assignments=fewer), flavors))
    assert (started["spec"]["parallelism"], started["spec"]["completions"]) == (3, 3)
    assert apply_patch(started, stop_patch(started, workload)) == manifest


def test_a_partially_admitted_job_requests_its_full_parallelism_again(job, admit, flavors):
    manifest = job(annotations={MIN: "2"}, parallelism=5, completions=3, suspend=True)
    workload = to_workload(manifest)
    started = apply_patch(manifest, start_patch(manifest, admit(workload), flavors))
    stopped = apply_patch(started, stop_patch(started, workload))
    assert started["spec"]["parallelism"] == stopped["spec"]["parallelism"] == 3


@pytest.mark.parametrize(
    ("annotations", "spec", "problem"),
    [
        ({MIN: "3"}, {"parallelism": 3}, "is 3; it must be greater than 0 and less than the number of pods, 3"),
        ({MIN: "0"}, {"parallelism": 3}, "is 0; it must be greater than 0 and less than the number of pods, 3"),
        ({MIN: "few"}, {"parallelism": 3}, 'is "few"; it must be a whole number'),
        ({EQUAL: "true"}, {"parallelism": 3, "completions": 3}, "it must be Indexed"),
        ({EQUAL: "yes"}, {"parallelism": 3}, "it must be a boolean value"),
        (
            {EQUAL: "true"},
            {"parallelism": 3, "completions": 4, "completionMode": "Indexed"},
            "completions: differs from parallelism",
        ),
        ({}, {"parallelism": -1}, "spec.parallelism: is -1; it must be 0 or more"),
    ],
)
def test_invalid_jobs_are_rejected(job, annotations, spec, problem):
    with pytest.raises(InvalidSpecError, match=problem):
        to_workload(job(annotations=annotations, **spec))


def test_an_elastic_job_may_not_request_a_required_topology(job):
    elastic = {"kueue.x-k8s.io/elastic-job": "true"}
    rack = {"kueue.x-k8s.io/podset-required-topology": "rack"}
    with pytest.raises(InvalidSpecError, match="is not supported with an elastic Job"):
        to_workload(job(annotations=elastic, pod_annotations=rack))
    off = Configuration(feature_gates={"ElasticJobsViaWorkloadSlices": False})
    assert to_workload(job(annotations=elastic, pod_annotations=rack), config=off).annotations == {}


def test_a_job_is_finished_with_a_complete_or_failed_condition(job):
    failed = {"conditions": [{"type": "Failed", "status": "True", "message": "no"}]}
    assert adapter_for(job() | {"status": failed}).finished() == ("no", False)
    done = {"conditions": [{"type": "Complete", "status": "True"}]}
    assert adapter_for(job() | {"status": done}).finished() == ("", True)
    running = {"conditions": [{"type": "Complete", "status": "False"}]}
    assert adapter_for(job() | {"status": running}).finished() is None


def test_a_job_is_ready_when_ready_and_succeeded_pods_cover_its_parallelism(job):
    def status(**fields):
        return adapter_for(job(parallelism=3) | {"status": fields}).pods_ready()

    assert status(ready=2, succeeded=1)
    assert status(ready=2, uncountedTerminatedPods={"succeeded": ["uid"]})
    assert not status(ready=2)


def test_a_cron_job_is_not_changed_and_its_job_is_owned(example):
    manifest = example("cronjob")
    assert suspend(manifest) == manifest
    (made,) = adapter_for(manifest).jobs()
    assert made.manifest["spec"]["suspend"] is True
    assert made.manifest["metadata"]["ownerReferences"][0]["kind"] == "CronJob"
    assert adapter_for(manifest).queue_name() == "reports"
    assert adapter_for(manifest).pod_sets()[0].count == 2
