"""Rack: one domain of a topology, and who uses it."""

from __future__ import annotations

import msgspec

Amounts = dict[str, int]
"""Integers by resource, thousandths for cpu."""


class Use(msgspec.Struct, frozen=True):
    """What one workload has in a domain.

    Attributes:
        workload: Its key.
        pods: How many of its pods are there.
        amounts: What these take, by resource; integers, thousandths for cpu.
    """

    workload: str
    pods: int
    amounts: Amounts


class Rack(msgspec.Struct, frozen=True):
    """A domain of a topology: a block, a rack, a host.

    Amounts are by resource; integers, thousandths for cpu.

    Attributes:
        level: Its level, as the label of nodes.
        values: The values of the levels down to this one.
        nodes: How many hosts it has, or of the lowest domains where the topology knows no hosts.
        capacity: What its nodes have.
        outside: What of that pods outside Kueue take.
        used: What of that workloads take.
        free: What is left; below 0 where pods outside Kueue came on top of workloads.
        uses: The workloads there, those with most pods first.
    """

    level: str
    values: tuple[str, ...]
    nodes: int
    capacity: Amounts
    outside: Amounts
    used: Amounts
    free: Amounts
    uses: tuple[Use, ...]

    @property
    def name(self) -> str:
        """The values as one name."""
        return "/".join(self.values)
