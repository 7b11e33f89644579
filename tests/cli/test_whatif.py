"""`whatif`."""

import pytest

import kueuepy as kq


@pytest.fixture
def teams(seeds):
    return seeds / "002" / "two-teams.yaml"


@pytest.fixture
def rows(seeds):
    return seeds / "002" / "jobs.csv"


@pytest.fixture
def larger(teams, tmp_path):
    """Team A with 16 CPUs instead of 8."""
    path = tmp_path / "larger.yaml"
    text = teams.read_text(encoding="utf-8").replace("nominalQuota: 8\n", "nominalQuota: 16\n")
    path.write_text(text, encoding="utf-8")
    return path


def test_a_job_that_fits_would_be_admitted(kueuepy, teams, job):
    ran = kueuepy("whatif", teams, "--job", job("train", pods=2))

    assert ran.code == 0
    assert "admitted: default-flavor (cpu)" in ran.out


def test_a_job_that_would_wait_exits_with_3(kueuepy, teams, rows, job):
    ran = kueuepy("whatif", teams, rows, "--job", job("train", pods=2))
    assert ran.code == 3
    assert "WaitingForQuota: couldn't assign flavors to pod set main" in ran.out

    (answer,) = kueuepy("whatif", "--json", teams, rows, "--job", job("train", pods=2)).json
    assert answer["decision"] == "Pending"


def test_whatif_prints_preempted_workloads(kueuepy, seeds, job):
    cluster = seeds / "002" / "two-teams-reclaim.yaml"
    first = job("first", queue="team-a", pods=16)
    arguments = ("whatif", cluster, first, "--job", job("own", queue="team-b", pods=16))

    ran = kueuepy(*arguments)
    assert ran.code == 3
    assert "preempts: default/job-first-" in ran.out
    assert kueuepy(*arguments, "--preempting").code == 0


def test_the_largest_count(kueuepy, teams, rows, job):
    assert kueuepy("whatif", teams, "--largest", "--job", job())[:2] == (0, "default/job-train-e5b0e: 16 pods\n")
    assert kueuepy("whatif", teams, "--largest", "--json", "--job", job()).json == [
        {"workload": "default/job-train-e5b0e", "largest_count": 16}
    ]
    assert kueuepy("whatif", teams, rows, "--largest", "--job", job())[:2] == (3, "default/job-train-e5b0e: 0 pods\n")


def test_an_edit_shows_changed_decisions(kueuepy, teams, rows, larger):
    ran = kueuepy("whatif", teams, rows, "--edit", larger)

    assert ran.code == 0
    assert "default/a-4" in ran.out
    assert "Admitted (default-flavor)" in ran.out
    assert kueuepy("whatif", teams, rows, "--edit", larger, "--exit-code").code == 3
    found = kueuepy("whatif", "--json", teams, rows, "--edit", larger).json
    assert "default/a-4" in [change["workload"] for change in found["changes"]]
    assert found["beyond_quota"] == []


def test_a_smaller_quota_lists_workloads_to_preempt(kueuepy, teams, rows, tmp_path):
    smaller = tmp_path / "smaller.yaml"
    smaller.write_text(teams.read_text(encoding="utf-8").replace("nominalQuota: 8\n", "nominalQuota: 4\n"))
    ran = kueuepy("whatif", teams, rows, "--edit", smaller)

    assert ran.code == 0
    assert "nothing would change" in ran.out
    assert "to end that, remove at least: default/a-1\n" in ran.out


def test_jobs_may_be_rows(kueuepy, teams, rows):
    ran = kueuepy("whatif", teams, "--job", rows)

    assert ran.code == 0
    assert len(ran.out.splitlines()) == 8


def test_an_edit_without_effect_is_reported(kueuepy, teams, rows):
    ran = kueuepy("whatif", teams, rows, "--edit", teams, "--exit-code")

    assert ran[0] == 0
    assert ran[1].startswith("nothing would change\ndefault/a-4 stays pending: WaitingForQuota: ")


def test_one_question_at_a_time(kueuepy, teams, job):
    assert kueuepy("whatif", teams).code == 2
    for option in (("--edit", teams), ("--exit-code",)):
        ran = kueuepy("whatif", teams, "--job", job(), *option)
        assert (ran.code, ran.err) == (2, f"error: whatif: {option[0]} cannot be combined with --job\n")
    assert "whatif: --largest needs --job" in kueuepy("whatif", teams, "--edit", teams, "--largest").err


@pytest.mark.parametrize("options", [(), ("--replace",)])
def test_an_edit_of_no_object_names_the_existing_ones(kueuepy, teams, tmp_path, options):
    path = tmp_path / "edit.yaml"
    path.write_text("kind: ClusterQueue\nmetadata: {name: team-aa}\nspec: {stopPolicy: Hold}\n")
    told = 'ClusterQueue "team-aa": does not exist, and a new object needs apiVersion; did you mean "team-a"?'
    assert kueuepy("whatif", teams, "--edit", path, *options).err == f"error: {path}:1: {told}\n"


def test_a_file_without_a_job_is_rejected(kueuepy, teams):
    ran = kueuepy("whatif", teams, "--job", teams)

    assert ran.code == 1
    assert "contains no job and no Workload" in ran.err


QUOTA = "ClusterQueue/team-a:quota[default-flavor/cpu].nominalQuota"
PARTIAL = """
apiVersion: kueue.x-k8s.io/{version}
kind: ClusterQueue
metadata: {{name: team-a}}
spec:
  resourceGroups:
  - coveredResources: [cpu]
    flavors: [{{name: default-flavor, resources: [{{name: cpu, nominalQuota: 16{more}}}]}}]
"""


def written(folder, more="", version="v1beta2"):
    path = folder / "partial.yaml"
    path.write_text(PARTIAL.format(more=more, version=version), encoding="utf-8")
    return path


@pytest.mark.parametrize("version", ["v1beta1", "v1beta2"])
def test_a_partial_object_is_merged_as_kubectl_apply_does(kueuepy, teams, rows, tmp_path, version):
    ran = kueuepy("whatif", teams, rows, "--edit", written(tmp_path, version=version))
    assert ran.out == kueuepy("whatif", teams, rows, "--set", f"{QUOTA}=16").out
    assert "Misconfigured" not in ran.out
    assert "partial.yaml:2: ClusterQueue" in ran.err
    for kept in ("spec.cohortName", "spec.namespaceSelector", "[cpu].borrowingLimit", "resources[nvidia.com/gpu]"):
        assert kept in ran.err
    assert "removes spec" not in ran.err


def test_removals_of_an_edit_are_reported(kueuepy, teams, rows, tmp_path):
    ran = kueuepy("whatif", teams, rows, "--edit", written(tmp_path, ", borrowingLimit: null"))
    assert "removes spec.resourceGroups[0].flavors[default-flavor].resources[cpu].borrowingLimit\n" in ran.err
    ran = kueuepy("whatif", teams, rows, "--edit", written(tmp_path), "--replace")
    assert "removes spec.resourceGroups" in ran.err
    assert "spec.cohortName, spec.namespaceSelector; without --replace, they are kept" in ran.err
    assert "Misconfigured" in ran.out


def test_a_field_is_set_by_its_path(kueuepy, teams, rows, larger):
    ran = kueuepy("whatif", teams, rows, "--set", f"{QUOTA}=16")
    assert (ran.code, ran.out) == (0, kueuepy("whatif", teams, rows, "--edit", larger).out)
    ran = kueuepy("whatif", teams, rows, "--set", f"{QUOTA}=16", "--set", f"{QUOTA}=8", "--exit-code")
    assert ran.code == 0
    assert ran.out.startswith("nothing would change\ndefault/a-4 stays pending: WaitingForQuota: ")
    assert "Suspended" in kueuepy("whatif", teams, rows, "--set", "ClusterQueue/*:stopPolicy=Hold").out
    assert kueuepy("whatif", teams, rows, "--set", "Configuration:fairSharing={}").code == 0


@pytest.mark.parametrize(
    ("given", "code", "message"),
    [
        ("ClusterQueue/team-x:stopPolicy=Hold", 1, 'did you mean "team-'),
        ("ClusterQueue/team-a:stopPolicy=Hol", 1, "must be one of"),
        ("ClusterQueue/team-a:stopPolicy", 2, "NAME=VALUE"),
        ("Configuration:fairSharing={x: 1}", 1, "names no field"),
        ("Configuration:version.x=1", 1, "has no field of its own"),
    ],
)
def test_an_invalid_path_is_rejected(kueuepy, teams, given, code, message):
    ran = kueuepy("whatif", teams, "--set", given)
    assert ran.code == code
    assert message in ran.err.replace("\n", " ")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("kind: ClusterQueue\nmetadata: {name: team-a}\nspec: {stopPolicy: Hol}\n", "must be one of"),
        ("kind: ClusterQueue\nmetadata: {name: team-a}\nspec: {stopPolice: Hold}\n", "stopPolice"),
        ("kind: ClusterQueue\nmetadata: {name: team-a}\nspec: 3\n", "spec"),
        ("kind: ClusterQueue\nmetadata: {name: team-a}\nspec: {$patch: drop}\n", "one of delete, replace, merge"),
        ("kind: ClusterQueue\nmetadata: {name: team-a}\n---\n" * 2, "occurs twice"),
    ],
)
def test_an_invalid_edit_is_rejected_with_its_location(kueuepy, teams, tmp_path, text, message):
    path = tmp_path / "edit.yaml"
    path.write_text(text.replace("kind", "apiVersion: kueue.x-k8s.io/v1beta2\nkind"), encoding="utf-8")
    ran = kueuepy("whatif", teams, "--edit", path)
    assert ran.code == 1
    assert f"error: {path}:" in ran.err
    assert message in ran.err


def test_an_edit_without_an_object_of_kueue_is_rejected(kueuepy, teams, tmp_path, job):
    path = tmp_path / "map.yaml"
    path.write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n")
    for file in (path, job()):
        ran = kueuepy("whatif", teams, "--edit", file)
        assert ran.code == 1
        assert "contains no object that affects admission" in ran.err
    assert "use --job to test jobs" in ran.err


@pytest.mark.parametrize("others", [1, 2])
def test_workloads_on_a_node_that_fails_are_named(kueuepy, tmp_path, others):
    """The workload moves if another node is free, and is evicted otherwise, but not before some seconds."""
    flavor = kq.ResourceFlavor("f", node_labels={"pool": "a"}, topology_name="nodes")
    topology = kq.objects.Topology("nodes", levels=["kubernetes.io/hostname"])
    queue = kq.ClusterQueue.of("q", {"f": {"cpu": 16}})
    node = {"labels": {"pool": "a"}, "allocatable": {"cpu": 4, "pods": 10}}
    names = [f"n{number}" for number in range(others + 1)]
    nodes = [kq.Node(name, **{**node, "labels": {"pool": "a", "kubernetes.io/hostname": name}}) for name in names]
    kq.dump(kq.Cluster(topology, flavor, queue, *nodes), tmp_path / "cluster.yaml")
    (tmp_path / "jobs.csv").write_text("name,queue,cpu\nj0,q,4\nj1,q,4\n")
    edit = tmp_path / "edit.yaml"
    edit.write_text(
        "{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {conditions: [{type: Ready, status: 'False'}]}}\n"
    )
    arguments = ("whatif", tmp_path / "cluster.yaml", tmp_path / "jobs.csv", "--edit", edit)
    ran = kueuepy(*arguments)
    assert "node n1 is removed or not ready, with pods of default/j1: Kueue replaces them" in ran.out
    assert ("nothing would change" in ran.out) == (others > 1)
    assert kueuepy(*arguments, "--json").json["remarks"][0].startswith("node n1 is removed")
    scheduler = kq.Scheduler(kq.Cluster(topology, flavor, queue, *nodes))
    scheduler.submit({"name": name, "queue": "q", "cpu": 4} for name in ("j0", "j1"))
    scheduler.settle()
    found = scheduler.whatif(lambda it: it.remove(nodes[1]))
    assert "with pods of default/j1" in str(found)
    assert found.lost == (() if others > 1 else ("default/j1",))
