"""Cause: a node in the tree of an explanation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class Cause(msgspec.Struct, frozen=True):
    """A node of an explanation: a sentence, its facts, and the causes that explain it.

    Attributes:
        kind: The subject, such as `flavor`, `resource`, `node`, `holder`, `preemption`, `candidate`, `share` or
            `remedy`.
        text: The explanation as a sentence.
        facts: The numbers and names in the sentence, as data. Amounts are integers in base units, millicores for cpu.
        causes: The causes of this cause.
    """

    kind: str
    text: str
    facts: dict[str, Any] = msgspec.field(default_factory=dict)
    causes: tuple[Cause, ...] = ()

    def walk(self) -> Iterator[Cause]:
        """Yield this cause and all causes below it, depth first."""
        yield self
        for cause in self.causes:
            yield from cause.walk()


def cause(kind: str, text: str, facts: Any = None, causes: Iterable[Cause] = ()) -> Cause:
    """Create a cause; `facts` is copied."""
    return Cause(kind, text, dict(facts or {}), tuple(causes))
