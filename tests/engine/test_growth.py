"""Deleted objects leave no trace, and their ids are not reused."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from kueuepy import (
    AdmissionCheck,
    ClusterQueue,
    Cohort,
    LocalQueue,
    Namespace,
    PodSet,
    Preemption,
    ResourceFlavor,
    Workload,
)
from kueuepy._core import Engine, Question
from kueuepy.errors import NotFoundError
from seeds import seeds

if TYPE_CHECKING:
    from collections.abc import Callable


def job(name: str, *, cpu: int = 1, priority: int = 0) -> Workload:
    return Workload(name, queue_name="main", priority=priority, pod_sets=(PodSet.of(requests={"cpu": cpu}),))


@pytest.fixture
def engine() -> Engine:
    made = Engine()
    for obj in (
        Namespace("default"),
        ResourceFlavor("default"),
        ClusterQueue.of("main", {"default": {"cpu": 4}}),
        LocalQueue("main", cluster_queue="main"),
    ):
        made.apply(obj)
    return made


def test_an_id_is_never_reused_for_another_workload(engine: Engine) -> None:
    first = engine.submit(job("first"))
    kept = engine.submit(job("kept"))
    engine.delete(first)
    again = engine.submit(job("first"))
    assert len({first, kept, again}) == 3
    for call in (engine.key, engine.conditions, engine.admission, engine.status_details, engine.delete, engine.explain):
        with pytest.raises(NotFoundError, match=f"no workload has the id {first}"):
            call(first)
    assert engine.key(kept) == "default/kept"
    assert engine.key(again) == "default/first"
    assert engine.find("default/first") == again


def test_an_id_survives_save_and_fork(engine: Engine) -> None:
    gone = engine.submit(job("gone"))
    kept = engine.submit(job("kept"))
    engine.delete(gone)
    for other in (Engine.load(engine.save()), engine.fork()):
        assert other.key(kept) == "default/kept"
        with pytest.raises(NotFoundError):
            other.key(gone)
        assert other.submit(job("new")) not in (gone, kept)


def test_slots_are_reused(engine: Engine) -> None:
    def rounds(count: int) -> int:
        for number in range(count):
            found = engine.submit(job(f"job-{number % 10}"))
            engine.settle()
            engine.cycle()
            engine.finish(found)
            engine.settle()
            engine.delete(found)
        return len(engine.save())

    rounds(100)
    few = rounds(200)
    assert rounds(2_000) <= few + 100


def test_events_and_decisions_name_deleted_workloads(engine: Engine) -> None:
    engine.record_events(on=True)
    low = engine.submit(job("low", cpu=4))
    engine.settle()
    decisions = engine.decide()
    engine.delete(low)
    other = engine.submit(job("other", cpu=2))
    engine.settle()
    assert decisions.all()[0].workload == "default/low"
    assert ("Deleted", "default/low") in [(event[2], event[3]) for event in engine.drain_events()]
    assert engine.key(other) == "default/other"


def names_come_and_go(engine: Engine, count: int) -> None:
    for number in range(count):
        name = f"passing-{number}"
        engine.apply(Namespace(name))
        engine.apply(ResourceFlavor(name))
        engine.apply(AdmissionCheck(name, controller_name="nobody"))
        engine.apply(ClusterQueue.of(name, {name: {f"example.com/{name}": 1}}, cohort_name=name))
        engine.apply(LocalQueue(name, namespace=name, cluster_queue=name))
        for kind, space in (
            ("LocalQueue", name),
            ("ClusterQueue", ""),
            ("AdmissionCheck", ""),
            ("ResourceFlavor", ""),
            ("Namespace", ""),
        ):
            engine.delete_object(kind, space, name)


def test_unused_names_are_removed(engine: Engine) -> None:
    found = engine.submit(job("kept"))
    engine.settle()
    engine.cycle()
    before = engine.save()
    names_come_and_go(engine, 600)
    assert engine.save() == before
    assert engine.admission(found) is not None


def test_renumbered_queues_keep_their_heads(engine: Engine) -> None:
    names_come_and_go(engine, 100)  # whose numbers are free
    for name in ("late", "leaving"):
        engine.apply(ClusterQueue.of(name, {"default": {"cpu": 1}}))
        engine.apply(LocalQueue(name, cluster_queue=name))
    holding, head = (
        engine.submit(Workload(name, queue_name=name, pod_sets=(PodSet.of(requests={"cpu": 1}),)))
        for name in ("leaving", "late")
    )
    engine.settle()
    assert engine.cycle()[1] == 2
    engine.delete_object("ClusterQueue", "", "leaving")
    waiting = engine.submit(Workload("waiting", queue_name="late", pod_sets=(PodSet.of(requests={"cpu": 1}),)))
    engine.settle()
    engine.cycle()
    for number in range(3000):  # until names are renumbered without a change of a queue
        odd = PodSet.of(requests={f"example.com/thing-{number}": 1})
        engine.delete(engine.submit(Workload(f"odd-{number}", queue_name="main", pod_sets=(odd,))))
    engine.finish(head)
    engine.settle()
    assert engine.cycle()[1] == 1
    assert engine.admission(waiting) is not None
    engine.finish(holding)
    engine.settle()
    assert list(engine.usage()) == ["late", "main"]
    assert engine.check() == []


def test_questions_do_not_grow_the_state(engine: Engine) -> None:
    engine.submit(job("kept"))
    engine.settle()
    engine.cycle()
    before = engine.save()
    for number in range(500):
        asked = Workload(
            f"asked-{number}",
            namespace=f"space-{number}",
            queue_name=f"queue-{number}",
            pod_sets=(PodSet.of(requests={f"example.com/thing-{number}": 1}),),
        )
        engine.ask_one(Question(asked), ())
        list(engine.ask([asked]))
        engine.ask_one(Question(job(f"asked-{number}", cpu=1 + number % 9, priority=number)), ())
    assert engine.save() == before


def test_a_decision_does_not_change_later(engine: Engine) -> None:
    engine.submit(job("held", cpu=3))
    engine.submit(job("waits", cpu=2))
    engine.settle()
    engine.decide()
    decisions = engine.decide()
    (answer,) = engine.ask([job("asked", cpu=5)])
    answers = engine.ask([job("asked", cpu=5)])
    told = decisions.all()
    names_come_and_go(engine, 600)
    assert decisions.all() == told
    assert answers[0] == answer
    assert "default" in told[0].message


class Life:
    """Execute the same random calls on several engines."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)  # noqa: S311 - a repeatable life, no secret
        self.keys: list[str] = []
        self.count = 0

    def call(self) -> Callable[[Engine], object]:
        self.count += 1
        kind, queue = self.random.randrange(12), f"q{self.random.randrange(4)}"
        if kind < 4:
            return self.submit(queue)
        if kind < 6 and self.keys:
            key = self.keys.pop(self.random.randrange(len(self.keys)))
            return lambda engine: engine.delete(engine.find(key))
        if kind == 6 and self.keys:
            key = self.random.choice(self.keys)
            return lambda engine: engine.finish(engine.find(key))
        if kind == 7:
            return self.change(queue)
        if kind == 8:
            below = self.random.choice(("", "b", "c"))
            return lambda engine: engine.apply(Cohort("a", parent_name=below))
        if kind == 9:
            return lambda engine: engine.delete_object("ClusterQueue", "", queue)
        if kind == 10:
            return lambda engine: [engine.settle(), engine.cycle()]
        return lambda engine: [engine.settle(), engine.decide().all(), engine.settle()]

    def submit(self, queue: str) -> Callable[[Engine], object]:
        name = f"w{self.random.randrange(40)}"
        if f"default/{name}" in self.keys:
            return lambda engine: engine.settle()
        self.keys.append(f"default/{name}")
        requests = {"cpu": self.random.randrange(1, 4), "example.com/x": self.random.randrange(2)}
        made = Workload(
            name,
            queue_name=queue,
            priority=self.random.randrange(3),
            uid=str(self.random.randrange(10)),
            creation_timestamp=self.count,
            pod_sets=(PodSet.of(requests=requests),),
        )
        return lambda engine: engine.submit(made)

    def change(self, queue: str) -> Callable[[Engine], object]:
        cohort = self.random.choice(("a", "b", f"cohort-{self.count}"))
        quotas = {"default": {"cpu": self.random.randrange(2, 8), "example.com/x": 2}}
        rules = Preemption(within_cluster_queue="LowerPriority", reclaim_within_cohort="Any")
        made = ClusterQueue.of(queue, quotas, cohort_name=cohort, preemption=rules)
        return lambda engine: (engine.apply(made), engine.apply(LocalQueue(queue, cluster_queue=queue)))


@pytest.mark.suite
@pytest.mark.parametrize("seed", seeds(12))
def test_a_restored_engine_ends_with_the_same_bytes(engine: Engine, seed: int) -> None:
    life, others = Life(seed), [engine.fork()]
    for number in range(150):
        call = life.call()
        told = call(engine)
        assert all(call(other) == told for other in others)
        if number % 30 == 29:
            others.append(Engine.load(engine.save()))
        if number % 37 == 36:
            for one in (engine, *others):  # otherwise, a terminating queue would be deleted earlier in one of them
                one.settle()
            names_come_and_go(others[0], 400)
        if number % 5 == 0:
            assert {other.save() for other in others} == {engine.save()}


@pytest.mark.parametrize("seed", seeds(6))
def test_a_position_equals_that_in_the_list_of_pending_workloads(engine: Engine, seed: int) -> None:
    life = Life(seed)
    for number in range(120):
        life.call()(engine)
        for queue in ("q0", "q1", "q2", "q3") if number % 10 == 9 else ():
            waiting = [f"{row[0]}/{row[1]}" for row in engine.pending_workloads(queue) or []]
            for place, key in enumerate(waiting):
                facts = engine.explain(engine.find(key))
                assert facts["position"] == place
                ahead = [key for key, _ in facts["ahead"]]
                assert ahead == waiting[:place][: len(ahead)]
                assert bool(ahead) == bool(place)


def test_explanations_terminate_with_a_cohort_cycle(engine: Engine) -> None:
    engine.apply(Cohort("a", parent_name="b"))
    engine.apply(ClusterQueue.of("ringed", {"default": {"cpu": 4}}, cohort_name="a"))
    engine.apply(LocalQueue("ringed", cluster_queue="ringed"))
    held = engine.submit(Workload("held", queue_name="ringed", pod_sets=(PodSet.of(requests={"cpu": 1}),)))
    waits = engine.submit(Workload("waits", queue_name="ringed", pod_sets=(PodSet.of(requests={"cpu": 5}),)))
    engine.settle()
    engine.cycle()
    engine.apply(Cohort("b", parent_name="a"))
    engine.settle()
    facts = engine.explain(held)
    assert [node["name"] for node in facts["pod_sets"][0]["flavors"][0]["cells"][0]["path"]] == ["ringed"]
    assert engine.explain(waits)["workload"] == "default/waits"
    engine.cohort_status()
    engine.must_leave()
    engine.share_facts()
