"""The shapes of what the core hands over: dicts and tuples, named here once for the stub and for those who read them.

Amounts are integers, thousandths for cpu and units for everything else; `None` is unlimited, which is also what the
largest numbers and sums of such count as.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, TypedDict

from kueuepy.decisions import FlavorMode, PendingReason, PreemptionReason
from kueuepy.objects.status import CheckState

if TYPE_CHECKING:
    from kueuepy.engine.places import PlaceFactsView

Amount: TypeAlias = int | None
"""So much of a resource; `None` is unlimited."""

_UNLIMITED, _LEAST = 2**63 - 1, -(2**63)

ConditionRecord: TypeAlias = tuple[bool, str, str, int]
"""Status, reason, message, time of the last transition."""

PlaceView: TypeAlias = tuple[tuple[str, ...], tuple[tuple[tuple[str, ...], int], ...]]
"""The levels of a topology assignment, and by domain their values and the pods there."""

PodSetAdmissionRecord: TypeAlias = tuple[
    str, int, dict[str, tuple[str, int]], PlaceView | None, Literal["", "Pending", "Ready"]
]
"""Name, count, flavor and amount by resource; where the pods go, and whether that waits or waited for checks."""

AdmissionRecord: TypeAlias = tuple[PodSetAdmissionRecord, ...]

DecisionRecord: TypeAlias = tuple[
    Literal["Pending", "Preempting", "Admitted"],
    str,
    str,
    PendingReason,
    str,
    bool,
    int,
    AdmissionRecord | None,
    tuple[tuple[str, PreemptionReason, str], ...],
    tuple[tuple[int, str, FlavorMode, int, str], ...],
]
"""Verdict, workload, ClusterQueue, reason, message, whether admitted, borrowing level, admission, targets, attempts."""

CheckRecord: TypeAlias = tuple[str, CheckState, str, int, int | None, int | None, str]
"""Name, state, message, time of the last transition, retries, seconds to wait after a retry, updates as JSON."""


class StatusRecord(TypedDict):
    """What a workload's status says beside its conditions and its admission."""

    checks: list[CheckRecord]
    requeue_count: int | None
    requeue_at: int | None
    past_execution_seconds: int | None
    reclaimable: dict[str, int]
    pods_ready: bool
    active: bool
    unhealthy_nodes: list[str]


class NodeView(TypedDict):
    """One node on the way from a queue to its root, in one cell."""

    name: str
    kind: Literal["ClusterQueue", "Cohort"]
    nominal: Amount
    subtree: Amount
    usage: Amount
    guaranteed: Amount
    borrowing_limit: Amount
    lending_limit: Amount
    available: Amount


class QuotaUserView(TypedDict):
    """What a queue of the tree, or a Cohort with a quota or a limit of its own, has and holds of one cell.

    `meets` is the lowest node that is above both it and the queue in question; the `nominal` of a Cohort is what it
    has with all below it.
    """

    name: str
    kind: Literal["ClusterQueue", "Cohort"]
    meets: str
    nominal: Amount
    usage: Amount
    borrowed: Amount
    lends: Amount


class CellView(TypedDict):
    """One cell of a request, against what there is."""

    flavor: str
    resource: str
    before: Amount
    asked: Amount
    available: Amount
    potential: Amount
    short: bool
    where: str
    limit: Literal["quota", "borrowingLimit"]
    may_preempt: bool
    path: list[NodeView]
    missing: Amount
    shortages: list[Shortage]
    quota_users: list[QuotaUserView]
    sufficient_alone: list[str]


class RefusalView(TypedDict):
    """One thing that keeps pods off a flavor; `taint` is key, value and effect of an untolerated one."""

    kind: Literal[
        "ExceedsCapacity",
        "ShortOfQuota",
        "UndeclaredResource",
        "FlavorNotFound",
        "UntoleratedTaint",
        "NodeAffinity",
        "NotNominated",
        "ReplacedSliceFlavor",
        "TopologyRequired",
        "TopologyUnsupported",
        "InvalidSelector",
        "TopologyUnknown",
        "TopologyLevelMissing",
        "Placement",
        "NoTopologyFlavor",
        "ManyTopologyFlavors",
        "NoTopologyInformation",
        "ElasticRequiredTopology",
        "ElasticPreferredTopology",
    ]
    message: str
    taint: tuple[str, str, str] | None


class FlavorView(TypedDict):
    """One flavor of a pod set, tried or not."""

    flavor: str
    resource_group: int
    tried: bool
    chosen: bool
    mode: str
    borrowing_level: int
    reason: str
    ineligible: list[RefusalView]
    cells: list[CellView]
    place: PlaceFactsView | None


class PodSetView(TypedDict):
    """What a pod set asks for, and how each flavor did."""

    name: str
    count: int
    requests: dict[str, Amount]
    undeclared: list[str]
    flavors: list[FlavorView]


class ComparisonView(TypedDict):
    """Two shares, compared by a rule of fair sharing."""

    strategy: Literal["LessThanOrEqualToFinalShare", "LessThanInitialShare"]
    ours: str
    theirs: str
    our_share: float
    their_share: float
    final_share: float
    holds: bool


class CandidateView(TypedDict):
    """A workload that holds what is contested, and why it leaves or stays; `leaving`: it is evicted already."""

    workload: str
    cluster_queue: str
    verdict: str
    reason: PreemptionReason | None
    leaving: bool
    priority: int
    holds: dict[tuple[str, str], Amount]
    comparisons: list[ComparisonView]


class ShareView(TypedDict):
    """A dominant resource share, and where it comes from."""

    name: str
    kind: Literal["ClusterQueue", "Cohort"]
    weight: float
    share: float
    rounded: int
    resource: str
    borrowed: Amount
    lendable: Amount
    borrowing: bool


class ObstacleView(TypedDict):
    """What keeps a workload out of every cycle; `queue` is the LocalQueue or ClusterQueue that does."""

    kind: Literal[
        "Deactivated",
        "LocalQueueMissing",
        "LocalQueueStopped",
        "ClusterQueueMissing",
        "ClusterQueueInactive",
        "Gated",
        "OnHold",
        "PodsReady",
        "DevicesRefused",
        "DevicesUncounted",
    ]
    queue: str
    reason: str
    message: str


class InactivityView(TypedDict):
    """Why a ClusterQueue admits nobody: its condition Active, and the causes, each with what it names."""

    reason: str
    message: str
    causes: list[tuple[str, list[str]]]


class FactsView(TypedDict):
    """All about one workload.

    `position` is how many wait before it in its ClusterQueue, nothing if it does not wait there; `first` the first one
    that waits there, itself included; `goes_on`, whether the next cycle, whose search of flavors goes on where the last
    one stopped, decides otherwise than a search of all flavors.
    """

    workload: str
    cluster_queue: str
    priority: int
    nominated: bool
    pod_sets: list[PodSetView]
    contested: list[tuple[str, str]]
    candidates: list[CandidateView]
    counts: dict[str, int]
    shares: list[ShareView]
    strict_fifo: bool
    position: int | None
    first: str
    holds: bool
    obstacle: ObstacleView | None
    inadmissibility: Literal["", "FailedChecks", "NamespaceMissing", "NamespaceMismatch", "Resources", "LimitRange"]
    inactivity: InactivityView | None
    preemptor: str
    goes_on: bool
    verdict: Literal["Pending", "Preempting", "Admitted"]
    reason: str
    message: str


class Shortage(NamedTuple):
    """A node whose quota or borrowingLimit is too small for a request, and by how much."""

    node: str
    limit: Literal["quota", "borrowingLimit"]
    amount: Amount


def number(amount: Amount) -> int:
    """An amount as a number that can be compared: unlimited is the largest.

    >>> number(3), number(None) > 2**62
    (3, True)
    """
    return _UNLIMITED if amount is None else amount


def less(amount: Amount, by: Amount) -> Amount:
    """One amount without another.

    Source: `pkg/resources/amount.go:Sub`.

    >>> less(5, 3), less(None, 3), less(None, None), less(3, None), less(2**62, -(2**62))
    (2, None, 0, -9223372036854775808, None)
    """
    if amount is None:
        return 0 if by is None else None
    found = _LEAST if by is None else max(_LEAST, amount - by)
    return found if found < _UNLIMITED else None


def positive(amount: Amount) -> Amount:
    """The amount, or 0 if it is less."""
    return None if amount is None else max(0, amount)
