import pytest

import kueuepy as kq
from teams import DEFAULT, queue


def test_each_cluster_queue_gets_a_local_queue_unless_some_are_declared(team):
    assert [(q.key, q.cluster_queue) for q in team.local_queues] == [
        ("default/team-a", "team-a"),
        ("default/team-b", "team-b"),
    ]
    declared = kq.Cluster(DEFAULT, queue("a", 1), queue("b", 1), kq.LocalQueue("door", cluster_queue="a"))
    assert [q.key for q in declared.local_queues] == ["default/door"]


def test_namespaces_of_local_queues_are_added_to_the_declared_ones():
    door = kq.LocalQueue("door", namespace="ml", cluster_queue="a")
    assert [n.name for n in kq.Cluster(DEFAULT, queue("a", 1), door).namespaces] == ["default", "ml"]
    given = kq.Cluster(DEFAULT, queue("a", 1), door, kq.Namespace("ml"))
    assert [n.name for n in given.namespaces] == ["ml", "default"]


def test_objects_can_be_passed_in_lists(team):
    assert (
        kq.Cluster([DEFAULT], [queue("team-a", 9, cohort_name="all"), queue("team-b", 12, cohort_name="all")]) == team
    )


@pytest.mark.parametrize(
    ("objects", "message"),
    [
        (
            (queue("a", 1),),
            '"a": spec.resourceGroups[0].flavors[0].name: "default" names no ResourceFlavor',
        ),
        (
            (DEFAULT, queue("vision", 1), kq.LocalQueue("jobs", namespace="team-a", cluster_queue="visoin")),
            'LocalQueue "team-a/jobs": spec.clusterQueue: "visoin" names no ClusterQueue; did you mean "vision"?',
        ),
        (
            (DEFAULT, queue("a", 1, admission_checks_strategy=[kq.objects.AdmissionCheckStrategyRule("prov")])),
            '"prov" names no AdmissionCheck',
        ),
        ((kq.ResourceFlavor("tas", node_labels={"tas": "yes"}, topology_name="racks"),), '"racks" names no Topology'),
    ],
)
def test_a_dangling_reference_is_rejected_with_its_location(objects, message):
    with pytest.raises(kq.errors.NotFoundError) as caught:
        kq.Cluster(*objects)
    assert message in str(caught.value)
    assert len(kq.Cluster(*objects, names=False).cluster_queues) <= 1


def test_a_dangling_reference_in_a_file_is_reported_with_its_line(tmp_path, team):
    path = tmp_path / "cluster.yaml"
    path.write_text(kq.dump(team).replace("clusterQueue: team-b", "clusterQueue: team-bb"))
    with pytest.raises(
        kq.errors.NotFoundError, match=r'cluster\.yaml:\d+: LocalQueue "default/team-b": spec\.clusterQueue'
    ):
        kq.load(path)


def test_an_invalid_object_is_rejected():
    with pytest.raises(kq.errors.InvalidSpecError, match="nominalQuota"):
        kq.Cluster(DEFAULT, queue("a", -1))


def test_two_objects_with_one_name_are_rejected():
    with pytest.raises(kq.errors.DuplicateError, match='ClusterQueue "a"'):
        kq.Cluster(DEFAULT, queue("a", 1), queue("a", 2))


def test_a_cluster_never_changes(team):
    with pytest.raises(AttributeError, match="immutable"):
        team.configuration = None


def test_dump_and_load_return_an_equal_cluster(team, fair):
    for cluster in (team, fair):
        assert kq.load(kq.dump(cluster)) == cluster


def test_only_declared_namespaces_are_dumped(team):
    assert "kind: Namespace" not in kq.dump(team)
    given = team.replace(kq.Namespace("default", labels={"team": "a"}))
    assert kq.dump(given).count("kind: Namespace\n") == 1
    assert kq.load(kq.dump(given)) == given


def test_replace_changes_one_object_and_keeps_the_rest(team):
    changed = team.replace(queue("team-a", 5, cohort_name="all"), configuration=kq.Configuration())
    assert changed.get(kq.ClusterQueue, "team-a").resource_groups[0].flavors[0].resources[0].nominal_quota == 5
    assert changed.cluster_queues[1] == team.cluster_queues[1]
    assert len(changed.replace(queue("team-c", 1)).local_queues) == 3
    assert [q.name for q in changed.without(team.cluster_queues[0]).cluster_queues] == ["team-b"]


def test_errors_of_get_and_without_name_the_missing_object(team):
    with pytest.raises(kq.errors.NotFoundError, match='ClusterQueue "x"'):
        team.get(kq.ClusterQueue, "x")
    with pytest.raises(kq.errors.NotFoundError, match='Cohort "x"'):
        team.without(kq.Cohort("x"))
