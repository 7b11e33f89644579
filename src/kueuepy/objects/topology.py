"""Topologies, what pod sets ask of them, and what they were given."""

from collections.abc import Sequence
from typing import Any

from kueuepy.errors import InvalidSpecError
from kueuepy.objects.base import Collection, Object

HOSTNAME_LABEL = "kubernetes.io/hostname"


class Topology(Object, frozen=True, kw_only=True):
    """The levels of a data centre, from the widest to the narrowest.

    Source: `apis/kueue/v1beta2/topology_types.go`.

    Attributes:
        levels: Node labels, at most 16, each once; `kubernetes.io/hostname` only as the last. A Topology without levels
            has no domains.
    """

    levels: Sequence[str] = ()


class TopologyDomain(Collection, frozen=True):
    """So many pods in one domain of a topology.

    Attributes:
        values: The domain, as values of the levels of its TopologyAssignment.
        count: How many pods.
    """

    values: tuple[str, ...]
    count: int


class TopologyAssignment(Collection, frozen=True):
    """Where the pods of a pod set go.

    Source: `apis/kueue/v1beta2/workload_types.go:TopologyAssignment`, without its encoding in slices.

    Attributes:
        levels: `kubernetes.io/hostname` alone where that is the lowest level of the topology, else all its levels.
        domains: In the order of their values from the highest level down; each domain once.
    """

    levels: tuple[str, ...]
    domains: tuple[TopologyDomain, ...] = ()

    def __str__(self) -> str:
        """The domains by name, each with its pods.

        >>> str(TopologyAssignment(("block", "rack"), (TopologyDomain(("b1", "r1"), 4),)))
        'b1/r1: 4'
        """
        return ", ".join(f"{'/'.join(domain.values)}: {domain.count}" for domain in self.domains)


def required(level: str, *, slices: Sequence[tuple[str, int]] = (), group: str | None = None) -> dict[str, Any]:
    """The topology request of pods that all go to one domain of this level.

    >>> required("rack", slices=[("kubernetes.io/hostname", 4)])
    {'required': 'rack', 'podSetSliceRequiredTopology': 'kubernetes.io/hostname', 'podSetSliceSize': 4}

    Args:
        level: A level of the topology, as the label of its nodes.
        slices: Layers of slices, outermost first, at most 3: pods come in slices of the size, each within one domain
            of the level; an inner size divides the one around it.
        group: Pod sets of one group, a leader and its workers, go to the same flavor and domain.

    Raises:
        InvalidSpecError: `slices` is no list of levels and sizes.
    """
    return {"required": level, **_slices(slices), **({"podSetGroupName": group} if group else {})}


def preferred(level: str, *, slices: Sequence[tuple[str, int]] = (), group: str | None = None) -> dict[str, Any]:
    """The same of pods that go to one domain of this level if there is one, else of one above it, else anywhere."""
    return {"preferred": level, **_slices(slices), **({"podSetGroupName": group} if group else {})}


def unconstrained(*, slices: Sequence[tuple[str, int]] = ()) -> dict[str, Any]:
    """The same of pods that go to any nodes of the topology; `slices` alone keep together."""
    return {**({} if slices else {"unconstrained": True}), **_slices(slices)}


def _slices(slices: Sequence[tuple[str, int]]) -> dict[str, Any]:
    try:
        layers = [(str(level), int(size)) for level, size in slices]
    except (TypeError, ValueError):
        raise InvalidSpecError(f'slices: is {slices!r}; it must be a list such as [("rack", 16)]') from None
    if len(layers) == 1:
        level, size = layers[0]
        return {"podSetSliceRequiredTopology": level, "podSetSliceSize": size}
    found = [{"topology": level, "size": size} for level, size in layers]
    return {"podsetSliceRequiredTopologyConstraints": found} if found else {}
