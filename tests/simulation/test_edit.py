"""Paths into the objects of a cluster: edits, and errors of paths without a match."""

import pytest

import kueuepy as kq

from .conftest import GPU, cluster, queue


@pytest.fixture
def there():
    return cluster(*(queue(f"team-{name}", 8, cohort="all") for name in "abc"))


def quotas(found):
    return [q.resource_groups[0].flavors[0].resources[0] for q in found.cluster_queues]


def test_quotas_of_one_several_and_all_queues(there):
    path = f"quota[f/{GPU}].borrowingLimit"
    assert [q.borrowing_limit for q in quotas(there.edit(f"ClusterQueue/team-a:{path}", 4))] == [4, None, None]
    assert [q.borrowing_limit for q in quotas(there.edit(f"ClusterQueue/team-{{a,c}}:{path}", 4))] == [4, None, 4]
    every = there.edit(f"ClusterQueue/*:{path}", 4)
    assert [q.borrowing_limit for q in quotas(every)] == [4, 4, 4]
    assert quotas(every.edit(f"ClusterQueue/*:{path}", None)) == quotas(there)
    assert [q.nominal_quota for q in quotas(there.edit(f"ClusterQueue/*:quota[f/{GPU}]", 2))] == [2, 2, 2]


def test_fields_of_the_manifest_and_of_the_configuration(there):
    found = there.edit("ClusterQueue/*:preemption.withinClusterQueue", "LowerPriority")
    assert {q.preemption.within_cluster_queue for q in found.cluster_queues} == {"LowerPriority"}
    fair = there.edit("Configuration:fairSharing.preemptionStrategies", ["LessThanOrEqualToFinalShare"])
    assert fair.configuration.fair_sharing.preemption_strategies == ("LessThanOrEqualToFinalShare",)
    assert fair.edit("Configuration:fairSharing", None).configuration == there.configuration


@pytest.mark.parametrize(
    ("path", "error", "told"),
    [
        (
            f"ClusterQueue/team-d:quota[f/{GPU}]",
            kq.errors.NotFoundError,
            '"team-d" names no ClusterQueue; did you mean "team-',
        ),
        ("ClusterQueue/team-a:quota[f/cpu]", kq.errors.NotFoundError, '"f/cpu" names no quota'),
        (
            "ClusterQeue/team-a:cohortName",
            kq.errors.NotFoundError,
            'names no kind in the cluster; did you mean "ClusterQueue"?',
        ),
        ("ClusterQueue/team-a:qouta", kq.errors.NotFoundError, "qouta"),
        ("Configuration:fairShring", kq.errors.NotFoundError, 'did you mean "fairSharing"?'),
        ("team-a", kq.errors.InvalidSpecError, "it must be such as ClusterQueue/team-a"),
        (
            "ClusterQueue/team-a:resourceGroups.flavors",
            kq.errors.InvalidSpecError,
            'what is before "flavors" is a list, of which an item is chosen',
        ),
        ("ClusterQueue/team-a:cohortName.x", kq.errors.InvalidSpecError, 'what is before "x" is not an object'),
    ],
)
def test_a_path_without_a_match_is_rejected(there, path, error, told):
    with pytest.raises(error, match=told.replace("?", r"\?").replace("/", "/")):
        there.edit(path, 1)


def test_policies_side_by_side(there):
    jobs = [{"queue": "team-a", "submit": n, "runtime": 50, "gpu": 4} for n in range(8)]
    policies = {
        "as is": there,
        "alone": there.edit("ClusterQueue/*:cohortName", None),
        "none": cluster(queue("team-a", 4)),
    }
    found = kq.compare(policies, jobs)
    assert [result.kpis.longest_wait for result in found.results.values()] == sorted(
        result.kpis.longest_wait for result in found.results.values()
    )
    assert ["Metric", "Name", "as", "is", "alone", "none"] in [line.split() for line in repr(found).splitlines()]
    assert found.between("as is", "alone").most_delayed()[0].after.waited > 0
    assert found["none"].kpis.finished == 8


def cells(values):
    path = f"quota[f/{GPU}]"
    return {f"ClusterQueue/{name}:{path}.{field}": value for (name, field), value in values.items()}


def test_several_edits_at_once_equal_consecutive_edits(there):
    values = cells({("*", "borrowingLimit"): 4, ("team-a", "borrowingLimit"): 2, ("team-{b,c}", "lendingLimit"): 1})
    values |= {
        "ClusterQueue/*:preemption": {"withinClusterQueue": "Never"},
        "ClusterQueue/team-b:preemption.withinClusterQueue": "LowerPriority",
        "Configuration:fairSharing.preemptionStrategies": ["LessThanInitialShare"],
    }
    stepwise = there
    for path, value in values.items():
        stepwise = stepwise.edit(path, value)
    found = there.edit_all(values)
    assert found == stepwise
    assert [q.borrowing_limit for q in quotas(found)] == [2, 4, 4]
    assert values["ClusterQueue/*:preemption"] == {"withinClusterQueue": "Never"}  # the input is not changed
    assert there.edit_all({}) is there


def test_fields_that_depend_on_each_other_change_together(there):
    limited = there.edit_all(cells({("team-a", "lendingLimit"): 6}))
    values = cells({("team-a", "nominalQuota"): 3, ("team-a", "lendingLimit"): 2})
    with pytest.raises(kq.errors.InvalidSpecError, match="lendingLimit: is 6; it must be at most the nominalQuota, 3"):
        limited.edit(*next(iter(values.items())))
    assert quotas(limited.edit_all(values))[0].nominal_quota == 3


@pytest.mark.parametrize(
    ("values", "told"),
    [
        (
            {"ClusterQueue/*:queueingStrategy": "StrictFIFO", "ClusterQueue/team-b:queueingStrategy": "x"},
            'team-b:queue.*"x"',
        ),
        (
            {"ClusterQueue/*:stopPolicy": 3, "Configuration:fairSharing": None},
            r'"ClusterQueue/\*:stopPolicy": ClusterQueue',
        ),
        (cells({("team-d", "nominalQuota"): 1}), '"team-d" names no ClusterQueue'),
        (cells({("team-b", "nominalQuota"): -1}), 'ClusterQueue "team-b": .*nominalQuota: is -1'),
        ({"ClusterQueue/team-a": 1}, "it must be such as"),
    ],
)
def test_the_invalid_one_of_several_edits_is_named(there, values, told):
    with pytest.raises(kq.KueueError, match=told):
        there.edit_all(values)


def test_the_configuration_cannot_change_during_a_simulation(team):
    event = kq.sim.Event(5, kq.sim.Edit("Configuration:fairSharing", None))
    with pytest.raises(kq.errors.InvalidSpecError, match="the Configuration cannot change while the scheduler runs"):
        kq.simulate(team, [], events=[event])


@pytest.mark.parametrize("path", ["Node/n1:ready", "Node/n1:capacity", "Namespace/default:labels"])
def test_an_edit_of_a_field_outside_of_the_spec_is_an_error(path):
    """Such an edit had no effect."""
    there = kq.Cluster(kq.Node("n1", capacity={"cpu": 1}), kq.objects.Namespace("default"))
    with pytest.raises(kq.errors.NotFoundError, match="is not a field of the spec; apply the changed N"):
        there.edit(path, 5)
    assert there.edit("Node/n1:unschedulable", value=True).nodes[0].unschedulable
