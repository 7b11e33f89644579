"""Findings of lint rules, as data, text and HTML."""

from typing import Literal, TypeAlias

import msgspec

from kueuepy.errors.arguments import checked_methods
from kueuepy.look.notebook import Sheet, repr_html

Severity: TypeAlias = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
"""The severities, most severe first.

An error means that something can never work, a warning that a setting does not do what it seems to do, and a note is
for information.
"""


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One problem of one object, found by a rule.

    Attributes:
        rule: The rule's id, such as `L6`.
        severity: `error`, `warning` or `note`.
        object: Kind and name of the object, such as `ClusterQueue "vision"`.
        field: Path of the field in the v1beta2 API; empty for the whole object.
        message: The problem, and a way to fix it.
        where: File and line; empty for an object built in Python.
    """

    rule: str
    severity: Severity
    object: str
    field: str
    message: str
    where: str = ""

    def __str__(self) -> str:
        """Format the finding as one line: location, severity, rule, object, field and message."""
        start = f"{self.where}: " if self.where else ""
        field = f"{self.field}: " if self.field else ""
        return f"{start}{self.severity} {self.rule}: {self.object}: {field}{self.message}"


@checked_methods
class Findings(list[Finding]):
    """A list of findings in the order of the rules, then of the objects."""

    def at_least(self, severity: Severity) -> "Findings":
        """Return the findings that have at least the given severity."""
        included = SEVERITIES[: SEVERITIES.index(severity) + 1]
        return Findings(finding for finding in self if finding.severity in included)

    def __str__(self) -> str:
        """Format each finding as a line; `no findings` for an empty list."""
        return "\n".join(map(str, self)) or "no findings"

    def sheets(self) -> tuple[Sheet, ...]:
        """Return one table of the findings; empty if there are no findings."""
        header = ("rule", "severity", "object", "field", "message")
        rows = [(found.rule, found.severity, found.object, found.field, found.message) for found in self]
        return (Sheet(header, rows),) if rows else ()

    _repr_html_ = repr_html
