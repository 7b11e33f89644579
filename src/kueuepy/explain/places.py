"""From what the core tells of a topology to causes: the domain tree, and why each domain was passed over."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kueuepy.explain import placewords as words
from kueuepy.explain.cause import cause as _cause

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kueuepy.engine.places import DomainView, PlaceFactsView
    from kueuepy.engine.workloads import AdmissionView
    from kueuepy.explain.cause import Cause

MOST_SHOWN = 5
"""Domains of one parent that are told one by one; the rest is in the facts of the cause `topology`."""


def place_cause(facts: PlaceFactsView) -> Cause:
    """Whether the topology has a place, with the tree of its domains where it has none."""
    shown = facts["failure"] is not None
    return _cause("topology", words.place(facts), facts, _below((), facts) if shown else ())


def _below(above: tuple[str, ...], facts: PlaceFactsView) -> list[Cause]:
    """The domains right below one, each with those below it, down to the level that is asked for."""
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
    return [*causes, _hidden(hidden, level, count)] if count else causes


def _hidden(rest: Sequence[DomainView], level: str, count: int) -> Cause:
    return _cause("domains", words.others(rest, level, count), {"level": level, "count": count})


def held_places(admission: AdmissionView | None) -> tuple[Cause, ...]:
    """Where the pods of an admitted workload are."""
    return tuple(
        _cause("place", words.held(one.name, *place), {"pod_set": one.name, "levels": place[0], "domains": place[1]})
        for one in (admission.pod_sets if admission is not None else ())
        if (place := one.place) is not None
    )
