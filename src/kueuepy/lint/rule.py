"""Rules: functions that examine a context and yield problems."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import msgspec

from kueuepy.errors.problems import Path, path_text
from kueuepy.lint.context import LintContext
from kueuepy.lint.finding import Finding, Severity
from kueuepy.manifest.convert import object_name
from kueuepy.manifest.jobkinds import QUEUE_NAME
from kueuepy.manifest.validation import called
from kueuepy.objects import Object, Workload

_QUEUE_LABEL = ("metadata", "labels", QUEUE_NAME)


class Hit(NamedTuple):
    """One problem found by a rule.

    Attributes:
        subject: The object, or a name if there is no object, such as a cohort without a Cohort object.
        path: Path of the field.
        message: The problem, and a way to fix it.
        where: File and line, if the subject is a name; otherwise they are derived from the object.
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
            yield Finding(
                rule=self.id,
                severity=self.severity,
                object=subject if isinstance(subject, str) else called(subject),
                field=path_text(path),
                message=message,
                where=where if isinstance(subject, str) else context.manifest.where(subject, path),
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
