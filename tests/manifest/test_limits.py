"""Hostile files: limits are exact, also far beyond the limit."""

import gzip
import json
import time

import pytest

from kueuepy.manifest import LimitError, Limits, ManifestError, load
from kueuepy.manifest.text.reading import read


def values(text: str, limits: Limits = Limits()) -> list[object]:  # noqa: B008
    return [item.value for item in read("f.yaml", text.encode(), limits, strict=True)]


def exceeds(text: str, limits: Limits = Limits()) -> LimitError:  # noqa: B008
    start = time.process_time()
    with pytest.raises(LimitError) as error:
        values(text, limits)
    assert time.process_time() - start < 20
    assert f"limit {error.value.limit}" in str(error.value)
    return error.value


def test_bytes():
    limits = Limits(document_bytes=100)
    assert values("a: " + "x" * 97, limits)
    for size in (98, 100_000):
        assert exceeds("a: " + "x" * size, limits).limit == "document_bytes"


def test_the_size_of_a_file_is_checked_before_it_is_read(tmp_path):
    (tmp_path / "big.yaml").write_text("a: " + "x" * 98)
    with pytest.raises(LimitError, match=r"big\.yaml: the file has 101 bytes; at most 100 are allowed"):
        load(tmp_path / "big.yaml", limits=Limits(document_bytes=100))


def test_a_gzipped_file_is_read_by_its_content_and_within_the_limits(tmp_path):
    text = "# a comment\n" * 9 + "kind: Cohort\napiVersion: kueue.x-k8s.io/v1beta2\nmetadata: {name: research}\n"
    whole = gzip.compress(text.encode())
    for name in ("dump.yaml.gz", "dump.yaml"):
        (tmp_path / name).write_bytes(whole)
        assert [cohort.name for cohort in load(tmp_path / name).cohorts] == ["research"]
    (tmp_path / "dump.yaml").unlink()
    assert len(load(tmp_path).cohorts) == 1  # a directory
    with pytest.raises(LimitError, match=r"dump\.yaml\.gz: the file is gzipped, and has more bytes; at most 150 are"):
        load(tmp_path / "dump.yaml.gz", limits=Limits(document_bytes=150))
    for size in range(2, len(whole)):
        (tmp_path / "torn.yaml").write_bytes(whole[:size])
        with pytest.raises(ManifestError, match=r"torn\.yaml:1:1: it is gzipped and damaged: "):
            load(tmp_path / "torn.yaml")


def test_nodes():
    limits = Limits(nodes=100)
    assert values("[" + ",".join("a" * 100) + "]", limits)
    for count in (101, 100_000):
        assert exceeds("[" + ",".join("a" * count) + "]", limits).limit == "nodes"


@pytest.mark.parametrize(
    ("opening", "inner", "closing"),
    [("[", "", "]"), ("{a: ", "1", "}"), ("- ", "a", ""), ('{"a":', "1", "}"), ("[{a: ", "1", "}]")],
)
def test_depth(opening: str, inner: str, closing: str):
    def nested(depth: int) -> str:
        return opening * depth + inner + closing * depth

    per_opening = opening.count("[") + opening.count("{") + opening.count("- ")
    assert values(nested(512 // per_opening))
    for depth in (512 // per_opening + 1, 512_000 // per_opening):
        error = exceeds(nested(depth))
        assert (error.limit, error.line) == ("depth", 1)


def test_depth_of_indentation_names_the_line():
    def nested(depth: int) -> str:
        return "".join(" " * i + "a:\n" for i in range(depth))

    assert values(nested(512))
    assert exceeds(nested(513)).line == 513
    assert exceeds(nested(3000)).line == 513


@pytest.mark.parametrize("form", ["a: {}", 'a: "{}"', '{{"a":"{}"}}', "{}: a", "a: |\n  {}"])
def test_scalars(form: str):
    limits = Limits(scalar_bytes=1000)
    text = form.format("x" * 990)
    assert values(text, limits)
    for size in (1001, 1_000_000):
        assert exceeds(form.format("x" * size), limits).limit == "scalar_bytes"


def test_scalars_count_in_bytes():
    limits = Limits(scalar_bytes=1000)
    assert values("a: " + "é" * 500, limits)
    assert exceeds("a: " + "é" * 501, limits).limit == "scalar_bytes"


def bomb(levels: int) -> str:
    lines = ["a0: &a0 [x,x,x,x,x,x,x,x,x]"]
    lines += [f"a{i}: &a{i} [{','.join([f'*a{i - 1}'] * 9)}]" for i in range(1, levels)]
    return "\n".join(lines)


def test_aliases_for_the_written_nodes():
    assert values(bomb(3))
    for levels in (4, 9, 40):
        error = exceeds(bomb(levels))
        assert error.limit == "alias_ratio"
        assert error.line == 4


def test_aliases_in_total():
    def text(aliases: int) -> str:
        return "a: &a [x]\nb:\n" + "- *a\n" * aliases

    limits = Limits(alias_nodes=200)
    assert values(text(100), limits)
    error = exceeds(text(101), limits)
    assert (error.limit, error.line) == ("alias_nodes", 103)
    assert exceeds(text(100_000), limits).limit == "alias_nodes"


def test_aliases_cannot_go_deeper_than_the_limit():
    text = "a: &a " + "[" * 300 + "]" * 300 + "\nb: " + "[" * 300 + "*a" + "]" * 300
    assert exceeds(text).limit == "depth"


def test_a_million_keys_are_read_in_time():
    start = time.process_time()
    (value,) = values("\n".join(f"k{i}: v" for i in range(300_000)))
    assert len(value) == 300_000
    assert time.process_time() - start < 20


def test_a_lone_surrogate_is_not_utf8():
    with pytest.raises(ValueError, match="this is not UTF-8"):
        load("a: \ud800\n")


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"kind": "ResourceSlice", "spec": {"devices": [{"name": "\ud83d"}]}}, r'"a": spec\.devices\[0\]\.name'),
        ({"kind": "DeviceClass", "spec": {"selectors": [{"cel": {"expression": "\udc00"}}]}}, r"\.cel\.expression"),
        ({"kind": "Pod", "spec": {"\ud83d": 1}}, r'Pod "a": spec'),
        ({"kind": "\ud83d"}, r'\? "a": kind'),
    ],
)
def test_a_lone_surrogate_in_an_object_is_rejected_with_its_field(change: dict[str, object], field: str):
    document = {"apiVersion": "resource.k8s.io/v1", "metadata": {"name": "a"}, **change}
    for source in (document, {"apiVersion": "v1", "kind": "List", "items": [document]}):
        with pytest.raises(ValueError, match=rf"{field}: must be valid Unicode|items\[0\].*: must be valid Unicode"):
            load(source)


@pytest.mark.parametrize("code", [0, 7, 8, 11, 31, 127])
def test_control_characters(code: int):
    with pytest.raises(ValueError, match=rf"text:2:4: control character {code:#04x} is not allowed"):
        load(f"a: b\nc: {chr(code)}\n")


def test_deep_json_does_not_exhaust_the_stack():
    text = json.dumps({"a": 1})
    for _ in range(9):
        text = text.replace("1", text)
    assert values(text)
    assert exceeds('{"a":' * 600 + "1" + "}" * 600).limit == "depth"
    assert exceeds('{"a":' * 100_000 + "1" + "}" * 100_000).limit == "depth"


def test_documents_cannot_refer_to_paths():
    manifest = load('apiVersion: v1\nkind: Secret\nmetadata: {name: x}\ndata: {path: "file:///etc/passwd"}\n')
    assert [str(note) for note in manifest.notes] == ['text:1: Secret "x": does not bear on admission; skipped']
