"""Output streams that are full, closed or not read."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEAMS = ROOT / "examples/seeds/002/two-teams.yaml"
JOBS = ROOT / "examples/seeds/002/jobs.csv"
DUMP = ROOT / "examples/live/dump.yaml"
COMMANDS = [
    ("check", TEAMS),
    ("convert", TEAMS),
    ("run", TEAMS, JOBS),
    ("run", "--json", TEAMS, JOBS),
    ("--help",),
]
ENDS = [3, 0, 0, 0, 0]


def _ran(arguments, *, after="", **environment):
    """A command in a shell that sets its streams up."""
    words = [sys.executable, "-m", "kueuepy", *map(str, arguments)]
    return subprocess.run(  # noqa: S603 - our own interpreter
        ["/bin/bash", "-c", f'set -o pipefail; "$0" "$@" {after}', *words],
        check=False,
        capture_output=True,
        env=os.environ | environment,
    )


pytestmark = pytest.mark.skipif(not Path("/bin/bash").exists(), reason="needs a shell that closes streams")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("arguments", COMMANDS)
def test_a_full_disk_is_reported(arguments):
    ran = _ran(arguments, after=">/dev/full")
    assert ran.returncode == 1
    assert ran.stderr == b"error: standard output: cannot be written: No space left on device\n"


@pytest.mark.parametrize("arguments", COMMANDS)
def test_a_closed_output_is_reported(arguments):
    ran = _ran(arguments, after=">&-")
    assert ran.returncode == 1
    assert ran.stderr == b"error: standard output: cannot be written: Bad file descriptor\n"


@pytest.mark.parametrize(("arguments", "code"), [*zip(COMMANDS, ENDS, strict=True)])
def test_a_reader_that_stops_early_does_not_change_the_exit_code(arguments, code):
    ran = _ran(arguments, after="| true")
    assert (ran.returncode, ran.stderr) == (code, b"")


def test_a_closed_or_full_standard_error_does_not_change_the_exit_code():
    assert _ran(("check", "nowhere.yaml"), after="2>&-").returncode == 1
    assert _ran(("check", TEAMS), after="2>&-").returncode == 3


def test_a_closed_standard_input_is_reported():
    ran = _ran(("check", "-"), after="<&-")
    assert (ran.returncode, ran.stderr) == (1, b"error: standard input: cannot be read: it is closed\n")


def test_characters_missing_from_the_output_encoding_are_replaced():
    ran = _ran(("explain", "a-4", TEAMS, JOBS), PYTHONIOENCODING="latin-1")
    assert (ran.returncode, ran.stderr) == (0, b"")
    assert b"\n?? default-flavor: does not fit" in ran.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ("convert", TEAMS, "-o"),
        ("compare", TEAMS, TEAMS, "--jobs", JOBS, "--picture"),
        ("import", DUMP, "--save"),
    ],
)
def test_a_file_that_cannot_be_written_is_named(kueuepy, tmp_path, arguments):
    nowhere = tmp_path / "nowhere" / "file"
    ran = kueuepy(*arguments, nowhere)
    assert ran.code == 1
    assert ran.err.endswith(f"error: {nowhere}: cannot be written: No such file or directory\n")
    ran = kueuepy(*arguments, tmp_path)
    assert ran.code == 1
    assert ran.err.endswith(f"error: {tmp_path}: cannot be written: Is a directory\n")


@pytest.mark.parametrize("arguments", [("run",), ("page", "-o", "page.html"), ("import",)])
def test_a_source_with_a_name_that_is_too_long_is_named(kueuepy, arguments):
    ran = kueuepy(*arguments, "x" * 300)
    assert ran.code == 1
    assert ran.err.splitlines()[-1].startswith(f"error: {'x' * 100}")
    assert ran.err.endswith(": File name too long\n")


@pytest.mark.parametrize(
    "arguments",
    [
        ("simulate", TEAMS, "--jobs", "LOG", "--report", "LOG"),
        ("sweep", TEAMS, "--jobs", "LOG", "--over", "jobs:scale_load=1,2", "--out", "LOG"),
        ("import", "--jobs", "LOG", "-o", "LOG"),
        ("import", "LOG", "--save", "LOG"),
    ],
)
def test_an_output_does_not_replace_an_input(kueuepy, tmp_path, arguments):
    log = tmp_path / "log.csv"
    log.write_text("queue,submit,runtime,cpu\nteam-a,0,60,1\n")
    (link := tmp_path / "link.csv").symlink_to(log)
    *others, last = (log if argument == "LOG" else argument for argument in arguments)
    for output in (last, link):
        ran = kueuepy(*others, output)
        assert ran.code == 1
        assert ran.err.endswith(f"error: {output}: is read by this command; the output must be another file\n")
    assert log.read_text().startswith("queue,")
