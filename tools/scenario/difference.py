"""Differences between the recorded results of a scenario and those of a replay."""

from __future__ import annotations

import math
from typing import Any

from kueuepy._core import Quantity

Result = dict[str, Any]
_MOVES = ("created", "deleted", "updated", "started", "stopped", "gated", "opened", "deactivating")


def differences(expected: Result, actual: Result) -> dict[str, tuple[Any, Any]]:
    """The fields that disagree, each with what was recorded and what came out; order counts in queues only."""
    recorded, replayed = _normal(expected), _normal(actual)
    found = {
        field: (recorded[field], replayed[field])
        for field in recorded
        if field not in {"shares", "consumed"} and recorded[field] != replayed[field]
    }
    for field, digits in (("shares", 1e-9), ("consumed", 2e-5)):
        if not _close(recorded[field], replayed[field], digits):
            found[field] = (recorded[field], replayed[field])
    return found


def fleet_facts(result: Result) -> Result:
    """What a step of a fleet adds to the results of its clusters."""
    checks = {
        entry["workload"]: (
            entry["state"],
            entry.get("message") or "",
            tuple(entry.get("nominated") or ()),
            entry.get("cluster") or "",
        )
        for entry in result.get("checks") or ()
    }
    finished = {
        entry["workload"]: (entry.get("reason") or "", entry.get("message") or "")
        for entry in result.get("finished") or ()
    }
    moves = {move: sorted((e["cluster"], e["workload"]) for e in result.get(move) or ()) for move in _MOVES}
    return {"checks": checks, "finished": finished, **moves}


def fleet_differences(expected: Result, actual: Result) -> dict[str, Any]:
    """The fields of a step of a fleet that disagree, with those of each of its clusters."""
    recorded, replayed = fleet_facts(expected), fleet_facts(actual)
    found: dict[str, Any] = {name: (fact, replayed[name]) for name, fact in recorded.items() if fact != replayed[name]}
    before, after = expected.get("clusters") or {}, actual["clusters"]
    for cluster in sorted({*before, *after}):
        if inner := differences(before.get(cluster) or {}, after.get(cluster) or {}):
            found[cluster] = inner
    return found


def _normal(result: Result) -> Result:
    """The result with all fields, without what is zero or empty, and with numbers instead of their texts."""
    return {
        "idle": bool(result.get("idle")),
        "blocked": bool(result.get("blocked")),
        "reserved": _by_workload(result, "reserved", _reservation),
        "assigned": _by_workload(result, "assigned", _reservation),
        "unhealthyNodes": _by_workload(result, "unhealthyNodes", lambda entry: entry.get("nodes") or []),
        "admitted": sorted(result.get("admitted") or ()),
        "created": sorted(result.get("created") or ()),
        "gone": sorted(result.get("gone") or ()),
        "evicted": _by_workload(
            result, "evicted", lambda entry: (entry["reason"], entry.get("preempted") or "", entry.get("by") or "")
        ),
        "released": sorted(result.get("released") or ()),
        "pending": _by_workload(result, "pending", lambda entry: (entry["reason"], entry["message"])),
        "queues": {
            queue: (list(entry["pending"]), sorted(entry.get("inadmissible") or ()))
            for queue, entry in (result.get("queues") or {}).items()
            if entry.get("pending")
        },
        "usage": _table(result, "usage", int),
        "shares": {queue: share for queue, text in (result.get("shares") or {}).items() if (share := float(text))},
        "consumed": {
            (queue, resource): amount
            for queue, amounts in _table(result, "consumed", _number).items()
            for resource, amount in amounts.items()
        },
    }


def _by_workload(result: Result, field: str, facts: Any) -> dict[str, Any]:
    entries = result.get(field) or ()
    by_workload = {entry["workload"]: facts(entry) for entry in entries}
    assert len(by_workload) == len(entries), f"{field} names a workload twice: {entries}"
    return by_workload


def _reservation(entry: Result) -> Any:
    pod_sets = [
        (
            pod_set["name"],
            pod_set["count"],
            pod_set.get("flavors") or {},
            {resource: Quantity(str(amount)) for resource, amount in (pod_set.get("usage") or {}).items()},
            _place(pod_set.get("topology")),
            pod_set.get("delayedTopologyRequest") or "",
        )
        for pod_set in entry["podSets"]
    ]
    return entry["clusterQueue"], pod_sets


def _place(topology: Any) -> Any:
    """Levels, and the pods of each domain; None where there is no assignment."""
    return topology and (topology["levels"], {tuple(d["values"]): d["count"] for d in topology["domains"] or ()})


def _table(result: Result, field: str, number: Any) -> dict[str, dict[str, Any]]:
    rows = {
        name: {cell: value for cell, text in cells.items() if (value := number(text))}
        for name, cells in (result.get(field) or {}).items()
    }
    return {name: cells for name, cells in rows.items() if cells}


def _number(text: Any) -> float:
    return float(Quantity(str(text)))


def _close(recorded: dict[Any, float], replayed: dict[Any, float], tolerance: float) -> bool:
    return recorded.keys() == replayed.keys() and all(
        math.isclose(value, replayed[key], rel_tol=tolerance) for key, value in recorded.items()
    )
