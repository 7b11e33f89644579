"""Lint: find valid settings with surprising effects before they reach a cluster.

`manifest.validate` reports what an API server rejects. The rules report problems of objects that an API server
accepts: queues that admit no workload, quotas that are not guaranteed, limits without effect.
"""

from collections.abc import Collection, Iterable

from kueuepy.cluster import Cluster
from kueuepy.errors import checked, expect_known
from kueuepy.lint.rule import SEVERITIES as SEVERITIES
from kueuepy.lint.rule import Finding as Finding
from kueuepy.lint.rule import Findings as Findings
from kueuepy.lint.rule import LintContext
from kueuepy.lint.rule import Rule as Rule
from kueuepy.lint.rule import Severity as Severity
from kueuepy.lint.rules import RULES
from kueuepy.manifest import Manifest
from kueuepy.objects import Configuration, Object

__all__ = ["RULES", "lint"]


@checked
def lint(
    objects: Cluster | Manifest | Iterable[Object],
    *,
    configuration: Configuration | None = None,
    skip: Collection[str] = (),
) -> Findings:
    """Check objects against all rules and return the findings, in the order of the rules.

    Rules about workloads check the Workloads and the jobs of a manifest. Rules that depend on the Configuration report
    nothing if there is no Configuration.

    >>> from kueuepy.objects import ClusterQueue
    >>> print(lint([ClusterQueue("vision", namespace_selector=None)], skip=["L16"])[0].rule)
    L1

    Args:
        objects: A Cluster, the result of `kueuepy.manifest.load`, or objects built in Python, valid or not.
        configuration: The Configuration, if it is not part of the manifest.
        skip: Ids of rules to skip, such as `L6`.

    Returns:
        The findings; empty if no rule applies.

    Raises:
        NotFoundError: `skip` names a rule that does not exist.
        InvalidSpecError: A job of the manifest cannot be converted to a valid Workload.
    """
    known = [rule.id for rule in RULES]
    for name in skip:
        expect_known("lint", name, known, "is not a rule")
    context = LintContext(_complete(objects), configuration)
    return Findings(finding for rule in RULES if rule.id not in skip for finding in rule.findings(context))


def _complete(objects: Cluster | Manifest | Iterable[Object]) -> Manifest:
    """Return the objects with their implied LocalQueues and namespaces added."""
    if isinstance(objects, Cluster):
        return objects.manifest
    manifest = objects if isinstance(objects, Manifest) else Manifest.of(*objects)
    return Cluster.from_manifest(manifest, names=False).manifest
