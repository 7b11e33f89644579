"""The core and Python agree on the fields of the records that the core fills."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import kueuepy as kq
from kueuepy import _core
from kueuepy.engine import records
from kueuepy.session.session import session_of

CLASSES = {
    name: cls for name, cls in vars(records).items() if inspect.isclass(cls) and cls.__module__ == records.__name__
}


def test_each_record_of_the_core_has_a_class_and_each_class_a_record() -> None:
    tuples = {path for path in _core.RECORDS if path.startswith(f"{records.__name__}.")}
    assert {f"{records.__name__}.{name}" for name in CLASSES} == tuples


@pytest.mark.parametrize("path", sorted(_core.RECORDS))
def test_the_fields_of_a_record_are_equal_on_both_sides(path: str) -> None:
    module, _, name = path.rpartition(".")
    cls = getattr(import_module(module), name)
    assert _fields(cls) == _core.RECORDS[path]


def _fields(cls: type) -> tuple[str, ...]:
    if issubclass(cls, dict):
        return tuple(cls.__annotations__)
    return cls._fields if issubclass(cls, tuple) else cls.__struct_fields__


def test_no_signature_of_the_core_contains_a_tuple_of_more_than_three_fields() -> None:
    stub = Path(records.__file__).parent.parent / "_core.pyi"
    tuples = [
        node
        for node in ast.walk(ast.parse(stub.read_text()))
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id == "tuple"
    ]
    assert tuples
    assert [
        ast.unparse(node) for node in tuples if isinstance(node.slice, ast.Tuple) and len(node.slice.elts) > 3
    ] == []


def test_a_record_is_filled_field_by_field() -> None:
    queue = kq.ClusterQueue.of("team", {"spot": {"cpu": 4}}, cohort_name="all")
    scheduler = kq.Scheduler(kq.Cluster(kq.ResourceFlavor("spot"), queue), now=0)
    scheduler.submit({"name": "job", "queue": "team", "cpu": 3})
    engine = session_of(scheduler).engine
    assert engine.cycle() == records.CycleView(idle=False, admitted=1, evicted=0, moved=False)
    admission = engine.admission(engine.find("default/job"))
    assert type(admission) is records.AdmissionView
    (pod_set,) = admission.pod_sets
    assert type(pod_set) is records.PodSetAdmissionView
    assert pod_set == records.PodSetAdmissionView("main", 1, {"cpu": ("spot", 3000)}, None, "")
    (view,) = engine.cluster_queue_status()
    assert (view.name, view.cohort, view.reserving, view.admitted) == ("team", "all", 1, 1)
    (holding,) = view.holdings
    assert holding == ("spot", [records.ResourceHolding("cpu", 3000, 3000, 4000, 2**63 - 1, 2**63 - 1)])


def test_a_class_whose_fields_differ_from_those_of_the_core_is_rejected() -> None:
    code = """
from kueuepy import _core
from kueuepy.engine import records
records.CycleView = records.CheckView
_core.Engine().cycle()
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)  # noqa: S603 - own code
    assert run.returncode != 0
    assert "kueuepy.engine.records.CycleView: its fields differ from the core's: idle, admitted, evicted" in run.stderr
