"""Feature gates of the present release; those of others are in `kueuepy.profiles`."""

from collections.abc import Mapping

from kueuepy.profiles import DEFAULTS, RELEASES

FEATURE_GATES: dict[str, bool] = DEFAULTS[RELEASES[-1]]
"""Every feature gate and whether it is on by default."""


def enabled(gates: Mapping[str, bool], name: str) -> bool:
    """Whether a gate is on, with these settings for what differs from the defaults.

    >>> enabled({}, "PartialAdmission")
    True
    """
    return gates.get(name, FEATURE_GATES[name])
