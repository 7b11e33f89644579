"""YAML texts are read like in Kubernetes or rejected, and the fast reader agrees with the exact reader."""

import json
from typing import Any
from unittest import mock

import pytest
import yaml

from fuzz.documents import fast as fast_value
from kueuepy.manifest import Limits, ManifestError
from kueuepy.manifest.text.exact import parse
from kueuepy.manifest.text.text import Text


def exact(text: str, *, strict: bool = True, libyaml: bool = True) -> Any:
    with mock.patch.object(yaml, "__with_libyaml__", libyaml):
        return parse(Text("f.yaml", text.encode()), Limits(), strict=strict)


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
        ("a: 'x!y'\nb: [ok!]\n\"c!\": |\n  [ ! -f x ]\n", {"a": "x!y", "b": ["ok!"], "c!": "[ ! -f x ]\n"}),
        (
            "a: b\nc: -x\nd: :x\ne: a#b # c\nf: http://x:80",
            {"a": "b", "c": "-x", "d": ":x", "e": "a#b", "f": "http://x:80"},
        ),
        ('{"a":1, b: [c: d, "e":f, g], h}', {"a": 1, "b": [{"c": "d"}, {"e": "f"}, "g"], "h": None}),
        ("[\n a, # b\n {c: d,},\n]", ["a", {"c": "d"}]),
        ("a:\n- 1\n-\n- - 2\n  - 3\nb:\n  - 4", {"a": [1, None, [2, 3]], "b": [4]}),
        ("-   a: 1\n    b: 2\n- c:\n    d", [{"a": 1, "b": 2}, {"c": "d"}]),
        ("? a\n? b\n: - 1\n? 'c'\n: d: 2\ne: 3", {"a": None, "b": [1], "c": {"d": 2}, "e": 3}),
        ("a: 'it''s\n  two\n\n  lines'\nb: \"x\n  y\\\n  z\"", {"a": "it's two\nlines", "b": "x yz"}),
        ('a: "\\t\\U0001f600"', {"a": "\t😀"}),
        ("a: one\n\n\n  two\nb: 1", {"a": "one\n\ntwo", "b": 1}),
        ("a: |2+\n   x\n\nb: |-\n  x\n\nc: |\n\n  x", {"a": " x\n\n", "b": "x", "c": "\nx"}),
        ("a: >\n  b\n  c\n\n  d\n    e\n\n    f\n  g\n", {"a": "b c\nd\n  e\n\n  f\ng\n"}),
        ("a: |\r\n  x\r\n  y\rb: c", {"a": "x\ny\n", "b": "c"}),
        ("a: |\n\n\nb: >+\n\n", {"a": "", "b": "\n"}),
        ("# c\n\n  a: 1 # c\n  # c\n  b: 2\n#", {"a": 1, "b": 2}),
        ("# nothing", None),
    ],
)
def test_values(text: str, value: Any):
    assert exact(text) == exact(text, libyaml=False) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: &x {b: 1}\nc: *x", {"a": {"b": 1}, "c": {"b": 1}}),
        ("a: &x 1\na2: &x 2\nc: *x", {"a": 1, "a2": 2, "c": 2}),
        ("a: &x {b: 1}\nc:\n  <<: *x\n  d: 2", {"a": {"b": 1}, "c": {"b": 1, "d": 2}}),
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
    assert exact(text) == exact(text, libyaml=False) == value


def test_an_alias_is_expanded_to_a_copy():
    document = exact("a: &x {b: []}\nc: *x")
    document["a"]["b"].append(1)
    assert document["c"] == {"b": []}


KEY = "null, a fraction, a mapping or a list cannot be a key"


@pytest.mark.parametrize(
    ("text", "place", "reason"),
    [
        ("a: 1\nb: 2\na: 3", "f.yaml:3:1", 'key "a" is given twice'),
        ("a:\n  b: 1\n  'b': 2", "f.yaml:3:3", 'key "b" is given twice'),
        ("1: a\n'1': b", "f.yaml:2:1", 'key "1" is given twice'),
        ("~: c", "f.yaml:1:1", KEY),
        ("1.5: c", "f.yaml:1:1", KEY),
        (".inf: c", "f.yaml:1:1", KEY),
        ("9223372036854775808: c", "f.yaml:1:1", KEY),
        ("{[a]: b}", "f.yaml:1:2", KEY),
        ("? {a: b}\n: b", "f.yaml:1:3", KEY),
        ("a: &x [b]\n*x : c", "f.yaml:2:1", KEY),
        ("a: -.INF", "f.yaml:1:4", "-.INF is not a number in JSON"),
        ("a: .nan", "f.yaml:1:4", ".nan is not a number in JSON"),
        ("a: *n", "f.yaml:1:4", 'alias "*n" refers to no anchor'),
        ("a: &x\n  - *x", "f.yaml:2:5", "part of what it stands for"),
        ("&x a: {<<: *x}", "f.yaml:1:12", "<< merges a mapping"),
        ("a: &x {b: 1}\nc: {b: 5, <<: *x}", "f.yaml:2:15", '<< gives key "b" another value; write it first'),
        ("a: &x {b: 1}\nc: {<<: *x, <<: *x}", "f.yaml:2:13", 'key "<<" is given twice'),
        ("a: &x [{b: 1}]\nc: {<<: *x}", "f.yaml:2:9", "<< merges a mapping"),
        ("a: {<<: 5}", "f.yaml:1:9", "<< merges a mapping"),
        ("a: {<<: [5]}", "f.yaml:1:11", "<< merges a mapping"),
        ("!x a: b", "f.yaml:1:1", "tag !x is not supported"),
        ("a: ! b", "f.yaml:1:4", "tag ! is not supported"),
        ("a: &x ! 'b'", "f.yaml:1:4", "tag ! is not supported"),
        ("a: !!binary YQ==", "f.yaml:1:4", "binary is not supported"),
        ("a: !x {b: c}", "f.yaml:1:4", "tag !x is not supported"),
        ("a: [!!str, b]", "f.yaml:1:5", "a tag stands before nothing"),
        ("a: !!int x", "f.yaml:1:4", '"x" does not have the type int of its tag'),
        ("a: !!int 1.5", "f.yaml:1:4", '"1.5" does not have the type int'),
        ("a: !!bool 1", "f.yaml:1:4", '"1" does not have the type bool'),
        ("a: !!float 18446744073709551615", "f.yaml:1:4", "does not have the type float"),
        ("a: !!null x", "f.yaml:1:4", '"x" does not have the type null'),
        ("a: @x", "f.yaml:1:4", "found character that cannot start any token"),
        ("\ta: b", "f.yaml:1:1", "is indented with a tab; YAML wants spaces"),
        ("a: b\n \tc", "f.yaml:1:4", "a tab begins a line"),
        ("a: b\n \t# c", "f.yaml:1:4", "a tab begins a line"),
        ("a: |\n  \n  \tb", "f.yaml:3:3", "found a tab character where an indentation space is expected"),
        ("a: [" + "&a " * 50 + "]", "f.yaml:1:8", "did not find expected ',' or ']'"),
        ("a: 1\n  b: 2", "f.yaml:2:4", "mapping values are not allowed in this context"),
        (
            "a: {}\n  b: 2",
            "f.yaml:2:3",
            "did not find expected key, while parsing a block mapping that starts in line 1",
        ),
        ("a:\n    b: 1\n  c: 2", "f.yaml:3:3", "did not find expected key"),
        ("- a\nb: c", "f.yaml:2:1", "did not find expected '-' indicator"),
        ("a: 1\n- b", "f.yaml:2:1", "did not find expected key"),
        ("a: - b", "f.yaml:1:4", "block sequence entries are not allowed in this context"),
        ("a: &x b: c", "f.yaml:1:8", "mapping values are not allowed in this context"),
        ("a: & b", "f.yaml:1:5", "did not find expected alphabetic or numeric character"),
        ("a: 'b' c", "f.yaml:1:8", "did not find expected key"),
        (
            "a: [b\nc: d",
            "f.yaml:2:2",
            "did not find expected ',' or ']', while parsing a flow sequence that starts in line 1",
        ),
        ("a: [b}", "f.yaml:1:6", "did not find expected ',' or ']'"),
        ("[a,,b]", "f.yaml:1:4", "did not find expected node content"),
        ("{: b}", "f.yaml:1:2", "did not find expected node content"),
        (": b", "f.yaml:1:1", "did not find expected key"),
        ("[a?]", "f.yaml:1:2", "a question mark, or a colon and no blank, in a string in brackets"),
        ("{a:}", "f.yaml:1:3", "found unexpected ':'"),
        ("a: |x\n  b", "f.yaml:1:5", "did not find expected comment or line break"),
        ('a: "\\q"', "f.yaml:1:5", "found unknown escape character"),
        ('a: "\\ud83d\\ude00"', "f.yaml:1:7", "found invalid Unicode character escape code"),
        ("a: 1\nb: x\u0090y", "f.yaml:2:5", "U+0090 is not allowed; write it as an escape in quotes"),
        ("a: \ufeff", "f.yaml:1:4", "U+FEFF is not allowed"),
        ("a: 'b'\nc: \"d\\\\\\/\"", "f.yaml:2:4", "\\/ in this text is an escape of JSON alone"),
        ("a: |#\n  b", "f.yaml:1:4", "a comment behind a blank"),
        ("a: >-\t\n  b", "f.yaml:1:4", "only blanks"),
        ("a: [1,\nb: {", "f.yaml:2:5", "did not find expected node content"),
        ("a: 'x", "f.yaml:1:4", "found unexpected end of stream"),
        ("a: 1\n...\nb: 2", "f.yaml:3:1", "did not find expected <document start>"),
    ],
)
def test_errors_name_their_location(text: str, place: str, reason: str):
    found = message(text)
    assert found.startswith(place)
    assert reason in found
    with pytest.raises(ManifestError):
        exact(text, libyaml=False)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: !!int 5", 5),
        ("a: !!int '0x10'", 16),
        ("a: !!float 5", 5),
        ("a: !!bool 'yes'", True),
        ("a: !!str yes", "yes"),
        ("a: !!str ''", ""),
        ("a: !!null '~'", None),
        ("a: !!map {b: c}", {"b": "c"}),
        ("a: !!seq [b]", ["b"]),
    ],
)
def test_yaml_tags_of_json_types(text: str, value: Any):
    assert exact(text) == exact(text, libyaml=False) == {"a": value}
    assert type(exact(text)["a"]) is type(value)


def test_an_alias_of_a_text_or_a_number_is_a_key():
    assert exact("x: &x k\n*x : 1") == {"x": "k", "k": 1}
    assert exact("x: &x 0x10\n*x : 1") == {"x": 16, "16": 1}


def test_a_text_outside_a_mapping_may_be_anchored():
    assert exact("&x a: b\nc: *x") == {"a": "b", "c": "a"}


def test_later_merge_keys_win_in_lenient_reading():
    assert exact("a: &x {b: 1}\nc: {b: 5, <<: *x}", strict=False)["c"] == {"b": 1}
    assert exact("a: &x {b: 1}\nc: {<<: *x, <<: {b: 2}}", strict=False)["c"] == {"b": 2}


@pytest.mark.parametrize("text", ["a:\tb", "a: b\tc", "a: b\t\nc: d", "{a:\t1,\tb: 2}", "a: b\t# c"])
def test_tabs_between_tokens_are_spaces(text: str):
    assert exact(text) == exact(text.replace("\t", " ")) or "b\tc" in text
    with pytest.raises(ManifestError, match="cannot start any token"):
        exact(text, libyaml=False)
    assert fast_value(text + "\n") is None


def test_the_last_of_equal_keys_wins_in_lenient_reading():
    assert exact("a: 1\na: 2", strict=False) == {"a": 2}


@pytest.mark.parametrize(
    "text",
    [
        "a: 1\nb:\n- x\n- 1.5\n- true\n- null\n- 'yes'\n- \"~\"\n",
        "a: 64Gi\nb: 500m\nc: 2026-01-31T10:00:03Z\nd: 3.0\ne: -0\nf: +5\ng: .5\nh: 1e3\n",
        'a: "False"\nb: |\n  "False"\nc: \'True\'\n',
        "- {}\n- []\n- ''\n",
        "a: yes\nb: Off\nc: ~\nd: NULL\ne: nUll\nf: y\n",
        "a: 017\nb: 0x1F\nc: 1_000\nd: 0b11\ne: 0a1b-2c3d\nf: 12e5-a\ng: inf\n",
        "a: 'it''s'\nb: \"x\\\"yes\\\"\\n\\u00e9\"\n",
        "a: 123456789012345678901234567890\nb: 18446744073709551615\nc: 999999999999999999\n",
        "a: b\n  c\n\n  d: e\n".replace("d: e", "d"),
        "a: 'b\n  c  \n\n\n  d'\nb: \"x\\\n  \\ y\n z\"\n",
        "a: |-\n  x\n    y\n\n  z\n\nb: |+\n  x\n\nc: |\n\n   x\n  \n",
        "- - a\n  - b\n- c: d\n  e:\n    f: g\n-\n  h: i\n-\n- j\n",
        "# a\na: 1 # b\n# c\nb: # d\n  c: x#y\n  d:\n",
        "a.b/c-d: 1\n'e f': 2\n\"g\": 3\n_h: 4\n",
        'a: é\nb: "ü"\n',
        "a: x:y\nb: -z\nc: http://x\n",
        "items:\n- a: 1\n- b\nkind: List\n",
        "items:\n  - a: 1\n  - b\nkind: List\n",
        "kind: List\nitems:\n- a\n",
        "just: text",
        '{"a": 1, "b": [true, null, -5, 1.5, 2.0, "\\u00e9\\n", {}, []]}',
        '{"items": [{"a": 1}, 5, "x"], "kind": "List"}',
        '{"items": [], "kind": "List"}',
        " {}",
    ],
)
@pytest.mark.sanitizer
def test_the_fast_reader_reads_the_output_of_kubectl(text: str):
    assert fast_value(text) == (exact(text),)


@pytest.mark.parametrize(
    "text",
    [
        "yes: 1",
        "0x1: 1",
        "1.0: 1",
        "12: 1",
        "~: 1",
        ": 1",
        "null: 1",
        "a: *x",
        "a: &x 1\nb: *x",
        "<<: {a: 1}",
        "a: !!str 5",
        "a: @x",
        "a:\tb",
        "a: b\tc",
        "a: b\r\n",
        "? a\n: b",
        "a: |2\n  b",
        "a: |\n  \tb\n",
        "a: |\n  b",
        "a: |\n\nb: c\n",
        "a: >\n  b\n",
        "a: [x]",
        "a: {b: c}",
        "a:\n  b c\n",
        "a: b: c",
        "a: b\n  c: d\n",
        "a: b\n # c\n  d\n",
        "a: 'b' c",
        "a: 'b",
        "a:\n   b: 1\n  c: 2\n",
        "a: 1\n- b\n",
        "- a\nb: 1\n",
        "a: \u2028",
        "a: 'x\\'\u0085'",
        'a: "\\q"',
        'a: "\\ud83d\\ude00"',
        'a: "b\\\n\n  c"',
        'a: "b\\/"',
        "a: .inf",
        "-.INF: a",
        "a: x\u0090",
        "a: 1\na: 1",
        "- a: 1\n  a: 2\n",
        "items:\n- a\nitems:\n- b\n",
        "items: x\nitems:\n- b\n",
        '{"a": 1, "a": 1}',
        '{"a": 01}',
        '{"a": 1.}',
        '{"a": .5}',
        '{"a": -}',
        '{"a": 1e}',
        '{"a": 12345678901234567890}',
        '{"a": "b\nc"}',
        '{"a": tru}',
        '{"a": 1,}',
        '{"a": 1} x',
        '{"items": [1}',
        '{"items": [1',
        '{"items": [{"a": 1} {"b": 2}], "kind": "List"}',
        '{"items": [1,], "kind": "List"}',
        '{"items": [1], "items": [2]}',
        "a:\n- " + "- " * 200 + "x",
        '{"a":' * 200 + "1" + "}" * 200,
    ],
)
@pytest.mark.sanitizer
def test_the_fast_reader_passes_other_documents_on(text: str):
    assert fast_value(text) is None


def test_an_escaped_slash_is_valid_only_in_json():
    assert fast_value('{"a": "b\\/"}') == ({"a": "b/"},)


def test_an_empty_text_has_no_value():
    assert fast_value("") == fast_value("# nothing\n\n") == (None,)


@pytest.mark.sanitizer
def test_equal_pod_templates_share_one_object():
    pod_set = "  - template:\n      spec:\n        a: {}\n    name: {}\n"
    text = (
        "podSets:\n" + pod_set.format(1, "x") + pod_set.format(1, "y") + pod_set.format(2, "z") + "template:\n  a: 1\n"
    )
    (value,) = fast_value(text) or ((),)
    assert value == exact(text)
    first, second, third = (pod_set["template"] for pod_set in value["podSets"])
    assert first is second
    assert third == {"spec": {"a": 2}}
    assert fast_value(json.dumps(value)) == fast_value(json.dumps(value, indent=4)) == (value,)
