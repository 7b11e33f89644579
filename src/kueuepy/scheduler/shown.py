"""The table that `print` shows for a Scheduler."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from kueuepy.engine.nodes import depth_first
from kueuepy.errors.words import counted
from kueuepy.explain.words import amount
from kueuepy.look.notebook import Sheet
from kueuepy.look.numbers import duration
from kueuepy.objects import SECOND
from kueuepy.objects.times import format_time

if TYPE_CHECKING:
    from kueuepy.engine.tables import UsageTable, WorkloadTable

NAMES = ("Cohort or ClusterQueue", "Flavor/resource", "Usage", "Pending", "Admitted")
_DATED = 365 * 86400
"""Times of less than a year after the Unix epoch are virtual times without a date."""


class Line(NamedTuple):
    """A Cohort or ClusterQueue with one flavor and resource.

    Attributes:
        cells: The cells of the table.
        depth: The number of Cohorts above the node.
        used: The usage, in the core's unit.
        own: The quota without borrowing, in the core's unit.
    """

    cells: tuple[Any, ...]
    depth: int
    used: int = 0
    own: int = 0


def sheet_of(grid: UsageTable, workloads: WorkloadTable, caption: str) -> Sheet:
    """Return one row for each Cohort or ClusterQueue, flavor and resource, with its usage and its workloads.

    Args:
        grid: The usage.
        workloads: The workloads.
        caption: The beginning of the title; the number of workloads by status follows.
    """
    rows = [("  " * depth + cells[0] if cells[0] else "", *cells[1:]) for cells, depth, *_ in lines_of(grid, workloads)]
    states: Counter[Any] = Counter(workloads["status"])
    known = ", ".join(f"{count:,} {state.lower()}" for state, count in sorted(states.items()))
    return Sheet(NAMES, rows, f"{caption}{f' ({known})' if known else ''}", source=".usage")


def lines_of(grid: UsageTable, workloads: WorkloadTable) -> list[Line]:
    """Return the rows of the table, parents first."""
    usage, quota = grid.array("usage"), grid.array("subtree_quota")
    numbers: Counter[tuple[Any, Any]] = Counter(zip(workloads["cluster_queue"], workloads["status"], strict=True))
    found = []
    for row, depth in depth_first(grid.nodes):
        node = grid.nodes[row]
        counts = [numbers[node.name, state] if node.kind == "ClusterQueue" else "" for state in ("Pending", "Admitted")]
        cells = [cell for cell in range(len(grid.flavor_resources)) if quota[row, cell] or usage[row, cell]]
        for place, cell in enumerate(cells or [None]):
            name, ends = (node.name, counts) if place == 0 else ("", ["", ""])
            shown = (name, *_usage(grid, usage[row], quota[row], cell), *ends)
            amounts = (0, 0) if cell is None else (int(usage[row, cell]), int(quota[row, cell]))
            found.append(Line(shown, depth, *amounts))
    return found


def title_of(now: float, workloads: int) -> str:
    """Return the time and the number of workloads of a Scheduler as the title of its table.

    Args:
        now: The time in seconds; at least a year is a time after the Unix epoch.
        workloads: The number of workloads.
    """
    at = format_time(round(now * SECOND)) if now >= _DATED else duration(now)
    return f"Scheduler at {at}: {counted(workloads, 'workload')}"


def usage_text(resource: str, used: int, own: int) -> str:
    """Return a usage and its quota in the unit of the resource, such as `9 GPUs of 8 GPUs, borrows 1 GPU`.

    Args:
        resource: The resource.
        used: The usage, in the core's unit.
        own: The quota without borrowing, in the core's unit.
    """
    text = f"{amount(resource, used)} of {amount(resource, own)}"
    return text + (f", borrows {amount(resource, used - own)}" if used > own else "")


def _usage(grid: UsageTable, usage: Any, quota: Any, cell: int | None) -> tuple[str, str]:
    if cell is None:
        return "", ""
    flavor, resource = grid.flavor_resources[cell]
    return f"{flavor}/{resource}", usage_text(resource, int(usage[cell]), int(quota[cell]))
