"""Rules about settings that kueuepy does not model, and objects of early API versions that mean something else now."""

from collections.abc import Iterator

from kueuepy.cluster import Cluster
from kueuepy.cluster.early import EARLY, as_then, early_rules
from kueuepy.cluster.unmodelled import unmodelled
from kueuepy.lint.context import LintContext
from kueuepy.lint.rule import Hit, rule


@rule("L20", "warning", "Decisions may differ because kueuepy does not model a feature gate or field of the input.")
def not_modelled(context: LintContext) -> Iterator[Hit]:
    """Find feature gates and fields that kueuepy does not model and that could change a decision."""
    manifest = context.manifest
    for found in unmodelled(context.configuration, manifest.cluster_queues, manifest.cohorts):
        yield Hit(found.obj or "Configuration", found.path, found.message)


@rule(
    "L29", "note", "Kueue releases that serve an early API version may interpret objects of this version differently."
)
def meant_something_else(context: LintContext) -> Iterator[Hit]:
    """Find ClusterQueues with fields that early releases ignored; for v1beta1, the release is v0.6."""
    manifest = context.manifest
    version = min(manifest.versions, default="")
    release = EARLY.get(version)
    if release is None:
        return
    cluster = Cluster.from_manifest(manifest, names=False)
    rules = early_rules(release)
    for early in rules:
        then = as_then(cluster, release, left_out=[other.name for other in rules if other is not early])
        for queue, before in zip(manifest.cluster_queues, then.cluster_queues, strict=True):
            if queue != before:
                text = f"{version} is the API version of releases such as {release}: {early.what}"
                yield Hit(queue, (), f"{text}; `kueuepy upgrade --from {release}` lists the decisions that differ")
