"""Seeds of random tests: a few in the usual ring, the others in the ring long."""

from __future__ import annotations

import pytest


def seeds(number, few=3):
    """Return the test parameters 0 to `number` - 1; all but the first `few` are in the ring long."""
    return [seed if seed < few else pytest.param(seed, marks=pytest.mark.long) for seed in range(number)]
