"""What a notebook shows: everything escaped, at most 200 rows and 200 KB."""

from __future__ import annotations

from html import escape
from itertools import islice
from typing import TYPE_CHECKING, Any

from kueuepy import explain_words as words
from kueuepy.decision import Admitted, Preempting

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kueuepy.cluster import Cluster
    from kueuepy.decision import Decision
    from kueuepy.explain import Explanation
    from kueuepy.explain_cause import Cause
    from kueuepy.frames import Columns
    from kueuepy.loops import Cycle, Settled
    from kueuepy.scheduler import Scheduler

MOST_ROWS = 200
MOST_BYTES = 200_000
_LONGEST_TEXT = 400
_NODE = 0  # places in a row of Grid.nodes
_PARENT = 2


def table(header: Sequence[str], rows: Iterable[Sequence[Any]], caption: str = "") -> str:
    """A table of texts, cut where it gets too long."""
    shown = list(islice(rows, MOST_ROWS + 1))
    body: list[str] = []
    size = 0
    for row in shown[:MOST_ROWS]:
        line = "<tr>" + "".join(f"<td>{_text(cell)}</td>" for cell in row) + "</tr>"
        size += len(line.encode())
        if size > MOST_BYTES // 2:
            break
        body.append(line)
    cut = len(body) < len(shown)
    more = f'<tr><td colspan="{len(header)}">…</td></tr>' if cut else ""
    head = "".join(f"<th>{_text(name)}</th>" for name in header)
    title = f"<caption>{_text(caption)}</caption>" if caption else ""
    return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{''.join(body)}{more}</tbody></table>"


def _text(value: Any) -> str:
    text = str(value)
    return escape(text if len(text) <= _LONGEST_TEXT else f"{text[:_LONGEST_TEXT]}…")


def decision_row(decision: Decision) -> tuple[str, str, str, str]:
    """A decision as the cells of a row."""
    if isinstance(decision, Admitted):
        flavors = sorted({flavor for flavors in decision.flavors.values() for flavor in flavors.values()})
        return decision.workload, decision.cluster_queue, "Admitted", ", ".join(flavors)
    if isinstance(decision, Preempting):
        targets = ", ".join(f"{target.workload} ({target.reason})" for target in decision.targets)
        return decision.workload, decision.cluster_queue, "Preempting", targets
    return decision.workload, decision.cluster_queue, decision.reason or "Pending", decision.message


_DECISION = ("workload", "ClusterQueue", "decision", "")


def decision_html(decision: Decision) -> str:
    """One decision."""
    return table(_DECISION, [decision_row(decision)])


def cycle_html(cycle: Cycle) -> str:
    """The decisions of a cycle."""
    return table(_DECISION, map(decision_row, cycle), repr(cycle).strip("<>"))


def settled_html(settled: Settled) -> str:
    """The decisions of several cycles."""
    rows = ((i, *decision_row(decision)) for i, cycle in enumerate(settled, 1) for decision in cycle)
    return table(("cycle", *_DECISION), rows, repr(settled).strip("<>"))


def columns_html(columns: Columns) -> str:
    """The first rows of a table."""
    rows = columns.rows(MOST_ROWS + 1)
    return table(columns.names, [[row[name] for name in columns.names] for row in rows])


def explanation_html(explanation: Explanation) -> str:
    """The tree, with parts that fold."""
    left = [MOST_ROWS]
    inside = "".join(_cause(cause, left) for cause in explanation.causes)
    return f"<details open><summary><b>{_text(explanation.headline)}</b></summary><ul>{inside}</ul></details>"


def _cause(cause: Cause, left: list[int]) -> str:
    left[0] -= 1
    if left[0] < 0:
        return "<li>…</li>" if left[0] == -1 else ""
    if not cause.causes:
        return f"<li>{_text(cause.text)}</li>"
    inside = "".join(_cause(child, left) for child in cause.causes)
    return f"<li><details open><summary>{_text(cause.text)}</summary><ul>{inside}</ul></details></li>"


# --- the cohort tree ------------------------------------------------------------------------------------------------


def cluster_html(cluster: Cluster) -> str:
    """The cohort tree of a cluster, with what its Workloads use."""
    from kueuepy.scheduler import Scheduler  # noqa: PLC0415 - the two modules need each other

    bare = cluster.manifest.jobs
    return tree_html(Scheduler(cluster), f"{len(cluster.cluster_queues)} ClusterQueues, {len(bare)} jobs")


def scheduler_html(scheduler: Scheduler) -> str:
    """The cohort tree, with what is used now."""
    return tree_html(scheduler, repr(scheduler).strip("<>"))


def tree_html(scheduler: Scheduler, caption: str) -> str:
    """A row for each node and each flavor and resource that it has, with a bar."""
    grid = scheduler.usage
    usage, quota = grid.array("usage"), grid.array("subtree_quota")
    rows: list[str] = []
    size = 0
    for row, depth in _depth_first(grid.nodes):
        used = [cell for cell in range(len(grid.cells)) if quota[row, cell] or usage[row, cell]]
        for place, cell in enumerate(used or [None]):
            indent = 1.2 * depth
            name = _text(grid.nodes[row][_NODE]) if place == 0 else ""
            label = f'<td style="text-align:left;padding-left:{indent:.1f}em">{name}</td>'
            line = f"<tr>{label}{_bar(grid.cells, usage, quota, row, cell)}</tr>"
            size += len(line.encode())
            if len(rows) == MOST_ROWS or size > MOST_BYTES * 3 // 4:
                rows.append("<tr><td>…</td></tr>")
                return _tree(caption, rows)
            rows.append(line)
    return _tree(caption, rows)


def _tree(caption: str, rows: list[str]) -> str:
    head = "<tr><th>Cohort, ClusterQueue</th><th>flavor</th><th>resource</th><th>used</th><th></th></tr>"
    return f"<table><caption>{_text(caption)}</caption><thead>{head}</thead><tbody>{''.join(rows)}</tbody></table>"


def _depth_first(nodes: Sequence[Any]) -> Iterable[tuple[int, int]]:
    """Rows and depths, a Cohort before what is in it; a cycle of Cohorts shows nothing below it."""
    children: dict[int, list[int]] = {}
    for row, (_, _, parent, exists, _) in enumerate(nodes):
        if exists:
            children.setdefault(parent, []).append(row)
    stack = [(row, 0) for row in sorted(children.get(-1, ()), key=lambda r: nodes[r][_NODE], reverse=True)]
    while stack:
        row, depth = stack.pop()
        yield row, depth
        below = sorted(children.get(row, ()), key=lambda r: nodes[r][_NODE], reverse=True)
        stack += [(child, depth + 1) for child in below]


def _bar(cells: Sequence[tuple[str, str]], usage: Any, quota: Any, row: int, cell: int | None) -> str:
    if cell is None:
        return "<td></td><td></td><td></td><td></td>"
    flavor, resource = cells[cell]
    used, own = int(usage[row, cell]), int(quota[row, cell])
    share = used / own if own else float(used > 0)
    width, borrows = min(share, 1.0) * 100, used > own
    colour = "#c2410c" if borrows else "#2563eb"
    text = f"{words.amount(resource, used)} of {words.amount(resource, own)}" + (", borrows" if borrows else "")
    bar = (
        '<div style="width:10em;height:.8em;background:#8883">'
        f'<div style="width:{width:.0f}%;height:100%;background:{colour}"></div></div>'
    )
    return f"<td>{_text(flavor)}</td><td>{_text(resource)}</td><td>{_text(text)}</td><td>{bar}</td>"
