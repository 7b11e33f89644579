"""Command lines from signatures: the parameters of a function are the options of a command, its docstring is the help.

Parameters before `*` are arguments, and keyword-only parameters are options. Annotations determine how the text of an
option is read: `bool` is a flag, `tuple[str, ...]` is repeatable, a `Literal` lists the allowed words, and `Meta` of
msgspec limits numbers. A section `Options:` of the docstring describes them, and a section `Examples:` has command
lines. A parameter that the docstring does not describe is described where several commands share it: in `options`.
"""

from __future__ import annotations

import argparse
import inspect
import re
import shutil
import textwrap
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, NoReturn, get_args, get_origin, get_type_hints

import msgspec

from kueuepy.cli.output import UsageError
from kueuepy.errors.former import FORMER
from kueuepy.errors.problems import shown, suggestion

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    Command = Callable[..., int | None]

# The sections of a docstring in Google's style.
_SECTION = re.compile(r"^(Args|Options|Returns|Raises|Examples?):\n((?:(?: .*)?\n)*)", re.MULTILINE)
_ENTRY = re.compile(r"^    (\w+)(?: \(([^)]*)\))?: (.*(?:\n     .*)*)", re.MULTILINE)
# The path of an argument at the beginning of an error message.
_NAMES = re.compile(r"(?:[a-z_]+: )+")
# A negative number is a value, not an option.
_NUMBER = re.compile(r"-\.?\d")
# The short names of kubectl where it has them.
_SHORT = {"help": "-h", "namespace": "-n", "output": "-o", "futures": "-N", "verbose": "-v"}
# An option in a message; other commands and quoted text have options of their own.
_FLAG = re.compile(r"`[^`]*`|\b(?:kubectl|kueuepy) .*|(?<![\w-])(--[a-z][a-z-]*)")
# A record holds 64 bits.
_LARGEST = 2**63
_METAVARS = {int: "N", float: "X"}
# The most characters in a line of help, and the column at which the descriptions of options begin.
_WIDEST, _INDENT = 100, 27


class Docstring(NamedTuple):
    """The parts of a docstring.

    Attributes:
        summary: The first paragraph.
        about: The other paragraphs before the first section.
        options: For each parameter, the placeholder of its value, which may be empty, and the description.
        examples: The lines of the section with examples.
    """

    summary: str
    about: list[str]
    options: dict[str, tuple[str, str]]
    examples: list[str]

    @classmethod
    def of(cls, function: object) -> Docstring:
        """Read the docstring of a function or module."""
        text = f"{inspect.getdoc(function) or ''}\n"
        sections = dict(_SECTION.findall(text))
        entries = _ENTRY.findall(sections.get("Options", "") + sections.get("Args", ""))
        summary, *about = [" ".join(part.split()) for part in _SECTION.sub("", text).strip().split("\n\n")]
        options = {name: (metavar, " ".join(help_.split())) for name, metavar, help_ in entries}
        whole = re.sub(r"\n {5,}", " ", sections.get("Examples", ""))  # a deeper line continues an example
        lines = [line.strip() for line in whole.splitlines() if line.strip()]
        return cls(summary, about, options, lines)


class Option(NamedTuple):
    """An argument or option of a command.

    Attributes:
        name: The parameter of the function.
        kind: The type of a value.
        default: The value if the option is absent; `Parameter.empty` for a required one.
        is_argument: Whether the parameter is an argument, which has no name on the command line.
        repeats: Whether the value is a list or tuple.
        metavar: The placeholder of the value.
        help: The description.
    """

    name: str
    kind: Any
    default: Any
    is_argument: bool
    repeats: bool
    metavar: str
    help: str

    @property
    def is_flag(self) -> bool:
        """Whether the option has no value."""
        return self.kind is bool

    @property
    def flags(self) -> list[str]:
        """The names on the command line."""
        long = f"--{self.name.rstrip('_').replace('_', '-')}"
        negative = [f"--no-{long[2:]}"] if self.default is True else []
        return [*([_SHORT[self.name]] if self.name in _SHORT else []), long, *negative]

    @property
    def is_required(self) -> bool:
        """Whether the command line must have the option."""
        return self.default is inspect.Parameter.empty

    @property
    def usage(self) -> str:
        """The names and the placeholder, for help."""
        if self.is_argument:
            return f"{self.metavar}{'...' * self.repeats}"
        return ", ".join(self.flags) if self.is_flag else f"{', '.join(self.flags)} {self.metavar}"

    @property
    def description(self) -> str:
        """The description with the default, for help."""
        if self.is_required:
            return self.help if self.is_argument else f"{self.help}  [required]"
        is_shown = self.default not in (None, False, True, "", ())
        return f"{self.help}  [default: {self.default}]" if is_shown else self.help

    def read(self, text: str) -> Any:
        """Convert the text of a value.

        Raises:
            ArgumentTypeError: The text has another form.
        """
        from kueuepy.tables.kinds import exact_number  # noqa: PLC0415 - help does not need it

        try:
            is_number = {int, float} & {self.kind, *get_args(self.kind)}
            found = msgspec.convert(exact_number(text) if is_number else text, self.kind, strict=False)
            if not isinstance(found, int | float) or abs(found) < _LARGEST:
                return found
        except msgspec.ValidationError:
            pass
        raise argparse.ArgumentTypeError(f"is {shown(text)}; it must be {_allowed(self.kind)}")

    def add_to(self, parser: argparse.ArgumentParser, *, optional: bool) -> None:
        """Add the option to a parser."""
        # An absent option has no value, so that the default in the signature applies.
        given: dict[str, Any] = {"default": argparse.SUPPRESS, "dest": self.name}
        if self.is_flag:
            for flag in self.flags:
                action = "store_false" if self.default is True and flag.startswith("--no-") else "store_true"
                parser.add_argument(flag, action=action, **given)
        elif self.is_argument:
            left_out = optional or not self.is_required
            many = ("*" if left_out else "+") if self.repeats else ("?" if left_out else None)
            parser.add_argument(self.name, nargs=many, type=self.read, metavar=self.metavar)
        else:
            given |= {"type": self.read, "metavar": self.metavar, "required": self.is_required}
            parser.add_argument(*self.flags, action="append" if self.repeats else "store", **given)


def _allowed(kind: Any) -> str:
    """Return the values that a type allows, for an error message."""
    if get_origin(kind) is Literal:
        return f"one of {', '.join(get_args(kind))}"
    limits = next((one for one in get_args(kind) if isinstance(one, msgspec.Meta)), msgspec.Meta())
    noun = "an integer" if int in (kind, *get_args(kind)) else "a number"
    if limits.ge is not None and limits.le is not None:
        return f"{noun} from {limits.ge} to {limits.le}"
    return noun if limits.ge is None else f"{noun} of at least {limits.ge}"


def options_of(function: Command) -> list[Option]:
    """Return the arguments and options of a command, in the order of its parameters.

    A parameter whose type is a Struct of msgspec stands for several options: the fields of the Struct.
    """
    from kueuepy.cli import options  # noqa: PLC0415 - only its docstring is read

    described = Docstring.of(options).options | Docstring.of(function).options
    hints = get_type_hints(function, include_extras=True)
    found = []
    for name, parameter in inspect.signature(function).parameters.items():
        kind = hints[name]
        if _is_group(kind):
            found += [one._replace(is_argument=False) for one in options_of(kind)]
            continue
        if type(None) in get_args(kind):
            (kind,) = (one for one in get_args(kind) if one is not type(None))
        repeats = get_origin(kind) in (list, tuple)
        kind = get_args(kind)[0] if repeats else kind
        metavar, text = described.get(name, ("", ""))
        if get_origin(kind) is Literal:
            metavar = metavar or "|".join(get_args(kind))
        plain = kind if get_origin(kind) is None else get_args(kind)[0]
        metavar = metavar or _METAVARS.get(plain, name.upper().rstrip("_"))
        is_argument = parameter.kind is not inspect.Parameter.KEYWORD_ONLY
        found.append(Option(name, kind, parameter.default, is_argument, repeats, metavar, text))
    return found


def _is_group(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)


class _Parser(argparse.ArgumentParser):
    """A parser that raises UsageError."""

    def error(self, message: str) -> NoReturn:
        """Raise the error that argparse would print.

        Raises:
            UsageError: Always.
        """
        message = message.removeprefix("argument ").replace("the following arguments are required:", "needs")
        raise UsageError(message if message.startswith("-") else f"{self.prog}: {message}")


def parse(
    command: str,
    function: Command,
    words: Sequence[str],
    optional: Iterable[str] = (),
    elsewhere: Callable[[str], str] = lambda _: "",
    *,
    further: Iterable[str] = (),
) -> dict[str, Any]:
    """Return the arguments with which to call the function of a command.

    Args:
        command: The name of the command, for error messages.
        function: The function.
        words: The words of the command line after the name of the command.
        optional: Arguments that may be absent although the function requires them.
        elsewhere: Returns a hint for an option that only another function of the command has.
        further: Options that the program has read already, for hints.

    Raises:
        UsageError: An option is unknown, a required one is missing, or a value has another form.
    """
    options = options_of(function)
    # An abbreviation would become ambiguous when a command gets another option.
    parser = _Parser(command, add_help=False, allow_abbrev=False)
    for one in options:
        one.add_to(parser, optional=one.name in optional)
    flags = [flag for one in options if not one.is_argument for flag in one.flags]
    _expect_known(command, flags, words, elsewhere, further)
    # Options may stand between arguments, as in kubectl.
    found = vars(parser.parse_intermixed_args(list(words)))
    for one in options:
        if one.is_argument and found.get(one.name) in (None, []):  # argparse sets absent arguments
            found.pop(one.name, None)
    return found


def call(function: Command, values: Mapping[str, Any]) -> int | None:
    """Call the function of a command with the values that `parse` returns."""
    arguments, settings = [], {}
    hints = get_type_hints(function)
    for name, parameter in inspect.signature(function).parameters.items():
        if _is_group(hints[name]):
            fields = hints[name].__struct_fields__
            settings[name] = hints[name](**{field: values[field] for field in fields if field in values})
        elif parameter.kind is not inspect.Parameter.KEYWORD_ONLY:
            arguments += [values[name]] if name in values else []
        elif name in values:
            settings[name] = values[name]
    return function(*arguments, **settings)


def in_options(message: str, options: Iterable[Option], words: Sequence[str]) -> str:
    """Return the message of an error with the names of options instead of arguments in Python.

    A part after a semicolon is left out if it names an option that the command does not have.

    >>> def run(*, until: str = "") -> None: ...
    >>> in_options("simulate: until: 'x'; it must be a time", options_of(run), ())
    "--until: 'x'; it must be a time"

    Args:
        message: The message, which may begin with the names of a function, an argument and a field.
        options: The options of the command.
        words: The words of the command line; a message that begins with the name of a file remains unchanged.
    """
    flags = {one.name.rstrip("_"): one.flags[-1] for one in options if not one.is_argument}
    # Paths are edits in Python; --edit is a file, whose errors begin with its name.
    flags |= {"edit": flags["set"]} if "set" in flags else {}
    names = _NAMES.match(message)
    parts = names[0].split(": ")[:-1] if names else []
    index = max((at for at, part in enumerate(parts) if part in flags and part not in words), default=None)
    if index is not None:
        message = ": ".join([flags[parts[index]], *parts[index + 1 :], message[len(names[0]) if names else 0 :]])
    spelled = {name: flag for name, flag in flags.items() if "_" in name}  # in no other sentence
    message = re.sub(r"\b[a-z]+_[a-z_]+\b", lambda found: spelled.get(found[0], found[0]), message)
    first, *parts = message.split("; ")
    known = {"", *(flag for one in options for flag in one.flags)}
    return "; ".join([first, *(part for part in parts if known.issuperset(_FLAG.findall(part)))])


def _expect_known(
    command: str, flags: list[str], words: Iterable[str], elsewhere: Callable[[str], str], further: Iterable[str]
) -> None:
    """Check the names of options before argparse, whose message would have no hint, or name a missing option first.

    Raises:
        UsageError: The command has no such option.
    """
    for word in words:
        if word == "--":
            return
        name = word.partition("=")[0]
        if not name.startswith("-") or name == "-" or _NUMBER.match(name):
            continue
        if name not in flags and (name.startswith("--") or name[:2] not in flags):
            former = FORMER["option"].get(f"{command} {name}") or FORMER["option"].get(name)
            if former:
                raise UsageError(f"{command}: {name} is no longer an option: {former}")
            if other := elsewhere(name):
                raise UsageError(f"{command}: {other}")
            listed = [*(flag for flag in (*flags, *further) if flag.startswith("--")), "--help"]
            hint = suggestion(name, listed, f"kueuepy {command} --help lists all options")
            raise UsageError(f"{command}: {shown(name)} is not an option; {hint}")


def help_text(command: str, function: Command, others: Mapping[str, Command]) -> str:
    """Return the help of a command.

    Args:
        command: The name of the program and of the command.
        function: The function of the command.
        others: Further functions of the command, each with the word that selects it.
    """
    width = min(_WIDEST, shutil.get_terminal_size().columns)
    text, known = Docstring.of(function), {one.name for one in options_of(function)}
    parts = [_usage(command, function, others), *_filled([text.summary, *text.about], width)]
    arguments = [one for one in options_of(function) if one.is_argument]
    parts.append(_listed("Arguments", arguments, width))
    help_ = Option("help", bool, default=False, is_argument=False, repeats=False, metavar="", help="Show this help.")
    parts.append(_listed("Options", [*(one for one in options_of(function) if not one.is_argument), help_], width))
    examples = list(text.examples)
    for word, other in others.items():
        text = Docstring.of(other)
        examples += text.examples
        own = [one for one in options_of(other) if one.name not in known]
        title = f"With {word.rstrip('=')}{'CONTEXT' * word.endswith(':')}"
        if own:
            also = ", ".join(one.flags[0] for one in options_of(other) if one.name in known and not one.is_argument)
            about = [f"{title}: {text.summary}", *text.about]
            about[-1] += f" Of the options above, it accepts {also}." if also else ""
            parts += [*_filled(about, width), _listed("", own, width)]
    parts.append("Examples:\n" + "\n".join(f"  {line}" for line in dict.fromkeys(examples)))
    return "\n\n".join(part for part in parts if part) + "\n"


def _usage(name: str, function: Command, others: Mapping[str, Command]) -> str:
    lines = []
    for word, one in {"": function, **others}.items():
        required = [option.usage for option in options_of(one) if option.is_required]
        lines.append(" ".join([name, *([word] if word and word[-1] not in "=:" else []), "[OPTIONS]", *required]))
    return "Usage: " + "\n       ".join(dict.fromkeys(lines))


def _filled(paragraphs: Iterable[str], width: int) -> list[str]:
    return [textwrap.fill(text, width, break_on_hyphens=False, break_long_words=False) for text in paragraphs]


def _listed(title: str, options: Iterable[Option], width: int) -> str:
    """Return a list of options; a long name has a line of its own."""
    lines = [f"{title}:"] if title and options else []
    for one in options:
        name = f"  {one.usage}"
        texts = textwrap.wrap(one.description, width - _INDENT, break_on_hyphens=False, break_long_words=False)
        if len(name) > _INDENT - 2:
            lines.append(name)
            name = ""
        for text in texts or [""]:
            lines.append(f"{name:{_INDENT}}{text}".rstrip())
            name = ""
    return "\n".join(lines)
