"""Topology placement by brute force, without counts by domain, order or preferences.

A host is described by its path of domains, which ends with its own name, and by its free capacity. Placements follow
only the definitions of the API: all pods are below one domain of the required level, each slice is within one domain of
its level, and a leader is below the same required domain as its workers.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


class Host(NamedTuple):
    """A node: its values from the highest level down, and its free cpu."""

    path: tuple[str, ...]
    free: int


class Ask(NamedTuple):
    """Pods of one size; levels count from the highest, 0.

    Attributes:
        count: How many workers.
        cpu: What one of them takes.
        required: The level whose one domain must hold all; None: any domains do.
        slice_size: How many pods make a slice; the rest of the count is not placed.
        slice_level: The level whose one domain must hold a slice; None: there are no slices.
        leader: What the one leader takes; None: there is none.
    """

    count: int
    cpu: int
    required: int | None = None
    slice_size: int = 1
    slice_level: int | None = None
    leader: int | None = None


def fits(hosts: Sequence[Host], ask: Ask) -> bool:
    """Return whether a valid placement exists."""
    return any(_holds(part, ask) for part in _parts(hosts, ask.required))


def _parts(hosts: Sequence[Host], level: int | None) -> Iterator[list[Host]]:
    """Return the sets of hosts that may be used together."""
    if level is None:
        yield list(hosts)
        return
    for domain in sorted({host.path[: level + 1] for host in hosts}):
        yield [host for host in hosts if host.path[: level + 1] == domain]


def _holds(hosts: list[Host], ask: Ask) -> bool:
    for rest in _with_leader(hosts, ask.leader):
        for pods in product(*(range(host.free // ask.cpu + 1) for host in rest)):
            if sum(pods) == ask.count // ask.slice_size * ask.slice_size and _in_slices(rest, pods, ask):
                return True
    return False


def _with_leader(hosts: list[Host], leader: int | None) -> Iterator[list[Host]]:
    """Yield the free capacity for each possible host of the leader."""
    if leader is None:
        yield hosts
        return
    for at, host in enumerate(hosts):
        if host.free >= leader:
            yield [*hosts[:at], Host(host.path, host.free - leader), *hosts[at + 1 :]]


def _in_slices(hosts: list[Host], pods: Sequence[int], ask: Ask) -> bool:
    if ask.slice_level is None:
        return True
    in_domain: dict[tuple[str, ...], int] = {}
    for host, count in zip(hosts, pods, strict=True):
        domain = host.path[: ask.slice_level + 1]
        in_domain[domain] = in_domain.get(domain, 0) + count
    return all(count % ask.slice_size == 0 for count in in_domain.values())
