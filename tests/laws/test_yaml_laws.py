"""Properties of YAML: all readers agree, even on damaged texts."""

from __future__ import annotations

import pytest

from fuzz.documents import exact, fast, hold
from fuzz.mutation import Mutator
from seeds import seeds


@pytest.mark.parametrize("seed", seeds(8))
def test_yaml_readers_agree_on_mutated_manifests(seed: int):
    mutator = Mutator(seed)
    texts = [mutator.text() for _ in range(400)]
    for text in texts:
        hold(text)
    assert sum(fast(text) is not None for text in texts) > 20
    assert sum(exact(text) is not None for text in texts) > 80


def test_the_same_seed_creates_the_same_texts():
    first, second, other = Mutator(1), Mutator(1), Mutator(2)
    texts = [first.text() for _ in range(50)]
    assert texts == [second.text() for _ in range(50)]
    assert texts != [other.text() for _ in range(50)]
    assert len(set(texts)) > 40


def test_given_texts_are_mutated():
    mutator = Mutator(3, ["a: b\n"])
    assert any("a: b" in mutator.text() for _ in range(20))
