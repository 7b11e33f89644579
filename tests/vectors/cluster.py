"""Engines with the clusters of the vectors."""

from __future__ import annotations

from typing import Any

from kueuepy import _core
from kueuepy.objects import (
    Admission,
    AdmissionFairSharing,
    BorrowWithinCohort,
    ClusterQueue,
    Cohort,
    Condition,
    Configuration,
    FairSharing,
    FairSharingConfig,
    FlavorQuotas,
    LocalQueue,
    Namespace,
    PodSet,
    PodSetAssignment,
    Preemption,
    ResourceFlavor,
    ResourceGroup,
    ResourceQuota,
    Workload,
    WorkloadStatus,
)
from rules import rules

SECOND = 10**9
Line = dict[str, Any]
Cell = tuple[str, str]


def cell(entry: Line) -> Cell:
    return (entry.get("flavor") or entry["Flavor"], entry.get("resource") or entry["Resource"])


def amount(entry: Line) -> tuple[Cell, int]:
    """The entry's amount in the core's integers: cpu counts in thousandths."""
    value = entry["amount"] if "amount" in entry else entry["Amount"]
    return cell(entry), value * (1000 if cell(entry)[1] == "cpu" else 1)


def namespace_of(workload: Line) -> str:
    return f"ns-{workload['cq']}"


def groups(quotas: list[Line] | None) -> tuple[ResourceGroup, ...]:
    """One resource group with all quotas. Flavors of a vector may have different resources, which the core accepts."""
    flavors: dict[str, list[ResourceQuota]] = {}
    for quota in quotas or ():
        borrowing = quota.get("borrowingLimit", quota.get("borrow"))
        lending = quota.get("lendingLimit", quota.get("lend"))
        row = ResourceQuota(quota["resource"], quota["nominal"], borrowing, lending)
        flavors.setdefault(quota["flavor"], []).append(row)
    covered = {quota.name: None for rows in flavors.values() for quota in rows}
    return (
        (ResourceGroup(tuple(covered), [FlavorQuotas(name, rows) for name, rows in flavors.items()]),)
        if flavors
        else ()
    )


def sharing(entry: Line) -> FairSharing | None:
    return FairSharing(entry["weight"]) if "weight" in entry else None


def engine(line: Line, configuration: Configuration) -> Any:
    """An engine with the line's cohorts, queues and admitted workloads; each queue has a namespace of its own."""
    made = _core.Engine(configuration)
    for flavor in ("f0", "f1", "f2"):
        made.apply(ResourceFlavor(flavor))
    for cohort in line["cohorts"] or ():
        made.apply(
            Cohort(
                cohort["name"],
                parent_name=cohort.get("parent"),
                resource_groups=groups(cohort.get("quotas")),
                fair_sharing=sharing(cohort),
            )
        )
    for queue in line["clusterQueues"]:
        made.apply(_cluster_queue(line, queue))
    for workload in line.get("admitted") or ():
        add_workload(made, workload, admitted=True)
    return made


def _cluster_queue(line: Line, queue: Line) -> ClusterQueue:
    borrow = queue.get("borrowWithinCohort") or {}
    return ClusterQueue(
        queue["name"],
        cohort_name=queue.get("cohort"),
        resource_groups=groups(queue["quotas"]),
        fair_sharing=sharing(queue),
        stop_policy="Hold" if queue.get("stopped") else "None",
        admission_scope="UsageBasedAdmissionFairSharing" if line.get("afs") else None,
        preemption=Preemption(
            reclaim_within_cohort=queue.get("reclaim", "Never"),
            within_cluster_queue=queue.get("within", "Never"),
            borrow_within_cohort=BorrowWithinCohort(borrow.get("policy", "Never"), borrow.get("threshold")),
        ),
    )


def add_workload(made: Any, workload: Line, *, admitted: bool) -> None:
    """Submits the workload, with its quota where it is admitted."""
    local = workload.get("lq", f"of-{workload['cq']}")
    # LocalQueues of two ClusterQueues may have the same name, but then not the same namespace.
    namespace = namespace_of(workload)
    made.apply(Namespace(namespace))
    made.apply(LocalQueue(local, namespace=namespace, cluster_queue=workload["cq"]))
    status = None
    if admitted:
        made.set_now(workload["reserved"] * SECOND)
        conditions = [Condition("QuotaReserved", "True", last_transition_time=workload["reserved"])]
        if workload.get("evicted"):
            conditions.append(Condition("Evicted", "True", "Preempted"))
        # One pod set for each cell, so that a resource may come from two flavors.
        held = [
            PodSetAssignment(f"p{i}", {entry["resource"]: entry["flavor"]}, {entry["resource"]: entry["amount"]})
            for i, entry in enumerate(workload["usage"])
        ]
        status = WorkloadStatus(conditions=conditions, admission=Admission(workload["cq"], held))
    made.submit(
        Workload(
            workload["name"],
            namespace=namespace,
            uid=workload["name"],
            queue_name=local,
            priority=workload["priority"],
            creation_timestamp=workload["created"],
            pod_sets=[PodSet(f"p{i}") for i in range(len(workload["usage"]))],
            status=status,
        )
    )


def tables_of(line: Line) -> Any:
    """Return the engine of a line with its incoming workload, to test single rules."""
    fair = FairSharingConfig(line.get("strategies") or FairSharingConfig().preemption_strategies)
    configuration = Configuration(
        fair_sharing=fair if line.get("fairSharing") else None,
        admission_fair_sharing=AdmissionFairSharing() if line.get("afs") else None,
        feature_gates={"FairSharingPreemptWithinNominal": line.get("preemptWithinNominal", True)},
    )
    made = engine(line, configuration)
    add_workload(made, line["incoming"], admitted=False)
    tables = rules().Tables(made)
    for workload in line.get("admitted") or ():
        if line.get("afs"):
            tables.set_consumed(namespace_of(workload), workload["lq"], "cpu", workload["lqUsage"] * 10**9)
    return tables
