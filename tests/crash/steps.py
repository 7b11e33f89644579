"""Random calls on a Scheduler: which one comes at a step follows from the seed, the step and the state alone."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import kueuepy as kq

if TYPE_CHECKING:
    from collections.abc import Callable

_PODS_READY = kq.WaitForPodsReady(timeout=120 * 10**9, recovery_timeout=60 * 10**9)


def cluster() -> kq.Cluster:
    """Three queues that borrow and preempt, an admission check, pods that must become ready, fair sharing."""
    preemption = kq.Preemption(within_cluster_queue="LowerPriority", reclaim_within_cohort="Any")
    checks = (kq.AdmissionCheckStrategyRule("approval"),)
    queues = [
        kq.ClusterQueue.of(name, {"default": {"cpu": 8}}, cohort_name="all", preemption=preemption, **more)
        for name, more in (("a", {}), ("b", {"admission_checks_strategy": checks}), ("c", {}))
    ]
    approval = kq.AdmissionCheck("approval", controller_name="example.com/approval")
    configuration = kq.Configuration(wait_for_pods_ready=_PODS_READY, fair_sharing=kq.FairSharingConfig())
    return kq.Cluster(kq.ResourceFlavor("default"), approval, queues, configuration=configuration)


def approve(workload: kq.Workload) -> str | None:
    """What is said of the check, by the number of the step that the workload came with."""
    number = int(workload.name.strip("w").partition("-")[0])
    return (None, "Ready", "Retry", "Ready", "Pending")[number % 5]


def step(scheduler: kq.Scheduler, seed: int, number: int) -> str:
    """Does what comes at this step, in one call; tells what it was."""
    chosen = random.Random(f"{seed}/{number}")  # noqa: S311 - no secret
    action = chosen.choices(list(_ACTIONS), [weight for _, weight in _ACTIONS.values()])[0]
    _ACTIONS[action][0](scheduler, chosen, number)
    return action


def _submit(scheduler: kq.Scheduler, chosen: random.Random, number: int) -> None:
    scheduler.submit(
        [
            kq.Workload(
                f"w{number}-{i}",
                queue_name=chosen.choice("abc"),
                priority=chosen.randrange(3),
                pod_sets=(kq.PodSet.of(count=chosen.randint(1, 4), requests={"cpu": chosen.choice(["500m", 1, 2])}),),
            )
            for i in range(chosen.randint(1, 3))
        ]
    )


def _some(scheduler: kq.Scheduler, chosen: random.Random) -> str | None:
    """The key of a workload that is not finished."""
    table = scheduler.workloads
    open_keys = [
        key for key, row in zip(table["key"], range(len(table)), strict=True) if table["status"][row] != "Finished"
    ]
    return chosen.choice(sorted(open_keys)) if open_keys else None


def _on_one(act: Callable[[kq.Scheduler, str, random.Random], object]) -> Callable[..., None]:
    def action(scheduler: kq.Scheduler, chosen: random.Random, _: int) -> None:
        if (key := _some(scheduler, chosen)) is not None:
            act(scheduler, key, chosen)

    return action


def _check(scheduler: kq.Scheduler, key: str, chosen: random.Random) -> None:
    scheduler.set_check(key, "approval", chosen.choice(["Ready", "Ready", "Retry", "Rejected"]), message="so be it")


def _quota(scheduler: kq.Scheduler, chosen: random.Random, _: int) -> None:
    name = chosen.choice("abc")
    known = next(queue for queue in scheduler.cluster.cluster_queues if queue.name == name)
    fresh = kq.ClusterQueue.of(name, {"default": {"cpu": chosen.randint(4, 10)}})
    scheduler.apply(kq.ClusterQueue(**{**_fields(known), "resource_groups": fresh.resource_groups}))


def _fields(queue: kq.ClusterQueue) -> dict[str, object]:
    return {name: getattr(queue, name) for name in queue.__struct_fields__}


_ACTIONS = {
    "submit": (_submit, 6),
    "cycle": (lambda scheduler, *_: scheduler.cycle(), 5),
    "settle": (lambda scheduler, *_: scheduler.settle(max_cycles=20), 2),
    "advance": (lambda scheduler, chosen, _: scheduler.advance(chosen.randint(1, 90)), 4),
    "finish": (_on_one(lambda scheduler, key, _: scheduler.finish(key)), 4),
    "delete": (_on_one(lambda scheduler, key, _: scheduler.delete(key)), 1),
    "check": (_on_one(_check), 3),
    "ready": (_on_one(lambda scheduler, key, chosen: scheduler.pods_ready(key, chosen.random() < 0.8)), 3),
    "reclaim": (_on_one(lambda scheduler, key, _: scheduler.reclaim(key, 1)), 1),
    "quota": (_quota, 1),
    "compact": (lambda scheduler, *_: _compact(scheduler), 1),
}


def _compact(scheduler: kq.Scheduler) -> None:
    journal = getattr(scheduler, "journal", None)
    if journal is not None:
        journal.compact()
