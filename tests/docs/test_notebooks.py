"""Notebooks have no stored outputs and run from top to bottom."""

import json
from pathlib import Path

import pytest

import kueuepy as kq

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))


def _cells(path):
    return [cell for cell in json.loads(path.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_have_no_outputs(path):
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in _cells(path))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_displayed_objects_have_html(path, monkeypatch):
    monkeypatch.chdir(path.parent)
    names = {}
    for cell in _cells(path):
        source = "".join(cell["source"])
        last = source.splitlines()[-1]
        exec(compile(source, path.name, "exec"), names)  # noqa: S102 - our own notebook
        if last.isidentifier() and not isinstance(names[last], dict | kq.ResourceQuota):
            assert names[last]._repr_html_().startswith(("<style", "<div", "<table", "<details", "<figure"))


def test_the_list_of_notebooks_is_complete():
    assert [path.stem for path in NOTEBOOKS] == [
        "01_first_admission",
        "02_borrowing",
        "03_preemption",
        "04_fair_sharing",
        "05_flavors",
        "06_old_manifests",
        "07_releases",
        "08_topology",
        "09_share_gpus",
        "10_cost_of_preemption",
        "11_slow_cycles",
        "12_how_many_gpus",
        "13_classical_or_fair",
        "14_quota_pull_request",
        "15_policy_study",
        "16_dispatchers",
        "17_connect_your_cluster",
        "18_quota_guarantee",
    ]
