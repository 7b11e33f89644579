"""The supported releases of Kueue, and the differences between them."""

from kueuepy.profiles.gates import DEFAULTS, DEPENDENCIES, LOCKED, effective
from kueuepy.profiles.releases import (
    DEVELOPMENT,
    METRICS_SINCE,
    RELEASES,
    Release,
    has_metric,
    release_of,
    release_of_image,
)
from kueuepy.profiles.rules import RULES, Rule, ended_since, open_answers, rules_of

__all__ = [
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
    "ended_since",
    "has_metric",
    "open_answers",
    "release_of",
    "release_of_image",
    "rules_of",
]
