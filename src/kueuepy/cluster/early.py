"""Rules of the first releases of Kueue, according to the documentation of that time.

The first releases of Kueue have no profile. kueuepy simulates them with the oldest profile, after it has removed the
fields that did not exist yet. The order of heads within a cycle also differed, but this is not modelled.
"""

import re
from collections.abc import Callable, Collection
from functools import partial
from typing import Any

import msgspec

from kueuepy.cluster import Cluster
from kueuepy.errors import InvalidSpecError, checked
from kueuepy.manifest import Manifest, changed, from_dict, to_dict
from kueuepy.objects import FlavorFungibility, Preemption
from kueuepy.profiles import RELEASES

OLDEST = RELEASES[0].name
"""Oldest release with a profile."""
_VERSION = re.compile(r"v?0\.(\d+)(?:\.\d+)?", re.ASCII)


class EarlyRule(msgspec.Struct, frozen=True):
    """A rule that applied only in the first releases of Kueue.

    Attributes:
        name: Name of the rule.
        until: Minor version of the first release without the rule, such as 3 for v0.3.
        what: Description of the rule, and of the behaviour of releases without the rule.
        source: Files and identifiers in Kueue's source code.

    Example:
        >>> EARLY_RULES[0].name, EARLY_RULES[0].until
        ('no_preemption', 3)
    """

    name: str
    until: int
    what: str
    source: str


EARLY = {"v1alpha1": "v0.1", "v1alpha2": "v0.2", "v1beta1": "v0.6"}
"""A typical release for the manifests of each API version."""


def _with(manifest: Manifest, **fields: Any) -> Manifest:
    queues = tuple(msgspec.structs.replace(queue, **fields) for queue in manifest.cluster_queues)
    return msgspec.structs.replace(manifest, cluster_queues=queues)


def _lending_all(manifest: Manifest) -> Manifest:
    def without_limit(quota: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in quota.items() if name != "lendingLimit"}

    path = ("spec", "resourceGroups", "*", "flavors", "*", "resources", "*")
    queues = (from_dict(changed(to_dict(queue), path, without_limit)) for queue in manifest.cluster_queues)
    return msgspec.structs.replace(manifest, cluster_queues=tuple(queues))


def _without_fair_sharing(manifest: Manifest) -> Manifest:
    own = manifest.configuration
    none = None if own is None else msgspec.structs.replace(own, fair_sharing=None)
    return msgspec.structs.replace(manifest, configuration=none)


_EDITS: dict[EarlyRule, Callable[[Manifest], Manifest]] = {
    EarlyRule(
        "no_preemption",
        3,
        "Kueue does not preempt, whatever the policies; since v0.3 it preempts",
        "pkg/scheduler/preemption, apis/kueue/v1beta1/clusterqueue_types.go:ClusterQueuePreemption",
    ): partial(_with, preemption=Preemption()),
    EarlyRule(
        "first_flavor_that_fits",
        5,
        "Kueue assigns the first flavor that fits, even by borrowing; since v0.5 flavorFungibility can prefer others",
        "pkg/scheduler/flavorassigner/flavorassigner.go:shouldTryNextFlavor",
    ): partial(_with, flavor_fungibility=FlavorFungibility()),
    EarlyRule(
        "no_fair_sharing",
        7,
        "there is no fair sharing; since v0.7 the Configuration can enable it",
        "apis/config/v1beta1/configuration_types.go:FairSharing",
    ): _without_fair_sharing,
    EarlyRule(
        "all_quota_is_lent",
        9,
        "lendingLimit needs the feature gate LendingLimit, which is off by default; since v0.9 it always applies",
        "pkg/features/kube_features.go:LendingLimit",
    ): _lending_all,
    EarlyRule(
        "cohorts_are_flat",
        9,
        "a cohort is only a name; since v0.9 a Cohort object can set quota and a parent",
        "apis/kueue/v1alpha1/cohort_types.go",
    ): lambda manifest: msgspec.structs.replace(manifest, cohorts=()),
}

EARLY_RULES = tuple(_EDITS)
"""Rules that ended before the oldest release with a profile."""


def early_rules(version: str) -> tuple[EarlyRule, ...]:
    """Return the early rules that apply in a release; an empty tuple for a release with a profile.

    Args:
        version: The release, such as `v0.6`.

    Returns:
        The rules, in the order of `EARLY_RULES`.

    Raises:
        InvalidSpecError: The string is not a release name.

    Example:
        >>> [rule.name for rule in early_rules("v0.6")]
        ['no_fair_sharing', 'all_quota_is_lent', 'cohorts_are_flat']
    """
    found = _VERSION.fullmatch(version) if isinstance(version, str) else None
    if found is None:
        raise InvalidSpecError(f"version: is {version!r:.99}; it must be a release such as v0.6 or {OLDEST}")
    return tuple(rule for rule in EARLY_RULES if int(found[1]) < rule.until)


def is_early(version: object) -> bool:
    """Return whether a version is one of the releases without a profile, v0.1 to v0.14.

    Args:
        version: A release name; the result for any other value is `False`.

    Example:
        >>> is_early("v0.6"), is_early("v0.17")
        (True, False)
    """
    found = _VERSION.fullmatch(version) if isinstance(version, str) else None
    return found is not None and 1 <= int(found[1]) < RELEASES[0].minor


@checked
def as_then(cluster: Cluster, version: str, *, left_out: Collection[str] = (), added: Collection[str] = ()) -> Cluster:
    """Return a cluster that behaves as it would with one of the first releases of Kueue.

    The function removes the fields that the release did not have, such as lending limits before v0.9. Simulate the
    returned cluster with the rules of the oldest release that has a profile.

    Args:
        cluster: The Cluster to convert.
        version: The release, such as `v0.6`.
        left_out: Names of early rules of this release not to apply; none by default.
        added: Names of additional early rules to apply; none by default.

    Returns:
        A new cluster; `cluster` is unchanged.

    Raises:
        InvalidSpecError: The version is not a release name.

    Example:
        >>> from kueuepy import load
        >>> old = as_then(load("examples/seeds/001/lending-limit.yaml"), "v0.6")
        >>> [quota.lending_limit for quota in old.cluster_queues[1].resource_groups[0].flavors[0].resources]
        [None]
    """
    manifest = cluster.written
    then = early_rules(version)
    for rule, edit in _EDITS.items():
        if (rule in then and rule.name not in left_out) or rule.name in added:
            manifest = edit(manifest)
    return Cluster.from_manifest(manifest, names=False)
