"""Problems in objects and files, and the exceptions that report them."""

import re
from collections.abc import Collection, Iterable, Sequence
from difflib import SequenceMatcher, get_close_matches
from typing import Literal, TypeAlias

import msgspec

from kueuepy.errors.kinds import InvalidSpecError, NotFoundError

ProblemKind: TypeAlias = Literal[
    "Invalid", "Required", "Duplicate", "NotSupported", "Forbidden", "TooMany", "NotFound", "Unknown", "Syntax"
]
Path: TypeAlias = tuple[str | int, ...]
"""The path of a field: keys of mappings and positions in lists, starting at the whole object."""


class Problem(msgspec.Struct, frozen=True):
    """A problem in an object.

    Attributes:
        path: The field, such as `("spec", "resourceGroups", 0, "flavors")`.
        kind: The kind of problem, as in Kubernetes' validation.
        detail: The problem, and what is allowed.
    """

    path: Path
    kind: ProblemKind
    detail: str

    @property
    def field(self) -> str:
        """The path of the field, in the form that Kubernetes uses.

        >>> Problem(("spec", "podSets", 0, "count"), "Invalid", "is -1; it must be 0 or more").field
        'spec.podSets[0].count'
        """
        return path_text(self.path)

    def __str__(self) -> str:
        """Return the path of the field and the problem."""
        return f"{self.field}: {self.detail}" if self.path else self.detail


class ManifestError(InvalidSpecError):
    """Objects or files are not valid. The message has one line per problem.

    Attributes:
        problems: For each line of the message, the location and the problem.
    """

    def __init__(self, problems: Sequence[tuple[str, Problem]]) -> None:
        """Create the error from places and problems."""
        self.problems = tuple(problems)
        super().__init__("\n".join(f"{where}: {problem}" for where, problem in problems))

    def locate(self, where: str) -> None:
        """Add a position in a file to each line."""
        self.problems = tuple((f"{where}: {name}", problem) for name, problem in self.problems)
        self.args = ("\n".join(f"{name}: {problem}" for name, problem in self.problems),)


class LimitError(InvalidSpecError):
    """A file exceeds a limit that protects against excessive use of time or memory by hostile input.

    Attributes:
        limit: The name of the limit, a field of `Limits`.
        allowed: The value of the limit.
        line: The line at which the limit is exceeded, from 1; 0 if the whole file exceeds it.
        column: The column at which the limit is exceeded, from 1; 0 if the whole file exceeds it.
    """

    def __init__(self, where: str, limit: str, allowed: int, what: str, position: tuple[int, int] = (0, 0)) -> None:
        """Create the error.

        Args:
            where: The file.
            limit: The name of the limit.
            allowed: The value of the limit.
            what: A description of how the file exceeds the limit.
            position: The line and column of the problem, both starting at 1. By default, the problem concerns the whole
                file.
        """
        self.limit = limit
        self.allowed = allowed
        self.line, self.column = position
        name = f"{where}:{self.line}:{self.column}" if self.line else where
        super().__init__(f"{name}: {what}; at most {allowed:,} are allowed (limit {limit})")


def path_text(path: Iterable[str | int]) -> str:
    """Return a path as Kubernetes writes it: dots before fields, brackets around positions and unusual keys."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        elif step.replace("_", "").replace("-", "").isalnum():
            text += f".{step}" if text else step
        else:
            text += f"[{step}]"
    return text


_STEP = re.compile(r'\.?([^.\[\]" ]+)|\[(\d+)\]|\["([^"]*)"\]', re.ASCII)


def steps(text: str) -> Path:
    """Parse a path such as `spec.containers[0]`.

    >>> steps('metadata.labels["a.example/b"]'), steps("spec.podSets[0]")
    (('metadata', 'labels', 'a.example/b'), ('spec', 'podSets', 0))
    """
    return tuple(int(number) if number else key or quoted for key, number, quoted in _STEP.findall(text))


def nearest(word: str, known: Iterable[str], cutoff: float = 0.6) -> str | None:
    """Return the known word that is most similar to a word; `None` if none is similar.

    Upper and lower case are equal here. Words that continue the word are similar. Words with different first letters
    must be more similar than others, and a namespace that two keys share does not make them similar.

    Args:
        word: The word.
        known: The known words.
        cutoff: The least similarity, from 0 to 1, as in `difflib`.

    >>> nearest("nominalQouta", ["name", "nominalQuota"])
    'nominalQuota'
    >>> nearest("Account", ["counted"]), nearest("default/zz", ["default/b4"])
    (None, None)
    >>> nearest("wait", ["wait_p99", "wait_mean"])
    'wait_mean'
    """
    given = word[:100].lower()
    words = {other.lower(): other for other in sorted(known, reverse=True)}
    if longer := [other for other in words if len(given) > 2 and other.startswith(given)]:  # noqa: PLR2004 - a word
        return words[min(longer)]
    for close in get_close_matches(given, sorted(words), n=3, cutoff=cutoff):
        space = close[: close.rfind("/") + 1]
        one, other = (text.removeprefix(space if given.startswith(space) else "") for text in (given, close))
        least = cutoff if one[:1] == other[:1] else max(cutoff, _OTHER_LETTER)
        if SequenceMatcher(None, other, one).ratio() >= least:
            return words[close]
    return None


_OTHER_LETTER = 0.75


def suggestion(word: str, known: Iterable[str], listed: str = "") -> str:
    """Return a hint with the most similar known word, or with the known words.

    Args:
        word: The unknown word.
        known: The known words.
        listed: The hint if no known word is similar and there are many. Default: the first of the known words.

    >>> suggestion("nominalQouta", ["name", "nominalQuota"])
    'did you mean "nominalQuota"?'
    """
    words = sorted(known)
    if close := nearest(word, words):
        return f'did you mean "{close}"?'
    if len(words) > _FEW:
        return listed or f"known are {', '.join(words[:_FEW])} and {len(words) - _FEW} others"
    return f"known are {', '.join(words) or 'none'}"


def expect_known(where: str, name: str, known: Collection[str], problem: str) -> None:
    """Check that a name is known; `problem` says what it is not, such as `is not a worker`.

    Raises:
        NotFoundError: The name is not known.
    """
    if name not in known:
        raise NotFoundError(f'{where}: "{name}" {problem}; {suggestion(name, known)}')


def expect_one_of(where: str, value: object, allowed: Iterable[str]) -> None:
    """Check that an argument has one of the allowed values.

    Raises:
        InvalidSpecError: It has another value.
    """
    if value not in tuple(allowed):
        raise InvalidSpecError(f"{where}: is {value!r:.99}; it must be one of {', '.join(allowed)}")


def shown(value: object) -> str:
    """Return a value as text for a message: strings in quotes, shortened to 80 characters."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    text = f'"{value}"' if isinstance(value, str) else str(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


_SHOWN = 80
_FEW = 16
