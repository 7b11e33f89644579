"""Laws of YAML: what the ways through it read, they read alike, however broken the text is."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from kueuepy.errors import KueueError
from kueuepy.manifest import Limits
from kueuepy.manifest.text.exact import parse
from kueuepy.manifest.text.jsontext import json_value
from kueuepy.manifest.text.text import Text
from kueuepy.testing.mutation import Mutator
from ways import fast_value


def read(text: str, *, libyaml: bool = True) -> tuple[Any] | None:
    """The value of a text, in a tuple; `None` where it is refused."""
    try:
        return (parse(Text("f.yaml", text.encode()), Limits(), strict=True, libyaml=libyaml),)
    except KueueError:
        return None


def read_as_json(text: str) -> tuple[Any] | None:
    """The same, of a text that is JSON."""
    try:
        return (json_value(Text("f.json", text.encode()), Limits(), strict=True),)
    except (KueueError, msgspec.DecodeError):
        return None


@pytest.mark.parametrize("seed", range(8))
def test_the_ways_through_yaml_agree_on_mutated_manifests(seed: int):
    mutator, answered, read_at_all = Mutator(seed), 0, 0
    for _ in range(400):
        text = mutator.text()
        exact = read(text)
        assert repr(read(text, libyaml=False)) == repr(exact), text
        read_at_all += exact is not None
        fast = fast_value(text)
        if fast is not None:
            answered += 1
            assert repr(fast) in (repr(exact), repr(read_as_json(text))), text
    assert answered > 20
    assert read_at_all > 80


def test_the_same_seed_makes_the_same_texts():
    first, second, other = Mutator(1), Mutator(1), Mutator(2)
    texts = [first.text() for _ in range(50)]
    assert texts == [second.text() for _ in range(50)]
    assert texts != [other.text() for _ in range(50)]
    assert len(set(texts)) > 40


def test_own_texts_are_mutated():
    mutator = Mutator(3, ["a: b\n"])
    assert any("a: b" in mutator.text() for _ in range(20))
