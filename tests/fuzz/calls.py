"""Random calls on a Scheduler, determined by the seed, the step and the state."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from fuzz.objects import CHECKS, CONTROLLER, job, some_object, workload
from kueuepy.engine.cycle import Cycle, Settled
from kueuepy.errors import InternalError, KueueError
from kueuepy.objects import AdmissionCheck, Namespace, ResourceFlavor, Topology
from kueuepy.session.session import session_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kueuepy.objects import Workload
    from kueuepy.scheduler import Scheduler
    from kueuepy.session.checks import Check

_MOST_WORKLOADS = 30
_MANY = 3


class Call(NamedTuple):
    """A call of a method of a Scheduler."""

    method: str
    args: tuple[Any, ...] = ()
    options: Mapping[str, Any] = {}

    def on(self, scheduler: Scheduler) -> str:
        """Execute the call, and return its result, or the KueueError that it raised, as text.

        Raises:
            InternalError: The engine found a bug.
        """
        try:
            found = getattr(scheduler, self.method)(*self.args, **self.options)
        except InternalError:
            raise
        except KueueError as error:
            return f"{type(error).__name__}: {error}"
        if isinstance(found, Settled):
            return repr(([cycle.decisions for cycle in found], found.loops, found.finished))
        return repr(found.decisions if isinstance(found, Cycle) else found)

    def __str__(self) -> str:
        """Return the call as Python code for a Scheduler named `scheduler`."""
        options = [f"{name}={value!r}" for name, value in self.options.items()]
        return f"scheduler.{self.method}({', '.join([*map(repr, self.args), *options])})"


def chosen_at(seed: int, number: int) -> Random:
    """Return the random number generator of a step."""
    return Random(f"{seed}/{number}")  # noqa: S311 - no secret


def step(scheduler: Scheduler, seed: int, number: int) -> str:
    """Execute the call of a step, and return it as text."""
    call = next_call(scheduler, chosen_at(seed, number), number)
    call.on(scheduler)
    return str(call)


def next_call(scheduler: Scheduler, chosen: Random, number: int) -> Call:
    """Return the next call. The names of new workloads contain the number of the step."""
    return chosen.choices(_MAKERS, _WEIGHTS)[0](scheduler, chosen, number)


def answering() -> dict[str, Check]:
    """Return the function that answers one of the admission checks. Calls of `set_check` answer the other one."""
    return {CONTROLLER + CHECKS[0]: _answer}


def _answer(workload: Workload) -> Any:
    number = int(workload.name.strip("w").partition("-")[0].strip("job") or 0)
    return (None, "Ready", "Retry", "Ready", "Pending")[number % 5]


def _submit(scheduler: Scheduler, chosen: Random, number: int) -> Call:
    if len(scheduler.keys()) >= _MOST_WORKLOADS:
        return _delete(scheduler, chosen, number)
    if chosen.random() < _SELDOM:
        return Call("submit", (job(chosen, f"{number}-job"),))
    return Call("submit", tuple(workload(chosen, f"w{number}-{i}") for i in range(chosen.randint(1, _MANY))))


def _apply(_scheduler: Scheduler, chosen: Random, _: int) -> Call:
    found = some_object(chosen)
    more = (some_object(chosen),) if chosen.random() < _SELDOM else ()
    return Call("apply", (found, *more))


def _remove(_scheduler: Scheduler, chosen: Random, _: int) -> Call:
    found = some_object(chosen)
    if isinstance(found, _NEEDED) and chosen.random() < _MOSTLY:  # most queues are inactive without these objects
        found = some_object(chosen)
    return Call("remove", (found,))


def _change(scheduler: Scheduler, chosen: Random, number: int) -> Call:
    """Change a workload: its priority, queue, activity or pod sets."""
    key = _some(scheduler, chosen)
    if key is None:
        return _submit(scheduler, chosen, number)
    known = scheduler.workload(key)
    other = workload(chosen, known.name)
    field = chosen.choice(("priority", "active", "queue_name", "pod_sets", "priority"))
    return Call("apply", (msgspec.structs.replace(known, **{field: getattr(other, field)}),))


def _on_one(make: Callable[[str, Random], Call]) -> Callable[[Scheduler, Random, int], Call]:
    """Return a function that makes a call for a random workload, or submits one if there is none."""

    def call(scheduler: Scheduler, chosen: Random, number: int) -> Call:
        key = _some(scheduler, chosen)
        return _submit(scheduler, chosen, number) if key is None else make(key, chosen)

    return call


def _some(scheduler: Scheduler, chosen: Random) -> str | None:
    keys = scheduler.keys()
    return chosen.choice(keys) if keys else None


def _check(key: str, chosen: Random) -> Call:
    state = chosen.choice(("Ready", "Ready", "Ready", "Retry", "Rejected", "Pending"))
    options: dict[str, Any] = {"message": "so be it"} if chosen.random() < _HALF else {}
    if state == "Retry" and chosen.random() < _HALF:
        options["requeue_after"] = chosen.choice((0, 5, "1m"))
    if state == "Ready" and chosen.random() < _SELDOM:
        options["pod_set_updates"] = [{"name": "main", "labels": {"approved": "yes"}}]
    return Call("set_check", (key, chosen.choice(CHECKS), state), options)


def _settle(_scheduler: Scheduler, chosen: Random, _: int) -> Call:
    return Call("settle", options={"max_cycles": chosen.choice((None, 0, 3, 20))})


def _advance(_scheduler: Scheduler, chosen: Random, _: int) -> Call:
    return Call("advance", (chosen.choice((0, 1, 30, 61, 121, 600, 0.25)),))


def _finish(scheduler: Scheduler, chosen: Random, number: int) -> Call:
    engine = session_of(scheduler).engine
    ids = {key: engine.find(key) for key in scheduler.keys()}  # noqa: SIM118 - a Scheduler is not a mapping
    holding = [key for key, at in ids.items() if engine.admission(at) and not engine.condition(at, "Finished")]
    key = chosen.choice(holding) if holding and chosen.random() > _SELDOM else _some(scheduler, chosen)
    if key is None:
        return _submit(scheduler, chosen, number)
    return Call("finish", (key,), {"reason": chosen.choice(("Succeeded", "Succeeded", "Failed", "FailedToStart"))})


def _delete(scheduler: Scheduler, chosen: Random, _: int) -> Call:
    table, keys = scheduler.workloads, scheduler.keys()
    done = tuple(key for key, status in zip(table["key"], table["status"], strict=True) if status == "Finished")
    some = done if done and chosen.random() < _MOSTLY else keys
    return Call("delete", tuple(chosen.sample(some, min(len(some), chosen.choice((1, _MANY, 2 * _MANY))))))


_NEEDED = (Namespace, ResourceFlavor, AdmissionCheck, Topology)
_HALF, _SELDOM, _MOSTLY = 0.5, 0.2, 0.8
_ACTIONS: dict[Callable[[Scheduler, Random, int], Call], int] = {
    _submit: 12,
    lambda *_: Call("cycle"): 16,
    _settle: 5,
    _advance: 8,
    _finish: 5,
    _delete: 3,
    _on_one(_check): 5,
    _on_one(lambda key, chosen: Call("pods_ready", (key, chosen.random() < _MOSTLY))): 5,
    _on_one(lambda key, chosen: Call("reclaim", (key, chosen.choice((0, 1, 2, {"main": 1}))))): 2,
    _change: 5,
    _apply: 8,
    _remove: 2,
}
_MAKERS, _WEIGHTS = list(_ACTIONS), list(_ACTIONS.values())
