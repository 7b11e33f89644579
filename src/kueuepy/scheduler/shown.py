"""The table that `print` shows for a Scheduler."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from kueuepy.engine.nodes import depth_first
from kueuepy.explain.words import amount
from kueuepy.look.notebook import Sheet

if TYPE_CHECKING:
    from kueuepy.engine.tables import UsageTable, WorkloadTable

_NAMES = ("Cohort or ClusterQueue", "Flavor/resource", "Usage", "Pending", "Admitted")


def sheet_of(grid: UsageTable, workloads: WorkloadTable, caption: str) -> Sheet:
    """Return one row for each Cohort or ClusterQueue, flavor and resource, with its usage and its workloads.

    Args:
        grid: The usage.
        workloads: The workloads.
        caption: The beginning of the title; the number of workloads by status follows.
    """
    usage, quota = grid.array("usage"), grid.array("subtree_quota")
    states = list(workloads["status"])
    numbers = Counter(zip(workloads["cluster_queue"], states, strict=True))
    rows = []
    for row, depth in depth_first(grid.nodes):
        node = grid.nodes[row]
        counts = [numbers[node.name, state] if node.kind == "ClusterQueue" else "" for state in ("Pending", "Admitted")]
        cells = [cell for cell in range(len(grid.flavor_resources)) if quota[row, cell] or usage[row, cell]]
        for place, cell in enumerate(cells or [None]):
            name = "  " * depth + node.name if place == 0 else ""
            rows.append((name, *_usage(grid, usage[row], quota[row], cell), *(counts if place == 0 else ("", ""))))
    known = ", ".join(f"{count:,} {state.lower()}" for state, count in sorted(Counter(states).items()))
    return Sheet(_NAMES, rows, f"{caption}{f' ({known})' if known else ''}", source=".usage")


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
