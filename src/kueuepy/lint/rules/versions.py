"""Rules about objects of early API versions that have a different meaning in current versions."""

from collections.abc import Iterator

from kueuepy.cluster import Cluster
from kueuepy.cluster.early import EARLY, as_then, early_rules
from kueuepy.lint.context import LintContext
from kueuepy.lint.rule import Hit, rule


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
