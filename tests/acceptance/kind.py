"""Conversion of the example of a kind of job: pod sets, totals, and the patches that start and stop it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import kueuepy as kq
from job_manifests import CLUSTER, example

if TYPE_CHECKING:
    from collections.abc import Collection

MEBI = 2**20
_WITHOUT_TOPOLOGY = {gate: False for gate in kq.fidelity().feature_gates if gate.startswith(("TAS", "Topology"))}
_GIVEN = "nodeSelector.instance-type"


class Shown(NamedTuple):
    """A kind of job in the cluster of the examples.

    Attributes:
        pod_sets: Count and requests of each pod set of the first Workload, in their order.
        totals: What all its Workloads use together: CPUs, MiB of memory, units of all else.
        places: Where in the manifest each pod set is placed, marked and let tolerate what its flavor says.
        rest: All else that starting changes, by the path of the field; what goes is `None`.
        workloads: The Workloads.
    """

    pod_sets: dict[str, tuple[int, dict[str, Any]]]
    totals: dict[str, float]
    places: dict[str, str]
    rest: dict[str, Any]
    workloads: tuple[kq.Workload, ...]


def show(name: str, *, stops: bool = True, topology: bool = True, keeps: Collection[str] = ()) -> Shown:
    """Submit an example, start it, and stop it again, which deletes pods and restores all else.

    Fields whose path starts with one of `keeps` stay as starting the job left them, but for what places its pods.
    Without topologies, what asks for one is placed anywhere, and pods don't tell their Workload.
    """
    manifest, related = example(name)
    cluster = kq.load([CLUSTER, {"apiVersion": "v1", "kind": "List", "items": list(related)}])
    gates = {"SparkApplicationIntegration": True} | ({} if topology else _WITHOUT_TOPOLOGY)
    scheduler = kq.Scheduler(cluster.replace(configuration=kq.Configuration(feature_gates=gates)))
    keys = scheduler.submit(manifest)
    scheduler.settle()
    workloads = tuple(map(scheduler.workload, keys))
    held = kq.jobs.suspend(manifest, related=related)
    changes: dict[str, Any] = {}
    if len(keys) == 1:
        started = kq.jobs.apply_patch(held, scheduler.start_patch(keys[0]))
        changes = changed(held, started)
        stop = scheduler.stop_patch(keys[0])
        assert (stop is not None) is stops
        left = {} if stop is None else changed(held, kq.jobs.apply_patch(started, stop))
        assert left == {
            path: value for path, value in changes.items() if path.startswith(tuple(keeps)) and path in left
        }
        assert not keeps or left
    places = _taken_out(changes, workloads[0], topology=topology)
    pod_sets = {pod_set.name: (pod_set.count, _requests(pod_set)) for pod_set in workloads[0].pod_sets}
    return Shown(pod_sets, _totals(scheduler), places, changes, workloads)


def changed(before: Any, after: Any) -> dict[str, Any]:
    """The fields that differ, by their path, as they are after; those that are gone are `None`."""
    old, new = _leaves(before), _leaves(after)
    gone = dict.fromkeys(old.keys() - new.keys())
    return gone | {path: value for path, value in new.items() if path not in old or old[path] != value}


def _leaves(value: Any, path: str = "") -> dict[str, Any]:
    items = enumerate(value) if isinstance(value, list) else value.items() if isinstance(value, dict) else ()
    found = {
        at: leaf for key, item in items for at, leaf in _leaves(item, f"{path}.{key}" if path else str(key)).items()
    }
    return found or {path: value}


def _taken_out(changes: dict[str, Any], workload: kq.Workload, *, topology: bool) -> dict[str, str]:
    """Where pod sets are placed; all that Kueue gives each of them is there, and is taken out of the changes."""
    places = {}
    for path in [path for path in changes if path.endswith(_GIVEN)]:
        spec = path.removesuffix(_GIVEN).removesuffix(".")
        place = spec.removesuffix("spec").removesuffix(".")
        metadata = spec if place == spec else f"{place}.metadata".removeprefix(".")
        assert changes.pop(path) == "spot"
        places[place] = changes.pop(f"{metadata}.labels.kueue.x-k8s.io/podset")
        assert changes.pop(f"{metadata}.annotations.kueue.x-k8s.io/workload", "") == (workload.name if topology else "")
        assert changes.pop(f"{metadata}.labels.kueue.x-k8s.io/local-queue-name") == workload.queue_name
        assert changes.pop(f"{metadata}.labels.kueue.x-k8s.io/cluster-queue-name") == "cluster-total"
        tolerated = [path for path in changes if path.startswith(f"{spec}.tolerations.")]
        assert {path.rpartition(".")[2]: changes.pop(path) for path in tolerated} == {
            "key": "reserved",
            "operator": "Exists",
        }
    return places


def _requests(pod_set: kq.PodSet) -> dict[str, Any]:
    containers = pod_set.template["spec"]["containers"]
    return {name: amount for one in containers for name, amount in one["resources"].get("requests", {}).items()}


def _totals(scheduler: kq.Scheduler) -> dict[str, float]:
    used = {cell.partition("/")[2]: n for cell, n in scheduler._engine.usage()["cluster-total"].items() if n}
    scale = {"cpu": 1000, "memory": MEBI}
    return {resource: amount / scale.get(resource, 1) for resource, amount in used.items()}
