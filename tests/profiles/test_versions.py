"""A release of Kueue is selected once and applies to clusters, files, saved states and commands."""

import json

import pytest

import kueuepy as kq
import perf
import replay
from kueuepy.cli import main
from kueuepy.platform.importer import import_cluster
from kueuepy.platform.metrics import Watch
from kueuepy.profiles import DEFAULTS, RELEASES, release_of, rules_of
from stories import scenario, workload

TEAMS = "examples/seeds/002/two-teams.yaml"
JOBS = "examples/seeds/002/jobs.csv"


def cluster(version=None):
    queue = kq.ClusterQueue.of("team", {"default": {"cpu": 9}})
    return kq.Cluster(kq.ResourceFlavor("default"), queue, version=version)


def reason_of(scheduler):
    scheduler.submit({"name": "big", "queue": "team", "cpu": 10})
    scheduler.settle()
    return scheduler.workload("big").status.conditions[0].reason


@pytest.mark.parametrize("named", ["v0.17", "0.17", "v0.17.2", "v0.17.8"])
def test_a_patch_release_uses_the_profile_of_its_minor_release(named):
    found = cluster(named).configuration
    assert (found.release.name, found.rules) == ("v0.17", cluster("v0.17").configuration.rules)


def test_an_older_patch_release_is_not_modelled_where_its_rules_differ():
    left_out = kq.fidelity("v0.17.2").left_out["v0.17.2"]
    assert left_out.startswith("is decided as v0.17.8, without the rules that changed since: label_keys_of_whole_group")
    assert kq.Scheduler(cluster("0.17.2")).not_modelled == (f"Configuration: version: v0.17.2 {left_out}",)
    assert kq.Scheduler(cluster("v0.17.8")).not_modelled == ()


@pytest.mark.parametrize("named", ["v0.14", "v1.0", "latest", "", 18])
def test_an_unknown_release_is_rejected_with_the_known_ones(named):
    with pytest.raises(kq.errors.InvalidSpecError, match=r"has no profile; it must be one of v0\.15, .*v0\.20-devel"):
        cluster(named)


def test_a_configuration_with_an_unknown_release_is_not_valid():
    with pytest.raises(kq.errors.InvalidSpecError, match=r"'v0\.9' has no profile"):
        kq.Cluster(configuration=kq.Configuration(version="v0.9"))


def test_forks_and_saved_states_keep_the_release(tmp_path):
    scheduler = kq.Scheduler(cluster("v0.19"))
    scheduler.save(tmp_path / "state")
    loaded = kq.Scheduler.load(tmp_path / "state")
    assert loaded.configuration.version == "v0.19"
    assert reason_of(loaded) == reason_of(scheduler.fork()) == "Pending"
    assert reason_of(kq.Scheduler(cluster())) == "ExceedsMaxQuota"


def test_feature_gates_match_the_release():
    old = kq.Configuration(version="v0.16", feature_gates={"SchedulingEquivalenceHashing": True})
    assert old.enabled("SchedulingEquivalenceHashing")
    assert not old.enabled("AdmissionGatedBy")
    with pytest.raises(kq.errors.InvalidSpecError, match=r"AdmissionGatedBy: unknown feature gate of v0\.16"):
        kq.Cluster(configuration=kq.Configuration(version="v0.16", feature_gates={"AdmissionGatedBy": True}))
    with pytest.raises(kq.errors.InvalidSpecError, match="locked to true"):
        kq.Cluster(configuration=kq.Configuration(version="v0.17", feature_gates={"LendingLimit": False}))


def test_waiting_for_pods_is_on_by_default_since_v0_19():
    text = "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n"
    waits = {v: kq.load(text, version=v).configuration.wait_for_pods_ready is not None for v in ("v0.18", "v0.19")}
    assert waits == {"v0.18": False, "v0.19": True}


def test_the_latest_release_has_every_feature_gate_and_no_rule():
    assert rules_of(RELEASES[-1]) == ()
    assert len(DEFAULTS[RELEASES[-1]]) > 70
    assert all(DEFAULTS[release] for release in RELEASES)


def test_fidelity_is_reported_for_each_release():
    found = kq.fidelity("v0.17")
    assert found.version == "v0.17.8"
    assert not found.feature_gates["SchedulingEquivalenceHashing"].default
    assert {rule.name for rule in found.rules} == {rule.name for rule in rules_of(release_of("v0.17"))}
    assert any("random" in text for text in found.open_answers)
    assert set() < set(kq.fidelity().open_answers) < set(found.open_answers)
    assert "SchedulerLibraryIntegration" not in {
        name for name, gate in kq.fidelity().feature_gates.items() if gate.effective
    }


def test_the_release_of_a_dump_is_read_from_the_manager_image():
    def manager(image):
        spec = {"template": {"spec": {"containers": [{"name": "manager", "image": image}]}}}
        return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "m"}, "spec": spec}

    assert import_cluster([manager("registry.k8s.io/kueue/kueue:v0.17.3")]).kueue_version == "v0.17.3"
    assert import_cluster([manager("registry.k8s.io/kueue/kueue:v0.9.0")]).kueue_version == ""
    assert import_cluster([manager("example.com/other:v0.17.3")]).kueue_version == ""


def test_commands_use_the_named_release(tmp_path, capsys):
    queue = kq.ClusterQueue.of(
        "team", {"default": {"cpu": 9}}, namespace_selector=kq.objects.LabelSelector(match_labels={"team": "other"})
    )
    path, jobs = tmp_path / "cluster.yaml", tmp_path / "jobs.csv"
    kq.dump(kq.Cluster(kq.ResourceFlavor("default"), queue), path)
    jobs.write_text("name,queue,cpu\na,team,1\n")
    for version, text in (("v0.17", "Workload namespace doesn't"), ("v0.18", "workload namespace doesn't")):
        assert main(["run", str(path), str(jobs), "--kueue-version", version]) == 0
        assert text in capsys.readouterr().out
    assert main(["run", TEAMS, JOBS, "--kueue-version", "v0.3"]) == 1
    assert "'v0.3' has no profile" in capsys.readouterr().err


def test_an_upgrade_reports_differences_and_causes():
    queue = kq.ClusterQueue.of("team", {"default": {"cpu": 9}}, admission_checks_strategy=[
        kq.objects.AdmissionCheckStrategyRule("budget")
    ])  # fmt: skip
    checked = kq.Cluster(kq.ResourceFlavor("default"), kq.AdmissionCheck("budget", controller_name="x"), queue)
    found = kq.lab.compare_versions(checked, [{"name": "free", "queue": "team", "duration": 60}], "v0.17", "v0.18")
    assert [change.causes for change in found.changes] == [("flavorless_quota_needs_all_checks",)] * len(found.changes)
    assert {rule.name for rule in found.rules} >= {"flavorless_quota_needs_all_checks", "usage_in_thousandths"}
    gates = {gate.name: (gate.before, gate.after) for gate in found.gates}
    assert gates["SchedulingEquivalenceHashing"] == (False, True)
    assert gates["ConcurrentAdmission"] == (None, False)


def test_the_command_reports_objects_that_a_release_rejects_or_reads_differently(tmp_path, capsys):
    path = tmp_path / "configuration.yaml"
    path.write_text(
        "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\nfeatureGates: {LendingLimit: true}\n"
    )
    arguments = ["upgrade", TEAMS, str(path), "--jobs", JOBS, "--from", "v0.18", "--to", "v0.19"]
    assert main([*arguments, "--exit-code"]) == 3
    told = capsys.readouterr().out
    assert "Configuration: featureGates.LendingLimit: v0.19 has no such gate, and rejects it" in told
    assert main([*arguments, "--json"]) == 0
    assert '"from": "v0.18"' in capsys.readouterr().out


def test_perf_and_replay_accept_a_release(tmp_path, capsys):
    profile = tmp_path / "load.yaml"
    profile.write_text(
        "cohorts: [{className: c, count: 1, queuesSets: [{className: q, count: 1, nominalQuota: 2,"
        " borrowingLimit: 0, reclaimWithinCohort: Never, withinClusterQueue: Never, workloadsSets: [{count: 3,"
        " creationIntervalMs: 10, workloads: [{className: w, runtimeMs: 100, priority: 0, request: 1}]}]}]}]\n"
    )
    assert perf.main([str(profile), "--json", "--kueue-version", "v0.17"]) == 0
    assert '"finished":3' in capsys.readouterr().out
    assert perf.main([str(profile), "--kueue-version", "v0.3"]) == 1
    assert "'v0.3' has no profile" in capsys.readouterr().err
    story = tmp_path / "story.jsonl"
    story.write_text(json.dumps(scenario({"submit": [workload("a", "20")], "cycle": True})) + "\n")
    for version, reason in ((None, "ExceedsMaxQuota"), ("v0.18", "Pending")):
        assert replay.main([str(story), *(["--kueue-version", version] if version else [])]) == 0
        assert f'"reason":"{reason}"' in capsys.readouterr().out


def test_metrics_match_the_release():
    """Mirrors pkg/metrics/metrics.go of each release."""
    told = {}
    for version in ("v0.16", "v0.18", "v0.20-devel"):
        scheduler = kq.Scheduler(cluster(version))
        watch = Watch(scheduler)
        reason_of(scheduler)
        text = watch.metrics_text()
        told[version] = [name for name in METRICS if f"kueue_{name}" in text]
    assert told == {"v0.16": [METRICS[0]], "v0.18": list(METRICS[:2]), "v0.20-devel": list(METRICS)}


METRICS = ("finished_workloads", "cluster_queue_info", "pending_scheduling_hashes")
