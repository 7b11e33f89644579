"""Admission fair sharing over random histories, compared with `tests/oracle/usage.py`."""

from __future__ import annotations

import random
from decimal import Decimal

import msgspec
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import kueuepy as kq
from oracle.usage import NANO, Amounts, Ledger, plus

pytestmark = pytest.mark.sanitizer
SECOND = 10**9
STEPS = 60
DOORS = {"a": "shared", "b": "shared", "c": "shared", "d": "plain"}  # LocalQueues, and their ClusterQueues
WEIGHTS = ("1", "1", "2", "0.5", "0")
RESOURCES = ("cpu", "memory")


class History:
    """An engine and a ledger with the same events."""

    def __init__(self, chance: random.Random) -> None:
        half_life, interval = chance.choice([10, 600, 600, 3601, 0]), chance.choice([1, 10, 300])
        weights = chance.choice([{}, {"cpu": 2.0}, {"memory": 0.1, "cpu": 3.0}, {"memory": 0.0}])
        usage = kq.objects.AdmissionFairSharing(half_life, interval, weights)
        self.ledger = Ledger(half_life * SECOND, interval * SECOND, weights)
        self.weights = {door: chance.choice(WEIGHTS) for door in DOORS}
        check = ["check"] if chance.random() < 0.5 else []
        self.has_check = bool(check)
        quotas = {"default": dict.fromkeys(RESOURCES, 9)}
        queues = [
            kq.ClusterQueue.of(
                name,
                quotas,
                cohort_name="both",
                admission_scope="UsageBasedAdmissionFairSharing" if name == "shared" else None,
                queueing_strategy=chance.choice(["StrictFIFO", "BestEffortFIFO"]),
                admission_checks_strategy=tuple(map(kq.objects.AdmissionCheckStrategyRule, check)),
            )
            for name in ("shared", "plain")
        ]
        doors = [
            kq.LocalQueue(door, cluster_queue=queue, fair_sharing=kq.FairSharing(self.weights[door]))
            for door, queue in DOORS.items()
        ]
        checks = [kq.AdmissionCheck(name, controller_name="controller") for name in check]
        configuration = kq.Configuration(admission_fair_sharing=usage)
        cluster = kq.Cluster(kq.ResourceFlavor("default"), checks, queues, doors, configuration=configuration)
        self.scheduler = kq.Scheduler(cluster, now=1000)
        self.engine = self.scheduler._engine
        self.engine.record_events(on=True)
        self.running: dict[str, Amounts] = {}  # by workload, what it uses once admitted
        self.stopped: set[str] = set()
        self.count = 0

    def requests(self, key: str) -> Amounts:
        pod_set = self.scheduler.workload(key).pod_sets[0]
        asked = pod_set.template["spec"]["containers"][0]["resources"]["requests"]
        return {name: int(amount) * pod_set.count * NANO for name, amount in asked.items()}

    def door(self, key: str) -> str:
        return self.scheduler.workload(key).queue_name

    def uses(self, door: str) -> Amounts:
        return plus(*(amounts for key, amounts in self.running.items() if self.door(key) == door))

    def follow(self, *, sample: bool = False) -> None:
        """Pass the events of the engine to the ledger, and then a usage sample."""
        now = self.engine.now
        for kind, found, *_facts in self.engine.take_events():
            key = self.engine.key(found)
            if kind == "QuotaReserved" and DOORS[self.door(key)] == "shared":
                self.ledger.reserve(self.door(key), key, self.requests(key), now)
            elif kind == "Admitted":
                _, ((_, _, resources, *_),) = self.engine.admission(found)
                scale = {"cpu": NANO // 1000}
                self.running[key] = {name: n * scale.get(name, NANO) for name, (_, n) in resources.items()}
                if DOORS[self.door(key)] == "shared":
                    self.ledger.admit(self.door(key), key, self.uses(self.door(key)), now)
            elif kind == "QuotaReleased":
                self.running.pop(key, None)
                if not self.scheduler.workload(key).active:
                    self.ledger.forgive(self.door(key), key)
        if sample:
            for door in set(DOORS) - self.stopped:
                self.ledger.sample(door, self.uses(door), now)

    def order(self) -> list[str]:
        """Return the pending workloads of the shared queue, by usage of the LocalQueue, priority, time and UID."""

        def key(waiting: str) -> tuple[float, int, int, str]:
            workload = self.scheduler.workload(waiting)
            conditions = self.engine.conditions(self.engine.find(waiting))
            evicted, reason, _, since = conditions.get("Evicted", (False, "", "", 0))
            time = since if evicted and reason == "AdmissionCheck" else workload.creation_timestamp.value
            door = workload.queue_name
            return self.ledger.usage(door, float(self.weights[door])), -workload.priority, time, workload.uid

        return sorted(self.waiting(), key=key)

    def waiting(self) -> list[str]:
        return self.engine.queues().get("shared", ([], []))[0]

    def gone(self, key: str) -> None:
        self.ledger.forgive(self.door(key), key)
        self.running.pop(key, None)

    # The possible events.

    def submit(self, chance: random.Random) -> None:
        self.count += 1
        requests = {name: chance.randint(0, 4) for name in RESOURCES[: chance.randint(1, 2)]}
        count = chance.randint(1, 2)
        pods = kq.PodSet.of(count=count, min_count=chance.choice([None, 1]), requests=requests)
        name, queue = f"w{self.count:02}", chance.choice(sorted(DOORS))
        priority = chance.randint(0, 1)
        self.scheduler.submit(kq.Workload(name, uid=name, queue_name=queue, priority=priority, pod_sets=(pods,)))
        self.follow()

    def settle(self, _chance: random.Random) -> None:
        self.engine.settle()
        self.follow(sample=True)

    def cycle(self, _chance: random.Random) -> None:
        self.engine.decide()
        self.follow(sample=True)

    def wait(self, chance: random.Random) -> None:
        self.scheduler.advance(chance.choice([1, 7, 300, 1000]))

    def finish(self, chance: random.Random) -> None:
        if key := self._one(chance):
            self.gone(key)
            self.scheduler.finish(key)
            self.follow()

    def delete(self, chance: random.Random) -> None:
        if key := self._one(chance):
            self.gone(key)
            self.scheduler.delete(key)
            self.engine.take_events()

    def deactivate(self, chance: random.Random) -> None:
        if key := self._one(chance):
            workload = self.scheduler.workload(key)
            self.running.pop(key, None)
            if self.engine.admission(self.engine.find(key)) is None:
                self.ledger.forgive(workload.queue_name, key)
            self.scheduler.apply(msgspec.structs.replace(workload, active=False))
            self.follow()

    def check(self, chance: random.Random) -> None:
        if self.has_check and (key := self._one(chance)) and self.engine.admission(self.engine.find(key)):
            self.scheduler.set_check(key, "check", chance.choice(["Ready", "Ready", "Retry"]))
            self.follow()

    def stop(self, chance: random.Random) -> None:
        door = chance.choice(sorted(DOORS))
        self.stopped ^= {door}
        queue = self.scheduler.cluster.get(kq.LocalQueue, f"default/{door}")
        self.scheduler.apply(msgspec.structs.replace(queue, stop_policy="Hold" if door in self.stopped else "None"))
        self.follow()

    def _one(self, chance: random.Random) -> str | None:
        """Draw one of the unfinished workloads."""
        conditions = {key: self.engine.conditions(self.engine.find(key)) for key in self.scheduler.keys()}  # noqa: SIM118
        keys = [key for key, found in conditions.items() if "Finished" not in found]
        return chance.choice(keys) if keys else None


ACTIONS = ("submit", "submit", "settle", "cycle", "cycle", "wait", "wait", "finish", "check", "check")
RARE = ("delete", "deactivate", "stop")


def told(engine) -> dict[str, Amounts]:
    """Return the usage recorded by the engine, without zeros."""
    return {
        key.partition("/")[2]: {name: int(Decimal(text) * NANO) for name, text in amounts.items() if Decimal(text)}
        for key, amounts in engine.consumed().items()
    }


def kept(ledger: Ledger) -> dict[str, Amounts]:
    """Return the usage recorded by the oracle, without zeros."""
    tables = {}
    for door, entry in ledger.entries.items():
        owed = {f"penalty:{name}": amount for name, amount in plus(*entry.owed.values()).items()}
        tables[door] = {name: amount for name, amount in (entry.consumed | owed).items() if amount}
    return tables


def without_empty(tables):
    return {door: amounts for door, amounts in tables.items() if amounts}


@settings(phases=[Phase.generate])
@given(st.integers(0, 2**32))
def test_recorded_usage_follows_the_rules(seed):
    chance = random.Random(seed)  # noqa: S311 - a repeatable history, no secret
    history = History(chance)
    for step in chance.choices((*ACTIONS, *ACTIONS, *RARE), k=STEPS):
        getattr(history, step)(chance)
        assert without_empty(told(history.engine)) == without_empty(kept(history.ledger)), step
        assert history.waiting() == history.order(), step
