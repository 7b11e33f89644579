"""A second process that waits for the journal, and takes over when the first one has ended."""

import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import kueuepy as kq
from kueuepy.platform import Journal
from kueuepy.platform.journal.lock import Lock

CLUSTER = kq.Cluster(kq.ResourceFlavor("f"), kq.ClusterQueue.of("q", {"f": {"cpu": 1}}))
FIRST = """
import sys, time, kueuepy as kq
from kueuepy.platform import Journal
cluster = kq.Cluster(kq.ResourceFlavor("f"), kq.ClusterQueue.of("q", {"f": {"cpu": 1}}))
journal = Journal(sys.argv[1])
print(journal.scheduler(cluster).submit({"name": "a", "queue": "q", "cpu": 1})[0], flush=True)
time.sleep(600)
"""


def test_a_lock_file_replaced_while_it_is_being_locked_is_locked_again(tmp_path, monkeypatch):
    acquire, replaced = Lock._acquire, []

    def replacing(lock, journal, until):
        acquire(lock, journal, until)
        if not replaced:
            replaced.append(lock.path)
            Path(lock.path).rename(f"{lock.path}.old")  # so that the new file has another identity
            Path(lock.path).touch()

    path = tmp_path / "j"
    (tmp_path / "j-lock").touch()
    monkeypatch.setattr(Lock, "_acquire", replacing)
    with Journal(path), pytest.raises(kq.errors.StateError, match="is in use by another Journal"):
        Journal(path)
    assert replaced


def test_a_standby_continues_after_the_last_acknowledged_call(tmp_path):
    first = subprocess.Popen([sys.executable, "-c", FIRST, tmp_path / "j"], stdout=subprocess.PIPE, text=True)  # noqa: S603
    assert first.stdout.readline() == "default/a\n"
    taken = []

    def wait():
        with Journal(tmp_path / "j", wait="365d") as journal:
            taken.append(journal.scheduler().keys())

    standby = threading.Thread(target=wait)
    standby.start()
    time.sleep(0.2)
    assert taken == []
    first.kill()
    first.wait()
    first.stdout.close()
    standby.join(300)
    assert taken == [("default/a",)]


@pytest.mark.parametrize("wait", [0, 0.2])
def test_a_journal_in_use_is_an_error_after_the_wait(tmp_path, wait):
    with Journal(tmp_path / "j") as journal:
        journal.scheduler(CLUSTER)
        with pytest.raises(kq.errors.StateError, match="is in use by another Journal"):
            Journal(tmp_path / "j", wait=wait)
    with pytest.raises(kq.errors.InvalidSpecError, match="wait: is 'soon'"):
        Journal(tmp_path / "j", wait="soon")
