"""HTML for notebooks: all text is escaped, and output is limited to 200 rows and 200 KB."""

import re
from collections.abc import Iterable
from functools import singledispatch
from itertools import islice
from numbers import Real
from typing import Any

from kueuepy.cluster import Cluster
from kueuepy.engine.cycle import Cycle, Settled
from kueuepy.engine.decisions import Admitted, Decision, Pending, Preempting
from kueuepy.explain import Cause, Explanation
from kueuepy.look.colours import class_of, picture_style
from kueuepy.look.escapes import escape
from kueuepy.look.notebook import MOST_ROWS, Named, Sheet, hidden_rows
from kueuepy.scheduler import Scheduler
from kueuepy.scheduler.shown import NAMES, lines_of, sheet_of, title_of

# A notebook stores its output: explanations and tables must stay small.
MOST_LINES = 200
MOST_BYTES = 200_000
# Messages of Kueue can list all nodes of a cluster.
_LONGEST_TEXT = 400
# The number of characters up to which an entry stays in one line.
_SHORT_TEXT = 24
# Where the path of a field in a header may be broken.
_BREAKS = re.compile(r"([/:.])(?=\w)")
# The number of columns of a table of metrics, which fits into a narrow notebook.
_METRICS = 2
# The style of all other tables: in a narrow notebook, each row is a block.
_STACK = (
    ".kq-stack{container-type:inline-size}@container (max-width:480px){"
    ".kq-stack :is(table,caption,tbody,tr,td){display:block!important;text-align:left!important}"
    ".kq-stack thead{display:none}.kq-stack tr{border-bottom:1px solid #8886;padding:.3em 0}"
    ".kq-stack td{padding:.05em 0!important;white-space:normal!important;overflow-wrap:anywhere}"
    ".kq-stack td[data-label]~td{display:inline-block!important;margin-right:1em}"
    ".kq-stack td[data-label]~td:empty{display:none!important}"
    '.kq-stack td[data-label]::before{content:attr(data-label)": ";opacity:.75}'
    ".kq-stack td:first-child:not(:only-child){font-weight:bold}.kq-stack td:first-child::before{content:none}}"
)


@singledispatch
def html(value: Any) -> str:
    """Return the HTML of a value: the tables of its `sheets()`, its text, or a special format for some types."""
    return "".join(sheet_html(sheet, value) for sheet in value.sheets()) or f"<p>{_text(value)}</p>"


def sheet_html(sheet: Sheet, value: object = None) -> str:
    """Return the first rows of a table and a note about the rest; numbers are right-aligned, text left-aligned."""
    shown = sheet.rows[:MOST_ROWS]
    body: list[str] = []
    size = 0
    for row in shown:
        line = "<tr>" + "".join(map(_cell, row, sheet.header)) + "</tr>"
        size += len(line.encode())
        # A notebook stores its output, so that a table must stay small.
        if size > MOST_BYTES // 2:
            break
        body.append(line)
    hidden = sheet.hidden(MOST_ROWS) + len(shown) - len(body)
    more = (
        f'<tr><td colspan="{len(sheet.header)}">{_text(hidden_rows(hidden, value, sheet.source))}</td></tr>'
        if hidden
        else ""
    )
    first = shown[0] if shown else sheet.header
    head = "".join(_cell(name, tag="th", like=entry) for name, entry in zip(sheet.header, first, strict=True))
    return _table(sheet.caption, head, [*body, more])


def _table(caption: str, head: str, body: Iterable[str]) -> str:
    title = f'<caption style="text-align:left">{_text(caption)}</caption>' if caption else ""
    table = f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>"
    wide = head.count("<th") != _METRICS
    inside = f'<div class="kq-stack"><style>{_STACK}</style>{table}</div>' if wide else table
    return f'<div style="overflow-x:auto">{inside}</div>'  # a wide table scrolls; no column is cut off


def _cell(value: Any, label: Any = "", *, tag: str = "td", like: Any = None) -> str:
    """Return a table cell with explicit alignment, because notebooks right-align by default.

    Args:
        value: The value.
        label: The title of the column, which precedes the value on a narrow screen.
        tag: The kind of the element, `td` or `th`.
        like: A value of the column of a title, which determines the alignment.
    """
    label = f' data-label="{_text(label)}"' if tag == "td" and str(label) else ""
    side = "right" if isinstance(value if like is None else like, Real) else "left"
    if isinstance(value, Named):
        apart = "<br>" if tag == "th" else " "
        name = f'<code style="font-size:.85em;opacity:.75;font-weight:normal">{_text(value.name)}</code>'
        return f'<{tag}{label} style="text-align:{side}">{_text(value.title)}{apart}{name}</{tag}>'
    line = ";white-space:nowrap" if len(str(value)) <= _SHORT_TEXT else ""
    text = _BREAKS.sub(r"\1<wbr>", _text(value)) if tag == "th" else _text(value)
    return f'<{tag}{label} style="text-align:{side}{line}">{text}</{tag}>'


def _text(value: Any) -> str:
    text = str(value)
    return escape(text if len(text) <= _LONGEST_TEXT else f"{text[:_LONGEST_TEXT]}…")


def decision_row(decision: Decision) -> tuple[str, str, str, str]:
    """Return a decision as the cells of a row."""
    if isinstance(decision, Admitted):
        flavors = sorted({flavor for flavors in decision.flavors.values() for flavor in flavors.values()})
        return decision.workload, decision.cluster_queue, "Admitted", ", ".join(flavors)
    if isinstance(decision, Preempting):
        targets = ", ".join(f"{target.workload} ({target.reason})" for target in decision.targets)
        return decision.workload, decision.cluster_queue, "Preempting", targets
    return decision.workload, decision.cluster_queue, decision.reason or "Pending", decision.message


_DECISION = ("Workload", "ClusterQueue", "Decision", "Details")


@html.register(Admitted)
@html.register(Preempting)
@html.register(Pending)
def _decision(decision: Decision) -> str:
    return sheet_html(Sheet(_DECISION, [decision_row(decision)]), decision)


@html.register
def _cycle(cycle: Cycle) -> str:
    rows = [decision_row(decision) for decision in islice(cycle, MOST_ROWS)]
    return sheet_html(Sheet(_DECISION, rows, repr(cycle).strip("<>"), len(cycle)), cycle)


@html.register
def _settled(settled: Settled) -> str:
    rows = ((i, *decision_row(decision)) for i, cycle in enumerate(settled, 1) for decision in cycle)
    total = sum(map(len, settled))
    sheet = Sheet(("Cycle", *_DECISION), list(islice(rows, MOST_ROWS)), repr(settled).strip("<>"), total)
    return sheet_html(sheet, settled)


@html.register
def _explanation(explanation: Explanation) -> str:
    left = [MOST_LINES]
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


@html.register
def _cluster(cluster: Cluster) -> str:
    """Return the cohort tree of a cluster with the usage of its Workloads."""
    queues, jobs = len(cluster.cluster_queues), len(cluster.workloads) + len(cluster.jobs)
    return tree_html(Scheduler(cluster), f"{queues} ClusterQueue{'s' * (queues != 1)}, {jobs} job{'s' * (jobs != 1)}")


@html.register
def _scheduler(scheduler: Scheduler) -> str:
    return tree_html(scheduler, title_of(scheduler.now, len(scheduler.workloads)), scheduler.now)


def tree_html(scheduler: Scheduler, caption: str, now: float | None = None) -> str:
    """Return the table that `print` shows, with a bar for each Cohort or ClusterQueue, flavor and resource."""
    sheet = sheet_of(scheduler.usage, scheduler.workloads, caption, now)
    lines = lines_of(scheduler.usage, scheduler.workloads)
    rows = []
    for cells, depth, used, own, colour in lines[:MOST_ROWS]:
        name = f'<td style="text-align:left;padding-left:{1.2 * depth + 0.5:.1f}em">{_text(cells[0])}</td>'
        rows.append(f"<tr>{name}{''.join(map(_cell, cells[1:], NAMES[1:]))}<td>{_bar(used, own, colour)}</td></tr>")
    if hidden := len(lines) - len(rows):
        rows.append(f'<tr><td colspan="6">{_text(hidden_rows(hidden, scheduler, sheet.source))}</td></tr>')
    like = lines[0].cells if lines else NAMES
    heads = [_cell(name, tag="th", like=entry) for name, entry in zip(NAMES, like, strict=True)]
    head = "".join([*heads, "<th></th>"])
    return f"<style>{picture_style()}</style>{_table(sheet.caption, head, rows)}"


def _bar(used: int, own: int, colour: int | None) -> str:
    """Return a bar in the colour of a ClusterQueue, or in grey for a Cohort; borrowed quota is hatched."""
    whole = max(used, own, 1)
    shade = "var(--kq-others)" if colour is None else f"var(--{class_of(colour)})"
    hatched = f"repeating-linear-gradient(135deg,{shade} 0 3px,var(--kq-paper) 3px 5px)"
    inside = "".join(
        f'<div style="width:{amount / whole:.1%};height:100%;background:{background}"></div>'
        for amount, background in ((min(used, own), shade), (max(used - own, 0), hatched))
        if amount
    )
    return (
        '<div class="kq-picture" style="display:flex;width:10em;height:.8em;border:1px solid var(--kq-quiet)">'
        f"{inside}</div>"
    )
