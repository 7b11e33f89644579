"""What is gone leaves nothing behind, and its id is never another's."""

from __future__ import annotations

import pytest

from kueuepy import ClusterQueue, LocalQueue, Namespace, NotFoundError, PodSet, ResourceFlavor, Workload
from kueuepy._core import Engine


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


def test_an_id_is_never_anothers(engine: Engine) -> None:
    first = engine.submit(job("first"))
    kept = engine.submit(job("kept"))
    engine.delete(first)
    again = engine.submit(job("first"))
    assert len({first, kept, again}) == 3
    for call in (engine.key, engine.conditions, engine.admission, engine.life, engine.delete, engine.explain):
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


def test_places_are_used_again(engine: Engine) -> None:
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


def test_events_and_decisions_tell_of_who_is_gone(engine: Engine) -> None:
    engine.record_events(on=True)
    low = engine.submit(job("low", cpu=4))
    engine.settle()
    decisions = engine.decide()
    engine.delete(low)
    other = engine.submit(job("other", cpu=2))
    engine.settle()
    assert decisions[0][1] == "default/low"
    assert ("Deleted", "default/low") in [(event[2], event[3]) for event in engine.drain_events()]
    assert engine.key(other) == "default/other"
