"""Fixtures: a small cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from journal.cases import small_cluster

if TYPE_CHECKING:
    import kueuepy as kq


@pytest.fixture
def cluster() -> kq.Cluster:
    """The small cluster."""
    return small_cluster()
