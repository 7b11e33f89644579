"""The command `kueuepy`.

This module imports nothing that `--help` and `--version` do not need; each command is imported when it runs.
"""

from __future__ import annotations

import sys
from _thread import interrupt_main, start_new_thread
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kueuepy.cli.signature import Option

__all__ = ["main"]

# 130 is what a shell reports for a program that an interrupt ended.
_WRONG_INPUT, _WRONG_COMMAND_LINE, _INTERRUPTED = 1, 2, 130


class Entry(NamedTuple):
    """A command.

    Attributes:
        function: The function, after the module of this package that defines it.
        summary: The line in the list of commands.
        others: Functions that a word selects instead: an option (with `=` if it has a value), the beginning of an
            argument (`cluster:`), or the first argument.
    """

    function: str
    summary: str
    others: Mapping[str, str] = {}


class Program:
    """The program that runs commands.

    Attributes:
        name: The name of the program, for help.
        about: Further text for help.
        sources: Arguments that may be absent, because `complete` adds them.
        flags: The options of the program itself, for hints.
    """

    name = "kueuepy"
    about = ""
    sources: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()

    def in_help(self, text: str) -> str:
        """Return the help of a command as this program prints it."""
        return text

    def complete(self, options: Sequence[Option], values: dict[str, Any]) -> None:
        """Add values that the command line does not have."""


# Functions are named as text: importing the module of a command takes up to a second.
COMMANDS = {
    "check": Entry("check.check", "Validate objects and report surprising settings."),
    "convert": Entry("check.convert", "Convert objects of any API version to v1beta2."),
    "run": Entry("run.run", "Admit jobs until nothing changes, and show decisions and reasons."),
    "explain": Entry("run.explain", "Explain why a workload is pending or admitted."),
    "whatif": Entry(
        "whatif.whatif",
        "Test whether a job would be admitted, or what a change would do.",
        {"--job=": "whatif.admissions"},
    ),
    "import": Entry(
        "importing.import_",
        "Import the state of a cluster, or make a configuration for a log of jobs.",
        {"--rbac": "importing.rbac", "--jobs=": "explore.cluster_of"},
    ),
    "record": Entry("verify.record", "Record the history of a cluster."),
    "verify": Entry(
        "verify.verify",
        "Compare the decisions of a recorded or running cluster with those of kueuepy.",
        {"cluster:": "verify.follow"},
    ),
    "mcp": Entry("mcp.mcp", "Answer the questions of AI agents about a cluster."),
    "upgrade": Entry("compare.upgrade", "Compare the decisions of two releases of Kueue."),
    "compare": Entry("compare.compare", "Compare the results of jobs under two policies."),
    "simulate": Entry("simulate.simulate", "Simulate jobs on a cluster configuration."),
    "sweep": Entry("sweep.sweep", "Simulate jobs under many policies, and find the best policy."),
    "plan": Entry("sweep.plan", "Find the smallest quota that meets a target."),
    "guarantee": Entry("explore.guarantee", "Determine whether a cluster guarantees something."),
    "eta": Entry(
        "explore.eta", "Estimate when a pending workload gets quota, or is evicted.", {"--risk": "explore.risk"}
    ),
    "page": Entry("page.page", "Write an HTML page that shows the state of a cluster."),
    "serve": Entry(
        "page.serve",
        "Serve the page of a cluster, sliders for its quotas, or metrics.",
        {"--jobs=": "explore.play", "--metrics=": "explore.serve_metrics"},
    ),
    "report": Entry("page.report", "Write an HTML report of simulation results."),
    "jobs": Entry(
        "logs.describe", "Describe or convert a log of jobs.", {"convert": "logs.convert", "describe": "logs.describe"}
    ),
}
_ABOUT = """\
Make the same admission decisions as Kueue, without a cluster.

Exit codes:
  0    The command succeeded.
  1    The input is invalid or missing.
  2    The command line is invalid.
  3    The answer is negative, e.g. kueuepy check reports findings, a job would not be admitted, or a target is missed.
  4    The input has a feature gate or field that kueuepy does not model and that could change the answer.
  130  The command was interrupted.

Options:
  --version   Show the version and exit.
  -h, --help  Show this help and exit.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    return execute(list(sys.argv[1:] if argv is None else argv))


def execute(words: list[str], program: Program | None = None) -> int:
    """Run a command and return its exit code.

    Args:
        words: The command line without the name of the program.
        program: The program, if it is not `kueuepy`.
    """
    hook, sys.unraisablehook = sys.unraisablehook, _interrupted_again
    try:
        from kueuepy.cli import streams  # noqa: PLC0415 - an interrupt while it is imported is handled, too

        return streams.guarded(lambda: _run(words, program or Program()))
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        return _INTERRUPTED
    finally:
        sys.unraisablehook = hook


def _interrupted_again(ignored: sys.UnraisableHookArgs) -> None:
    """Interrupt again if Python ignores an interrupt because a finalizer was running, such as those of imports.

    Another thread does so, because an interrupt within this function would be ignored, too.
    """
    if ignored.exc_type is KeyboardInterrupt:
        start_new_thread(interrupt_main, ())
    else:
        sys.__unraisablehook__(ignored)


def _run(words: list[str], program: Program) -> int:
    name, *rest = words or ["--help"]
    if name in ("-h", "--help"):
        commands = "".join(f"  {command:11}{entry.summary}\n" for command, entry in COMMANDS.items())
        sys.stdout.write(
            f"Usage: {program.name} COMMAND [OPTIONS] ...\n\n{_ABOUT}{program.about}\nCommands:\n{commands}"
        )
        return 0
    if name == "--version":
        from kueuepy.profiles.version import describe  # noqa: PLC0415 - no other command needs it

        sys.stdout.write(f"{describe()}\n")
        return 0
    from kueuepy.cli import output  # noqa: PLC0415 - `--help` does not need them
    from kueuepy.errors import KueueError  # noqa: PLC0415

    # Before the words are parsed: errors of the command line are JSON, too.
    json = "--json" in rest
    output.start_command(json=json)
    try:
        return output.exit_code(_command(name, rest, program))
    except KueueError as error:
        output.fail(error, json=json)
        return _WRONG_COMMAND_LINE if isinstance(error, output.UsageError) else _WRONG_INPUT


def _command(name: str, words: list[str], program: Program) -> int | None:
    from kueuepy.cli import output, signature  # noqa: PLC0415 - `--help` does not need them
    from kueuepy.errors import KueueError  # noqa: PLC0415

    if name not in COMMANDS:
        raise output.UsageError(_unknown(name))
    entry = COMMANDS[name]
    # Help is printed even if the rest of the command line is not valid.
    if {"-h", "--help"} & {*words}:
        others = {word: _loaded(path) for word, path in entry.others.items()}
        text = signature.help_text(f"{program.name} {name}", _loaded(entry.function), others)
        sys.stdout.write(program.in_help(text))
        return 0
    key, function, words = _selected(entry, words)
    options = signature.options_of(function)
    elsewhere = partial(_elsewhere, entry, key)
    values = signature.parse(name, function, words, program.sources, elsewhere, further=program.flags)
    program.complete(options, values)
    try:
        return signature.call(function, values)
    except KueueError as error:
        error.args = (signature.in_options(str(error), options, words), *error.args[1:])
        raise


def _unknown(name: str) -> str:
    from kueuepy.errors.former import FORMER  # noqa: PLC0415 - only after a mistake
    from kueuepy.errors.problems import shown, suggestion  # noqa: PLC0415

    former = FORMER["command"].get(name) or FORMER["option"].get(name)
    if former:
        return f"{name} is no longer {'an option' if name.startswith('-') else 'a command'}: {former}"
    is_option = name.startswith("-")
    hint = suggestion(name, ["--help", "--version"] if is_option else COMMANDS, "kueuepy --help lists all commands")
    return f"{shown(name)} is not {'an option' if is_option else 'a command'}; {hint}"


def _elsewhere(entry: Entry, key: str, flag: str) -> str:
    """Describe an option that only another function of the command has; an empty string if none has it."""
    from kueuepy.cli import signature  # noqa: PLC0415 - `--help` does not need it

    for other, path in {"": entry.function, **entry.others}.items():
        if any(flag in option.flags for option in signature.options_of(_loaded(path))):
            return f"{flag} cannot be combined with {key.rstrip('=')}" if key else f"{flag} needs {other.rstrip('=')}"
    return ""


def _selected(entry: Entry, words: list[str]) -> tuple[str, Any, list[str]]:
    """Return the key of the function that the words select (empty by default), the function, and the words for it."""
    for key, path in entry.others.items():
        # `--job FILE` and `cluster:CONTEXT` stay in the command line, because the selected function reads them.
        if key[-1] in "=:" and any(f"{word}=".startswith(key) for word in words):
            return key, _loaded(path), words
        if key in (words if key.startswith("-") else words[:1]):
            position = words.index(key)
            return key, _loaded(path), [*words[:position], *words[position + 1 :]]
    return "", _loaded(entry.function), words


def _loaded(path: str) -> Any:
    module, _, name = path.partition(".")
    return getattr(import_module(f"kueuepy.cli.{module}"), name)
