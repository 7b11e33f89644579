"""The test data of the project: first documents, recordings, and fuzzers for users (LP)."""

import json
import re
from pathlib import Path

import msgspec
from hypothesis import HealthCheck, given, settings

import kueuepy as kq
from kueuepy.manifest import FEATURE_GATES
from kueuepy.testing import clusters, drive, jobs, traces, workloads

ROOT = Path(__file__).parents[2]
_SLOW = settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


@_SLOW
@given(clusters().flatmap(lambda cluster: workloads(cluster).map(lambda found: (cluster, found))))
def test_LP_05_any_cluster_with_any_workloads_runs(drawn):
    cluster, waiting = drawn
    scheduler = kq.Scheduler(cluster)
    scheduler.submit(waiting)
    scheduler.settle(max_cycles=50)
    assert scheduler._engine.check() == []
    assert len(scheduler.keys()) == len(waiting)


@_SLOW
@given(clusters().flatmap(lambda cluster: traces(cluster).map(lambda found: (cluster, found))))
def test_LP_05_any_trace_can_be_run(drawn):
    cluster, trace = drawn
    scheduler = kq.Scheduler(cluster)
    drive(scheduler, trace)
    assert len(scheduler.keys()) == len(trace)


@_SLOW
@given(clusters().flatmap(jobs))
def test_LP_05_any_job_becomes_a_workload(manifests):
    assert all(workload.pod_sets for workload in kq.jobs.to_workloads(manifests))


def test_LP_08_every_first_document_has_a_notebook_that_asserts_its_numbers():
    shown: dict[str, int] = {}
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        code = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
        for seed in re.findall(r"(?:seeds|SEEDS})/(00\d)/", code):
            shown[seed] = shown.get(seed, 0) + code.count("assert ")
    folders = [path.name for path in sorted((ROOT / "examples" / "seeds").iterdir()) if path.is_dir()]
    assert sorted(shown) == folders == ["000", "001", "002", "003", "004"]
    assert all(shown.values())


def test_LP_08_every_first_document_loads_and_is_named_by_a_test():
    tests = "".join(path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("test_*.py"))
    for path in sorted((ROOT / "examples" / "seeds").rglob("*.yaml")):
        kq.manifest.load(path, strict=False)
        assert path.stem in tests


def test_LP_09_the_recordings_of_kueue_are_data_files():
    found = kq.fidelity()
    assert (found.commit, found.version) == ("ff69552e79", "v0.20-devel")
    assert found.api_versions == ("v1alpha1", "v1alpha2", "v1beta1", "v1beta2")
    assert {name: gate.default for name, gate in found.feature_gates.items()} == FEATURE_GATES
    assert "batch/v1 Job" in found.job_kinds
    assert json.loads(msgspec.json.encode(found))["feature_gates"]["PartialAdmission"] == {
        "default": True,
        "effect": "modelled",
        "note": "",
    }


def test_LP_09_the_list_of_effective_feature_gates_matches_the_sources():
    core = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "src" / "cpp").rglob("*.[ch]*"))
    table = (ROOT / "src" / "cpp" / "model" / "config.h").read_text(encoding="utf-8")
    fields = dict(re.findall(r'\{"(\w+)",\s*&FeatureGates::(\w+)', table))
    asked = {name for name, field in fields.items() if re.search(rf"gates\.{field}\b", core)}
    reads = re.compile(r'(?:enabled|gate|gates\.get|"featureGates"\)\.get)\((?:\S+, )?"(\w+)"\)')
    for path in (ROOT / "src" / "kueuepy").rglob("*.py"):
        asked |= set(reads.findall(path.read_text(encoding="utf-8")))
    only_validated = {"MultiKueue"}  # it affects no decision
    removed = {  # gates of earlier releases
        *("DynamicResourceAllocation", "DRAExtendedResources"),
        *("MultiKueueRedoAdmissionOnEvictionInWorker", "MultiKueueWaitForWorkloadAdmitted"),
    }
    assert {name for name, gate in kq.fidelity().feature_gates.items() if gate.effective} == (
        asked - only_validated - removed
    )


def test_LP_09_every_row_replayed_on_kueue_has_a_test_with_its_id():
    tests = "".join(path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("test_*.py"))
    assert [row for row in kq.fidelity().replayed if row.replace("-", "_") not in tests] == []
