"""The first releases of Kueue: the same cluster and jobs under early and current rules."""

import pytest

import kueuepy as kq
from kueuepy.cli import main
from kueuepy.cluster.early import EARLY_RULES, as_then
from kueuepy.lab.upgrade import compare_versions

LENDING = "examples/seeds/001/lending-limit.yaml"
PREEMPTION = "examples/seeds/003/team-a-queue.yaml"


def jobs(queue, count, **more):
    return [{"name": f"{queue}-{n}", "queue": queue, "cpu": 1, "duration": 3600, **more} for n in range(count)]


def admitted(cluster, rows):
    scheduler = kq.Scheduler(cluster)
    scheduler.submit(rows)
    scheduler.settle()
    return scheduler.usage.value(rows[0]["queue"], "default-flavor", "cpu") // 1000


def test_in_v0_6_a_lending_limit_needed_a_gate():
    cluster = kq.load(LENDING)
    rows = [{"name": f"a-{n}", "queue": "team-a-cq", "cpu": 1} for n in range(21)]
    assert admitted(cluster, rows) == 10
    assert admitted(as_then(cluster, "v0.6"), rows) == 21
    assert admitted(as_then(cluster, "v0.9"), rows) == 10


def test_in_v0_1_a_lender_waited_for_its_own_quota():
    """In v0.1 no admitted workload was preempted; with today's policies, a lender reclaims its quota."""
    cluster = kq.load("examples/seeds/000/team-ab.yaml")
    reclaiming = cluster.replace(
        *(
            kq.ClusterQueue(
                queue.name,
                cohort_name=queue.cohort_name,
                resource_groups=queue.resource_groups,
                namespace_selector=queue.namespace_selector,
                preemption=kq.Preemption(reclaim_within_cohort="Any"),
            )
            for queue in cluster.cluster_queues
        )
    )
    borrows = jobs("team-a-cq", 21, memory="1Gi")
    wants = [{**row, "submit": 60} for row in jobs("team-b-cq", 3, memory="1Gi")]
    found = compare_versions(reclaiming, [*borrows, *wants], "v0.1", "v0.19")
    assert found.before == "v0.1"
    assert {rule.name for rule in found.early} == {rule.name for rule in EARLY_RULES}
    assert found.changes
    assert {cause for change in found.changes for cause in change.causes} == {"no_preemption"}


@pytest.mark.parametrize("seed", ["000/team-ab", "001/team-ab", "003/team-a-queue"])
def test_without_early_rules_decisions_are_unchanged(seed):
    cluster = kq.load(f"examples/seeds/{seed}.yaml")
    queue = cluster.cluster_queues[0].name
    rows = [{**row, "memory": "1Gi", **({"gpu": 1} if "003" in seed else {})} for row in jobs(queue, 5)]
    assert not compare_versions(cluster, rows, "v0.2", "v0.20-devel").changes


def test_the_command_accepts_the_first_releases(tmp_path, capsys):
    path = tmp_path / "jobs.csv"
    path.write_text("name,queue,cpu,duration\n" + "".join(f"a-{n},team-a-cq,1,60\n" for n in range(21)))
    assert main(["upgrade", LENDING, "--jobs", str(path), "--from", "v0.6", "--to", "v0.19", "--exit-code"]) == 3
    told = capsys.readouterr().out
    assert "all_quota_is_lent" in told
    assert main(["upgrade", LENDING, "--jobs", str(path), "--from", "v0.6", "--to", "latest"]) == 1


@pytest.mark.parametrize("minor", range(1, 15))
def test_every_release_without_a_profile_is_accepted_as_both_arguments(tmp_path, capsys, minor):
    path = tmp_path / "jobs.csv"
    path.write_text("name,queue,cpu,duration\n" + "".join(f"a-{n},team-a-cq,1,60\n" for n in range(21)))
    for before, after in ((f"v0.{minor}", "v0.14"), (f"v0.{minor}.1", "v0.20-devel"), ("v0.15", f"v0.{minor}")):
        code = main(["upgrade", LENDING, "--jobs", str(path), "--from", before, "--to", after, "--exit-code"])
        told = capsys.readouterr().out
        assert code == (3 if minor < 9 else 0)
        assert ("all_quota_is_lent" in told) == (minor < 9)


def test_versions_before_the_first_release_are_rejected(capsys):
    assert main(["upgrade", LENDING, "--jobs", LENDING, "--from", "v0.0", "--to", "v0.19"]) == 1
    assert "has no profile" in (told := capsys.readouterr().err)
    assert told.endswith("kueuepy upgrade also compares v0.1 to v0.14\n")


@pytest.mark.parametrize("version", ["", "latest", 6])
def test_invalid_release_names_are_rejected(version):
    with pytest.raises(kq.errors.InvalidSpecError, match="it must be a release"):
        as_then(kq.load(LENDING), version)


def test_a_duration_that_a_release_reads_differently_is_shown_in_seconds(tmp_path, capsys):
    path = tmp_path / "configuration.yaml"
    path.write_text("apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n")
    files = ["examples/seeds/002/two-teams.yaml", str(path)]
    assert main(["upgrade", *files, "--jobs", "examples/seeds/002/jobs.csv", "--from", "v0.18", "--to", "v0.20"]) == 0
    assert 'Configuration: wait_for_pods_ready: is read as {"timeout":1800.0,' in capsys.readouterr().out.replace(
        "\n", ""
    )


def test_a_patch_release_is_told_apart_from_the_one_whose_profile_is_used(tmp_path, capsys):
    path = tmp_path / "jobs.csv"
    path.write_text("queue,submit,runtime,cpu\n", "utf-8")
    arguments = ["upgrade", LENDING, "--jobs", str(path)]

    assert main([*arguments, "--from", "v0.18.4", "--to", "v0.18.6"]) == 1
    told = "v0.18.4 is decided as v0.18.6, without the rules that changed since: flavors_without_candidates_compete"
    assert f"v0.18.4 and v0.18.6: have one profile, so their decisions would not differ: {told}" in " ".join(
        capsys.readouterr().err.split()
    )
    assert main([*arguments, "--from", "v0.18.4", "--to", "v0.19"]) == 4
    assert capsys.readouterr().out.startswith(f"not modelled: Configuration: version: {told} (v0.18.5)")
    assert main([*arguments, "--from", "v0.17", "--to", "v0.18"]) == 0
