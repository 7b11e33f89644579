"""A Scheduler inside a platform: forks, callbacks, saved states and journals (LP)."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor

import msgspec
import pytest

import kueuepy as kq
from crash.steps import cluster, step
from kueuepy.errors import InvalidSpecError, UnsupportedError
from kueuepy.platform.journal import Journal
from kueuepy.session.saved import VERSION
from saved import from_bytes, to_bytes

STEPS = 150


def _told(scheduler, seed, numbers):
    """Return the fingerprints after random steps of this seed, and the decisions of a last cycle."""
    states = []
    for number in numbers:
        step(scheduler, seed, number)
        states.append(scheduler._engine.fingerprint())
    return states, repr(scheduler.settle(max_cycles=20).decisions)


@pytest.mark.parametrize("seed", range(4))
def test_LP_06_a_fork_continues_like_the_original(seed):
    origin = kq.Scheduler(cluster())
    _told(origin, seed, range(STEPS))
    forks = [origin.fork() for _ in range(8)]
    saved = to_bytes(origin)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda fork: _told(fork, seed, range(STEPS, 2 * STEPS)), forks))
    assert to_bytes(origin) == saved
    assert found == [_told(origin, seed, range(STEPS, 2 * STEPS))] * 8


def test_LP_06_questions_do_not_change_the_state():
    scheduler = kq.Scheduler(cluster())
    _told(scheduler, 5, range(STEPS))
    saved = to_bytes(scheduler)
    answer = scheduler.try_admit({"name": "probe", "queue": "a", "cpu": 1})
    assert answer.workload == "default/probe"
    assert scheduler.whatif(kq.ClusterQueue.of("a", {"default": {"cpu": 1}})).before is not scheduler
    assert to_bytes(scheduler) == saved


def test_LP_06_admission_checks_call_functions_and_forks_call_the_same():
    asked = []

    def approve(workload):
        asked.append(workload.key)
        return kq.sim.CheckAnswer("Ready") if workload.priority else None

    scheduler = kq.Scheduler(cluster(), checks={"example.com/approval": approve})
    for on, name in ((scheduler, "one"), (scheduler.fork(), "two")):
        on.submit({"name": name, "queue": "b", "cpu": 1, "priority": 1}, {"name": "low", "queue": "b", "cpu": 1})
        on.settle()
        assert on.workload(name).status.is_true("Admitted")
        assert not on.workload("low").status.is_true("Admitted")
        assert f"default/{name}" in asked


@pytest.mark.parametrize("seed", range(4))
def test_LP_07_a_restored_state_decides_like_the_original(tmp_path, seed):
    scheduler = kq.Scheduler(cluster())
    _told(scheduler, seed, range(STEPS))
    scheduler.save(tmp_path / "state")
    again = kq.Scheduler.load(tmp_path / "state")
    assert to_bytes(again) == to_bytes(scheduler)
    following = range(STEPS, 2 * STEPS)
    assert _told(again, seed, following) == _told(scheduler, seed, following)
    assert to_bytes(again) == to_bytes(scheduler)


def test_LP_07_the_state_is_plain_data_with_a_version_and_a_checksum():
    data = to_bytes(kq.Scheduler(cluster()))
    name, version, checksum, payload = msgspec.msgpack.decode(data)
    assert (name, version, len(checksum)) == ("kueuepy-scheduler", VERSION, 32)
    inside = msgspec.msgpack.decode(payload)
    assert {type(part) for part in inside.values()} <= {bytes, dict, list, int}
    assert [kind for kind, _ in inside["objects"]].count("ClusterQueue") == 3
    newer = msgspec.msgpack.encode((name, version + 1, checksum, payload))
    with pytest.raises(UnsupportedError, match=f"has version {VERSION + 1}; this release reads version {VERSION}"):
        from_bytes(newer)


def test_LP_07_a_truncated_or_changed_state_is_rejected():
    data = to_bytes(kq.Scheduler(cluster()))
    for end in range(0, len(data), 97):
        with pytest.raises(InvalidSpecError):
            from_bytes(data[:end])
    for place in range(0, len(data), 97):
        changed = bytearray(data)
        changed[place] ^= 1 << place % 8
        with pytest.raises((InvalidSpecError, UnsupportedError)):
            from_bytes(bytes(changed))


@pytest.mark.parametrize("seed", range(3))
def test_LP_07_a_journal_restores_every_acknowledged_call(tmp_path, seed):
    path = tmp_path / "journal.db"
    unharmed = kq.Scheduler(cluster())
    for part in range(3):
        with Journal(path, durability="process") as journal:
            scheduler = journal.scheduler(cluster(), on_change="keep")
            for number in range(part * 60, part * 60 + 60):
                step(scheduler, seed, number)
                step(unharmed, seed, number)
            assert to_bytes(scheduler) == to_bytes(unharmed)
    with sqlite3.connect(path) as connection:
        verdicts = {verdict for (verdict,) in connection.execute("SELECT DISTINCT verdict FROM decisions")}
    connection.close()
    assert verdicts <= {"Admitted", "Preempting", "Pending"}
