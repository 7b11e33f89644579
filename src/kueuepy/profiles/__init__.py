"""The supported releases of Kueue, and the differences between them."""

from kueuepy.profiles.gates import DEFAULTS, DEPENDENCIES, LOCKED, effective
from kueuepy.profiles.rules import (
    ALWAYS_OPEN,
    DEVELOPMENT,
    METRICS_SINCE,
    RELEASES,
    RULES,
    Release,
    Rule,
    has_metric,
    of_patch,
    open_answers,
    release_of,
    release_of_image,
    rules_of,
    version_of,
)

__all__ = [
    "ALWAYS_OPEN",
    "DEFAULTS",
    "DEPENDENCIES",
    "DEVELOPMENT",
    "LOCKED",
    "METRICS_SINCE",
    "RELEASES",
    "RULES",
    "Release",
    "Rule",
    "effective",
    "has_metric",
    "of_patch",
    "open_answers",
    "release_of",
    "release_of_image",
    "rules_of",
    "version_of",
]
