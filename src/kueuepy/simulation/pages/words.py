"""Headlines of reports: results with their uncertainty, warnings, the largest problem, and the next step."""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from math import ceil
from typing import NamedTuple

import numpy as np

from kueuepy.errors import InvalidSpecError, KueueError, counted, plural, verb
from kueuepy.look.numbers import busiest, duration, durations, hours, points, share
from kueuepy.objects import SECOND
from kueuepy.simulation.catalogue import better_of, figure_text, hours_word, interval_text, part_text, unit_of
from kueuepy.simulation.columns import ENDED_BY_LIMIT, NATIVE, is_about, is_resource
from kueuepy.simulation.confidence import Effect, Effects
from kueuepy.simulation.figures import Kpis
from kueuepy.simulation.grouped import sums
from kueuepy.simulation.recorded import Recorded, unstarted
from kueuepy.tables.columns import exact, is_named, quantity_text
from kueuepy.tables.columns import unit_of as unit_of_amount

_UNFINISHED = 0.05
_ENOUGH, _LONG = 100, 5
# Thresholds of the warning about the time after the last submission: its fraction of the run, and the difference of the
# two metrics of utilisation.
_TAIL, _APART = 0.1, 0.02
# Text that identifies the warning about the time after the last submission. A comparison omits this warning, because
# it does not show the utilisation of the whole run.
_AFTER_LAST = "after the last submission"
# Threshold of the warning about a long mean wait, as a fraction of the time in which jobs arrive.
_WAIT = 0.05
# A warning with these words ends alike under all policies of a comparison, after numbers that differ.
_DOUBT = "may depend more on"


def warnings_of(result: Recorded, *, figures: bool = True) -> tuple[str, ...]:
    """Return the warnings about a simulation.

    The warnings report what is missing on the workers of a fleet, preemption loops, jobs that can never fit, loads
    above 1, unfinished jobs, a warm-up of unsuitable length, a long time after the last submission, waits that are long
    compared with the log, jobs without a runtime, which never end, columns that are probably misspelled, and jobs left
    out.

    Args:
        result: The result.
        figures: Whether to include warnings that only explain a metric: results show them, but `simulate`, which does
            not compute metrics, does not emit them.
    """
    return (
        *getattr(result, "remarks", ()),
        *map(str, result.loops),
        *_noted(result, "never"),
        *_loads(result),
        *_unfinished(result),
        *_warmups(result),
        *((*_tail(result), *_unsettled(result), *_noted(result, "runtime", mark=":")) if figures else ()),
        *_noted(result, "warning", mark=":"),
    )


def warnings_of_all(results: Mapping[str, Recorded], *, tail: bool = False) -> list[str]:
    """Return the warnings about policies, each once: with the first policy that has it, and the number of others.

    Args:
        results: The results by name of the policy.
        tail: Whether to include the warning about the time after the last submission, for metrics of the whole run.
    """
    found: dict[str, list[tuple[str, str]]] = {}
    for name, result in results.items():
        for text in (text for text in warnings_of(result) if tail or _AFTER_LAST not in text):
            found.setdefault(text.rpartition("; ")[2] if _DOUBT in text else text, []).append((name, text))
    lines = []
    for (name, text), *others in found.values():
        also = f" (and {counted(len(others), 'other policy')})" if others else ""
        lines.append(f"{name}{also}: {text}")
    return lines


def _noted(result: Recorded, kind: str, mark: str = "") -> list[str]:
    """Return the notes of a kind."""
    return [f"{counted(note[1], 'job')}{mark} {note[0]}" for note in result.notes if is_about(note, kind)]


def _loads(result: Recorded) -> list[str]:
    """Warn about cohort trees whose jobs request more than the nominal quota, so that waits grow with simulated time.

    The check is skipped unless many jobs arrive over a period much longer than their runtime, because a batch of jobs
    submitted at once has no meaningful load.
    """
    jobs = result.jobs
    runtime, span = np.nan_to_num(jobs["runtime"]), float(jobs["submit"].max(initial=0.0))
    if not _is_long(result) or span <= 0:
        return []
    queues = jobs["cluster_queue"]
    trees: dict[str, list[str]] = {}
    for name in queues.names:
        trees.setdefault(result.trees.get(name, name), []).append(name)
    indices = {name: index for index, names in enumerate(trees.values()) for name in names}
    tree_of = np.array([*(indices[name] for name in queues.names), len(trees)])[queues.codes]
    loads = {
        name: np.bincount(tree_of, exact(jobs)[name] * jobs["pods"] * runtime, minlength=len(trees))
        for name in filter(is_resource, jobs.names)
    }
    seconds = max(result.seconds - result.warmup, 0.0)
    found = []
    for index, (tree, names) in enumerate(trees.items()):
        nominal = sums(
            (pair.partition("/")[2], nominal)
            for name in names
            for pair, (_, nominal, _, _) in result.totals["queues"].get(name, {"cells": {}})["cells"].items()
        )
        for resource in loads:
            quota = nominal.get(resource, 0) / 1e9 / seconds if seconds else 0.0
            asked = float(loads[resource][index]) / span
            # An unlimited quota is stored as a huge number.
            if quota and asked > quota and quota < 2**62:
                found.append((asked / quota, tree, resource))
    if not found:
        return []
    # One sentence for all cohorts, which begins with the one that is overloaded most.
    load, tree, resource = max(found)
    others = f" (and {counted(len(found) - 1, 'other overload')})" if len(found) > 1 else ""
    what = f"{tree}: jobs request {load:.2f} times its nominal quota of {resource}{others}"
    return [f"{what}; above 1.00, waiting times grow with the length of the run and {_DOUBT} it than on the policy"]


def _unfinished(result: Recorded) -> list[str]:
    finished = is_named(result.jobs["state"], "Finished")[result.jobs["counted"]]
    jobs, done = len(finished), int(finished.sum())
    if done >= (1 - _UNFINISHED) * jobs:
        return []
    return [f"{jobs - done} of {counted(jobs, 'job')} had not finished at the end"]


def _warmups(result: Recorded) -> list[str]:
    if not result.warmup:
        return []
    kpis = result.kpis
    if not kpis.jobs and len(result.jobs):
        return [f"the metrics include no jobs: all were submitted during the warm-up of {duration(result.warmup)}"]
    if result.warmup >= kpis.longest_wait:
        return []
    warmup, wait = duration(result.warmup), duration(kpis.longest_wait)
    return [f"the warm-up of {warmup} is shorter than the longest wait, {wait}"]


def _is_long(result: Recorded) -> bool:
    """Return whether many jobs arrive over a period much longer than their runtime, so that the load is meaningful."""
    span = float(result.jobs["submit"].max(initial=0.0))
    enough = len(result.jobs) >= _ENOUGH
    return enough and span >= _LONG * float(np.nan_to_num(result.jobs["runtime"]).mean())


def _tail(result: Recorded) -> list[str]:
    """Warn about a long time after the last submission, during which unused quota lowers the utilisation."""
    last = float(result.jobs["submit"].max(initial=0.0))
    tail = result.seconds - max(last, result.warmup)
    if not _is_long(result) or tail < _TAIL * (result.seconds - result.warmup) or last <= result.warmup:
        return []
    kpis = result.kpis
    apart = {pair: (value, kpis.utilisation[pair]) for pair, value in kpis.submission_utilisation.items()}
    pair, (while_, whole) = max(apart.items(), key=lambda item: item[1][0] - item[1][1], default=("", (0.0, 0.0)))
    if while_ - whole < _APART:
        return []
    text = f"the run ends {duration(tail)} {_AFTER_LAST}: utilisation {pair} includes that time and is"
    return [f"{text} {whole:.1%}; submission_utilisation, which ends at the last submission, is {while_:.1%}"]


def _unsettled(result: Recorded) -> list[str]:
    """Warn about a mean wait that is long compared with the period in which jobs arrive."""
    span = float(result.jobs["submit"].max(initial=0.0)) - result.warmup
    if not _is_long(result) or span <= 0:
        return []
    wait = result.kpis.wait_mean
    if wait < max(_WAIT * span, float(np.nan_to_num(result.jobs["runtime"]).mean())):
        return []
    text = f"the mean wait, {duration(wait)}, is {wait / span:.0%} of the time in which jobs arrive, {duration(span)}; "
    return [f"{text}from {_WAIT:.0%} on, it {_DOUBT} the length of the log and on the quotas than on the policy"]


QUOTA = re.compile(r":quota\[([^\]]*)\]")
CONFIDENCE = "95% confidence interval"
NO_CHANGE, ABOUT_ZERO = "no change", "about 0"
_TWO = 2
MOST_QUEUES = 50
"""The number of ClusterQueues among which a headline looks for the largest gain and loss."""
# The part of the used hours below which a change of the lost work is not worth a sentence.
_LITTLE = 0.0005
# The part of the used hours from which lost work, and quota that is free while jobs wait, is the largest problem.
_MUCH_LOST, _MUCH_IDLE = 0.02, 0.05
# The part of the jobs that can never be admitted, from which this is the largest problem.
_MUCH_NEVER = 0.05
# A queue whose part of all waiting exceeds its part of the jobs by less than this is not a problem of its own.
_MUCH_MORE = 0.05


class Problem(NamedTuple):
    """The largest problem of a simulation, and the next step to solve it.

    Attributes:
        text: The problem, as a sentence.
        step: The next step towards a solution, as the end of a sentence before its command.
        command: The command of the next step, or the call in Python.
        title: The beginning of the sentence; empty if nothing is out of proportion.
    """

    text: str
    step: str
    command: str = ""
    title: str = "Largest problem"

    def lines(self, policy: str = "") -> list[str]:
        """Return the problem and the next step as two sentences, and the command of the step.

        Args:
            policy: The policy that has the problem, if there are several; empty for none.
        """
        where = f" under “{policy}”" if policy else ""
        lead = f"{self.title}{where}: {self.text}" if self.title else self.text
        return [lead, f"Next step: {self.step}", *filter(None, [self.command])]


def plan_call(source: str, target: str, vary: str, values: range, seeds: int = 1) -> str:
    """Return the command that plans a value, or the call in Python if the source is empty.

    Args:
        source: The arguments of a command that name the cluster and the jobs.
        target: The target.
        vary: The path of the field.
        values: The values to try.
        seeds: The number of seeds.
    """
    pair = of_quota[1] if (of_quota := QUOTA.search(vary)) else ""
    bounds = (values.start, values[-1], *([values.step] if values.step > 1 else []))
    texts = [quantity_text(pair, value * unit_of_amount(pair.rpartition("/")[2])) for value in bounds]
    if source:
        given = " ".join(map(" ".join, zip(("--from", "--to", "--step"), texts, strict=False)))
        given += f" --seeds {seeds}" if seeds > 1 else ""
        return f"kueuepy plan {source} --target '{target}' --vary '{vary}' {given}"
    texts = [text if text.isdecimal() else f'"{text}"' for text in texts]
    given = ", ".join(map("=".join, zip(("low", "high", "step"), texts, strict=False)))
    given += f", seeds={seeds}" if seeds > 1 else ""
    return f'kueuepy.plan(cluster, jobs, "{target}", vary="{vary}", {given})'


def quotas(pair: str, low: int, high: int) -> range:
    """Return values of a quota to try: large amounts of bytes in steps of 1 GiB."""
    step = 2**30 if high > 2**30 and pair.rpartition("/")[2] in NATIVE[1:] else 1
    return range(low // step * step, -(-high // step) * step + 1, step)


def report_step(source: str) -> tuple[str, str]:
    """Return the next step if jobs are never admitted, and its command, or the call in Python if there is no source."""
    call = 'kueuepy.report(kueuepy.simulate(cluster, jobs), "report.html")'
    return "read the reasons in a report:", f"kueuepy simulate {source} --report report.html" if source else call


def _sweep_call(source: str, over: Mapping[str, Sequence[str | None]]) -> str:
    """Return the command that compares values of fields, or the call in Python if the source is empty."""
    if not source:
        return f"kueuepy.sweep(cluster, jobs, {dict(over)})"
    values = (f"'{path}={','.join(value or 'null' for value in each)}'" for path, each in over.items())
    return " ".join(["kueuepy sweep", source, *(f"--over {text}" for text in values)])


def of_run(result: Recorded) -> str:
    """Return the headline of a report of one simulation."""
    kpis = result.kpis
    if not kpis.jobs:
        return "No jobs count: all were submitted during the warm-up, or there were none."
    texts = []
    for name in ("wait_mean", "wait_p95"):
        between = interval(kpis, name)
        texts.append(f"{duration(getattr(kpis, name))}{f' ({CONFIDENCE} {between})' if between else ''}")
    sentences = [f"The mean wait is {texts[0]}.", f"95% of the jobs wait at most {texts[1]}."]
    if cut := blocked(result):
        sentences = [f"{cut}.", f"Their waits count only to the end of the run, at {duration(result.seconds)}."]
    pair = busiest(kpis.utilisation)
    if pair:
        used = kpis.submission_utilisation.get(pair, kpis.utilisation[pair])
        sentences.append(f"While jobs arrive, {share(used)} of the quota of {pair} is in use.")
    if kpis.finished < kpis.jobs:
        left = kpis.jobs - kpis.finished
        sentences.append(f"{left:,} of {kpis.jobs:,} jobs do not finish.")
    return " ".join(sentences)


def blocked(result: Recorded) -> str:
    """Return that many jobs do not start and others never end, so that the waits mean little; empty otherwise."""
    jobs, counts = result.jobs, np.asarray(result.jobs["counted"])
    endless = int((is_named(jobs["state"], "Running") & np.isnan(jobs["runtime"])).sum())
    left = int((counts & unstarted(result)).sum())
    if not endless or left <= _MUCH_NEVER * counts.sum():
        return ""
    never = f"{counted(endless, 'running job')} never {verb(endless, 'end')}, because no runtime is given"
    return f"{left:,} of {counted(int(counts.sum()), 'job')} did not start, and {never}"


def recommended(results: Mapping[str, Recorded]) -> tuple[str, str]:
    """Return the name of the policy to use, and a sentence that recommends it.

    The first policy is replaced only by a policy whose mean wait is clearly shorter.
    """
    first = next(iter(results))
    if any(map(blocked, results.values())):
        return first, f"Keep “{first}” for now: without runtimes, the waits do not show which policy is better."
    best = _by_wait(results)[0]
    if best == first:
        return first, f"Keep “{first}”: no other policy has a shorter mean wait."
    with suppress(KueueError):
        # A shorter mean alone may be chance; the advice must not change with the seed.
        effect = Effects(results[first], results[best]).of_all()
        if effect.is_clear:
            return best, f"Use “{best}” instead of “{first}”: the mean wait is clearly shorter."
        if not effect.has_interval:
            text = f"Keep “{first}” for now: with so few jobs, the shorter mean wait of “{best}” may be chance."
            return first, f"{text} kueuepy sweep with several seeds repeats it with the days in random order."
    return first, f"Keep “{first}” for now: it is not certain that “{best}” shortens the mean wait."


def _by_wait(results: Mapping[str, Recorded]) -> list[str]:
    return sorted(results, key=lambda name: results[name].kpis.wait_mean)


def of_policies(results: Mapping[str, Recorded]) -> str:
    """Return the headline of a comparison: the policy with the lowest mean wait, and the certainty of this result."""
    best, after, *_ = _by_wait(results)
    least, next_ = (duration(results[name].kpis.wait_mean) for name in (best, after))
    text = f"Of {len(results)} policies, “{best}” has the shortest mean wait: {least}. “{after}” is next with {next_}"
    try:
        effect = Effects(results[best], results[after]).of_all()
    except KueueError:
        return f"{text}."
    return f"{text}, {signed(effect)} ({certainty(effect)})."


def of_results(results: Mapping[str, Recorded]) -> list[str]:
    """Return the headline of a comparison: of several policies the best one, and the difference of the first and last.

    Args:
        results: The results of two or more policies, by name.
    """
    names = list(results)
    if cut := [f"Under “{name}”, {text}." for name, result in results.items() if (text := blocked(result))]:
        return cut
    lead = [of_policies(results)] if len(names) > _TWO else []
    first, last = results[names[0]], results[names[-1]]
    try:
        effects = Effects(first, last)
    except InvalidSpecError:
        return [*lead, "The policies ran different jobs, so that differences of single jobs are not known."]
    effect = effects.of_all()
    if effect.jobs:
        lead.append(of_pair((names[0], names[-1]), (first, last), effects.of_queues(MOST_QUEUES)[0], effect))
    return lead


def of_pair(
    names: tuple[str, str], results: tuple[Recorded, Recorded], queues: Sequence[Effect], effect: Effect
) -> str:
    """Return the headline of a comparison of two policies.

    Args:
        names: The names of the policies.
        results: The results.
        queues: The effect on each ClusterQueue.
        effect: The effect on all jobs.
    """
    first, second = names
    size = duration(abs(effect.difference))
    to = f"from {duration(effect.first)} to {duration(effect.second)}"
    # The costs need the name of their policy again if the sentence began with both.
    names_second = effect.is_zero or effect.is_clear
    if effect.is_zero:
        text = f"“{second}” does not change the mean wait of {duration(effect.first)} compared with “{first}”"
    elif effect.is_clear:
        does = "shortens" if effect.difference < 0 else "lengthens"
        low, high = sorted((abs(effect.low), abs(effect.high)))
        text = f"“{second}” {does} the mean wait by {size} ({CONFIDENCE} {durations(low, high)}), {to}"
    elif effect.has_interval:
        text = f"“{second}” and “{first}” do not differ clearly in the mean wait: the difference is {signed(effect)} "
        text += f"({CONFIDENCE} {durations(effect.low, effect.high)})"
    else:
        than = "shorter" if effect.difference < 0 else "longer"
        text = f"Under “{second}”, the mean wait is {size} {than} than under “{first}”, {to}. "
        text += f"{effect.jobs:,} jobs are too few for a confidence interval"
    costs = _costs(results)
    if costs:
        text += f", and {costs}" if names_second else f". “{second}” {costs}"
    return f"{text}. {_affected(queues)}".strip()


def signed(effect: Effect) -> str:
    """Format a difference with its sign."""
    return f"{'+' if effect.difference > 0 else ''}{duration(effect.difference)}"


def certainty(effect: Effect) -> str:
    """Return the confidence interval of a difference, or the reason why there is none."""
    if effect.has_interval:
        return f"{CONFIDENCE} {durations(effect.low, effect.high)}"
    return "too few jobs for an interval"


def _costs(results: tuple[Recorded, Recorded]) -> str:
    """Return the difference in lost work as a verb with its object; empty if the difference is small."""
    first, second = (result.kpis for result in results)
    pair = busiest(second.utilisation)
    used = second.used_hours.get(pair, 0.0)
    more = second.lost_hours.get(pair, 0.0) - first.lost_hours.get(pair, 0.0)
    if not used or abs(more) < _LITTLE * used:
        return ""
    size = hours(pair.partition("/")[2], abs(more))
    does = "costs" if more > 0 else "saves"
    return f"{does} {part_text(abs(more), used)} of the {hours_word(pair)} ({size} of lost work)"


def _affected(queues: Sequence[Effect]) -> str:
    """Return a sentence about the queues whose mean waits decrease most and increase most."""
    if len(queues) < _TWO:
        return ""
    gains, loses = min(queues, key=lambda one: one.difference), max(queues, key=lambda one: one.difference)
    parts = []
    if gains.difference < 0:
        parts.append(f"decreases most in {gains.name} ({signed(gains)}, {certainty(gains)})")
    if loses.difference > 0:
        parts.append(f"increases most in {loses.name} ({signed(loses)}, {certainty(loses)})")
    return f"The mean wait {' and '.join(parts)}." if parts else ""


def interval(kpis: Kpis, name: str) -> str:
    """Return the 95 % confidence interval of a metric as text; empty if the metric has no interval."""
    try:
        low, high, _ = kpis._interval(name)  # noqa: SLF001 - without the warning, which a report prints itself
    except KueueError:
        return ""
    return interval_text(name, low, high)


def problem(result: Recorded) -> Problem:
    """Return the largest problem of a simulation."""
    found = _problem(result)
    if found.command and result.lacks:
        step = f"give each job {result.lacks}, which kueuepy plan and kueuepy sweep need."
        return found._replace(step=step, command="")
    return found


def _problem(result: Recorded) -> Problem:
    kpis, pair, source = result.kpis, busiest(result.kpis.utilisation), result.source
    used, resource = kpis.used_hours.get(pair, 0.0), pair.partition("/")[2]
    lost, idle = kpis.lost_hours.get(pair, 0.0), kpis.idle_while_waiting.get(pair, 0.0)
    every = "*:ClusterQueue/*" if hasattr(result, "clusters") else "ClusterQueue/*"  # as `_plan`
    # A queue needs reclaimWithinCohort for borrowWithinCohort; a saved result does not have the policies of its queues.
    bases = result._run.bases if result._run else ()  # noqa: SLF001 - of this room
    policies = {q.name: q.preemption.borrow_within_cohort.policy for base in bases for q in base.cluster.cluster_queues}
    while_borrowing = sorted(name for name, policy in policies.items() if policy != "Never")
    which, field = "*", "reclaimWithinCohort"
    values = [*(["Never"] if policies and not while_borrowing else []), "LowerPriority", "Any"]
    # The rule of most preemptions; fair sharing preempts in other queues as far as reclaimWithinCohort allows it.
    rule = max(kpis.preemptions, key=kpis.preemptions.__getitem__, default="")
    if rule == "InClusterQueue":
        field, values = "withinClusterQueue", ["Never", "LowerPriority", "LowerOrNewerEqualPriority"]
    if rule == "InCohortReclaimWhileBorrowing":
        which, field, values = _among(while_borrowing), "borrowWithinCohort.policy", ["LowerPriority", "Never"]
    preemption = _sweep_call(source, {f"{every[:-1]}{which}:preemption.{field}": values})
    # From the worst problem to the mildest: a loop makes all other numbers doubtful.
    if kpis.loops:
        text = f"Jobs evict each other again and again: {kpis.loops} preemption {plural(kpis.loops, 'loop')}."
        return Problem(text, "compare preemption policies:", preemption)
    never = [note for note in result.notes if is_about(note, "never")]
    if sum(rows for _, rows in never) > _MUCH_NEVER * kpis.jobs:
        what, rows = max(never, key=lambda note: note[1])
        return Problem(f"{counted(rows, 'job')} {what}.", *report_step(source))
    if cut := blocked(result):
        return Problem(f"{cut}.", "give each job a runtime.")
    if kpis.starved:
        text = f"{kpis.starved:,} {plural(kpis.starved, 'job')} {verb(kpis.starved, 'are')} never admitted, "
        return Problem(f"{text}although much later jobs are.", *report_step(source))
    lost_by = result.jobs["lost"]
    if limited := float(lost_by[is_named(result.jobs["reason"], ENDED_BY_LIMIT)].sum()):
        by_limit = lost * limited / float(lost_by.sum())
        lost -= by_limit
        if used and by_limit > max(lost, _MUCH_LOST * used):
            text = f"Limits of execution times end jobs, which loses {hours(resource, by_limit)}, "
            text += f"{part_text(by_limit, used)} of all used {hours_word(pair)}."
            return Problem(text, "drop the column limit, so that these jobs run to their end.", "", "")
    if used and lost > _MUCH_LOST * used:
        text = f"Evictions lose {hours(resource, lost)}, {part_text(lost, used)} of all used {hours_word(pair)}."
        return Problem(text, "compare preemption policies:", preemption)
    if used and idle > _MUCH_IDLE * used:
        text = f"{hours(resource, idle)} of {pair} were free although jobs waited for them, {part_text(idle, used)} "
        text += f"of the used {hours_word(pair)}."
        over: dict[str, list[str | None]] = {f"{every}:queueingStrategy": ["BestEffortFIFO", "StrictFIFO"]}
        queues = [name for name, queue in result.totals["queues"].items() if pair in queue["cells"]]
        # Only queues of a cohort have borrowing limits.
        if in_cohort := [name for name in queues if result.trees.get(name, name) != name]:
            over[f"ClusterQueue/{_among(in_cohort)}:quota[{pair}].borrowingLimit"] = [None]
        without = " without borrowing limits" if in_cohort else ""
        return Problem(text, f"compare queueing strategies{without}:", _sweep_call(source, over))
    return _slowest(result, pair)


def _among(names: Sequence[str]) -> str:
    """Return the part of a path that selects objects by name; all objects if there is no name."""
    return f"{{{','.join(names)}}}" if names[1:] else "".join(names) or "*"


def _slowest(result: Recorded, pair: str) -> Problem:
    """Return a problem that names the ClusterQueue whose jobs wait more than their number explains."""
    jobs = result.jobs
    there = np.asarray(jobs["counted"]) & (jobs["cluster_queue"].codes >= 0)
    codes, names = jobs["cluster_queue"].codes[there], jobs["cluster_queue"].names
    waits, numbers = (np.bincount(codes, weights, len(names)) for weights in (jobs["waited"][there], None))
    if not result.seconds:
        return Problem("No time passes, because no job ends.", "add jobs that have a runtime.", "", "")
    if not waits.sum():
        worst = int(numbers.argmax())
        return Problem("No job waits.", "find lower nominal quotas:", _plan(result, names[worst], pair, 0.0), "")
    shares = np.stack([waits / waits.sum(), numbers / numbers.sum()])
    worst = int((shares[0] - shares[1]).argmax())
    mean = waits[worst] / numbers[worst]
    step, command = "find the nominal quota that meets a target:", _plan(result, names[worst], pair, mean)
    if shares[0, worst] - shares[1, worst] < _MUCH_MORE:
        is_used = result.kpis.utilisation.get(pair)
        limits = f" {pair} limits the jobs: no other quota is in use as much." if is_used else ""
        even = "Each queue has about the same share of the waiting time as of the jobs."
        text = even if (numbers > 0).sum() > 1 else f"All jobs are in {names[worst]}."
        return Problem(f"{text}{limits}", step, command, "")
    text = f"{names[worst]} has {share(shares[1, worst])} of the jobs, and {share(shares[0, worst])} of all waiting; "
    return Problem(f"{text}the mean wait is {duration(mean)}.", step, command)


def _plan(result: Recorded, queue: str, pair: str, mean: float) -> str:
    """Return the command or the call that plans the nominal quota of a queue for half its mean wait."""
    # Paths of a fleet begin with a cluster; its totals do not have the queues of the manager.
    of_fleet = hasattr(result, "clusters")
    path = f"{'*:' if of_fleet else ''}ClusterQueue/{queue}:quota[{pair}].nominalQuota"
    cells = result.totals["queues"].get(queue, {"cells": {}})["cells"]
    nominal = cells[pair].nominal if pair in cells else result.totals["nominal"].get(pair, 0.0)
    own = nominal / unit_of_amount(pair) / max(result.seconds, 1.0) / SECOND
    low, high = (0, ceil(own)) if not mean else (0 if of_fleet else int(own), 2 * ceil(own) + 2)
    target = f"wait_mean({queue}) <= {max(1, round(mean / 2))}s"
    return plan_call(result.source, target, path, quotas(pair, low, high))


class Verdict(NamedTuple):
    """The difference of a metric between two policies.

    Attributes:
        text: The difference with its sign and unit.
        word: Whether it is `better`, `worse`, or `unclear`, because the interval contains 0; empty if neither.
        interval: The confidence interval, or that there is none.
        is_clear: Whether the interval excludes 0.
    """

    text: str
    word: str = ""
    interval: str = ""
    is_clear: bool = False

    def __str__(self) -> str:
        """Return the difference and the word."""
        return f"{self.text} ({self.word})" if self.word else self.text


def verdict(
    name: str, first: float, second: float, between: tuple[float, float] | None, *, is_cut: bool = False
) -> Verdict:
    """Return the difference of a metric between two values, and whether it is an improvement.

    Args:
        name: The metric.
        first: The first value.
        second: The second value.
        between: The confidence interval of the difference; `None` if it has none.
        is_cut: Whether the end of the run cuts many waits (`blocked`), so that they are not judged.
    """
    change, better, (low, high) = second - first, better_of(name), between or (0.0, 0.0)
    size, is_part = abs(change), unit_of(name) == "part"
    text = (
        duration(size) if unit_of(name) == "span" else f"{points(size)} points" if is_part else figure_text(name, size)
    )
    text = f"{'+' if change > 0 else '-'}{text}"
    if figure_text(name, first) == figure_text(name, second):
        text = ABOUT_ZERO if change else NO_CHANGE
    note, is_clear = interval_text(name, low, high) if between else "", low > 0 or high < 0
    if between and is_part:
        note = f"{points(low)} to {points(high)} points"
    if is_cut and re.search("wait(_|$)", name):
        return Verdict(text)
    if between and not is_clear and (text != NO_CHANGE or low < 0 < high):
        return Verdict(text, "unclear", note)
    # A difference is judged only if the metric has a direction.
    if not better or text in (NO_CHANGE, ABOUT_ZERO):
        return Verdict(text, "", note, is_clear)
    word = "better" if (second < first) == (better == "less") else "worse"
    return Verdict(text, word, note or "no interval", is_clear)
