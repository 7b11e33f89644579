"""Runtimes of jobs on a real cluster, read from the status of their Workloads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from kueuepy.objects import SECOND
from kueuepy.objects.times import parse_time

if TYPE_CHECKING:
    from kueuepy.objects import Workload


class Lifetime(NamedTuple):
    """The lifetime of a job according to the status of its Workload; times are in nanoseconds.

    Attributes:
        start: The time of the last admission, since the Unix epoch; `None` if the workload was never admitted.
        end: The time at which the workload finished, since the Unix epoch; `None` if it has not finished.
        past: The total time for which the workload ran before its last admission.
        finish_reason: The reason of the Finished condition, such as `Succeeded`; empty if the workload has not
            finished.
    """

    start: int | None
    end: int | None
    past: int
    finish_reason: str

    @property
    def runtime(self) -> int | None:
        """The duration of the last run; `None` if the workload has not finished, or was never admitted."""
        if self.start is None or self.end is None:
            return None
        return max(0, self.end - self.start)


def lifetime_of(workload: Workload) -> Lifetime:
    """Return the lifetime of a job from the status of its Workload.

    The transition time of the Admitted condition does not change when the workload finishes. Kueue adds a run to
    `accumulatedPastExecutionTimeSeconds` when the workload loses its admission
    (`pkg/workload/admissionchecks.go:SyncAdmittedCondition`).
    """
    status = workload.status
    if status is None:
        return Lifetime(None, None, 0, "")
    true = {condition.type: condition for condition in status.conditions if condition.status == "True"}
    admitted, finished = true.get("Admitted"), true.get("Finished")
    return Lifetime(
        None if admitted is None else admitted.last_transition_time.value,
        None if finished is None else finished.last_transition_time.value,
        (status.accumulated_past_execution_time_seconds or 0) * SECOND,
        "" if finished is None else finished.reason,
    )


def lifetime_in(status: Any) -> Lifetime:
    """Return the lifetime of a job from the status in a manifest; invalid fields of the status are ignored."""
    status = status if isinstance(status, dict) else {}
    times: dict[str, int] = {}
    reason = ""
    for one in status.get("conditions") or ():
        time = parse_time(str(one.get("lastTransitionTime"))) if isinstance(one, dict) else None
        if time is not None and one.get("status") == "True":
            times[str(one.get("type"))] = time
            reason = str(one.get("reason") or "") if one.get("type") == "Finished" else reason
    past = status.get("accumulatedPastExecutionTimeSeconds")
    return Lifetime(
        times.get("Admitted"), times.get("Finished"), past * SECOND if isinstance(past, int) and past > 0 else 0, reason
    )
