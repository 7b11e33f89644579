"""Lint: what is legal and still surprises, found before a cluster does.

`manifest.validate` says what an API server refuses. The rules here speak about objects that it takes: queues that admit
nobody, quotas that are promised and not ensured, limits that limit nothing.
"""

from collections.abc import Collection, Iterable

from kueuepy.cluster import Cluster
from kueuepy.errors import NotFoundError
from kueuepy.errors.arguments import checked
from kueuepy.errors.problems import suggestion
from kueuepy.lint.context import LintContext
from kueuepy.lint.finding import SEVERITIES, Finding, Findings, Severity
from kueuepy.lint.rule import Rule
from kueuepy.lint.rules import RULES
from kueuepy.manifest import Manifest
from kueuepy.objects import Configuration, Object

__all__ = ["RULES", "SEVERITIES", "Finding", "Findings", "Rule", "Severity", "lint"]


@checked
def lint(
    objects: Cluster | Manifest | Iterable[Object],
    *,
    configuration: Configuration | None = None,
    skip: Collection[str] = (),
) -> Findings:
    """What surprises in these objects, in the order of the rules.

    Rules about workloads look at Workloads and at the jobs of a manifest; without any, they find nothing. Rules that
    depend on the Configuration find nothing without one.

    >>> from kueuepy.objects import ClusterQueue
    >>> print(lint([ClusterQueue("vision", namespace_selector=None)], skip=["L16"])[0].rule)
    L1

    Args:
        objects: A Cluster, what `kueuepy.manifest.load` gave, or objects built in Python, valid or not.
        configuration: The Configuration, if it is not part of the manifest.
        skip: Ids of rules to leave out.

    Raises:
        NotFoundError: `skip` names a rule that doesn't exist.
        InvalidSpecError: A job of the manifest makes no valid Workload.
    """
    known = [rule.id for rule in RULES]
    for name in skip:
        if name not in known:
            raise NotFoundError(f'lint: "{name}" is no rule; {suggestion(name, known)}')
    context = LintContext(_complete(objects), configuration)
    return Findings(finding for rule in RULES if rule.id not in skip for finding in rule.findings(context))


def _complete(objects: Cluster | Manifest | Iterable[Object]) -> Manifest:
    """The objects with the LocalQueues and namespaces that nobody had to write."""
    if isinstance(objects, Cluster):
        return objects.manifest
    manifest = objects if isinstance(objects, Manifest) else Manifest.of(*objects)
    return Cluster.from_manifest(manifest, names=False).manifest
