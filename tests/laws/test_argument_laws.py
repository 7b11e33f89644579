"""Every public function, class and method returns or raises a KueueError, for any arguments.

A wrong number of arguments or an unknown argument name raises Python's TypeError, like an undefined operator. Functions
of users, and base classes from other packages, are not tested.
"""

from __future__ import annotations

import enum
import importlib
import inspect
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import kueuepy as kq
from kueuepy.errors import InternalError, KueueError
from kueuepy.platform.journal import Journal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROW = {"name": "z", "queue": "q", "cpu": 1, "submit": 0, "duration": 5}
PLATFORM = {name: f"platform.{name}" for name in ("journal", "importer", "metrics", "visibility")}
MODULES = {name: name for name in ("jobs", "manifest", "objects")} | PLATFORM | {"lint": "lint"}
"""By its name in `EXCEPT`, each module with public functions beside the facade."""
EXCEPT = {
    "jobs.BaseJob": "is derived from",
    "jobs.PodSetInfo": "is for classes of one's own",
    "jobs.PodSetPath": "is for classes of one's own",
    "jobs.PodSetSource": "is for classes of one's own",
    "jobs.register": "lasts for the whole process",
    "jobs.path_kind": "lasts for the whole process",
    "lint.Findings": "is a list",
    "objects.Timestamp": "is constructed as a datetime",
    "CheckRequest": "is a tuple",
}
FOR_THE_JOURNAL = {"begin", "declared", "reapply", "redone", "resubmit", "give_up", "write", "of_parts", "take"}


class Odd:
    """An object of an unknown type."""


def wrong() -> list[Any]:
    """Values of all types, and meaningless texts."""
    return [
        *(None, True, 5, -1, 2**70, 0.5, math.nan, 1j, "", "x", "default/a", b"x", "\ud800", "\0"),
        *([], [5], ["x"], [[]], [None], (), {}, {"a": 1}, {1: 2}, {"name": 5}, set(), {5}, range(3), iter([1])),
        *(Odd(), {"kind": "Job"}, {"apiVersion": "batch/v1", "kind": "Job", "metadata": 5}),
        {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload", "spec": []},
    ]


def cluster() -> kq.Cluster:
    queue = kq.ClusterQueue.of("q", {"f": {"cpu": 4}})
    return kq.Cluster(kq.ResourceFlavor("f"), queue, kq.AdmissionCheck("c", controller_name="x/y"))


def scheduler() -> kq.Scheduler:
    made = kq.Scheduler(cluster(), now=0)
    made.submit({"name": "a", "queue": "q", "cpu": 1}, {"name": "b", "queue": "q", "cpu": 9})
    made.settle()
    return made


def right() -> list[Any]:
    """Values that are valid for some arguments."""
    workload = kq.Workload("w", queue_name="q", pod_sets=(kq.PodSet.of(requests={"cpu": 1}),))
    queue, jobs = kq.ClusterQueue.of("q", {"f": {"cpu": 5}}), kq.Jobs.of([ROW])
    return [cluster(), scheduler(), workload, [workload], queue, kq.Configuration(), jobs, "q", 1, dict(ROW)]


MADE: dict[str, Callable[[], Any]] = {
    "Answers": lambda: scheduler().try_admit_many(["a", "b"]),
    "Cluster": cluster,
    "Comparison": lambda: kq.compare(cluster(), cluster(), [ROW]),
    "Configuration": kq.Configuration,
    "Difference": lambda: scheduler().whatif(kq.ClusterQueue.of("q", {"f": {"cpu": 5}})),
    "Explanation": lambda: scheduler().explain("b"),
    "Jobs": lambda: kq.Jobs.of([ROW]),
    "Manifest": lambda: cluster().manifest,
    "Quantity": lambda: kq.Quantity("5"),
    "Result": lambda: kq.simulate(cluster(), [ROW]),
    "Scheduler": scheduler,
    "Settled": lambda: scheduler().settle(),
    "Simulation": lambda: kq.Simulation(cluster(), [ROW]),
}
OF_THE_CORE = {
    "Quantity": ("value",),
    "Quantity.format": ("resource", "value"),
    "Quantity.printed": ("text",),
    "Quantity.quota": ("resource",),
    "Quantity.request": ("resource",),
    "Question": ("workload",),
}
"""The parameters of what is written in C++, and has no signature."""


def names() -> Iterator[str]:
    """Return every public function, class and method."""
    seen: set[int] = set()
    for module in ("", *MODULES):
        home = importlib.import_module(f"kueuepy.{MODULES.get(module, module)}".strip("."))
        for name in sorted(home.__all__):
            found = getattr(home, name)
            path = f"{module}.{name}".strip(".")
            if not (inspect.isclass(found) or inspect.isroutine(found)) or id(found) in seen or path in EXCEPT:
                continue
            seen.add(id(found))
            if not inspect.isclass(found):
                yield path
            elif not _is_left_out(found):
                yield path
                yield from (f"{path}.{method}" for method in _methods(found, name))


def _is_left_out(cls: type) -> bool:
    return issubclass(cls, BaseException | enum.Enum) or getattr(cls, "_is_protocol", False)


def _methods(cls: type, name: str) -> Iterator[str]:
    for method in sorted(dir(cls)):
        member = inspect.getattr_static(cls, method, None)  # inspect.getmembers_static needs Python 3.11
        if method.startswith("_") or method in FOR_THE_JOURNAL or hasattr(Sequence, method):
            continue
        if isinstance(member, classmethod | staticmethod) or (name in MADE and callable(getattr(cls, method))):
            yield method


def found(path: str) -> Any:
    """Return the object of this name; for a method, of a new instance."""
    value: Any = kq
    for name in path.split("."):
        is_class = inspect.isclass(value)
        member = inspect.getattr_static(value, name, None) if is_class else None
        if is_class and not isinstance(member, classmethod | staticmethod):
            value = MADE[value.__name__]()
        value = (
            importlib.import_module(f"kueuepy.{MODULES[name]}")
            if value is kq and name in MODULES
            else getattr(value, name)
        )
    return value


def parameters(path: str, function: Any) -> list[inspect.Parameter]:
    """Return the parameters."""
    if path in OF_THE_CORE:
        return [inspect.Parameter(name, inspect.Parameter.POSITIONAL_ONLY) for name in OF_THE_CORE[path]]
    if inspect.isclass(function) and issubclass(function, msgspec.Struct):
        return [
            inspect.Parameter(
                field.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=inspect.Parameter.empty if field.required else None,
            )
            for field in msgspec.structs.fields(function)
        ]
    return list(inspect.signature(function).parameters.values())


@pytest.mark.parametrize("path", sorted(names()))
def test_invalid_arguments_raise_a_kueue_error(path: str, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    function, values = found(path), [*wrong(), *right()]
    value = st.integers(0, len(values) - 1).map(values.__getitem__)
    given_by_place, given_by_name = arguments(parameters(path, function), value)

    @settings(max_examples=12, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(given_by_place, given_by_name)
    def law(args: list[Any], options: dict[str, Any]) -> None:
        _call(function, args, options)

    law()


def arguments(
    known: list[inspect.Parameter], value: st.SearchStrategy[Any]
) -> tuple[st.SearchStrategy[list[Any]], st.SearchStrategy[dict[str, Any]]]:
    """Draw positional and keyword arguments."""
    by_place = [one for one in known if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
    by_name = [one for one in known if one.kind is one.KEYWORD_ONLY]
    fewest = sum(one.default is one.empty for one in by_place)
    most = len(by_place) + (2 if any(one.kind is one.VAR_POSITIONAL for one in known) else 0)
    needed = {one.name: value for one in by_name if one.default is one.empty}
    others = {one.name: value for one in by_name if one.default is not one.empty}
    return st.lists(value, min_size=fewest, max_size=most), st.fixed_dictionaries(needed, optional=others)


def _call(function: Any, args: list[Any], options: dict[str, Any]) -> None:
    try:
        answer = function(*args, **options)
        if inspect.isgenerator(answer):
            list(answer)
        if isinstance(answer, Journal):
            answer.close()
    except InternalError:
        raise
    except KueueError:
        pass


def test_every_public_name_is_tested():
    paths = set(names())
    assert {"Scheduler", "Scheduler.submit", "simulate", "Quantity.printed", "jobs.from_row", "Journal"} <= {
        path.removeprefix("journal.") for path in paths
    }
    assert len(paths) > 200
    assert all(inspect.isroutine(found(path)) or inspect.isclass(found(path)) for path in paths)


@pytest.mark.parametrize("method", ["scheduler", "backup"])
def test_a_journal_rejects_invalid_arguments_and_continues(tmp_path, monkeypatch, method: str):
    monkeypatch.chdir(tmp_path)
    with Journal(tmp_path / "j.db") as journal:
        journal.scheduler(cluster())
        for value in wrong():
            _call(getattr(journal, method), [value], {})
        journal.scheduler().submit({"name": "later", "queue": "q", "cpu": 1})


def test_an_error_names_the_argument_and_what_it_must_be():
    for call, words in (
        (lambda: kq.Cluster().get(5, "x"), "Cluster.get: kind: is 5; it must be a class such as ClusterQueue"),
        (lambda: kq.Jobs.of([ROW]).head("x"), "head: n: is 'x'; it must be int"),
    ):
        with pytest.raises(kq.errors.InvalidSpecError, match=words):
            call()


def test_exceptions_of_user_functions_are_not_converted():
    def check(_: kq.Workload) -> str:
        raise ZeroDivisionError

    queue = kq.ClusterQueue.of(
        "q", {"f": {"cpu": 4}}, admission_checks_strategy=[kq.objects.AdmissionCheckStrategyRule("c")]
    )
    objects = [kq.ResourceFlavor("f"), queue, kq.AdmissionCheck("c", controller_name="x/y")]
    running = kq.Scheduler(kq.Cluster(objects), checks={"x/y": check})
    running.submit({"name": "a", "queue": "q", "cpu": 1})
    with pytest.raises(ZeroDivisionError):
        running.settle()
