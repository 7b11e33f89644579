"""Reader of the recorded results."""

from __future__ import annotations

import gzip
from pathlib import Path

import msgspec
import pytest


def lines(name, share_of_quick=1):
    """Return the lines of a file as test parameters, named by their number; every n-th is in the ring quick."""
    with gzip.open(Path(__file__).parent / f"{name}.jsonl.gz", "rb") as file:
        return [
            pytest.param(msgspec.json.decode(line), id=str(i), marks=[pytest.mark.suite] if i % share_of_quick else [])
            for i, line in enumerate(file)
        ]
