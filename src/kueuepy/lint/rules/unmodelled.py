"""Settings of Kueue that kueuepy does not model."""

from collections.abc import Iterator

from kueuepy.lint.context import LintContext
from kueuepy.lint.rule import Hit, rule
from kueuepy.objects import Configuration
from kueuepy.profiles import DEFAULTS
from kueuepy.visibility.fidelity import EFFECTIVE_GATES


@rule("L20", "note", "A feature gate that kueuepy does not model has no effect.")
def not_modelled(context: LintContext) -> Iterator[Hit]:
    """Find feature gates that differ from their default but have no effect in kueuepy."""
    configuration = context.configuration or Configuration()
    defaults = DEFAULTS[configuration.release]
    for name, on in configuration.feature_gates.items():
        if name not in EFFECTIVE_GATES and on != defaults.get(name, on):
            yield Hit(
                "Configuration", ("featureGates", name), "is not modelled and does not change decisions of kueuepy"
            )
