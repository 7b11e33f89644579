"""Output of commands: tables or JSON; colour and progress on terminals only."""

import math
import os
import re
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TextIO

import msgspec

from kueuepy.errors import InvalidSpecError, KueueError, ManifestError, Problem
from kueuepy.files import write_file
from kueuepy.look.escapes import visible
from kueuepy.look.notebook import Named, Sheet, repr_text
from kueuepy.look.numbers import time_left

OK = 0
WRONG_INPUT = 1
ANSWER_IS_NO = 3
NOT_MODELLED = 4

SEVERITY_STYLES = {"error": "bold red", "warning": "yellow", "note": "cyan"}
# The numbers of ANSI escape sequences.
_CODES = {"bold": 1, "dim": 2, "red": 31, "yellow": 33, "cyan": 36}
# Columns of output to a file or a pipe, so that no line is wrapped or cut.
_WIDE = 10_000
# The number of characters of a progress bar.
_BAR = 20


class UsageError(KueueError):
    """The command line is not valid."""


def _paint(text: str, style: str, stream: TextIO) -> str:
    """Return a text in a style, on terminals that show colours."""
    # NO_COLOR and TERM=dumb are conventions that most command lines follow.
    plain = "NO_COLOR" in os.environ or os.environ.get("TERM") == "dumb" or not stream.isatty()
    codes = ";".join(str(_CODES[name]) for name in style.split())
    return text if plain or not (codes and text) else f"\x1b[{codes}m{text}\x1b[0m"


def say(*parts: str | tuple[str, str], style: str = "", stderr: bool = False) -> None:
    """Print a line: long lines are not wrapped, and control characters become escapes.

    Args:
        parts: The parts of the line: texts, or pairs of a text and its style.
        style: The style of the texts: words such as `bold red`.
        stderr: Whether to print to standard error.
    """
    stream = sys.stderr if stderr else sys.stdout
    pairs = [(part, style) if isinstance(part, str) else part for part in parts]
    stream.write("".join(_paint(visible(text), how, stream) for text, how in pairs) + "\n")


def say_notes(notes: Iterable[str]) -> None:
    """Print notes to standard error."""
    for note in notes:
        say(f"note: {note}", stderr=True)


# The parts of the input that kueuepy does not model and that could change the answer of the running command.
_unmodelled = SimpleNamespace(texts=(), json=False)


def start_command(*, json: bool) -> None:
    """Forget the parts of the input of the previous command that kueuepy does not model."""
    _unmodelled.texts, _unmodelled.json = (), json


def announce(texts: Iterable[str]) -> None:
    """Print the parts of the input that kueuepy does not model, as the first lines of the output.

    With `--json`, `print_json` adds them to the output instead. The command then exits with `NOT_MODELLED`.
    """
    new = tuple(text for text in dict.fromkeys(texts) if text not in _unmodelled.texts)
    _unmodelled.texts += new
    for text in () if _unmodelled.json else new:
        say(("not modelled: ", "bold yellow"), text)


def exit_code(returned: int | None) -> int:
    """Return the exit code of a command: `NOT_MODELLED` if its answer may differ from Kueue's."""
    code = ANSWER_IS_NO if returned is True else returned or OK
    return NOT_MODELLED if _unmodelled.texts and code in (OK, ANSWER_IS_NO) else code


def fail(error: Exception, *, json: bool = False) -> None:
    """Print an error as text to standard error, or as JSON to standard output."""
    message = str(error)
    if json:
        problems = error.problems if isinstance(error, ManifestError) else ()
        found = {"type": type(error).__name__, "message": message, "problems": list(map(problem_data, problems))}
        print_json({"error": found})
        return
    for line in message.splitlines() or [type(error).__name__]:
        say(("error: ", "bold red"), line, stderr=True)


def problem_data(found: tuple[str, Problem]) -> dict[str, str]:
    """Return one problem of a manifest as JSON data."""
    where, problem = found
    return {"where": where, "field": problem.field, "kind": problem.kind, "message": problem.detail}


def table(title: str, columns: Sequence[str | Named], rows: Iterable[Sequence[Any]]) -> None:
    """Print a table; numeric columns are right-aligned.

    In a terminal, long cells are broken into lines, and columns that do not fit are printed below the others.
    """
    cells = [["" if entry is None else entry for entry in row] for row in rows]
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else _WIDE
    if title:
        say(title, style="bold")
    for line in repr_text([Sheet(columns, cells)], width=width, most=len(cells)).splitlines():
        say(line)


def print_json(value: Any) -> None:
    """Print a value as indented JSON.

    Field names are in snake_case, as in Python. JSON has no infinity, so infinite numbers are written as the strings
    "+Inf" and "-Inf". If the input has parts that kueuepy does not model, they are the first field of an object.
    """
    if _unmodelled.texts and isinstance(value, dict):
        value = {"not_modelled": _unmodelled.texts, **value}
    encoded = msgspec.json.encode(as_data(value), enc_hook=str)
    sys.stdout.write(msgspec.json.format(encoded, indent=2).decode() + "\n")


def print_answer(found: object, data: Any, *, json: bool, is_negative: bool = False) -> bool:
    """Print an answer as its text, or the data with `--json`, and return the exit code.

    Args:
        found: The answer.
        data: The data for JSON.
        json: Whether to print JSON.
        is_negative: Whether the command exits with `ANSWER_IS_NO`, for which a command returns True.
    """
    if json:
        print_json(data)
    else:
        # The text is that of Python, where a method returns the other rows.
        say(re.sub(r"(more rows?; )[.\w()]+", r"\1--json", str(found)))
    return is_negative


def as_data(value: Any) -> Any:
    """Convert a value to JSON data; records become objects with their Python field names."""
    if isinstance(value, msgspec.Struct):
        return {name: as_data(getattr(value, name)) for name in value.__struct_fields__}
    if isinstance(value, float):
        return value if math.isfinite(value) else ("+Inf" if value > 0 else "-Inf")
    if isinstance(value, dict):
        return {str(key): as_data(inner) for key, inner in value.items()}
    return [as_data(inner) for inner in value] if isinstance(value, list | tuple) else value


@contextmanager
def _status_line() -> Iterator[Callable[[str], None]]:
    """Yield a function that shows a text in one line of standard error, if it is a terminal, until the context ends."""

    def show(text: str) -> None:
        if sys.stderr.isatty():
            # The escape sequence deletes the rest of a longer text.
            sys.stderr.write(f"\r{text}\x1b[K")
            sys.stderr.flush()

    try:
        yield show
    finally:
        show("")


@contextmanager
def progress(what: str) -> Iterator[None]:
    """Show a status line on standard error during a long operation, if it is a terminal."""
    with _status_line() as write:
        write(f"{visible(what)} …")
        yield


@contextmanager
def counting(unit: str, total: int = 0) -> Iterator[Callable[..., None]]:
    """Yield a function that shows a progress bar with the time left, if standard error is a terminal.

    Args:
        unit: The name of what is counted, in the plural.
        total: The total, unless the calls of the function pass it.
    """
    begin, before, last = time.monotonic(), None, 0

    def show(progress: Any, total: int = total) -> None:
        nonlocal begin, before, last
        done, total = (progress, total) if isinstance(progress, int) else (progress.done, progress.total)
        if done < last:  # the next part of a command, with a total of its own
            begin, before = time.monotonic(), None
        before = max(done - 1, 0) if before is None else before  # a stored sweep begins with finished simulations
        last = done
        left = time_left(time.monotonic() - begin, done - before, total - before)
        bar = ("█" * (_BAR * done // max(total, 1))).ljust(_BAR, "░")
        waiting = f", {progress.waiting:,} waiting or running" if hasattr(progress, "waiting") else ""
        write(f"{bar} {done:,} of {total:,} {unit}{waiting}{f', about {left} left' if left else ''}")

    with _status_line() as write:
        yield show


@contextmanager
def until_interrupted(stop: Callable[[], None]) -> Iterator[None]:
    """Call a function when the process is interrupted or asked to terminate, as long as the context lasts."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handlers = {one: signal.signal(one, lambda *_: stop()) for one in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for one, handler in handlers.items():
            signal.signal(one, handler)


def save_figure(figure: Any, path: str) -> None:
    """Write a figure of matplotlib in the format of the file's suffix; an existing file is replaced atomically.

    Raises:
        InvalidSpecError: matplotlib has no format with this suffix.
        StateError: The file cannot be written.
    """
    formats = figure.canvas.get_supported_filetypes()
    suffix = Path(path).suffix.lower().removeprefix(".")
    if suffix not in formats:
        allowed = ", ".join(f".{name}" for name in sorted(formats))
        raise InvalidSpecError(f"{path}: its name must end with one of {allowed}")
    content = BytesIO()
    figure.savefig(content, format=suffix)
    write_file(path, content.getvalue())


def expect_other_file(output: str | Path | None, *inputs: str | Path | None) -> None:
    """Check that the output of a command does not replace one of its inputs.

    Args:
        output: The output; `None` for none.
        inputs: The inputs. Names that are not files, such as `-`, are ignored.

    Raises:
        InvalidSpecError: The output is one of the inputs.
    """
    for name in inputs:
        with suppress(OSError, ValueError):
            if output is not None and name is not None and Path(output).samefile(name):
                break
    else:
        return
    raise InvalidSpecError(f"{output}: is read by this command; the output must be another file")
