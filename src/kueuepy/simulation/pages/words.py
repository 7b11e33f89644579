"""Headlines of reports: the results in sentences with their uncertainty, the largest problem, and the next step."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kueuepy.errors import KueueError
from kueuepy.errors.words import plural, verb
from kueuepy.look.numbers import duration, durations, hours, number, points, round_duration, share
from kueuepy.simulation.catalogue import figure_text, unit_of
from kueuepy.simulation.labels import hours_word, interval_text, part_text
from kueuepy.simulation.pages.effects import Effects

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kueuepy.simulation.figures import Kpis
    from kueuepy.simulation.pages.effects import Effect
    from kueuepy.simulation.result import Result

_TWO = 2
_LITTLE = 0.0005
"""The part of the used hours below which a change of the lost work is not worth a sentence."""
_MUCH_LOST, _MUCH_IDLE = 0.02, 0.05
"""The part of the used hours from which lost work, and quota that is free while jobs wait, is the largest problem."""


class Problem(NamedTuple):
    """The largest problem of a simulation, and the next step to solve it.

    Attributes:
        text: The problem, as a sentence.
        step: The next step towards a solution, as a sentence.
    """

    text: str
    step: str


def busiest(kpis: Kpis) -> str:
    """Return the flavor and resource with the highest utilisation; an empty string if there is no quota."""
    return max(kpis.utilisation, key=lambda cell: kpis.utilisation[cell], default="")


def of_run(result: Result) -> str:
    """Return the headline of a report of one simulation."""
    kpis = result.kpis
    if not kpis.jobs:
        return "No jobs count: all were submitted during the warm-up, or there were none."
    between = interval(kpis, "wait_p95")
    sentences = [f"95% of the jobs wait at most {round_duration(kpis.wait_p95)}{f' ({between})' if between else ''}"]
    mean = interval(kpis, "wait_mean")
    sentences[0] += f", and {round_duration(kpis.wait_mean)} on average{f' ({mean})' if mean else ''}."
    if between or mean:
        sentences.append("The ranges are 95% confidence intervals.")
    cell = busiest(kpis)
    if cell:
        used = kpis.submission_utilisation.get(cell, kpis.utilisation[cell])
        sentences.append(f"While jobs arrive, {share(used)} of the quota of {cell} is in use.")
    if kpis.finished < kpis.jobs:
        left = kpis.jobs - kpis.finished
        sentences.append(f"{left:,} of {kpis.jobs:,} jobs do not finish.")
    return " ".join(sentences)


def of_policies(results: Mapping[str, Result]) -> str:
    """Return the headline of a comparison: the policy with the lowest mean wait, and the certainty of this result."""
    order = sorted(results, key=lambda name: results[name].kpis.wait_mean)
    best, after = order[0], order[1]
    text = f"Of {len(order)} policies, “{best}” has the shortest mean wait: "
    text += f"{round_duration(results[best].kpis.wait_mean)}. The next is “{after}” with "
    text += f"{round_duration(results[after].kpis.wait_mean)}"
    try:
        effect = Effects(results[best], results[after]).of_all()
    except KueueError:
        return f"{text}."
    return f"{text} ({_certainty(effect)})."


def of_pair(names: tuple[str, str], results: tuple[Result, Result], queues: Sequence[Effect], effect: Effect) -> str:
    """Return the headline of a comparison of two policies.

    Args:
        names: The names of the policies.
        results: The results.
        queues: The effect on each ClusterQueue.
        effect: The effect on all jobs.
    """
    first, second = names
    size = round_duration(abs(effect.difference))
    to = f"from {round_duration(effect.first)} to {round_duration(effect.second)}"
    if effect.difference == 0:
        text = f"“{second}” does not change the mean wait of {round_duration(effect.first)} compared with “{first}”"
    elif effect.is_clear:
        does = "shortens" if effect.difference < 0 else "lengthens"
        text = f"“{second}” {does} the mean wait by {size} ({_between(effect)}), {to}"
    elif effect.has_interval:
        text = f"“{second}” and “{first}” do not differ clearly in the mean wait: the difference is {signed(effect)} "
        text += f"({durations(effect.low, effect.high)})"
    else:
        does = "shorter" if effect.difference < 0 else "longer"
        text = f"Under “{second}”, the mean wait is {size} {does} than under “{first}”, {to}; "
        text += f"{effect.jobs:,} jobs are too few for a confidence interval"
    known = " The range is a 95% confidence interval." if effect.has_interval and effect.difference else ""
    return f"{text}{_costs(results)}. {_affected(queues)}".strip() + known


def signed(effect: Effect) -> str:
    """Format a difference with its sign."""
    return f"{'+' if effect.difference > 0 else ''}{round_duration(effect.difference)}"


def _between(effect: Effect) -> str:
    low, high = sorted((abs(effect.low), abs(effect.high)))
    return durations(low, high)


def _certainty(effect: Effect) -> str:
    if effect.is_clear:
        return f"{_between(effect)} more, the 95% confidence interval"
    return "the difference is not clear" if effect.has_interval else "too few jobs for a confidence interval"


def _costs(results: tuple[Result, Result]) -> str:
    """Return the difference in lost work as the end of a sentence; empty if the difference is small."""
    first, second = (result.kpis for result in results)
    cell = busiest(second)
    used = second.used_hours.get(cell, 0.0)
    more = second.lost_hours.get(cell, 0.0) - first.lost_hours.get(cell, 0.0)
    if not used or abs(more) < _LITTLE * used:
        return ""
    size = hours(cell.partition("/")[2], abs(more))
    does = "costs" if more > 0 else "saves"
    return f", and {does} {part_text(abs(more), used)} of the {hours_word(cell)} ({size} of lost work)"


def _affected(queues: Sequence[Effect]) -> str:
    """Return a sentence about the queues whose mean waits decrease most and increase most."""
    if len(queues) < _TWO:
        return ""
    gains, loses = min(queues, key=lambda one: one.difference), max(queues, key=lambda one: one.difference)
    parts = []
    if gains.difference < 0:
        parts.append(f"helps {gains.name} most ({signed(gains)} on average)")
    if loses.difference > 0:
        parts.append(f"hurts {loses.name} most ({signed(loses)})")
    return f"It {' and '.join(parts)}." if parts else ""


def interval(kpis: Kpis, name: str) -> str:
    """Return the 95 % confidence interval of a metric as text; empty if the metric has no interval."""
    try:
        low, high, _ = kpis._interval(name)  # noqa: SLF001 - without the warning, which a report prints itself
    except KueueError:
        return ""
    return interval_text(name, low, high)


def problem(result: Result) -> Problem:
    """Return the largest problem of a simulation."""
    kpis, cell = result.kpis, busiest(result.kpis)
    used, resource = kpis.used_hours.get(cell, 0.0), cell.partition("/")[2]
    lost, idle = kpis.lost_hours.get(cell, 0.0), kpis.idle_while_waiting.get(cell, 0.0)
    if kpis.loops:
        text = f"Jobs evict each other again and again: {kpis.loops} preemption {plural(kpis.loops, 'loop')}."
        return Problem(text, "Read which jobs in the section Evictions, and restrict one of the preemption policies.")
    if kpis.starved:
        text = f"{kpis.starved:,} {plural(kpis.starved, 'job')} {verb(kpis.starved, 'are')} never admitted, "
        return Problem(f"{text}although much later jobs are.", "Read the reasons in the section Pending jobs.")
    if used and lost > _MUCH_LOST * used:
        text = f"Evictions lose {hours(resource, lost)}, {part_text(lost, used)} of all used {hours_word(cell)}."
        return Problem(text, "Let jobs save checkpoints, or compare preemption policies with kueuepy compare.")
    if used and idle > _MUCH_IDLE * used:
        text = f"{hours(resource, idle)} of {cell} were free although jobs waited for them, {part_text(idle, used)} "
        text += f"of the used {hours_word(cell)}."
        return Problem(text, "Compare higher borrowing limits with kueuepy sweep.")
    return _slowest(result, cell)


def _slowest(result: Result, cell: str) -> Problem:
    """Return a problem that names the ClusterQueue whose jobs have the longest total wait."""
    jobs = result.jobs
    counted = np.asarray(jobs["counted"])
    codes, names = jobs["cluster_queue"].codes, jobs["cluster_queue"].names
    there = counted & (codes >= 0)
    total = float(jobs["waited"][there].sum())
    if not total:
        return Problem("No job waited.", "Try fewer nominal quotas with kueuepy plan.")
    sums = np.bincount(codes[there], weights=jobs["waited"][there], minlength=len(names))
    worst = int(sums.argmax())
    number_of = int((codes[there] == worst).sum())
    text = f"{names[worst]} has {share(number_of / int(there.sum()))} of the jobs, and {share(sums[worst] / total)} of "
    text += f"all waiting; its jobs wait {round_duration(sums[worst] / number_of)} on average."
    path = f"ClusterQueue/{names[worst]}:quota[{cell}].nominalQuota"
    return Problem(text, f"Find the nominal quota that meets a target, with kueuepy plan --vary '{path}'.")


def change_text(name: str, first: float | None, second: float | None) -> str:
    """Format the difference of a metric with its sign and unit; empty if a value is missing."""
    if first is None or second is None:
        return ""
    change = second - first
    if change == 0 or figure_text(name, first) == figure_text(name, second):
        return "no change"
    text = figure_text(name, abs(change)) if not isinstance(change, int) else number(abs(change))
    if unit_of(name) == "span":
        text = duration(abs(change))
    if unit_of(name) == "part":
        text = f"{points(abs(change))} points"
    return f"{'+' if change > 0 else '-'}{text}"
