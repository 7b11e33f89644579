"""The events between two versions of a Workload."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from kueuepy.objects.times import parse_time

if TYPE_CHECKING:
    from collections.abc import Mapping


class Conditions(dict[str, "dict[str, Any]"]):
    """The conditions of a Workload's manifest by type."""

    def __init__(self, manifest: Mapping[str, Any] | None) -> None:
        """Read the conditions; a manifest without a status has no conditions."""
        status = (manifest or {}).get("status") or {}
        super().__init__({one["type"]: one for one in status.get("conditions") or () if "type" in one})

    def true(self, name: str) -> bool:
        """Return whether the status of a condition is True."""
        return bool(self.get(name, {}).get("status") == "True")

    def reason(self, name: str) -> str:
        """Return the reason of a condition; empty if the condition does not exist."""
        return str(self.get(name, {}).get("reason", ""))


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
    before, after = Conditions(old), Conditions(new)
    found: list[Transition] = []
    if old is None:
        found.append(Transition("Submitted", "", _time(new.get("metadata") or {}, "creationTimestamp")))
    if before.true("QuotaReserved") and not after.true("QuotaReserved"):
        found.append(Transition("Released", after.reason("QuotaReserved"), _time(after.get("QuotaReserved", {}))))
    for name in filter(after.true, _CONDITIONS):
        reason, time = after.reason(name), _time(after[name])
        if not before.true(name) or (before.reason(name), _time(before[name])) != (reason, time):
            found.append(Transition(name, reason, time))
    found.sort(key=lambda one: -1 if one.what == "Submitted" else one.time or 0)
    if not found and old is not None and _relevant(old) != _relevant(new):
        found.append(Transition("Changed", "", None))
    return found


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
