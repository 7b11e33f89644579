"""Settings of Kueue that kueuepy does not model."""

from collections.abc import Iterator

from kueuepy.cluster.unmodelled import unmodelled
from kueuepy.lint.context import LintContext
from kueuepy.lint.rule import Hit, rule


@rule("L20", "warning", "Decisions may differ because kueuepy does not model a feature gate or field of the input.")
def not_modelled(context: LintContext) -> Iterator[Hit]:
    """Find feature gates and fields that kueuepy does not model and that could change a decision."""
    manifest = context.manifest
    for found in unmodelled(
        context.configuration, manifest.cluster_queues, manifest.cohorts, manifest.admission_checks
    ):
        yield Hit(found.obj or "Configuration", found.path, found.message)
