"""Jobs on racks and on labelled nodes, described by columns instead of Workloads of their own."""

import numpy as np
import pytest

import kueuepy as kq

from .conftest import GPU

RACKS = kq.Topology("racks", levels=["block", "rack", kq.objects.HOSTNAME_LABEL])
REQUESTS = ["required:rack", "preferred:rack", "unconstrained", "required:block", None]


@pytest.fixture
def centre():
    """Two blocks of two racks with two hosts of 4 GPUs."""
    hosts = kq.objects.nodes(RACKS, (2, 2, 2), labels={"gpu": "h100"}, capacity={"cpu": 96, GPU: 4})
    flavor = kq.ResourceFlavor("h100", node_labels={"gpu": "h100"}, topology_name="racks")
    return kq.Cluster(RACKS, flavor, kq.ClusterQueue.of("q", {"h100": {GPU: 32}}), hosts)


def request_of(text):
    kind, _, level = (text or "").partition(":")
    return {kind: level or True} if kind else None


def test_a_column_of_topology_requests_equals_workloads_of_their_own(centre):
    chance = np.random.default_rng(5)
    n = 60
    pods, gpus = chance.integers(1, 9, n).tolist(), chance.integers(1, 5, n).tolist()
    runtimes, topology = chance.integers(1, 500, n).tolist(), [REQUESTS[n] for n in chance.integers(0, 5, n)]
    columns = {"queue": ["q"] * n, "submit": [0] * n, "runtime": runtimes, "pods": pods, GPU: gpus}
    made = [
        kq.Workload(
            f"j{row:07d}",
            queue_name="q",
            pod_sets=(kq.PodSet.of("main", count, requests={GPU: each}, topology_request=request_of(text)),),
        )
        for row, (count, each, text) in enumerate(zip(pods, gpus, topology, strict=True))
    ]
    found = kq.simulate(centre, kq.Jobs({**columns, "topology": topology})).jobs
    expected = kq.simulate(centre, kq.Jobs.from_manifests(made, runtimes)).jobs
    for name in ("first_start", "end", "evictions", "flavor"):
        assert found[name].tolist() == pytest.approx(expected[name].tolist(), nan_ok=True), name
    without = kq.simulate(centre, kq.Jobs(columns)).jobs
    assert without["first_start"].tolist() != found["first_start"].tolist()


def test_a_column_of_node_labels_selects_the_flavor():
    flavors = [kq.ResourceFlavor(name, node_labels={"disk": name}) for name in ("hdd", "ssd")]
    queue = kq.ClusterQueue.of("q", {"hdd": {"cpu": 4}, "ssd": {"cpu": 4}})
    columns = {"queue": ["q"] * 3, "submit": [0] * 3, "runtime": [60] * 3, "cpu": [1] * 3}
    jobs = kq.Jobs({**columns, "node_selector": ["disk=ssd", None, "disk=ssd,zone=a"]})
    assert kq.simulate(kq.Cluster(*flavors, queue), jobs).jobs["flavor"].tolist() == ["ssd", "hdd", "ssd"]


@pytest.mark.parametrize(
    ("labels", "told"),
    [
        ({"disk": "ssd"}, "tell it from big"),
        ({"disk": "ssd", "zone": "a"}, "tell it from big"),
        ({}, "tell it from others"),
    ],
)
def test_a_flavor_that_its_labels_do_not_select_is_an_error(labels, told):
    flavors = [kq.ResourceFlavor("one", node_labels=labels)]
    flavors += [kq.ResourceFlavor("big", node_labels={"disk": "ssd", "zone": "a"})] if labels else []
    cluster = kq.Cluster(*flavors, kq.ClusterQueue.of("q", {one.name: {"cpu": 4} for one in flavors}))
    with pytest.raises(kq.errors.InvalidSpecError, match=f'"one" has no nodeLabels that {told}'):
        kq.simulate(cluster, [{"queue": "q", "runtime": 1, "flavor": "one"}])


@pytest.mark.parametrize(
    ("column", "value", "allowed"),
    [
        ("topology", "rack", "required:LABEL, preferred:LABEL or unconstrained"),
        ("topology", "required:", "required:LABEL"),
        ("node_selector", "ssd", "node labels such as disk=ssd,zone=a"),
        ("node_selector", "a=b,,c=d", "node labels"),
    ],
)
def test_errors_of_these_columns_name_the_row(column, value, allowed):
    with pytest.raises(
        kq.errors.InvalidSpecError, match=f"row 1, column \"{column}\": '{value}'; it must be {allowed}"
    ):
        kq.Jobs({"queue": ["q"] * 2, "submit": [0] * 2, "runtime": [1] * 2, column: [None, value]})
