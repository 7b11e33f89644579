"""Feature gates of the development version of Kueue. `kueuepy.profiles` has the feature gates of all releases."""

from collections.abc import Mapping

from kueuepy.profiles import DEFAULTS, RELEASES

FEATURE_GATES: dict[str, bool] = DEFAULTS[RELEASES[-1]]
"""Default of every feature gate, by name."""


def enabled(gates: Mapping[str, bool], name: str) -> bool:
    """Return whether a feature gate is on.

    >>> enabled({}, "PartialAdmission")
    True

    Args:
        gates: Feature gates that differ from their defaults, by name.
        name: Name of the feature gate.
    """
    return gates.get(name, FEATURE_GATES[name])
