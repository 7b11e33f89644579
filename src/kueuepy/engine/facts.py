"""Types of the dicts and tuples in which the engine returns facts about workloads, with the fields of `_core.RECORDS`.

Amounts are integers, in millicores for cpu and in base units for all other resources. `None` means unlimited; amounts
of 2^63 - 1 and sums that exceed it are also unlimited.
"""

from typing import Literal, NamedTuple, TypeAlias, TypedDict

from kueuepy.engine.decisions import PreemptionReason
from kueuepy.engine.places import PlaceFactsView

Amount: TypeAlias = int | None
"""An amount of a resource; `None` means unlimited."""

Precedence: TypeAlias = Literal["Usage", "Preemptor", "Priority", "Time", "Uid"]
"""The rule by which a workload is ahead of another one: the past usage of its LocalQueue, that it has preempted
workloads for which it waits, its priority, its queue time or its UID."""

_UNLIMITED, _LEAST = 2**63 - 1, -(2**63)


class NodeView(TypedDict):
    """A node on the path from a queue to its root, for one flavor and resource."""

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
    """The quota and usage of a node for one flavor and resource.

    The node is a queue of the cohort tree, or a Cohort with its own quota or limit. `meets` is the lowest common
    ancestor of this node and the examined queue. The `nominal` of a Cohort includes the quotas of its descendants.
    """

    name: str
    kind: Literal["ClusterQueue", "Cohort"]
    meets: str
    nominal: Amount
    usage: Amount
    borrowed: Amount
    lends: Amount


class CellView(TypedDict):
    """A request for one flavor and resource, compared with quota and limits."""

    flavor: str
    resource: str
    before: Amount
    asked: Amount
    available: Amount
    potential: Amount
    short: bool
    where: str
    limit: Literal["quota", "borrowingLimit"]
    missing: Amount
    shortages: "list[Shortage]"
    may_preempt: bool
    path: list[NodeView]
    quota_users: list[QuotaUserView]
    sufficient_alone: list[str]


class RefusalView(TypedDict):
    """A reason why a flavor cannot be assigned; `taint` contains the key, value and effect of an untolerated taint."""

    kind: str
    message: str
    taint: tuple[str, str, str] | None


class FlavorView(TypedDict):
    """The result for a flavor and a pod set. `mode` is `None` if no cycle evaluated the flavor."""

    flavor: str
    resource_group: int
    chosen: bool
    mode: str | None
    borrowing_level: int
    reason: str
    ineligible: list[RefusalView]
    cells: list[CellView]
    place: PlaceFactsView | None


class PodSetView(TypedDict):
    """The requests of a pod set, and the result for each flavor."""

    name: str
    count: int
    requests: dict[str, Amount]
    undeclared: list[str]
    flavors: list[FlavorView]


class ComparisonView(TypedDict):
    """A comparison of two shares by a fair sharing strategy."""

    strategy: Literal["LessThanOrEqualToFinalShare", "LessThanInitialShare"]
    ours: str
    theirs: str
    our_share: float
    their_share: float
    final_share: float
    holds: bool


class CandidateView(TypedDict):
    """A workload that holds a contested resource, and whether it is preempted.

    `leaving` means that the workload is already evicted.
    """

    workload: str
    cluster_queue: str
    verdict: str
    reason: PreemptionReason | None
    leaving: bool
    priority: int
    holds: dict[tuple[str, str], Amount]
    comparisons: list[ComparisonView]


class ShareView(TypedDict):
    """A dominant resource share, and the values from which it is computed."""

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
    """The reason why a workload is never considered; `queue` is the LocalQueue or ClusterQueue that causes it."""

    kind: str
    queue: str
    reason: str
    message: str


class InactivityView(TypedDict):
    """The reasons why a ClusterQueue is inactive: its condition Active, and the causes with the objects concerned."""

    reason: str
    message: str
    causes: list[tuple[str, list[str]]]


class FactsView(TypedDict):
    """The facts that explain the state of one workload.

    `position` is the number of workloads ahead of this workload in its ClusterQueue, or `None` if it is not queued.
    `ahead` lists at most ten of them, in queue order, with the rule by which each is ahead. `goes_on` is true if the
    next cycle continues after the last evaluated flavor, and would therefore decide differently from a complete flavor
    search.
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
    ahead: list[tuple[str, Precedence]]
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
    """A node whose quota or borrowingLimit is too small for a request, and the missing amount."""

    node: str
    limit: Literal["quota", "borrowingLimit"]
    amount: Amount


def number(amount: Amount) -> int:
    """Return an amount as a comparable number; an unlimited amount is the largest number.

    >>> number(3), number(None) > 2**62
    (3, True)
    """
    return _UNLIMITED if amount is None else amount


def less(amount: Amount, by: Amount) -> Amount:
    """Return the difference of two amounts.

    Source: `pkg/resources/amount.go:Sub`.

    >>> less(5, 3), less(None, 3), less(None, None), less(3, None), less(2**62, -(2**62))
    (2, None, 0, -9223372036854775808, None)
    """
    if amount is None:
        return 0 if by is None else None
    # Within 64 bits, as the core subtracts; a result beyond them is unlimited.
    found = _LEAST if by is None else max(_LEAST, amount - by)
    return found if found < _UNLIMITED else None


def positive(amount: Amount) -> Amount:
    """Return the amount, or 0 if it is negative."""
    return None if amount is None else max(0, amount)
