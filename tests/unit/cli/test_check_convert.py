"""`check` and `convert`."""

import io
import sys

import kueuepy as kq


def test_check_of_what_is_right_exits_with_0(kueuepy, lint_examples):
    ran = kueuepy("check", lint_examples / "L1" / "fixed.yaml")

    assert ran == (0, "2 objects of v1beta2 are valid; nothing to remark\n", "")


def test_check_of_one_object_says_so(kueuepy, tmp_path):
    path = tmp_path / "flavor.yaml"
    path.write_text(kq.dump(kq.Cluster(kq.ResourceFlavor("f"))), encoding="utf-8")

    assert kueuepy("check", path).out.startswith("1 object of v1beta2 is valid; ")


def test_check_finds_what_surprises_and_exits_with_3(kueuepy, lint_examples):
    path = lint_examples / "L1" / "surprising.yaml"
    ran = kueuepy("check", path)

    assert ran.code == 3
    assert ran.out.startswith(f'{path}:11: error L1: ClusterQueue "team-a": spec.namespaceSelector: ')
    assert ran.out.endswith("2 objects of v1beta2 are valid; 1 error\n")


def test_check_fails_from_the_severity_that_is_asked_for(kueuepy, lint_examples):
    path = lint_examples / "L6" / "surprising.yaml"  # two warnings

    assert kueuepy("check", path, "--fail-on", "error").code == 0
    assert kueuepy("check", path, "--fail-on", "note").code == 3
    assert kueuepy("check", path, "--fail-on", "never").code == 0
    assert kueuepy("check", path, "--skip", "L3", "--skip", "L6").code == 0


def test_check_of_an_unknown_rule_says_which_there_are(kueuepy, lint_examples):
    ran = kueuepy("check", lint_examples / "L1" / "fixed.yaml", "--skip", "L99")

    assert ran.code == 1
    assert 'error: lint: "L99" is no rule' in ran.err


def test_check_of_what_is_not_valid_names_every_problem_and_exits_with_1(kueuepy, seeds):
    path = seeds / "001" / "borrowing-limit.yaml"
    ran = kueuepy("check", path)

    assert (ran.code, ran.out) == (1, "")
    assert ran.err.count(f"error: {path}:") == 2
    assert ran.err.endswith("2 things to put right\n")
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


def test_convert_notes_on_standard_error_what_it_put_right(kueuepy, seeds):
    ran = kueuepy("convert", "--lenient", seeds / "000" / "codependent.yaml")

    assert ran.code == 0
    assert "note: " in ran.err
    assert "on_demand" in ran.err


def test_convert_prints_a_list_as_json(kueuepy, seeds):
    found = kueuepy("convert", "--json", seeds / "000" / "cluster-total.yaml").json

    assert found["kind"] == "List"
    assert [item["kind"] for item in found["items"]] == ["ResourceFlavor", "ClusterQueue", "LocalQueue"]
