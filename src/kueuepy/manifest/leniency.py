"""Corrections that lenient mode makes to objects whose fields have the right types."""

from collections.abc import Sequence

import msgspec

from kueuepy.errors.problems import Path
from kueuepy.manifest.findings import Findings
from kueuepy.objects import ClusterQueue, Cohort, FlavorQuotas, Object, ResourceGroup, ResourceQuota


def complete_quotas(obj: Object, findings: Findings) -> Object:
    """Add a quota of 0 for each missing pair of flavor and covered resource, and sort the quotas by resource."""
    if not isinstance(obj, ClusterQueue | Cohort):
        return obj
    groups = tuple(
        _complete_group(group, ("spec", "resourceGroups", position), findings)
        for position, group in enumerate(obj.resource_groups)
    )
    return obj if groups == obj.resource_groups else msgspec.structs.replace(obj, resource_groups=groups)


def _complete_group(group: ResourceGroup, path: Path, findings: Findings) -> ResourceGroup:
    flavors = tuple(
        _complete_flavor(quotas, group.covered_resources, (*path, "flavors", position), findings)
        for position, quotas in enumerate(group.flavors)
    )
    return msgspec.structs.replace(group, flavors=flavors)


def _complete_flavor(quotas: FlavorQuotas, covered: Sequence[str], path: Path, findings: Findings) -> FlavorQuotas:
    given = {quota.name: quota for quota in quotas.resources}
    if not given.keys() <= set(covered) or len(given) < len(quotas.resources):
        return quotas
    for name in covered:
        if name not in given:
            detail = f'flavor "{quotas.name}" has no quota for covered resource {name}'
            findings.odd((*path, "resources"), detail, "taken as 0", "Required")
    complete = tuple(given.get(name) or ResourceQuota(name, 0) for name in covered)
    return msgspec.structs.replace(quotas, resources=complete)
