"""Journals: durability before acknowledgement, replay, readers, and a single writer."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import subprocess
import sys
import threading

import pytest

import kueuepy as kq
from crash import steps
from journal.cases import workload
from kueuepy.errors import InvalidSpecError, NotFoundError, StateError
from kueuepy.platform.journal import Journal
from saved import to_bytes


def rows(path, query):
    connection = sqlite3.connect(path)
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()


def test_a_new_journal_starts_from_the_cluster(tmp_path, cluster):
    with Journal(tmp_path / "j.db") as journal:
        scheduler = journal.scheduler(cluster)
        assert to_bytes(scheduler) == to_bytes(kq.Scheduler(cluster))


def test_a_new_journal_starts_from_the_state_of_a_scheduler(tmp_path, cluster):
    started = kq.Scheduler(cluster, now=1000)
    started.submit(*(workload(f"w{i}") for i in range(5)))
    started.settle()
    with Journal(tmp_path / "j.db") as journal:
        scheduler = journal.scheduler(started)
        assert to_bytes(scheduler) == to_bytes(started)
        scheduler.finish("w0")
        before = to_bytes(scheduler)
        assert started.workload("w0").status.is_true("Admitted")
    with Journal(tmp_path / "j.db") as again:
        assert to_bytes(again.scheduler()) == before


def test_a_new_journal_needs_a_cluster(tmp_path):
    with Journal(tmp_path / "j.db") as journal, pytest.raises(StateError, match="is new; give the Cluster"):
        journal.scheduler()


def test_acknowledged_calls_survive_the_end_of_the_process(tmp_path, cluster):
    journal = Journal(tmp_path / "j.db")
    scheduler = journal.scheduler(cluster)
    scheduler.submit(workload("a"), workload("b", "nlp", 12))
    scheduler.settle()
    scheduler.advance("90s")
    scheduler.pods_ready("a")
    scheduler.reclaim("a", 1)
    scheduler.submit(workload("c", priority=5, cpu=9))
    scheduler.cycle()
    scheduler.apply(kq.ClusterQueue.of("nlp", {"default": {"cpu": 4}}, cohort_name="team"))
    scheduler.remove(kq.LocalQueue("vision"))
    scheduler.settle()
    scheduler.finish("c")
    scheduler.delete("b")
    before = to_bytes(scheduler)
    del scheduler
    journal._connection.close()  # like after a kill: nothing is cleaned up
    journal._held.release()
    with Journal(tmp_path / "j.db") as again:
        assert to_bytes(again.scheduler()) == before


def test_a_call_that_fails_is_not_written(tmp_path, cluster):
    with Journal(tmp_path / "j.db") as journal:
        scheduler = journal.scheduler(cluster)
        for wrong in (lambda: scheduler.finish("nobody"), lambda: scheduler.advance(-1)):
            with pytest.raises((NotFoundError, InvalidSpecError)):
                wrong()
        assert journal.calls == 0


def test_with_an_unknown_key_among_several_the_journal_matches_the_state(tmp_path, cluster):
    with Journal(tmp_path / "j.db") as journal:
        scheduler = journal.scheduler(cluster)
        scheduler.submit(workload("a"))
        with pytest.raises(NotFoundError):
            scheduler.finish("a", "nobody")
        before = to_bytes(scheduler)
    with Journal(tmp_path / "j.db") as again:
        assert to_bytes(again.scheduler()) == before


def test_a_compacted_journal_contains_the_same_state_and_no_calls(tmp_path, cluster):
    with Journal(tmp_path / "j.db") as journal:
        scheduler = journal.scheduler(cluster)
        scheduler.submit(*(workload(f"w{i}", cpu=1) for i in range(30)))
        scheduler.settle()
        assert journal.calls == 31
        journal.compact()
        assert journal.calls == 0
        scheduler.finish("w3")
        before = to_bytes(scheduler)
    assert [row[0] for row in rows(tmp_path / "j.db", "SELECT key FROM calls")] == ["default/w3"]
    with Journal(tmp_path / "j.db") as again:
        assert to_bytes(again.scheduler()) == before


def test_a_snapshot_within_a_group_is_in_the_same_transaction(tmp_path, cluster):
    with Journal(tmp_path / "j.db") as journal:
        scheduler = journal.scheduler(cluster)
        with journal.group():
            scheduler.submit(workload("a"))
            journal.compact()
            scheduler.cycle()
            assert rows(tmp_path / "j.db", "SELECT call FROM snapshot") == [(0,)]
        assert rows(tmp_path / "j.db", "SELECT call FROM snapshot") == [(1,)]
        before = to_bytes(scheduler)
    with Journal(tmp_path / "j.db") as again:
        assert to_bytes(again.scheduler()) == before


def test_a_snapshot_does_not_wait_for_readers(tmp_path, cluster):
    with Journal(tmp_path / "j.db") as journal:
        scheduler = journal.scheduler(cluster)
        scheduler.submit(workload("a"))
        reader = sqlite3.connect(tmp_path / "j.db", isolation_level=None)
        reader.execute("BEGIN")
        assert reader.execute("SELECT count(*) FROM calls").fetchone() == (1,)
        journal.compact()
        assert reader.execute("SELECT count(*) FROM calls").fetchone() == (1,)
        reader.close()
        assert journal._connection.execute("PRAGMA busy_timeout").fetchone() == (30_000,)
        journal.compact()
        assert (tmp_path / "j.db-wal").stat().st_size == 0


def test_any_sqlite_client_can_read_an_open_journal(tmp_path, cluster):
    with Journal(tmp_path / "j.db") as journal:
        scheduler = journal.scheduler(cluster)
        scheduler.submit(workload("low"), workload("high", cpu=15, priority=9))
        scheduler.cycle()
        query = "SELECT verdict, workload, cluster_queue, flavors, targets FROM decisions ORDER BY number"
        assert rows(tmp_path / "j.db", query) == [
            ("Admitted", "default/high", "vision", '{"main":{"cpu":"default"}}', "")
        ]
        assert rows(tmp_path / "j.db", "SELECT number, call, key FROM calls ORDER BY number") == [
            (1, "Submit", "default/low"),
            (2, "Submit", "default/high"),
            (3, "Cycle", ""),
        ]


def test_a_group_is_one_transaction(tmp_path, cluster):
    with Journal(tmp_path / "j.db") as journal:
        scheduler = journal.scheduler(cluster)
        with journal.group():
            scheduler.submit(workload("a"))
            scheduler.cycle()
            assert rows(tmp_path / "j.db", "SELECT * FROM calls") == []
        assert len(rows(tmp_path / "j.db", "SELECT * FROM calls")) == 2


def test_a_second_journal_on_the_file_is_rejected(tmp_path, cluster):
    with Journal(tmp_path / "j.db") as journal:
        journal.scheduler(cluster)
        with pytest.raises(StateError, match="is in use by another Journal"):
            Journal(tmp_path / "j.db")
        script = "import sys; from kueuepy.platform.journal import Journal; Journal(sys.argv[1])"
        other = subprocess.run(  # noqa: S603 - our own interpreter
            [sys.executable, "-c", script, tmp_path / "j.db"], capture_output=True, text=True, check=False
        )
        assert "is in use by another Journal" in other.stderr
    Journal(tmp_path / "j.db").close()


def test_of_many_threads_that_open_a_file_at_once_one_succeeds(tmp_path):
    for race in range(50):
        gate = threading.Barrier(4)
        got: list[Journal] = []

        def compete(path=tmp_path / f"{race}.db", gate=gate, got=got):
            gate.wait()
            with contextlib.suppress(StateError):
                got.append(Journal(path))

        threads = [threading.Thread(target=compete) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(got) == 1
        got[0].close()


def test_another_thread_may_write_and_close_a_journal(tmp_path, cluster):
    with Journal(tmp_path / "old.db") as journal:
        journal.scheduler(cluster)
    journals = [Journal(tmp_path / f"{name}.db") for name in ("new", "old")]
    schedulers = [journal.scheduler(cluster) for journal in journals]
    failed = []

    def write():
        try:
            for journal, scheduler in zip(journals, schedulers, strict=True):
                scheduler.submit(workload("a"))
                journal.compact()
                journal.close()
        except Exception as error:  # noqa: BLE001 - any exception is a failure
            failed.append(error)

    thread = threading.Thread(target=write)
    thread.start()
    thread.join()
    assert failed == []


def test_a_child_process_may_not_write_its_parents_journal(tmp_path, cluster):
    with Journal(tmp_path / "j.db") as journal:
        scheduler = journal.scheduler(cluster)
        child = os.fork()
        if child == 0:
            try:
                scheduler.submit(workload("a"))
            except StateError:
                os._exit(0)
            os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


CONTROLLER = "example.com/approval"


@pytest.fixture
def checked():
    """Three queues, of which b has an admission check."""
    return steps.cluster()


def lives(scheduler, seed=3):
    scheduler.submit({"name": f"w{number}-b", "queue": "b", "cpu": 1} for number in range(5))
    scheduler.settle()
    for number in range(60):
        steps.step(scheduler, seed, number)


@pytest.mark.parametrize("seed", range(6))
def test_results_of_check_functions_are_replayed_at_the_same_position(tmp_path, checked, seed):
    asked = []

    def approve(workload):
        asked.append(workload.key)
        return steps.approve(workload)

    alone = kq.Scheduler(checked, checks={CONTROLLER: steps.approve})
    lives(alone, seed)
    with Journal(tmp_path / "j.db") as journal:
        scheduler = journal.scheduler(checked)
        scheduler.answer_checks({CONTROLLER: approve})
        lives(scheduler, seed)
        assert to_bytes(scheduler) == to_bytes(alone)
    assert asked
    with Journal(tmp_path / "j.db") as again:
        assert to_bytes(again.scheduler()) == to_bytes(alone)


def test_four_admissions_between_four_check_results_are_restored(tmp_path, checked):
    with Journal(tmp_path / "j.db") as journal:
        scheduler = journal.scheduler(checked)
        scheduler.answer_checks({CONTROLLER: lambda _: "Ready"})
        scheduler.submit({"name": f"w{i}", "queue": "b", "cpu": 2} for i in range(4))
        assert len(scheduler.settle().admitted) == 4
        before = to_bytes(scheduler)
    with Journal(tmp_path / "j.db") as again:
        assert to_bytes(again.scheduler()) == before


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
@pytest.mark.parametrize("call", ["cycle", "settle"])
def test_a_failing_function_leaves_no_partial_change(tmp_path, checked, error, call):
    def fail(workload):
        if workload.name == "w1":
            raise error("no idea")
        return "Ready"

    with Journal(tmp_path / "j.db") as journal:
        scheduler = journal.scheduler(checked)
        scheduler.answer_checks({CONTROLLER: fail})
        scheduler.submit({"name": f"w{i}", "queue": "b", "cpu": 2} for i in range(3))
        if call == "cycle":
            scheduler.cycle()
            scheduler.cycle()
        with pytest.raises(error, match="no idea"):
            getattr(scheduler, call)()
        scheduler.advance(60)
        scheduler.answer_checks({})
        scheduler.settle()
        before = to_bytes(scheduler)
    with Journal(tmp_path / "j.db") as again:
        assert to_bytes(again.scheduler()) == before


def test_a_fork_is_not_journalled(tmp_path, cluster):
    with Journal(tmp_path / "j.db") as journal:
        scheduler = journal.scheduler(cluster)
        fork = scheduler.fork()
        fork.submit(workload("a"))
        assert type(fork) is kq.Scheduler
        assert journal.calls == 0
        assert scheduler.keys() == ()


def test_a_closed_journal_leaves_a_readable_scheduler(tmp_path, cluster):
    with Journal(tmp_path / "j.db") as journal:
        scheduler = journal.scheduler(cluster)
        scheduler.submit(workload("a"))
    assert scheduler.keys() == ("default/a",)
    with pytest.raises(StateError, match="accepts no more calls: it is closed"):
        scheduler.submit(workload("b"))
    assert scheduler.keys() == ("default/a",)


def test_an_interrupted_call_leaves_the_journal_as_it_was(tmp_path, cluster, monkeypatch):
    with Journal(tmp_path / "j.db") as journal:
        scheduler = journal.scheduler(cluster)
        scheduler.submit(workload("a"))
        before = to_bytes(scheduler)

        def interrupted(*_args, **_options):
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr("kueuepy.session.calls.settle", interrupted)
            with pytest.raises(KeyboardInterrupt):
                scheduler.settle()
        assert to_bytes(scheduler) == before
        scheduler.settle()
        after = to_bytes(scheduler)
    with Journal(tmp_path / "j.db") as again:
        assert to_bytes(again.scheduler()) == after != before


def test_durability_has_two_valid_values(tmp_path):
    with pytest.raises(InvalidSpecError, match='it must be "power" or "process"'):
        Journal(tmp_path / "j.db", durability="wishful")


@pytest.mark.parametrize(("durability", "level"), [("power", 2), ("process", 1)])
def test_durability_power_waits_for_the_disk(tmp_path, cluster, durability, level):
    with Journal(tmp_path / "j.db", durability=durability) as journal:
        journal.scheduler(cluster)
        assert journal._connection.execute("PRAGMA synchronous").fetchone() == (level,)
        assert f"survives loss of {durability}" in repr(journal)
