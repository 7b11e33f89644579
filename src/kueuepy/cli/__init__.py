"""The command `kueuepy`.

Without the extra `cli` (typer and rich), only `--help` and `--version` work.

Exit codes: 0 success; 1 invalid or missing input; 2 invalid command line; 3 negative answer: for example,
`kueuepy check` found problems, a job would not be admitted, or two policies differ.
"""

import sys
from collections.abc import Sequence

from kueuepy.cli import streams
from kueuepy.errors.former import FORMER
from kueuepy.profiles.version import describe

__all__ = ["main"]

_EXTRA = ("typer", "rich")
_INSTALL = 'pip install "kueuepy[cli]"'
_HELP: tuple[list[str], ...] = ([], ["-h"], ["--help"])
_WRONG_COMMAND_LINE = 2


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    return streams.guarded(lambda: _run(arguments))


def _run(arguments: list[str]) -> int:
    if new_way := FORMER["command"].get(" ".join(arguments[:1])):
        sys.stderr.write(f"error: {arguments[0]} is no longer a command: {new_way}\n")
        return _WRONG_COMMAND_LINE
    try:
        from kueuepy.cli.app import main as rich  # noqa: PLC0415 - the extra may be missing
    except ModuleNotFoundError as error:
        if str(error.name).partition(".")[0] not in _EXTRA:
            raise
        return _without_extra(arguments, error.name)
    return rich(arguments)


def _without_extra(arguments: list[str], missing: str | None) -> int:
    if arguments == ["--version"]:
        sys.stdout.write(f"{describe()}\n")
        return 0
    if arguments in _HELP:
        sys.stdout.write(f"The commands of kueuepy need the extra cli: {_INSTALL}\n")
        return 0
    sys.stderr.write(f"error: this command needs {missing}, which is not installed; {_INSTALL} installs it\n")
    return 1
