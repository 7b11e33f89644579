"""P11: what-if questions about the state of the large-scale load at half of its duration, and forks of this state."""

from collections import Counter

from callgrind import MARK, measure
from shapes import LARGE, job, names_of, profile
from sorts import PerformanceTest, sort_marked

from kueuepy import Configuration, Scheduler
from kueuepy._core import Engine
from kueuepy.scheduler import scheduler_with
from kueuepy.session.state import SchedulerState
from kueuepy.session.store import Store

QUESTIONS = 10_000
FORKS = 1_000
# CPUs and priority: the three classes of the load, and one with a higher priority than any of them.
ASKED = ((1, 50), (5, 100), (20, 200), (20, 300))


def half_time():
    """Return a Scheduler with the state after half of the virtual time of the load."""
    whole = PerformanceTest(profile(**LARGE)).start()
    while whole.advance():
        pass
    run = PerformanceTest(profile(**LARGE)).start()
    while run.advance(until=whole.stats.end // 2):
        pass
    return scheduler_with(Scheduler, SchedulerState(run.fork(), Configuration(), (), Store()))


def questions(scheduler):
    """Yield questions for every queue, with the classes of `ASKED` in turn."""
    queues = names_of(profile(**LARGE))
    for number in range(QUESTIONS):
        cpu, priority = ASKED[number // len(queues) % len(ASKED)]
        queue = queues[number % len(queues)]
        yield scheduler.question(
            job(f"asked-{number}", queue, cpu, priority=priority, created=round(scheduler.now * 10**9))
        )


def body():
    scheduler = half_time()
    asked = list(questions(scheduler))
    mark = Engine()
    mark.fingerprint()
    one_by_one = [type(scheduler.try_admit(item)).__name__ for item in asked]
    mark.fingerprint()
    at_once = scheduler.try_admit_many(asked).verdicts
    mark.fingerprint()
    for _ in range(FORKS):
        scheduler.fork()
    sort_marked(mark)
    assert one_by_one == list(at_once)
    return dict(sorted(Counter(one_by_one).items()))


def figures(parts, _):
    _, one_by_one, at_once, forks, _, sort, _ = parts
    return {
        "instructions per question": one_by_one / QUESTIONS,
        "instructions per question of many": at_once / QUESTIONS,
        "instructions per fork": forks / FORKS,
        "sorts for all questions": one_by_one / sort,
    }


if __name__ == "__main__":
    measure(__file__, body, figures, functions=[], marks=[MARK])
