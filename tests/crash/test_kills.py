"""Random kills of a journalling process: no acknowledged call is lost, and the restored state is equal."""

from __future__ import annotations

import os

import pytest

from crash import kills

pytestmark = pytest.mark.skipif(not hasattr(kills.os, "fork"), reason="needs os.fork")


KILLS = int(os.environ.get("KILLS", "200"))


def test_kills_lose_no_acknowledged_call():
    results = list(kills.kills(KILLS, seed=1))
    assert len(results) == KILLS
    assert sum(killed.calls for killed in results) > KILLS, "the children were killed before they did anything"
    assert sum(killed.backups for killed in results) > KILLS / 10
