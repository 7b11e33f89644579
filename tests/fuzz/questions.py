"""Random questions to a Scheduler, which do not change it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fuzz.objects import job, some_object, workload
from kueuepy.engine.decisions import Admitted
from kueuepy.errors import InternalError, KueueError

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from kueuepy.scheduler import Scheduler


def ask(scheduler: Scheduler, chosen: Random, number: int) -> str:
    """Ask a random question, and return a description of it.

    Raises:
        AssertionError: Two answers contradict each other.
        InternalError: The engine found a bug.
    """
    question = chosen.choice(_QUESTIONS)
    keys = scheduler.keys()
    # An existing workload or a new one.
    item: Any = chosen.choice(keys) if keys and chosen.random() < _MOSTLY else workload(chosen, f"q{number}")
    try:
        question(scheduler, item, chosen)
    except InternalError:
        raise
    except KueueError:
        pass
    return f"{question.__name__.strip('_')} of {item!r}"


def _explain(scheduler: Scheduler, item: Any, _: Random) -> None:
    explanation = scheduler.explain(item)
    assert str(explanation), "an explanation says nothing"
    if isinstance(item, str) and explanation.verdict == "Fits":
        assert isinstance(scheduler.try_admit(item), Admitted), "what fits would not be admitted"


def _try_admit(scheduler: Scheduler, item: Any, chosen: Random) -> None:
    several = [item, job(chosen, "asked"), workload(chosen, "asked-too")]
    answer = scheduler.try_admit(item)
    assert scheduler.try_admit_many([*several, item])[0] == answer, "asked with others, the answer is another one"


def _largest_count(scheduler: Scheduler, item: Any, chosen: Random) -> None:
    scheduler.largest_count(item, preempting=chosen.random() < _HALF)


def _whatif(scheduler: Scheduler, _: Any, chosen: Random) -> None:
    str(scheduler.whatif(some_object(chosen)))


def _look(scheduler: Scheduler, item: Any, _: Random) -> None:
    tables = (scheduler.usage, scheduler.quota, scheduler.shares, scheduler.queues, scheduler.workloads)
    assert all(map(str, tables)), "a table says nothing"
    if isinstance(item, str):
        assert scheduler.workload(item).key == item, "a workload has another name"
        scheduler.start_patch(item)


_HALF, _MOSTLY = 0.5, 0.8
_QUESTIONS: tuple[Callable[[Scheduler, Any, Random], None], ...] = (
    _explain,
    _try_admit,
    _largest_count,
    _whatif,
    _look,
)
