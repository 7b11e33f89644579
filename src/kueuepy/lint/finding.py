"""Findings: what a rule has to say about an object, as data, as text and as HTML."""

from typing import Literal, TypeAlias

import msgspec

from kueuepy.errors.arguments import checked_methods
from kueuepy.notebook import Sheet, repr_html

Severity: TypeAlias = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
"""From the gravest: nothing of it will ever work; it does something else than it seems; good to know."""


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One surprise in one object.

    Attributes:
        rule: The rule's id, such as `L6`.
        severity: How grave it is.
        object: The object as messages call it, such as `ClusterQueue "vision"`.
        field: The field as Kubernetes writes it, in version v1beta2; empty for the whole object.
        message: What surprises, and what to write instead.
        where: File and line; empty for an object that was built in Python.
    """

    rule: str
    severity: Severity
    object: str
    field: str
    message: str
    where: str = ""

    def __str__(self) -> str:
        """One line: place, severity, rule, object, field and message."""
        place = f"{self.where}: " if self.where else ""
        field = f"{self.field}: " if self.field else ""
        return f"{place}{self.severity} {self.rule}: {self.object}: {field}{self.message}"


@checked_methods
class Findings(list[Finding]):
    """Findings in the order of the rules, then of the objects."""

    def at_least(self, severity: Severity) -> "Findings":
        """Those of this severity and the graver ones."""
        grave = SEVERITIES[: SEVERITIES.index(severity) + 1]
        return Findings(finding for finding in self if finding.severity in grave)

    def __str__(self) -> str:
        """A line for each finding; a sentence if there are none."""
        return "\n".join(map(str, self)) or "nothing to remark"

    def sheets(self) -> tuple[Sheet, ...]:
        """One table, if there are any."""
        header = ("rule", "severity", "object", "field", "what surprises")
        rows = [(found.rule, found.severity, found.object, found.field, found.message) for found in self]
        return (Sheet(header, rows),) if rows else ()

    _repr_html_ = repr_html
