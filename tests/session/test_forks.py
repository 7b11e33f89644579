"""Forked processes while another thread is inside a call: the child gets a result or a StateError."""

from __future__ import annotations

import copy
import os
import pickle
import re
import select
import sys
import threading
import time
import traceback
import warnings
from contextlib import contextmanager
from types import SimpleNamespace

import pytest

import kueuepy as kq
from crash.steps import cluster, step
from kueuepy.errors import StateError
from kueuepy.manifest.schema import table
from kueuepy.platform.journal import Journal
from kueuepy.platform.metrics import Watch
from kueuepy.session import session
from saved import from_bytes, to_bytes

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
SECONDS = 300


def in_child(work):
    """Return the result of `work` in a child process as text; `None` after a timeout."""
    read, write = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # warns of forks with threads, since Python 3.12
        child = os.fork()
    if child == 0:
        try:
            told = str(work())
        except BaseException:  # noqa: BLE001 - whatever it is, the parent shows it
            told = traceback.format_exc()
        os.write(write, told.encode()[:4000])
        os._exit(0)
    os.close(write)
    try:
        ready, _, _ = select.select([read], [], [], SECONDS)
        return os.read(read, 4000).decode() if ready else None
    finally:
        if not ready:
            os.kill(child, 9)
        os.close(read)
        _, status = os.waitpid(child, 0)
        assert os.WIFEXITED(status) or not ready


def answered(work):
    """Return the result of `work`, or the name of its error."""
    try:
        work()
    except StateError as error:
        return "refused" if "forked" in str(error) else str(error)
    return "answered"


class Busy:
    """Another thread that makes calls in an endless loop."""

    def __init__(self, call):
        self._call, self._ends = call, False
        self._thread = threading.Thread(target=self._work, daemon=True)

    def _work(self):
        while not self._ends:
            self._call()

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._ends = True
        self._thread.join()


@pytest.fixture(autouse=True)
def switch_often():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-4)
    yield
    sys.setswitchinterval(before)


def test_a_forked_child_uses_a_scheduler_or_gets_an_error_if_another_thread_was_using_it():
    scheduler = kq.Scheduler(cluster())
    for number in range(60):
        step(scheduler, 1, number)
    saved = to_bytes(scheduler)

    def work():
        first = answered(lambda: (to_bytes(scheduler), scheduler.settle()))
        twin = from_bytes(saved)  # objects created in the child work
        twin.settle()
        return first

    with Busy(lambda: (scheduler._engine.fingerprint(), to_bytes(scheduler), scheduler.settle())):
        answers = [in_child(work) for _ in range(12)]
    assert set(answers) <= {"answered", "refused"}


def test_a_forked_child_gets_an_error_for_a_scheduler_that_a_call_was_changing():
    """The other thread is blocked inside a change, in a user function that the call calls."""
    scheduler = kq.Scheduler(cluster())
    inside, go_on = threading.Event(), threading.Event()

    def hold():
        with scheduler._session.change():
            inside.set()
            go_on.wait(SECONDS)

    thread = threading.Thread(target=hold)
    thread.start()
    inside.wait(SECONDS)
    try:
        assert in_child(lambda: answered(scheduler.settle)) == "refused"
    finally:
        go_on.set()
        thread.join()
    scheduler.settle()  # the parent continues
    assert in_child(lambda: answered(scheduler.settle)) == "answered"


@contextmanager
def blocked_inside(monkeypatch, module, name, work):
    """Let another thread call `work`, until it is inside of a function of a module, where it waits."""
    inside, go_on, found = threading.Event(), threading.Event(), getattr(module, name)

    def wait(*arguments):
        if threading.current_thread() is thread:
            inside.set()
            assert go_on.wait(2 * SECONDS)
        return found(*arguments)

    thread = threading.Thread(target=work)
    monkeypatch.setattr(module, name, wait)
    thread.start()
    assert inside.wait(SECONDS)
    try:
        yield
    finally:
        go_on.set()
        thread.join()


@pytest.mark.parametrize("name", ["survives_fork", "RLock"])
def test_a_forked_child_uses_a_scheduler_whose_lock_another_thread_was_creating(monkeypatch, name):
    scheduler, other = kq.Scheduler(cluster()).fork(), kq.Scheduler(cluster())
    with blocked_inside(monkeypatch, session, name, scheduler.settle):
        assert in_child(lambda: (answered(scheduler.settle), answered(other.settle))) == "('answered', 'answered')"
        scheduler.settle()
    assert vars(scheduler._session)["lock"] is scheduler._session.lock


def test_two_threads_that_create_a_lock_get_the_same_lock(monkeypatch):
    made, scheduler = [], kq.Scheduler(cluster()).fork()
    with blocked_inside(monkeypatch, session, "RLock", lambda: made.append(scheduler._session.lock)):
        made.append(scheduler._session.lock)
    assert made[0] is made[1]


def test_a_forked_child_compiles_a_pattern_that_another_thread_was_compiling(monkeypatch):
    """The property that contains the pattern has no lock, which the child would wait for."""
    schema = table.Schema(type="string", pattern="^a$")
    monkeypatch.setattr(table, "re", SimpleNamespace(**vars(re)))
    with blocked_inside(monkeypatch, table.re, "compile", lambda: schema.compiled):
        assert in_child(lambda: schema.compiled.pattern) == r"^a\Z"


def test_a_forked_child_uses_a_simulation_or_gets_an_error_if_another_thread_was_using_it():
    queue = kq.ClusterQueue.of("a", {"f": {"cpu": 40}})
    jobs = [{"queue": "a", "submit": 60 * n, "runtime": 3600, "cpu": 1 + n % 7} for n in range(3000)]
    base = kq.Simulation(kq.Cluster(kq.ResourceFlavor("f"), queue), jobs)
    run = base.fork()

    def use_parent():
        run.run_for(0.01)
        time.sleep(0.001)

    with Busy(use_parent):
        answers = [in_child(lambda: answered(run.step)) for _ in range(12)]
        assert in_child(lambda: answered(lambda: base.fork().run())) == "answered"
    assert set(answers) <= {"answered", "refused"}


def test_a_forked_child_polls_a_watch_and_cannot_open_the_journal_of_its_parent(tmp_path):
    with Journal(tmp_path / "j") as journal:
        scheduler = journal.scheduler(cluster(), now=0)
        watch = Watch(scheduler)
        number = iter(range(10**9))
        with Busy(lambda: (step(scheduler, 2, next(number)), watch.poll())):
            time.sleep(0.05)
            answers = [in_child(lambda: _kind_of(watch.poll)) for _ in range(8)]
            refused = [in_child(lambda: _kind_of(scheduler.settle)) for _ in range(4)]
    assert set(answers) <= {"answered", "StateError"}
    assert set(refused) == {"StateError"}


def _kind_of(work):
    try:
        work()
    except kq.KueueError as error:
        return type(error).__name__
    return "answered"


def test_a_forked_child_reads_metrics_that_another_thread_was_computing():
    queue = kq.ClusterQueue.of("a", {"f": {"cpu": 40}})
    jobs = [{"queue": "a", "submit": 60 * n, "runtime": 3600, "cpu": 1 + n % 7} for n in range(300)]
    result = kq.simulate(kq.Cluster(kq.ResourceFlavor("f"), queue), jobs)

    def compute():
        return copy.copy(fresh).kpis.jobs

    fresh = pickle.loads(pickle.dumps(result))  # noqa: S301 - its own
    with Busy(compute):
        assert [in_child(compute) for _ in range(12)] == ["300"] * 12
