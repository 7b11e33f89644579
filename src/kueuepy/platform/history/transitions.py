"""The events between two versions of a Workload."""

from __future__ import annotations

from typing import Any, NamedTuple

from kueuepy.objects.times import parse_time


class Transition(NamedTuple):
    """An event of a Workload.

    Attributes:
        what: The event, such as `Admitted`.
        reason: The reason of the condition; empty if there is none.
        time: The time recorded in the condition, in nanoseconds since the Unix epoch; `None` if the condition records
            no time.
    """

    what: str
    reason: str
    time: int | None


_CONDITIONS = ("QuotaReserved", "Admitted", "Evicted", "Requeued", "PodsReady", "Finished")


def transitions(old: dict[str, Any] | None, new: dict[str, Any]) -> list[Transition]:
    """Return the events between two versions of a Workload, in the order of their times.

    Args:
        old: The earlier version; `None` if the Workload is new.
        new: The later version.

    Returns:
        The events; empty if no difference can influence decisions.
    """
    before, after = _conditions(old or {}), _conditions(new)
    found: list[Transition] = []
    if old is None:
        found.append(Transition("Submitted", "", _time(new.get("metadata") or {}, "creationTimestamp")))
    lost, reserved = before.get("QuotaReserved"), after.get("QuotaReserved")
    if lost is not None and _is_true(lost) and not (reserved and _is_true(reserved)):
        found.append(Transition("Released", (reserved or {}).get("reason", ""), _time(reserved or {})))
    for name in _CONDITIONS:
        one, known = after.get(name), before.get(name)
        if one is None or not _is_true(one):
            continue
        if known is None or not _is_true(known) or _time(known) != _time(one) or known.get("reason") != one["reason"]:
            found.append(Transition(name, str(one.get("reason", "")), _time(one)))
    found.sort(key=lambda one: -1 if one.what == "Submitted" else one.time or 0)
    if not found and old is not None and _relevant(old) != _relevant(new):
        found.append(Transition("Changed", "", None))
    return found


def _conditions(workload: dict[str, Any]) -> dict[str, dict[str, Any]]:
    status = workload.get("status") or {}
    return {one["type"]: {"reason": "", **one} for one in status.get("conditions") or () if "type" in one}


def _is_true(condition: dict[str, Any]) -> bool:
    return bool(condition.get("status") == "True")


def _time(record: dict[str, Any], name: str = "lastTransitionTime") -> int | None:
    text = record.get(name)
    return parse_time(text) if isinstance(text, str) else None


def _relevant(workload: dict[str, Any]) -> Any:
    """Return the fields that influence decisions, without messages, which each scheduling attempt can change."""
    status = workload.get("status") or {}
    conditions = [
        (one.get("type"), one.get("status"), one.get("reason"), "preempt" in str(one.get("message")))
        for one in status.get("conditions") or ()
    ]
    checks = [{**one, "message": ""} for one in status.get("admissionChecks") or ()]
    rest = {k: v for k, v in status.items() if k not in ("conditions", "admissionChecks", "resourceRequests")}
    return workload.get("spec"), conditions, checks, rest
