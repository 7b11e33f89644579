"""Random kills of a journalling process: nothing acknowledged is lost, and no state differs."""

from __future__ import annotations

import pytest

from crash import kills

pytestmark = pytest.mark.skipif(not hasattr(kills.os, "fork"), reason="needs os.fork")


def test_500_kills_lose_nothing_that_was_acknowledged():
    results = list(kills.kills(500, seed=1))
    assert len(results) == 500
    assert sum(killed.calls for killed in results) > 500, "the children were killed before they did anything"
