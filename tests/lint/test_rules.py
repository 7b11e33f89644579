"""Every rule reports its faulty example and accepts its fixed example."""

from pathlib import Path

import pytest

from kueuepy.lint import RULES, lint
from kueuepy.manifest import load

EXAMPLES = Path(__file__).parents[2] / "examples" / "lint"
IDS = [rule.id for rule in RULES]


def _found(name, example):
    return lint(load(EXAMPLES / name / f"{example}.yaml"))


@pytest.mark.parametrize("name", IDS)
def test_a_rule_reports_its_faulty_example_with_location(name):
    findings = [finding for finding in _found(name, "surprising") if finding.rule == name]

    assert findings
    for finding in findings:
        assert finding.message
        assert finding.object.partition(" ")[0] in {
            "ClusterQueue",
            "ResourceFlavor",
            "Workload",
            "Cohort",
            "Job",
            "Node",
            "Topology",
            "Configuration",
        }
        unplaced = ("Workload", "Cohort", "Configuration")
        assert finding.where.startswith(str(EXAMPLES)) or finding.object.startswith(unplaced)


@pytest.mark.parametrize("name", IDS)
def test_the_fixed_example_has_no_findings(name):
    assert [finding for finding in _found(name, "fixed") if finding.rule == name] == []


def test_every_example_belongs_to_a_rule():
    assert sorted(folder.name for folder in EXAMPLES.iterdir() if folder.is_dir()) == sorted(IDS)


def test_ids_start_at_l1_and_titles_are_sentences():
    assert [f"L{number}" for number in range(1, len(IDS) + 1)] == IDS
    assert all(rule.title.endswith(".") for rule in RULES)
