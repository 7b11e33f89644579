"""Changes after which a workload would fit."""

from collections.abc import Iterable, Iterator

from kueuepy.engine.facts import FactsView, FlavorView, PodSetView
from kueuepy.explain import words
from kueuepy.explain.cause import Cause
from kueuepy.explain.cause import cause as _cause
from kueuepy.explain.placewords import is_missing


def remedies(facts: FactsView) -> list[Cause]:
    """Return the changes after which a workload would fit: alternatives by flavor for each part that does not fit."""
    queue = facts["cluster_queue"]
    parts = [
        _cause("remedy", words.cover(queue, resource), {"resource": resource})
        for pod_set in facts["pod_sets"]
        for resource in pod_set["undeclared"]
    ]
    parts += [] if parts else [_choice(*part) for part in _parts(facts)]
    if not parts:
        return []
    lone = parts[0].causes if len(parts) == 1 and parts[0].kind == "remedy_for" else ()
    shown = lone or tuple(parts)
    return [_cause("remedies", words.remedies(len(shown), all_of=not lone), None, shown)]


def _parts(facts: FactsView) -> Iterator[tuple[PodSetView, list[FlavorView]]]:
    """Yield, for each resource group in which no flavor fits a pod set, the pod set and the flavors of the group."""
    for pod_set in facts["pod_sets"]:
        for flavors in by_resource_group(pod_set):
            if not any(_fits(flavor) and flavor["mode"] is not None for flavor in flavors):
                yield pod_set, flavors


def by_resource_group(pod_set: PodSetView) -> Iterable[list[FlavorView]]:
    """Return the flavors of a pod set, grouped by resource group."""
    groups: dict[int, list[FlavorView]] = {}
    for flavor in pod_set["flavors"]:
        groups.setdefault(flavor["resource_group"], []).append(flavor)
    return groups.values()


def _fits(flavor: FlavorView) -> bool:
    return (
        not is_missing(flavor["place"])
        and not flavor["ineligible"]
        and not any(cell["short"] for cell in flavor["cells"])
    )


def _choice(pod_set: PodSetView, flavors: list[FlavorView]) -> Cause:
    held = [_cause("remedy", words.remedy(flavor), {"flavor": flavor["flavor"]}) for flavor in flavors]
    resources = sorted({cell["resource"] for flavor in flavors for cell in flavor["cells"]})
    text = words.choices(resources, pod_set["name"], len(held))
    return _cause("remedy_for", text, {"pod_set": pod_set["name"], "resources": tuple(resources)}, held)
