"""Sentences that explain topology placement.

Conversion of the core's facts about a topology to causes: the domain tree, and the reasons for rejected domains.
"""

from collections.abc import Sequence
from typing import TypedDict

from kueuepy.engine.places import DomainView, Exclusion, PlaceFactsView
from kueuepy.engine.records import AdmissionView
from kueuepy.errors import counted, first_of
from kueuepy.explain.cause import Cause
from kueuepy.explain.cause import cause as _cause

MOST_SHOWN = 5
"""Maximum number of listed domains of one parent; the facts of the cause `topology` contain all domains."""


def placement_cause(facts: PlaceFactsView) -> Cause:
    """Return whether the pods fit into the topology; if not, the causes include the tree of its domains."""
    shown = facts["failure"] is not None
    return _cause("topology", placement(facts), facts, _below((), facts) if shown else ())


def _below(above: tuple[str, ...], facts: PlaceFactsView) -> list[Cause]:
    """Return the child domains of a domain, recursively down to the requested level."""
    depth = len(above)
    if depth == len(facts["levels"]):
        return []
    level = facts["levels"][depth]
    found = [one for one in facts["domains"] if len(one["values"]) == depth + 1 and one["values"][:depth] == above]
    causes = [_cause("domain", domain(one, facts), one, _below(one["values"], facts)) for one in found[:MOST_SHOWN]]
    hidden = found[MOST_SHOWN:]
    # At the top level, the core lists the best domains only and counts the others.
    count = len(hidden) + (facts["domain_counts"][depth] - len(found) if depth == 0 else 0)
    if not count:
        return causes
    return [*causes, _cause("domains", others(hidden, level, count), {"level": level, "count": count})]


def held_placements(admission: AdmissionView | None) -> tuple[Cause, ...]:
    """Return the topology assignment of an admitted workload."""
    return tuple(
        _cause("place", held(one.name, *place), {"pod_set": one.name, "levels": place[0], "domains": place[1]})
        for one in (admission.pod_sets if admission is not None else ())
        if (place := one.place) is not None
    )


_MOST_LISTED = 8  # domains
_MOST_ABSENT = 3  # nodes


def is_missing(facts: PlaceFactsView | None) -> bool:
    """Return whether the pods need a topology assignment and do not fit."""
    return facts is not None and facts["failure"] is not None


def asked(facts: PlaceFactsView) -> str:
    """Describe the topology request of a pod set."""
    leader = " and their leader" if facts["has_leader"] else ""
    text = f"{counted(facts['count'], 'pod')}{leader} {_where(facts)}"
    if facts["slice_size"] > 1:
        text += f", in slices of {facts['slice_size']} within one {facts['slice_level']} each"
    return text


def _where(facts: PlaceFactsView) -> str:
    mode, level = facts["mode"], facts["level"]
    if mode == "required":
        return f"in one {level}"
    return f"preferably in one {level}" if mode == "preferred" else "on any of its nodes"


def placement(facts: PlaceFactsView) -> str:
    """Describe whether all pods fit into the topology, the number of pods that fit, and the nodes that are left out."""
    absent = [f"{name} ({why})" for name, why in facts["absent"]] if facts["failure"] is not None else []
    return _fits(facts) + (f"; left out: {first_of(absent, _MOST_ABSENT)}" if absent else "")


def _fits(facts: PlaceFactsView) -> str:
    name = f"topology {facts['topology']}: {asked(facts)}"
    if not facts["resolved"]:
        return f"{name}: its levels, {', '.join(facts['levels'])}, do not support the request"
    if facts["failure"] is None:
        return f"{name}: fits; up to {counted(facts['largest'], 'pod')} would fit"
    if not facts["domains"]:
        return f"{name}: it has no nodes"
    most = f"at most {facts['largest']} fit" if facts["largest"] else "not even one fits"
    # The workers alone would fit.
    if facts["largest"] >= facts["count"]:
        most = "the leader and the workers do not fit together"
    if facts["failure_if_empty"] is None:
        return f"{name}: {most}; all would fit without other workloads"
    return f"{name}: {most}, {_even(facts)}"


def _even(facts: PlaceFactsView) -> str:
    if facts["largest_if_empty"] == facts["largest"]:
        return "even without other workloads"
    return f"and {facts['largest_if_empty']} would fit without other workloads"


def domain(facts: DomainView, of: PlaceFactsView) -> str:
    """Describe how many pods fit into a domain, and which nodes are excluded."""
    text = f"{'/'.join(facts['values'])}: {facts['pods']} of {counted(of['count'], 'pod')} fit"
    if facts["pods_if_empty"] > facts["pods"]:
        text += f", {facts['pods_if_empty']} without other workloads"
    text += f"; {excluded(facts['excluded'], facts['nodes'])}" if facts["excluded"] else ""
    held = ", ".join(facts["unmanaged"])
    return text + (f"; held by pods that Kueue does not manage: {held}" if held else "")


def excluded(reasons: Sequence[Exclusion], nodes: int) -> str:
    """Describe the nodes on which no pod fits, grouped by the first reason for exclusion."""
    if nodes == 1:
        return _reason(*reasons[0][:2], one=True)
    parts = [(count, _reason(kind, name, one=count == 1)) for kind, name, count in reasons]
    (first, what), *rest = parts
    return ", ".join((f"{first} of {nodes} nodes {what}", *(f"{count} {text}" for count, text in rest)))


def _reason(kind: str, name: str, *, one: bool) -> str:
    has, does = ("has", "does") if one else ("have", "do")
    if kind == "taint":
        return f"{has} the taint {name}, which the pods do not tolerate"
    if kind == "resource":
        return f"{has} too little {name} for a pod"
    return f"{does} not match the node {'selector' if kind == 'nodeSelector' else 'affinity'}"


def others(rest: Sequence[DomainView], level: str, count: int) -> str:
    """Summarise the domains that are not listed."""
    most = max((one["pods"] for one in rest), default=0)
    return f"and {count} more of level {level}; {f'at most {most} pods' if most else 'no pods'} fit into each"


class NewNodes(TypedDict):
    """Nodes after whose addition all pods would fit.

    Attributes:
        count: The number of nodes.
        pods: The number of pods for which each node has capacity.
        domain: The values of the domain to which the nodes belong; empty for any domain of the topology.
    """

    count: int
    pods: int
    domain: tuple[str, ...]


def new_nodes(facts: PlaceFactsView) -> NewNodes | None:
    """Return nodes after whose addition all pods would fit; `None` if their number is unknown."""
    nearest, missing, most = facts["nearest"] or (), facts["count"] - facts["largest"], facts["most_on_a_node"]
    if not facts["resolved"] or missing <= 0 or not most:
        return None
    if len(nearest) == len(facts["levels"]):  # a new node is a new domain, which must hold all pods
        return NewNodes(count=1, pods=facts["count"], domain=nearest[:-1])
    count = -(-missing // most)
    return NewNodes(count=count, pods=most if count > 1 else missing, domain=nearest)


def remedy(facts: PlaceFactsView) -> str:
    """Describe the changes after which all pods would fit."""
    if not facts["resolved"]:
        return f"the pods requested a level of topology {facts['topology']}: {', '.join(facts['levels'])}"
    topology = f"topology {facts['topology']}"
    where = "/".join(facts["nearest"] or ()) or topology
    ways = [f"{_either(facts['sufficient_alone'])} finished"] if facts["sufficient_alone"] else []
    if nodes := new_nodes(facts):
        new, was = ("a node", "was") if nodes["count"] == 1 else (f"{nodes['count']} nodes", "were")
        room = f"{counted(nodes['pods'], 'pod')}{' each' if nodes['count'] > 1 else ''}"
        ways.append(f"{new} with capacity for {room} {was} added to {'/'.join(nodes['domain']) or topology}")
    elif facts["count"] <= facts["largest"]:
        ways.append(f"a node with capacity for the leader and {counted(facts['count'], 'pod')} was added to {where}")
    else:
        # A new node of the lowest level is a new domain.
        above = (facts["nearest"] or ())[: len(facts["levels"]) - 1]
        ways.append(f"nodes with capacity for a pod were added to {'/'.join(above) or topology}")
        taints = [name for one in facts["domains"] for kind, name, _ in one["excluded"] if kind == "taint"]
        ways += [f"the pods tolerated {name}" for name in dict.fromkeys(taints)]
    pods = [pod for one in facts["domains"] for pod in one["unmanaged"]]
    ways += [f"{pod} ended" for pod in dict.fromkeys(pods[:_MOST_ABSENT])]
    cordoned = [name for name, left_out in facts["absent"] if left_out == "unschedulable"]
    ways += [f"{name} was schedulable again" for name in cordoned[:_MOST_ABSENT]]
    return ", or ".join(ways)


def _either(workloads: Sequence[str]) -> str:
    return f"one of {', '.join(workloads)}" if workloads[1:] else workloads[0]


def held(name: str, levels: Sequence[str], domains: Sequence[tuple[tuple[str, ...], int]]) -> str:
    """Describe the topology assignment of a pod set."""
    listed = first_of([f"{'/'.join(values)}: {count}" for values, count in domains], _MOST_LISTED)
    return f"pod set {name} is on {listed or f'no {levels[-1]}'}"
