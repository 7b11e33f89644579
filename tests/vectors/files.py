"""Reader of the recorded results."""

from __future__ import annotations

import gzip
from pathlib import Path

import msgspec
import pytest


def lines(name):
    """Return the lines of a file as test parameters, named by their number."""
    with gzip.open(Path(__file__).parent / f"{name}.jsonl.gz", "rb") as file:
        return [pytest.param(msgspec.json.decode(line), id=str(i)) for i, line in enumerate(file)]
