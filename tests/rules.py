"""Access to single rules of the core by `kueuepy._testing`, which only test builds contain."""

from __future__ import annotations

from typing import Any

import pytest


def rules() -> Any:
    """The module; where the installed package is a wheel without it, the test is skipped."""
    return pytest.importorskip("kueuepy._testing", reason="built without KUEUE_TESTING")
