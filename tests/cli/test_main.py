"""Common behaviour of commands: help, exit codes, errors and colour."""

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
from kueuepy.cli import COMMANDS, _selected
from kueuepy.cli.output import counting
from kueuepy.cli.signature import options_of
from kueuepy.errors.former import FORMER
from kueuepy.profiles.version import COMMIT, VERSION, installed

EXAMPLES = Path(__file__).parents[2] / "examples"
OFFLINE = ("check", "convert", "run", "explain", "whatif", "compare")
"""Commands whose examples need no running cluster and no file that the examples do not have."""


def test_help_names_every_command(kueuepy):
    ran = kueuepy("--help")

    assert ran.code == 0
    for command in COMMANDS:
        assert f"\n  {command} " in ran.out
    assert len(COMMANDS) <= 20


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_a_command_ends_with_one_line_examples(kueuepy, command):
    ran = kueuepy(command, "--help")

    assert ran.code == 0
    _, _, examples = ran.out.partition("Examples:\n")
    assert all(f"kueuepy {command}" in line for line in examples.strip().splitlines())
    assert examples


@pytest.mark.parametrize("command", OFFLINE)
def test_the_examples_of_help_work(kueuepy, command, monkeypatch, tmp_path):
    ends = kueuepy(command, "--help").out.partition("Examples:\n")[2].splitlines()
    lines = [line for line in ends if "cluster:" not in line]  # which needs a cluster
    examples = [shlex.split(line) for line in lines if re.match(r" *kueuepy ", line)]
    assert examples
    for name in ("examples", "benchmarks", "tests"):
        (tmp_path / name).symlink_to(Path(__file__).parents[2] / name)
    monkeypatch.chdir(tmp_path)
    for words in examples:
        if any(word.startswith("cluster:") for word in words):
            continue  # it needs a running cluster; tests/live has one
        ran = kueuepy(*words[words.index("kueuepy") + 1 :])
        assert ran.code in (0, 3)
        assert all(line.startswith("note: ") for line in ran.err.splitlines()) or "--output" in words


def test_the_version_names_core_python_and_kueue(kueuepy):
    built = f"(core {_core.VERSION}, Python {platform.python_version()})"
    assert kueuepy("--version").out == (
        f"kueuepy {installed()} {built}, deciding as kubernetes-sigs/kueue at {COMMIT} ({VERSION})\n"
    )


_HELP = {"__main__", "_home", "_stubs", "cli", "cli.streams", "look", "look.escapes", "look.notebook", "sources"}
_PROFILES = {
    "profiles",
    "profiles.gates",
    "profiles.images",
    "profiles.releases",
    "profiles.rules",
    "profiles.version",
}
_ERRORS = {"errors", *(f"errors.{name}" for name in ("arguments", "kinds", "libraries", "problems", "words"))}
_VERSION = {*_HELP, *_PROFILES, *_ERRORS, "_core"}
AT_THE_START = {"--help": _HELP, "--version": _VERSION}
"""The modules that the options may import: each takes milliseconds, which the shell waits."""


@pytest.mark.parametrize("option", AT_THE_START)
def test_help_and_the_version_import_few_modules(option):
    script = (
        "import sys; sys.argv[1:] = [sys.argv[1]]; import runpy\n"
        "try: runpy.run_module('kueuepy', run_name='__main__')\n"
        "except SystemExit: print(*sys.modules, file=sys.stderr)"
    )
    command = [sys.executable, "-c", script, option]
    ran = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603 - our own interpreter
    assert ran.stdout.startswith(("Usage: kueuepy ", "kueuepy "))
    found = {name.partition("kueuepy.")[2] for name in ran.stderr.split() if name.startswith("kueuepy.")}
    assert found <= AT_THE_START[option]
    assert not {"numpy", "yaml", "argparse"} & set(ran.stderr.split())


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("nope", '"nope" is not a command; kueuepy --help lists all commands'),
        ("chek", '"chek" is not a command; did you mean "check"?'),
        ("--nope", '"--nope" is not an option; known are --help, --version'),
        ("check --jsn x.yaml", 'check: "--jsn" is not an option; did you mean "--json"?'),
        ("import --rbac --usr me", 'import: "--usr" is not an option; did you mean "--user"?'),
        ("simulate --qqqq x.yaml", 'simulate: "--qqqq" is not an option; kueuepy simulate --help lists all options'),
        ("check -x", 'check: "-x" is not an option; known are --fail-on, --format, --help, --json, --kueue-version,'),
        ("check", "check: needs FILE"),
        ("compare x.yaml y.yaml", "compare: needs --jobs"),
        ("run x.yaml --rows 0", '--rows: is "0"; it must be an integer of at least 1'),
        ("run x.yaml --rows many", '--rows: is "many"; it must be an integer of at least 1'),
        ("serve x.yaml --port 70000", '--port: is "70000"; it must be an integer from 0 to 65535'),
        ("verify x.db --at-least nan", '--at-least: is "nan"; it must be a number from 0 to 1'),
        ("simulate x.yaml --jobs y --load inf", '--load: is "inf"; it must be a number'),
        ("simulate x.yaml --jobs y --model new", '--model: is "new"; it must be one of restart, checkpoint, resume'),
        (f"simulate {EXAMPLES}/week/teams.yaml --jobs y --map queue", '--map: is "queue"; it must be NAME=VALUE'),
        ("run x.yaml --rows", "--rows: expected one argument"),
        ("eta a x.yaml", "--runtimes or --history: one of them must be given, and only one"),
    ],
)
def test_a_wrong_command_line_is_named_and_exits_with_2(kueuepy, line, message):
    ran = kueuepy(*line.split())
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"error: {message}")
    assert ran.err.count("\n") == 1
    ran = kueuepy(*line.split(), "--json")
    if "command" not in message and not line.startswith("--"):
        assert (ran.code, ran.json["error"]["type"]) == (2, "UsageError")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--until soon", "--until: 'soon'; it must be a number of seconds"),
        ("--window x:y", "--window: start: 'x'; it must be"),
        ("--map queue=TEAM", '--map: "TEAM" names no column; known are'),
        ("--map runtime=runtime:mim", '--map: "runtime:mim": "mim" is not a unit; did you mean "min"?'),
        ("--every x --model checkpoint", "--every: 'x'; it must be"),
        ("--format new", "--format: is 'new'; it must be one of auto, csv"),
    ],
)
def test_errors_of_the_library_name_options(kueuepy, options, message):
    week = EXAMPLES / "week"
    ran = kueuepy("simulate", week / "teams.yaml", "--jobs", week / "jobs.csv", *options.split())
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith(f"error: {message}")


FAULTS = {
    "lost.csv": "name,queue,submit,runtime,cpu\nx,nowhere,0,60,1\n",
    "columns.csv": "name,team,submit,runtime,cpu\nx,nowhere,0,60,1\n",
    "running.csv": "name,queue,submit,runtime,cpu,censored\nx,team-a,0,60,1,1\ny,team-a,5,60,1,0\n",
    "printed.txt": "NAME   READY\nx  1\n",
}
_CPU = "ClusterQueue/team-a:quota[default-flavor/cpu].nominalQuota"
WITH_FAULTS = f"""
    upgrade TEAMS --jobs FILE --from v0.17 --to v0.19
    guarantee delays TEAMS --jobs FILE
    guarantee starvation TEAMS --jobs FILE --once FILE --period 1h
    guarantee shrink TEAMS JOBS --runtimes FILE --set {_CPU}=2
    eta a-4 TEAMS JOBS --runtimes 1h --future FILE --futures 2
    eta a-4 TEAMS JOBS --runtimes FILE --futures 2
    eta a-4 TEAMS JOBS --history FILE
    eta --risk a-4 TEAMS JOBS --future FILE --futures 2
    check FILE
    convert FILE
    run TEAMS FILE
    explain a-4 TEAMS JOBS FILE
    whatif TEAMS --job FILE
    whatif TEAMS --edit FILE
    import FILE
    import --jobs FILE
    jobs describe FILE --on TEAMS
    page FILE --output /dev/null
    report FILE --output /dev/null
    verify FILE
    compare TEAMS TEAMS --jobs FILE
    simulate TEAMS --jobs FILE
    sweep TEAMS --jobs FILE --over {_CPU}=2
    plan TEAMS --jobs FILE --target wait_mean<=1h --vary {_CPU} --from 2 --to 2
"""


@pytest.mark.parametrize("line", WITH_FAULTS.strip().splitlines())
def test_errors_name_only_options_that_the_command_has(kueuepy, tmp_path, line):
    command, *words = line.split()
    _, function, _ = _selected(COMMANDS[command], words)
    known = {flag for option in options_of(function) for flag in option.flags}
    seeds = {"TEAMS": EXAMPLES / "seeds/002/two-teams.yaml", "JOBS": EXAMPLES / "seeds/002/jobs.csv"}
    for name, text in FAULTS.items():
        (tmp_path / name).write_text(text)
        ran = kueuepy(command, *(tmp_path / name if word == "FILE" else seeds.get(word, word) for word in words))
        told = re.sub(r"`.*?`|kueuepy \w+ .*", "", ran.err)  # other commands
        assert {*re.findall(r"(?<![\w-])--[a-z][a-z-]*", told)} <= known, told


def test_a_long_argument_is_not_quoted_in_full(kueuepy):
    long = "x" * 100_000
    for line in (
        [long],
        ["check", long],
        ["check", f"--{long}"],
        ["run", "x.yaml", "--rows", long],
        ["convert", "--to", long],
    ):
        ran = kueuepy(*line)
        assert ran.code in (1, 2)
        assert len(ran.err) < 400


INTERRUPTED = """
import os, signal, sys
from kueuepy.cli import execute, main
after, *words = sys.argv[1:]
calls = -1
def count(frame, event, argument):
    # Count the calls since execute(), which handles interrupts, and interrupt at the chosen one, or in a function.
    global calls
    if event == "call" and (calls >= 0 or frame.f_code is execute.__code__):
        calls += 1
        if after in (str(calls), frame.f_code.co_name):
            sys.setprofile(None)
            os.kill(os.getpid(), signal.SIGINT)
sys.setprofile(count)
print("code", main(words))
"""


@pytest.mark.parametrize("calls", [1, 10, 100, 1_000, 10_000, 40_000, "cb"])  # cb ends an import
def test_an_interrupt_during_imports_or_work_is_one_line(calls):
    folder = EXAMPLES / "week"
    words = ["simulate", folder / "teams.yaml", "--jobs", folder / "jobs.csv"]
    command = [sys.executable, "-c", INTERRUPTED, str(calls), *map(str, words)]
    ran = subprocess.run(command, check=False, capture_output=True, text=True)  # noqa: S603 - our own interpreter
    assert (ran.stdout, ran.stderr) == ("code 130\n", "interrupted\n")


def test_a_missing_file_is_named_and_exits_with_1(kueuepy):
    ran = kueuepy("run", "nowhere.yaml")

    assert (ran.code, ran.out) == (1, "")
    assert ran.err == "error: nowhere.yaml: cannot be read: No such file or directory\n"


@pytest.mark.parametrize("command", FORMER["command"])
def test_a_removed_command_names_the_new_way(kueuepy, command):
    ran = kueuepy(command, "file.yaml")

    assert (ran.code, ran.out) == (2, "")
    assert ran.err == f"error: {command} is no longer a command: {FORMER['command'][command]}\n"


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
        ("guarantee delays {week}/teams.yaml --jobs {week}/jobs.csv", "simulations done"),
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
