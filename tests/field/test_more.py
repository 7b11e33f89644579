"""Two more situations of each kind of question; README.md lists the sources."""

import json

import pytest
import yaml

import kueuepy as kq
from field.queues import QUEUES
from kueuepy.cli import main
from kueuepy.objects import (
    AdmissionCheckStrategyRule,
    Pod,
    Preemption,
    Taint,
    WaitForPodsReady,
    required,
)

CREATED = "2026-05-01T08:00:00Z"


def written(tmp_path, name, value):
    path = tmp_path / name
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return str(path)


def pods_of(cpu=1):
    return {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}]}


def workload(status=None, count=1, **pod_set):
    sets = [{"name": "main", "count": count, **pod_set, "template": {"spec": {"restartPolicy": "Never", **pods_of()}}}]
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "Workload",
        "metadata": {"name": "w", "namespace": "ml", "uid": "u", "creationTimestamp": CREATED},
        "spec": {"queueName": "lq", "active": True, "podSets": sets},
        **({"status": status} if status else {}),
    }


def configuration(**sections):
    return {"apiVersion": "config.kueue.x-k8s.io/v1beta2", "kind": "Configuration", **sections}


def scheduler_of(*objects, configuration=None, **queue):
    queues = kq.ClusterQueue.of("q", {"f": {"cpu": 4}}, **queue)
    return kq.Scheduler(kq.Cluster(kq.ResourceFlavor("f"), queues, *objects, configuration=configuration), now=0)


def submitted(scheduler, *names, **row):
    for name in names:
        scheduler.submit({"name": name, "queue": "q", **row})
        scheduler.settle()
        scheduler.advance(1)


# --- objects that have a state already


@pytest.mark.parametrize(
    ("phase", "gates", "is_new"), [("Failed", 0, False), ("Succeeded", 0, False), ("Pending", 1, True)]
)
def test_an_ended_pod_makes_no_workload(phase, gates, is_new):
    labels = {"kueue.x-k8s.io/queue-name": "lq", "kueue.x-k8s.io/managed": "true"}
    metadata = {"name": "p", "namespace": "ml", "uid": "p", "creationTimestamp": CREATED, "labels": labels}
    spec = {**pods_of(), "schedulingGates": [{"name": "kueue.x-k8s.io/admission"}] * gates}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": {"phase": phase}}

    assert bool(kq.Scheduler(kq.load([*yaml.safe_load_all(QUEUES), pod])).keys()) is is_new


def test_a_workload_of_a_dump_waits_for_the_end_of_its_back_off():
    def condition(kind, status):
        changed = {"reason": "PodsReadyTimeout", "message": "", "lastTransitionTime": "2026-05-01T08:50:00Z"}
        return {"type": kind, "status": status, **changed}

    conditions = [condition("Evicted", "True"), condition("Requeued", "False"), condition("QuotaReserved", "False")]
    status = {"requeueState": {"count": 2, "requeueAt": "2026-05-01T09:00:00Z"}, "conditions": conditions}
    scheduler = kq.Scheduler(kq.load([*yaml.safe_load_all(QUEUES), workload(status)]))

    assert "back-off for another 600 s after 2 evictions" in str(scheduler.explain("ml/w"))
    scheduler.advance(600)
    scheduler.settle()
    assert scheduler.explain("ml/w").verdict == "Admitted"


# --- who is before me, and why


def test_the_head_of_a_strict_queue_is_named_although_the_workload_fits():
    scheduler = scheduler_of(queueing_strategy="StrictFIFO")
    submitted(scheduler, "running", "head", cpu=3)
    submitted(scheduler, "small", cpu=1)

    text = str(scheduler.explain("small"))
    assert "no workload is evaluated before its head, default/head, has quota" in text
    assert "equal priority, and earlier in the queue: default/head" in text


def test_an_evicted_workload_keeps_its_place_by_creation():
    scheduler = scheduler_of(preemption=Preemption(within_cluster_queue="LowerPriority"))
    submitted(scheduler, "old", "mid", cpu=4)
    submitted(scheduler, "high", cpu=4, priority=5)

    assert "earlier in the queue: default/old" in str(scheduler.explain("mid"))


# --- a remedy must be true


def placed(**node):
    nodes = [
        kq.Node(
            name,
            labels={"pool": "p", "kubernetes.io/hostname": name},
            allocatable={"nvidia.com/gpu": 8, "pods": 9},
            **node,
        )
        for name in ("n1", "n2")
    ]
    others = () if node else tuple(Pod.of(f"on-{one.name}", one.name, requests={"nvidia.com/gpu": 4}) for one in nodes)
    cluster = kq.Cluster(
        kq.ResourceFlavor("f", node_labels={"pool": "p"}, topology_name="t"),
        kq.Topology("t", levels=("kubernetes.io/hostname",)),
        kq.ClusterQueue.of("q", {"f": {"nvidia.com/gpu": 99}}),
        nodes,
        others,
    )
    host = required("kubernetes.io/hostname")
    pods = kq.PodSet.of(requests={"nvidia.com/gpu": 8}, topology_request=host)
    scheduler = kq.Scheduler(cluster, now=0)
    scheduler.submit(kq.Workload("w", queue_name="q", pod_sets=(pods,)))
    scheduler.settle()
    return scheduler.explain("w").find("remedy")[0].text


def test_a_taint_is_remedied_by_a_toleration():
    text = placed(taints=(Taint("repair", value="x", effect="NoSchedule"),))
    assert text.endswith("were added to topology t, or the pods tolerated repair=x:NoSchedule (not tried)")


def test_fragments_of_nodes_are_no_missing_quota():
    text = placed()
    assert text.endswith("were added to topology t, or default/on-n1 ended, or default/on-n2 ended (not tried)")


# --- what a workload waits for after its quota is reserved


@pytest.mark.parametrize("state", ["Pending", "Retry"])
def test_the_open_check_is_named_with_its_state(state):
    check = kq.AdmissionCheck("prov", controller_name="kueue.x-k8s.io/provisioning-request")
    scheduler = scheduler_of(check, admission_checks_strategy=(AdmissionCheckStrategyRule("prov"),))
    submitted(scheduler, "w", cpu=1)
    scheduler.set_check("w", "prov", state)
    scheduler.settle()

    text = str(scheduler.explain("w"))
    assert "has quota and is waiting for admission checks" in text
    assert "admission check prov: Pending" in text
    assert ("Previously: Retry" in text) is (state == "Retry")


def test_pods_that_are_not_ready_hold_back_the_next_workload():
    waits = kq.Configuration(wait_for_pods_ready=WaitForPodsReady(timeout=300, block_admission=True))
    scheduler = scheduler_of(configuration=waits)
    submitted(scheduler, "a", "b", cpu=1)

    assert scheduler.explain("b").reason == "WaitingForPodsReady"
    assert "the pods of every admitted workload were ready" in str(scheduler.explain("b"))
    scheduler.pods_ready("a")
    scheduler.settle()
    assert scheduler.explain("b").verdict == "Admitted"


# --- releases


@pytest.mark.parametrize("given", ["v0.18.99", "v0.19.0-rc.1", "main"])
def test_a_release_without_rules_is_refused(given, tmp_path, capsys):
    files = [written(tmp_path, "q.yaml", QUEUES), written(tmp_path, "w.json", workload())]
    assert main(["upgrade", *files, "--from", given, "--to", "v0.19"]) == 1
    assert f"'{given}' has no profile" in capsys.readouterr().err


def test_each_of_two_patch_releases_says_what_it_stands_for(tmp_path, capsys):
    files = [written(tmp_path, "q.yaml", QUEUES), written(tmp_path, "w.json", workload())]
    main(["upgrade", *files, "--from", "v0.18.1", "--to", "v0.18.2"])
    out, err = capsys.readouterr()
    assert "v0.18.1 is decided as v0.18.6" in out + err
    assert "v0.18.1 and v0.18.2: have one profile" in out + err


# --- partial answers


def test_fewer_pods_are_named_by_explain_and_whatif(tmp_path, capsys):
    one = written(tmp_path, "w.json", workload(count=6, minCount=2))
    full, small = (
        written(tmp_path, f"{n}.yaml", QUEUES.replace("nominalQuota: 4", f"nominalQuota: {n}")) for n in (4, 1)
    )

    assert main(["explain", "ml/w", full, one]) == 0
    assert "pod set main, 4 of 6 pods: cpu 4" in capsys.readouterr().out
    assert main(["whatif", small, one, "--set", "ClusterQueue/q:quota[f/cpu].nominalQuota=3"]) == 0
    assert "Admitted (3 of 6 pods; f)" in capsys.readouterr().out


# --- files as people keep them


def test_the_integrations_of_a_config_map_decide_which_jobs_kueue_manages(tmp_path, capsys):
    text = json.dumps(configuration(integrations={"frameworks": ["pod"]}))
    data = {"controller_manager_config.yaml": text}
    config_map = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "kueue-manager-config"}, "data": data}
    labels = {"kueue.x-k8s.io/queue-name": "lq"}
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "a", "namespace": "ml", "labels": labels},
        "spec": {"template": {"spec": {"restartPolicy": "Never", **pods_of()}}},
    }
    files = [QUEUES, config_map, job]
    assert main(["check", *(written(tmp_path, f"{number}.yaml", one) for number, one in enumerate(files))]) == 0
    assert "its kind is not among integrations.frameworks" in capsys.readouterr().out


OPERATED = {
    "integrations": {"frameworks": ["BatchJob", "RayService", "SparkApplication"]},
    "preemption": {"preemptionPolicy": "FairSharing"},
    "workloadManagement": {"labelPolicy": "None"},
    "gangScheduling": {
        "policy": "ByWorkload",
        "byWorkload": {"admission": "Sequential", "timeoutSeconds": 60, "requeuingStrategy": {"retryLimit": 3}},
    },
    "admissionFairSharing": {
        "configuration": "Custom",
        "custom": {"usageHalfLifeTimeSeconds": 90, "resourceWeights": [{"name": "cpu", "weight": "0.5"}]},
    },
    "resources": {"deviceClassMappings": [{"name": "example.com/gpu", "deviceClassNames": ["gpu.example.com"]}]},
}


def operated(config, version="kueue.openshift.io/v1"):
    spec = {"managementState": "Managed", "config": config}
    return {"apiVersion": version, "kind": "Kueue", "metadata": {"name": "cluster"}, "spec": spec}


def test_the_object_of_an_operator_is_a_configuration(tmp_path, capsys):
    path = written(tmp_path, "k.yaml", operated(OPERATED))
    found = kq.load(path).configuration

    assert found.frameworks == ("batch/job", "ray.io/rayservice", "sparkoperator.k8s.io/sparkapplication")
    assert found.feature_gates == {"SparkApplicationIntegration": True}
    assert found.manage_jobs_without_queue_name
    assert found.managed_jobs_namespace_selector.match_labels == {"kueue.openshift.io/managed": "true"}
    assert found.fair_sharing
    wait = found.wait_for_pods_ready
    assert (wait.block_admission, wait.timeout, wait.requeuing_strategy.backoff_limit_count) == (True, 60, 3)
    usage = found.admission_fair_sharing
    assert (usage.usage_half_life_time, usage.resource_weights) == (90, {"cpu": 0.5})
    assert found.resources.device_class_mappings[0].name == "example.com/gpu"
    main(["check", written(tmp_path, "q.yaml", QUEUES), path])
    assert "is read as the Configuration that OpenShift's operator makes of it" in "".join(capsys.readouterr())


def test_an_operator_has_defaults_of_its_own(tmp_path, capsys):
    config = {"integrations": {"frameworks": ["Pod"]}, "gangScheduling": {"policy": "None"}}
    found = kq.load(operated(config | {"admissionFairSharing": {"configuration": "Default"}})).configuration

    assert (found.frameworks, found.wait_for_pods_ready.timeout, found.fair_sharing) == (("pod",), 365 * 86400, None)
    assert found.admission_fair_sharing.usage_half_life_time == 1800
    with pytest.raises(kq.errors.ManifestError, match='"Slurm" is not a framework'):
        kq.load(operated({"integrations": {"frameworks": ["Slurm"]}}))
    preview = written(tmp_path, "k.yaml", operated(config, "operator.openshift.io/v1alpha1"))
    main(["check", written(tmp_path, "q.yaml", QUEUES), preview])
    assert "give the ConfigMap that the operator makes of it" in "".join(capsys.readouterr())


# --- logs as people have them

SACCT = """JobID|User|Account|Submit|Start|End|Elapsed|NNodes|NCPUS|ReqMem|AllocTRES|State
7|ann|a|2026-05-01T08:00:00|2026-05-01T08:00:05|2026-05-01T10:00:05|02:00:00|2|16|4000M|cpu=16,mem=4000M|OUT_OF_MEMORY
7.0|||2026-05-01T08:00:00|2026-05-01T08:00:05|2026-05-01T10:00:05|02:00:00|2|16|||OUT_OF_MEMORY
8|ann|a|2026-05-01T08:00:00|2026-05-01T08:00:05|2026-05-02T08:00:05|1-00:00:00|1|4|1G|cpu=4,mem=1G|NODE_FAIL
9|ann|a|2026-05-01T08:00:00|None|2026-05-01T08:00:05|00:00:00|1|4|1G||CANCELLED
"""


def test_every_end_of_a_slurm_job_is_read(tmp_path):
    jobs = kq.Jobs.read(written(tmp_path, "sacct.txt", SACCT))

    assert [(row["state"], row["runtime"]) for row in jobs.rows()] == [("OUT_OF_MEMORY", 7200), ("NODE_FAIL", 86400)]
    assert jobs.rows()[0]["memory"] == 2000 * 2**20
    assert jobs.notes == (("steps of jobs; left out", 1), ("ended before it started; left out (first: sacct.txt:5)", 1))


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        (
            "events.json",
            json.dumps({"apiVersion": "v1", "kind": "Event", "metadata": {"name": "e"}}),
            "contains no job",
        ),
        (
            "jobs.txt",
            "NAME   QUEUE   RESERVED IN   ADMITTED   AGE\nw      lq      q             True       5m\n",
            "-o yaml",
        ),
    ],
)
def test_what_has_no_requests_names_the_export_that_has_them(name, text, told, tmp_path, capsys):
    assert main(["simulate", written(tmp_path, "q.yaml", QUEUES), "--jobs", written(tmp_path, name, text)]) in {1, 2}
    assert told in capsys.readouterr().err


# --- mistakes that check should see


def test_borrowing_within_the_cohort_has_no_effect_under_fair_sharing(tmp_path, capsys):
    policy = "  cohortName: c\n  preemption: {reclaimWithinCohort: Any, borrowWithinCohort: {policy: LowerPriority}}\n"
    queues = QUEUES.replace("  namespaceSelector: {}\n", f"  namespaceSelector: {{}}\n{policy}")
    fair = configuration(fairSharing={"preemptionStrategies": ["LessThanOrEqualToFinalShare"]})
    assert main(["check", written(tmp_path, "q.yaml", queues), written(tmp_path, "c.json", fair)]) == 3
    assert (
        "borrowWithinCohort: has no effect, because the Configuration enables fair sharing" in capsys.readouterr().out
    )


def test_a_least_count_has_no_effect_without_its_feature_gate(tmp_path, capsys):
    off = configuration(featureGates={"PartialAdmission": False})
    given = {"q.yaml": QUEUES, "w.json": workload(count=6, minCount=2), "c.json": off}
    assert main(["check", *(written(tmp_path, name, one) for name, one in given.items())]) == 3
    assert "is never admitted by q" in capsys.readouterr().out


# --- outcomes of MultiKueue


def fleet_with_a_copy():
    policy = Preemption(within_cluster_queue="LowerPriority")
    cluster = kq.Cluster(kq.ResourceFlavor("f"), kq.ClusterQueue.of("q", {"f": {"cpu": 4}}, preemption=policy))
    fleet = kq.FleetScheduler(kq.Fleet({"a": cluster}))
    submitted(fleet.manager, "w", cpu=4)
    fleet.dispatch()
    fleet["a"].cycle()
    fleet.dispatch()
    (check,) = fleet.manager.workload("w").status.admission_checks
    assert check.state == "Ready"
    return fleet


def test_a_copy_that_its_worker_preempts_is_tried_again():
    fleet = fleet_with_a_copy()
    submitted(fleet["a"], "local", cpu=4, priority=9)
    fleet.dispatch()
    (check,) = fleet.manager.workload("w").status.admission_checks
    assert check.state == "Retry"
    assert 'evicted on worker cluster: "a"' in check.message


def test_a_copy_on_a_lost_worker_is_tried_again_after_the_timeout():
    fleet = fleet_with_a_copy()
    fleet.disconnect("a")
    fleet.dispatch()
    (check,) = fleet.manager.workload("w").status.admission_checks
    assert check.state == "Ready"
    fleet.advance(20 * 60)
    fleet.dispatch()
    (check,) = fleet.manager.workload("w").status.admission_checks
    assert check.state != "Ready"
