"""`check` and `convert`."""

import io
import sys
from xml.etree import ElementTree as ET

import pytest

import kueuepy as kq


def test_check_of_valid_objects_exits_with_0(kueuepy, lint_examples):
    ran = kueuepy("check", lint_examples / "L1" / "fixed.yaml")

    assert ran == (0, "2 objects of v1beta2 are valid; no findings\n", "")


def test_check_of_one_object_uses_the_singular(kueuepy, tmp_path):
    path = tmp_path / "flavor.yaml"
    path.write_text(kq.dump(kq.Cluster(kq.ResourceFlavor("f"))), encoding="utf-8")

    assert kueuepy("check", path).out.startswith("1 object of v1beta2 is valid; ")


def test_check_reports_findings_and_exits_with_3(kueuepy, lint_examples):
    path = lint_examples / "L1" / "surprising.yaml"
    ran = kueuepy("check", path)

    assert ran.code == 3
    assert ran.out.startswith(f'{path}:11: error L1: ClusterQueue "team-a": spec.namespaceSelector: ')
    assert ran.out.endswith("2 objects of v1beta2 are valid; 1 error\n")


def test_check_fails_from_the_given_severity(kueuepy, lint_examples):
    path = lint_examples / "L6" / "surprising.yaml"  # two warnings

    assert kueuepy("check", path, "--fail-on", "error").code == 0
    assert kueuepy("check", path, "--fail-on", "note").code == 3
    assert kueuepy("check", path, "--fail-on", "never").code == 0
    assert kueuepy("check", path, "--skip", "L3", "--skip", "L6").code == 0


def test_check_of_an_unknown_rule_lists_the_rules(kueuepy, lint_examples):
    ran = kueuepy("check", lint_examples / "L1" / "fixed.yaml", "--skip", "L99")

    assert ran.code == 1
    assert 'error: lint: "L99" is not a rule' in ran.err


def test_check_of_invalid_objects_names_every_problem_and_exits_with_1(kueuepy, seeds):
    path = seeds / "001" / "borrowing-limit.yaml"
    ran = kueuepy("check", path)

    assert (ran.code, ran.out) == (1, "")
    assert ran.err.count(f"error: {path}:") == 2
    assert ran.err.endswith("2 problems to fix; then check again, for rules that need valid fields\n")
    assert kueuepy("check", path, "--lenient", "--fail-on", "never").code == 0


def test_check_prints_json(kueuepy, lint_examples, seeds):
    found = kueuepy("check", "--json", lint_examples / "L1" / "surprising.yaml").json
    assert found["valid"] is True
    assert found["objects"] == 2
    assert [finding["rule"] for finding in found["findings"]] == ["L1"]

    wrong = kueuepy("check", "--json", seeds / "001" / "borrowing-limit.yaml").json
    assert wrong["valid"] is False
    assert [problem["field"] for problem in wrong["problems"]] == ["spec.resourceGroups[0].flavors[0].resources"] * 2


def test_standard_input_is_read(kueuepy, monkeypatch, seeds):
    data = (seeds / "001" / "team-ab.yaml").read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))

    assert kueuepy("check", "-", "--fail-on", "error").code == 0


def test_convert_writes_v1beta2_that_decides_the_same(kueuepy, seeds, tmp_path):
    source, target = seeds / "004" / "research-pool.yaml", tmp_path / "converted.yaml"
    ran = kueuepy("convert", source)
    assert ran.code == 0
    assert "v1alpha2" not in ran.out

    written = kueuepy("convert", source, "--output", target)
    assert written == (0, "", f"{target}: written in v1beta2\n")
    assert target.read_text(encoding="utf-8") == ran.out
    assert kq.load(target) == kq.load(source)


def test_convert_reports_corrections_on_standard_error(kueuepy, seeds):
    ran = kueuepy("convert", "--lenient", seeds / "000" / "codependent.yaml")

    assert ran.code == 0
    assert "note: " in ran.err
    assert "on_demand" in ran.err


def test_convert_prints_a_list_as_json(kueuepy, seeds):
    found = kueuepy("convert", "--json", seeds / "000" / "cluster-total.yaml").json

    assert found["kind"] == "List"
    assert [item["kind"] for item in found["items"]] == ["ResourceFlavor", "ClusterQueue", "LocalQueue"]


CONFIG_MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n"
QUEUE = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: a}
spec:
  namespaceSelector: {}
"""


def written(folder, name, text):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("text", [CONFIG_MAP, "apiVersion: v1\nkind: Service\nmetadata: {name: a}\n"])
def test_files_without_an_object_of_kueue_are_an_error(kueuepy, tmp_path, text):
    ran = kueuepy("check", written(tmp_path, "x.yaml", text))
    assert ran.code == 1
    assert "contains no object that can be checked" in ran.err
    assert kueuepy("check", written(tmp_path, "y.yaml", text + "---\n" + QUEUE)).code == 0


def test_a_version_adds_no_object(kueuepy, seeds):
    files = seeds / "003" / "fair-sharing.yaml", seeds / "003" / "two-queues.yaml"
    for given in (files, files[1:]):
        plain, old = kueuepy("check", "--json", *given), kueuepy("check", "--json", "--kueue-version", "v0.18", *given)
        assert plain.json["objects"] == old.json["objects"]


def test_a_queue_without_flavors_lists_no_flavors(kueuepy, tmp_path):
    checks = "  admissionChecksStrategy: {admissionChecks: [{name: x, onFlavors: [f]}]}\n"
    ran = kueuepy("check", written(tmp_path, "x.yaml", QUEUE + checks))
    assert ran.code == 1
    assert 'onFlavors[0]: "f" is not supported; there is nothing that it may name; leave it out' in ran.err


def test_an_error_of_a_tab_mentions_the_tab(kueuepy, tmp_path):
    ran = kueuepy("check", written(tmp_path, "x.yaml", QUEUE.replace("  namespace", "\tnamespace")))
    assert (ran.code, "x.yaml:5:1: is indented with a tab; YAML wants spaces" in ran.err) == (1, True)


def test_all_files_of_a_directory_are_reported(kueuepy, tmp_path):
    written(tmp_path, "a.yaml", QUEUE)
    written(tmp_path, "b.yaml", "kind: [\n")
    written(tmp_path, "c.yaml", QUEUE + "---\n" + QUEUE.replace("name: a", "name: b") + "  stopPolicy: Hol\n")
    written(tmp_path, "d.yaml", QUEUE)
    ran = kueuepy("check", tmp_path)
    assert ran.code == 1
    for place in ("b.yaml:1", 'c.yaml:1: ClusterQueue "a": is given at', "c.yaml:12", "d.yaml:1"):
        assert place in ran.err
    assert "4 problems to fix" in ran.err
    (tmp_path / "b.yaml").unlink()
    (tmp_path / "c.yaml").unlink()
    written(tmp_path, "e.yaml", QUEUE)
    ran = kueuepy("check", tmp_path)
    assert ran.err.count("is given at") == 2
    with pytest.raises(kq.errors.DuplicateError):
        kq.load(tmp_path)


def test_a_job_is_named_as_in_its_manifest(kueuepy, tmp_path, job):
    queue = written(tmp_path, "q.yaml", QUEUE)
    ran = kueuepy("check", queue, job("train", queue="nowhere"), "--json")
    (found,) = [one for one in ran.json["findings"] if one["rule"] == "L16"]
    assert found["object"] == 'Job "train"'
    assert found["field"] == "metadata.labels[kueue.x-k8s.io/queue-name]"
    assert found["where"].endswith("train.yaml:6")
    strict = kq.ClusterQueue.of("q", {"f": {"cpu": 1}}, queueing_strategy="StrictFIFO")
    cluster = tmp_path / "strict.yaml"
    kq.dump(kq.Cluster(kq.ResourceFlavor("f"), strict), cluster)
    ran = kueuepy("check", cluster, job("large", queue="q", pods=9), "--json")
    (found,) = [one for one in ran.json["findings"] if one["rule"] == "L12"]
    assert found["object"] == 'Job "large"'


def test_a_dump_without_flavors_is_reported(kueuepy, tmp_path, seeds):
    text = (seeds / "002" / "two-teams.yaml").read_text(encoding="utf-8")
    dump = written(tmp_path, "dump.yaml", text.partition("---\n")[2])
    ran = kueuepy("import", dump)
    assert 'ResourceFlavor "default-flavor": is not in the dump' in ran.err
    assert "dump resourceflavors as well" in ran.err


def test_a_dump_without_topologies_and_nodes_is_reported(kueuepy, tmp_path, seeds):
    text = (seeds.parent / "live" / "dump.yaml").read_text(encoding="utf-8")
    of_tas = "    name: default\n  spec: {topologyName: racks, nodeLabels: {pool: a}}\n"
    dump = written(tmp_path, "dump.yaml", text.replace("    name: default\n", of_tas, 1))
    for command in (("import",), ("explain", "default/job-waits-4c5d6")):
        told = " ".join(kueuepy(*command, dump).err.split())
        assert 'Topology "racks": is not in the dump' in told
        assert "dump topologies as well" in told
        assert "the input has no Node" in told
        assert "add topologies,nodes,pods to kubectl get" in told


WITH_QUOTA = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {{name: ab}}
spec:
  namespaceSelector: {{}}
  resourceGroups:
  - coveredResources: [cpu]
    flavors: [{{name: f, resources: [{{name: cpu, nominalQuota: {quota}}}]}}]
"""


@pytest.fixture(params=["3", "-3"], ids=["finding", "problem"])
def queue(request, tmp_path):
    path = tmp_path / "queue.yaml"
    path.write_text(WITH_QUOTA.format(quota=request.param), encoding="utf-8")
    key, rule, code = ("name", "L16", 3) if request.param == "3" else ("nominalQuota", "Invalid", 1)
    text = path.read_text(encoding="utf-8").split("\n")[7]
    return path, key, rule, code, text.index(f"{key}:") + 1


def test_json_names_file_line_column_object_and_field(kueuepy, queue):
    path, key, _, code, column = queue
    ran = kueuepy("check", path, "--format", "json")
    (found,) = ran.json.get("findings") or ran.json["problems"]

    assert ran.code == code
    assert [found[name] for name in ("file", "line", "column", "object")] == [str(path), 8, column, 'ClusterQueue "ab"']
    assert found["field"].endswith(f".{key}")


def test_github_annotations_name_file_line_and_column(kueuepy, queue):
    path, key, rule, code, column = queue
    ran = kueuepy("check", path, "--format", "github")

    assert ran.code == code
    assert ran.out.startswith(f'::error file={path},line=8,col={column},title={rule}::ClusterQueue "ab": spec.')
    assert f".{key}: " in ran.out


def test_sarif_and_junit_have_a_result_for_each_finding(kueuepy, queue):
    path, _, rule, code, column = queue
    ran = kueuepy("check", path, "--format", "sarif")
    (result,) = ran.json["runs"][0]["results"]
    place = result["locations"][0]["physicalLocation"]
    assert (ran.code, result["ruleId"], result["level"]) == (code, rule, "error")
    assert place == {
        "artifactLocation": {"uri": str(path)},
        "region": {"startLine": 8, "startColumn": column},
    }
    suite = ET.fromstring(kueuepy("check", path, "--format", "junit").out)  # noqa: S314 - our own output
    assert (suite.get("tests"), suite.get("failures")) == ("1", "1")
    assert suite.find("testcase/failure").text.startswith(f"{path}:8: ClusterQueue")


def test_formats_of_valid_objects_are_empty(kueuepy, lint_examples):
    path = lint_examples / "L1" / "fixed.yaml"
    assert kueuepy("check", path, "--format", "sarif").json["runs"][0]["results"] == []
    suite = ET.fromstring(kueuepy("check", path, "--format", "junit").out)  # noqa: S314 - our own output
    assert suite.get("failures") == "0"
