"""Remedies of explanations: after the changes of a remedy, the workload fits."""

from itertools import product

import msgspec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import kueuepy as kq
from kueuepy.objects import Pod
from kueuepy.testing.strategies import clusters, workloads

_TAINT = kq.Taint("team", "ml", "NoSchedule")


@st.composite
def _histories(draw):
    """Clusters of every kind with taints and some history."""
    cluster = draw(clusters())
    tainted = [
        msgspec.structs.replace(one, node_taints=(_TAINT,) if draw(st.booleans()) else ())
        for one in cluster.resource_flavors
    ]
    scheduler = kq.Scheduler(cluster.replace(*tainted), now=0)
    for workload in draw(workloads(cluster, min_size=1, max_size=8, prefix="w")):
        scheduler.advance(1)
        scheduler.submit(workload)
        if draw(st.booleans()):
            scheduler.settle(max_cycles=3)
    return scheduler


def _more(quota, limit, amount):
    """Return a quota whose nominal quota or borrowing limit is larger by an amount in base units."""

    def grown(value, by):
        return (
            None
            if value is None
            else f"{kq.Quantity(value).request(quota.name) + by}{'m' if quota.name == 'cpu' else ''}"
        )

    nominal, borrowing = (amount, 0) if limit == "quota" else (0, amount)
    return kq.ResourceQuota(
        quota.name,
        grown(quota.nominal_quota, nominal),
        grown(quota.borrowing_limit, borrowing),
        grown(quota.lending_limit, 0),
    )


def _increase(trial, flavor, one):
    """Increase a quota or a limit of a ClusterQueue or Cohort; a Cohort without quota of the flavor gets one."""
    objects = {obj.name: obj for obj in (*trial.cluster.cohorts, *trial.cluster.cluster_queues)}
    obj = objects.get(one["node"]) or kq.Cohort(one["node"])
    groups = obj.resource_groups or (kq.ResourceGroup(("cpu", "memory"), ()),)
    (group,) = groups
    rows = list(group.flavors)
    if flavor not in [row.name for row in rows]:
        rows.append(kq.FlavorQuotas(flavor, tuple(kq.ResourceQuota(name, 0) for name in group.covered_resources)))
    rows = [
        kq.FlavorQuotas(
            row.name,
            tuple(
                _more(quota, one["limit"], one["amount"])
                if (row.name, quota.name) == (flavor, one["resource"])
                else quota
                for quota in row.resources
            ),
        )
        for row in rows
    ]
    trial.apply(msgspec.structs.replace(obj, resource_groups=(kq.ResourceGroup(group.covered_resources, tuple(rows)),)))


def _tolerating(workload, taints):
    """Return the workload as it would be submitted with pods that tolerate taints."""
    tolerations = [{"key": key, "operator": "Equal", "value": value, "effect": effect} for key, value, effect in taints]
    pod_sets = tuple(
        msgspec.structs.replace(one, template={"spec": {**one.template["spec"], "tolerations": tolerations}})
        for one in workload.pod_sets
    )
    return msgspec.structs.replace(workload, pod_sets=pod_sets, status=None)


@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(_histories())
def test_complete_remedies_make_the_workload_fit(scheduler):
    for key in scheduler.keys():  # noqa: SIM118 - a Scheduler is not a mapping
        told = scheduler.explain(key)
        for ways in told.find("remedies"):
            parts = [part.causes for part in ways.causes if part.kind == "remedy_for"] or [ways.causes]
            for chosen in product(*parts):
                if not all(remedy.facts.get("complete") for remedy in chosen):
                    continue
                trial = scheduler.fork()
                for remedy in chosen:
                    assert "not tried" not in remedy.text
                    for one in remedy.facts["increases"]:
                        _increase(trial, remedy.facts["flavor"], one)
                workload = _tolerating(trial.workload(key), [t for r in chosen for t in r.facts["tolerations"]])
                trial.delete(key)
                assert isinstance(decision := trial.try_admit(workload), kq.Admitted), (told, chosen, decision)


_LEVELS = ("rack", "kubernetes.io/hostname")


def _node(name, rack, gpus, **fields):
    labels = {"pool": "p", "rack": rack, _LEVELS[1]: name}
    return kq.Node(name, labels=labels, allocatable={"gpu": gpus, "pods": 99}, **fields)


@st.composite
def _racks(draw):
    """Racks with nodes, some of them cordoned or used by pods that Kueue does not manage, and workloads."""
    nodes = [
        _node(f"n{rack}{i}", f"r{rack}", draw(st.integers(0, 4)), unschedulable=draw(st.booleans()) and i > 0)
        for rack in range(draw(st.integers(1, 3)))
        for i in range(draw(st.integers(1, 3)))
    ]
    pods = [Pod.of(f"p{node.name}", node.name, requests={"gpu": 1}) for node in nodes if draw(st.booleans())]
    cluster = kq.Cluster(
        kq.ResourceFlavor("f", node_labels={"pool": "p"}, topology_name="t"),
        kq.Topology("t", levels=_LEVELS),
        kq.ClusterQueue.of("q", {"f": {"gpu": 999}}),
        nodes,
        pods,
    )
    scheduler = kq.Scheduler(cluster, now=0)
    requests = st.sampled_from(
        [*map(kq.objects.required, _LEVELS), kq.objects.preferred("rack"), kq.objects.unconstrained()]
    )
    for i in range(draw(st.integers(1, 5))):
        count, gpus = draw(st.integers(1, 6)), draw(st.integers(1, 3))
        pod_set = kq.PodSet.of(count=count, requests={"gpu": gpus}, topology_request=draw(requests))
        scheduler.submit(kq.Workload(f"w{i}", queue_name="q", pod_sets=(pod_set,)))
        scheduler.settle()
    return scheduler


@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(_racks())
def test_workloads_fit_after_others_finish_and_after_nodes_are_added(scheduler):
    for row in scheduler.queues.rows():
        workload = scheduler.workload(row["key"])
        gpus = int(workload.pod_sets[0].template["spec"]["containers"][0]["resources"]["requests"]["gpu"])
        for remedy in scheduler.explain(row["key"]).find("remedy"):
            for key in remedy.facts["finish"]:
                trial = scheduler.fork()
                trial.finish(key)
                assert isinstance(trial.try_admit(row["key"]), kq.Admitted), (remedy, key)
            if (nodes := remedy.facts["nodes"]) is not None:
                trial = scheduler.fork()
                rack = (*nodes["domain"], "new")[0]
                trial.apply(*(_node(f"new{i}", rack, nodes["pods"] * gpus) for i in range(nodes["count"])))
                assert isinstance(trial.try_admit(row["key"]), kq.Admitted), remedy
