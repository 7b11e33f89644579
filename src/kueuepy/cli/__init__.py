"""The command `kueuepy`.

`replay` and `perf` work after a plain install; the other commands need the extra `cli` (typer and rich).

Exit codes: 0 success; 1 invalid or missing input; 2 invalid command line; 3 negative answer: for example,
`kueuepy check` found problems, a job would not be admitted, or two policies differ.
"""

import sys
from collections.abc import Sequence

from kueuepy.cli import streams
from kueuepy.cli.command import PLAIN_COMMANDS
from kueuepy.cli.command import main as _plain_main

__all__ = ["PLAIN_COMMANDS", "main"]

_EXTRA = ("typer", "rich")


_HELP: tuple[list[str], ...] = ([], ["-h"], ["--help"], ["--version"])


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    return streams.guarded(lambda: _run(arguments))


def _run(arguments: list[str]) -> int:
    if arguments and arguments[0] in PLAIN_COMMANDS:
        return _plain(arguments)
    try:
        from kueuepy.cli.app import main as rich  # noqa: PLC0415 - the extra may be missing
    except ModuleNotFoundError as error:
        if str(error.name).partition(".")[0] not in _EXTRA:
            raise
        if arguments in _HELP:
            return _plain(arguments or ["--help"])
        sys.stderr.write(
            f"error: this command needs {error.name}, which is not installed; "
            f'pip install "kueuepy[cli]" installs it ({" and ".join(PLAIN_COMMANDS)} work without it)\n'
        )
        return 1
    return rich(arguments)


def _plain(arguments: list[str]) -> int:
    try:
        return _plain_main(arguments)
    except SystemExit as end:  # argparse has printed the help or an error
        return end.code if isinstance(end.code, int) else 2
