"""Conversion of a cluster in the format of `tests/vectors` to the objects of the oracle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .classical import Policies, Search
from .fair import FINAL, INITIAL, FairSearch
from .orders import Workload
from .quota import UNLIMITED, Cell, Forest, Node, Quota

if TYPE_CHECKING:
    from .classical import Request

Line = dict[str, Any]


def integer(resource: str, text: Any) -> int:
    """A quota's integer; `1E` of cpu is more than the core can count, and so is unlimited."""
    digits, scale = (text[:-1], 10**18) if str(text).endswith("E") else (text, 1)
    return min(int(digits) * scale * (1000 if resource == "cpu" else 1), UNLIMITED)


def quotas(rows: list[Line] | None) -> dict[Cell, Quota]:
    table: dict[Cell, Quota] = {}
    for row in rows or ():
        limits = [row.get("borrowingLimit", row.get("borrow")), row.get("lendingLimit", row.get("lend"))]
        borrowing, lending = (UNLIMITED if limit is None else integer(row["resource"], limit) for limit in limits)
        table[row["flavor"], row["resource"]] = Quota(integer(row["resource"], row["nominal"]), borrowing, lending)
    return table


def usage(rows: list[Line]) -> dict[Cell, int]:
    table: dict[Cell, int] = {}
    for row in rows:
        cell = row["flavor"], row["resource"]
        table[cell] = table.get(cell, 0) + integer(row["resource"], row["amount"])
    return table


def forest(line: Line) -> Forest:
    made = Forest()
    for cohort in line["cohorts"] or ():
        weight = float(cohort.get("weight", 1))
        node = Node(cohort["name"], is_queue=False, quotas=quotas(cohort.get("quotas")), weight=weight)
        made.add(node, cohort.get("parent"))
    for queue in line["clusterQueues"]:
        node = Node(queue["name"], is_queue=True, quotas=quotas(queue["quotas"]), weight=float(queue.get("weight", 1)))
        node.active = not queue.get("stopped")
        made.add(node, queue.get("cohort"))
    return made


def workload(made: Forest, row: Line, *, afs: bool = False) -> Workload:
    return Workload(
        row["name"],
        made.queues[row["cq"]],
        row["priority"],
        row["created"],
        usage(row["usage"]),
        row["reserved"],
        bool(row.get("evicted")),
        row.get("lq", ""),
        row["lqUsage"] if afs else None,
    )


def admit(made: Forest, line: Line) -> list[Workload]:
    admitted = [workload(made, row, afs=line.get("afs", False)) for row in line.get("admitted") or ()]
    for one in admitted:
        one.queue.charge(one.usage)
    return admitted


def policies(line: Line, queue: str) -> Policies:
    row = next(row for row in line["clusterQueues"] if row["name"] == queue)
    borrow = row.get("borrowWithinCohort") or {}
    borrows = borrow.get("policy", "Never") != "Never"
    return Policies(row.get("within", "Never"), row.get("reclaim", "Never"), borrows, borrow.get("threshold"))


def search(
    line: Line, preemptor: Workload, admitted: list[Workload], contested: list[Cell], request: Request
) -> Search:
    """Run the search with the configuration of the line."""
    asked = (preemptor, policies(line, preemptor.queue.name), admitted, contested, request)
    if not line.get("fairSharing"):
        return Search(*asked)
    strategies = tuple(line.get("strategies") or (FINAL, INITIAL))
    return FairSearch(*asked, strategies=strategies, reclaims_nominal=line.get("preemptWithinNominal", True))
