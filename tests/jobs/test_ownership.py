"""Owners of jobs, and which jobs Kueue manages."""

import pytest

from kueuepy.errors import InvalidSpecError, NotFoundError
from kueuepy.jobs import to_workloads
from kueuepy.jobs.cluster import JobCluster
from kueuepy.objects import Configuration, LabelSelector, LocalQueue, Namespace, WorkloadPriorityClass

QUEUE = "kueue.x-k8s.io/queue-name"
JOBSET, WRAPPER, JOB = ("jobset.x-k8s.io/v1alpha2", "JobSet"), ("workload.codeflare.dev/v1beta2", "AppWrapper"), None
ALL = Configuration(manage_jobs_without_queue_name=True)
NONE = Configuration()


def find_ancestor(job, owners, config=NONE):
    return JobCluster.of(config).own(owners).ancestor(job)


def is_managed(job, *, config, owners=(), namespaces=()):
    return JobCluster.of(config, namespaces=namespaces).own(owners).why_unmanaged(job) is None


def with_defaults(job, queues=(), classes=()):
    return JobCluster.of(NONE, classes, local_queues=queues).defaulted(job)


def thing(kind, name, *, owner=None, queue=None, namespace="team-a"):
    api_version, kind = kind or ("batch/v1", "Job")
    metadata = {"name": name, "namespace": namespace, "uid": f"uid-{name}", "labels": {QUEUE: queue} if queue else {}}
    if owner is not None:
        uid = owner["metadata"]["uid"]
        reference = {key: owner[key] for key in ("apiVersion", "kind")} | {"name": owner["metadata"]["name"]}
        metadata["ownerReferences"] = [reference | {"uid": uid, "controller": True}]
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": {}}


@pytest.mark.parametrize(
    ("queues", "all_jobs", "expected"),
    [
        ((None, None), False, None),
        ((None, "q"), False, "jobset"),
        (("q", None), False, "wrapper"),
        (("q", "q"), False, "wrapper"),
        ((None, None), True, "wrapper"),
    ],
)
def test_the_topmost_managed_owner_is_queued(queues, all_jobs, expected):
    wrapper = thing(WRAPPER, "wrapper", queue=queues[0])
    jobset = thing(JOBSET, "jobset", owner=wrapper, queue=queues[1])
    job = thing(JOB, "job", owner=jobset, queue="q")
    found = find_ancestor(job, [wrapper, jobset, job], ALL if all_jobs else NONE)
    assert (found and found["metadata"]["name"]) == expected
    assert is_managed(job, config=ALL if all_jobs else NONE, owners=[wrapper, jobset]) is (expected is None)


def test_the_owner_search_ends_at_an_unknown_kind():
    workflow = thing(("argoproj.io/v1alpha1", "Workflow"), "flow", queue="q")
    assert find_ancestor(thing(JOB, "job", owner=workflow), []) is None
    cron = thing(("batch/v1", "CronJob"), "cron", queue="q")
    assert find_ancestor(thing(JOB, "job", owner=cron), [cron]) is None


def test_the_owner_search_continues_above_a_replica_set():
    deployment = thing(("apps/v1", "Deployment"), "web", queue="q")
    replicas = thing(("apps/v1", "ReplicaSet"), "web-1", owner=deployment, queue="q")
    pod = thing(("v1", "Pod"), "web-1-a", owner=replicas, queue="q")
    assert find_ancestor(pod, [deployment, replicas])["kind"] == "Deployment"
    pod["metadata"]["annotations"] = {"kueue.x-k8s.io/pod-suspending-parent": "deployment"}
    assert not is_managed(pod, config=NONE)
    pod["metadata"]["labels"]["kueue.x-k8s.io/managed"] = "true"
    assert is_managed(pod, config=NONE)


def test_an_owner_must_exist_and_have_the_referenced_uid():
    jobset = thing(JOBSET, "jobset", queue="q")
    job = thing(JOB, "job", owner=jobset)
    with pytest.raises(NotFoundError, match=r'^Job "team-a/job": metadata.ownerReferences: "jobset" names no JobSet'):
        find_ancestor(job, [])
    jobset["metadata"]["uid"] = "another"
    assert find_ancestor(job, [jobset]) is None


def test_owner_cycles_and_deep_chains_are_rejected():
    first = thing(JOB, "first")
    second = thing(JOB, "second", owner=first)
    first = thing(JOB, "first", owner=second)
    with pytest.raises(InvalidSpecError, match="go in a circle"):
        find_ancestor(first, [first, second])
    chain = [thing(JOB, "0")]
    for i in range(1, 13):
        chain.append(thing(JOB, str(i), owner=chain[-1]))
    assert find_ancestor(chain[9], chain) is None
    with pytest.raises(InvalidSpecError, match="go up more than 10 levels"):
        find_ancestor(chain[-1], chain)


def test_the_namespace_must_be_selected_even_with_a_queue_name():
    labelled = Configuration(managed_jobs_namespace_selector=LabelSelector(match_labels={"kueue": "yes"}))
    job = thing(JOB, "job", queue="q")
    assert not is_managed(job, config=labelled)
    assert is_managed(job, config=labelled, namespaces=[Namespace("team-a", labels={"kueue": "yes"})])
    assert is_managed(job, config=NONE)
    assert not is_managed(thing(JOB, "job", queue="q", namespace="kube-system"), config=NONE)


@pytest.mark.parametrize(
    ("kind", "queue", "expected"), [(JOB, "q", True), (JOB, None, False), (("v1", "Pod"), "q", False)]
)
def test_jobs_with_a_queue_name_ignore_the_selector_if_the_gate_is_off(kind, queue, expected):
    """Up to v0.18. The webhook of pods always applies the selector."""
    configuration = Configuration(
        version="v0.18",
        managed_jobs_namespace_selector=LabelSelector(match_labels={"kueue": "yes"}),
        feature_gates={"ManagedJobsNamespaceSelectorAlwaysRespected": False},
    )
    assert is_managed(thing(kind, "job", queue=queue), config=configuration) == expected


def test_jobs_without_a_queue_name_use_the_default_queue(job):
    plain = job()
    plain["metadata"]["labels"] = {}
    queues = [LocalQueue("default", namespace="team-a", cluster_queue="c")]
    assert [w.queue_name for w in to_workloads([plain], local_queues=queues)] == ["default"]
    assert [w.queue_name for w in to_workloads([job()], local_queues=queues)] == ["training"]
    assert to_workloads([plain], local_queues=[LocalQueue("default", namespace="team-b", cluster_queue="c")]) == ()


def test_a_job_with_an_owner_gets_no_defaults():
    jobset = thing(JOBSET, "jobset")
    job = thing(JOB, "job", owner=jobset)
    classes = [WorkloadPriorityClass("default", value=1)]
    queues = [LocalQueue("default", namespace="team-a", cluster_queue="c")]
    assert with_defaults(job, queues, classes) == job
    labels = with_defaults(jobset, queues, classes)["metadata"]["labels"]
    assert labels == {QUEUE: "default", "kueue.x-k8s.io/priority-class": "default"}
    assert with_defaults(jobset) == jobset
    pod = thing(("v1", "Pod"), "pod")
    pod["metadata"]["annotations"] = {"kueue.x-k8s.io/pod-suspending-parent": "deployment"}
    assert with_defaults(pod, queues, classes) == pod


def test_jobs_of_a_managed_jobset_have_no_workloads(example):
    jobset = example("jobset")
    del jobset["metadata"]["labels"]["kueue.x-k8s.io/priority-class"]
    jobset["metadata"]["uid"] = "u"
    child = thing(JOB, "child", owner=jobset, queue="training")
    child["spec"] = jobset["spec"]["replicatedJobs"][0]["template"]["spec"]
    names = [w.name for w in to_workloads([jobset, child])]
    assert len(names) == 1
    assert names[0].startswith("jobset-simulation-")
