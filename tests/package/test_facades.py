"""Public names: few at the top level, others in modules that load on first use."""

import ast
import importlib
import inspect
from pathlib import Path

import pytest

import kueuepy as kq
from kueuepy import _stubs
from kueuepy.errors.former import FORMER

FACADES = ["kueuepy", "kueuepy.lab", "kueuepy.platform", "kueuepy.sim"]
OTHERS = ["kueuepy.errors", "kueuepy.objects", "kueuepy.jobs", "kueuepy.platform.live", "kueuepy.manifest"]


def test_the_top_level_has_at_most_60_names():
    assert len(kq.__all__) <= 60
    assert {"Cluster", "Scheduler", "simulate", "Jobs", "KueueError", "sim", "lab"} <= set(kq.__all__)


def test_the_lab_has_at_most_24_names():
    assert len(kq.lab.__all__) <= 24


@pytest.mark.parametrize("name", FACADES)
def test_a_facade_lists_its_names_once_and_loads_each(name):
    facade = importlib.import_module(name)
    assert dir(facade) == sorted(facade.__all__)
    assert len(set(facade.__all__)) == len(facade.__all__)
    for public in facade.__all__:
        if f"{name}.{public}" not in ("kueuepy.lab.rl", "kueuepy.lab.play"):  # which may need an extra
            assert getattr(facade, public) is not None, public


@pytest.mark.parametrize("name", FACADES)
def test_a_stub_lists_exactly_the_names_that_it_imports(name):
    path = Path(inspect.getsourcefile(importlib.import_module(name)) or "").with_suffix(".pyi")
    body = ast.parse(path.read_text(encoding="utf-8")).body
    imports = [node for node in body if isinstance(node, ast.ImportFrom)]
    (listed,) = [ast.literal_eval(node.value) for node in body if isinstance(node, ast.Assign)]
    assert listed == sorted(listed)
    assert {alias.name: node.module for node in imports for alias in node.names} == _stubs.names_of(name)
    assert set(listed) == set(_stubs.names_of(name))


def test_no_name_is_in_two_facades():
    places = {}
    for name in [*FACADES, *OTHERS]:
        for public in getattr(importlib.import_module(name), "__all__", ()):
            places.setdefault(public, set()).add(name)
    twice = {public: found for public, found in places.items() if len(found) > 1}
    # The objects and errors that most programs need are at the top too.
    allowed = {public for public in kq.__all__ if public in {*kq.objects.__all__, *kq.errors.__all__}}
    assert {public: found for public, found in twice.items() if public not in allowed} == {
        "dump": {"kueuepy", "kueuepy.manifest"},
        "load": {"kueuepy", "kueuepy.manifest"},
    }


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


@pytest.mark.parametrize("name", FORMER["name"])
@pytest.mark.parametrize("module", [kq, kq.lab, kq.platform, kq.jobs, kq.manifest])
def test_a_removed_name_is_answered_with_the_new_way(module, name):
    with pytest.raises(AttributeError) as caught:
        getattr(module, name)
    assert str(caught.value).endswith(f"has no attribute '{name}': {FORMER['name'][name]}")


@pytest.mark.parametrize("module", [kq, kq.sim, kq.lab, kq.platform])
def test_an_unfamiliar_name_has_no_suggestion(module):
    with pytest.raises(AttributeError, match=r"^module '[\w.]+' has no attribute 'zzzz'$"):
        module.zzzz  # noqa: B018
    assert not hasattr(module, "_nothing")


OPEN = {"fields", "columns", "changes"}
"""Keywords that the user names: fields of an object, columns of a table."""


def _callables():
    for name in [*FACADES, *OTHERS]:
        facade = importlib.import_module(name)
        for public in sorted({*facade.__all__} - {"play", "rl"}):
            found = getattr(facade, public)
            if inspect.isclass(found) and found.__module__.startswith("kueuepy"):
                yield from (
                    (f"{name}.{public}.{n}", m) for n, m in inspect.getmembers(found) if n[0] != "_" and callable(m)
                )
            elif inspect.isfunction(found):
                yield f"{name}.{public}", found


def test_no_public_function_hides_its_keyword_arguments():
    hidden = set()
    for name, found in _callables():
        try:
            parameters = inspect.signature(found).parameters.values()
        except (TypeError, ValueError):  # of the core
            continue
        hidden |= {name for one in parameters if one.kind is one.VAR_KEYWORD and one.name not in OPEN}
    assert hidden == set()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: kq.sweep(kq.Cluster(), [], [{}], modle=1), 'sweep: "modle" is not an argument; did you mean "model"?'),
        (lambda: kq.compare({}, [], cloc=1), 'compare: "cloc" is not an argument; did you mean "clock"?'),
        (lambda: kq.lab.guarantee("delays", kq.Cluster(), missng=1), 'not an argument; did you mean "missing"?'),
        (lambda: kq.Jobs.read("log.csv", per_pods=1), '"per_pods" is not an argument; did you mean "per_pod"?'),
        (lambda: kq.plan(kq.Cluster(), [], "", vary="", low=1, high=2, seed=1), 'did you mean "seeds"?'),
    ],
)
def test_a_wrong_keyword_is_refused_by_name_with_a_guess(call, message):
    with pytest.raises(kq.errors.InvalidSpecError) as caught:
        call()
    assert message in str(caught.value)


def test_help_shows_the_keywords_that_are_passed_on():
    assert {"model", "events", "clock", "delays", "seeds"} <= set(inspect.signature(kq.sweep).parameters)
    assert {"future", "horizon", "n", "model"} <= set(inspect.signature(kq.lab.eta).parameters)


def test_a_scheduler_shows_no_internals():
    names = {name for name in dir(kq.Scheduler) if not name.startswith("_")}
    assert names.isdisjoint({"state", "engine", "lock", "session", "of_state", "take", "id_of", "job_context"})
    assert len(names) <= 40


def test_equal_schedulers_have_the_same_fingerprint_and_others_do_not():
    queue = kq.ClusterQueue.of("team", {"default": {"cpu": 4}})
    scheduler = kq.Scheduler(kq.Cluster(kq.ResourceFlavor("default"), queue), now=0)
    twin = scheduler.fork()
    assert twin.fingerprint() == scheduler.fingerprint()
    twin.submit({"name": "job", "queue": "team", "cpu": 3})
    assert twin.fingerprint() != scheduler.fingerprint()
    twin.settle()
    assert twin.usage.amounts() == {"team": {"default/cpu": 3000}}
    assert twin.quota.amounts("nominal_quota") == {"team": {"default/cpu": 4000}}
    assert scheduler.usage.amounts() == {"team": {}}
