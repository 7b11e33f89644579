"""Conversion of the core's facts about a topology to causes: the domain tree, and the reasons for rejected domains."""

from kueuepy.engine.places import PlaceFactsView
from kueuepy.engine.records import AdmissionView
from kueuepy.explain import placewords as words
from kueuepy.explain.cause import Cause
from kueuepy.explain.cause import cause as _cause

MOST_SHOWN = 5
"""Maximum number of listed domains of one parent; the facts of the cause `topology` contain all domains."""


def place_cause(facts: PlaceFactsView) -> Cause:
    """Return whether the pods fit into the topology; if not, the causes include the tree of its domains."""
    shown = facts["failure"] is not None
    return _cause("topology", words.place(facts), facts, _below((), facts) if shown else ())


def _below(above: tuple[str, ...], facts: PlaceFactsView) -> list[Cause]:
    """Return the child domains of a domain, recursively down to the requested level."""
    depth = len(above)
    if depth == len(facts["levels"]):
        return []
    level = facts["levels"][depth]
    found = [one for one in facts["domains"] if len(one["values"]) == depth + 1 and one["values"][:depth] == above]
    causes = [
        _cause("domain", words.domain(one, facts), one, _below(one["values"], facts)) for one in found[:MOST_SHOWN]
    ]
    hidden = found[MOST_SHOWN:]
    count = len(hidden) + (facts["domain_counts"][depth] - len(found) if depth == 0 else 0)
    if not count:
        return causes
    return [*causes, _cause("domains", words.others(hidden, level, count), {"level": level, "count": count})]


def held_places(admission: AdmissionView | None) -> tuple[Cause, ...]:
    """Return the topology assignment of an admitted workload."""
    return tuple(
        _cause("place", words.held(one.name, *place), {"pod_set": one.name, "levels": place[0], "domains": place[1]})
        for one in (admission.pod_sets if admission is not None else ())
        if (place := one.place) is not None
    )
