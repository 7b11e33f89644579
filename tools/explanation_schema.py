"""Print the JSON Schema of explanations, from the facts of each kind of cause and of each root cause.

`python tools/explanation_schema.py > docs/_static/kueuepy.explain.v1.schema.json` updates the copy for other programs.

Amounts are integers in base units: millicores for cpu, bytes for memory, and units for other resources. `None` (`null`
in JSON) means unlimited. Times are nanoseconds since 1970-01-01 in UTC.
"""

import json
import sys
from collections.abc import Iterable
from inspect import cleandoc
from typing import Annotated, Any, Literal, TypeAlias, TypedDict

import msgspec
from msgspec import Meta

from kueuepy.engine.decisions import PreemptionReason
from kueuepy.engine.facts import Amount, ComparisonView, NodeView, Precedence, QuotaUserView, ShareView
from kueuepy.engine.places import DomainView, PlaceFactsView
from kueuepy.explain.explanation import SCHEMA
from kueuepy.explain.placewords import NewNodes
from kueuepy.objects.status import CheckState

Key: TypeAlias = Annotated[str, Meta(description="The key of a workload, namespace/name.")]
Nanoseconds: TypeAlias = Annotated[int, Meta(description="Nanoseconds since 1970-01-01 in UTC.")]
Seconds: TypeAlias = Annotated[float, Meta(description="A duration in seconds.")]
Pods: TypeAlias = Annotated[int, Meta(description="A number of pods.")]
Limit: TypeAlias = Annotated[
    Literal["quota", "borrowingLimit"], Meta(description="Whether the quota or the borrowingLimit is too small.")
]


class NoFacts(TypedDict):
    """A cause without facts; its text contains all information."""


class OfWorkload(TypedDict):
    """A workload."""

    workload: Key


class OfResource(TypedDict):
    """A resource."""

    resource: str


class OfFlavor(TypedDict):
    """A flavor; the text is Kueue's message."""

    flavor: str


class OfReason(TypedDict):
    """A reason of Kueue; the text is Kueue's message."""

    reason: str


class Flavor(TypedDict):
    """The result for a flavor and a pod set. `mode` is the result of the quota check, without the topology check."""

    flavor: str
    mode: str
    borrowing_level: int
    reason: str
    tried: bool
    chosen: bool


class Shortage(TypedDict):
    """A node whose quota or borrowingLimit is too small, and the missing amount."""

    node: str
    limit: Limit
    amount: Amount


class _Resource(TypedDict):
    flavor: str
    resource: str
    asked: Amount
    before: Amount
    available: Amount
    potential: Amount
    where: str
    limit: Limit
    missing: Amount


class Resource(_Resource, total=False):
    """A request for one flavor and resource, compared with quota and limits.

    `asked` includes `before`, the requests of other pod sets. `potential` is the largest amount that can ever be
    available, and `where` is the ClusterQueue or Cohort whose limit is binding. An insufficient resource has
    `shortages`, in the order of the path to the root.
    """

    shortages: list[Shortage]


class Node(NodeView):
    """A ClusterQueue or Cohort on the path to the root; `binds` is true for the node whose limit is binding."""

    binds: bool


class Workloads(TypedDict):
    """Workloads such that the end of any one of them would free enough quota."""

    workloads: list[Key]


class Counts(TypedDict):
    """The number of preemption candidates with each verdict."""

    counts: dict[str, int]


class Candidate(TypedDict):
    """A preemption candidate, and whether it is preempted; `leaving` means that it is already evicted."""

    workload: Key
    cluster_queue: str
    verdict: str
    reason: PreemptionReason | None
    leaving: bool
    priority: int


class Candidates(TypedDict):
    """Several preemption candidates of one queue with the same verdict."""

    verdict: str
    cluster_queue: str
    workloads: list[Key]


class Position(TypedDict):
    """The number of workloads ahead of this workload in its ClusterQueue."""

    position: Annotated[int, Meta(ge=0)]


class Ahead(TypedDict):
    """Workloads that are ahead of this workload in its ClusterQueue, and the rule that puts them there."""

    rule: Precedence
    workloads: list[Key]


class PodSet(TypedDict):
    """A pod set."""

    name: str
    count: Pods


class Held(TypedDict):
    """Quota that the workload holds, and the amount that its queue borrows."""

    flavor: str
    resource: str
    amount: Amount
    borrowed: Amount


class EarlierFlavor(TypedDict):
    """A flavor that was evaluated before the assigned one."""

    flavor: str
    mode: str


class Check(TypedDict):
    """The state of an admission check."""

    name: str
    state: CheckState


class PreemptedBy(TypedDict):
    """The preemptor; empty if it no longer exists."""

    workload: str
    reason: str


class Increase(Shortage):
    """A quota or borrowingLimit to increase."""

    resource: str


class Remedy(TypedDict, total=False):
    """A change that removes an obstacle to admission, and the flavor or resource concerned, if any.

    A remedy for a flavor has `tolerations` (key, value and effect), which the pods need, quotas and limits to increase,
    and `finish`, workloads of which any one must finish, or `nodes` to add. `complete` means that the workload fits
    after these changes.
    """

    flavor: str
    resource: str
    tolerations: list[tuple[str, str, str]]
    increases: list[Increase]
    finish: list[Key]
    nodes: NewNodes | None
    complete: bool


class RemedyFor(TypedDict):
    """A part of a request that does not fit; the causes below it are alternative changes after which it would fit."""

    pod_set: str
    resources: list[str]


class BackOff(TypedDict):
    """The end of the back-off after an eviction, and the remaining time."""

    until: Nanoseconds
    seconds: Seconds


class Release(TypedDict):
    """The latest possible end of a workload that holds enough quota, and the remaining time."""

    workload: Key
    at: Nanoseconds
    seconds: Seconds


class FewerPods(TypedDict):
    """The minimum number of pods of a pod set that can start with fewer pods."""

    pod_set: str
    min_count: Pods
    count: Pods


class Domains(TypedDict):
    """The number of domains of a level that are not listed."""

    level: str
    count: int


class Place(TypedDict):
    """The topology assignment of a pod set: for each domain, the values of its levels and its number of pods."""

    pod_set: str
    levels: list[str]
    domains: list[tuple[list[str], Pods]]


FACTS: dict[str, type] = {
    "ahead": Ahead,
    "backoff": BackOff,
    "behind": OfWorkload,
    "candidate": Candidate,
    "candidates": Candidates,
    "check": Check,
    "comparison": ComparisonView,
    "domain": DomainView,
    "domains": Domains,
    "earlier_flavor": EarlierFlavor,
    "eligibility": OfFlavor,
    "eviction": OfReason,
    "fewer_pods": FewerPods,
    "finished": OfReason,
    "flavor": Flavor,
    "held": Held,
    "holder": QuotaUserView,
    "inactive": OfReason,
    "lender": QuotaUserView,
    "more_candidates": Counts,
    "no_preemption": NoFacts,
    "node": Node,
    "obstacle": OfReason,
    "place": Place,
    "pod_set": PodSet,
    "pool": NodeView,
    "position": Position,
    "preempted_by": PreemptedBy,
    "preemption": Counts,
    "release": Release,
    "remedies": NoFacts,
    "remedy": Remedy,
    "remedy_for": RemedyFor,
    "resource": Resource,
    "search_continues": NoFacts,
    "untried": NoFacts,
    "share": ShareView,
    "sufficient_alone": Workloads,
    "topology": PlaceFactsView,
    "undeclared": OfResource,
}
"""The facts of each kind of cause."""


class QuotaExceeded(TypedDict):
    """The request needs `missing` more of a resource than is available now.

    `node` is the ClusterQueue or Cohort whose quota or borrowingLimit is binding.
    """

    pod_set: str
    flavor: str
    resource: str
    requested: Amount
    available: Amount
    missing: Amount
    node: str
    limit: Limit


class NeverFits(TypedDict):
    """The request exceeds the `maximum` that the quotas and limits can ever provide."""

    pod_set: str
    flavor: str
    resource: str
    requested: Amount
    maximum: Amount


class NoMatchingFlavor(TypedDict):
    """No flavor can be assigned because of taints, node labels or topology, or because no flavor provides a resource.

    `resources` lists the resources that no flavor provides, and `messages` contains Kueue's messages by flavor.
    """

    pod_set: str
    resources: list[str]
    messages: dict[str, str]


class TopologyNoFit(TypedDict):
    """The quota is sufficient, but no domain of the topology has capacity for all pods.

    `fits` is the number of pods that would fit now, and `fits_if_empty` the number that would fit without other
    workloads; both are null if the topology does not support the request.
    """

    pod_set: str
    flavor: str
    topology: str
    requested: Pods
    fits: Pods | None
    fits_if_empty: Pods | None


class QueueInactive(TypedDict):
    """The LocalQueue or ClusterQueue does not exist, or is stopped or inactive.

    `inactivity` lists the reasons why a ClusterQueue is inactive.
    """

    kind: Literal["LocalQueueMissing", "LocalQueueStopped", "ClusterQueueMissing", "ClusterQueueInactive"]
    queue: str
    reason: str
    inactivity: list[str]


class NamespaceNotSelected(TypedDict):
    """The namespaceSelector of the ClusterQueue does not match the namespace, or the namespace does not exist."""

    namespace: str
    cluster_queue: str


class Checks(TypedDict):
    """The admission checks that are not Ready."""

    checks: list[Check]


class BehindInQueue(TypedDict):
    """Other workloads in the same ClusterQueue are considered first; `head` is the head of a StrictFIFO queue."""

    cluster_queue: str
    position: int | None
    head: str | None


class Preemption(TypedDict):
    """The workloads that must stop first; `count` is their number."""

    workloads: list[Key]
    count: int


ROOT_FACTS: dict[str, type] = {
    "QuotaExceeded": QuotaExceeded,
    "NeverFits": NeverFits,
    "NoMatchingFlavor": NoMatchingFlavor,
    "QueueInactive": QueueInactive,
    "NamespaceNotSelected": NamespaceNotSelected,
    "CheckPending": Checks,
    "TopologyNoFit": TopologyNoFit,
    "BehindInQueue": BehindInQueue,
    "WaitingForPreemption": Preemption,
    "NotModelled": OfReason,
    "Deactivated": OfReason,
    "AdmissionGated": OfReason,
    "OnHold": OfReason,
    "WaitingForPodsReady": OfReason,
    "BackOff": BackOff,
    "InvalidWorkload": OfReason,
    "SearchContinues": OfReason,
}
"""The facts of each root cause."""

_VERDICTS = ("Fits", "Preempting", "Pending", "Admitted", "QuotaReserved", "Evicted", "Finished")
_TEXT = {"type": "string"}


def schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of `Explanation.to_dict` and of `kueuepy explain --json`."""
    kinds, roots = tuple(FACTS.values()), tuple(ROOT_FACTS.values())
    described, parts = msgspec.json.schema_components((*kinds, *roots), ref_template="#/$defs/{name}")
    facts, root_facts = described[: len(kinds)], described[len(kinds) :]
    causes = {"type": "array", "items": {"$ref": "#/$defs/cause"}}
    parts["cause"] = _by("kind", FACTS, facts, {"causes": causes})
    parts["root_cause"] = _by("code", ROOT_FACTS, root_facts, {})
    _finish(parts)
    found: dict[str, Any] = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": SCHEMA,
        "description": "Why a workload is pending, admitted, evicted or finished. Amounts are integers in base units: "
        "thousandths for cpu, bytes for memory, and units for other resources; null is unlimited. Within this version, "
        "fields, kinds and codes are only added.",
        **_object(
            {
                "schema": {"const": SCHEMA},
                "workload": {**_TEXT, "description": "The key of the workload, namespace/name."},
                "cluster_queue": {**_TEXT, "description": "Its ClusterQueue; empty if it has none."},
                "verdict": {"enum": list(_VERDICTS)},
                "reason": {**_TEXT, "description": "Kueue's reason from an evaluation now."},
                "message": {**_TEXT, "description": "Kueue's message for the reason."},
                "written": {
                    "type": "array",
                    "prefixItems": [_TEXT, _TEXT],
                    "minItems": 2,
                    "maxItems": 2,
                    "description": "Reason and message of the current condition QuotaReserved.",
                },
                "causes": causes,
                "root_cause": {
                    "anyOf": [{"$ref": "#/$defs/root_cause"}, {"type": "null"}],
                    "description": "The cause that decides why the workload does not run; null if it runs, is evicted "
                    "or finished, or if the next cycle would admit it.",
                },
            }
        ),
        "$defs": parts,
    }
    found["properties"]["not_modelled"] = {
        "type": "array",
        "items": _TEXT,
        "description": "Parts of the input that kueuepy does not model and that could change the state.",
    }
    return found


def _by(name: str, values: Iterable[str], facts: Iterable[dict[str, Any]], others: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of an object whose facts depend on the value of one field."""
    kinds = [
        {"if": {"properties": {name: {"const": value}}}, "then": {"properties": {"facts": found}}}
        for value, found in zip(values, facts, strict=True)
    ]
    return {
        **_object({name: {"enum": list(values)}, "text": _TEXT, "facts": {"type": "object"}, **others}),
        "allOf": kinds,
    }


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)}


def _finish(found: Any) -> None:
    """Allow an infinity, written as a string, in place of each number, and remove the indentation of descriptions."""
    if isinstance(found, dict) and isinstance(text := found.get("description"), str):
        # Python 3.13 removes the indentation of docstrings, older versions do not.
        found["description"] = cleandoc(text)
    for inner in found.values() if isinstance(found, dict) else found if isinstance(found, list) else ():
        if isinstance(inner, dict) and inner.get("type") == "number":
            del inner["type"]
            inner["anyOf"] = [{"type": "number"}, {"enum": ["+Inf", "-Inf"]}]
        else:
            _finish(inner)


if __name__ == "__main__":
    sys.stdout.write(json.dumps(schema(), indent=2) + "\n")
