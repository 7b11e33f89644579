"""The problems and notes that are found while objects are read."""

from typing import Any

from kueuepy.errors import Path, Problem, ProblemKind

_MOST_SOUND = 4096  # so that the values of deleted objects do not stay in memory
_ENOUGH = 100  # one malformed object must not fill a page


class Validated:
    """A set of validated objects, compared by identity. Equal but distinct objects are validated separately."""

    __slots__ = ("_values",)

    def __init__(self) -> None:
        """Create an empty set."""
        self._values: dict[int, Any] = {}

    def __contains__(self, value: object) -> bool:
        """Return whether an object was validated without findings."""
        # By identity: comparing two pod templates takes longer than validating one of them.
        return self._values.get(id(value), self) is value

    def add(self, value: Any) -> None:
        """Add an object. The set keeps a reference to the object, so that the object's identity is not reused."""
        if len(self._values) >= _MOST_SOUND:
            self._values.clear()
        self._values[id(value)] = value


class AllValidated(Validated):
    """A set that contains every object, used if another program has already validated the objects."""

    __slots__ = ()

    def __contains__(self, value: object) -> bool:
        """Return `True`."""
        return True


class Findings:
    """The problems and notes that are found while one object is read.

    Attributes:
        strict: Whether an unknown field is a problem rather than a note.
        formats: Whether patterns, lengths and numbers of items are checked, in addition to fields and types.
        problems: Reasons to reject the object.
        notes: Descriptions of ignored or corrected input.
        validated: Values that were validated without findings; the same value can occur in many objects.
    """

    __slots__ = ("formats", "notes", "problems", "strict", "validated")

    def __init__(self, *, strict: bool = True, formats: bool = True, validated: Validated | None = None) -> None:
        """Create an instance without findings."""
        self.strict = strict
        self.formats = formats
        self.validated = Validated() if validated is None else validated
        self.problems: list[Problem] = []
        self.notes: list[Problem] = []

    @property
    def full(self) -> bool:
        """Whether the limit of reported problems per object is reached."""
        return len(self.problems) + len(self.notes) >= _ENOUGH

    def problem(self, path: Path, detail: str, kind: ProblemKind = "Invalid") -> None:
        """Add a problem."""
        self.problems.append(Problem(path, kind, detail))

    def odd(self, path: Path, detail: str, remedy: str, kind: ProblemKind = "Unknown") -> None:
        """Add a problem in strict mode, or a note with the correction in lenient mode."""
        if self.strict:
            self.problems.append(Problem(path, kind, detail))
        else:
            self.notes.append(Problem(path, kind, f"{detail}; {remedy}"))
