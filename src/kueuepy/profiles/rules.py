"""What releases of Kueue decide otherwise than the present one: one table, a row a rule.

The core reads each rule where it applies (`src/cpp/model/release.h` has a field of its name); what a feature gate turns
on or off is no rule but a default (`profiles/gates.py`). To end the support of a release, its rows go, and then the
fields that no row names any more.
"""

from typing import Literal

import msgspec

from kueuepy.profiles.releases import RELEASES, Release, release_of


class Rule(msgspec.Struct, frozen=True):
    """One difference between releases.

    Attributes:
        name: What it is called, in the core as here.
        kind: Whether it changes decisions, or only the texts that tell of them.
        fixed: The first patch releases that no longer have it, one for each minor release in which that changed.
        what: What the releases before do, and what is done since.
        source: Where in Kueue it lies, and the change.
    """

    name: str
    kind: Literal["decisions", "texts"]
    fixed: tuple[str, ...]
    what: str
    source: str

    def holds_in(self, release: Release) -> bool:
        """Whether the newest patch of a release still has it.

        >>> rule = next(rule for rule in RULES if rule.name == "flavorless_quota_needs_all_checks")
        >>> [release.name for release in RELEASES if rule.holds_in(release)]
        ['v0.15', 'v0.16', 'v0.17']
        """
        by_minor = {release_of(version).minor: int(version.rpartition(".")[2]) for version in self.fixed}
        if release.minor in by_minor:
            return release.patch < by_minor[release.minor]
        return release.minor < min(by_minor)


RULES = (
    Rule(
        "flavorless_quota_needs_all_checks",
        "decisions",
        ("v0.18.0",),
        "quota without any flavor, of a workload that requests nothing that is covered, must pass all checks of its "
        "queue; since then it needs none and is admitted at once",
        "pkg/workload/workload.go:admissionChecksForAdmission (#10890)",
    ),
    Rule(
        "scan_stops_at_first_missing_resource",
        "texts",
        ("v0.18.4",),
        "the look at a flavor ends with the first resource that it lacks, in the random order of a Go map: which one "
        "is named changes from run to run; since then all that lack are named",
        "pkg/scheduler/flavorassigner/flavorassigner.go:findFlavorForPodSets (#13327, #13503)",
    ),
    Rule(
        "flavors_without_candidates_compete",
        "decisions",
        ("v0.18.5", "v0.19.1"),
        "with preference PreemptionOverBorrowing, a flavor where preemption finds nobody wins over one that fits by "
        "borrowing; since then it comes last",
        "pkg/scheduler/flavorassigner/flavorassigner.go:isPreferred (#13616)",
    ),
    Rule(
        "label_keys_of_whole_group",
        "decisions",
        ("v0.17.6", "v0.18.2"),
        "node selectors and affinity count for the labels that any flavor of the group has, so that a flavor without a "
        "label does not do where it is asked for; since then only a flavor's own labels count",
        "pkg/scheduler/flavorassigner/flavorassigner.go:flavorSelector (#12449)",
    ),
    Rule(
        "preemption_counts_pods",
        "decisions",
        ("v0.18.5", "v0.19.1"),
        "in a ClusterQueue with quota for pods, victims must make room for the pods of the preemptor, too; since then "
        "for what its containers request alone",
        "pkg/scheduler/flavorassigner/flavorassigner.go:assignFlavors,TotalRequestsFor (#13503)",
    ),
    Rule(
        "zero_shares_do_not_borrow",
        "decisions",
        ("v0.17.0",),
        "with fair sharing, a ClusterQueue or Cohort that borrows what counts for no share, as nothing of it may be "
        "lent, gives no workload up; since then it does",
        "pkg/scheduler/preemption/fairsharing/ordering.go:nextTarget",
    ),
    Rule(
        "usage_in_thousandths",
        "decisions",
        ("v0.18.5",),
        "admission fair sharing keeps what LocalQueues consumed in whole thousandths, so that it drifts; since then in "
        "billionths",
        "pkg/util/resource/resource.go:MulByFloat (#13621)",
    ),
    Rule(
        "pooled_entry_penalties",
        "decisions",
        ("v0.18.6",),
        "entry penalties are one sum a LocalQueue: pushed in every ClusterQueue, for all pods and with the resource "
        "pods, taken back for what was admitted, and never with admission checks; since then kept by workload",
        "pkg/cache/queue/afs/entry_penalties.go (#12786, #13844, #14153)",
    ),
    Rule(
        "pooled_penalties_stay",
        "decisions",
        ("v0.16.0",),
        "a sum of entry penalties that has come down to nothing still counts as pending, so that usage is sampled at "
        "every look",
        "pkg/cache/queue/afs/entry_penalties.go:Sub",
    ),
    Rule(
        "usage_starts_from_admitted",
        "decisions",
        ("v0.17.0",),
        "a LocalQueue's consumed usage starts from what its workloads use then, whatever its status says; since then "
        "from the status",
        "pkg/controller/core/localqueue_controller.go:initializeAfsIfNeeded (#12783)",
    ),
    Rule(
        "check_evictions_name_no_state",
        "texts",
        ("v0.18.0",),
        'an eviction by a check says "At least one admission check is false"; since then which check is in which state',
        "pkg/controller/core/workload_controller.go:reconcileCheckBasedEviction (#10623)",
    ),
    Rule(
        "nomination_texts_of_v0_17",
        "texts",
        ("v0.18.5",),
        'the text of a namespace that does not match begins with a capital, and one that is missing "could not be '
        'obtained"',
        "pkg/scheduler/scheduler.go:nominate",
    ),
    Rule(
        "topology_faults_pass",
        "decisions",
        ("v0.17.5", "v0.18.1"),
        "a pod set that asks for a topology, and whose resources got no flavor with one or several of them, is "
        "admitted all the same, without a place; since then it is not admitted",
        "pkg/scheduler/flavorassigner/tas_flavorassigner.go:WorkloadsTopologyRequests (#12055)",
    ),
    Rule(
        "topology_usage_by_quota",
        "decisions",
        ("v0.17.5", "v0.18.1"),
        "pods take of their nodes what quota counts of them, and within a cycle that once for each resource, so that "
        "two workloads that fit on one node do not get it in one cycle; since then what their templates request",
        "pkg/scheduler/flavorassigner/flavorassigner.go:ComputeTASNetUsage, pkg/workload/workload.go:"
        "totalRequestsFromAdmission (#12006)",
    ),
    Rule(
        "moved_pods_are_uncounted",
        "decisions",
        ("v0.18.6", "v0.19.2"),
        "pods that go to another node because theirs failed take no room there within the cycle that moves them; since "
        "then they do",
        "pkg/scheduler/flavorassigner/flavorassigner.go:ComputeTASNetUsage (#14572)",
    ),
    Rule(
        "earlier_pod_sets_take_no_slot",
        "decisions",
        ("v0.16.9", "v0.17.0"),
        "the pods of a workload's earlier pod sets do not count among those that a node can take while later ones are "
        "placed; since then they do",
        "pkg/util/tas/tas_assignment.go:ComputeUsagePerDomain (#8580)",
    ),
    Rule(
        "pod_sets_without_requests_inherit_nothing",
        "decisions",
        ("v0.18.5", "v0.19.1"),
        "a pod set of a group that requests nothing that is covered gets no flavor, and so no place; since then the "
        "flavor of its group that has a topology",
        "pkg/scheduler/flavorassigner/flavorassigner.go:resolvePodSetFlavors (#12562)",
    ),
    Rule(
        "devices_by_count_only",
        "decisions",
        ("v0.18.0",),
        "with the gate DynamicResourceAllocation, templates with constraints, config, selectors or adminAccess are "
        "refused, and ResourceSlices are not read; since then selectors are matched with the devices of the cluster",
        "pkg/dra/claims.go:countDevicesPerClass",
    ),
    Rule(
        "device_admin_access_refused",
        "decisions",
        ("v0.20.0",),
        "a template with adminAccess is refused; since then its devices count nothing",
        "pkg/dra/claims.go:countDevicesPerClass",
    ),
)
"""Every rule; a release has all that a newer one has."""


_RANDOM = (
    "which of several lacking resources a text names, how far the search through flavors got, and so, seldom, whether "
    "a workload becomes inadmissible: pod sets' requests are walked in the random order of a Go map until v0.18.4"
)
_PANIC = (
    "with fair sharing, a ClusterQueue without a cohort whose own candidates make no room: the scheduler panics until "
    "v0.18.0 (pkg/scheduler/preemption/fairsharing/ordering.go:Iter, #10891); here there are no victims, and it waits"
)
_SECOND_PASSES = (
    "waitForPodsReady.blockAdmission and a workload's second pass for its topology: until v0.18.4 the pass waits as "
    "well, unsets the workload's own reservation, and so races with the controller that puts it back into its queue "
    "(pkg/scheduler/scheduler.go:waitForPodsReadyIfBlocked, #13685); here it does not wait, as since then"
)


def open_answers(release: Release) -> tuple[str, ...]:
    """Where a release answers at random, or does not answer: what is given here is one answer, or the next release's.

    >>> len(open_answers(RELEASES[0])), open_answers(RELEASES[-1])
    (3, ())
    """
    return (_RANDOM, _PANIC, _SECOND_PASSES) if release < release_of("v0.18") else ()


def rules_of(release: Release) -> tuple[Rule, ...]:
    """The rules that hold in a release; none in the present one."""
    return tuple(rule for rule in RULES if rule.holds_in(release))


assert not rules_of(RELEASES[-1]), "the present release differs from itself"
