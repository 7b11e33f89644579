"""Cause: one node of the tree that an explanation is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class Cause(msgspec.Struct, frozen=True):
    """One thing that explains another, with the things that explain it.

    Attributes:
        kind: What it is about: `flavor`, `resource`, `node`, `holder`, `preemption`, `candidate`, `share`, `remedy`
            and so on.
        text: The sentence for people.
        facts: The numbers and names in it, for programs; amounts are integers, thousandths for cpu.
        causes: What explains it.
    """

    kind: str
    text: str
    facts: dict[str, Any] = msgspec.field(default_factory=dict)
    causes: tuple[Cause, ...] = ()

    def walk(self) -> Iterator[Cause]:
        """This and all below it, depth first."""
        yield self
        for cause in self.causes:
            yield from cause.walk()


def cause(kind: str, text: str, facts: Any = None, causes: Iterable[Cause] = ()) -> Cause:
    """A cause of these facts, explained by others."""
    return Cause(kind, text, dict(facts or {}), tuple(causes))
