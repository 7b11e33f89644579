"""Random histories of a few workloads with all kinds of events, one history per seed."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from kueuepy import (
    AdmissionCheck,
    Cluster,
    ClusterQueue,
    Configuration,
    LocalQueue,
    PodSet,
    Preemption,
    ResourceFlavor,
    Scheduler,
    Workload,
)
from kueuepy.objects import AdmissionCheckStrategyRule, RequeuingStrategy, WaitForPodsReady

if TYPE_CHECKING:
    from collections.abc import Callable

SECOND = 10**9
MOST_CYCLES = 200
QUEUES = ("a", "b")
CHECKS = ("one", "two")
GATE = {"kueue.x-k8s.io/admission-gated-by": "example.com/later"}


def waits(chance: random.Random) -> WaitForPodsReady:
    """Short timeouts and few retries, so that both are reached."""
    return WaitForPodsReady(
        timeout=chance.randint(1, 40),
        recovery_timeout=chance.choice([None, chance.randint(1, 40)]),
        block_admission=chance.random() < 0.3,
        requeuing_strategy=RequeuingStrategy(
            timestamp=chance.choice(["Eviction", "Creation"]),
            backoff_base_seconds=chance.choice([0, 1, 7, 20]),
            backoff_max_seconds=chance.choice([0, 5, 50]),
            backoff_limit_count=chance.choice([None, None, 0, 1, 3]),
        ),
    )


class Lives:
    """Two queues of four CPUs in a cohort, admission checks, timeouts; six workloads come, and things happen.

    Attributes:
        scheduler: The Scheduler.
        queues: The ClusterQueues as they are now.
        locals: The LocalQueues as they are now.
        log: What happened, for whoever has to find out.
    """

    def __init__(self, seed: int) -> None:
        self._chance = chance = random.Random(seed)  # noqa: S311 - a repeatable story, no secret
        self.log: list[str] = []
        self._left = 6
        self.queues: dict[str, Any] = {
            name: ClusterQueue.of(
                name,
                {"default": {"cpu": 4}},
                cohort_name=chance.choice([None, "all"]),
                preemption=Preemption(
                    within_cluster_queue=chance.choice(["Never", "LowerPriority", "LowerOrNewerEqualPriority"])
                ),
                queueing_strategy=chance.choice(["BestEffortFIFO", "StrictFIFO"]),
                admission_checks_strategy=[
                    AdmissionCheckStrategyRule(check) for check in CHECKS if chance.random() < 0.4
                ],
            )
            for name in QUEUES
        }
        self.locals: dict[str, Any] = {name: LocalQueue(name, cluster_queue=name) for name in QUEUES}
        waiting = waits(chance) if chance.random() < 0.7 else None
        cluster = Cluster(
            ResourceFlavor("default"),
            [AdmissionCheck(name, controller_name="example.com/check") for name in CHECKS],
            list(self.queues.values()),
            list(self.locals.values()),
            configuration=Configuration(wait_for_pods_ready=waiting),
        )
        self.stopping = chance.choice([0, 0, 5])
        self.scheduler = Scheduler(cluster, now=0, stopping=self.stopping)

    def step(self) -> None:
        """Execute a random event, mostly time and controllers; impossible events are skipped."""
        deeds = [self._submit] * 3 + [self._wait] * 4 + [self._cycle] * 4 + [self._settle] * 3 + [
            self._pods, self._pods, self._check, self._check, self._finish, self._reclaim,
            self._activate, self._prioritize, self._gate, self._stop, self._stop_local, self._delete,
        ]  # fmt: skip
        deed: Callable[[], object] = self._chance.choice(deeds)
        self.log.append(f"{self.scheduler.now:g} {deed.__name__.strip('_')} {deed()}")

    def keys(self, *states: str) -> list[str]:
        """Return the workloads, or those with one of these conditions."""
        known = self.scheduler.keys()
        return [key for key in known if not states or any(self.says(key, state) for state in states)]

    def says(self, key: str, condition: str) -> bool:
        """Whether a condition is true."""
        found = self.scheduler._engine.condition(self.scheduler._state.id_of(key), condition)
        return found is not None and found[0]

    def change(self, key: str, **fields: object) -> None:
        """Change a workload as a user."""
        self.scheduler.apply(replace(self.scheduler.workload(key), status=None, **fields))

    def stop(self, queues: dict[str, Any], name: str, policy: str) -> None:
        """Stop or resume a queue as an administrator."""
        queues[name] = replace(queues[name], stop_policy=policy)
        self.scheduler.apply(queues[name])

    def grow(self, name: str) -> None:
        """Increase the quota of a ClusterQueue by one CPU as an administrator."""
        ((flavor,),) = [group.flavors for group in self.queues[name].resource_groups]
        cpus = int(flavor.resources[0].nominal_quota) + 1
        groups = ClusterQueue.of(name, {"default": {"cpu": cpus}}).resource_groups
        self.queues[name] = replace(self.queues[name], resource_groups=groups)
        self.scheduler.apply(self.queues[name])

    def _submit(self) -> str | None:
        if not self._left:
            return None
        self._left -= 1
        chance, name = self._chance, f"w{self._left}"
        self.scheduler.submit(
            Workload(
                name,
                queue_name=chance.choice(QUEUES),
                priority=chance.randint(0, 2),
                annotations=dict(GATE) if chance.random() < 0.1 else {},
                maximum_execution_time_seconds=chance.choice([None, None, chance.randint(1, 60)]),
                pod_sets=(PodSet.of(count=chance.randint(1, 3), requests={"cpu": 1}),),
            )
        )
        return name

    def _wait(self) -> float:
        seconds = self._chance.choice([0.5, 1, 3, 10, 60])
        self.scheduler.advance(seconds)
        return seconds

    def _cycle(self) -> object:
        return self.scheduler.cycle()

    def _settle(self) -> object:
        return self.scheduler.settle(max_cycles=MOST_CYCLES)

    def _one_of(self, *states: str) -> str | None:
        found = [key for key in self.keys(*states) if not self.says(key, "Finished")]
        return self._chance.choice(found) if found else None

    def _pods(self) -> object:
        if key := self._one_of("Admitted"):
            ready = self._chance.random() < 0.6
            self.scheduler.pods_ready(key, ready)
            return key, ready
        return None

    def _check(self) -> object:
        if (key := self._one_of("QuotaReserved")) and (listed := self.scheduler.workload(key).status.admission_checks):
            name = self._chance.choice(listed).name
            state = self._chance.choice(["Ready", "Ready", "Ready", "Retry", "Retry", "Rejected"])
            delay = self._chance.choice([None, 1, 9]) if state == "Retry" else None
            self.scheduler.set_check(key, name, state, requeue_after=delay)
            return key, name, state, delay
        return None

    def _finish(self) -> object:
        if key := self._one_of("Admitted"):
            self.scheduler.finish(key)
        return key

    def _reclaim(self) -> object:
        if key := self._one_of("Admitted"):
            (count,) = [pod_set.count for pod_set in self.scheduler.workload(key).pod_sets]
            before = sum(pods.count for pods in self.scheduler.workload(key).status.reclaimable_pods)
            self.scheduler.reclaim(key, self._chance.randint(before, count))
        return key

    def _activate(self) -> object:
        if key := self._one_of():
            active = self._chance.random() < 0.7
            self.change(key, active=active)
            return key, active
        return None

    def _prioritize(self) -> object:
        if key := self._one_of():
            self.change(key, priority=self._chance.randint(0, 2))
        return key

    def _gate(self) -> object:
        if key := self._one_of():
            self.change(key, annotations={})
        return key

    def _stop(self) -> object:
        return self._stop_one_of(self.queues)

    def _stop_local(self) -> object:
        return self._stop_one_of(self.locals)

    def _stop_one_of(self, queues: dict[str, Any]) -> object:
        name, policy = self._chance.choice(QUEUES), self._chance.choice(["None", "None", "Hold", "HoldAndDrain"])
        self.stop(queues, name, policy)
        return name, policy

    def _delete(self) -> object:
        if self._chance.random() < 0.8 or not (key := self._one_of()):
            return None
        self.scheduler.delete(key)
        return key
