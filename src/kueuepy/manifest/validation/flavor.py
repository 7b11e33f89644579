"""Validation rules for ResourceFlavors and taints.

Source: `pkg/webhooks/resourceflavor_webhook.go`, `apis/kueue/v1beta2/resourceflavor_types.go`.
"""

from collections.abc import Iterable

from kueuepy.errors.problems import Path
from kueuepy.manifest.validation.review import Review
from kueuepy.objects import ResourceFlavor, Taint
from kueuepy.objects.flavor import TAINT_EFFECTS


def review_flavor(flavor: ResourceFlavor, review: Review) -> None:
    """Check a ResourceFlavor."""
    review.labels(flavor.node_labels, ("spec", "nodeLabels"))
    review_taints(flavor.node_taints, ("spec", "nodeTaints"), review)
    if flavor.topology_name is not None and not flavor.node_labels:
        review.problem(("spec", "nodeLabels"), "is empty; a flavor with a topology needs at least one node label")


def review_taints(taints: Iterable[Taint], path: Path, review: Review) -> None:
    """Check a list of taints."""
    seen = set()
    for position, taint in enumerate(taints):
        place = (*path, position)
        review.label_key(taint.key, (*place, "key"))
        review.label_value(taint.value, (*place, "value"))
        review.one_of(taint.effect, TAINT_EFFECTS, (*place, "effect"))
        if (taint.key, taint.effect) in seen:
            review.problem(place, f"{taint.key} with {taint.effect} occurs twice; give each pair once", "Duplicate")
        seen.add((taint.key, taint.effect))
