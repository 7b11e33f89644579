"""The proof by lines: after an exception at any line of a call, the state is that before the call or after it.

Each test raises an exception at lines of the package, one place in each run: `KeyboardInterrupt`, as a signal handler
does, at all of them, and `MemoryError` at every tenth. Afterwards, the next call must work.
"""

from __future__ import annotations

import contextlib
import copy
import pickle
import shutil
import sys
import tempfile
import time
from itertools import count
from pathlib import Path
from zlib import crc32

import msgspec
import pytest

import kueuepy as kq
from kueuepy.lab import rl
from kueuepy.lab.play import answers
from kueuepy.platform import Journal
from kueuepy.session.session import session_of
from kueuepy.simulation import simulate
from saved import to_bytes

ResetNeeded = pytest.importorskip("gymnasium").error.ResetNeeded

SOURCES = (str(Path(kq.__file__).parent), contextlib.__file__)
SAMPLE = 30
"""Places of a call in the ring `suite`."""

# An exception in a finalizer is not raised, but only reported.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
everywhere = pytest.mark.parametrize("is_long", [False, pytest.param(True, marks=pytest.mark.long)])


def traced(call, at_line):
    """Call, and call `at_line` at each line of the package; after it returns True, tracing ends."""
    is_over = False

    def line(_frame, event, _):
        nonlocal is_over
        if event == "line" and not is_over:
            is_over = at_line()
        return line

    def begin(frame, _event, _):
        return line if not is_over and frame.f_code.co_filename.startswith(SOURCES) else None

    sys.settrace(begin)
    try:
        return call()
    finally:
        sys.settrace(None)


def raising(call, at, error):
    """Call, and raise an exception at the given line; return whether it was raised out of the call."""
    lines, raised = count(1), []

    def raise_there():
        if next(lines) == at:
            raised.append(at)
            raise error
        return bool(raised)

    try:
        traced(call, raise_there)
    except error:
        return True
    return False


def places(call, *, is_long, sample=SAMPLE):
    """Return the lines at which to raise, each with an exception."""
    lines = count()
    traced(call, lambda: next(lines) < 0)
    number = next(lines)
    step = 1 if is_long else max(1, number // sample)
    return [(at, KeyboardInterrupt) for at in range(1, number + 1, step)] + [
        (at, MemoryError) for at in range(1, number + 1, 10 * step)
    ]


# Schedulers.


def job(name, queue="a", **more):
    return {"name": name, "queue": queue, "cpu": 1, **more}


def elastic(pods):
    metadata = {
        "name": "elastic",
        "labels": {"kueue.x-k8s.io/queue-name": "b"},
        "annotations": {"kueue.x-k8s.io/elastic-job": "true"},
    }
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "100m"}}}
    template = {"spec": {"restartPolicy": "Never", "containers": [container]}}
    spec = {"parallelism": pods, "completions": pods, "suspend": True, "template": template}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": spec}


def queue(name, cpu=4, cohort="x", **more):
    preemption = kq.Preemption("Any", "LowerPriority")
    return kq.ClusterQueue.of(name, {"d": {"cpu": cpu}}, cohort_name=cohort, preemption=preemption, **more)


def cluster():
    rule = kq.objects.AdmissionCheckStrategyRule("budget")
    check = kq.AdmissionCheck("budget", controller_name="example.com/budget")
    queues = [queue("a"), queue("b"), queue("c", admission_checks_strategy=[rule]), queue("alone", 1, "y")]
    gates = {"ElasticJobsViaWorkloadSlices": True}
    racks = kq.Topology("racks", levels=("rack", "kubernetes.io/hostname"))
    placed = kq.ResourceFlavor("placed", node_labels={"pool": "p"}, topology_name="racks")
    labels = {"pool": "p", "rack": "r", "kubernetes.io/hostname": "n"}
    node = kq.Node("n", labels=labels, allocatable={"cpu": 4, "pods": 9})
    flavors = (kq.ResourceFlavor("d"), placed, racks, node)
    return kq.Cluster(*flavors, check, queues, configuration=kq.Configuration(feature_gates=gates))


def begun(scheduler):
    """Bring a Scheduler into a state with pending, admitted, evicted, checked and elastic workloads."""
    scheduler.submit([job(f"w{n}", "ab"[n % 2]) for n in range(4)])
    scheduler.submit(elastic(2), job("checked", "c"), job("evicted", "alone"))
    scheduler.settle()
    scheduler.submit(job("evicts", "alone", priority=9))
    scheduler.cycle()
    scheduler.submit(
        job("late", "b"), kq.Workload("big", queue_name="a", pod_sets=[kq.PodSet.of(count=3, requests={"cpu": "9"})])
    )
    return scheduler


def seen(scheduler):
    """Everything that a Scheduler shows of its state, from the engine and from the objects kept with it."""
    rows = scheduler.workloads.rows()
    keys = scheduler.keys()
    assert {row["key"] for row in rows} == set(keys)
    assert session_of(scheduler).engine.check() == []
    quotas = {row["name"]: row["nominal_quota"] for row in scheduler.quota.rows() if row["kind"] == "ClusterQueue"}
    for declared in scheduler.cluster.cluster_queues:  # one that was deleted in use may still have quota
        assert quotas[declared.name] == float(declared.resource_groups[0].flavors[0].resources[0].nominal_quota)
    state = session_of(scheduler).state
    return (
        tuple(state.checks),
        crc32(to_bytes(scheduler)),
        scheduler.fingerprint(),
        keys,
        str(scheduler.usage.rows()),
        str(rows),
    )


def approve(_workload):
    return "Ready"


CALLS = {
    "submit a row": lambda s: s.submit(job("new")),
    "submit rows": lambda s: s.submit([job("new"), job("other", "b")]),
    "submit workloads": lambda s: s.submit(kq.Workload("new", queue_name="a"), kq.Workload("other", queue_name="no")),
    "submit a status": lambda s: s.submit(
        *(msgspec.structs.replace(s.workload(name), name=f"new-{name}", uid="") for name in ("w1", "w3")),
        keep_status=True,
    ),
    "shrink an elastic job": lambda s: s.submit(elastic(1), job("new")),
    "grow an elastic job": lambda s: s.submit(elastic(3), job("new")),
    "apply a queue": lambda s: s.apply(queue("a", 2)),
    "apply objects": lambda s: s.apply(queue("a", 2), queue("new"), kq.LocalQueue("new", cluster_queue="new")),
    "apply a workload": lambda s: s.apply(kq.Workload("new", queue_name="a")),
    "patch": lambda s: s.patch({"kind": "ClusterQueue", "metadata": {"name": "a"}, "spec": {"cohortName": "y"}}),
    "remove": lambda s: s.remove(kq.LocalQueue("b"), kq.ClusterQueue("b"), kq.Workload("w0")),
    "answer_checks": lambda s: s.answer_checks({"example.com/budget": approve}),
    "finish": lambda s: s.finish("w0", "w1"),
    "delete": lambda s: s.delete("w1"),
    "delete several": lambda s: s.delete("w1", "elastic", "evicts"),
    "set_check": lambda s: s.set_check("checked", "budget", "Retry", message="later", requeue_after="5m"),
    "pods_ready": lambda s: s.pods_ready("checked"),
    "job_stopped": lambda s: s.job_stopped("evicted", 5),
    "reclaim": lambda s: s.reclaim("big", 2),
    "advance": lambda s: s.advance(40),
    "cycle": lambda s: s.cycle(),
    "settle": lambda s: s.settle(),
    "cycle with checks": lambda s: s.cycle(),
    "settle with checks": lambda s: s.settle(),
}
VARIANT_CALLS = {
    "submit": lambda s: s.submit(job("new-job", cpu=2)),
    "apply a queue": lambda s: s.apply(preferring(3)),
    "remove": lambda s: s.remove(kq.Workload("job-b")),
    "finish": lambda s: s.finish("job-b"),
    "delete": lambda s: s.delete("job-a", "job-b"),
    "cycle": lambda s: s.cycle(),
    "settle": lambda s: s.settle(),
}
READS = {
    "explain": lambda s: str(s.explain("late")),
    "explain a row": lambda s: str(s.explain(job("new"))),
    "try_admit": lambda s: s.try_admit(job("new")),
    "try_admit_many": lambda s: s.try_admit_many([job("new"), s.question(job("other"))]).verdicts,
    "largest_count": lambda s: s.largest_count(job("new", pods=9)),
    "topology": lambda s: str(s.topology("racks")),
    "start_patch": lambda s: (s.start_patch("elastic"), s.stop_patch("elastic")),
    "tables": lambda s: [str(table) for table in (s.usage, s.quota, s.shares, s.queues, s.workloads, s.consumed)],
    "objects": lambda s: (s.cluster, s.configuration, s.not_modelled, s.workload("w1"), s.keys(), s.now),
    "whatif": lambda s: str(s.whatif(queue("a", 9))),
    "fork": lambda s: s.fork().settle(),
    "with_configuration": lambda s: s.with_configuration(kq.Configuration()),
    "pickle": lambda s: pickle.loads(pickle.dumps(s)),  # noqa: S301 - our own
    "copy": copy.deepcopy,
    "print": str,
}


def made():
    return begun(kq.Scheduler(cluster(), stopping=30))


def preferring(cpu):
    policy = {"migration": {"mode": "TryPreferredFlavors"}}
    return kq.ClusterQueue.of("a", {"d": {"cpu": cpu}, "e": {"cpu": cpu}}, concurrent_admission_policy=policy)


def with_variants():
    """A Scheduler in which a workload may move to the flavor that another one has left, and a third one is new."""
    gates = kq.Configuration(feature_gates={"ConcurrentAdmission": True})
    scheduler = kq.Scheduler(kq.Cluster(*map(kq.ResourceFlavor, "de"), preferring(2), configuration=gates))
    scheduler.submit(job("job-a", cpu=2), job("job-b", cpu=2), job("job-c", cpu=2))
    scheduler.settle()
    scheduler.finish("job-a")
    scheduler.submit(job("job-d"))
    return scheduler


@everywhere
@pytest.mark.parametrize(
    ("begin", "name"), [(made, name) for name in CALLS] + [(with_variants, name) for name in VARIANT_CALLS]
)
def test_calls_of_a_scheduler(begin, name, is_long):
    base, call = begin(), (CALLS if begin is made else VARIANT_CALLS)[name]
    if name.endswith("with checks"):
        base.answer_checks({"example.com/budget": approve})
    done = base.fork()
    call(done)
    states = seen(base), seen(done)
    assert states[0] != states[1]
    for at, error in places(lambda: call(base.fork()), is_long=is_long):
        scheduler = base.fork()
        if raising(lambda: call(scheduler), at, error):  # noqa: B023 - called at once
            assert seen(scheduler) in states, (name, at, error)
            assert scheduler.submit(job("next")) == ("default/next",)
            scheduler.settle()
            seen(scheduler)


@everywhere
@pytest.mark.parametrize("name", ["submit a row", "finish", "cycle", "settle"])
def test_calls_with_the_clock_of_the_system(monkeypatch, name, is_long):
    """A call begins with the time of the clock, which passes whether or not the call is interrupted."""
    now = [0]
    monkeypatch.setattr(time, "time_ns", lambda: 0)
    monkeypatch.setattr(time, "monotonic_ns", lambda: now[0])

    def begin():
        now[0] = 0
        scheduler = begun(kq.Scheduler(cluster(), stopping=30, clock="system"))
        now[0] = 40 * 10**9
        return scheduler

    done, call = begin(), CALLS[name]
    later = done.fork()
    later.advance(40)
    states = [seen(done), seen(later)]
    call(done)
    states.append(seen(done))
    fresh = begin()
    for at, error in places(lambda: call(fresh), is_long=is_long):
        scheduler = begin()
        raising(lambda: call(scheduler), at, error)  # noqa: B023 - called at once
        assert seen(scheduler) in states, (name, at, error)


@everywhere
@pytest.mark.parametrize("name", READS)
def test_questions_to_a_scheduler(name, is_long):
    base, call = made(), READS[name]
    scheduler, told = base.fork(), seen(base)
    for at, error in places(lambda: call(base.fork()), is_long=is_long):
        raising(lambda: call(scheduler), at, error)
        assert seen(scheduler) == told, (at, error)
    call(scheduler)


@everywhere
def test_save_replaces_a_file_or_leaves_it(memory, is_long):
    base, path = made(), memory / "state.bin"
    base.save(path)
    before = path.read_bytes()
    base.delete("w1")
    base.save(path)
    states = before, path.read_bytes()
    for at, error in places(lambda: base.save(path), is_long=is_long):
        path.write_bytes(before)
        raising(lambda: base.save(path), at, error)
        assert path.read_bytes() in states, (at, error)
        assert list(memory.iterdir()) == [path], (at, error)
        raising(lambda: kq.Scheduler.load(path), at, error)
        kq.Scheduler.load(path)


# Journals.


def group(scheduler):
    with scheduler.journal.group():
        scheduler.submit(job("new"))
        scheduler.cycle()
        scheduler.delete("w1")


JOURNAL_CALLS = {
    **{name: call for name, call in CALLS.items() if name not in ("answer_checks", "apply a workload", "delete")},
    "compact": lambda s: s.journal.compact(),
    "backup": lambda s: s.journal.backup(s.journal.path.with_name("backup.db")),
    "open again": lambda s: s.journal.scheduler(cluster(), on_change="apply"),
    "group": group,
}


@pytest.fixture
def memory():
    """A folder in memory if there is one, where journals are made sooner."""
    shared = Path("/dev/shm")  # noqa: S108 - a folder of its own in there
    with tempfile.TemporaryDirectory(dir=shared if shared.is_dir() else None) as folder:
        yield Path(folder)


def stored(path, folder):
    """What a new process reads if this one is killed now: the state from copies of the files."""
    for suffix in ("", "-wal"):
        with contextlib.suppress(FileNotFoundError):
            shutil.copy(f"{path}{suffix}", folder / f"copy.db{suffix}")
    with Journal(folder / "copy.db", durability="process") as journal:
        return seen(journal.scheduler())


@everywhere
@pytest.mark.parametrize("name", JOURNAL_CALLS)
def test_calls_of_a_journal(memory, name, is_long):
    call, numbers = JOURNAL_CALLS[name], count()
    start = memory / "start.db"
    with Journal(start, durability="process") as journal:
        begun(journal.scheduler(kq.Scheduler(cluster(), stopping=30)))

    @contextlib.contextmanager
    def opened():
        folder = memory / str(next(numbers))
        folder.mkdir()
        shutil.copy(start, folder / "j.db")
        with Journal(folder / "j.db", durability="process") as journal:
            scheduler = journal.scheduler()
            if name.endswith("with checks"):
                scheduler.answer_checks({"example.com/budget": approve})
            yield scheduler, folder

    with opened() as (scheduler, _):
        states = [seen(scheduler)]
        if name == "group":
            for step in (lambda: scheduler.submit(job("new")), scheduler.cycle):
                step()
                states.append(seen(scheduler))
            scheduler.delete("w1")
        else:
            call(scheduler)
        states.append(seen(scheduler))
    with opened() as (scheduler, _):
        chosen = places(lambda: call(scheduler), is_long=is_long, sample=SAMPLE // 5)
    for at, error in chosen:
        with opened() as (scheduler, folder):
            raising(lambda: call(scheduler), at, error)
            told = seen(scheduler)
            assert told in states, (name, at, error)
            assert stored(folder / "j.db", folder)[1:] == told[1:], (name, at, error)
            scheduler.submit(job("next"))
            assert stored(folder / "j.db", folder)[1:] == seen(scheduler)[1:], (name, at, error)
        shutil.rmtree(folder)


@everywhere
@pytest.mark.parametrize("is_closed", [False, True])
def test_a_new_journal_is_whole_or_can_be_made_again(memory, is_closed, is_long):
    """Also one that is closed before it is written: the lock of an interrupted constructor is released."""
    numbers, start, opened = count(), kq.Scheduler(cluster(), stopping=30), []

    def begin(path):
        with Journal(path, durability="process") as journal:
            opened[:] = [journal]
            return seen(journal.scheduler(start))

    wanted = begin(memory / "whole.db")
    call = (lambda path: Journal(path).close()) if is_closed else begin
    for at, error in places(lambda: call(memory / f"{next(numbers)}.db"), is_long=is_long):
        path = memory / f"{next(numbers)}.db"
        raising(lambda: call(path), at, error)  # noqa: B023 - called at once
        for journal in opened:
            journal.close()  # again, if the interrupt was in it
        assert begin(path) == wanted, (at, error)


# Fleets.


def fleet():
    worker = kq.Cluster(kq.ResourceFlavor("d"), [queue(name) for name in "ab"])
    made = kq.FleetScheduler(kq.Fleet({"u": worker, "v": worker}, dispatcher=kq.sim.External()))
    for name in ("there", "gone", "new"):
        made.manager.submit(job(name))
    made.manager.settle()
    made.nominate("there", ["u", "v"])
    made.nominate("gone", ["u"])
    made.dispatch()
    made["u"].settle()
    made.dispatch()
    made.manager.delete("gone")
    made.nominate("new", ["v"])
    return made


FLEET_CALLS = {
    "advance": lambda f: f.advance("5m"),
    "dispatch": lambda f: f.dispatch(),
    "collect_garbage": lambda f: f.collect_garbage(),
    "connect": lambda f: f.connect("u", "v"),
    "disconnect": lambda f: f.disconnect("u", "v"),
    "nominate": lambda f: f.nominate("new", ["u"]),
    "finish": lambda f: f.finish("there"),
    "restart": lambda f: f.restart(),
    "status": lambda f: f.status("there"),
    "explain": lambda f: f.explain("there"),
    "fork": lambda f: f.fork().dispatch(),
    "submit to the manager": lambda f: f.manager.submit(job("other")),
    "settle on a worker": lambda f: f["v"].settle(),
}


def seen_fleet(made):
    names = ("there", "new")
    return [seen(one) for one in (made.manager, *made.workers.values())], [str(made.status(name)) for name in names]


@everywhere
@pytest.mark.parametrize("name", FLEET_CALLS)
def test_calls_of_a_fleet(name, is_long):
    base, call = fleet(), FLEET_CALLS[name]

    def later(made):
        """The state after further calls, which shows the connections and what MultiKueue's controllers remember."""
        twin = made.fork()
        return [seen_fleet(made), str(twin.dispatch()), str(twin.collect_garbage()), seen_fleet(twin)]

    done = base.fork()
    call(done)
    states = later(base), later(done)
    for at, error in places(lambda: call(base.fork()), is_long=is_long):
        made = base.fork()
        raising(lambda: call(made), at, error)  # noqa: B023 - called at once
        assert later(made) in states, (name, at, error)


# Simulations.


def simulation(clusters):
    rows = [{"queue": "a", "submit": 10 * n, "runtime": 25, "cpu": 3, "name": f"j{n}"} for n in range(8)]
    made = kq.Simulation(clusters, rows)
    made.run(32)
    return made


EXTRA = [{"queue": "a", "submit": 35, "runtime": 5, "cpu": 2, "name": f"e{n}"} for n in range(2)]
OF_CLUSTERS = {
    "submit": lambda r: r.submit(EXTRA),
    "apply": lambda r: r.apply(queue("a", 3)),
    "edit": lambda r: r.apply(kq.sim.Edit("ClusterQueue/a:quota[d/cpu].nominalQuota", 6)),
    "finish": lambda r: r.apply(kq.sim.Finish("j3")),
}
RUN_CALLS = {
    "run": lambda r: r.run(60),
    "run with progress": lambda r: r.run(60, progress=lambda _: None),
    "run_for": lambda r: r.run_for(60),
    "step": lambda r: r.step(),
    "fork": lambda r: r.fork().run(),
    "result": lambda r: r.result(),
    "close": lambda r: r.close(),
    "scheduler": lambda r: r.scheduler,
    "progress": lambda r: r.progress(),
    "states": lambda r: r.states,
    "jobs": lambda r: r.jobs,
}
RUNS = {
    "a cluster": lambda: simulation(kq.Cluster(kq.ResourceFlavor("d"), queue("a"))),
    "a fleet": lambda: simulation(kq.Fleet({name: kq.Cluster(kq.ResourceFlavor("d"), queue("a", 2)) for name in "uv"})),
}


def ended(run):
    """The result after the run has gone on to its end."""
    twin = run.fork()
    with contextlib.suppress(kq.errors.StateError):  # it is closed
        twin.run()
    table = twin.result().jobs
    return [str(table[name].tolist()) for name in ("name", "submit", "first_start", "end")], len(run.jobs)


@everywhere
@pytest.mark.parametrize(
    ("kind", "name"),
    [("a cluster", name) for name in OF_CLUSTERS] + [(kind, name) for kind in RUNS for name in RUN_CALLS],
)
def test_calls_of_a_simulation(kind, name, is_long):
    base, call = RUNS[kind](), (OF_CLUSTERS | RUN_CALLS)[name]
    done = base.fork()
    call(done)
    states = ended(base), ended(done)
    for at, error in places(lambda: call(base.fork()), is_long=is_long):
        run = base.fork()
        raising(lambda: call(run), at, error)  # noqa: B023 - called at once
        assert ended(run) in states, (name, at, error)


# Playgrounds and environments.

QUEUES = kq.Cluster(kq.ResourceFlavor("d"), [queue("a"), queue("b")])
NOMINAL = [f"ClusterQueue/{name}:quota[d/cpu].nominalQuota" for name in "ab"]


def arrivals(_seed=0):
    return [{"queue": "ab"[n % 2], "submit": 10 * n, "runtime": 25, "cpu": 3} for n in range(8)]


VALUES = {NOMINAL[0]: 3}
PLAY_CALLS = {
    "cluster": lambda p: p.cluster(VALUES),
    "result": lambda p: p.result(VALUES),
    "patch": lambda p: p.patch(VALUES),
    "answer": lambda p: p.answer(VALUES),
    "part": lambda p: p.part(VALUES, 1),
    "reply": lambda p: p.reply({"values": VALUES, "part": 1}),
}


@everywhere
@pytest.mark.parametrize("name", PLAY_CALLS)
def test_calls_of_a_playground(monkeypatch, name, is_long):
    monkeypatch.setattr(answers, "_SOON", 0)  # each part but the last ends at once
    played, call = answers.Playground(QUEUES, arrivals()), PLAY_CALLS[name]

    def later():
        """The whole answer, and the same answer in parts."""
        whole = played.answer(VALUES)
        parts = (played.part(VALUES, part) for part in count())
        return [one | {"ms": 0} for one in (whole, next(found for found in parts if not found["more"]))]

    wanted = later()
    assert wanted[0] == wanted[1]
    for at, error in places(lambda: call(played), is_long=is_long):
        played.part(VALUES)  # a simulation that the next part continues
        raising(lambda: call(played), at, error)
        assert later() == wanted, (name, at, error)


def environment(size=None):
    options = {"interval": 20, "episode": 60, "step": 1, "conserve": False}
    if size is None:
        return rl.QuotaEnv(QUEUES, arrivals, NOMINAL, render_mode="ansi", **options)
    return rl.QuotaVectorEnv(size, QUEUES, arrivals, NOMINAL, threads=1, **options)


LESS, MORE = [-1, 0], [1, -1]
ENV_CALLS = {
    "step": lambda e: e.step(LESS),
    "reset": lambda e: e.reset(seed=2),
    "render": lambda e: e.render(),
}


@everywhere
@pytest.mark.parametrize("steps", [0, 1, 2, 3])
@pytest.mark.parametrize("name", ENV_CALLS)
def test_calls_of_an_environment(name, steps, is_long):
    env, call = environment(), ENV_CALLS[name]

    def begin():
        env.reset(seed=1)
        for _ in range(steps):
            env.step(LESS)

    def later():
        """Everything that further steps return, until no episode is left."""
        told = []
        with contextlib.suppress(ResetNeeded):
            told.extend(str(env.step(MORE)) for _ in range(9))
        return told

    def called():
        with contextlib.suppress(ResetNeeded):
            call(env)

    begin()
    states = [later()]
    begin()
    called()
    states += [later(), *([[]] if name == "reset" else [])]  # an interrupted reset may leave no episode
    begin()
    for at, error in places(called, is_long=is_long):
        begin()
        raising(called, at, error)
        assert later() in states, (name, at, error)


@everywhere
@pytest.mark.parametrize("steps", [1, 3])
@pytest.mark.parametrize("name", ["step", "reset"])
def test_calls_of_a_vector_of_environments(name, steps, is_long):
    envs = environment(2)
    call = {"step": lambda: envs.step([LESS, MORE]), "reset": lambda: envs.reset(seed=2)}[name]

    def begin():
        envs.reset(seed=1)
        for _ in range(steps):
            envs.step([LESS, MORE])

    def later():
        """What further steps return, for each environment; nothing if one has no episode."""
        told = []
        with contextlib.suppress(ResetNeeded):
            for _ in range(5):
                seen, rewards, _, over, info = envs.step([MORE, LESS])
                told.append([seen.tolist(), rewards.tolist(), over.tolist(), info["action_mask"].tolist()])
        return [str([[fact[seat] for fact in step] for step in told]) for seat in range(2)] if told else None

    begin()
    before = later()
    begin()
    call()
    after = later()
    begin()
    for at, error in places(call, is_long=is_long):
        begin()
        raising(call, at, error)
        told = later()
        whole = told is None or all(one in pair for one, *pair in zip(told, before, after, strict=True))
        assert whole, (name, at, error)


# Functions of the user, which may fail, and may not call the object that calls them.


def checked_scheduler(act):
    scheduler = made()
    scheduler.answer_checks({"example.com/budget": lambda _: act() or "Ready"})
    return scheduler.settle, lambda: (seen(scheduler)[1:], scheduler.settle() and seen(scheduler)[1:])


def dispatching_fleet(act):
    worker = kq.Cluster(kq.ResourceFlavor("d"), [queue("a")])
    clusters = {"u": worker, "v": worker}
    scheduler = kq.FleetScheduler(kq.Fleet(clusters, dispatcher=kq.sim.External(lambda *_: act() or ["u"])))
    scheduler.manager.submit([job("one"), job("two")])
    scheduler.manager.settle()

    def shown():
        return [seen(one) for one in (scheduler.manager, *scheduler.workers.values())]

    return scheduler.dispatch, lambda: (shown(), scheduler.dispatch() and shown())


def progressing_run(act):
    number = 40_000  # progress is reported after many events
    jobs = kq.Jobs({"queue": ["a"] * number, "submit": range(number), "runtime": [1] * number})
    run = kq.Simulation(kq.Cluster(kq.ResourceFlavor("d"), queue("a")), jobs)
    return lambda: run.run(progress=lambda _: act()), lambda: run.run() or run.result().fingerprint


def generating_environment(act):
    env = rl.QuotaEnv(QUEUES, lambda seed: act() or arrivals(seed), NOMINAL, interval=20, episode=60)
    return lambda: env.reset(seed=1), lambda: env._stage.run(0) is None or str(env.step(LESS))


def rewarding_environment(act):
    env = rl.QuotaEnv(QUEUES, arrivals, NOMINAL, interval=20, episode=60, reward=lambda *_: act() or 1)
    env.reset(seed=1)
    return lambda: env.step(LESS), lambda: str(env.step(LESS))


@pytest.fixture
def reports(monkeypatch):
    """Progress is reported whenever it could be."""
    monkeypatch.setattr(simulate, "_OFTEN", 0)


FUNCTIONS = (checked_scheduler, dispatching_fleet, progressing_run, generating_environment, rewarding_environment)


@pytest.mark.usefixtures("reports")
@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError, ZeroDivisionError])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_function_that_fails_leaves_the_state_before_or_after_the_call(function, error):
    class Act:
        def __init__(self, fails_at=0):
            self.calls, self.fails_at = 0, fails_at

        def __call__(self):
            self.calls += 1
            if self.calls == self.fails_at:
                raise error

    before = function(Act())[1]()
    act = Act()
    call, later = function(act)
    call()
    number, after = act.calls, later()
    assert number
    for at in range(1, number + 1):
        call, later = function(Act(at))
        with pytest.raises(error):
            call()
        assert later() in (before, after)


@pytest.mark.usefixtures("reports")
@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_function_may_not_call_the_object_that_calls_it(function):
    told = []

    def act():
        if not told:
            with pytest.raises(kq.errors.StateError) as refused:
                call()
            told.append(refused)

    call, _ = function(act)
    call()
    assert told
