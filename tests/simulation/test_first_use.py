"""The first things that somebody does who has only the docs: short enough, and they come to an answer."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


def typed(page, heading):
    """The lines that are typed in the first example under a heading."""
    text = (DOCS / page).read_text(encoding="utf-8")
    _, found, rest = text.partition(f"\n## {heading}\n")
    assert found, f"{page} has no such heading"
    block = re.search(r"```pycon\n(.*?)```", rest, re.DOTALL)
    return [line[4:] for line in block[1].splitlines() if line.startswith((">>> ", "... "))]


def run(lines, monkeypatch):
    pytest.importorskip("matplotlib").use("agg")
    monkeypatch.chdir(DOCS.parent)
    names = {}
    exec("\n".join(lines), names)  # noqa: S102 - our own docs
    return names


def test_a_week_of_three_teams_under_three_policies_takes_15_lines(monkeypatch):
    lines = typed("simulate.md", "Compare three policies for three teams")
    assert len(lines) <= 15
    names = run(lines, monkeypatch)
    teams = {
        queue.name: queue.resource_groups[0].flavors[0].resources[0].nominal_quota
        for queue in names["policies"]["alone"].cluster_queues
    }
    assert {name: int(str(nominal)) for name, nominal in teams.items()} == {"vision": 40, "speech": 40, "robots": 20}
    assert 4_900 < len(names["jobs"]) < 5_100
    waits = [kpis.wait_mean for kpis in names["found"].kpis.values()]
    assert len(waits) == 3
    assert min(waits[1:]) < waits[0] / 10
    assert names["axes"].collections or names["axes"].patches


def test_the_log_of_philly_takes_8_lines(monkeypatch):
    lines = typed("howto.md", "Compare waiting times of a log under other policies")
    assert len(lines) <= 8
    names = run(lines, monkeypatch)
    assert len(names["log"]) == 12_380
    assert all(kpis.finished == 12_380 for kpis in names["found"].kpis.values())
    assert names["axes"].get_ylabel()
