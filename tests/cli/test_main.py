"""Common behaviour of commands: help, exit codes, errors, colour, and the optional extra."""

import io
import platform
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kueuepy import _core
from kueuepy.cli.output import counting
from kueuepy.profiles.version import COMMIT, VERSION, installed

EXAMPLES = Path(__file__).parents[2] / "examples"
COMMANDS = ("check", "convert", "run", "explain", "whatif", "compare")


def test_help_names_every_command(kueuepy):
    ran = kueuepy("--help")

    assert ran.code == 0
    for command in (*COMMANDS, "replay", "perf"):
        assert f"\n  {command} " in ran.out


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_a_command_ends_with_one_line_examples(kueuepy, command):
    ran = kueuepy(command, "--help")

    assert ran.code == 0
    _, _, examples = ran.out.partition("Examples:\n")
    assert all(f"kueuepy {command} " in line for line in examples.strip().splitlines())
    assert examples


@pytest.mark.parametrize("command", [*COMMANDS, "replay", "perf"])
def test_the_examples_of_help_work(kueuepy, command, monkeypatch, tmp_path):
    ends = kueuepy(command, "--help").out.splitlines()
    lines = [line for line in ends if "cluster:" not in line]  # which needs a cluster
    examples = [shlex.split(line) for line in lines if re.match(r"( *|example: )kueuepy ", line)]
    assert examples
    for name in ("examples", "benchmarks", "tests"):
        (tmp_path / name).symlink_to(Path(__file__).parents[2] / name)
    monkeypatch.chdir(tmp_path)
    for words in examples:
        if any(word.startswith("cluster:") for word in words):
            continue  # it needs a running cluster; tests/live has one
        ran = kueuepy(*words[words.index("kueuepy") + 1 :])
        assert ran.code in (0, 3)
        assert ran.err == "" or "--output" in words


def test_the_version_is_printed_with_and_without_the_extra(kueuepy):
    built = f"(core {_core.VERSION}, Python {platform.python_version()})"
    assert kueuepy("--version").out == (
        f"kueuepy {installed()} {built}, deciding as kubernetes-sigs/kueue at {COMMIT} ({VERSION})\n"
    )
    command = [sys.executable, "-c", _WITHOUT_TYPER, "--version"]
    ran = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603 - our own interpreter
    assert ran.stdout == kueuepy("--version").out


def test_help_without_the_extra_names_the_required_extra():
    for arguments in ([], ["--help"]):
        command = [sys.executable, "-c", _WITHOUT_TYPER, *arguments]
        ran = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603 - our own interpreter
        assert 'pip install "kueuepy[cli]"' in ran.stdout


def test_a_wrong_command_line_exits_with_2(kueuepy):
    for arguments in (["check", "--nope", "x.yaml"], ["nope"], ["check"]):
        ran = kueuepy(*arguments)
        assert ran.code == 2
        assert "Error: " in ran.err


def test_a_missing_file_is_named_and_exits_with_1(kueuepy):
    ran = kueuepy("run", "nowhere.yaml")

    assert (ran.code, ran.out) == (1, "")
    assert ran.err == "error: nowhere.yaml: cannot be read: No such file or directory\n"


def test_without_the_extra_the_error_names_the_extra(kueuepy, monkeypatch):
    for name in [name for name in sys.modules if name.startswith("kueuepy.cli.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "typer", None)

    ran = kueuepy("check", "x.yaml")
    assert ran.code == 1
    assert 'pip install "kueuepy[cli]"' in ran.err


_WITHOUT_TYPER = "import sys; sys.modules['typer'] = None; from kueuepy.cli import main; sys.exit(main(sys.argv[1:]))"


def test_replay_works_without_the_extra(tmp_path):
    scenario = tmp_path / "one.jsonl"
    scenario.write_text('{"name": "empty", "objects": [], "steps": [{"at": 0}]}\n', encoding="utf-8")

    command = [sys.executable, "-c", _WITHOUT_TYPER, "replay", scenario]
    ran = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603 - our own interpreter
    assert ran.stdout.startswith('{"name":"empty"')


class _Terminal(io.StringIO):
    def isatty(self):
        return True


def test_colour_and_progress_are_for_terminals_only(kueuepy, monkeypatch, lint_examples):
    path = lint_examples / "L6" / "surprising.yaml"
    plain = kueuepy("check", path)
    assert "\x1b[" not in plain.out + plain.err
    assert plain.err == ""

    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    out, err = _Terminal(), _Terminal()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    kueuepy("check", path)
    assert "\x1b[" in out.getvalue()
    assert "reading 1 source" in err.getvalue()


@pytest.mark.parametrize(
    ("command", "unit"),
    [
        ("compare {week}/teams.yaml {week}/alone.yaml --jobs {week}/jobs.csv", "jobs done"),
        ("upgrade {week}/teams.yaml --jobs {week}/jobs.csv --from v0.17 --to v0.19", "jobs done"),
        ("delays {week}/teams.yaml --jobs {week}/jobs.csv", "simulations done"),
        ("plan {week}/teams.yaml --jobs {week}/jobs.csv --target 'wait_mean <= 1h' --to 6", "simulations done"),
        ("verify {live}/history.db", "recorded changes applied"),
        ("verify {live}/history.db --closed", "recorded changes applied"),
    ],
)
def test_long_commands_show_their_progress(kueuepy, monkeypatch, command, unit):
    err = _Terminal()
    monkeypatch.setattr(sys, "stderr", err)
    words = command.replace("{week}", f"{EXAMPLES}/week").replace("{live}", f"{EXAMPLES}/live")
    words += " --from 4 --vary 'ClusterQueue/robots:quota[h100/nvidia.com/gpu].nominalQuota'" * words.startswith("plan")
    ran = kueuepy(*shlex.split(words))
    assert ran.code in (0, 3)
    shown = re.findall(rf"([\d,]+) of ([\d,]+) {unit}", err.getvalue())
    assert shown
    assert shown[-1][0] == shown[-1][1]


def test_the_progress_of_the_next_part_of_a_command_begins_again(monkeypatch):
    clock = iter(range(0, 1000, 10))
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    err = _Terminal()
    monkeypatch.setattr(sys, "stderr", err)
    with counting("parts done") as show:
        show(0, 4)
        show(2, 4)
        show(4, 4)
        show(1, 10)  # the second part, of which the first unit took 10 s
        show(2, 10)
    texts = [text.removesuffix("\x1b[K") for text in err.getvalue().split("\r")[1:-1]]
    assert [text.partition("parts done")[2] for text in texts] == [
        "",
        ", about 20 s left",
        ", about 0 s left",
        ", about 1 min 30 s left",
        ", about 1 min 20 s left",
    ]


def test_long_lines_are_not_cut_or_wrapped_in_a_pipe(kueuepy, lint_examples):
    ran = kueuepy("check", lint_examples / "L6" / "surprising.yaml")

    assert any(len(line) > 200 for line in ran.out.splitlines())
