"""The recorded results of Kueue for a job, in the format of `forms`."""

from __future__ import annotations

from typing import Any

from recorded_jobs.forms import Form, pod_set, workload

REFUSED = "refused"


def recorded_answer(case: Form) -> Form:
    """Return what Kueue did with the job of a case."""
    expected, kind = case["expected"], case["kind"]
    outcome = _outcome(expected)
    if outcome in (REFUSED, 0):
        return {"outcome": outcome}
    answer: Form = {"outcome": outcome, "workloads": _by_name([_workload(w, kind) for w in expected["workloads"]])}
    answer["webhook"] = [job.get("webhook", {}) for job in expected["jobs"]]
    if "startFinished" in expected:
        answer["start"] = [REFUSED]
    elif "start" in expected and "startError" not in expected:
        # Of a Deployment the first is the Deployment itself, which Kueue neither starts nor stops.
        first = 1 if kind == "Deployment" else 0
        answer["start"], answer["stop"] = expected["start"][first:], expected["stop"][first:]
    statuses = [status for status in expected.get("statuses") or [] if status.get("error") != "no generic job"]
    answer["statuses"] = [_status(status) for status in statuses]
    return answer


def _outcome(expected: Form) -> int | str:
    """Return `refused`, or the number of Workloads."""
    made = expected.get("workloads") or []
    if any("error" in job for job in expected["jobs"]) or any("refused" in one for one in made):
        return REFUSED
    problem = expected.get("reconcileError", "")
    # Kueue looks for the Workload of an owner that has none by itself, fails, and makes none for the job.
    is_child = "no index with name" in problem
    return REFUSED if problem and not made and not is_child else len(made)


def _workload(recorded: Form, kind: str) -> Form:
    spec = recorded["spec"]
    sets = [
        pod_set(
            one["name"],
            (one.get("count", 0), one.get("minCount")),
            one.get("topologyRequest"),
            one.get("template"),
            kind=kind,
        )
        for one in spec["podSets"]
    ]
    requests = {
        name: {resource: int(total) for resource, total in totals.items()}
        for name, totals in recorded.get("requests", {}).items()
    }
    return workload(recorded, spec, sets, requests, kind=kind)


def _by_name(workloads: list[Form]) -> list[Form]:
    return sorted(workloads, key=lambda one: str(one["name"]))


def _status(recorded: Form) -> dict[str, Any]:
    """Return the answer on a status; whether the job has pods is not asked of kueuepy."""
    known = {key: value for key, value in recorded.items() if key != "active"}
    return {"podsReady": False, "finished": False} | known
