"""Partial objects: `Cluster.patch` and mappings given to `whatif`."""

import pytest

import kueuepy as kq

CELL = "h100/nvidia.com/gpu"


@pytest.fixture
def cluster():
    quota = {"h100": {"nvidia.com/gpu": kq.Quota(8, 4, 2), "cpu": 64}, "spot": {"nvidia.com/gpu": 4, "cpu": 32}}
    queues = [kq.ClusterQueue.of(name, quota, cohort_name="all") for name in "ab"]
    return kq.Cluster([kq.ResourceFlavor("h100"), kq.ResourceFlavor("spot")], queues)


def queue(**spec):
    return {"kind": "ClusterQueue", "metadata": {"name": "a"}, "spec": spec}


def quotas(cluster, name="a"):
    (group,) = cluster.get(kq.ClusterQueue, name).resource_groups
    return {f"{f.name}/{r.name}": r for f in group.flavors for r in f.resources}


def test_fields_absent_from_a_patch_are_unchanged(cluster):
    changed = cluster.patch(queue(stopPolicy="Hold"))
    assert changed == cluster.edit("ClusterQueue/a:stopPolicy", "Hold")
    assert changed.patch(queue(stopPolicy=None)) == cluster


def test_lists_are_merged_by_name(cluster):
    flavors = [{"name": "h100", "resources": [{"name": "nvidia.com/gpu", "nominalQuota": 12, "lendingLimit": None}]}]
    changed = cluster.patch(queue(resourceGroups=[{"flavors": flavors}]))
    assert changed == cluster.edit_all(
        {f"ClusterQueue/a:quota[{CELL}].nominalQuota": 12, f"ClusterQueue/a:quota[{CELL}].lendingLimit": None}
    )
    assert quotas(changed)[CELL].borrowing_limit == 4


def test_items_are_added_and_removed(cluster):
    gone = cluster.patch(queue(resourceGroups=[{"flavors": [{"name": "spot", "$patch": "delete"}]}]))
    assert set(quotas(gone)) == {"h100/nvidia.com/gpu", "h100/cpu"}
    assert set(quotas(gone, "b")) == set(quotas(cluster))
    resources = [{"name": "nvidia.com/gpu", "nominalQuota": 4}, {"name": "cpu", "nominalQuota": 32}]
    item = [{"name": "spot", "resources": resources}]
    assert gone.patch(queue(resourceGroups=[{"coveredResources": ["cpu"], "flavors": item}])) == cluster
    memory = [{"name": name, "resources": [{"name": "memory", "nominalQuota": "1Ti"}]} for name in ("h100", "spot")]
    added = cluster.patch(queue(resourceGroups=[{"coveredResources": ["cpu", "memory"], "flavors": memory}]))
    assert len(quotas(added)) == 6


def test_a_mapping_is_replaced_on_request(cluster):
    base = cluster.patch(queue(namespaceSelector={"matchLabels": {"a": "1"}}))
    both = base.patch(queue(namespaceSelector={"matchLabels": {"b": "2"}}))
    assert both.cluster_queues[0].namespace_selector.match_labels == {"a": "1", "b": "2"}
    one = base.patch(queue(namespaceSelector={"$patch": "replace", "matchLabels": {"b": "2"}}))
    assert one.cluster_queues[0].namespace_selector.match_labels == {"b": "2"}


def test_old_versions_and_namespaces_name_the_same_object(cluster):
    old = {"apiVersion": "kueue.x-k8s.io/v1beta1", **queue(cohort="other")}
    assert cluster.patch(old).cluster_queues[0].cohort_name == "other"
    local = {"kind": "LocalQueue", "metadata": {"name": "a", "namespace": "default"}, "spec": {"stopPolicy": "Hold"}}
    assert cluster.patch(local).local_queues[0].cluster_queue == "a"
    with pytest.raises(kq.KueueError):
        cluster.patch({**local, "metadata": {"name": "a", "namespace": "elsewhere"}})


@pytest.mark.parametrize(
    "doc",
    [
        {},
        {"kind": []},
        {"kind": "ClusterQueue"},
        {"kind": "ClusterQueue", "metadata": 3},
        {**queue(), "spec": []},
        {**queue(), "apiVersion": 3},
        queue(stopPolicy=3),
        queue(cohort="x"),
        queue(resourceGroups=3),
        queue(resourceGroups=[3]),
        queue(resourceGroups=[{"flavors": [3]}]),
        queue(resourceGroups=[{"flavors": {"name": "h100"}}]),
    ],
)
def test_manifests_that_are_not_objects_are_rejected(cluster, doc):
    with pytest.raises(kq.KueueError):
        cluster.patch(doc)
    scheduler = kq.Scheduler(cluster)
    with pytest.raises(kq.KueueError):
        scheduler.whatif(doc or {"x": 1})


def test_whatif_accepts_partial_manifests_and_values_by_path(cluster):
    scheduler = kq.Scheduler(cluster)
    scheduler.submit({"name": "j", "queue": "a", "gpu": 1, "pods": 13})
    wanted = scheduler.whatif(*cluster.edit(f"ClusterQueue/a:quota[{CELL}].nominalQuota", 12).cluster_queues)
    assert len(wanted) == 1
    flavors = [{"name": "h100", "resources": [{"name": "nvidia.com/gpu", "nominalQuota": 12}]}]
    for edit in ({f"ClusterQueue/a:quota[{CELL}].nominalQuota": 12}, queue(resourceGroups=[{"flavors": flavors}])):
        assert scheduler.whatif(edit).changes == wanted.changes
    assert scheduler.whatif({"Workload/default/j:priority": 3}).changes == ()
    assert scheduler.whatif({"Configuration:fairSharing": {}}).after.configuration.fair_sharing is not None
