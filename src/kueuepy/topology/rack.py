"""Rack: one domain of a topology and its workloads."""

from __future__ import annotations

import msgspec

Amounts = dict[str, int]
"""Integer amounts by resource in base units, millicores for cpu."""


class Use(msgspec.Struct, frozen=True):
    """The usage of a domain by one workload.

    Attributes:
        workload: Key of the workload, `namespace/name`.
        pods: Number of the workload's pods in the domain.
        amounts: Usage of the workload's pods in the domain by resource, in base units, with cpu in millicores.
    """

    workload: str
    pods: int
    amounts: Amounts


class Rack(msgspec.Struct, frozen=True):
    """A domain of a topology, such as a block, a rack or a host.

    Amounts are integers by resource in base units, with cpu in millicores.

    Attributes:
        level: Node label of the domain's level.
        values: Label values of all levels down to the domain's level.
        nodes: Number of domains of the lowest level in this domain, usually hosts.
        capacity: Allocatable capacity of the nodes in the domain.
        outside: Usage by pods that Kueue does not manage.
        used: Usage by workloads.
        free: Remaining capacity; negative if workloads and other pods together exceed the capacity.
        uses: The workloads in the domain, sorted by number of pods, largest first.
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
        """The label values joined by slashes."""
        return "/".join(self.values)
