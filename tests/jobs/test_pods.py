"""Pods, pod groups, and kinds that create pods."""

import copy

import pytest

from kueuepy.errors import InvalidSpecError
from kueuepy.jobs import adapter_for, apply_patch, start_patch, stop_patch, suspend, to_workload, to_workloads
from kueuepy.jobs.integrations.pod import role_hash
from kueuepy.objects import Configuration, PodSetAssignment, ReclaimablePod

PREFIX = "kueue.x-k8s.io/"
TOTAL = f"{PREFIX}pod-group-total-count"
ADMISSION, TOPOLOGY = {"name": f"{PREFIX}admission"}, {"name": f"{PREFIX}topology"}


@pytest.fixture
def pod(example):
    return example("pod")


@pytest.fixture
def group(example):
    """The group of the example, with changes to the metadata, spec and status of each pod."""

    def make(*changes):
        manifest = copy.deepcopy(example("podgroup"))
        for item, change in zip(manifest["items"], changes, strict=False):
            for path, value in change.items():
                section, _, key = path.partition(".")
                if value is None:
                    del item[section][key]
                else:
                    item.setdefault(section, {})[key] = value
        return manifest

    return make


def test_a_pod_is_suspended_by_scheduling_gates_and_labels(pod):
    held = suspend(pod)
    assert held["spec"]["schedulingGates"] == [ADMISSION, TOPOLOGY]
    assert held["metadata"]["labels"][f"{PREFIX}managed"] == "true"
    assert held["metadata"]["finalizers"] == [f"{PREFIX}managed"]
    assert held["metadata"]["annotations"] == {f"{PREFIX}role-hash": role_hash(pod["spec"])}
    no_topology = Configuration(feature_gates={"TopologyAwareScheduling": False})
    assert suspend(pod, config=no_topology)["spec"]["schedulingGates"] == [ADMISSION]


def test_the_pod_set_of_a_pod_is_its_spec_alone(pod):
    (pod_set,) = to_workload(pod).pod_sets
    assert list(pod_set.template) == ["spec"]
    assert pod_set.topology_request == {"podIndexLabel": f"{PREFIX}pod-group-pod-index"}


def test_the_topology_gate_is_kept_until_a_domain_is_assigned(pod, admit, flavors):
    held = suspend(pod)
    place = {"levels": ["rack"], "slices": []}
    placed = (PodSetAssignment("main", flavors={"cpu": "spot"}, topology_assignment=place),)
    workload = admit(to_workload(pod), assignments=placed)
    started = apply_patch(held, start_patch(held, workload, flavors))
    assert started["spec"]["schedulingGates"] == [TOPOLOGY]
    annotations = started["metadata"]["annotations"]
    assert annotations[f"{PREFIX}podset-unconstrained-topology"] == "true"


def test_a_waiting_or_finished_pod_is_not_deleted(pod, admit, flavors):
    held, workload = suspend(pod), to_workload(pod)
    assert stop_patch(held, workload) == {}
    started = apply_patch(held, start_patch(held, admit(workload), flavors))
    assert stop_patch(started, workload) is None
    assert stop_patch(started | {"status": {"phase": "Failed"}}, workload) == {}
    assert start_patch(started, admit(workload), flavors) == {}


def test_the_status_of_a_pod(pod):
    assert adapter_for(pod | {"status": {"phase": "Succeeded", "message": "m"}}).finished() == ("m", True)
    assert adapter_for(pod | {"status": {"phase": "Failed"}}).finished() == ("", False)
    assert adapter_for(pod | {"status": {"phase": "Running"}}).finished() is None
    ready = {"conditions": [{"type": "Ready", "status": "True"}]}
    assert adapter_for(pod | {"status": ready}).pods_ready()


@pytest.mark.parametrize(
    ("labels", "annotations", "problem"),
    [
        ({f"{PREFIX}managed": "no"}, {}, 'is "no"; it must be "true"'),
        ({f"{PREFIX}pod-group-name": "g"}, {}, "go together; give both or none"),
        ({}, {TOTAL: "2"}, "go together; give both or none"),
        ({}, {f"{PREFIX}pod-group-name": "G!", TOTAL: "1"}, '"G!" must be a DNS subdomain'),
        (
            {f"{PREFIX}prebuilt-workload-name": "other"},
            {f"{PREFIX}pod-group-name": "g", TOTAL: "1"},
            'the prebuilt workload "other" must be the group, "g"',
        ),
    ],
)
def test_invalid_pods_are_rejected(pod, labels, annotations, problem):
    pod["metadata"]["labels"] |= labels
    pod["metadata"]["annotations"] = annotations
    with pytest.raises(InvalidSpecError, match=problem):
        adapter_for(pod).validate()


def test_an_incomplete_pod_group_has_no_workload(group):
    manifest = group()
    manifest["items"].pop()
    with pytest.raises(InvalidSpecError, match="has 2 runnable pods; it must have 3"):
        to_workload(manifest)
    with pytest.raises(InvalidSpecError, match="has 2 runnable pods"):
        to_workload(group({}, {}, {"status.phase": "Failed"}))
    with pytest.raises(InvalidSpecError, match="has 2 runnable pods"):
        to_workload(group({"metadata.deletionTimestamp": "2024-05-01T12:00:00Z"}))
    assert to_workload(group({"status.phase": "Succeeded"})).name == "train"


def test_the_pods_of_a_group_agree(group):
    other = {f"{PREFIX}queue-name": "other", f"{PREFIX}pod-group-name": "train"}
    with pytest.raises(InvalidSpecError, match='have different queue names, "training" and "other"'):
        to_workload(group({}, {"metadata.labels": other}))
    with pytest.raises(InvalidSpecError, match="say that the group has 3 and 4 pods"):
        to_workload(group({}, {"metadata.annotations": {TOTAL: "4"}}))
    with pytest.raises(InvalidSpecError, match="it must be greater than 0"):
        to_workload(group({"metadata.annotations": {TOTAL: "0"}}))


def test_a_list_must_contain_pods_of_one_group(group, pod):
    manifest = group()
    manifest["items"].append(pod)
    with pytest.raises(InvalidSpecError, match="must have the pods of one group"):
        adapter_for(manifest)
    assert [len(w.pod_sets) for w in to_workloads([manifest])] == [2, 1]
    with pytest.raises(InvalidSpecError, match="has no pods"):
        adapter_for({"apiVersion": "v1", "kind": "List", "items": []})


def test_a_fast_admission_group_is_queued_with_its_first_pod(group):
    fast = {TOTAL: "3", f"{PREFIX}pod-group-fast-admission": "true"}
    manifest = group({"metadata.annotations": fast})
    manifest["items"] = manifest["items"][:1]
    assert [(p.name, p.count) for p in to_workload(manifest).pod_sets] == [("dc85db45", 3)]


def test_with_excess_pods_running_and_older_pods_are_kept(group):
    manifest = group(*[{"metadata.annotations": {TOTAL: "2"}}] * 3)
    for item, minute, gates in zip(manifest["items"], (1, 3, 2), ([ADMISSION], [], []), strict=True):
        item["metadata"]["creationTimestamp"] = f"2024-05-01T12:0{minute}:00Z"
        item["spec"]["schedulingGates"] = gates
    members = adapter_for(manifest).members()
    assert [member.name for member in members] == ["train-worker-1", "train-worker-0"]


def test_each_pod_of_a_group_gets_the_assignment_of_its_role(group, admit, flavors):
    manifest = group()
    held, workload = suspend(manifest), to_workload(manifest)
    places = tuple(
        PodSetAssignment(pod_set.name, flavors={"cpu": flavor})
        for pod_set, flavor in zip(workload.pod_sets, ("spot", "on-demand"), strict=True)
    )
    started = apply_patch(held, start_patch(held, admit(workload, assignments=places), flavors))
    selectors = [item["spec"]["nodeSelector"]["instance-type"] for item in started["items"]]
    assert selectors == ["ondemand", "spot", "spot"]
    changed = suspend(group({}, {"metadata.annotations": {TOTAL: "3", f"{PREFIX}role-hash": "other"}}))
    with pytest.raises(
        InvalidSpecError, match='its role "other" is not admitted; it must be one of 4ebdd4a6, dc85db45'
    ):
        start_patch(changed, admit(workload, assignments=places), flavors)


def test_pods_of_a_group_that_succeeded_are_reclaimable(group):
    done = {"status.phase": "Succeeded"}
    assert adapter_for(group(done, done)).reclaimable_pods() == (
        ReclaimablePod("dc85db45", 1),
        ReclaimablePod("4ebdd4a6", 1),
    )
    serving = {"metadata.annotations": {TOTAL: "3", f"{PREFIX}pod-group-serving": "true"}} | done
    assert adapter_for(group(serving)).reclaimable_pods() == ()


def test_a_group_finishes_when_all_pods_succeeded_or_cannot_be_replaced(group):
    done, failed = {"status.phase": "Succeeded"}, {"status.phase": "Failed"}
    assert adapter_for(group(done, done, done)).finished() == ("Pods succeeded: 3/3.", True)
    assert adapter_for(group(done, done, failed)).finished() is None
    last = failed | {"metadata.annotations": {TOTAL: "3", f"{PREFIX}retriable-in-group": "false"}}
    assert adapter_for(group(done, done, last)).finished() == ("Pods succeeded: 2/3.", True)
    assert adapter_for(group(done, {}, last)).finished() is None


def test_a_group_is_ready_when_all_its_pods_are(group):
    ready = {"status.conditions": [{"type": "Ready", "status": "True"}]}
    assert adapter_for(group(ready, ready, ready)).pods_ready()
    assert not adapter_for(group(ready, ready)).pods_ready()


def test_pod_indexes_come_from_the_named_label(pod):
    pod["metadata"]["annotations"] = {f"{PREFIX}pod-group-pod-index-label": "index"}
    pod["metadata"]["labels"]["index"] = "4"
    assert suspend(pod)["metadata"]["labels"][f"{PREFIX}pod-group-pod-index"] == "4"


def test_each_pod_of_a_deployment_has_its_own_workload(example, workloads):
    held = suspend(example("deployment"))["spec"]["template"]["metadata"]
    assert held["labels"] == {"app": "web", f"{PREFIX}managed": "true", f"{PREFIX}queue-name": "serving"}
    assert held["annotations"] == {f"{PREFIX}pod-suspending-parent": "deployment"}
    assert [w.name.rpartition("-")[0] for w in workloads("deployment")] == ["pod-web-0", "pod-web-1", "pod-web-2"]
    assert workloads("deployment")[0].pod_sets[0].template["spec"]["schedulingGates"] == [ADMISSION, TOPOLOGY]


def test_a_stateful_set_is_one_group_of_pods(example):
    manifest = example("statefulset")
    manifest["metadata"]["uid"] = "u5"
    workload = to_workload(manifest)
    assert workload.annotations == {
        f"{PREFIX}is-group-workload": "true",
        f"{PREFIX}job-owner-gvk": "apps/v1, Kind=StatefulSet",
        f"{PREFIX}job-owner-name": "store",
    }
    assert workload.labels == {f"{PREFIX}job-uid": "u5"}
    assert workload.pod_sets[0].topology_request == {"podIndexLabel": "apps.kubernetes.io/pod-index"}
    assert list(workload.pod_sets[0].template) == ["spec"]
    assert [(p.name, p.count) for p in workload.pod_sets] == [("main", 3)]


def test_a_stateful_set_without_replicas_waits(example):
    manifest = example("statefulset")
    assert not adapter_for(manifest).on_hold()
    manifest["spec"]["replicas"] = 0
    assert adapter_for(manifest).on_hold()
    assert to_workloads([manifest]) == ()


def test_a_stateful_set_owned_by_another_kind_is_ignored(example):
    manifest = example("statefulset")
    annotations = {f"{PREFIX}pod-suspending-parent": "leaderworkerset"}
    manifest["spec"]["template"]["metadata"]["annotations"] = annotations
    assert to_workloads([manifest]) == ()


def test_each_replica_of_a_leader_worker_set_is_a_workload(example):
    manifest = example("leaderworkerset")
    manifest["metadata"]["uid"] = "u3"
    first, second = to_workloads([manifest])
    assert first.annotations[f"{PREFIX}component-workload-index"] == "0"
    assert second.annotations[f"{PREFIX}component-workload-index"] == "1"
    leader, worker = first.pod_sets
    assert leader.topology_request is None
    assert worker.topology_request == {"podIndexLabel": "leaderworkerset.sigs.k8s.io/worker-index"}
    assert worker.template["metadata"]["annotations"][f"{PREFIX}pod-index-offset"] == "1"
    assert {p.name: p.count for p in second.pod_sets} == {"leader": 1, "worker": 4}


def test_a_leader_worker_set_without_a_leader_is_one_pod_set(example):
    manifest = example("leaderworkerset")
    template = manifest["spec"]["leaderWorkerTemplate"]
    del template["leaderTemplate"]
    template["size"] = 3
    manifest["spec"]["replicas"] = 1
    own = {"leaderworkerset.sigs.k8s.io/size": "3", "leaderworkerset.sigs.k8s.io/name": "llm"}
    template["workerTemplate"]["metadata"] = {"annotations": own}
    (pod_set,) = to_workload(manifest).pod_sets
    assert (pod_set.name, pod_set.count) == ("main", 3)
    kept = [key for key in pod_set.template["metadata"]["annotations"] if key in own]
    assert kept == ["leaderworkerset.sigs.k8s.io/name"]


def test_a_surge_has_more_replicas_for_a_while(example):
    manifest = example("leaderworkerset")
    manifest["spec"]["rolloutStrategy"] = {"rollingUpdateConfiguration": {"maxSurge": 1}}
    manifest["status"] = {"replicas": 3, "updatedReplicas": 1}
    assert len(to_workloads([manifest])) == 3
    manifest["status"]["updatedReplicas"] = 2
    assert len(to_workloads([manifest])) == 2
    manifest["spec"]["replicas"] = 1_000_001
    with pytest.raises(InvalidSpecError, match="it must be at most 1000000"):
        adapter_for(manifest).validate()


@pytest.mark.parametrize(
    ("spec", "same"),
    [
        ({"containers": [{"name": "other", "resources": {"requests": {"cpu": "1000m"}}}]}, True),
        ({"containers": [{"image": "i", "resources": {"requests": {"cpu": 1}, "limits": {"cpu": 2}}}]}, True),
        ({"containers": [{"resources": {"requests": {"cpu": "2"}}}]}, False),
        ({"containers": [{"resources": {"requests": {"cpu": "1"}}}], "nodeSelector": {"a": "b"}}, False),
        ({"containers": [{"resources": {"requests": {"cpu": "1"}}}], "nodeSelector": {}, "tolerations": []}, True),
        ({"containers": [{"resources": {"requests": {"cpu": "1"}}}], "resources": {}}, False),
        ({"containers": [{"resources": {"requests": {"cpu": "1"}}}], "priority": 0}, False),
    ],
)
def test_a_role_is_derived_from_the_pod_spec(spec, same):
    assert (role_hash(spec) == "dc85db45") is same


def test_the_role_of_a_spec_does_not_depend_on_the_order_of_its_fields():
    term = {"labelSelector": {"matchLabels": {"b": "<1>", "a": "2"}}, "topologyKey": "zone"}
    again = {"topologyKey": "zone", "labelSelector": {"matchLabels": {"a": "2", "b": "<1>"}}}
    first, second = (
        {"affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [t]}}} for t in (term, again)
    )
    assert role_hash(first) == role_hash(second) != role_hash({})


def test_a_serving_group_never_finishes(group):
    serving = {TOTAL: "3", f"{PREFIX}pod-group-serving": "true"}
    done = {"status.phase": "Succeeded", "metadata.annotations": serving}
    manifest = group(done, done, done)
    assert adapter_for(manifest).finished() is None
    assert adapter_for(manifest).is_suspended()


def test_gated_pods_of_a_group_are_kept_when_the_others_are_deleted(group, admit, flavors):
    held, workload = suspend(group()), to_workload(group())
    started = apply_patch(held, start_patch(held, admit(workload), flavors))
    mixed = started | {"items": [*started["items"][:2], held["items"][2]]}
    assert stop_patch(mixed, workload) == {"items": [held["items"][2]]}


@pytest.mark.parametrize("index", ["3", "-1", "x"])
def test_a_pod_index_is_less_than_the_group_size(group, index):
    manifest = group()
    manifest["items"][0]["metadata"]["labels"] |= {f"{PREFIX}pod-group-pod-index": index}
    with pytest.raises(InvalidSpecError, match="it must be a whole number less than 3"):
        to_workload(manifest)


def test_a_pod_of_a_group_must_have_the_group_size(group):
    manifest = group()
    del manifest["items"][1]["metadata"]["annotations"]
    with pytest.raises(InvalidSpecError, match="go together; give both or none"):
        to_workload(manifest)
    with pytest.raises(InvalidSpecError, match=r"has no .*pod-group-total-count"):
        adapter_for(group({"metadata.annotations": None})).pods_ready()
