"""A table of the rules in which releases of Kueue differ from the mirrored commit.

The core applies each rule (`src/cpp/model/release.h` has a field with the name of each rule). Differences that a
feature gate controls are not in this table; they are defaults of gates (`profiles/gates.py`). To drop support for a
release, remove its rows, and then the fields that no remaining row names.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from typing import Literal

import msgspec

from kueuepy.errors import InvalidSpecError


class Release(msgspec.Struct, frozen=True, order=True):
    """A minor release of Kueue.

    Attributes:
        minor: The minor version, such as 18 for v0.18.
        patch: The patch release on which the profile is based, the newest one when the profile was created.
        name: The name of the release, such as `v0.18`.
    """

    minor: int
    patch: int
    name: str

    def __str__(self) -> str:
        """Return the name of the release."""
        return self.name

    @property
    def newest(self) -> str:
        """The patch release on which the profile is based, such as `v0.18.6`; `v0.20-devel` for the mirrored commit."""
        return f"v0.{self.minor}.{self.patch}" if self.name != DEVELOPMENT else DEVELOPMENT


DEVELOPMENT = "v0.20-devel"
"""The commit that kueuepy mirrors; it is not released yet."""

RELEASES = (
    Release(15, 8, "v0.15"),
    Release(16, 9, "v0.16"),
    Release(17, 8, "v0.17"),
    Release(18, 6, "v0.18"),
    Release(19, 2, "v0.19"),
    Release(20, 0, DEVELOPMENT),
)
"""All releases with a profile, the mirrored commit last."""

_VERSION = re.compile(r"v?0\.(\d+)(?:\.(\d+)|-devel)?", re.ASCII)


@cache
def release_of(version: str) -> Release:
    """Return the release of a version, such as `v0.18`, `0.18` or `v0.18.2`.

    All patch releases of a minor release have the same profile; `Rule.fixed` lists the patch releases in which a rule
    changed.

    >>> release_of("v0.18.2").newest
    'v0.18.6'

    Raises:
        InvalidSpecError: The version has no profile.
    """
    found = _VERSION.fullmatch(version) if isinstance(version, str) else None
    for release in RELEASES:
        if found and release.minor == int(found[1]) and int(found[2] or 0) <= release.patch:
            return release
    known = ", ".join(release.name for release in RELEASES)
    newest = ", ".join(release.newest for release in RELEASES)
    raise InvalidSpecError(
        f"version: {version!r:.99} has no profile; it must be one of {known}, or a patch up to one of {newest}; "
        f"kueuepy upgrade also compares v0.1 to v0.{RELEASES[0].minor - 1}"
    )


def patch_of(version: str) -> int | None:
    """Return the patch number in a version such as `v0.18.2`; `None` if the version has none."""
    found = _VERSION.fullmatch(version)
    return int(found[2]) if found and found[2] else None


_SINCE = {
    16: """
        finished_workloads finished_workloads_total local_queue_finished_workloads local_queue_finished_workloads_total
    """,
    17: """
        cohort_subtree_admitted_active_workloads cohort_subtree_admitted_workloads_total cohort_subtree_quota
        cohort_subtree_resource_reservations
    """,
    18: """
        cluster_queue_info cluster_queue_resource_pending cohort_info local_queue_unadmitted_workloads
        unadmitted_workloads workload_eviction_latency_seconds
    """,
    19: "local_queue_admission_fair_sharing_usage",
    20: """
        execution_time_seconds local_queue_execution_time_seconds pending_scheduling_hashes
        preemption_target_recomputations_total
    """,
}
METRICS_SINCE = {name: minor for minor, names in _SINCE.items() for name in names.split()}
"""The minor release that added a metric, by the name of the metric without `kueue_`.

Metrics that are not listed are older than the oldest supported release.

Source: `pkg/metrics/metrics.go` of each release.
"""


def has_metric(release: Release, name: str) -> bool:
    """Return whether a release exports a metric.

    >>> from kueuepy.profiles import release_of
    >>> has_metric(release_of("v0.17"), "cohort_info"), has_metric(release_of("v0.18"), "cohort_info")
    (False, True)
    """
    return METRICS_SINCE.get(name.removeprefix("kueue_"), 0) <= release.minor


class Rule(msgspec.Struct, frozen=True):
    """One rule in which releases of Kueue differ.

    Attributes:
        name: The name of the rule in Python and in the core.
        kind: `decisions` if the rule changes decisions; `texts` if the rule changes only messages.
        fixed: The first patch releases without the rule, one for each minor release in which it was removed.
        what: The behaviour of the earlier releases, and the behaviour of the fixed releases.
        source: The file and function in Kueue, and the pull request of the change.
    """

    name: str
    kind: Literal["decisions", "texts"]
    fixed: tuple[str, ...]
    what: str
    source: str

    def holds_in(self, release: Release) -> bool:
        """Return whether the rule applies in the newest patch of a release.

        >>> rule = next(rule for rule in RULES if rule.name == "flavorless_quota_needs_all_checks")
        >>> [release.name for release in RELEASES if rule.holds_in(release)]
        ['v0.15', 'v0.16', 'v0.17']
        """
        fixed = self.fixed_in(release)
        # A release without a patch of its own has the fix, or not, by its age.
        return release < min(map(release_of, self.fixed)) if fixed is None else release.patch < fixed

    def fixed_in(self, release: Release) -> int | None:
        """Return the first patch of a minor release without the rule; `None` if the rule was removed in no patch."""
        return next((patch_of(version) for version in self.fixed if release_of(version) == release), None)


_RULES = """
flavorless_quota_needs_all_checks decisions v0.18.0
    Workloads that get quota without a flavor, because no queue covers their requests, need all checks of their
    queue; fixed releases admit them at once.
    source: pkg/workload/workload.go:admissionChecksForAdmission (#10890)
scan_stops_at_first_missing_resource texts v0.18.4
    The check of a flavor stops at the first resource with too little quota, in the random order of a Go map, so the
    named resource varies; fixed releases name all such resources.
    source: pkg/scheduler/flavorassigner/flavorassigner.go:findFlavorForPodSets (#13327, #13503)
flavors_without_candidates_compete decisions v0.18.5 v0.19.1
    With the preference PreemptionOverBorrowing, a flavor without preemption candidates is preferred to a flavor
    that fits by borrowing; fixed releases try it last.
    source: pkg/scheduler/flavorassigner/flavorassigner.go:isPreferred (#13616)
label_keys_of_whole_group decisions v0.17.6 v0.18.2
    Node selectors and affinity are compared for the label keys of all flavors of a group, so a flavor without a
    requested label does not match; fixed releases compare only the keys of the flavor itself.
    source: pkg/scheduler/flavorassigner/flavorassigner.go:flavorSelector (#12449)
preemption_counts_pods decisions v0.18.5 v0.19.1
    In a ClusterQueue with quota for pods, preemption must also free quota for the pods of the preemptor; fixed
    releases consider only the requests of its containers.
    source: pkg/scheduler/flavorassigner/flavorassigner.go:assignFlavors,TotalRequestsFor (#13503)
zero_shares_do_not_borrow decisions v0.17.0
    With fair sharing, workloads of a ClusterQueue or Cohort that borrows only resources without lendable quota, and
    so has the share 0, are not preempted; fixed releases can preempt them.
    source: pkg/scheduler/preemption/fairsharing/ordering.go:nextTarget
usage_in_thousandths decisions v0.18.5
    Admission fair sharing stores consumed usage in whole thousandths, which accumulates rounding errors; fixed
    releases store billionths.
    source: pkg/util/resource/resource.go:MulByFloat (#13621)
pooled_entry_penalties decisions v0.18.6
    Entry penalties are one sum for each LocalQueue, for all pods and including the resource pods; they are added in
    every ClusterQueue, subtracted for admitted workloads, and never used with admission checks; fixed releases
    store them for each workload.
    source: pkg/cache/queue/afs/entry_penalties.go (#12786, #13844, #14153)
pooled_penalties_stay decisions v0.16.0
    A sum of entry penalties that has decreased to zero still counts as pending, so usage is sampled at every check;
    fixed releases ignore such a sum.
    source: pkg/cache/queue/afs/entry_penalties.go:Sub
usage_starts_from_admitted decisions v0.17.0
    The consumed usage of a LocalQueue starts with the present usage of its workloads, whatever its status contains;
    fixed releases start with the status.
    source: pkg/controller/core/localqueue_controller.go:initializeAfsIfNeeded (#12783)
check_evictions_name_no_state texts v0.18.0
    The message of an eviction by a check is "At least one admission check is false"; fixed releases name the check
    and its state.
    source: pkg/controller/core/workload_controller.go:reconcileCheckBasedEviction (#10623)
nomination_texts_of_v0_17 texts v0.18.5
    The message for a namespace that does not match starts with a capital letter, and the message for a missing
    namespace contains "could not be obtained"; fixed releases have other messages.
    source: pkg/scheduler/scheduler.go:nominate
topology_faults_pass decisions v0.17.5 v0.18.1
    A pod set that requests a topology is admitted without a topology assignment if the flavors of its resources
    have no topology or several; fixed releases do not admit it.
    source: pkg/scheduler/flavorassigner/tas_flavorassigner.go:WorkloadsTopologyRequests (#12055)
topology_usage_by_quota decisions v0.17.5 v0.18.1
    The usage of a node is the quota usage of its pods, counted once for each resource within a cycle, so two
    workloads that fit on one node do not get it in the same cycle; fixed releases use the requests of the pod
    templates.
    source: pkg/scheduler/flavorassigner/flavorassigner.go:ComputeTASNetUsage,
    pkg/workload/workload.go:totalRequestsFromAdmission (#12006)
moved_pods_are_uncounted decisions v0.18.6 v0.19.2
    Pods that move from a failed node to another node are not counted there within the cycle that moves them; fixed
    releases count them.
    source: pkg/scheduler/flavorassigner/flavorassigner.go:ComputeTASNetUsage (#14572)
earlier_pod_sets_take_no_slot decisions v0.16.9 v0.17.0
    Pods of the earlier pod sets of a workload do not count towards the pod limit of a node while later pod sets are
    placed; fixed releases count them.
    source: pkg/util/tas/tas_assignment.go:ComputeUsagePerDomain (#8580)
pod_sets_without_requests_inherit_nothing decisions v0.18.5 v0.19.1
    A pod set of a group gets no flavor, and so no topology assignment, if none of its requests is covered; fixed
    releases assign it the flavor with a topology of its group.
    source: pkg/scheduler/flavorassigner/flavorassigner.go:resolvePodSetFlavors (#12562)
devices_by_count_only decisions v0.18.0
    With the gate DynamicResourceAllocation, templates with constraints, config, selectors or adminAccess are
    refused, and ResourceSlices are ignored; fixed releases match selectors with the devices of the cluster. With
    the gate DRAExtendedResources, the requests of each container are charged to any mapped class before the
    containers are combined; fixed releases combine the containers first, and charge the selected class.
    source: pkg/dra/claims.go:countDevicesPerClass, pkg/dra/extended_resources.go:ResolveExtendedResourceQuota
device_admin_access_refused decisions v0.20.0
    A template with adminAccess is refused; fixed releases do not count its devices.
    source: pkg/dra/claims.go:countDevicesPerClass
multi_kueue_texts_of_v0_18 texts v0.19.0
    The messages of a MultiKueue check are "The workload got reservation on ..." and "Reserving remote lost"; fixed
    releases have "The workload was admitted on ..." and "Admitting remote lost".
    source: pkg/controller/admissionchecks/multikueue/workload.go:syncReservingRemoteState,reconcileGroup
multi_kueue_nominates_during_retries decisions v0.18.0
    MultiKueue also nominates clusters for a workload whose check is in Retry or whose cluster is chosen. With an
    incremental or external dispatcher, it then has no nominations, and its copies are deleted before the manager
    learns that their pods have stopped. Fixed releases wait until the check is Pending again.
    source: pkg/controller/admissionchecks/multikueue/workload.go:nominateAndSynchronizeWorkers
"""
"""Three parts for each rule: its name, kind and first releases without it, then what it says, and its source."""


def _table() -> Iterator[Rule]:
    # A rule begins at the margin; its other lines are indented.
    for part in re.split(r"\n(?=\w)", _RULES.strip()):
        head, text = part.split("\n", 1)
        name, kind, *fixed = head.split()
        what, source = (" ".join(half.split()) for half in text.split("source: "))
        yield Rule(name, "texts" if kind == "texts" else "decisions", tuple(fixed), what, source)


RULES = tuple(_table())
"""All rules. A rule that holds in a release also holds in all older releases."""


_RANDOM = (
    "Until v0.18.4, Kueue iterates over the requests of a pod set in the random order of a Go map. This order decides "
    "which of several missing resources a message names, how far the search for a flavor gets and, rarely, whether a "
    "workload becomes inadmissible."
)
_PANIC = (
    "Until v0.18.0, the scheduler panics with fair sharing if preemption within a ClusterQueue without a cohort does "
    "not free enough quota (pkg/scheduler/preemption/fairsharing/ordering.go:Iter, #10891). In kueuepy, the workload "
    "waits."
)
_SECOND_PASSES = (
    "Until v0.18.4, waitForPodsReady.blockAdmission also delays the second pass of a workload for its topology. The "
    "pass then removes the workload's reservation, and races with the controller that requeues the workload "
    "(pkg/scheduler/scheduler.go:waitForPodsReadyIfBlocked, #13685). In kueuepy the pass is not delayed."
)

ALWAYS_OPEN = (
    (
        "If a placement fails for several pod sets, Kueue's message names a random one of these pod sets, because the "
        "choice depends on the order of a Go map. kueuepy names the pod set whose name is first in alphabetical order."
    ),
    (
        "If the pods of a replaced node could complete the slices of several domains, Kueue chooses a random one of "
        "these domains. kueuepy chooses the domain whose name is first in alphabetical order."
    ),
    (
        "With fair sharing, Kueue processes cohort trees, and ClusterQueues without a cohort, in the random order of a "
        "Go map. The order affects the result if the trees and ClusterQueues share nodes. kueuepy orders the heads by "
        "three criteria: heads that fit without preemption first, then the earliest queue time, then the name of the "
        "ClusterQueue."
    ),
    (
        "With fair sharing, a cycle makes at most one delayed topology assignment per ClusterQueue. If several "
        "workloads wait for one, Kueue chooses a random one of these workloads, because they are in a Go map. kueuepy "
        "chooses the workload that was the last to become ready for the assignment."
    ),
    (
        "In one cycle, Kueue can both make the delayed topology assignment of a workload and preempt this workload. The"
        " order in which Kueue writes the assignment and the eviction is then undefined. kueuepy assumes that the "
        "admission is written first if the cycle waited for another eviction between the two decisions, and that the "
        "eviction is written first otherwise."
    ),
)
"""Cases of topology-aware scheduling and fair sharing in which the result of every release is random or undefined."""


def open_answers(release: Release) -> tuple[str, ...]:
    """Return the cases, besides `ALWAYS_OPEN`, in which the result of a release is random or undefined.

    If Kueue's result is random or undefined, kueuepy returns one of the possible results, or the result of the next
    release.

    >>> len(open_answers(RELEASES[0])), open_answers(RELEASES[-1])
    (3, ())
    """
    return (_RANDOM, _PANIC, _SECOND_PASSES) if release < release_of("v0.18") else ()


@cache
def rules_of(release: Release) -> tuple[Rule, ...]:
    """Return the rules that apply in a release; an empty tuple for the mirrored commit."""
    return tuple(rule for rule in RULES if rule.holds_in(release))


def version_of(version: str) -> str:
    """Return a version as a Configuration stores it: the release, or an older patch release that has further rules.

    >>> version_of("0.18.6"), version_of("0.18.5")
    ('v0.18', 'v0.18.5')

    Raises:
        InvalidSpecError: The version has no profile.
    """
    release = release_of(version)
    return f"v0.{release.minor}.{patch_of(version)}" if ended_since(version) else release.name


# Registries, mirrors and digests vary; the name and the tag of the image do not.
_MANAGER = re.compile(r"(?:[^@]*/)?kueue(?:-controller-manager)?:((v0\.[0-9]+)\.[0-9]+)(?:[-@].*)?")


def release_of_image(image: object) -> str:
    """Return the version in the tag of an image of Kueue's manager, as `version_of`; empty if the tag has none.

    >>> release_of_image("registry.k8s.io/kueue/kueue:v0.17.3")
    'v0.17.3'
    """
    found = _MANAGER.fullmatch(image) if isinstance(image, str) else None
    for version in () if found is None else found.groups():
        with suppress(InvalidSpecError):  # a patch newer than the profile, or a release without a profile
            return version_of(version)
    return ""


def of_patch(version: str) -> str:
    """Describe how kueuepy decides for an older patch release; an empty string if no rule has changed since.

    >>> of_patch("v0.18.5").partition(",")[0]
    'is decided as v0.18.6'
    """
    since = ", ".join(ended_since(version))
    return f"is decided as {release_of(version).newest}, without the rules that changed since: {since}" if since else ""


def ended_since(version: str) -> tuple[str, ...]:
    """Return the rules that hold in a patch release, but not in the patch release whose profile is used for it.

    >>> ended_since("v0.18.5")
    ('pooled_entry_penalties (v0.18.6)', 'moved_pods_are_uncounted (v0.18.6)')
    """
    release, patch = release_of(version), patch_of(version)
    ends = [(rule.name, rule.fixed_in(release)) for rule in RULES]
    return tuple(
        f"{name} (v0.{release.minor}.{end})"
        for name, end in ends
        if patch is not None and end is not None and patch < end <= release.patch
    )


assert not rules_of(RELEASES[-1]), "the mirrored commit differs from itself"
