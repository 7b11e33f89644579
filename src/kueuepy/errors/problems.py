"""What is wrong with an object or a file, and the errors that say so."""

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Literal, TypeAlias

import msgspec

from kueuepy.errors.kinds import InvalidSpecError

ProblemKind: TypeAlias = Literal[
    "Invalid", "Required", "Duplicate", "NotSupported", "Forbidden", "TooMany", "NotFound", "Unknown", "Syntax"
]
Path: TypeAlias = tuple[str | int, ...]
"""Where a field is: keys of mappings and positions in lists, from the object's top."""


class Problem(msgspec.Struct, frozen=True):
    """One thing that is wrong with an object.

    Attributes:
        path: The field, such as `("spec", "resourceGroups", 0, "flavors")`.
        kind: What sort of thing is wrong, in the words of Kubernetes' own validation.
        detail: What is wrong, and what is allowed.
    """

    path: Path
    kind: ProblemKind
    detail: str

    @property
    def field(self) -> str:
        """The path as Kubernetes writes it.

        >>> Problem(("spec", "podSets", 0, "count"), "Invalid", "is -1; it must be 0 or more").field
        'spec.podSets[0].count'
        """
        return path_text(self.path)

    def __str__(self) -> str:
        """The field and what is wrong with it."""
        return f"{self.field}: {self.detail}" if self.path else self.detail


class ManifestError(InvalidSpecError):
    """Objects or files that are not valid; its text has one line for each problem.

    Attributes:
        problems: What is wrong, with the place of each.
    """

    def __init__(self, problems: Sequence[tuple[str, Problem]]) -> None:
        """Takes the place and the problem of each line."""
        self.problems = tuple(problems)
        super().__init__("\n".join(f"{where}: {problem}" for where, problem in problems))


class LimitError(InvalidSpecError):
    """A file exceeds a limit that keeps hostile input from taking all time or memory.

    Attributes:
        limit: The name of the limit, a field of `Limits`.
        allowed: Its value.
        line: The line where it is exceeded, from 1; 0 if the whole file exceeds it.
        column: The column there, from 1; 0 likewise.
    """

    def __init__(self, where: str, limit: str, allowed: int, what: str, place: tuple[int, int] = (0, 0)) -> None:
        """Says where which limit is exceeded, and by what."""
        self.limit = limit
        self.allowed = allowed
        self.line, self.column = place
        name = f"{where}:{self.line}:{self.column}" if self.line else where
        super().__init__(f"{name}: {what}; at most {allowed:,} are allowed (limit {limit})")


def path_text(path: Iterable[str | int]) -> str:
    """The path as Kubernetes writes it: fields by dots, positions and odd keys in brackets."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        elif step.replace("_", "").replace("-", "").isalnum():
            text += f".{step}" if text else step
        else:
            text += f"[{step}]"
    return text


_STEP = re.compile(r'\.?([^.\[\]" ]+)|\[(\d+)\]|\["([^"]*)"\]')


def steps(text: str) -> Path:
    """The path that a text such as `spec.containers[0]` writes.

    >>> steps('metadata.labels["a.example/b"]'), steps("spec.podSets[0]")
    (('metadata', 'labels', 'a.example/b'), ('spec', 'podSets', 0))
    """
    return tuple(int(number) if number else key or quoted for key, number, quoted in _STEP.findall(text))


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that is most like another; none if no one is like it.

    >>> nearest("nominalQouta", ["name", "nominalQuota"])
    'nominalQuota'
    """
    return next(iter(get_close_matches(word[:100], sorted(known), n=1, cutoff=0.6)), None)


def suggestion(word: str, known: Iterable[str]) -> str:
    """A hint at what was meant: the nearest known word, or all of them.

    >>> suggestion("nominalQouta", ["name", "nominalQuota"])
    'did you mean "nominalQuota"?'
    """
    words = sorted(known)
    close = nearest(word, words) or next((other for other in words if other.lower() == word.lower()), None)
    if close:
        return f'did you mean "{close}"?'
    return (
        f"known are {', '.join(words) or 'none'}" if len(words) <= _FEW else "see the API's reference for what is known"
    )


def shown(value: object) -> str:
    """A value as a message shows it: texts in quotes, long ones cut."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    text = f'"{value}"' if isinstance(value, str) else str(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


_SHOWN = 80
_FEW = 16
