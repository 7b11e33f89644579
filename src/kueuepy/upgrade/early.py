"""The earliest releases of Kueue: the meaning of a cluster configuration in them.

These releases have no profile. They decide like the oldest release with a profile, after the removal of fields that
they ignored. Differences in the order in which a cycle processes its heads are not modelled.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from kueuepy.cluster import Cluster
from kueuepy.errors import InvalidSpecError
from kueuepy.errors.arguments import checked
from kueuepy.objects import ClusterQueue, Cohort, FlavorFungibility, Preemption
from kueuepy.profiles import RELEASES

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from kueuepy.manifest import Manifest

OLDEST = RELEASES[0].name
"""The release whose profile is used for earlier releases."""
_VERSION = re.compile(r"v?0\.(\d+)(?:\.\d+)?")


class EarlyRule(msgspec.Struct, frozen=True):
    """A rule that only held in early releases.

    Attributes:
        name: Name of the rule.
        until: The minor release in which the rule ended, such as 3 for v0.3.
        what: The rule, and its replacement.
        source: Place in Kueue's source.
    """

    name: str
    until: int
    what: str
    source: str


EARLY_RULES = (
    EarlyRule(
        "nobody_is_preempted",
        3,
        "no workload is preempted, whatever the policies; preemption exists since v0.3",
        "pkg/scheduler/preemption, apis/kueue/v1beta1/clusterqueue_types.go:ClusterQueuePreemption",
    ),
    EarlyRule(
        "first_flavor_that_fits",
        5,
        "the first flavor that fits is assigned, even by borrowing; since v0.5, flavorFungibility can change this",
        "pkg/scheduler/flavorassigner/flavorassigner.go:shouldTryNextFlavor",
    ),
    EarlyRule(
        "nobody_shares_fairly",
        7,
        "fair sharing does not exist; since v0.7, the Configuration can enable it",
        "apis/config/v1beta1/configuration_types.go:FairSharing",
    ),
    EarlyRule(
        "all_quota_is_lent",
        9,
        "lendingLimit is ignored, as the feature gate LendingLimit is off by default; since v0.9, it has an effect",
        "pkg/features/kube_features.go:LendingLimit",
    ),
    EarlyRule(
        "cohorts_are_flat",
        9,
        "a cohort is only a name that ClusterQueues share; since v0.9, a Cohort object may have quota and a parent",
        "apis/kueue/v1alpha1/cohort_types.go",
    ),
)
"""The rules that ended before the oldest release with a profile."""

EARLY = {"v1alpha1": "v0.1", "v1alpha2": "v0.2", "v1beta1": "v0.6"}
"""The assumed release of manifests, by their API version."""


def _edit_queues(manifest: Manifest, edit: Callable[[ClusterQueue], ClusterQueue]) -> Manifest:
    return msgspec.structs.replace(manifest, cluster_queues=tuple(map(edit, manifest.cluster_queues)))


def _lends_all(queue: ClusterQueue | Cohort) -> tuple[object, ...]:
    return tuple(
        msgspec.structs.replace(
            group,
            flavors=tuple(
                msgspec.structs.replace(
                    flavor,
                    resources=tuple(msgspec.structs.replace(quota, lending_limit=None) for quota in flavor.resources),
                )
                for flavor in group.flavors
            ),
        )
        for group in queue.resource_groups
    )


def _without_fair_sharing(manifest: Manifest) -> Manifest:
    own = manifest.configuration
    if own is None:
        return manifest
    return msgspec.structs.replace(manifest, configuration=msgspec.structs.replace(own, fair_sharing=None))


_EDITS: dict[str, Callable[[Manifest], Manifest]] = {
    "nobody_is_preempted": lambda manifest: _edit_queues(
        manifest, lambda queue: msgspec.structs.replace(queue, preemption=Preemption())
    ),
    "first_flavor_that_fits": lambda manifest: _edit_queues(
        manifest, lambda queue: msgspec.structs.replace(queue, flavor_fungibility=FlavorFungibility())
    ),
    "nobody_shares_fairly": _without_fair_sharing,
    "all_quota_is_lent": lambda manifest: _edit_queues(
        manifest, lambda queue: msgspec.structs.replace(queue, resource_groups=_lends_all(queue))
    ),
    "cohorts_are_flat": lambda manifest: msgspec.structs.replace(manifest, cohorts=()),
}
assert _EDITS.keys() == {rule.name for rule in EARLY_RULES}


def early_rules(version: str) -> tuple[EarlyRule, ...]:
    """Return the early rules that hold in a release; none in a release with a profile.

    >>> [rule.name for rule in early_rules("v0.6")]
    ['nobody_shares_fairly', 'all_quota_is_lent', 'cohorts_are_flat']

    Raises:
        InvalidSpecError: The version is not a release.
    """
    found = _VERSION.fullmatch(version) if isinstance(version, str) else None
    if found is None:
        raise InvalidSpecError(f"version: {version!r} is not a release; it must be such as v0.6 or {OLDEST}")
    return tuple(rule for rule in EARLY_RULES if int(found[1]) < rule.until)


def is_early(version: object) -> bool:
    """Return whether a version is older than the oldest release with a profile."""
    found = _VERSION.fullmatch(version) if isinstance(version, str) else None
    return found is not None and 1 <= int(found[1]) < RELEASES[0].minor


@checked
def as_then(cluster: Cluster, version: str, *, left_out: Collection[str] = (), added: Collection[str] = ()) -> Cluster:
    """Return the cluster without the fields that an early release ignored.

    >>> from kueuepy import load
    >>> then = as_then(load("examples/seeds/001/lending-limit.yaml"), "v0.6")
    >>> [quota.lending_limit for quota in then.cluster_queues[1].resource_groups[0].flavors[0].resources]
    [None]

    Args:
        cluster: The queues and policies.
        version: The release, such as `v0.6`.
        left_out: Early rules of the release to disable.
        added: Early rules of older releases to enable.

    Raises:
        InvalidSpecError: The version is not a release.
    """
    manifest = cluster.written
    then = early_rules(version)
    for rule in EARLY_RULES:
        if (rule in then and rule.name not in left_out) or rule.name in added:
            manifest = _EDITS[rule.name](manifest)
    return Cluster.from_manifest(manifest, names=False)
