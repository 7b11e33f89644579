"""Output of commands: tables or JSON; colour and progress on terminals only."""

import math
import sys
import textwrap
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from io import BytesIO
from pathlib import Path
from typing import Any

import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

from kueuepy.errors import InvalidSpecError
from kueuepy.files import write_file
from kueuepy.look.escapes import visible
from kueuepy.look.notebook import blocks
from kueuepy.look.numbers import time_left
from kueuepy.manifest import ManifestError, Problem

OK = 0
WRONG_INPUT = 1
WRONG_COMMAND_LINE = 2
ANSWER_IS_NO = 3
NOT_MODELLED = 4

SEVERITY_STYLES = {"error": "bold red", "warning": "yellow", "note": "cyan"}
_WIDE = 10_000
"""Columns of output to a file or a pipe, so that no line is wrapped or cut."""
_BAR = 20
"""The number of characters of a progress bar."""
_LONG = 32
"""The number of characters from which a cell may be broken into lines in a terminal."""
_TITLE = 18
"""The number of characters in a line of the title of a column."""


def _console(*, stderr: bool = False) -> Console:
    stream = sys.stderr if stderr else sys.stdout
    return Console(stderr=stderr, width=None if stream.isatty() else _WIDE, highlight=False, emoji=False)


def say(text: str | Text, *, style: str = "", stderr: bool = False) -> None:
    """Print a text: long lines are not wrapped, brackets are not markup, and control characters become escapes."""
    line = Text(visible(text), style=style) if isinstance(text, str) else text
    if (shown := visible(line.plain)) != line.plain:
        line = Text(shown, style=style)  # the spans of a text with other characters would be at wrong places
    _console(stderr=stderr).print(line, soft_wrap=True)


def say_notes(notes: Iterable[str]) -> None:
    """Print notes to standard error."""
    for note in notes:
        say(f"note: {note}", stderr=True)


class _Unmodelled:
    """The parts of the input that kueuepy does not model and that could change the answer of the running command."""

    def __init__(self) -> None:
        self.texts: tuple[str, ...] = ()
        self.json = False


_unmodelled = _Unmodelled()


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
        say(Text.assemble(("not modelled: ", "bold yellow"), text))


def exit_code(code: int) -> int:
    """Return the exit code of a command: `NOT_MODELLED` if its answer may differ from Kueue's."""
    return NOT_MODELLED if _unmodelled.texts and code in (OK, ANSWER_IS_NO) else code


def fail(error: Exception, *, json: bool = False, message: str | None = None) -> None:
    """Print an error as text to standard error, or as JSON to standard output."""
    message = str(error) if message is None else message
    if json:
        problems = error.problems if isinstance(error, ManifestError) else ()
        found = {"type": type(error).__name__, "message": message, "problems": list(map(problem_data, problems))}
        print_json({"error": found})
        return
    for line in message.splitlines() or [type(error).__name__]:
        say(Text.assemble(("error: ", "bold red"), line), stderr=True)


def problem_data(found: tuple[str, Problem]) -> dict[str, str]:
    """Return one problem of a manifest as JSON data."""
    where, problem = found
    return {"where": where, "field": problem.field, "kind": problem.kind, "message": problem.detail}


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Print a table; numeric columns are right-aligned.

    In a terminal, long cells are broken into lines, and columns that do not fit are printed below the others.
    """
    title, columns = visible(title), list(map(visible, columns))
    lines = [[("" if cell is None else visible(str(cell))) for cell in row] for row in rows]
    console = _console()
    if not console.is_terminal:
        with console.capture() as captured:
            console.print(_block(title, columns, lines))
        sys.stdout.writelines(f"{line.rstrip()}\n" for line in captured.get().splitlines())
        return
    widths = [max(map(len, "\n".join(texts).split("\n"))) for texts in zip(columns, *lines, strict=True)]
    for number, places in enumerate(blocks([min(width, _LONG) for width in widths], 1, console.width)):
        if number:
            console.print()
        heads, cells = [columns[at] for at in places], [[line[at] for at in places] for line in lines]
        console.print(_block("" if number else title, heads, cells))


def _block(title: str, columns: Sequence[str], lines: Sequence[Sequence[str]]) -> Table:
    shown = Table(title=title or None, title_justify="left", title_style="bold", box=None, pad_edge=False)
    for position, column in enumerate(columns):
        numeric = bool(lines) and all(_is_number(line[position]) for line in lines)
        shown.add_column(Text(column), justify="right" if numeric else "left", header_style="bold", overflow="fold")
    for line in lines:
        shown.add_row(*map(Text, line))
    return shown


def in_lines(title: str) -> str:
    """Break the title of a column into short lines."""
    return textwrap.fill(title, _TITLE, break_long_words=False)


def _is_number(text: str) -> bool:
    return text.lstrip("-").replace(".", "", 1).isdigit()


def print_json(value: Any) -> None:
    """Print a value as indented JSON.

    Field names are in snake_case, as in Python. JSON has no infinity, so infinite numbers are written as the strings
    "+Inf" and "-Inf". If the input has parts that kueuepy does not model, they are the first field of an object.
    """
    if _unmodelled.texts and isinstance(value, dict):
        value = {"not_modelled": _unmodelled.texts, **value}
    encoded = msgspec.json.encode(as_data(value), enc_hook=str)
    sys.stdout.write(msgspec.json.format(encoded, indent=2).decode() + "\n")


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
def progress(what: str) -> Iterator[None]:
    """Show a status line on standard error during a long operation, if it is a terminal."""
    console = _console(stderr=True)
    if not console.is_terminal:
        yield
        return
    with console.status(what):
        yield


@contextmanager
def counting(unit: str) -> Iterator[Callable[..., None] | None]:
    """Yield a function that shows a progress bar with the time left, or `None` if standard error is not a terminal.

    The function accepts the number of finished units of work, the total, and a note.

    Args:
        unit: The unit of work and what was done with it, such as `jobs done`.
    """
    if not sys.stderr.isatty():
        yield None
        return
    begin, before, last = time.monotonic(), None, 0

    def show(done: int, total: int, more: str = "") -> None:
        nonlocal begin, before, last
        if done < last:  # the next part of a command, with a total of its own
            begin, before = time.monotonic(), None
        before = max(done - 1, 0) if before is None else before  # a stored sweep begins with finished simulations
        last = done
        left = time_left(time.monotonic() - begin, done - before, total - before)
        bar = ("█" * (_BAR * done // max(total, 1))).ljust(_BAR, "░")
        text = f"{bar} {done:,} of {total:,} {unit}{more}{f', about {left} left' if left else ''}"
        sys.stderr.write(f"\r{text}\x1b[K")
        sys.stderr.flush()

    try:
        yield show
    finally:
        sys.stderr.write("\r\x1b[K")


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
