"""Topologies, topology requests of pod sets, and topology assignments."""

from collections.abc import Sequence
from typing import Any

from kueuepy.errors import InvalidSpecError
from kueuepy.objects.base import Collection, Object

HOSTNAME_LABEL = "kubernetes.io/hostname"
"""Key of the node label with the node's host name; as the last level of a topology, it identifies single nodes."""


class Topology(Object, frozen=True, kw_only=True):
    """The levels of a data centre's topology, from the widest to the narrowest.

    Source: `apis/kueue/v1beta2/topology_types.go`.

    >>> Topology("racks", levels=["block", "rack", "kubernetes.io/hostname"]).levels
    ('block', 'rack', 'kubernetes.io/hostname')

    Attributes:
        levels: Keys of node labels, at most 16, each unique (`spec.levels[].nodeLabel`). `kubernetes.io/hostname` may
            be used only as the last level. A Topology without levels has no domains.
    """

    levels: Sequence[str] = ()


class TopologyDomain(Collection, frozen=True):
    """Number of pods of a pod set assigned to one topology domain.

    >>> TopologyDomain(("block-1", "rack-2"), 4).count
    4

    Attributes:
        values: Label values that identify the domain, one per level of the TopologyAssignment.
        count: Number of pods in the domain.
    """

    values: tuple[str, ...]
    count: int


class TopologyAssignment(Collection, frozen=True):
    """Topology domains assigned to the pods of a pod set (`topologyAssignment`).

    Kueue's API compresses the domains into slices. The Python class lists each domain separately.

    Source: `apis/kueue/v1beta2/workload_types.go:TopologyAssignment`.

    >>> TopologyAssignment(("kubernetes.io/hostname",), (TopologyDomain(("n1",), 4),)).domains[0].count
    4

    Attributes:
        levels: Levels whose values identify a domain. The list contains only `kubernetes.io/hostname` if this is the
            lowest level of the topology, and otherwise all levels of the topology.
        domains: The domains with their numbers of pods, sorted by the values from the highest level down. Each domain
            occurs once in the list.
    """

    levels: tuple[str, ...]
    domains: tuple[TopologyDomain, ...] = ()

    def __str__(self) -> str:
        """Return a description with the domains and their numbers of pods.

        >>> str(TopologyAssignment(("block", "rack"), (TopologyDomain(("b1", "r1"), 4),)))
        'b1/r1: 4'
        """
        return ", ".join(f"{'/'.join(domain.values)}: {domain.count}" for domain in self.domains)


def required(level: str, *, slices: Sequence[tuple[str, int]] = (), group: str | None = None) -> dict[str, Any]:
    """Create a topology request for pods that must all be placed in one domain of a level.

    >>> required("rack", slices=[("kubernetes.io/hostname", 4)])
    {'required': 'rack', 'podSetSliceRequiredTopology': 'kubernetes.io/hostname', 'podSetSliceSize': 4}

    Args:
        level: A level of the topology, as the key of a node label.
        slices: Pairs of a level and a slice size, outermost first, at most 3. For each pair, the pods are divided into
            slices of the given size, and each slice is placed in one domain of the level. The size of an inner slice
            must divide the size of the slice that contains it.
        group: Name of a pod set group; `None` for no group. Kueue assigns the pod sets of one group, such as a leader
            and its workers, to the same flavor and domain.

    Returns:
        The topology request, for `PodSet.topology_request`.

    Raises:
        InvalidSpecError: `slices` is not a list of pairs of a level and a size.
    """
    return {"required": level, **_slices(slices), **({"podSetGroupName": group} if group else {})}


def preferred(level: str, *, slices: Sequence[tuple[str, int]] = (), group: str | None = None) -> dict[str, Any]:
    """Create a topology request for pods that should be placed in one domain of a level.

    If the pods do not fit in one domain of the level, Kueue tries the levels above it. If the pods do not fit in any
    single domain, Kueue spreads them over several domains.

    >>> preferred("rack")
    {'preferred': 'rack'}

    Args:
        level: A level of the topology, as the key of a node label.
        slices: Slices of pods that must be placed together, as for `required`.
        group: Name of a pod set group, as for `required`.

    Returns:
        The topology request, for `PodSet.topology_request`.

    Raises:
        InvalidSpecError: `slices` is not a list of pairs of a level and a size.
    """
    return {"preferred": level, **_slices(slices), **({"podSetGroupName": group} if group else {})}


def unconstrained(*, slices: Sequence[tuple[str, int]] = ()) -> dict[str, Any]:
    """Create a topology request for pods that may be placed on any nodes of the topology.

    >>> unconstrained()
    {'unconstrained': True}

    Args:
        slices: Slices of pods that must be placed together, as for `required`. Different slices may be placed in
            different domains.

    Returns:
        The topology request, for `PodSet.topology_request`.

    Raises:
        InvalidSpecError: `slices` is not a list of pairs of a level and a size.
    """
    return {**({} if slices else {"unconstrained": True}), **_slices(slices)}


def _slices(slices: Sequence[tuple[str, int]]) -> dict[str, Any]:
    try:
        layers = [(str(level), int(size)) for level, size in slices]
    except (TypeError, ValueError):
        raise InvalidSpecError(f'slices: is {slices!r:.99}; it must be a list such as [("rack", 16)]') from None
    if len(layers) == 1:
        level, size = layers[0]
        return {"podSetSliceRequiredTopology": level, "podSetSliceSize": size}
    found = [{"topology": level, "size": size} for level, size in layers]
    return {"podsetSliceRequiredTopologyConstraints": found} if found else {}
