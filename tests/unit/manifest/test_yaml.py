"""YAML texts: types by quotes, aliases, merges, equal keys; and the fast way agrees with the exact one."""

from typing import Any

import pytest

from kueuepy.manifest import Limits, ManifestError
from kueuepy.manifest.text import Text
from kueuepy.manifest.yamlfast import quick_value
from kueuepy.manifest.yamltree import Builder, Tree


def exact(text: str, *, strict: bool = True, limits: Limits = Limits()) -> Any:  # noqa: B008
    (document,) = Builder(Tree(Text("f.yaml", text.encode())), limits, strict=strict).documents()
    return document


def message(text: str) -> str:
    with pytest.raises(ManifestError) as error:
        exact(text)
    return str(error.value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: yes", {"a": True}),
        ("a: 'yes'", {"a": "yes"}),
        ('a: "5"', {"a": "5"}),
        ("a: 5", {"a": 5}),
        ("a:", {"a": None}),
        ("a: ''", {"a": ""}),
        ("a: |\n  yes\nb: >-\n  5\n", {"a": "yes\n", "b": "5"}),
        ("a: two\n  lines", {"a": "two lines"}),
        ("? a\n: b", {"a": "b"}),
        ("{a: 1, b: [x, 'y', {}]}", {"a": 1, "b": ["x", "y", {}]}),
        ("- x\n- - yes\n- a: 1\n  b: 2", ["x", [True], {"a": 1, "b": 2}]),
        ("1: a\nyes: b\n'no': c", {"1": "a", "true": "b", "no": "c"}),
        ('"\\u0041": "\\x01"', {"A": "\x01"}),
        ("a: é", {"a": "é"}),
        ("just text", "just text"),
        ("a: 'x!y'\nb: [ok!]\n\"c!\": |\n  [ ! -f x ]", {"a": "x!y", "b": ["ok!"], "c!": "[ ! -f x ]\n"}),
        ('a: "\\x01\\u0002!"\nb: "!\\U00000003"', {"a": "\x01\x02!", "b": "!\x03"}),
        ("# nothing", None),
    ],
)
def test_values(text: str, value: Any):
    assert exact(text) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: &x {b: 1}\nc: *x", {"a": {"b": 1}, "c": {"b": 1}}),
        ("a: &x 1\na2: &x 2\nc: *x", {"a": 1, "a2": 2, "c": 2}),
        ("a: &x {b: 1}\nc:\n  <<: *x\n  d: 2", {"a": {"b": 1}, "c": {"b": 1, "d": 2}}),
        ("a: &x {b: 1}\nc: {b: 5, <<: *x}", {"a": {"b": 1}, "c": {"b": 5}}),
        ("a: &x {b: 1}\nc:\n  <<: *x\n  b: 5", {"a": {"b": 1}, "c": {"b": 5}}),
        ("a: &x {b: 1}\nc: {<<: [*x, {b: 2, e: 3}]}", {"a": {"b": 1}, "c": {"b": 1, "e": 3}}),
        (
            "a: &x {b: 1}\nc: &z {<<: *x, d: 2}\ne: {<<: *z}",
            {"a": {"b": 1}, "c": {"b": 1, "d": 2}, "e": {"b": 1, "d": 2}},
        ),
        ("<<: {a: 1}\nb: 2", {"a": 1, "b": 2}),
        ("'<<': 1", {"<<": 1}),
    ],
)
def test_aliases_and_merges(text: str, value: Any):
    assert exact(text) == value


def test_what_an_alias_stands_for_is_a_copy():
    document = exact("a: &x {b: []}\nc: *x")
    document["a"]["b"].append(1)
    assert document["c"] == {"b": []}


@pytest.mark.parametrize(
    ("text", "place", "reason"),
    [
        ("a: 1\nb: 2\na: 3", "f.yaml:3:1", 'key "a" is given twice'),
        ("a:\n  b: 1\n  'b': 2", "f.yaml:3:4", 'key "b" is given twice'),
        ("~: c", "f.yaml:1:1", "null is no key"),
        ("a: *n", "f.yaml:1:1", 'alias "*n" refers to no anchor'),
        ("a: &x\n  - *x", "f.yaml:2:5", "part of what it stands for"),
        ("*x : a", "f.yaml:1:1", "is no key"),
        ("!x a: b", "f.yaml:1:1", "is no key"),
        ("a: @x", "f.yaml:1:1", "starts with @"),
        ("a:\n  b:\tc", "f.yaml:1:1", "a tab follows a colon"),
        ("a: !!int 5", "f.yaml:1:1", '"!!int 5" starts with !; put it in quotes, or leave out a tag'),
        ("a: [! ! ! ! ! ! ! ! ! !]", "f.yaml:1:5", "starts with !"),
        ('a: "' + "".join(f"\\x{code:02x}" for code in range(7)) + '!"', "f.yaml:1:1", "escapes of control characters"),
        ("a: {<<: 5}", "f.yaml:1:5", "<< merges a mapping"),
        ("a: [1,\nb: {", "f.yaml:2:", "this is not YAML"),
        ("a: b: c", "f.yaml:1:", "this is not YAML"),
        ("a: 'x", "f.yaml:", "this is not YAML"),
        ("? [a, b]\n: c", "f.yaml:1:", "this is not YAML"),
    ],
)
def test_errors_name_their_place(text: str, place: str, reason: str):
    found = message(text)
    assert found.startswith(place)
    assert reason in found


def test_the_last_of_equal_keys_wins_in_lenient_reading():
    assert exact("a: 1\na: 2", strict=False) == {"a": 2}


@pytest.mark.parametrize(
    "text",
    [
        "a: 1\nb: [x, 1.5, true, null, 'yes', \"~\"]\n",
        "a: 64Gi\nb: 500m\nc: 2026-01-31T10:00:03Z\nd: 3.0\n",
        'a: "False"\nb: |\n  "False"\nc: \'True\'\n',
        "- {}\n- []\n- ''\n",
        'k:{"name":"main"}:\n  .: {}\n',
        "a: ok!\nb: \"!\"\n'c!': |\n  ! -f x\n",
        "a: 'it''s'\nb: \"x\\\"yes\\\"\"\n",
        "a: 123456789012345678901234567890\nb: 18446744073709551615\n",
    ],
)
def test_the_fast_way_reads_what_is_not_odd(text: str):
    assert quick_value(Text("f", text.encode()), 2**20) == (exact(text),)


@pytest.mark.parametrize(
    "text",
    [
        "a: yes",
        "a: True",
        'a: True # or "True"',
        "a: ~",
        "a: Null",
        "a: 017",
        "a: 0x1F",
        "a: 1_000",
        "a: +5",
        "a: inf",
        "a: .nan",
        "yes: 1",
        "0x1: 1",
        "1.0: 1",
        "~: 1",
        ": 1",
        "null: 1",
        "a: *x",
        "a: &x 1\nb: *x",
        "<<: {a: 1}",
        "a: !!str 5",
        "a: @x",
        "a:\tb",
        "a: 1\na: 1",
        '"\\ud83d\\ude00": 1',
        "[" * 70 + "]" * 70,
        "",
    ],
)
def test_the_fast_way_leaves_what_is_odd(text: str):
    assert quick_value(Text("f", text.encode()), 2**20) is None
