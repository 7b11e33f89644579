"""A small cluster."""

from __future__ import annotations

import pytest

from embedding.cases import small_cluster

import kueuepy as kq


@pytest.fixture
def cluster() -> kq.Cluster:
    """The small cluster."""
    return small_cluster()
