"""Documents of early versions of the API, and what they meant in the releases that they were written for."""

from collections.abc import Iterator

from kueuepy.cluster import Cluster
from kueuepy.lint.context import LintContext
from kueuepy.lint.rule import Hit, rule
from kueuepy.upgrade.early import EARLY, as_then, early_rules


@rule("L29", "note", "A document of an early version of the API may have meant something else in its release.")
def meant_something_else(context: LintContext) -> Iterator[Hit]:
    """A ClusterQueue of which the rules of then leave something out; v1beta1 is looked at as in v0.6."""
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
                text = f"documents of {version} were written for releases such as {release}: {early.what}"
                yield Hit(queue, (), f"{text}; `kueuepy upgrade --from {release}` tells what is decided otherwise")
