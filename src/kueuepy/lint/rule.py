"""Rule: a function that looks at a context and yields what surprises."""

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
    """What a rule found.

    Attributes:
        subject: The object, or the name of something that has none, such as a cohort that is only named.
        path: The field.
        message: What surprises, and what to write instead.
        where: File and line, of a subject that is no object; of an object they are known.
    """

    subject: Object | str
    path: Path
    message: str
    where: str = ""


class Rule(msgspec.Struct, frozen=True):
    """A rule about objects that are valid, and still do something else than they seem to.

    Attributes:
        id: `L1`, `L2` and so on.
        severity: How grave its findings are.
        title: What the rule looks for, as one sentence.
        hits: Looks for it.
    """

    id: str
    severity: Severity
    title: str
    hits: Callable[[LintContext], Iterator[Hit]]

    def findings(self, context: LintContext) -> Iterator[Finding]:
        """What the rule finds in a context."""
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
    """Return what was found in the Workload of a job as found in the job, which is what the user has written."""
    job = context.job_of(hit.subject) if isinstance(hit.subject, Workload) else None
    if job is None:
        return hit
    path = _QUEUE_LABEL if hit.path == ("spec", "queueName") else ()
    return Hit(object_name(job.value), path, hit.message, job.item.where(path))


def rule(name: str, severity: Severity, title: str) -> Callable[[Callable[[LintContext], Iterator[Hit]]], Rule]:
    """Makes a rule of a function."""
    return lambda hits: Rule(name, severity, title, hits)
