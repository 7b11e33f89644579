"""Automated quota of the manager's ClusterQueues (feature gate MultiKueueManagerQuotaAutomation).

Source: `pkg/controller/admissionchecks/multikueue/clusterqueue.go`.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import msgspec

from kueuepy._core import Quantity
from kueuepy.cluster import Cluster
from kueuepy.objects import ClusterQueue, Cohort, FlavorQuotas, ResourceQuota, quotas_of

CONTROLLER = "kueue.x-k8s.io/multikueue"


def automated(manager: Cluster, workers: Mapping[str, Cluster]) -> tuple[list[ClusterQueue], list[str]]:
    """Return the manager's ClusterQueues with automated quota.

    Args:
        manager: The manager.
        workers: The connected workers.

    Returns:
        The ClusterQueues with their new quotas, and the reasons why other ClusterQueues have no automated quota.
    """
    if not manager.configuration.enabled("MultiKueueManagerQuotaAutomation"):
        return [], []
    configs = configs_of(manager)
    spec_of = {
        check.name: configs.get(str((check.parameters or {}).get("name")), {})
        for check in manager.admission_checks
        if check.controller_name == CONTROLLER
    }
    found, problems = [], []
    for queue in manager.cluster_queues:
        # Kueue makes a ClusterQueue with several MultiKueue checks inactive, so one rule decides.
        rules = [rule.name for rule in queue.admission_checks_strategy if rule.name in spec_of]
        if not rules or spec_of[rules[0]].get("quotaManagement") != "Automated":
            continue
        names = [name for name in spec_of[rules[0]].get("clusters") or () if name in workers]
        totals = totals_of(
            {local.key for local in manager.local_queues if local.cluster_queue == queue.name}, names, workers
        )
        changed = _changed(queue, totals)
        if isinstance(changed, str):
            problems.append(f"manager: ClusterQueue {queue.name}: UnsupportedConfiguration: {changed}")
        else:
            found.append(changed)
    return found, problems


def configs_of(manager: Cluster) -> dict[str, dict[str, Any]]:
    """Return the specs of the manager's MultiKueueConfigs by name."""
    return {
        doc["metadata"]["name"]: doc.get("spec") or {}
        for doc in manager.manifest.others
        if doc.get("kind") == "MultiKueueConfig"
    }


def totals_of(keys: set[str], names: list[str], workers: Mapping[str, Cluster]) -> dict[str, int]:
    """Return the total nominal quota by resource of the ClusterQueues to which LocalQueues point.

    Each ClusterQueue is counted once, even if several LocalQueues point to it.

    Args:
        keys: The keys of the LocalQueues, `namespace/name`.
        names: The names of the workers to consider.
        workers: The workers by name.
    """
    queues: list[ClusterQueue] = []
    for name in names:
        # A set, because several LocalQueues can lead to one ClusterQueue.
        behind = {local.cluster_queue for local in workers[name].local_queues if local.key in keys}
        queues += (queue for queue in workers[name].cluster_queues if queue.name in behind)
    return nominal_of(*queues)


def nominal_of(*owners: ClusterQueue | Cohort) -> dict[str, int]:
    """Return the total nominal quota of ClusterQueues and Cohorts by resource, over all flavors."""
    totals = Counter[str]()
    for _, quota in quotas_of(*owners):
        totals[quota.name] += Quantity(quota.nominal_quota).quota(quota.name)
    return totals


def _changed(queue: ClusterQueue, totals: Mapping[str, int]) -> ClusterQueue | str:
    """Return the ClusterQueue with `totals` as its nominal quotas, or the reason why Kueue does not change it."""
    if len(queue.resource_groups) != 1 or len(queue.resource_groups[0].flavors) != 1:
        return "Quota automation requires that the manager-side ClusterQueue has exactly one ResourceFlavor"
    (group,) = queue.resource_groups
    if missing := sorted(set(totals) - set(group.covered_resources)):
        return f"manager-side coveredResources is missing resources configured on workers: [{' '.join(missing)}]"
    resources = tuple(
        ResourceQuota(name, nominal_quota=Quantity.format(name, totals.get(name, 0)))
        for name in group.covered_resources
    )
    flavor = FlavorQuotas(group.flavors[0].name, resources)
    return msgspec.structs.replace(queue, resource_groups=(msgspec.structs.replace(group, flavors=(flavor,)),))
