"""Findings as data, text and HTML, and the arguments of lint."""

import pytest

from kueuepy.cluster import Cluster
from kueuepy.errors import NotFoundError
from kueuepy.lint import Finding, Findings, lint
from kueuepy.objects import ClusterQueue, PodSet, Quota, ResourceFlavor, RuntimeClass, Workload

NOBODY = ClusterQueue.of("vision", {"default": {"cpu": Quota(9, borrowing_limit=1)}}, namespace_selector=None)


def test_a_finding_has_location_severity_rule_object_field_and_message():
    finding = Finding(
        rule="L1", severity="error", object='ClusterQueue "a"', field="spec.x", message="is odd", where="a.yaml:3"
    )

    assert str(finding) == 'a.yaml:3: error L1: ClusterQueue "a": spec.x: is odd'


def test_objects_built_in_python_have_no_location():
    findings = lint([ResourceFlavor("default"), NOBODY])

    assert [finding.rule for finding in findings] == ["L1", "L2"]
    assert str(findings).startswith('error L1: ClusterQueue "vision": spec.namespaceSelector: is absent')


def test_a_cluster_is_linted_with_implicit_local_queues():
    cluster = Cluster(ResourceFlavor("default"), ClusterQueue.of("vision", {"default": {"cpu": 9}}))

    assert lint(cluster) == []


def test_rules_can_be_skipped_and_unknown_rules_are_rejected():
    assert [finding.rule for finding in lint([ResourceFlavor("default"), NOBODY], skip=["L2"])] == ["L1"]
    with pytest.raises(NotFoundError, match='"L99" is not a rule'):
        lint([], skip=["L99"])


def test_findings_can_be_narrowed_by_severity():
    grave = Finding(rule="L1", severity="error", object="a", field="", message="m")
    mild = Finding(rule="L15", severity="note", object="a", field="", message="m")
    findings = Findings([grave, mild])

    assert findings.at_least("error") == [grave]
    assert findings.at_least("warning") == [grave]
    assert findings.at_least("note") == [grave, mild]


def test_html_escapes_object_names():
    findings = Findings([Finding(rule="L1", severity="error", object='Cohort "<b>"', field="", message="a & b")])

    html = findings._repr_html_()
    assert "Cohort &quot;&lt;b&gt;&quot;" in html
    assert "a &amp; b" in html


def test_an_empty_list_of_findings_has_a_message():
    assert str(Findings()) == "no findings"
    assert Findings()._repr_html_() == "<p>no findings</p>"


@pytest.mark.parametrize(("overhead", "rules"), [("1", ["L35"]), ("0", [])])
def test_the_overhead_of_a_runtime_class_can_make_a_workload_too_large(overhead, rules):
    container = {"name": "main", "resources": {"requests": {"cpu": 4}}}
    pods = PodSet(template={"spec": {"runtimeClassName": "kata", "containers": [container]}})
    queue = ClusterQueue.of("vision", {"default": {"cpu": 4}})
    kata = RuntimeClass("kata", overhead={"cpu": overhead})
    cluster = Cluster(ResourceFlavor("default"), queue, kata, Workload("a", queue_name="vision", pod_sets=[pods]))

    assert [finding.rule for finding in lint(cluster)] == rules
