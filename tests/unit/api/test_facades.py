"""Public names: few at the top level, others in modules that load on first use."""

import ast
import importlib
import inspect
from pathlib import Path

import pytest

import kueuepy as kq
from kueuepy import _home

FACADES = ["kueuepy", "kueuepy.answers", "kueuepy.lab", "kueuepy.platform", "kueuepy.sim"]
OTHERS = ["kueuepy.errors", "kueuepy.objects", "kueuepy.jobs", "kueuepy.live", "kueuepy.manifest"]


def test_the_top_level_has_at_most_60_names():
    assert len(kq.__all__) <= 60
    assert {"Cluster", "Scheduler", "simulate", "Jobs", "KueueError", "sim", "lab"} <= set(kq.__all__)


@pytest.mark.parametrize("name", FACADES)
def test_a_facade_lists_its_names_once_and_loads_each(name):
    facade = importlib.import_module(name)
    assert dir(facade) == sorted(facade.__all__)
    assert len(set(facade.__all__)) == len(facade.__all__)
    for public in facade.__all__:
        if f"{name}.{public}" not in ("kueuepy.lab.rl", "kueuepy.lab.play"):  # which may need an extra
            assert getattr(facade, public) is not None, public


@pytest.mark.parametrize("name", FACADES)
def test_type_checkers_see_the_names_that_a_facade_loads(name):
    path = Path(inspect.getsourcefile(importlib.import_module(name)) or "")
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    typed = {
        (node.module, alias.name)
        for node in nodes
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("kueuepy.")
        for alias in node.names
    } - {("kueuepy.version", "installed"), ("kueuepy.display.html", "html")}
    loaded = {(module, public) for module, names in _home.HOME[name].items() for public in names.split()}
    assert typed == loaded


def test_no_name_is_in_two_facades():
    places = {}
    for name in [*FACADES, *OTHERS]:
        for public in getattr(importlib.import_module(name), "__all__", ()):
            places.setdefault(public, set()).add(name)
    twice = {public: found for public, found in places.items() if len(found) > 1}
    # The objects and errors that programs need most are at the top too; each module of manifests has its own `load`.
    allowed = {public for public in kq.__all__ if public in {*kq.objects.__all__, *kq.errors.__all__}}
    assert {public: found for public, found in twice.items() if public not in allowed} == {
        "LimitError": {"kueuepy.errors", "kueuepy.manifest"},
        "ManifestError": {"kueuepy.errors", "kueuepy.manifest"},
        "Priority": {"kueuepy.jobs", "kueuepy.sim"},
        "dump": {"kueuepy", "kueuepy.manifest"},
        "load": {"kueuepy", "kueuepy.manifest"},
        "verify": {"kueuepy.live"},
    } | {}


@pytest.mark.parametrize(
    ("module", "name", "guess"),
    [
        (kq, "Failures", "kueuepy.sim.Failures"),
        (kq, "TopologyAssignment", "kueuepy.objects.TopologyAssignment"),
        (kq, "NotFoundError", "kueuepy.errors.NotFoundError"),
        (kq, "Schedular", "kueuepy.Scheduler"),
        (kq.sim, "Scheduler", "kueuepy.Scheduler"),
        (kq.lab, "serch", "kueuepy.lab.search"),
    ],
)
def test_an_error_names_the_facade_that_has_a_name(module, name, guess):
    with pytest.raises(AttributeError) as caught:
        getattr(module, name)
    assert str(caught.value) == f"module '{module.__name__}' has no attribute '{name}'; did you mean {guess}?"


@pytest.mark.parametrize("module", [kq, kq.sim, kq.lab, kq.platform, kq.answers])
def test_an_unfamiliar_name_has_no_suggestion(module):
    with pytest.raises(AttributeError, match=r"^module '[\w.]+' has no attribute 'zzzz'$"):
        module.zzzz  # noqa: B018
    assert not hasattr(module, "_nothing")
