"""Ctrl-C during a long call interrupts it quickly, and its objects stay consistent."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import pytest

SOON = 2.0
"""Seconds; it is a tenth of that where nothing else runs."""

_BEGIN = """
import signal
import sys
import numpy as np
import kueuepy as kq

signal.signal(signal.SIGINT, signal.default_int_handler)  # what is started in the background may ignore it

def queues(count, cpu):
    rules = kq.Preemption("Any", "LowerPriority")
    return [kq.ClusterQueue.of(f"q{n}", {"f": {"cpu": cpu}}, cohort_name="all", preemption=rules) for n in range(count)]

def workloads(count, name, *, queues=2, priority=0):
    kinds = [(kq.PodSet.of(requests={"cpu": f"{1000 + n}m"}),) for n in range(997)]
    for n in range(count):
        yield kq.Workload(f"{name}-{n}", queue_name=f"q{n % queues}", priority=priority, pod_sets=kinds[n % 997])

def scheduler(count, *, cpu, waiting=0, queue_count=2):
    made = kq.Scheduler(kq.Cluster(kq.ResourceFlavor("f"), queues(queue_count, cpu)), now=0)
    made.submit(workloads(count, "w", queues=queue_count))
    if not waiting:
        return made
    made.settle()
    made.submit(workloads(waiting, "late", priority=9))
    return made
"""

_END = """
try:
    print("begins", flush=True)
    call()
    print("ends", flush=True)
except KeyboardInterrupt:
    print("hears", flush=True)
problems = one._engine.check() if one else ()
again()
print("is unsound: " + str(problems) if problems else "is sound", flush=True)
"""

_CALLS = {
    "settle": """
one = scheduler(100_000, cpu=1_000_000, queue_count=1)
call = one.settle
again = one.cycle
""",
    "questions": """
one = scheduler(4_000, cpu=2_000, waiting=400)
keys = [key for key in one.keys() if "late" in key] * 20
call = lambda: one.try_admit_many(keys)
again = lambda: one.try_admit(keys[0])
""",
    "explanations": """
one = scheduler(4_000, cpu=2_000, waiting=400)
keys = [key for key in one.keys() if "late" in key] * 20
call = lambda: [one.explain(key) for key in keys]
again = lambda: one.explain(keys[0])
""",
    "simulate": """
one, count = None, 1_000_000
jobs = kq.Jobs({"queue": ["q0"] * count, "submit": np.arange(count), "runtime": [9] * count, "cpu": [1] * count})
call = lambda: kq.simulate(kq.Cluster(kq.ResourceFlavor("f"), queues(1, 10)), jobs)
again = lambda: None
""",
    "submit": """
one, later = scheduler(10, cpu=1_000), list(workloads(60_000, "later"))
call = lambda: one.submit(later)
def again():
    assert len(one.keys()) == 10  # all or nothing
""",
    "largest count": """
one = scheduler(4_000, cpu=2_000, waiting=1)
asked = one.question(kq.Workload("x", queue_name="q0", priority=9, pod_sets=(kq.PodSet.of(requests={"cpu": "1m"}),)))
call = lambda: [one.largest_count(asked, preempting=True) for _ in range(1_000)]
again = lambda: one.largest_count(asked)
""",
    "saved states": """
from pickle import dumps as to_bytes, loads as from_bytes
one = scheduler(20_000, cpu=1_000)
saved = to_bytes(one)
call = lambda: [from_bytes(to_bytes(from_bytes(saved).fork())) for _ in range(50)]
def again():
    assert to_bytes(one) == to_bytes(from_bytes(saved)) == saved
""",
    "journal": """
import os, tempfile
from kueuepy.platform.journal import Journal
one, path = None, os.path.join(tempfile.mkdtemp(), "j.db")
with Journal(path, durability="process") as journal:
    kept = journal.scheduler(scheduler(10_000, cpu=1_000))
    kept.settle()
    keys = kept.keys()
def opened():
    with Journal(path, durability="process") as journal:
        return journal.scheduler().keys()
call = lambda: [opened() for _ in range(50)]
def again():
    assert opened() == keys
""",
    "compare": """
one, count = None, 100_000
jobs = kq.Jobs({"queue": ["q0"] * count, "submit": np.arange(count), "runtime": [9] * count, "cpu": [1] * count})
there = kq.Cluster(kq.ResourceFlavor("f"), queues(1, 10))
call = lambda: [kq.compare(there, there, jobs) for _ in range(9)]
again = lambda: None
""",
    "manifest": """
one = None
text = "".join(
    f"---\\nkind: Namespace\\napiVersion: v1\\nmetadata: {{name: a{n}}}\\nspec: &s {{a: 1}}\\n" for n in range(40_000)
)
call = lambda: kq.load(text)
again = lambda: kq.load("kind: Namespace\\napiVersion: v1\\nmetadata: {name: a}\\n")
""",
}


@pytest.mark.parametrize("name", _CALLS)
def test_ctrl_c_interrupts_quickly(name):
    script = _BEGIN + _CALLS[name] + _END
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-W", "ignore", "-c", script], stdout=pipe, text=True) as child:  # noqa: S603
        try:
            assert child.stdout.readline() == "begins\n"
            time.sleep(0.2)
            child.send_signal(signal.SIGINT)
            sent = time.monotonic()
            assert child.stdout.readline() == "hears\n"
            assert time.monotonic() - sent < SOON
            assert child.stdout.readline() == "is sound\n"
        finally:
            child.kill()
