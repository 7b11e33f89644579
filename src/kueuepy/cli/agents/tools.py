"""The tools: each answers one question with data."""

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

from kueuepy._core import Quantity
from kueuepy.cli.agents import arguments
from kueuepy.cli.agents.pages import Answer
from kueuepy.cli.agents.source import Source
from kueuepy.cli.describe import describe, find
from kueuepy.errors import InvalidSpecError, NotFoundError
from kueuepy.errors.problems import suggestion
from kueuepy.explain.whatif import Edit, edited, outcome_text, workloads_over_quota
from kueuepy.lint import lint
from kueuepy.manifest import load
from kueuepy.scheduler import Scheduler
from kueuepy.session.session import session_of
from kueuepy.simulation.catalogue import columns_shown, unit_text
from kueuepy.simulation.simulate import simulate as run

_HOLDING = ("Admitted", "QuotaReserved", "Evicted")


def queues(source: Source, given: arguments.Queues) -> Answer:
    """List the ClusterQueues with pending and admitted workloads and quota."""
    scheduler = source.scheduler()
    names = [queue.name for queue in scheduler.cluster.cluster_queues]
    if given.cluster_queue:
        names = [_known(names, given.cluster_queue, "queues")]
    limits = {(row["name"], row["flavor"], row["resource"]): row for row in scheduler.quota.quantities().rows()}
    quota: dict[str, list[dict[str, Any]]] = {}
    for row in scheduler.usage.quantities().rows():
        if row["kind"] == "ClusterQueue":
            cell = (row["name"], row["flavor"], row["resource"])
            quota.setdefault(row["name"], []).append(
                {
                    "flavor": row["flavor"],
                    "resource": row["resource"],
                    "used": row["usage"],
                    "nominal": row["nominal_quota"],
                    "borrowing_limit": limits[cell]["borrowing_limit"],
                    "available": row["available"],
                }
            )
    counts: dict[tuple[str, str], int] = {}
    for row in scheduler.workloads.rows():
        place = row["cluster_queue"], row["status"]
        counts[place] = counts.get(place, 0) + 1
    declared = {queue.name: queue for queue in scheduler.cluster.cluster_queues}
    items = [
        {
            "cluster_queue": name,
            "cohort": declared[name].cohort_name,
            "stop_policy": declared[name].stop_policy,
            "pending": counts.get((name, "Pending"), 0),
            "holding_quota": sum(counts.get((name, status), 0) for status in _HOLDING),
            "quota": quota.get(name, []),
        }
        for name in names
    ]
    age = source.age
    read = {} if age is None else {"read_seconds_ago": round(age, 1)}
    return Answer({**read, **({"notes": list(source.notes)} if source.notes else {})}, items)


def explain(source: Source, given: arguments.Explain) -> Answer:
    """Explain why a workload is pending, admitted or evicted."""
    scheduler = source.scheduler()
    found = scheduler.explain(find(scheduler, given.workload))
    data = found.to_dict()
    fields = {name: data[name] for name in ("schema", "workload", "cluster_queue", "verdict", "reason", "message")}
    fields |= {name: data[name] for name in ("not_modelled",) if data.get(name)}
    return Answer({**fields, "root_cause": data["root_cause"]}, str(found).splitlines())


def whatif(source: Source, given: arguments.Whatif) -> Answer:
    """Test whether a job would be admitted now, or which decisions a change would alter."""
    scheduler = source.scheduler()
    changes = bool(given.set or given.objects)
    if (given.job is not None) == changes:
        raise InvalidSpecError("whatif: is called without one question; it must have either job, or set or objects")
    if given.job is not None:
        answers = [(answer.workload, *describe(answer)) for answer in scheduler.try_admit_many([given.job])]
        return Answer({}, [{"workload": key, "decision": what, "detail": detail} for key, what, detail in answers])
    edits: list[Edit] = [*given.objects, *([given.set] if given.set else [])]
    difference = scheduler.whatif(*edits)
    over = workloads_over_quota(scheduler, *edits)
    items: list[dict[str, Any]] = [
        {"workload": one.workload, "before": outcome_text(one.before), "after": outcome_text(one.after)}
        for one in difference.changes
    ]
    items += [{"workload": key, "over_quota": True} for key in over]
    return Answer({"changes": len(difference), "over_quota": len(over)}, items)


def largest_count(source: Source, given: arguments.LargestCount) -> Answer:
    """Return the largest number of pods with which a job would be admitted now."""
    scheduler = source.scheduler()
    count = scheduler.largest_count(given.job, pod_set=given.pod_set or None, preempting=given.preempting)
    return Answer({"largest_count": count, "unit": "pods"})


def check(source: Source, given: arguments.Check) -> Answer:
    """Validate objects and report surprising settings."""
    objects = load(given.objects, namespace="default") if given.objects else source.cluster()
    findings = lint(objects)
    items = [
        {name: getattr(found, name) for name in ("rule", "severity", "object", "field", "message")}
        for found in findings
    ]
    return Answer({"valid": True, "findings": len(items)}, items)


def simulate(source: Source, given: arguments.Simulate) -> Answer:
    """Simulate jobs on the configuration of the source, with and without a change."""
    cluster = source.cluster()
    jobs: Any = given.jobs or source.history(given.censored)
    options: dict[str, Any] = {"until": given.until or None, "seed": given.seed, "progress": False}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # they are in the result
        now = run(cluster, jobs, **options)
        changed = run(_changed(cluster, given.set), jobs, **options) if given.set else None
    values = dict(now.kpis.rows())
    names = columns_shown("run", values)
    others = {} if changed is None else dict(changed.kpis.rows())
    items = [
        {
            "metric": name,
            "unit": unit_text(name),
            "value": _rounded(values[name]),
            **({} if changed is None else {"with_change": _rounded(others.get(name))}),
        }
        for name in names
    ]
    return Answer({"jobs": len(now.jobs), "notes": list(now.warnings)}, items)


def _changed(cluster: Any, fields: dict[str, Any]) -> Any:
    return edited(Scheduler(cluster), fields).cluster


def _rounded(value: Any) -> Any:
    return float(f"{value:.6g}") if isinstance(value, float) else value


def who_uses(source: Source, given: arguments.WhoUses) -> Answer:
    """List the workloads that hold quota, with amounts."""
    scheduler = source.scheduler()
    cluster = scheduler.cluster
    if given.cluster_queue:
        _known([queue.name for queue in cluster.cluster_queues], given.cluster_queue, "who_uses")
    if given.flavor:
        _known([flavor.name for flavor in cluster.resource_flavors], given.flavor, "who_uses", "flavor")
    engine = session_of(scheduler).engine
    items = []
    for row in scheduler.workloads.rows():
        if row["status"] not in _HOLDING or given.cluster_queue not in ("", row["cluster_queue"]):
            continue
        admission = engine.admission(engine.find(row["key"]))
        totals: dict[tuple[str, str], int] = {}
        for pod_set in admission.pod_sets if admission is not None else ():
            for resource, (flavor, amount) in pod_set.resources.items():
                if given.flavor in ("", flavor) and given.resource in ("", resource):
                    totals[flavor, resource] = totals.get((flavor, resource), 0) + amount
        if totals:
            items.append(
                {
                    "workload": row["key"],
                    "cluster_queue": row["cluster_queue"],
                    "priority": row["priority"],
                    "reserved": row["reserved"],
                    "status": row["status"],
                    "uses": [
                        {"flavor": flavor, "resource": resource, "amount": Quantity.format(resource, amount)}
                        for (flavor, resource), amount in totals.items()
                    ],
                }
            )
    return Answer({"workloads": len(items)}, items)


def _known(names: list[str], name: str, tool: str, argument: str = "cluster_queue") -> str:
    """Return a name if it exists.

    Raises:
        NotFoundError: It does not exist.
    """
    if name not in names:
        raise NotFoundError(f'{tool}: {argument}: "{name}" does not exist; {suggestion(name, names)}')
    return name


class Tool(NamedTuple):
    """A tool: its question, its arguments, and the description that agents read."""

    ask: Callable[[Source, Any], Answer]
    arguments: type[arguments.Arguments]
    description: str


TOOLS: dict[str, Tool] = {
    "queues": Tool(
        queues,
        arguments.Queues,
        "List ClusterQueues: cohort, numbers of pending workloads and of workloads that hold quota, and used, nominal "
        "and available quota by flavor and resource. Amounts are Kubernetes quantities (cpu in cores, memory in bytes "
        "with suffixes).",
    ),
    "explain": Tool(
        explain,
        arguments.Explain,
        "Explain why a workload is pending, admitted or evicted. root_cause has a code, such as QuotaExceeded or "
        "BehindInQueue, with facts as integers in base units (thousandths for cpu, bytes for memory); items are the "
        "lines of the whole explanation, with the changes that would admit the workload.",
    ),
    "whatif": Tool(
        whatif,
        arguments.Whatif,
        "Without changing anything: with job, the decision for a job submitted now; with set or objects, the workloads "
        "whose decision the change would alter, and those that would be over quota.",
    ),
    "largest_count": Tool(
        largest_count,
        arguments.LargestCount,
        "Return the largest number of pods with which a job would be admitted now; 0 if not even one pod would be.",
    ),
    "check": Tool(
        check,
        arguments.Check,
        "Validate objects as an API server does, and report valid settings with surprising effects. Without objects, "
        "check those of the source.",
    ),
    "simulate": Tool(
        simulate,
        arguments.Simulate,
        "Simulate jobs in virtual time, on the present configuration and, with set, on a changed one. Returns metrics "
        "with their units: s for seconds, h for resource-hours, fraction for 0 to 1.",
    ),
    "who_uses": Tool(
        who_uses,
        arguments.WhoUses,
        "List the workloads that hold quota of a flavor, resource or ClusterQueue, with amounts as Kubernetes "
        "quantities, priorities, and the time of their reservation (UTC).",
    ),
}
"""The tools by name."""
