"""A running cluster is read with the official client over real HTTP, and nothing is written to it."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest

import kueuepy as kq
from kueuepy.cli import COMMANDS, main
from kueuepy.cli.kubectl import main as kubectl
from kueuepy.errors import ApiError, InvalidSpecError, UnsupportedError
from kueuepy.platform.apiserver import ClusterReader, Connection
from kueuepy.platform.importer import import_cluster
from live.server import TOKEN, Answer, events, recorded

WORKLOADS = "/apis/kueue.x-k8s.io/v1beta2/workloads"
JOB = "ns-a/job-job-080-7c1c8"


def status(name):
    """The recorded answer of this name."""
    return Answer.of(recorded()[name])


def refused(api, path, name):
    """Answer every request of a path with a recorded refusal."""
    api.answers = {key: answer for key, answer in api.answers.items() if key[0] != path}
    api.once += [(path, status(name))] * 5


@pytest.mark.usefixtures("cluster")
def test_a_cluster_is_imported_as_it_is():
    found = import_cluster("cluster:")
    assert found.report.counts == {"finished": 135, "deactivated": 4, "pending": 3}
    assert not found.notes
    assert found.kueue_version == "v0.20-devel"
    assert found.scheduler.explain(JOB).reason == "ExceedsMaxQuota"
    assert len(found.scheduler.cluster.nodes) == 16


@pytest.mark.usefixtures("cluster")
@pytest.mark.parametrize("source", ["cluster:", "cluster:other", ["cluster:test"]])
def test_every_context_is_a_source_of_objects(source):
    found = kq.load(source, strict=False, names=False)
    assert len(found.workloads) == 142
    assert tuple(found.configuration.frameworks) == ("batch/job",)


def test_a_connection_tells_what_it_has_read(cluster):
    live = kq.live.connect("test")
    assert live.explain(JOB).reason == "ExceedsMaxQuota"
    assert live.stamp["Workload"] == "4213"
    assert live.kueue_version == "v0.20-devel"
    assert len(live.cluster.cluster_queues) == 2
    assert not live.cluster.workloads
    assert live.report.counts["pending"] == 3
    live.scheduler().delete(JOB)
    assert JOB in set(live.scheduler().keys())
    before = len(cluster.seen)
    live.refresh()
    assert JOB in set(live.scheduler().keys())
    assert len(cluster.seen) > before
    assert repr(live) == "<LiveCluster cluster:test: Kueue v0.20-devel>"


def test_pages_are_joined(api, monkeypatch):
    monkeypatch.setattr(Connection, "page", 40)
    known = recorded()
    pages = [f"pages-whole-{number:02}" for number in range(1, 6)]
    api.replay(*pages)
    found = list(Connection.open().pages(WORKLOADS))
    names = [(obj["metadata"]["namespace"], obj["metadata"]["name"]) for page in found for obj in page.objects]
    wanted = [item["metadata"]["name"] for page in pages for item in json.loads(known[page]["body"])["items"]]
    assert [name for _, name in names] == wanted
    assert len(set(names)) == len(names) > 160
    assert {page.version for page in found} == {"5663"}
    assert all(obj["kind"] == "Workload" for page in found for obj in page.objects)


def test_a_list_that_expires_between_two_pages_starts_again(api, monkeypatch):
    monkeypatch.setattr(Connection, "page", 40)
    pages = [f"pages-whole-{number:02}" for number in range(1, 6)]
    api.replay(*pages)
    token = json.loads(recorded()["pages-whole-01"]["body"])["metadata"]["continue"]
    api.once.append((token[:40], status("expired-page-2")))
    found = [obj for page in Connection.open().pages(WORKLOADS) for obj in page.objects]
    keys = [(obj["metadata"]["namespace"], obj["metadata"]["name"]) for obj in found]
    assert len(set(keys)) == len(keys) > 160
    assert len([path for _, path in api.seen if "continue" not in path]) == 2


@pytest.mark.parametrize(
    ("path", "name", "what"),
    [
        (WORKLOADS, "forbidden-workload", "may not list workloads.kueue.x-k8s.io"),
        ("/apis/kueue.x-k8s.io/v1beta2/clusterqueues", "forbidden-clusterqueue", "clusterqueues.kueue.x-k8s.io"),
        (WORKLOADS, "unauthorized", "401 Unauthorized"),
    ],
)
def test_a_kind_that_may_not_be_listed_is_an_error_that_names_the_way_out(cluster, path, name, what):
    refused(cluster, path, name)
    with pytest.raises(ApiError, match=what) as error:
        kq.load("cluster:", strict=False)
    assert error.value.status in (401, 403)
    assert TOKEN not in str(error.value)
    assert error.value.status == 401 or "kueuepy import --rbac" in str(error.value)


def test_what_is_optional_and_forbidden_is_a_note(cluster):
    refused(cluster, "/api/v1/nodes", "forbidden-node")
    refused(cluster, "/api/v1/namespaces/kueue-system/configmaps/kueue-manager-config", "reader-forbidden-configmap")
    notes = import_cluster("cluster:").notes
    assert any("may not list nodes" in note and "kueuepy import --rbac" in note for note in notes)
    assert any("the default Configuration is used" in note for note in notes)


def test_without_the_deployment_the_release_is_that_of_this_package(cluster):
    refused(cluster, "/apis/apps/v1/deployments", "forbidden-deployment")
    refused(cluster, "/apis/apps/v1/namespaces/kueue-system/deployments", "forbidden-deployment")
    found = import_cluster("cluster:")
    assert found.kueue_version == ""
    assert any("the rules of v0.20-devel and the default Configuration are used" in note for note in found.notes)


def test_the_release_and_the_flags_of_the_manager_count(cluster):
    answer = recorded()["list-deployment-of-kueue"]
    deployment = json.loads(answer["body"])
    container = deployment["items"][0]["spec"]["template"]["spec"]["containers"][0]
    container["image"] = "registry.k8s.io/kueue/kueue:v0.18.2"
    container["args"].append("--feature-gates=PartialAdmission=false,LendingLimit=true")
    cluster.once.append(("/deployments", Answer(200, json.dumps(deployment))))
    found = kq.load("cluster:", strict=False, names=False)
    assert found.configuration.version == "v0.18.2"
    assert dict(found.configuration.feature_gates)["PartialAdmission"] is False
    assert tuple(found.configuration.frameworks) == ("batch/job",)


def test_a_server_of_v1beta1_alone_is_read(cluster):
    known = recorded()
    group = json.loads(known["discovery-kueue"]["body"])
    group["versions"] = [one for one in group["versions"] if one["version"] == "v1beta1"]
    cluster.answers["/apis/kueue.x-k8s.io", ()] = Answer(200, json.dumps(group))
    v1beta1 = json.loads(known["discovery-kueue-v1beta1"]["body"])
    cluster.answers["/apis/kueue.x-k8s.io/v1beta1", ()] = Answer(200, json.dumps(v1beta1))
    for name in ("workload", "clusterqueue", "localqueue"):
        listed = json.loads(known[f"list-{name}-v1beta1"]["body"])
        listed["metadata"].pop("continue", None)
        cluster.answers[f"/apis/kueue.x-k8s.io/v1beta1/{name}s", (("limit", "500"),)] = Answer(200, json.dumps(listed))
    for path, parameters in list(cluster.answers):
        if "/v1beta2/" in path and path.rpartition("/")[2] not in ("workloads", "clusterqueues", "localqueues"):
            body = cluster.answers[path, parameters].body.replace(b"v1beta2", b"v1beta1")
            cluster.answers[path.replace("v1beta2", "v1beta1"), parameters] = Answer(200, body)
    found = kq.load("cluster:", strict=False, names=False)
    assert len(found.workloads) == 20
    assert len(found.cluster_queues) == 2
    assert not any("v1beta2" in path for _, path in cluster.seen)


def test_slow_torn_and_overloaded_answers_are_repeated(cluster):
    whole = cluster.answers[WORKLOADS, (("limit", "500"),)]
    cluster.once += [
        (WORKLOADS, status("too-many-requests")),
        (WORKLOADS, Answer(200, whole.body, torn=True)),
        (WORKLOADS, Answer(503, "busy", {"Retry-After": "0"})),
        (WORKLOADS, Answer(200, whole.body, delay=0.2)),
    ]
    assert len(kq.load("cluster:", strict=False, names=False).workloads) == 142
    assert sum(WORKLOADS in path for _, path in cluster.seen) == 4


@pytest.mark.parametrize(
    ("answer", "what"),
    [
        (Answer(200, "<html>login</html>"), "is not a list of objects"),
        (Answer(200, b"\xff\xfe"), "is not a list of objects"),
        (Answer(500, "conversion webhook failed"), "500 Internal Server Error: conversion webhook failed"),
        (Answer(302, "", {"Location": "http://127.0.0.1:1/"}), "redirects"),
    ],
)
def test_a_broken_answer_is_an_error(cluster, answer, what):
    cluster.answers[WORKLOADS, (("limit", "500"),)] = answer
    with pytest.raises(ApiError, match=what):
        kq.load("cluster:", strict=False)


def test_a_server_without_kueue_is_named(api):
    api.once.append(("/apis/kueue.x-k8s.io", status("missing-crd")))
    with pytest.raises(ApiError, match="Kueue is not installed"):
        ClusterReader(Connection.open())


def test_a_server_that_is_gone_is_an_error(api):
    api.server_close()
    with pytest.raises(ApiError, match="cluster:test: cannot be reached"):
        kq.live.connect("test")


@pytest.mark.parametrize(("context", "what"), [("nowhere", "nowhere"), ("in", "cannot be used")])
def test_a_context_that_does_not_exist_is_an_error(api, context, what):
    with pytest.raises(ApiError, match=what):
        kq.live.connect(context)
    assert not api.seen


def test_without_the_client_an_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "kubernetes.config", None)
    with pytest.raises(UnsupportedError, match="pip install kubernetes"):
        kq.live.connect()


@pytest.mark.usefixtures("cluster")
@pytest.mark.parametrize(
    "arguments",
    [
        ["explain", "job-job-080-7c1c8", "-n", "ns-a", "cluster:"],
        ["explain", JOB, "cluster:test", "--json"],
        ["import", "cluster:"],
        ["check", "cluster:", "--fail-on", "never"],
        ["convert", "cluster:other"],
        ["whatif", "cluster:", "--set", "ClusterQueue/wide:quota[plain/cpu].nominalQuota=40"],
    ],
)
def test_every_command_that_reads_objects_reads_clusters(arguments, capsys):
    assert main(arguments) == 0
    assert capsys.readouterr().out


@pytest.mark.parametrize(("stopping", "running"), [("1s", False), ("1h", True)])
def test_an_evicted_workload_keeps_its_quota_for_the_given_time(stopping, running, tmp_path):
    evicted = next(
        event["object"]
        for event in events("cohort")
        if event["kind"] == "Workload"
        and {c["type"] for c in (event["object"].get("status") or {}).get("conditions") or () if c["status"] == "True"}
        >= {"Evicted", "QuotaReserved"}
    )
    objects = {}
    for event in events("cohort"):
        if event["kind"] not in ("Workload", "Pod", "ConfigMap") and event["type"] == "ADDED":
            obj = event["object"]
            objects[event["kind"], obj["metadata"].get("namespace"), obj["metadata"]["name"]] = obj
    dump = tmp_path / "dump.json"
    dump.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [*objects.values(), evicted]}))
    assert main(["import", str(dump), "--stopping", stopping, "--save", str(tmp_path / "state")]) == 0
    scheduler = kq.Scheduler.load(tmp_path / "state")
    key = f"{evicted['metadata']['namespace']}/{evicted['metadata']['name']}"
    scheduler.advance("60s")
    scheduler.settle()
    assert is_evicted(scheduler, key) is running


def is_evicted(scheduler, key):
    conditions = scheduler.workload(key).status.conditions
    return any(one.type == "Evicted" and one.status == "True" for one in conditions)


def test_kubectl_gives_its_flags(cluster, tmp_path, monkeypatch, capsys):
    config = cluster.kubeconfig(tmp_path / "own")
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    arguments = ["explain", "job-job-080-7c1c8", "--kubeconfig", str(config), "--context=other"]
    assert kubectl([*arguments]) == 0
    assert "ns-a/job-job-080-7c1c8 is pending" in capsys.readouterr().out
    assert kubectl([*arguments, "-o", "yaml"]) == 0
    assert "reason: ExceedsMaxQuota" in capsys.readouterr().out
    assert kubectl([*arguments, "-n", "ns-x"]) == 1
    assert kubectl([*arguments, "-nns-a", "-ojson"]) == 0
    assert kubectl(["explain", JOB, "-A", f"--kubeconfig={config}", "-o=json"]) == 0


def test_the_plugin_has_its_own_help(capsys):
    assert kubectl(["--help"]) == 0
    assert "--context NAME" in (text := capsys.readouterr().out)
    assert "Usage: kubectl kueuepy COMMAND" in text
    assert kubectl(["explain", "-h"]) == 0
    text = capsys.readouterr().out
    assert "Usage: kubectl kueuepy explain [OPTIONS] WORKLOAD" in text
    assert "-o, --output FORMAT" in text
    assert "  kubectl kueuepy explain train -n team-a --context prod\n" in text
    assert kubectl(["explain", "train", "--contxt", "prod"]) == 2
    assert 'explain: "--contxt" is not an option; did you mean "--context"?' in capsys.readouterr().err


@pytest.mark.parametrize("command", COMMANDS)
def test_the_examples_of_the_plugin_run(command, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    monkeypatch.chdir(tmp_path)
    for name in ("examples", "tests"):
        (tmp_path / name).symlink_to(Path(__file__).parents[2] / name)
    assert kubectl([command, "--help"]) == 0
    text = " ".join(capsys.readouterr().out.partition("Examples:\n")[2].split())
    # What follows begins the next example, which pipes the output of kubectl.
    examples = [one.partition(" kubectl ")[0].partition(" |")[0] for one in text.split("kubectl kueuepy ")[1:]]
    for example in examples:
        words = shlex.split(example)
        # These do not end by themselves, or read what kubectl prints.
        if command in ("serve", "mcp", "record") or "-" in words:
            continue
        code, told = kubectl(words), "".join(capsys.readouterr())
        # Files of users, and their clusters, are not here.
        assert code in (0, 3) or (code == 1 and ("cannot be read" in told or "cannot be used" in told)), (example, told)


def test_the_plugin_reads_a_saved_state_or_files_instead_of_the_cluster(cluster, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    seed = Path(__file__).parents[2] / "examples" / "seeds" / "002"
    files = [str(seed / "two-teams.yaml"), str(seed / "jobs.csv")]
    scheduler = kq.Scheduler(kq.load(files[0]))
    scheduler.submit({"name": "one", "queue": "team-a", "cpu": 1})
    scheduler.settle()
    scheduler.save(tmp_path / "state")
    assert kubectl(["explain", "one", str(tmp_path / "state"), "-o", "yaml"]) == 0
    assert "workload: default/one" in capsys.readouterr().out
    assert kubectl(["explain", "a-4", *files]) == 0
    assert "default/a-4 is pending" in capsys.readouterr().out
    assert kubectl(["explain", "a-4", files[1]]) == 1  # a table has jobs only, so that the cluster is read
    assert "kubeconfig" in capsys.readouterr().err
    assert not cluster.seen


def test_the_printed_permissions_allow_to_read_and_nothing_else(capsys, cluster):
    assert main(["import", "--rbac", "--json"]) == 0
    items = json.loads(capsys.readouterr().out)["items"]
    rules = [rule for item in items for rule in item.get("rules", ())]
    assert {verb for rule in rules for verb in rule["verbs"]} == {"get", "list", "watch"}
    allowed = {(group, name) for rule in rules for group in rule["apiGroups"] for name in rule["resources"]}
    assert not any("secret" in name for _, name in allowed)
    import_cluster("cluster:")
    for _, path in cluster.seen:
        parts = path.partition("?")[0].strip("/").split("/")
        if parts[0] == "apis" and len(parts) > 3:
            assert (parts[1], parts[-1]) in allowed
        elif parts[0] == "api":
            assert ("", parts[-2] if "configmaps" in parts else parts[-1]) in allowed
    assert [item["kind"] for item in items] == ["ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"]
    assert main(["import", "--rbac", "--service-account", "x"]) == 2


def test_what_the_api_server_has_accepted_is_not_checked_again(cluster):
    """A newer release of Kueue may accept values that this package rejects in files."""
    place = next(key for key in cluster.answers if key[0] == WORKLOADS)
    found = json.loads(cluster.answers[place].body)
    pod = found["items"][0]["spec"]["podSets"][0]["template"]["spec"]
    pod["containers"][0]["imagePullPolicy"] = "Later"
    pod["later"] = True
    cluster.answers[place].body = json.dumps(found).encode()
    assert import_cluster("cluster:").report.counts == {"finished": 135, "deactivated": 4, "pending": 3}
    written = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload", **found["items"][0]}
    with pytest.raises(InvalidSpecError, match=r"later: unknown field"):
        kq.load(written)
