"""Commands end with a message and one of four exit codes, for any content of their files."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import perf
import replay
from kueuepy.cli import main

ROOT = Path(__file__).parents[2]
SEEDS = ROOT / "examples" / "seeds"
TEAMS = str(SEEDS / "002" / "two-teams.yaml")
FILES = [path.read_text(encoding="utf-8") for path in sorted((ROOT / "examples").rglob("*.yaml"))]
PROFILES = [path.read_text(encoding="utf-8") for path in sorted((ROOT / "benchmarks" / "profiles").glob("*.yaml"))]
ROWS = (SEEDS / "003" / "jobs.csv").read_text(encoding="utf-8")
SCENARIO = {
    "name": "one",
    "config": {"waitForPodsReady": {"timeout": "5m"}, "fairSharing": {}},
    "objects": [
        {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ResourceFlavor", "metadata": {"name": "f"}},
        *yaml.safe_load_all((SEEDS / "002" / "two-teams.yaml").read_text(encoding="utf-8")),
    ],
    "steps": [
        {"at": 0, "cycle": True, "submit": [{"kind": "Workload", "metadata": {"name": "w"}, "spec": {"podSets": []}}]},
        {"at": 1.5, "settle": True, "finish": ["default/w"], "checks": [{"workload": "default/w", "state": "Ready"}]},
    ],
}

ODD = st.sampled_from(
    [None, "", 0, -1, 1.5, "x", [], {}, True, "9" * 30, [None], {"a": None}, "ä", 2**70, "..", "36Gi", {"name": 1}]
)


@st.composite
def _changed(draw, value):
    """A value with one part replaced, removed, duplicated or added."""
    if isinstance(value, dict) and value and draw(st.integers(0, 9)):
        key = draw(st.sampled_from(sorted(value, key=str)))
        match draw(st.integers(0, 5)):
            case 0:
                return {name: inner for name, inner in value.items() if name != key}
            case 1:
                return {**value, draw(st.sampled_from(["spec", "name", "status", "x"])): draw(ODD)}
            case _:
                return {**value, key: draw(_changed(value[key]))}
    if isinstance(value, list) and value and draw(st.integers(0, 9)):
        index = draw(st.integers(0, len(value) - 1))
        match draw(st.integers(0, 5)):
            case 0:
                return value[:index] + value[index + 1 :]
            case 1:
                return [*value, copy.deepcopy(value[index])]
            case _:
                return [*value[:index], draw(_changed(value[index])), *value[index + 1 :]]
    return draw(ODD)


@st.composite
def _files(draw, texts):
    """A file: one of the texts, with some parts or bytes changed."""
    text = draw(st.sampled_from(texts))
    if draw(st.booleans()):
        documents = draw(_changed(list(yaml.safe_load_all(text))))
        return yaml.safe_dump_all(documents, allow_unicode=True).encode() if isinstance(documents, list) else b""
    data = bytearray(text.encode())
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(data)))
        piece = draw(st.binary(max_size=4) | st.sampled_from([b": ", b"- ", b"&a ", b"*a ", b"---\n", b"{", b"'"]))
        data[start : start + draw(st.integers(0, 20))] = piece
    return bytes(data)


def _ends_well(capsys, *arguments):
    code = main(list(arguments))
    out, err = capsys.readouterr()
    assert code in (0, 1, 2, 3)
    assert code != 1 or err or out  # `check --json` prints problems on standard output
    assert "Traceback" not in err


_fuzz = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large]
)


@_fuzz
@given(
    st.sampled_from(
        [
            ("check", "FILE"),
            ("check", "--json", "--lenient", "FILE"),
            ("convert", "FILE"),
            ("run", TEAMS, "FILE"),
            ("run", "--lenient", "--json", "FILE"),
            ("explain", "train", TEAMS, "FILE"),
            ("whatif", TEAMS, "--job", "FILE"),
            ("whatif", TEAMS, "--job", "FILE", "--largest"),
            ("whatif", TEAMS, "--edit", "FILE"),
            ("compare", TEAMS, "FILE", "--jobs", "FILE"),
        ]
    ),
    _files(FILES),
)
def test_commands_survive_any_objects_and_jobs(tmp_path, capsys, arguments, data):
    path = tmp_path / "file.yaml"
    path.write_bytes(data)
    _ends_well(capsys, *(str(path) if argument == "FILE" else argument for argument in arguments))


@_fuzz
@given(st.sampled_from(["run", "whatif", "compare"]), _files([ROWS]))
def test_commands_survive_any_rows(tmp_path, capsys, command, data):
    path = tmp_path / "file.csv"
    path.write_bytes(data)
    options = {"run": [TEAMS, path], "whatif": [TEAMS, "--job", path], "compare": [TEAMS, TEAMS, "--jobs", path]}
    _ends_well(capsys, command, *map(str, options[command]))


@_fuzz
@given(_files(PROFILES))
def test_perf_survives_any_profile(tmp_path, capsys, data):
    path = tmp_path / "profile.yaml"
    path.write_bytes(data)
    code = perf.main([str(path)])
    assert (code, capsys.readouterr().err[:7]) in ((0, ""), (1, "error: "))


@_fuzz
@given(_changed(SCENARIO) | _changed(SCENARIO).flatmap(_changed))
def test_replay_survives_any_scenario(tmp_path, capsysbinary, scenario):
    path = tmp_path / "scenarios.jsonl"
    path.write_text(json.dumps(scenario), encoding="utf-8")
    code = replay.main([str(path)])
    out, err = capsysbinary.readouterr()
    assert (code, bool(json.loads(out)["results"]), bool(err)) in (
        (0, True, False),
        (0, False, False),
        (1, False, True),
    )


@pytest.mark.parametrize(
    "data",
    [b"\x1f\x8b\x08\x00broken", b"[" * 100_000, b"{}\n", b"\xff\xfe\n", b'{"name": 1, "objects": [], "steps": []}'],
)
def test_an_invalid_scenario_is_rejected_with_its_location(tmp_path, capsysbinary, data):
    path = tmp_path / "scenarios.jsonl"
    path.write_bytes(data)
    assert replay.main([str(path)]) == 1
    assert capsysbinary.readouterr().err.decode().startswith(f"error: {path}:")
