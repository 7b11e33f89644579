"""Costs of commands and questions are linear: twice the input needs at most twice the work."""

from __future__ import annotations

import pickle
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

import kueuepy as kq
from kueuepy.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FEW = 100
MOST = 2.2  # times the work of half as much


@contextmanager
def counted() -> Iterator[list[int]]:
    """Counts the calls of functions, of Python's and of the core's."""
    calls = [0]

    def hear(_frame: object, event: str, _argument: object) -> None:
        if event in ("call", "c_call"):
            calls[0] += 1

    before = sys.getprofile()
    sys.setprofile(hear)
    try:
        yield calls
    finally:
        sys.setprofile(before)


def cost(call: Callable[[], object]) -> int:
    with counted() as calls:
        call()
    return calls[0]


def queues(count: int) -> list[kq.Object]:
    made = [kq.ClusterQueue.of(f"q{n}", {"f": {"cpu": 4}}, cohort_name=f"c{n % 10}") for n in range(count)]
    return [kq.ResourceFlavor("f"), *made]


def waiting(count: int) -> kq.Scheduler:
    """One workload runs, and this number of different workloads wait."""
    scheduler = kq.Scheduler(kq.Cluster(*queues(1)), now=0)
    requests = [4000, *(3000 + n for n in range(count))]
    pods = [(kq.PodSet.of(requests={"cpu": f"{cpu}m"}),) for cpu in requests]
    scheduler.submit(kq.Workload(f"w{n}", queue_name="q0", pod_sets=pod_sets) for n, pod_sets in enumerate(pods))
    scheduler.settle()
    return scheduler


def test_the_cost_of_an_explanation_is_independent_of_pending_workloads() -> None:
    first, second = waiting(FEW), waiting(4 * FEW)
    assert len(first.queues) == FEW
    waiting(2).explain("w1")  # imports happen once
    assert cost(lambda: second.explain("w9")) == cost(lambda: first.explain("w9"))
    assert str(second.explain("w9")) == str(first.explain("w9"))


def test_the_cost_of_a_command_is_linear_in_pending_workloads(tmp_path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "cluster.yaml"
    kq.dump(kq.Cluster(*queues(1)), path)

    def run(count: int) -> int:
        rows = tmp_path / f"{count}.csv"
        first = 3000 if count == 4 * FEW else 3500  # requests of an earlier run are read from a cache
        lines = [f"w{n},q0,{first + n}m" for n in range(count)]
        rows.write_text("\n".join(["name,queue,cpu", *lines, ""]), encoding="utf-8")
        found = cost(lambda: main(["run", str(path), str(rows), "--json"]))
        assert capsys.readouterr().out.count('"message"') >= count - 1
        return found

    run(2)  # imports happen once, those for a waiting workload, too
    assert run(4 * FEW) < MOST * run(2 * FEW)


def test_the_cost_of_loading_is_linear_in_queues() -> None:
    def load(count: int) -> int:
        text = kq.dump(kq.Cluster(*queues(count)))
        return cost(lambda: kq.Scheduler(kq.load(text)).settle())

    load(1)
    assert load(4 * FEW) < MOST * load(2 * FEW)


def submitted_one_by_one(count: int, *, named: bool) -> Callable[[], object]:
    """Submit single jobs to a simulation that continues between them."""
    run = kq.Simulation(kq.Cluster(*queues(1)), [])
    jobs = [{"queue": "q0", "submit": n, "runtime": 60, "cpu": 1 + n % 3} for n in range(count)]
    jobs = [{**job, "name": f"w{n}"} if named else job for n, job in enumerate(jobs)]

    def submit() -> None:
        for job in jobs:
            run.submit(job)
            run.step()

    return submit


def test_the_cost_of_a_submission_is_independent_of_earlier_ones() -> None:
    for named in (False, True):
        submitted_one_by_one(4 * FEW, named=named)()  # work done once per process or name
        first, second = cost(submitted_one_by_one(FEW, named=named)), cost(submitted_one_by_one(4 * FEW, named=named))
        assert second <= 4 * first * 1.1, named


def test_submissions_of_equal_shape_share_one_shape_object() -> None:
    run = kq.Simulation(kq.Cluster(*queues(1)), [])
    pods = (kq.PodSet.of(requests={"cpu": 1}),)
    for n in range(30):
        run.submit({"queue": "q0", "submit": n, "runtime": 60, "cpu": 1 + n % 3, "name": f"row{n}"})
        run.submit(kq.Workload(f"w{n}", queue_name="q0", pod_sets=pods))
    assert len(run._run.shapes) <= 4
    run.run()
    assert run.result().jobs["state"][0] == "Finished"


def changed_one_by_one(count: int) -> Callable[[], object]:
    """Change priorities of jobs in a simulation that continues between them."""
    run = kq.Simulation(kq.Cluster(*queues(1)), [{"queue": "q0", "submit": n, "runtime": 1} for n in range(count)])

    def change() -> None:
        for n in range(count):
            run.apply(kq.simulation.model.Priority(n, 1))
            run.step()

    return change


def test_the_cost_of_a_change_is_independent_of_earlier_ones() -> None:
    changed_one_by_one(FEW)()
    assert cost(changed_one_by_one(4 * FEW)) <= 4 * cost(changed_one_by_one(FEW)) * 1.1


# The work of a call with 4 times as many workloads or queues: at most 4.5 times as many calls of functions.
# `benchmarks/bench_linear.py` counts the instructions of the same calls, those of the core included.
MOST_OF_FOUR = 4.5


def row(number: int, queue: int) -> dict[str, object]:
    return {"name": f"w{number}", "queue": f"q{queue}", "cpu": 1 + number % 3}


def busy(workloads: int, queue_count: int = 10) -> kq.Scheduler:
    """Return a Scheduler with this number of workloads, of which a part waits."""
    scheduler = kq.Scheduler(kq.Cluster(*queues(queue_count)), now=0)
    scheduler.submit([row(number, number % queue_count) for number in range(workloads)])
    scheduler.settle()
    return scheduler


def prepared_submit(count: int) -> Callable[[], object]:
    scheduler = busy(0)
    return lambda: scheduler.submit([row(number, number % 10) for number in range(count)])


def prepared_settle(count: int) -> Callable[[], object]:
    scheduler = kq.Scheduler(kq.Cluster(*queues(count)), now=0)
    scheduler.submit([row(number, number) for number in range(count)])
    return scheduler.settle


def prepared_questions(count: int) -> Callable[[], object]:
    scheduler = busy(40)
    asked = [scheduler.question(row(1000 + number, number % 10)) for number in range(count)]
    return lambda: scheduler.try_admit_many(asked).verdicts


def prepared_finish(count: int) -> Callable[[], object]:
    scheduler = busy(count, count)

    def finish() -> None:
        for key in scheduler.keys():  # noqa: SIM118
            scheduler.finish(key)
        scheduler.settle()

    return finish


def prepared_delete(count: int) -> Callable[[], object]:
    scheduler = busy(count)

    def delete() -> None:
        for key in scheduler.keys():  # noqa: SIM118
            scheduler.delete(key)

    return delete


def prepared_workloads(count: int) -> Callable[[], object]:
    scheduler = busy(count)
    return lambda: [scheduler.workload(key) for key in scheduler.keys()]  # noqa: SIM118


def prepared_queues(count: int) -> Callable[[], object]:
    scheduler = busy(count, count)
    return lambda: list(scheduler.queues)


def prepared_log(count: int) -> Callable[[], object]:
    rows = 300 * count
    names, ones = [f"q{number % count}" for number in range(rows)], [1] * rows
    log = kq.Jobs({"queue": names, "submit": range(rows), "runtime": ones, "cpu": ones})
    return lambda: log.check(kq.sim.cluster_of(log))


def prepared_first_write(count: int) -> Callable[[], object]:
    fork = busy(count, count).fork()
    return lambda: fork.submit({"name": "new", "queue": "q0", "cpu": 1})


def prepared_changes(change: Callable[[kq.Scheduler, int], object]) -> Callable[[int], Callable[[], object]]:
    """Return the preparation of one change for each of a number of queues."""

    def prepare(count: int) -> Callable[[], object]:
        scheduler = busy(count, count)
        return lambda: [change(scheduler, number) for number in range(count)]

    return prepare


def held(number: int) -> dict[str, object]:
    return {"kind": "ClusterQueue", "metadata": {"name": f"q{number}"}, "spec": {"stopPolicy": "Hold"}}


def prepared_patches(count: int) -> Callable[[], object]:
    cluster = kq.Cluster(*queues(count))
    return lambda: cluster.patch(*map(held, range(count)))


def prepared_copies(count: int) -> Callable[[], object]:
    worker = kq.Cluster(*queues(10))
    fleet = kq.FleetScheduler(kq.Fleet({"u": worker, "v": worker}))
    fleet.manager.submit([row(number, number % 10) for number in range(count)])
    fleet.manager.settle()

    def dispatch() -> None:
        fleet.dispatch()
        for key in fleet.manager.keys():  # noqa: SIM118
            fleet.status(key)
            fleet.manager.delete(key)
        fleet.collect_garbage()

    return dispatch


def prepared_result(count: int) -> Callable[[], object]:
    rows = [{"queue": f"q{n}", "submit": 100 * n, "runtime": 50, "cpu": 1 + n % 3} for n in range(count)]
    cluster = kq.Cluster(*queues(count))

    def simulate() -> None:
        found = kq.simulate(cluster, kq.Jobs.of(rows), progress=False)
        found.queues.rows(), found.by("queue").rows(), found.page(), str(found)

    return simulate


def prepared_reads(count: int) -> Callable[[], object]:
    scheduler = busy(count, count)

    def read() -> None:
        for table in (scheduler.usage, scheduler.quota, scheduler.shares, scheduler.workloads):
            table.rows()
        scheduler.cluster, str(scheduler), scheduler.whatif(kq.ClusterQueue.of("q1", {"f": {"cpu": 9}}))

    return read


def prepared_pickle(count: int) -> Callable[[], object]:
    scheduler = busy(count)
    return lambda: pickle.dumps(scheduler)


def prepared_nodes(count: int) -> Callable[[], object]:
    """Admit 50 workloads; the cost of a cycle may grow with the number of nodes."""
    labels = [{"pool": "p", "rack": f"r{n // 20}", "kubernetes.io/hostname": f"n{n}"} for n in range(4 * count)]
    nodes = [kq.Node(f"n{n}", labels=own, allocatable={"cpu": 8, "pods": 9}) for n, own in enumerate(labels)]
    flavor = kq.ResourceFlavor("f", node_labels={"pool": "p"}, topology_name="t")
    queue = kq.ClusterQueue.of("q0", {"f": {"cpu": 32 * count}})
    topology = kq.Topology("t", levels=["rack", "kubernetes.io/hostname"])
    scheduler = kq.Scheduler(kq.Cluster(topology, flavor, queue, *nodes), now=0)
    scheduler.submit([row(number, 0) for number in range(50)])
    return scheduler.settle


def prepared_events(count: int) -> Callable[[], object]:
    cluster, job = kq.Cluster(*queues(count)), [{"queue": "q0", "submit": 0, "runtime": 1, "cpu": 1}]
    events = [kq.sim.Event(n, kq.sim.Edit(f"ClusterQueue/q{n}:quota[f/cpu].nominalQuota", 5)) for n in range(count)]
    return lambda: kq.simulate(cluster, job, events=events, progress=False)


def prepared_cohorts(count: int) -> Callable[[], object]:
    """Create a chain of cohorts; their number is ten times the count, because the core creates them in microseconds."""
    chain = [kq.Cohort(f"c{n}", parent_name=f"c{n + 1}") for n in range(10 * count)]
    queue = kq.ClusterQueue.of("q", {"f": {"cpu": 1}}, cohort_name="c0")
    cluster = kq.Cluster(kq.ResourceFlavor("f"), queue, *chain)

    def create() -> object:
        return kq.Scheduler(cluster).usage.rows()

    return create


CALLS: dict[str, Callable[[int], Callable[[], object]]] = {
    "submit": prepared_submit,
    "settle": prepared_settle,
    "settle with nodes": prepared_nodes,
    "try_admit_many": prepared_questions,
    "finish": prepared_finish,
    "delete": prepared_delete,
    "pickle": prepared_pickle,
    "workload": prepared_workloads,
    "queues": prepared_queues,
    "fingerprint": lambda count: busy(count).fingerprint,
    "first write after a fork": prepared_first_write,
    "cluster of a log": prepared_log,
    "events": prepared_events,
    "apply": prepared_changes(lambda s, n: s.apply(kq.ClusterQueue.of(f"q{n}", {"f": {"cpu": 5}}))),
    "patch": prepared_changes(lambda s, n: s.patch(held(n))),
    "patch of a cluster": prepared_patches,
    "remove": prepared_changes(lambda s, n: s.remove(kq.ClusterQueue(f"q{n}"))),
    "copies of a fleet": prepared_copies,
    "simulation and result": prepared_result,
    "tables and whatif": prepared_reads,
    "chain of cohorts": prepared_cohorts,
}


@pytest.mark.parametrize("call", CALLS)
def test_the_work_of_a_call_is_linear(call: str) -> None:
    prepare = CALLS[call]
    prepare(4 * FEW)()  # imports happen once, and caches of names are filled
    assert cost(prepare(4 * FEW)) <= MOST_OF_FOUR * cost(prepare(FEW))
