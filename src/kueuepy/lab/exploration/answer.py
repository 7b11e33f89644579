"""The answer of `guarantee`: a verdict, its reasons, and a table of facts."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import msgspec

from kueuepy.look.notebook import Sheet, repr_text
from kueuepy.look.numbers import number
from kueuepy.objects import Workload
from kueuepy.tables.columns import Columns, Framed, table_of

_VERDICTS = {True: "yes", False: "no", None: "unknown"}


class Fact(NamedTuple):
    """A row of the table of an answer: an amount or a time that belongs to a subject.

    Attributes:
        subject: The object of the fact, such as a ClusterQueue, a job or a group of jobs.
        measure: The name of the amount or time, such as `guaranteed`.
        value: The value: seconds for a time, the engine's units for an amount (cpu in millicores).
        detail: The value with its unit, or further information; may be empty.
    """

    subject: str
    measure: str
    value: float
    detail: str = ""


class Guarantee(msgspec.Struct, Framed, frozen=True):
    """Whether a cluster guarantees something, why, and the facts of the analysis. `guarantee` creates it.

    Attributes:
        question: The analysis, as `guarantee` accepts it.
        holds: Whether the guarantee is given; `None` if there is neither a proof nor a counterexample.
        because: The result and its reasons, as sentences.
        facts: One row per fact: `subject`, `measure`, `value` (seconds for times, the engine's units for amounts) and
            `detail`.
        not_modelled: Effects that the result does not consider.
        submissions: A counterexample: the workloads to submit to an empty cluster, of which the last one breaks the
            guarantee. Only `safety` sets this attribute.
        edits: Values of fields by path that establish the guarantee, as `Cluster.edit_all` accepts them. Only `limits`
            sets this attribute.

    Example:
        >>> from kueuepy import Cluster, ClusterQueue, ResourceFlavor
        >>> from kueuepy.lab import guarantee
        >>> cluster = Cluster(ResourceFlavor("f"), ClusterQueue.of("team", {"f": {"cpu": 4}}))
        >>> found = guarantee("safety", cluster, cluster_queue="team")
        >>> found.holds, found.submissions
        (True, ())
    """

    question: str
    holds: bool | None
    because: tuple[str, ...]
    facts: Columns
    not_modelled: tuple[str, ...]
    submissions: tuple[Workload, ...] = ()
    edits: dict[str, Any] = {}

    def values(self, measure: str) -> dict[str, float]:
        """Return the values of a measure by subject, in the order of `facts`.

        Args:
            measure: The name of the measure. If no fact has this measure, the result is empty.
        """
        return {row["subject"]: row["value"] for row in self.facts.rows() if row["measure"] == measure}

    def __str__(self) -> str:
        """Return the verdict, its reasons, the effects that are not modelled, and the first facts."""
        return repr_text(self.sheets(), self)

    def to_table(self) -> Columns:
        """Return `facts`."""
        return self.facts

    def sheets(self) -> tuple[Sheet, ...]:
        """Return a table of the verdict and its reasons, and a table of the facts."""
        lines = [*self.because, *(f"not modelled: {text}" for text in self.not_modelled)]
        answer = Sheet((f"{self.question}: {_VERDICTS[self.holds]}",), [(text,) for text in lines])
        rows = [(row["subject"], row["measure"], row["detail"] or number(row["value"])) for row in self.facts.rows()]
        return (answer, Sheet(("subject", "measure", "value"), rows, source=".facts")) if rows else (answer,)


def facts_of(rows: Iterable[Fact]) -> Columns:
    """Return facts as a table; the column `value` has decimal numbers for all analyses."""
    return table_of(Fact._fields, (row._replace(value=float(row.value)) for row in rows))
