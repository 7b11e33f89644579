"""The table that `print` shows for a Scheduler."""

from collections import Counter
from typing import Any, NamedTuple

from kueuepy.engine.nodes import depth_first
from kueuepy.engine.tables import UsageTable, WorkloadTable
from kueuepy.errors import counted
from kueuepy.look.colours import OTHERS, places
from kueuepy.look.notebook import Sheet
from kueuepy.look.numbers import amount, amount_beside, duration
from kueuepy.objects import SECOND, format_time

NAMES = ("Cohort or ClusterQueue", "Flavor/resource", "Usage", "Pending", "Admitted")
# The number of units of the core in one core of cpu.
_MILLI = 1000
# Times of less than a year after the Unix epoch are virtual times without a date.
_DATED = 365 * 86400


class Line(NamedTuple):
    """A Cohort or ClusterQueue with one flavor and resource.

    Attributes:
        cells: The cells of the table.
        depth: The number of Cohorts above the node.
        used: The usage, in the core's unit.
        own: The quota without borrowing, in the core's unit.
        place: The number of the colour of a ClusterQueue; `None` for a Cohort.
    """

    cells: tuple[Any, ...]
    depth: int
    used: int = 0
    own: int = 0
    position: int | None = None


def sheet_of(grid: UsageTable, workloads: WorkloadTable, caption: str, now: float | None = None) -> Sheet:
    """Return one row for each Cohort or ClusterQueue, flavor and resource, with its usage and its workloads.

    Args:
        grid: The usage.
        workloads: The workloads.
        caption: The beginning of the title; the number of workloads by status follows.
        now: The time in seconds, for a sentence about the largest problem and the next step; `None` for no sentence.
    """
    rows = [("  " * depth + cells[0] if cells[0] else "", *cells[1:]) for cells, depth, *_ in lines_of(grid, workloads)]
    states: Counter[Any] = Counter(workloads["status"])
    known = ", ".join(f"{count:,} {state.lower()}" for state, count in sorted(states.items()))
    problem = "" if now is None else _problem(workloads, now)
    return Sheet(NAMES, rows, f"{caption}{f' ({known})' if known else ''}{problem}", source=".usage")


def _problem(workloads: WorkloadTable, now: float) -> str:
    """Return the queue with the most pending workloads and the oldest pending workload, as sentences after a title."""
    found = zip(*(workloads[name] for name in ("created", "key", "cluster_queue", "status")), strict=True)
    pending = [(created, key, queue) for created, key, queue, status in found if status == "Pending"]
    if not pending:
        return ""
    waiting = Counter(queue for *_, queue in pending if queue)
    created, oldest, _ = min(pending, key=lambda one: int(one[0].astype("int64")))
    waited = now - int(created.astype("int64")) / SECOND
    text = ". Largest problem: "
    if waiting:
        queue, count = max(waiting.items(), key=lambda one: (one[1], one[0]))
        text += f"{queue} has {counted(count, 'pending workload')}; "
    text += f"{oldest} has been pending longest{f', for {duration(waited)}' if waited > 0 else ''}. "
    return text + f'Next step: scheduler.explain("{oldest}") says why'


def lines_of(grid: UsageTable, workloads: WorkloadTable) -> list[Line]:
    """Return the rows of the table, parents first."""
    usage, quota = grid.array("usage"), grid.array("subtree_quota")
    colours = places(_weights(grid))
    numbers: Counter[tuple[Any, Any]] = Counter(zip(workloads["cluster_queue"], workloads["status"], strict=True))
    found = []
    for row, depth in depth_first(grid.nodes, colours):
        node = grid.nodes[row]
        counts = [numbers[node.name, state] if node.kind == "ClusterQueue" else "" for state in ("Pending", "Admitted")]
        pairs = [pair for pair in range(len(grid.flavor_resources)) if quota[row, pair] or usage[row, pair]]
        for position, pair in enumerate(pairs or [None]):
            name, ends = (node.name, counts) if position == 0 else ("", ["", ""])
            shown = (name, *_usage(grid, usage[row], quota[row], pair), *ends)
            amounts = (0, 0) if pair is None else (int(usage[row, pair]), int(quota[row, pair]))
            position_of = colours.get(node.name, OTHERS) if node.kind == "ClusterQueue" else None
            found.append(Line(shown, depth, *amounts, position_of))
    return found


def _weights(grid: UsageTable) -> dict[str, float]:
    """Return the sum of a ClusterQueue's parts of the nominal quotas, which decides its colour and its position."""
    nominal = grid.array("nominal_quota")
    # As parts of all quota of a resource, bytes do not outweigh cores.
    parts = (nominal / nominal.sum(axis=0).clip(1)).sum(axis=1)
    return {node.name: float(parts[row]) for row, node in enumerate(grid.nodes) if node.kind == "ClusterQueue"}


def title_of(now: float, workloads: int) -> str:
    """Return the time and the number of workloads of a Scheduler as the title of its table.

    Args:
        now: The time in seconds; at least a year is a time after the Unix epoch.
        workloads: The number of workloads.
    """
    at = format_time(round(now * SECOND)) if now >= _DATED else duration(now)
    return f"Scheduler at {at}: {counted(workloads, 'workload')}"


def usage_text(resource: str, used: int, own: int) -> str:
    """Return a usage and its quota in the unit of the resource, such as `9 of 8 GPUs, borrows 1`.

    Args:
        resource: The resource.
        used: The usage, in the core's unit.
        own: The quota without borrowing, in the core's unit.
    """
    per = _MILLI if resource == "cpu" else 1
    taken, whole = used / per, own / per
    text = f"{amount_beside(resource, taken, whole)} of {amount(resource, whole)}"
    return text + (f", borrows {amount_beside(resource, taken - whole, whole)}" if used > own else "")


def _usage(grid: UsageTable, usage: Any, quota: Any, pair: int | None) -> tuple[str, str]:
    if pair is None:
        return "", ""
    flavor, resource = grid.flavor_resources[pair]
    return f"{flavor}/{resource}", usage_text(resource, int(usage[pair]), int(quota[pair]))
