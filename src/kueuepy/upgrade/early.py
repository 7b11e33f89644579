"""The first releases of Kueue, as far as their documents go: what a cluster meant then.

They have no profile, as nobody runs them: their rules are those of the oldest release that has one, with what came
after them taken back from the objects. In what order a cycle went through its heads was another matter, too, and is
not told.
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
"""The release as which they decide otherwise."""
_VERSION = re.compile(r"v?0\.(\d+)(?:\.\d+)?")


class EarlyRule(msgspec.Struct, frozen=True):
    """What the first releases did otherwise.

    Attributes:
        name: What it is called.
        until: The minor release in which it ended: 3 of v0.3.
        what: What it was, and what is done since.
        source: Where in Kueue.
    """

    name: str
    until: int
    what: str
    source: str


EARLY_RULES = (
    EarlyRule(
        "nobody_is_preempted",
        3,
        "no admitted workload is stopped for another, whatever the policies say; since v0.3 preemption frees quota",
        "pkg/scheduler/preemption, apis/kueue/v1beta1/clusterqueue_types.go:ClusterQueuePreemption",
    ),
    EarlyRule(
        "first_flavor_that_fits",
        5,
        "the first flavor with room is taken, if need be by borrowing; since v0.5 flavorFungibility may look further",
        "pkg/scheduler/flavorassigner/flavorassigner.go:shouldTryNextFlavor",
    ),
    EarlyRule(
        "nobody_shares_fairly",
        7,
        "no fairSharing, neither weights nor a preemption of its own; since v0.7 the Configuration turns it on",
        "apis/config/v1beta1/configuration_types.go:FairSharing",
    ),
    EarlyRule(
        "all_quota_is_lent",
        9,
        "a lendingLimit counts only with the feature gate LendingLimit, which is off; since v0.9 it counts",
        "pkg/features/kube_features.go:LendingLimit",
    ),
    EarlyRule(
        "cohorts_are_flat",
        9,
        "a cohort is a name that ClusterQueues share; since v0.9 it may have an object, quota and a parent",
        "apis/kueue/v1alpha1/cohort_types.go",
    ),
)
"""What ended before the first release with a profile."""

EARLY = {"v1alpha1": "v0.1", "v1alpha2": "v0.2", "v1beta1": "v0.6"}
"""The releases that the documents are of, by the version of the API that they are written in."""


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
    """The rules that hold in a release; none in one with a profile.

    >>> [rule.name for rule in early_rules("v0.6")]
    ['nobody_shares_fairly', 'all_quota_is_lent', 'cohorts_are_flat']

    Raises:
        InvalidSpecError: It names no release.
    """
    found = _VERSION.fullmatch(version) if isinstance(version, str) else None
    if found is None:
        raise InvalidSpecError(f"version: {version!r} names no release; it must be such as v0.6 or {OLDEST}")
    return tuple(rule for rule in EARLY_RULES if int(found[1]) < rule.until)


def is_early(version: object) -> bool:
    """Whether a version is of before the first one with a profile."""
    found = _VERSION.fullmatch(version) if isinstance(version, str) else None
    return found is not None and 1 <= int(found[1]) < RELEASES[0].minor


@checked
def as_then(cluster: Cluster, version: str, *, left_out: Collection[str] = (), added: Collection[str] = ()) -> Cluster:
    """What the cluster meant in one of the first releases, to be decided as the oldest with a profile decides.

    >>> from kueuepy import load
    >>> then = as_then(load("examples/seeds/001/lending-limit.yaml"), "v0.6")
    >>> [quota.lending_limit for quota in then.cluster_queues[1].resource_groups[0].flavors[0].resources]
    [None]

    Args:
        cluster: The queues and policies.
        version: The release, such as `v0.6`.
        left_out: Rules of then that are not to hold.
        added: Rules of earlier releases that are to hold as well.

    Raises:
        InvalidSpecError: It names no release.
    """
    manifest = cluster.written
    then = early_rules(version)
    for rule in EARLY_RULES:
        if (rule in then and rule.name not in left_out) or rule.name in added:
            manifest = _EDITS[rule.name](manifest)
    return Cluster.from_manifest(manifest, names=False)
