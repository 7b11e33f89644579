"""The shapes of what the core hands over: dicts and tuples, named here once for the stub and for those who read them.

Amounts are integers, thousandths for cpu and units for everything else; `None` is unlimited.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias, TypedDict

from kueuepy.decision_kinds import FlavorMode, PendingReason, PreemptionReason
from kueuepy.objects.status import CheckState

ConditionView: TypeAlias = tuple[bool, str, str, int]
"""Status, reason, message, time of the last transition."""

PodSetAdmissionView: TypeAlias = tuple[str, int, dict[str, tuple[str, int]]]
"""Name, count, and by resource the flavor and the amount."""

AdmissionView: TypeAlias = tuple[PodSetAdmissionView, ...]

DecisionView: TypeAlias = tuple[
    Literal["Pending", "Preempting", "Admitted"],
    str,
    str,
    PendingReason,
    str,
    bool,
    int,
    AdmissionView | None,
    tuple[tuple[str, PreemptionReason, str], ...],
    tuple[tuple[int, str, FlavorMode, int, str], ...],
]
"""Verdict, workload, ClusterQueue, reason, message, whether admitted, borrowing level, admission, targets, attempts."""

CheckView: TypeAlias = tuple[str, CheckState, str, int, int | None, int | None, str]
"""Name, state, message, time of the last transition, retries, seconds to wait after a retry, updates as JSON."""


class LifeView(TypedDict):
    """What a workload's status says beside its conditions and its admission."""

    checks: list[CheckView]
    requeue_count: int | None
    requeue_at: int | None
    past_execution_seconds: int | None
    reclaimable: dict[str, int]
    pods_ready: bool
    active: bool


class NodeView(TypedDict):
    """One node on the way from a queue to its root, in one cell."""

    name: str
    kind: Literal["ClusterQueue", "Cohort"]
    nominal: int
    subtree: int | None
    usage: int
    guaranteed: int
    borrowing_limit: int | None
    lending_limit: int | None
    available: int | None


class HolderView(TypedDict):
    """What a queue of the tree, or a Cohort with a quota or a limit of its own, has and holds of one cell.

    `meets` is the lowest node that is above both it and the queue in question; the `nominal` of a Cohort is what it
    has with all below it.
    """

    name: str
    kind: Literal["ClusterQueue", "Cohort"]
    meets: str
    nominal: int
    usage: int
    borrowed: int
    lends: int


class CellView(TypedDict):
    """One cell of a request, against what there is."""

    flavor: str
    resource: str
    before: int
    asked: int
    available: int | None
    potential: int | None
    short: bool
    where: str
    limit: Literal["quota", "borrowingLimit"]
    may_preempt: bool
    path: list[NodeView]
    holders: list[HolderView]
    one_would_do: list[str]


class FlavorView(TypedDict):
    """One flavor of a pod set, tried or not."""

    flavor: str
    resource_group: int
    tried: bool
    chosen: bool
    mode: str
    borrowing_level: int
    reason: str
    ineligible: list[str]
    cells: list[CellView]


class PodSetView(TypedDict):
    """What a pod set asks for, and how each flavor did."""

    name: str
    count: int
    requests: dict[str, int]
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
    holds: dict[tuple[str, str], int]
    comparisons: list[ComparisonView]


class ShareView(TypedDict):
    """A dominant resource share, and where it comes from."""

    name: str
    kind: Literal["ClusterQueue", "Cohort"]
    weight: float
    share: float
    rounded: int
    resource: str
    borrowed: int | None
    lendable: int | None
    borrowing: bool


class FactsView(TypedDict):
    """All about one workload."""

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
    holds: bool
    blocked: tuple[str, str]
    inactivity: tuple[str, str] | None
    preemptor: str
    verdict: Literal["Pending", "Preempting", "Admitted"]
    reason: str
    message: str


class Shortage(NamedTuple):
    """A node whose quota or borrowingLimit is too small for a request, and by how much."""

    node: str
    limit: Literal["quota", "borrowingLimit"]
    amount: int


def missing(cell: CellView) -> int:
    """How much would have to become free; more than what is asked for where more is used than there is."""
    free = cell["path"][0]["available"]
    return 0 if free is None else max(0, cell["asked"] - free)


def shortages(cell: CellView) -> list[Shortage]:
    """The nodes, from the queue up, whose quota or borrowingLimit would all have to grow for the request to fit.

    Mirrors `pkg/cache/scheduler/resource_node.go:available`, read backwards.
    """
    found: list[Shortage] = []
    needed = cell["asked"]
    for node, parent in zip(cell["path"], (*cell["path"][1:], None), strict=True):
        if node["subtree"] is None:
            break
        if parent is None:
            short = needed - (node["subtree"] - node["usage"])
            limit: Literal["quota", "borrowingLimit"] = "quota"
        else:
            needed -= max(0, node["guaranteed"] - node["usage"])
            if node["borrowing_limit"] is None:
                continue
            drawn = max(0, node["usage"] - node["guaranteed"])
            short = needed - (node["subtree"] - node["guaranteed"] - drawn + node["borrowing_limit"])
            limit = "borrowingLimit"
        if short > 0:
            found.append(Shortage(node["name"], limit, short))
    return found
