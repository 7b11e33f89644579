"""`python tools/replay.py`: every scenario is answered, and the exit code reports invalid ones."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from stories import scenario, workload

ROOT = Path(__file__).parents[2]
TOOL = ROOT / "tools" / "replay.py"
RECORDED = ROOT / "tests" / "scenarios" / "data" / "single.jsonl.gz"


def ran(*arguments, after="", **options):
    command = [
        "/bin/bash",
        "-c",
        f'set -o pipefail; "$0" "$@" {after}',
        sys.executable,
        str(TOOL),
        *map(str, arguments),
    ]
    return subprocess.run(command, check=False, capture_output=True, **options)  # noqa: S603 - our own interpreter


def story(name):
    return {**scenario({"submit": [workload("a", "2")], "cycle": True}), "name": name}


@pytest.mark.parametrize(
    ("invalid", "reason"),
    [
        ({**story("bad"), "weather": "fine"}, "Object contains unknown field `weather`"),
        ({**story("bad"), "steps": [{"at": 0, "finish": ["ns/nobody"]}]}, "names the workload 'ns/nobody'"),
        ({**story("bad"), "config": {"version": "v0.3"}}, "'v0.3' has no profile"),
    ],
)
def test_the_scenarios_after_an_invalid_one_are_answered(tmp_path, invalid, reason):
    path = tmp_path / "stories.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in (story("first"), invalid, story("last"))))
    done = ran(path, path)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [answer["name"] for answer in answers] == ["first", "bad", "last"] * 2
    assert [bool(answer["results"]) for answer in answers] == [True, False, True] * 2
    assert [line.split(": ")[:3] for line in done.stderr.decode().splitlines()] == [
        ["error", f"{path}:2", 'scenario "bad"']
    ] * 2
    assert reason in done.stderr.decode()
    assert done.returncode == 1


def test_the_files_after_one_that_cannot_be_read_are_answered(tmp_path):
    path = tmp_path / "stories.jsonl"
    path.write_text("[]\n" + json.dumps(story("last")))
    done = ran(tmp_path / "nowhere.jsonl", path)
    assert [json.loads(line)["name"] for line in done.stdout.splitlines()] == [None, "last"]
    assert done.stderr.decode().splitlines() == [
        f"error: {tmp_path}/nowhere.jsonl: cannot be read: No such file or directory",
        f"error: {path}:1: Expected `object`, got `array`; a scenario is one JSON object a line",
    ]
    assert done.returncode == 1


def test_standard_input_is_read():
    done = ran("-", input=json.dumps(story("only")).encode())
    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout)["results"][0]["admitted"] == ["ns/a"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_is_reported():
    done = ran(RECORDED, after=">/dev/full")
    assert (done.returncode, done.stderr) == (
        1,
        b"error: standard output: cannot be written: No space left on device\n",
    )


def test_a_reader_that_stops_early_is_no_error():
    done = ran(RECORDED, after="| true")
    assert (done.returncode, done.stderr) == (0, b"")
