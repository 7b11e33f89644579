"""Parts of the input that kueuepy does not model, and that could change a decision, are reported everywhere."""

import json
import re
from pathlib import Path

import msgspec
import pytest

import kueuepy as kq
from kueuepy.cli import main
from kueuepy.cluster.unmodelled import PREEMPTION_CONFIG, fields
from kueuepy.profiles.gates import COVERAGE, FEATURE_GATES, LATER

INVENTORY = Path(__file__).parents[1] / "golden" / "kueue"
TEAMS = "examples/seeds/002/two-teams.yaml"
ROWS = "examples/seeds/002/jobs.csv"
GATE = "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\nfeatureGates: {%s: true}\n"
QUOTAS = {"managerRef": {"kind": "Orchestrator"}, "resourceGroups": []}
FLAVOR = kq.ResourceFlavor("any")
JOB = {"name": "job", "queue": "team", "cpu": 1}


def team(**fields):
    return kq.ClusterQueue.of("team", {"any": {"cpu": 4}}, **fields)


def gated(name, on=True):  # noqa: FBT002 - as in a file
    return kq.Cluster(FLAVOR, team(), configuration=kq.Configuration(feature_gates={name: on}))


# --- the list is complete ---------------------------------------------------------------------------------------------


def test_every_feature_gate_of_kueue_is_listed_with_its_effect():
    mirrored = set((INVENTORY / "gates.txt").read_text().split())
    listed = kq.fidelity().feature_gates
    assert set(listed) == mirrored | set(LATER)
    assert all(gate.effective or gate.note for gate in listed.values())


def test_every_field_of_kueues_api_is_listed_with_its_effect():
    listed = (line.split() for line in (INVENTORY / "fields.txt").read_text().splitlines())
    known = {(kind, path): effect.replace("-", " ") for kind, path, effect in listed}
    assert {(kind, path): how.effect for kind, paths in fields().items() for path, how in paths.items()} == known
    assert kq.fidelity().fields == fields()


def test_every_field_that_is_not_modelled_has_a_reason():
    assert [path for paths in fields().values() for path, how in paths.items() if how == ("not modelled", "")] == []


def test_the_page_lists_every_gate_and_field():
    page = (Path(__file__).parents[2] / "docs" / "fidelity.md").read_text(encoding="utf-8")
    listed = re.sub(r"\s+", " ", page)
    assert [name for name in kq.fidelity().feature_gates if f"`{name}`" not in listed] == []
    assert [path for paths in fields().values() for path in paths if f"`{path}`" not in listed] == []


# --- what is reported -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("gate", sorted(name for name in COVERAGE if COVERAGE[name].effect == "not modelled"))
def test_a_gate_that_is_not_modelled_is_reported_if_it_differs_from_its_default(gate):
    if gate not in kq.fidelity().feature_gates:
        return
    default = FEATURE_GATES[gate]
    found = kq.Scheduler(gated(gate, on=not default)).not_modelled
    assert [text.partition(":")[2].split(":")[0] for text in found] == [f" featureGates.{gate}"]
    assert kq.Scheduler(gated(gate, on=default)).not_modelled == ()


@pytest.mark.parametrize("gate", ["VisibilityOnDemand", "TASCacheTopologyTree", "PartialAdmission", "MultiKueue"])
def test_other_gates_are_not_reported(gate):
    assert kq.Scheduler(gated(gate, on=False)).not_modelled == ()


@pytest.mark.parametrize(
    ("objects", "gate", "field"),
    [
        ([team(annotations={PREEMPTION_CONFIG: "heroes"})], "ConfigurablePreemptions", PREEMPTION_CONFIG),
        ([team(effective_quotas=QUOTAS)], "DynamicQuotaOrchestration", "status.effectiveQuotas"),
        ([team(), kq.Cohort("all", effective_quotas=QUOTAS)], "DynamicQuotaOrchestration", "status.effectiveQuotas"),
    ],
)
def test_a_field_that_is_not_modelled_is_reported_unless_its_gate_is_off(objects, gate, field):
    (text,) = kq.Scheduler(kq.Cluster(FLAVOR, objects)).not_modelled
    assert field in text
    off = kq.Configuration(feature_gates={gate: False})
    assert kq.Scheduler(kq.Cluster(FLAVOR, objects, configuration=off)).not_modelled == ()


def test_effective_quotas_are_read_and_written():
    cluster = kq.Cluster(FLAVOR, team(effective_quotas=QUOTAS), kq.Cohort("all", effective_quotas=QUOTAS))
    again = kq.load(kq.dump(cluster))
    assert again.cluster_queues[0].effective_quotas == again.cohorts[0].effective_quotas == QUOTAS


def test_a_preemption_config_is_kept():
    head = "apiVersion: kueue.x-k8s.io/v1alpha1\nkind: PreemptionConfig\n"
    cluster = kq.load(f"{head}metadata: {{name: heroes}}\nspec: {{}}\n")
    assert "PreemptionConfig" in kq.dump(cluster)


def test_decisions_explanations_and_results_carry_the_report():
    scheduler = kq.Scheduler(gated("SchedulerLibraryIntegration"))
    said = scheduler.not_modelled
    assert scheduler.try_admit(JOB).not_modelled == said
    assert scheduler.try_admit_many([JOB])[0].not_modelled == said
    scheduler.submit(JOB)
    (decision,) = scheduler.cycle()
    assert decision.not_modelled == said
    found = scheduler.explain("job")
    assert found.not_modelled == said
    assert str(found).splitlines()[0] == f"not modelled: {said[0]}"
    assert tuple(found.to_dict()["not_modelled"]) == said
    difference = scheduler.whatif({"ClusterQueue/team:quota[any/cpu].nominalQuota": 8})
    assert difference.not_modelled == said
    assert str(difference).startswith("not modelled: ")
    result = kq.simulate(gated("SchedulerLibraryIntegration"), [{"queue": "team", "submit": 0, "runtime": 1, "cpu": 1}])
    assert result.not_modelled == said
    assert str(result).splitlines()[0] == repr(result).splitlines()[0] == f"not modelled: {said[0]}"


def test_the_report_follows_changes_of_objects():
    scheduler = kq.Scheduler(kq.Cluster(FLAVOR, team()))
    assert scheduler.try_admit(JOB).not_modelled == scheduler.not_modelled == ()
    fork = scheduler.fork()
    fork.apply(team(effective_quotas=QUOTAS))
    assert fork.try_admit(JOB).not_modelled == fork.not_modelled != ()
    assert scheduler.try_admit(JOB).not_modelled == scheduler.not_modelled == ()
    difference = scheduler.whatif(team(effective_quotas=QUOTAS))
    assert difference.not_modelled == fork.not_modelled


def test_a_fleet_reports_every_cluster(tmp_path):
    fleet = kq.Fleet({"w1": gated("SchedulerLibraryIntegration"), "w2": kq.Cluster(FLAVOR, team())})
    result = kq.simulate(fleet, [{"queue": "team", "submit": 0, "runtime": 1, "cpu": 1}])
    (text,) = result.not_modelled
    assert text.startswith("w1: Configuration: featureGates.SchedulerLibraryIntegration: ")
    result.save(tmp_path)
    assert kq.load_result(tmp_path).not_modelled == result.not_modelled


# --- the command line -------------------------------------------------------------------------------------------------

COMMANDS = [
    ["run", TEAMS, ROWS],
    ["explain", "a-4", TEAMS, ROWS],
    ["whatif", TEAMS, "--job", "examples/seeds/002/train.yaml"],
    ["whatif", TEAMS, ROWS, "--set", "ClusterQueue/team-a:quota[default-flavor/cpu].nominalQuota=16", "--exit-code"],
    ["simulate", "examples/week/teams.yaml", "--jobs", "examples/week/jobs.csv", "--until", "1d"],
    [
        *["simulate", "examples/week/teams.yaml", "--jobs", "examples/week/jobs.csv", "--until", "1d"],
        *["--gate", "examples/gate/promises.yaml"],
    ],
]
LOG = "log.csv"
PAGE = "page.html"
OTHERS = [
    ["sweep", TEAMS, "--jobs", LOG, "--over", "ClusterQueue/*:preemption.reclaimWithinCohort=Never,Any"],
    [
        *["plan", TEAMS, "--jobs", LOG, "--target", "wait_p95 <= 30m", "--from", "2", "--to", "4"],
        *["--vary", "ClusterQueue/team-a:quota[default-flavor/cpu].nominalQuota"],
    ],
    ["guarantee", "delays", TEAMS, "--jobs", LOG],
    ["eta", "a-4", TEAMS, ROWS, "--runtimes", "1h"],
    ["eta", "--risk", "a-1", TEAMS, ROWS, "--within", "1h"],
    ["upgrade", TEAMS, "--jobs", ROWS, "--from", "v0.18", "--to", "v0.20"],
    ["page", TEAMS, ROWS, "-o", PAGE],
]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: f"{command[0]}{command.index(command[-1])}")
@pytest.mark.parametrize("gate", ["ConfigurablePreemptions", "SchedulerLibraryIntegration"])
def test_a_command_says_so_first_and_exits_with_4(tmp_path, capsys, command, gate):
    path = tmp_path / "configuration.yaml"
    path.write_text(GATE % gate)
    place = next(i for i, word in enumerate(command) if word.endswith(".yaml"))
    given = [*command[: place + 1], str(path), *command[place + 1 :]]
    assert main(given) == 4
    assert capsys.readouterr().out.startswith(f"not modelled: Configuration: featureGates.{gate}: is true")
    assert main([*given, "--json"]) == 4
    found = json.loads(capsys.readouterr().out)
    found = found[0] if isinstance(found, list) else found
    assert [f"featureGates.{gate}" in text for text in found["not_modelled"]] == [True]
    assert main(command) in (0, 3)
    assert "not modelled" not in capsys.readouterr().out


@pytest.mark.parametrize("command", OTHERS, ids=lambda command: command[0])
def test_commands_with_several_runs_say_so_first_and_exit_with_4(tmp_path, capsys, command):
    path = tmp_path / "configuration.yaml"
    gate = "CleanupProvisioningRequestsOnEviction"  # a gate of every release
    path.write_text((GATE % gate).replace("true", "false"))
    log = tmp_path / LOG
    log.write_text("name,queue,submit,runtime,cpu\na,team-a,0,600,4\nb,team-a,1,600,4\nc,team-b,2,600,4\n")
    command = [str(tmp_path / word) if word in (LOG, PAGE) else word for word in command]
    place = command.index(TEAMS) + 1
    assert main([*command[:place], str(path), *command[place:]]) == 4
    assert capsys.readouterr().out.startswith(f"not modelled: Configuration: featureGates.{gate}: is false")
    assert main(command) in (0, 3)
    assert "not modelled: Configuration" not in capsys.readouterr().out


@pytest.mark.parametrize("place", [1, 2])
def test_compare_reports_each_of_its_policies(tmp_path, capsys, place):
    path = tmp_path / "gated.yaml"
    path.write_text(f"{Path(TEAMS).read_text()}\n---\n{GATE % 'ConfigurablePreemptions'}")
    command = ["compare", TEAMS, TEAMS, "--jobs", ROWS]
    command[place] = str(path)
    assert main(command) == 4
    assert capsys.readouterr().out.startswith(
        "not modelled: Configuration: featureGates.ConfigurablePreemptions: is true"
    )


def test_an_edit_can_add_a_part_that_is_not_modelled(tmp_path, capsys):
    path = tmp_path / "edit.yaml"
    path.write_text(
        f"apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata:\n  name: team-a\n  annotations:\n"
        f"    {PREEMPTION_CONFIG}: heroes\n"
    )
    assert main(["whatif", TEAMS, ROWS, "--edit", str(path)]) == 4
    assert capsys.readouterr().out.startswith('not modelled: ClusterQueue "team-a": metadata.annotations')


def test_invalid_input_keeps_its_exit_code(tmp_path, capsys):
    path = tmp_path / "configuration.yaml"
    path.write_text(GATE % "ConfigurablePreemptions")
    assert main(["explain", "absent", TEAMS, str(path), ROWS]) == 1
    assert "absent" in capsys.readouterr().err


def test_check_names_the_line(tmp_path, capsys):
    path = tmp_path / "configuration.yaml"
    path.write_text(GATE % "ConfigurablePreemptions")
    assert main(["check", TEAMS, str(path), "--skip", "L6"]) == 3
    assert f"{path}:3: warning L20: Configuration: featureGates.ConfigurablePreemptions: is" in capsys.readouterr().out


def test_fidelity_is_json():
    found = msgspec.json.decode(msgspec.json.encode(kq.fidelity()))
    assert found["feature_gates"]["SchedulerLibraryIntegration"]["effect"] == "not modelled"
    assert found["fields"]["Cohort"]["status.effectiveQuotas"][0] == "not modelled"


def planned(*events):
    rows = [{"queue": "team", "submit": 0, "runtime": 1, "cpu": 1}]
    return kq.simulate(kq.Cluster(FLAVOR, team()), rows, events=events).not_modelled


@pytest.mark.parametrize(
    "change",
    [
        team(effective_quotas=QUOTAS),
        team(annotations={PREEMPTION_CONFIG: "heroes"}),
    ],
    ids=["field", "annotation"],
)
def test_a_change_that_an_event_makes_is_reported(change):
    (text,) = planned(kq.sim.Event(30, change))
    assert text.startswith('ClusterQueue "team": ')
    assert planned(kq.sim.Event(30, change), kq.sim.Event(40, change)) == (text,)
    assert planned(kq.sim.Event(30, kq.sim.Edit("ClusterQueue/team:quota[any/cpu].nominalQuota", 2))) == ()


def test_only_simulations_report_concurrent_admission():
    policy = {"migration": {"mode": "TryPreferredFlavors"}}
    on = kq.Configuration(feature_gates={"ConcurrentAdmission": True})
    cluster = kq.Cluster(FLAVOR, team(concurrent_admission_policy=policy), configuration=on)
    rows = [{"queue": "team", "submit": 0, "runtime": 1, "cpu": 1}]
    (text,) = kq.simulate(cluster, rows).not_modelled
    assert text.startswith("Configuration: featureGates.ConcurrentAdmission: is true, but only a Scheduler models it")
    assert kq.simulate(cluster, rows).kpis.finished == 1
    assert kq.Scheduler(cluster).not_modelled == ()
    assert kq.simulate(kq.Cluster(FLAVOR, team(concurrent_admission_policy=policy)), rows).not_modelled == ()


def test_an_event_of_a_fleet_is_reported_with_its_cluster():
    fleet = kq.Fleet({"w1": kq.Cluster(FLAVOR, team()), "w2": kq.Cluster(FLAVOR, team())})
    rows = [{"queue": "team", "submit": 0, "runtime": 1, "cpu": 1}]
    change = kq.fleet.On("w2", team(effective_quotas=QUOTAS))
    (text,) = kq.simulate(fleet, rows, events=[kq.sim.Event(30, change)]).not_modelled
    assert text.startswith('w2: ClusterQueue "team": status.effectiveQuotas')


def test_a_file_of_events_can_add_a_part_that_is_not_modelled(tmp_path, capsys):
    path = tmp_path / "events.yaml"
    path.write_text(
        "- when: 1h\n  apply:\n    apiVersion: kueue.x-k8s.io/v1beta2\n    kind: ClusterQueue\n    metadata:\n"
        f"      name: late\n      annotations: {{{PREEMPTION_CONFIG}: heroes}}\n"
    )
    command = ["simulate", "examples/week/teams.yaml", "--jobs", "examples/week/jobs.csv", "--until", "1d"]
    assert main([*command, "--at", str(path)]) == 4
    assert capsys.readouterr().out.startswith('not modelled: ClusterQueue "late": metadata.annotations')
