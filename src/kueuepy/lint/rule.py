"""Rules: functions that examine a context and yield problems."""

from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple, TypeAlias

import msgspec

from kueuepy.errors import Path, checked_methods, path_text
from kueuepy.lint.context import LintContext
from kueuepy.look.notebook import Sheet, repr_html
from kueuepy.manifest.convert import object_name
from kueuepy.manifest.jobkinds import QUEUE_NAME
from kueuepy.manifest.validation import called
from kueuepy.objects import Object, Workload

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


# A job names its queue in a label, its Workload in `spec.queueName`.
_QUEUE_LABEL = ("metadata", "labels", QUEUE_NAME)


class Hit(NamedTuple):
    """One problem found by a rule.

    Attributes:
        subject: The object, or a name if there is no object, such as a cohort without a Cohort object.
        path: Path of the field.
        message: The problem, and a way to fix it.
        where: File and line, if the subject is a name; those of an object or the Configuration are derived from it.
    """

    subject: Object | str
    path: Path
    message: str
    where: str = ""


class Rule(msgspec.Struct, frozen=True):
    """A rule that finds valid objects with a surprising effect.

    Attributes:
        id: `L1`, `L2` and so on.
        severity: Severity of all findings of the rule.
        title: The problem as one sentence.
        hits: Function that searches a context for the problem.
    """

    id: str
    severity: Severity
    title: str
    hits: Callable[[LintContext], Iterator[Hit]]

    def findings(self, context: LintContext) -> Iterator[Finding]:
        """Yield the findings of the rule in a context."""
        for hit in self.hits(context):
            subject, path, message, where = _as_written(hit, context)
            if not isinstance(subject, str) or subject == "Configuration":
                where = context.manifest.where(None if isinstance(subject, str) else subject, path)
            yield Finding(
                rule=self.id,
                severity=self.severity,
                object=subject if isinstance(subject, str) else called(subject),
                field=path_text(path),
                message=message,
                where=where,
            )


def _as_written(hit: Hit, context: LintContext) -> Hit:
    """Report a problem of a job's Workload as a problem of the job, because the user wrote the job."""
    job = context.job_of(hit.subject) if isinstance(hit.subject, Workload) else None
    if job is None:
        return hit
    path = _QUEUE_LABEL if hit.path == ("spec", "queueName") else ()
    return Hit(object_name(job), path, hit.message, job.where(path))


def rule(name: str, severity: Severity, title: str) -> Callable[[Callable[[LintContext], Iterator[Hit]]], Rule]:
    """Decorate a function to make it a rule."""
    return lambda hits: Rule(name, severity, title, hits)
