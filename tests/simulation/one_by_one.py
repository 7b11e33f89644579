"""The definitions of the results by group and over time: one group, one series and one window after another."""

from __future__ import annotations

import math

import numpy as np

from kueuepy.simulation.columns import is_resource
from kueuepy.simulation.confidence import of_cohorts
from kueuepy.tables.columns import exact, is_named

NANO = 1e9


def percentile(values, percent):
    ordered = np.sort(values)
    return float(ordered[math.ceil(len(ordered) * percent / 100) - 1]) if len(ordered) else 0.0


def mean(values):
    return float(values.mean()) if len(values) else None


def job_figures(result, mask, bound=10.0):
    """The metrics of the jobs of a mask."""
    jobs = result.jobs
    first = jobs["first_wait"][mask]
    first = np.sort(first[~np.isnan(first)])
    waits = np.sort(jobs["waited"][mask])
    finished = is_named(jobs["state"], "Finished")[mask]
    waited, runtime, held = (jobs[name][mask][finished] for name in ("waited", "runtime", "held"))
    life = waited + held
    whole = (runtime > 0) & (life > 0)
    slow = np.sort(life[whole] / runtime[whole])
    bounded = np.sort(np.maximum(1.0, life / np.maximum(runtime, bound)))
    return {
        "jobs": int(mask.sum()),
        "finished": int(finished.sum()),
        "wait_mean": mean(waits) or 0.0,
        **{f"wait_p{p}": percentile(waits, p) for p in (50, 95, 99)},
        "longest_wait": float(waits[-1]) if len(waits) else 0.0,
        "first_wait_mean": mean(first),
        **{f"first_wait_p{p}": percentile(first, p) for p in (50, 95, 99)},
        "slowdown": mean(slow),
        "slowdown_p95": percentile(slow, 95) if len(slow) else None,
        "bounded_slowdown": mean(bounded),
        "bounded_slowdown_p95": percentile(bounded, 95) if len(bounded) else None,
        "goodput": mean(held[whole] / life[whole]),
        "useful": mean(runtime[whole] / life[whole]),
        "evictions": int(jobs["evictions"][mask].sum()),
        "evictions_max": int(jobs["evictions"][mask].max(initial=0)),
    }


def hours(cell, total):
    return total / (1000 if cell.endswith("/cpu") else 1) / NANO / 3600


def queue_row(result, name):
    """The row of one ClusterQueue in `Result.queues`."""
    mask = is_named(result.jobs["cluster_queue"], name) & np.asarray(result.jobs["counted"])
    totals = result.totals["queues"].get(name, {"waits": 0.0, "most_waiting": 0, "cells": {}})
    seconds = max(result.seconds - result.warmup, 0.0)
    row = {"cluster_queue": name, **job_figures(result, mask)}
    row["waiting_mean"] = totals["waits"] / NANO / seconds if seconds else 0.0
    row["waiting_max"] = totals["most_waiting"]
    for cell, (used, nominal, borrowed, _) in totals["cells"].items():
        row[f"used_hours {cell}"] = hours(cell, used)
        row[f"borrowed_hours {cell}"] = hours(cell, borrowed)
        row[f"utilisation {cell}"] = used / nominal if nominal else math.nan
    for victim, _, _, _, lost in result.totals["evictions"]:
        for cell, total in lost.items() if victim == name else ():
            row[f"lost_hours {cell}"] = row.get(f"lost_hours {cell}", 0.0) + hours(cell, total)
    return row


def queue_rows(result):
    return [queue_row(result, name) for name in sorted({*result.totals["queues"], *result.jobs["cluster_queue"].names})]


def column_rows(result, column, start=None, end=None):
    """The rows of `Result.by`."""
    texts = np.array([str(value) for value in result.jobs[column]])
    submit = result.jobs["submit"]
    counted = np.array(result.jobs["counted"])
    counted &= (submit >= (start or 0.0)) & (submit < (math.inf if end is None else end))
    rows = []
    for text in dict.fromkeys(texts[counted].tolist()):
        mask = counted & (texts == text)
        row = {column: text, **job_figures(result, mask)}
        for name in filter(is_resource, result.jobs.names):
            amount = (result.jobs[name] * result.jobs["pods"])[mask]
            for kind, own in {"used": "held", "lost": "lost", "overhead": "overhead"}.items():
                row[f"{kind}_hours {name}"] = float((amount * result.jobs[own][mask]).sum()) / 3600
        rows.append(row)
    return rows


def series_of(table, by=("cluster_queue", "flavor_resource")):
    """The rows of each series of a table."""
    keys = list(zip(table[by[0]], table[by[1]], strict=True))
    codes = list(zip(table[by[0]].codes.tolist(), table[by[1]].codes.tolist(), strict=True))
    for code in sorted(set(codes)):
        rows = np.array([row for row, own in enumerate(codes) if own == code])
        yield *keys[rows[0]], rows


def lengths(at, low, high):
    until = np.append(at[1:], [max(high, at[-1])])
    return np.maximum(np.minimum(until, high) - np.maximum(at, low), 0.0)


def integral(at, values, low, high):
    return float((values * lengths(at, low, high)).sum()) if len(at) else 0.0


def added(steps):
    """The sum of step functions."""
    at = np.concatenate([np.zeros(0), *(times for times, _ in steps)])
    change = np.concatenate([np.zeros(0), *(np.diff(values, prepend=0.0) for _, values in steps)])
    order = np.argsort(at, kind="stable")
    last = np.append(np.diff(at[order]) > 0, [True]) if len(at) else np.zeros(0, bool)
    return at[order][last], np.cumsum(change[order])[last]


def firsts(found):
    """The first series of each ClusterQueue."""
    seen = {}
    for queue, steps in found:
        seen.setdefault(queue, steps)
    return list(seen.values())


def integrals(result, low, high):
    """The time integrals over a window, as `kueuepy.simulation.confidence.integrals` returns them."""
    table, found = exact(result.usage), {name: {} for name in ("nominal", "used", "borrowed", "lent", "idle")}
    by_queue, waiting, borrowing, trees = {}, [], [], {}
    for queue, cell, rows in series_of(table):
        at = table["seconds"][rows]
        own = {name: table[name][rows].astype(np.float64) for name in ("nominal", "used", "borrowed", "waiting")}
        for name in ("nominal", "used", "borrowed"):
            found[name][cell] = found[name].get(cell, 0.0) + integral(at, own[name], low, high) * NANO
        by_queue.setdefault(queue, {})[cell] = integral(at, own["used"], low, high) * NANO
        waiting.append((queue, (at, own["waiting"])))
        borrowing.append((at, (own["borrowed"] > 0) * 1.0))
        entry = (at, own["borrowed"], np.maximum(own["nominal"] - own["used"], 0))
        trees.setdefault((result.trees.get(queue, queue), cell), []).append(entry)
    for cell in found["nominal"]:
        found["nominal"][cell] += of_cohorts(result, cell) * max(0.0, high - low) * NANO
    for (_, cell), entries in trees.items():
        at, borrowed = added([(at, values) for at, values, _ in entries])
        _, unused = added([(at, values) for at, _, values in entries])
        lent = integral(at, np.minimum(borrowed, unused), low, high) * NANO
        found["lent"][cell] = found["lent"].get(cell, 0.0) + lent
    idle = exact(result.idle)
    for _, cell, rows in series_of(idle, ("tree", "flavor_resource")):
        total = integral(idle["seconds"][rows], idle["idle"][rows], low, high) * NANO
        found["idle"][cell] = found["idle"].get(cell, 0.0) + total
    blocked = [0.0, 0.0]
    for _, _, rows in series_of(result.blocked, ("cluster_queue", "cluster_queue")):
        at, values = result.blocked["seconds"][rows], result.blocked["blocked"][rows]
        blocked[0] += integral(at, np.maximum(values, 0.0), low, high) * NANO
        blocked[1] += integral(at, (values >= 0) * 1.0, low, high) * NANO
    at, waits = added(firsts(waiting))
    any_at, any_borrows = added(borrowing)
    return {
        **found,
        "waits": integral(at, waits, low, high) * NANO,
        "most_waiting": int(waits[lengths(at, low, high) > 0].max(initial=0.0)),
        "borrowing": integral(any_at, np.minimum(any_borrows, 1.0), low, high) * NANO,
        "blocked": blocked[0],
        "somebody_waits": blocked[1],
        "by_queue": by_queue,
    }


def integral_to(begin, values, edges):
    total = np.concatenate([[0.0], np.cumsum(values[:-1] * np.diff(begin))])
    place = np.searchsorted(begin, edges, side="right") - 1
    return np.where(place >= 0, total[place] + values[place] * (edges - begin[place]), 0.0)


def utilisation(result, edges, cell):
    """The utilisation of a flavor and resource between edges."""
    used, nominal, table = np.zeros(len(edges)), of_cohorts(result, cell) * edges, exact(result.usage)
    for _, own, rows in series_of(table):
        if own == cell:
            used += integral_to(table["seconds"][rows], table["used"][rows], edges)
            nominal += integral_to(table["seconds"][rows], table["nominal"][rows], edges)
    there = np.diff(nominal)
    return np.divide(np.diff(used), there, out=np.zeros(len(there)), where=there > 0)


def waiting(result, edges):
    """The mean number of waiting jobs between edges."""
    table = exact(result.usage)
    found = [(queue, (table["seconds"][rows], table["waiting"][rows])) for queue, _, rows in series_of(table)]
    return np.diff(sum(integral_to(at, values, edges) for at, values in firsts(found))) / np.diff(edges)


def mean_between(at, values, edges, width):
    """The mean of a step function between edges, which is infinite where a value is."""
    endless = np.isinf(values)
    found = np.diff(integral_to(at, np.where(endless, 0.0, values), edges)) / width
    return np.where(np.diff(integral_to(at, endless * 1.0, edges)) > 0, np.inf, found)


def resampled(table, edges, width):
    """The rows of `UsageSeries.resample`."""
    rows = []
    for queue, cell, own in series_of(table):
        at = table["seconds"][own]
        names = ("used", "nominal", "borrowed", "waiting", "share")
        means = [mean_between(at, table[name][own].astype(np.float64), edges, width) for name in names]
        rows += [
            {"seconds": begin, "cluster_queue": queue, "flavor_resource": cell, **dict(zip(names, values, strict=True))}
            for begin, *values in zip(edges[:-1].tolist(), *(values.tolist() for values in means), strict=True)
        ]
    return rows


def sampled(table, at):
    """The rows of a table of usage at regular times."""
    found = []
    for number, (_, _, rows) in enumerate(series_of(table)):
        for time in at.tolist():
            place = int(np.searchsorted(table["seconds"][rows], time, side="right")) - 1
            if place >= 0:
                found.append((time, number, int(rows[place])))
    known = table.rows()
    return [{**known[row], "seconds": time} for time, _, row in sorted(found)]
