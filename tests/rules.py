"""The rules one at a time: `kueuepy._testing`, which a build has only where it is asked for."""

from __future__ import annotations

from typing import Any

import pytest


def rules() -> Any:
    """The module; where the installed package is a wheel without it, the test is skipped."""
    return pytest.importorskip("kueuepy._testing", reason="built without KUEUE_TESTING")
