"""What is asked for, and decides nothing here though Kueue may look at it."""

from collections.abc import Iterator

from kueuepy.lint.context import LintContext
from kueuepy.lint.rule import Hit, rule
from kueuepy.objects import Configuration
from kueuepy.profiles import DEFAULTS
from kueuepy.visibility.fidelity import EFFECTIVE_GATES


@rule("L20", "note", "Some of what Kueue looks at is not modelled.")
def not_modelled(context: LintContext) -> Iterator[Hit]:
    """Some feature gates change nothing here."""
    configuration = context.configuration or Configuration()
    defaults = DEFAULTS[configuration.release]
    for name, on in configuration.feature_gates.items():
        if name not in EFFECTIVE_GATES and on != defaults.get(name, on):
            yield Hit("Configuration", ("featureGates", name), "is not modelled: nothing here is decided otherwise")
