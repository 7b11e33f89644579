"""Feature gates of the development version of Kueue. `kueuepy.profiles` has the feature gates of all releases."""

from kueuepy.profiles import DEFAULTS, RELEASES

FEATURE_GATES: dict[str, bool] = DEFAULTS[RELEASES[-1]]
"""Default of every feature gate, by name."""
