"""The dump that Kueue logs on SIGUSR2, as data: workloads with quota, and pending workloads."""

from collections.abc import Iterable
from typing import Any

import msgspec

from kueuepy._core import Engine
from kueuepy.errors.arguments import checked
from kueuepy.manifest import to_dict
from kueuepy.objects import SECOND, ClusterQueue
from kueuepy.scheduler import Scheduler
from kueuepy.session.session import session_of


@checked
def state_dump(scheduler: Scheduler) -> dict[str, Any]:
    """Return the cache and the queues as data for `json.dumps`.

    Amounts are integers in base units, with cpu in millicores. Queues and Cohorts are sorted by name, and pending
    workloads are in queue order. A Scheduler cannot be restored from a dump; use `Scheduler.save` for that.

    Source: `pkg/debugger/debugger.go:DumpAll`, `pkg/cache/scheduler/snapshot.go:Log`,
    `pkg/cache/queue/dumper.go:LogDump`.

    >>> from kueuepy import Cluster, ClusterQueue, ResourceFlavor, Scheduler
    >>> queue = ClusterQueue.of("vision", {"default": {"cpu": 4}}, cohort_name="all")
    >>> scheduler = Scheduler(Cluster(ResourceFlavor("default"), queue))
    >>> keys = scheduler.submit({"name": f"job-{i}", "queue": "vision", "cpu": 3} for i in range(3))
    >>> cycle = scheduler.cycle()
    >>> dump = state_dump(scheduler)
    >>> {name: dump["clusterQueues"][0][name] for name in ("usage", "workloads", "pending", "inadmissible")}
    {'usage': {'default': {'cpu': 3000}}, 'workloads': ['default/job-0'], 'pending': ['default/job-1', \
'default/job-2'], 'inadmissible': []}
    >>> dump["cohorts"]
    [{'cohort': 'all', 'subtreeQuota': {'default': {'cpu': 4000}}, 'usage': {'default': {'cpu': 3000}}}]

    Args:
        scheduler: The Scheduler.

    Returns:
        A dict with `time` (seconds since the Unix epoch), `clusterQueues` and `cohorts`.
    """
    with session_of(scheduler).lock:
        return _dump(scheduler)


def _dump(scheduler: Scheduler) -> dict[str, Any]:
    engine = session_of(scheduler).engine
    waiting, holding = engine.queues(), _holding(scheduler)
    groups = {queue.name: _groups(queue) for queue in session_of(scheduler).state.store.objects.of(ClusterQueue)}
    queues = []
    for view in sorted(engine.cluster_queue_status(), key=lambda view: view.name):
        pending, inadmissible = waiting.get(view.name, ([], []))
        passed_over = set(inadmissible)
        queues.append(
            {
                "clusterQueue": view.name,
                "cohort": view.cohort,
                "active": not view.why_inactive,
                "resourceGroups": groups.get(view.name, []),
                "usage": {flavor: {name: held for name, held, *_ in amounts} for flavor, amounts in view.holdings},
                "workloads": holding.get(view.name, []),
                "pending": [key for key in pending if key not in passed_over],
                "inadmissible": list(inadmissible),
            }
        )
    return {"time": engine.now / SECOND, "clusterQueues": queues, "cohorts": _cohorts(engine)}


def _groups(queue: ClusterQueue) -> list[dict[str, Any]]:
    groups = to_dict(queue)["spec"].get("resourceGroups", [])
    return msgspec.json.decode(msgspec.json.encode(groups), type=list[dict[str, Any]])


def _holding(scheduler: Scheduler) -> dict[str, list[str]]:
    """Return the sorted keys of workloads that hold quota, by ClusterQueue."""
    engine = session_of(scheduler).engine
    found: dict[str, list[str]] = {}
    for key in sorted(scheduler.keys()):
        admission = engine.admission(engine.find(key))
        if admission is not None:
            found.setdefault(admission.cluster_queue, []).append(key)
    return found


def _cohorts(engine: Engine) -> list[dict[str, Any]]:
    """Return the Cohorts, except those in or below a cycle, which have no quota."""
    return [
        {
            "cohort": view.name,
            # A usage of 0 is omitted if the Cohort has no quota for it.
            "subtreeQuota": _amounts((flavor, name, quota) for flavor, name, quota, _ in view.cells if quota),
            "usage": _amounts((flavor, name, used) for flavor, name, quota, used in view.cells if quota or used),
        }
        for view in sorted(engine.cohort_status(), key=lambda view: view.name)
        if view.root
    ]


def _amounts(rows: Iterable[tuple[str, str, int]]) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for flavor, resource, amount in rows:
        found.setdefault(flavor, {})[resource] = amount
    return found
