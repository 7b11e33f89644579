"""Rules of ResourceFlavors, taints and tolerations.

Source: `pkg/webhooks/resourceflavor_webhook.go`, `apis/kueue/v1beta2/resourceflavor_types.go`.
"""

from collections.abc import Iterable

from kueuepy.errors.problems import Path
from kueuepy.manifest.validation.review import Review
from kueuepy.objects import ResourceFlavor, Taint, Toleration

_MAX = 8
_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")


def review_flavor(flavor: ResourceFlavor, review: Review) -> None:
    """The rules of a ResourceFlavor."""
    review.at_most(flavor.node_labels, _MAX, ("spec", "nodeLabels"))
    review.labels(flavor.node_labels, ("spec", "nodeLabels"))
    review.at_most(flavor.node_taints, _MAX, ("spec", "nodeTaints"))
    review_taints(flavor.node_taints, ("spec", "nodeTaints"), review)
    review.at_most(flavor.tolerations, _MAX, ("spec", "tolerations"))
    review_tolerations(flavor.tolerations, ("spec", "tolerations"), review)
    review.subdomain(flavor.topology_name, ("spec", "topologyName"))
    if flavor.topology_name is not None and not flavor.node_labels:
        review.problem(("spec", "nodeLabels"), "is empty; a flavor with a topology needs at least one node label")


def review_taints(taints: Iterable[Taint], path: Path, review: Review) -> None:
    """The rules of a list of taints."""
    seen = set()
    for position, taint in enumerate(taints):
        place = (*path, position)
        review.label_key(taint.key, (*place, "key"))
        review.label_value(taint.value, (*place, "value"))
        review.one_of(taint.effect, _EFFECTS, (*place, "effect"))
        if (taint.key, taint.effect) in seen:
            review.problem(place, f"{taint.key} with {taint.effect} occurs twice; give each pair once", "Duplicate")
        seen.add((taint.key, taint.effect))


def review_tolerations(tolerations: Iterable[Toleration], path: Path, review: Review) -> None:
    """The rules of a list of tolerations."""
    for position, toleration in enumerate(tolerations):
        place = (*path, position)
        review.one_of(toleration.operator, ("", "Equal", "Exists"), (*place, "operator"))
        review.one_of(toleration.effect, ("", *_EFFECTS), (*place, "effect"))
        if toleration.key:
            review.label_key(toleration.key, (*place, "key"))
        elif toleration.operator != "Exists":
            review.problem((*place, "operator"), "must be Exists where there is no key, which stands for all keys")
        if toleration.operator == "Exists" and toleration.value:
            review.problem((*place, "value"), "must be empty where operator is Exists")
        if toleration.toleration_seconds is not None and toleration.effect != "NoExecute":
            review.problem((*place, "effect"), "must be NoExecute where tolerationSeconds is set")
