"""Threads: eight on one engine, and eight engines on eight threads; results equal those of one thread."""

from __future__ import annotations

import gc
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from itertools import chain
from pkgutil import resolve_name

import pytest

import kueuepy as kq
from crash.steps import cluster, step
from kueuepy.errors import NotFoundError, StateError
from kueuepy.platform.journal import Journal
from kueuepy.platform.metrics import Watch
from kueuepy.platform.visibility import drain_events
from saved import from_bytes, to_bytes

pytestmark = pytest.mark.threads
THREADS = 8


@pytest.fixture(autouse=True)
def switch_often():
    """Threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def in_threads(work):
    """The results of work(0) … work(7), each in a thread of its own, begun at once."""
    gate = threading.Barrier(THREADS)

    def begin(number):
        gate.wait()
        return work(number)

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(begin, range(THREADS)))


def history(seed, steps=120):
    scheduler = kq.Scheduler(cluster())
    for number in range(steps):
        step(scheduler, seed, number)
    return to_bytes(scheduler)


def test_eight_engines_on_eight_threads_decide_as_in_sequence():
    assert in_threads(history) == [history(seed) for seed in range(THREADS)]


def workloads(number, count=40):
    return [
        kq.Workload(
            f"t{number}-{i}",
            queue_name="abc"[i % 3],
            uid=f"{number}-{i:03}",
            creation_timestamp=i,
            priority=i % 4,
            pod_sets=(kq.PodSet.of(requests={"cpu": 1}),),
        )
        for i in range(count)
    ]


def test_eight_threads_on_one_engine_decide_like_one_thread():
    """Who is submitted by which thread, and when, makes no difference to what is decided afterwards."""
    together, alone = kq.Scheduler(cluster()), kq.Scheduler(cluster())
    in_threads(lambda number: [together._engine.submit(one) for one in workloads(number)])
    for number in range(THREADS):
        for one in workloads(number):
            alone._engine.submit(one)

    def answers(scheduler):
        engine = scheduler._engine
        engine.record_events(on=True)
        for _ in range(60):
            engine.settle()
            engine.cycle()
        events = [(event.kind, event.workload, event.reason) for event in drain_events(engine)]
        return events, engine.usage(), engine.queues()

    assert answers(together) == answers(alone)


def test_a_question_waits_until_another_thread_has_finished_its_change():
    """A thread that holds the lock of the session between two calls sees no question in between."""
    scheduler, answers = kq.Scheduler(cluster()), []
    row = {"name": "job", "queue": "a", "cpu": 1}
    asking = threading.Thread(target=lambda: answers.append(scheduler.try_admit(row)))
    with scheduler._session.lock:
        asking.start()
        asking.join(0.05)
        assert asking.is_alive()
        assert answers == []
    asking.join(300)
    assert answers == [scheduler.try_admit(row)]


@pytest.mark.parametrize("item", [{"name": "job", "queue": "a", "cpu": 1}, {"name": "Invalid"}, 3])
def test_a_question_releases_the_lock_even_if_it_raises(item):
    scheduler = kq.Scheduler(cluster())
    with suppress(kq.KueueError):
        scheduler.try_admit(item)
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(scheduler._session.lock.acquire, blocking=False).result()


def test_a_question_releases_the_lock_if_the_core_raises_while_it_holds_it():
    scheduler = kq.Scheduler(cluster())
    question = scheduler.question({"name": "job", "queue": "a", "cpu": 1})
    scheduler._session.state.engine = None
    with pytest.raises(TypeError, match="Session"):
        scheduler.try_admit(question)
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(scheduler._session.lock.acquire, blocking=False).result()


def test_eight_threads_that_read_write_and_fork_one_engine_break_nothing():
    engine = kq.Scheduler(cluster())._engine
    rounds = 30

    def work(number):
        for i, one in enumerate(workloads(number, rounds)):
            found = engine.submit(one)
            fork = engine.fork()
            fork.finish(found)
            fork.settle()
            engine.settle()
            engine.cycle()
            assert engine.key(found) == one.key
            assert len(engine.save()) > 0
            engine.cluster_queue_status()
            engine.pending_workloads("a")
            if i % 3 == 0:
                engine.finish(found)
            assert engine.condition(found, "Finished") is None or i % 3 == 0
            assert fork.condition(found, "Finished") is not None
        return number

    assert in_threads(work) == list(range(THREADS))
    assert engine.check() == []


def pausing(monkeypatch, where):
    """Others get a turn whenever this function is through."""
    module, _, name = where.rpartition(".")
    known = getattr(resolve_name(module), name)

    def paused(*args, **options):
        result = known(*args, **options)
        time.sleep(1e-4)
        return result

    monkeypatch.setattr(where, paused)


def test_eight_threads_on_one_scheduler_use_no_number_twice(monkeypatch):
    pausing(monkeypatch, "kueuepy.objects.Configuration.enabled")
    scheduler = kq.Scheduler(cluster())
    in_threads(lambda number: [scheduler.submit({"name": f"t{number}-{i}", "queue": "a", "cpu": 1}) for i in range(30)])
    uids = {scheduler.workload(key).uid for key in scheduler.keys()}  # noqa: SIM118 - a Scheduler is not a mapping
    assert len(uids) == 30 * THREADS


def test_reading_during_a_deletion_in_another_thread_is_atomic(monkeypatch):
    pausing(monkeypatch, "kueuepy.session.store.Store.forgetting")
    scheduler = kq.Scheduler(cluster())

    def work(number):
        for i in range(60):
            if number % 2:
                scheduler.submit({"name": f"t{number}", "queue": "a", "cpu": 1})
                scheduler.cycle()
                scheduler.delete(f"t{number}")
                continue
            for other in range(1, THREADS, 2):
                with suppress(NotFoundError):
                    assert scheduler.workload(f"t{other}").queue_name == "a"
            if i % 5 == 0:
                assert from_bytes(to_bytes(scheduler))._engine.check() == []
                assert scheduler.fork()._engine.check() == []
        return True

    assert all(in_threads(work))


def test_eight_threads_on_one_watch_count_each_event_once():
    scheduler = kq.Scheduler(cluster())
    watch = Watch(scheduler)

    def work(number):
        for i in range(10):
            scheduler.submit({"name": f"t{number}-{i}", "queue": "a", "cpu": "100m"})
            scheduler.settle()
            assert watch.metrics_text()
        return True

    assert all(in_threads(work))
    assert Counter(event.kind for event in watch.events) == {
        "Created": 10 * THREADS,
        "QuotaReserved": 10 * THREADS,
        "Admitted": 10 * THREADS,
    }
    told = 'kueue_admitted_workloads_total{cluster_queue="a",priority_class="",replica_role="standalone"} 80.0\n'
    assert told in watch.metrics_text()


def test_calls_of_eight_threads_on_one_journal_are_restored(tmp_path):
    """Calls alone and in groups: who has the group has the Scheduler, too."""
    with Journal(tmp_path / "j.db", durability="process") as journal:
        scheduler = journal.scheduler(cluster())

        def work(number):
            for i in range(15):
                name = f"t{number}-{i}"
                with journal.group() if number % 2 else nullcontext():
                    scheduler.submit({"name": name, "queue": "abc"[i % 3], "cpu": 1})
                    scheduler.cycle()
                if i % 3 == 0:
                    scheduler.finish(name)
                if number == 0 and i % 5 == 0:
                    journal.compact()
            return True

        assert all(in_threads(work))
        before = to_bytes(scheduler)
    with Journal(tmp_path / "j.db") as again:
        assert to_bytes(again.scheduler()) == before


def test_a_fork_is_a_snapshot_whatever_happens_to_the_engine():
    engine = kq.Scheduler(cluster())._engine
    for one in workloads(0):
        engine.submit(one)
    fork = engine.fork()
    expected = fork.save()

    def work(number):
        if number % 2:
            return [fork.save() for _ in range(20)]
        for one in workloads(number + 1):
            engine.submit(one)
            engine.cycle()
        return []

    assert all(saved == expected for found in in_threads(work) for saved in found)


def test_python_runs_while_an_engine_works():
    scheduler = kq.Scheduler(cluster())
    many = [kq.ClusterQueue.of(f"q{i}", {"default": {"cpu": 100}}) for i in range(300)]
    scheduler.apply(*many, *(kq.LocalQueue(queue.name, cluster_queue=queue.name) for queue in many))
    for i in range(300):  # Builds with sanitizers check all workloads after each call.
        for one in workloads(i, 3):
            scheduler._engine.submit(kq.Workload(f"{one.name}-x", queue_name=f"q{i}", pod_sets=one.pod_sets))
    done = threading.Event()

    def work():
        for _ in range(30):
            scheduler._engine.settle()
            scheduler._engine.cycle()
        done.set()

    sys.setswitchinterval(5)  # only a thread that gives the GIL away lets others run
    worker = threading.Thread(target=work)
    worker.start()
    ticks = 0
    while not done.is_set():
        ticks += 1
        time.sleep(0)
    worker.join()
    assert ticks > 10


class Visitor:
    """Reads or changes the engine when it is garbage-collected, during any running call."""

    def __init__(self, visit):
        self._visit = visit
        self._self = self  # only the garbage collector deletes it

    def __del__(self):
        self._visit()


@contextmanager
def collected_within(visit):
    """Create a Visitor before the first call, and let the garbage collector run at every step."""
    before = gc.get_threshold()
    gc.collect()
    gc.disable()
    Visitor(visit)
    gc.set_threshold(1, 1, 1)
    gc.enable()
    try:
        yield
    finally:
        gc.set_threshold(*before)


# From Python 3.12 on, the collector runs between instructions of Python only, and thus not within these calls.
if sys.version_info < (3, 12):

    @pytest.mark.parametrize(("call", "arguments"), [("explain", (1,)), ("share_facts", ())])
    def test_a_finalizer_may_read_but_not_change_the_engine_during_a_call(call, arguments):
        many = [kq.ClusterQueue.of(f"q{i}", {"default": {"cpu": 1}}) for i in range(300)]
        scheduler = kq.Scheduler(kq.Cluster(kq.ResourceFlavor("default"), many))
        scheduler.submit([{"name": f"w{i}-{n}", "queue": f"q{i}", "cpu": 1} for i in range(300) for n in range(2)])
        scheduler.cycle()
        engine = scheduler._engine
        ask = getattr(engine, call)
        expected, state = ask(*arguments), engine.save()
        seen, refused = [], []

        def visit():
            seen.append((engine.now, len(engine.save()), engine.find("default/w0-0")))
            for change in (lambda: engine.set_now(1), engine.settle, engine.cycle, lambda: engine.delete(0)):
                with pytest.raises(StateError, match="in use by another call of the same thread"):
                    change()
                refused.append(change)

        with collected_within(visit):
            answer = ask(*arguments)
        assert answer == expected
        assert seen == [(0, len(state), 0)]
        assert len(refused) == 4
        assert engine.save() == state
        engine.set_now(1)  # afterwards, calls work again

    @pytest.mark.parametrize("call", ["cluster_queue_status", "local_queue_status", "backlogs", "queues", "usage"])
    def test_a_finalizer_may_change_the_engine_while_records_are_converted(call):
        """These calls copy all records before the first of them becomes an object of Python."""
        many = [kq.ClusterQueue.of(f"q{i}", {"default": {"cpu": 1}}) for i in range(300)]
        scheduler = kq.Scheduler(kq.Cluster(kq.ResourceFlavor("default"), many))
        scheduler.submit([{"name": f"w{i}", "queue": f"q{i}", "cpu": 1} for i in range(300)])
        engine = scheduler._engine
        ask = getattr(engine, call)
        expected, decided = ask(), []
        with collected_within(lambda: decided.append(engine.cycle())):
            answer = ask()
        assert answer == expected
        assert len(decided) == 1
        assert ask() != expected


def test_threads_and_finalizers_do_not_deadlock():
    engine = kq.Scheduler(cluster())._engine
    for one in workloads(0, 100):
        engine.submit(one)

    def work(_):
        for _ in range(40):
            Visitor(engine.queues)
            time.sleep(0)
            engine.pending_workloads("a")
            engine.settle()
            engine.queues()
        return True

    before = gc.get_threshold()
    gc.set_threshold(20, 2, 2)
    try:
        assert all(in_threads(work))
    finally:
        gc.set_threshold(*before)


# Simulations: a call during a call of another thread returns or raises, and breaks nothing.


def busy_run():
    """Return a simulation of two weeks in which many jobs wait."""
    queue = kq.ClusterQueue.of("a", {"f": {"cpu": 40}})
    cluster = kq.Cluster(kq.ResourceFlavor("f"), queue)
    jobs = [{"queue": "a", "submit": 60 * n, "runtime": 3600, "cpu": 1 + n % 7, "priority": n % 3} for n in range(3000)]
    return kq.Simulation(cluster, jobs, until="14d")


CALLS = {
    "fork": lambda run, _: run.fork().step(),
    "result": lambda run, _: run.result().kpis,
    "scheduler": lambda run, _: len(run.scheduler.cluster.cluster_queues),
    "submit": lambda run, _: run.submit({"queue": "a", "submit": 0, "runtime": 60, "cpu": 1}),
    "run_for": lambda run, _: run.run_for(0.001),
    "step": lambda run, _: run.step(),
    "apply": lambda run, n: run.apply(kq.simulation.model.Priority(n % 3000, n % 5)),
    "states": lambda run, _: len(run.states),
    "now": lambda run, _: run.now,
    "progress": lambda run, _: run.progress(),
    "run": lambda run, n: run.run(until=86400 * n / 10),
}


TURNS = 200
"""The least number of calls of a thread. More follow until each call was answered and one was refused."""


def answer(call):
    """Return whether a call succeeded, or was rejected because of another thread."""
    try:
        call()
    except StateError as error:
        return "refused" if "in use by another thread" in str(error) else str(error)
    return "answered"


def test_a_run_is_used_by_one_thread_at_a_time():
    run, answers = busy_run(), Counter()

    def use(number):
        for turn in range(100_000):
            if len(answers) > len(CALLS) and turn >= TURNS:
                return
            name = list(CALLS)[(turn + number) % len(CALLS)]
            what = answer(partial(CALLS[name], run, turn))
            answers[name if what == "answered" else what] += 1

    in_threads(use)

    assert set(answers) == {*CALLS, "refused"}
    run.run()
    assert run.result().kpis.jobs == len(run.jobs)


def test_forks_of_a_simulation_continue_in_separate_threads():
    run = busy_run()
    run.run("1d")
    forks = [run.fork() for _ in range(THREADS)]

    def finish(number):
        forks[number].submit({"queue": "a", "submit": 0, "runtime": 60, "cpu": 1})
        forks[number].run()
        return forks[number].result().kpis.wait_mean

    assert len(set(in_threads(finish))) == 1


def test_many_threads_read_one_result():
    result = busy_run()
    result.run("2d")
    result = result.close()

    def ask(_):
        return len(result.scheduler.cluster.cluster_queues), result.kpis.jobs

    assert len(set(in_threads(ask))) == 1


def test_environments_are_stepped_by_one_thread_at_a_time():
    rl = pytest.importorskip("kueuepy.lab.rl")
    cluster = kq.Cluster(kq.ResourceFlavor("f"), [kq.ClusterQueue.of(n, {"f": {"cpu": 10}}) for n in "ab"])
    jobs = kq.Jobs.of([{"queue": "ab"[n % 2], "submit": 60 * n, "runtime": 600, "cpu": 1} for n in range(1440)])
    path = "ClusterQueue/{}:quota[f/cpu].nominalQuota"
    envs = rl.vector(4, cluster, jobs, [path.format(name) for name in "ab"], threads=2)
    envs.reset(seed=0)

    def step_often(_):
        return [answer(lambda: envs.step(envs.action_space.sample())) for _ in range(40)]

    # Each thread has a list of its own: two threads that add to one counter can lose an addition.
    steps = Counter(chain.from_iterable(in_threads(step_often)))
    assert steps["answered"] > 0
    assert steps["answered"] + steps["refused"] == 40 * THREADS
