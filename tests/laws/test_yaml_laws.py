"""Laws of YAML: what the ways through it read, they read alike, however broken the text is."""

from __future__ import annotations

import pytest

from fuzz.documents import exact, fast, hold
from kueuepy.testing.mutation import Mutator


@pytest.mark.parametrize("seed", range(8))
def test_the_ways_through_yaml_agree_on_mutated_manifests(seed: int):
    mutator = Mutator(seed)
    texts = [mutator.text() for _ in range(400)]
    for text in texts:
        hold(text)
    assert sum(fast(text) is not None for text in texts) > 20
    assert sum(exact(text) is not None for text in texts) > 80


def test_the_same_seed_makes_the_same_texts():
    first, second, other = Mutator(1), Mutator(1), Mutator(2)
    texts = [first.text() for _ in range(50)]
    assert texts == [second.text() for _ in range(50)]
    assert texts != [other.text() for _ in range(50)]
    assert len(set(texts)) > 40


def test_own_texts_are_mutated():
    mutator = Mutator(3, ["a: b\n"])
    assert any("a: b" in mutator.text() for _ in range(20))
