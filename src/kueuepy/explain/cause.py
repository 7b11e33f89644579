"""Cause and RootCause: the elements of an explanation."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec


class Cause(msgspec.Struct, frozen=True):
    """A node of an explanation: a sentence, its facts, and the causes that explain it.

    Attributes:
        kind: The kind, such as `flavor`, `resource`, `node`, `holder`, `preemption`, `candidate`, `share` or `remedy`.
            The kind determines the template for the text and the names of the facts, which the JSON Schema of
            explanations lists.
        text: The explanation as a sentence.
        facts: The numbers and names in the sentence, as data. Amounts are integers in base units, with cpu in
            millicores.
        causes: The causes of this cause.
    """

    kind: str
    text: str
    facts: dict[str, Any] = msgspec.field(default_factory=dict)
    causes: "tuple[Cause, ...]" = ()

    def walk(self) -> "Iterator[Cause]":
        """Yield this cause and all causes below it, depth first."""
        yield self
        for cause in self.causes:
            yield from cause.walk()


class RootCause(msgspec.Struct, frozen=True):
    """The root cause that keeps a workload from running, identified by a code.

    Attributes:
        code: The code. Most codes name a cause outside of the workload: `QuotaExceeded`, `NeverFits`,
            `NoMatchingFlavor`, `QueueInactive`, `NamespaceNotSelected`, `CheckPending`, `TopologyNoFit`,
            `BehindInQueue`, `WaitingForPreemption` and `NotModelled`. The other codes name a state of the workload:
            `Deactivated`, `AdmissionGated`, `OnHold`, `WaitingForPodsReady`, `BackOff`, `InvalidWorkload` and
            `SearchContinues`.
        text: The cause as a sentence.
        facts: The numbers and names in the sentence, as data. Amounts are integers in base units, with cpu in
            millicores.
    """

    code: str
    text: str
    facts: dict[str, Any] = msgspec.field(default_factory=dict)


def cause(kind: str, text: str, facts: Mapping[str, Any] | None = None, causes: Iterable[Cause] = ()) -> Cause:
    """Create a cause; `facts` is copied."""
    return Cause(kind, text, dict(facts or {}), tuple(causes))
