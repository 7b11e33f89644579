"""Access to single rules of the core by `kueuepy._testing`, which only test builds contain."""

from __future__ import annotations

from typing import Any

import pytest


def rules() -> Any:
    """Return the module; skip the test if the installed package does not contain it."""
    return pytest.importorskip("kueuepy._testing", reason="built without KUEUE_TESTING")
