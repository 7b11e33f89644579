"""After an exception at any line of a call, the state is that before the call or after it, and the next call works."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import kueuepy as kq
from kueuepy.platform import Journal
from kueuepy.session.session import session_of

SOURCES = str(Path(kq.__file__).parent)
SAMPLE = 25
"""Places of a call in the ring `suite`."""


def raising(call, at, error=KeyboardInterrupt):
    """Call, and raise an exception at the given line of the package; return whether the call had so many lines."""
    left, raised = at, False

    def line(_frame, event, _):
        nonlocal left, raised
        if event == "line" and not raised:
            left -= 1
            if left == 0:
                raised = True
                raise error
        return line

    sys.settrace(lambda frame, _event, _: line if frame.f_code.co_filename.startswith(SOURCES) and not raised else None)
    try:
        call()
    except error:
        pass
    finally:
        sys.settrace(None)
    return raised


def lines_of(call):
    """Return the number of lines of a call."""
    count = 0

    def line(_frame, event, _):
        nonlocal count
        count += event == "line"
        return line

    sys.settrace(lambda frame, _event, _: line if frame.f_code.co_filename.startswith(SOURCES) else None)
    try:
        call()
    finally:
        sys.settrace(None)
    return count


def cluster():
    queues = [kq.ClusterQueue.of(name, {"d": {"cpu": 4}}, cohort_name="x") for name in "ab"]
    return kq.Cluster(kq.ResourceFlavor("d"), queues)


def job(name, queue="a"):
    return {"name": name, "queue": queue, "cpu": 1}


def seen(scheduler):
    """Everything that a Scheduler tells about its state, from the engine and from the objects kept with it."""
    session = session_of(scheduler)
    rows = scheduler.workloads.rows()
    assert {row["key"] for row in rows} == set(scheduler.keys())
    declared = tuple(str(queue.resource_groups) for queue in scheduler.cluster.cluster_queues)
    return session.engine.fingerprint(), scheduler.keys(), declared, str(scheduler.usage.rows()), scheduler.now


CALLS = {
    "submit": lambda s: s.submit(job("new")),
    "submit many": lambda s: s.submit([job("new"), job("other", "b")]),
    "delete": lambda s: s.delete("w1"),
    "delete many": lambda s: s.delete("w1", "w2"),
    "finish": lambda s: s.finish("w0", "w1"),
    "apply": lambda s: s.apply(kq.ClusterQueue.of("a", {"d": {"cpu": 2}}, cohort_name="x")),
    "remove": lambda s: s.remove(kq.ClusterQueue("b")),
    "advance": lambda s: s.advance(5),
    "cycle": lambda s: s.cycle(),
    "settle": lambda s: s.settle(),
}


def places(call, is_long):
    count = lines_of(call)
    return range(1, count + 1) if is_long else range(1, count + 1, max(1, count // SAMPLE))


def expect_atomic(made, call, error, *, is_long):
    """Check a call on a Scheduler, which `made` returns anew."""
    before, done = seen(made()), made()
    call(done)
    after, measured = seen(done), made()
    for at in places(lambda: call(measured), is_long):
        scheduler = made()
        if raising(lambda: call(scheduler), at, error):  # noqa: B023 - called at once
            assert seen(scheduler) in (before, after), at
            assert scheduler.submit(job("next")) == ("default/next",)
    return before, after


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("is_long", [False, pytest.param(True, marks=pytest.mark.long)])
def test_calls_of_a_scheduler(name, error, is_long):
    base = kq.Scheduler(cluster())
    base.submit([job(f"w{n}", "ab"[n % 2]) for n in range(4)])
    base.cycle()
    expect_atomic(base.fork, CALLS[name], error, is_long=is_long)


@pytest.mark.parametrize("name", ["submit", "delete many", "apply", "settle", "compact"])
@pytest.mark.parametrize("is_long", [False, pytest.param(True, marks=pytest.mark.long)])
def test_calls_of_a_journal(tmp_path, name, is_long):
    call = CALLS.get(name, lambda scheduler: scheduler.journal.compact())
    numbers = iter(range(10**9))

    def begun():
        journal = Journal(tmp_path / f"{next(numbers)}.db", durability="process")
        scheduler = journal.scheduler(cluster())
        scheduler.submit([job(f"w{n}", "ab"[n % 2]) for n in range(4)])
        return journal, scheduler

    journal, scheduler = begun()
    count = lines_of(lambda: call(scheduler))
    journal.close()
    for at in range(1, count + 1, 1 if is_long else max(1, count // 30)):
        journal, scheduler = begun()
        raising(lambda: call(scheduler), at)  # noqa: B023 - called at once
        scheduler.submit(job("next"))
        told = seen(scheduler)
        journal.close()
        with Journal(journal.path, durability="process") as again:
            assert seen(again.scheduler()) == told, at
        journal.path.unlink()


def test_calls_of_a_fleet():
    def made():
        fleet = kq.FleetScheduler(kq.Fleet({"u": cluster(), "v": cluster()}))
        fleet.manager.submit(job("j"))
        fleet.manager.settle()
        return fleet

    def state(fleet):
        return [seen(scheduler) for scheduler in (fleet.manager, *fleet.workers.values())]

    before, done, measured = state(made()), made(), made()
    done.dispatch()
    after = state(done)
    for at in places(measured.dispatch, is_long=False):
        fleet = made()
        raising(fleet.dispatch, at)
        assert state(fleet) in (before, after), at
        fleet.dispatch()
        assert state(fleet) == after


def test_submissions_to_a_simulation():
    rows = [{"queue": "a", "submit": 10 * n, "runtime": 25, "cpu": 1, "name": f"j{n}"} for n in range(6)]
    base = kq.Simulation(cluster(), rows)
    base.run(12)
    extra = [{"queue": "a", "submit": 15, "runtime": 5, "cpu": 2, "name": f"e{n}"} for n in range(2)]
    measured = base.fork()
    for at in places(lambda: measured.submit(extra), is_long=False):
        run = base.fork()
        raising(lambda: run.submit(extra), at)  # noqa: B023 - called at once
        if len(run.jobs) == len(rows):
            run.submit(extra)
        run.run()
        assert run.result().stats["finished"] == len(rows) + len(extra)


def test_functions_may_only_read():
    told = []

    def choose(_workload, clusters, _now):
        for call in (fleet.dispatch, lambda: fleet.manager.submit(job("k")), fleet["u"].settle):
            with pytest.raises(kq.errors.StateError, match="may only read"):
                call()
        told.append(fleet.manager.keys())
        return list(clusters)

    fleet = kq.FleetScheduler(kq.Fleet({"u": cluster()}, dispatcher=kq.sim.External(choose)))
    fleet.manager.submit(job("j"))
    fleet.manager.settle()
    assert [move.what for move in fleet.dispatch()] == ["created"]
    assert told == [("default/j",)]


@pytest.mark.parametrize("chosen", [5, True, [["a"]], "u"])
def test_a_dispatcher_that_returns_no_names(chosen):
    fleet = kq.FleetScheduler(kq.Fleet({"u": cluster()}, dispatcher=kq.sim.External(lambda *_: chosen)))
    fleet.manager.submit(job("j"))
    fleet.manager.settle()
    with pytest.raises(kq.errors.InvalidSpecError, match="dispatcher: chose"):
        fleet.dispatch()
