"""Modules that have moved are found under their old names for one release."""

import importlib
import sys

import pytest

from kueuepy import _renamed


@pytest.mark.parametrize(("old", "new"), sorted(_renamed.NEW_NAMES.items()))
def test_an_old_name_is_the_new_module(old, new, monkeypatch):
    monkeypatch.delitem(sys.modules, old, raising=False)
    with pytest.warns(DeprecationWarning, match=f"^{old} is {new} now$"):
        module = importlib.import_module(old)
    assert module is importlib.import_module(new)


def test_the_documented_names_are_where_they_were():
    documented = {
        "checks": "Check CheckController",
        "cluster": "Cluster",
        "frames": "Categorical Columns Grid QueueTable QuotaTable ShareTable UsageTable WorkloadTable",
        "importer": "Import import_cluster",
        "journal": "Journal",
        "journal_scheduler": "JournaledScheduler",
        "kpis": "Kpis",
        "metrics": "Watch",
        "perf": "Load perf read_profile",
        "persist": "from_bytes load save to_bytes",
        "picture": "Picture",
        "policy": "DecisionChange JobChange compare",
        "policy_history": "HistoryTable Move",
        "policy_run": "JobOutcome QueueOutcome Run",
        "statement": "Gate fidelity",
        "visibility": "PendingWorkload PendingWorkloadsSummary pending_workloads",
        "visibility_dump": "state_dump",
        "visibility_events": "Event",
        "visibility_status": "ClusterQueueStatus CohortStatus LocalQueueStatus cluster_queue_status",
    }
    for name, names in documented.items():
        module = importlib.import_module(_renamed.NEW_NAMES.get(f"kueuepy.{name}", f"kueuepy.{name}"))
        assert [found for found in names.split() if not hasattr(module, found)] == [], name


def test_no_other_name_is_found():
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("kueuepy.never_was")
