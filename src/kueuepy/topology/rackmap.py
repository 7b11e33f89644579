"""RackMap: the domains of a flavor's topology, with their capacity, usage and workloads."""

import os
import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kueuepy._core import Engine, Quantity
from kueuepy.engine.cached import cached_property
from kueuepy.engine.records import TreeView
from kueuepy.errors import InvalidSpecError, NotFoundError, checked_methods, expect_known, suggestion
from kueuepy.look.chart import Chart
from kueuepy.look.escapes import escape
from kueuepy.look.notebook import WIDTH
from kueuepy.look.numbers import amount, amount_beside
from kueuepy.objects import QuantityText, ResourceFlavor, quantity
from kueuepy.session.state import SchedulerState
from kueuepy.tables.columns import Columns, table_of
from kueuepy.topology.drawing import NARROW, WIDE, Rack, Use, draw

# Words for levels whose label is not a word.
_LEVELS = {"kubernetes.io/hostname": "node"}
# Every node has these resources, so that they rarely decide where pods fit.
_EVERYWHERE = frozenset(("cpu", "memory", "pods", "ephemeral-storage"))


@checked_methods
class RackMap:
    """The state of a flavor's topology at one point in time; displayed as a map of racks in notebooks.

    Attributes:
        topology: Name of the Topology.
        flavor: Name of the ResourceFlavor.
        levels: Node labels of the levels, highest level first.
        resources: The resources of the topology's nodes.
        racks: All domains, parents before children, sorted by their label values.
        absent: Nodes with the flavor's labels to which the topology assigns no pods, each with the reason.
    """

    def __init__(self, flavor: str, tree: TreeView, engine: Engine) -> None:
        """Create the map from the tree of a flavor and a fork of its engine."""
        self.topology, self.flavor, self.levels = tree.topology, flavor, tree.levels
        self.resources = tuple(tree.resources)
        self.absent = dict(tree.absent)
        self._tree = tree
        self._engine = engine

    def _path(self, row: int) -> Iterator[int]:
        """Yield a domain and the domains above it."""
        while row >= 0:
            yield row
            row = self._tree.domains[row][1]

    @cached_property
    def racks(self) -> tuple[Rack, ...]:
        """All domains, parents before children, sorted by their label values."""
        tree, names = self._tree, self.resources
        values: list[tuple[str, ...]] = []
        for _, parent, value in tree.domains:
            values.append((*(values[parent] if parent >= 0 else ()), value))
        sums = [[Counter[str]() for _ in range(3)] for _ in tree.domains]
        nodes = Counter[int]()
        uses: list[dict[str, tuple[int, Counter[str]]]] = [{} for _ in tree.domains]
        for leaf, row in enumerate(tree.leaves):
            for domain in self._path(row):
                nodes[domain] += 1
                for table, amounts in enumerate((tree.capacity, tree.free, tree.used)):
                    sums[domain][table].update(dict(zip(names, amounts[leaf], strict=True)))
        for leaf, workload, pods, each in tree.uses:
            for domain in self._path(tree.leaves[leaf]):
                count, taken = uses[domain].get(workload, (0, Counter[str]()))
                taken.update({resource: size * pods for resource, size in each.items()})
                uses[domain][workload] = (count + pods, taken)
        found = []
        for row, (level, _, _) in enumerate(tree.domains):
            capacity, free, used = sums[row]
            outside = {name: capacity[name] - free[name] for name in names}
            left = {name: free[name] - used[name] for name in names}
            own = [Use(workload, count, dict(amounts)) for workload, (count, amounts) in uses[row].items()]
            own.sort(key=lambda use: -use.pods)
            about = (self.levels[level], values[row], nodes[row])
            found.append(Rack(*about, dict(capacity), outside, dict(used), left, tuple(own)))
        return tuple(sorted(found, key=lambda rack: rack.values))

    def at(self, level: str) -> tuple[Rack, ...]:
        """Return the domains of one level.

        Raises:
            NotFoundError: The topology does not have this level.
        """
        expect_known("level", level, self.levels, f"is not a level of {self.topology}")
        return tuple(rack for rack in self.racks if rack.level == level)

    def largest(self, requests: Mapping[str, QuantityText], *, empty: bool = False) -> dict[str, int]:
        """Return the largest number of pods that fit into one domain of each level.

        The pods have the tolerations of the flavor and no node selector.

        Args:
            requests: Requests of each pod.
            empty: Whether to ignore all workloads.

        Returns:
            The numbers by level; the key `""` contains the number for the whole topology.

        Raises:
            InvalidSpecError: A request is not a quantity.
        """
        counted = self.holds(requests, empty=empty)
        found = dict.fromkeys((*self.levels, ""), 0)
        for (level, parent, _), pods in zip(self._tree.domains, counted, strict=True):
            found[self.levels[level]] = max(found[self.levels[level]], pods)
            found[""] += pods if parent < 0 else 0
        return found

    def holds(self, requests: Mapping[str, QuantityText], *, empty: bool = False) -> list[int]:
        """Return the number of pods that fit into each domain, by level and then by label values.

        Args:
            requests: Requests of each pod.
            empty: Whether to ignore all workloads.
        """
        asked = {name: quantity(size, f"requests: {name}") for name, size in requests.items()}
        both = self._engine.pods_in_domains(self.flavor, asked)
        assert both is not None, self.flavor  # the fork keeps the tree
        return both[empty]

    @property
    def resource(self) -> str:
        """The resource that the map shows by default: the most used resource besides cpu, memory, storage and pods."""
        rare = [name for name in self.resources if name not in _EVERYWHERE]
        used = Counter[str]()
        for amounts in self._tree.used:
            used.update(dict(zip(self.resources, amounts, strict=True)))
        return max(rare, key=lambda name: (used[name], name)) if rare else "cpu"

    @property
    def table(self) -> Columns:
        """A table with a row for each domain and resource: level, domain, resource, capacity, outside, used, free."""
        names = ("level", "domain", "resource", "capacity", "outside", "used", "free")
        rows = ((rack, name) for rack in self.racks for name in self.resources if rack.capacity[name])
        amounts = ("capacity", "outside", "used", "free")
        return table_of(
            names,
            ((rack.level, rack.name, name, *(getattr(rack, one)[name] for one in amounts)) for rack, name in rows),
        )

    def plot(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        resource: str | None = None,
        dark: bool = False,
        title: str | None = None,
    ) -> Any:
        """Draw the map as a matplotlib figure, and write it to a file if a path is given.

        Args:
            path: File to write; its suffix selects the format, such as `.png`, `.svg` or `.pdf`.
            resource: Resource to show; by default the map's attribute `resource`.
            dark: Whether to use colours for a dark background.
            title: Title of the map; by default topology, flavor and resource.

        Returns:
            The figure.

        Raises:
            UnsupportedError: matplotlib is not installed.
            NotFoundError: No node has the resource.
        """
        from kueuepy.look.plot import figure  # noqa: PLC0415 - only on use

        made = figure(self.drawn(resource), dark=dark, title=title or "")
        if path is not None:
            made.savefig(path, dpi=2 * made.dpi)
        return made

    def drawn(self, resource: str | None = None, most: int = WIDE) -> Chart:
        """Return the map as a chart without axes.

        Args:
            resource: Resource to show; by default `resource`.
            most: The width in pixels from which racks continue in the next line.

        Raises:
            NotFoundError: No node has the resource.
        """
        if resource is not None and resource not in self.resources:
            raise NotFoundError(f'resource: no node has "{resource}"; {suggestion(resource, self.resources)}')
        shown = resource or self.resource
        title = f"Topology {self.topology}, flavor {self.flavor}: {shown} by workload"
        remarks = [f"{node}: {why}" for node, why in self.absent.items()]
        return draw(self.racks, shown, title=title, remarks=remarks, most=most)

    def _repr_html_(self) -> str:
        """Return the map as HTML for notebooks."""
        from kueuepy.look.svg import picture  # noqa: PLC0415 - only on use

        drawn = picture(self.drawn(), self.drawn(most=NARROW))
        return f"<div><p>{escape(self._in_words())}</p>{drawn._repr_html_()}</div>"

    def _in_words(self) -> str:
        """Return the free amount, the largest free amount in a domain of each level, and the next step."""
        name = self.resource
        per = 1000 if name == "cpu" else 1
        top = [rack for rack in self.racks if len(rack.values) == 1]
        free, whole = (sum(getattr(rack, what).get(name, 0) for rack in top) for what in ("free", "capacity"))
        if not whole:
            return f"No node has {name}."
        text = f"{amount_beside(name, free / per, whole / per)} of {amount(name, whole / per)} are free"
        if free <= 0:
            return f"{text}. Next step: wait until a workload ends, or add nodes."
        most = []
        for level in self.levels:
            largest = max(rack.free.get(name, 0) for rack in self.at(level)) / per
            most.append(f"{amount_beside(name, largest, whole / per)} in one {_LEVELS.get(level, level)}")
        text += f": at most {', '.join(most[:-1])}{' and ' if most[1:] else ''}{most[-1]}. "
        call = f'kueuepy.lab.fragmentation(scheduler, "{self.topology}", [{{"{name}": 1}}], flavor="{self.flavor}")'
        return f"{text}Next step: list the jobs that still fit:\n{call}"

    def __str__(self) -> str:
        """Format each domain as a line with its free capacity and workloads; hosts only for small topologies."""
        name = self.resource
        text, *call = self._in_words().split("\n")
        lines = [f"{self.topology} ({self.flavor}): {name}", *textwrap.wrap(text, WIDTH), *call]
        deepest = len(self.levels) - (1 if len(self._tree.leaves) > _MOST_LINES and len(self.levels) > 1 else 0)
        for rack in self.racks[:_MOST_LINES]:
            if len(rack.values) > deepest:
                continue
            free, whole = (Quantity.format(name, amounts.get(name, 0)) for amounts in (rack.free, rack.capacity))
            who = ", ".join(f"{use.workload} {use.pods}" for use in rack.uses[:3])
            more = " and others" if rack.uses[3:] else ""
            indent = "  " * len(rack.values)
            lines.append(f"{indent}{rack.values[-1]}: {free} of {whole} free{f'; {who}{more}' if who else ''}")
        lines += [f"  {node}: {why}" for node, why in self.absent.items()]
        return "\n".join(lines)

    def __repr__(self) -> str:
        """Return the names and the number of domains of the lowest level."""
        return f"<RackMap of {self.topology} for {self.flavor}: {len(self._tree.leaves)} {self.levels[-1]}>"


# More lines scroll out of a terminal.
_MOST_LINES = 200


def rack_map(state: SchedulerState, name: str, flavor: str | None = None) -> RackMap:
    """Create the RackMap of a Topology for one of its flavors.

    Raises:
        NotFoundError: The topology does not exist, or no flavor uses it.
        InvalidSpecError: Several flavors use the topology, and `flavor` is missing.
    """
    declared = [one for one in state.cluster().resource_flavors if one.topology_name is not None]
    found = [one.name for one in declared if name == one.topology_name and flavor in (None, one.name)]
    if not found:
        raise NotFoundError(f'Topology "{name}": {_nobody(declared, flavor)}')
    if len(found) > 1:
        raise InvalidSpecError(
            f'Topology "{name}": is used by {len(found)} flavors; pass flavor, one of {", ".join(found)}'
        )
    # A fork keeps the state of this time, which the map reads later.
    engine = state.engine.fork()
    tree = engine.topology_tree(found[0])
    if tree is None:
        raise NotFoundError(f'Topology "{name}": does not exist, or a feature gate disables topologies')
    return RackMap(found[0], tree, engine)


def _nobody(declared: Sequence[ResourceFlavor], flavor: str | None) -> str:
    if flavor is not None:
        return f'ResourceFlavor "{flavor}" does not use it'
    known = sorted({str(one.topology_name) for one in declared})
    return (
        f"no ResourceFlavor uses it; {'flavors use ' + ', '.join(known) if known else 'no flavor has a topologyName'}"
    )


def text_of(requests: Mapping[str, Any]) -> str:
    """Format the requests of a pod."""
    return ", ".join(f"{name} {amount}" for name, amount in requests.items()) or "nothing"
