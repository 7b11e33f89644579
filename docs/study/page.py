"""The page of the study: numbers, tables and pictures, all from the stored results."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import study

import kueuepy as kq

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

HERE = Path(__file__).resolve().parent
TEMPLATE = HERE / "text.md.in"
TITLES = {policy.name: policy.title for policy in study.POLICIES}
HOURS = {"wait_mean", "wait_p95", "longest_wait", "queue"}
SECONDS = {"late_p95", "late_p99", "late_max"}
PER_CENT = {
    *("utilisation", "effective_utilisation", "late", "single", "long_jobs", "long_work", "requested"),
    *("entitled_share", "lost_share"),
}
_MINUTE, _HOUR, _DAY = 60, 3600, 86_400


def span(seconds: float) -> str:
    """Return a time with two or three significant digits."""
    if seconds < _MINUTE:
        return f"{seconds:.0f} s"
    if seconds < _HOUR:
        return f"{seconds / _MINUTE:.0f} min"
    if seconds < 2 * _DAY:
        return f"{seconds / _HOUR:.1f} h"
    return f"{seconds / _DAY:.1f} d"


def shown(metric: str, value: float) -> str:
    """Return a value of a metric with its unit."""
    if metric in HOURS:
        return span(value * _HOUR)
    if metric in SECONDS:
        return span(value)
    if metric in PER_CENT:
        return "0 %" if value == 0 else f"{value:.1f} %" if value >= 1 else f"{value:.2f} %"
    return f"{value:,.0f}"


class Numbers:
    """The numbers of a set of results, as the template names them."""

    def __init__(self, results: dict[str, Any]) -> None:
        """Store the results, and add numbers that follow from the description of the input."""
        nominal, demand = (sum(results["input"][name].values()) for name in ("nominal", "demand"))
        derived = {
            "queues": len(results["input"]["nominal"]),
            "quota_hours": nominal * 24 * study.MEASURED,
            "mean_load": demand,
            "requested": 100 * demand / nominal,
            "spare": results["input"]["hosts"] * study.HOST - nominal,
        }
        self.input, self.results = {**results["input"], **derived}, results["results"]

    def weeks(self, policy: str, load: str, metric: str) -> list[float]:
        """Return the values of a metric, one for each week.

        `queues/NAME` is the mean wait of a queue. `entitled_share` is the percentage of the jobs that are entitled;
        `lost_share` is the percentage of the quota's GPU-hours that are lost.
        """
        if metric == "entitled_share":
            pairs = zip(self.weeks(policy, load, "entitled"), self.input["measured"], strict=True)
            return [100 * entitled / jobs for entitled, jobs in pairs]
        if metric == "lost_share":
            quota = self.input["quota_hours"] / float(load)  # the measured time is shorter at a higher load
            return [100 * lost / quota for lost in self.weeks(policy, load, "lost_hours")]
        name, _, key = metric.partition("/")
        found: Any = self.results[policy][load][name]
        return list(found[key] if key else found)

    def mean(self, policy: str, load: str, metric: str) -> float:
        """Return the mean over the weeks."""
        values = self.weeks(policy, load, metric)
        return sum(values) / len(values)

    def text(self, what: str, *words: str) -> str:
        """Return the text of a number.

        Args:
            what: `mean`, `min`, `max` or `range` of the weeks; `both` for mean and range; `fewer` for the number of
                weeks in which the second policy has a smaller value; `positive` for the number of weeks with a value
                above 0; `saved` for the mean of the paired differences, first minus second, with its range; `excess`
                for the largest of these differences; `slower` for the number of queues whose mean wait is longer with
                the first policy than with the second; `in` for a fact on the input.
            words: The policy (two for `fewer`, `saved`, `excess` and `slower`), the load and the metric; the name of
                the fact for `in`, such as `nominal/NAME` for the quota of a queue.
        """
        if what == "in":
            name, _, key = words[0].partition("/")
            value = self.input[name]
            if isinstance(value, dict):
                value = value[key] if key else sum(value.values())
            return value if isinstance(value, str) else shown(name, value)
        *policies, load, metric = words
        if what == "slower":
            queues = self.results[policies[0]][load][metric]
            means = [[self.mean(policy, load, f"{metric}/{name}") for name in queues] for policy in policies]
            return str(sum(a > b for a, b in zip(*means, strict=True)))
        columns = [self.weeks(policy, load, metric) for policy in policies]
        metric = "queue" if metric.startswith("queues/") else metric
        if what == "fewer":
            return str(sum(b < a for a, b in zip(*columns, strict=True)))
        if what == "positive":
            return str(sum(value > 0 for value in columns[0]))
        values = columns[0] if len(columns) == 1 else [a - b for a, b in zip(*columns, strict=True)]
        mean, low, high = (shown(metric, one) for one in (sum(values) / len(values), min(values), max(values)))
        return {
            "mean": mean,
            "min": low,
            "max": high,
            "range": f"{low} to {high}",
            "both": f"{mean} ({low} to {high})",
            "saved": f"{mean} ({low} to {high})",
            "excess": high,
        }[what]


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table; all columns but the first are aligned to the right."""
    lines = [head, ["---", *["--:"] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def wait_table(numbers: Numbers) -> str:
    """Return the mean wait by policy and load."""
    loads = [f"{load:g}" for load in numbers.input["loads"]]
    demand, nominal = sum(numbers.input["demand"].values()), sum(numbers.input["nominal"].values())
    head = ["policy", *(f"load {load} ({float(load) * demand / nominal:.0%})" for load in loads)]
    rows = [
        [policy.title, *(numbers.text("both", policy.name, load, "wait_mean") for load in loads)]
        for policy in study.POLICIES
    ]
    return table(head, rows)


def entitled_table(numbers: Numbers, load: str = "1") -> str:
    """Return how long entitled jobs waited, by policy."""
    head = ["policy", "entitled jobs a week", "late", "99th percentile", "longest of all weeks"]
    rows = [
        [
            policy.title,
            numbers.text("mean", policy.name, load, "entitled"),
            numbers.text("both", policy.name, load, "late"),
            numbers.text("both", policy.name, load, "late_p99"),
            numbers.text("max", policy.name, load, "late_max"),
        ]
        for policy in study.POLICIES
    ]
    return table(head, rows)


def queue_table(numbers: Numbers, load: str = "1") -> str:
    """Return the mean wait of each queue under four policies, and in how many weeks sharing shortens it."""
    policies = ("private", "shared", "reclaim", "fair")
    columns = [TITLES[name] for name in policies]
    head = ["queue", "quota", "jobs", "largest job", *columns, "shorter, longer (shared)", "shorter, longer (reclaim)"]
    rows = []
    nominal = numbers.input["nominal"]
    for queue in sorted(nominal, key=lambda name: -nominal[name]):
        known = [numbers.results[policy][load]["queues"].get(queue, []) for policy in policies]
        if not known[0]:
            continue
        compared = []
        for other in known[1:3]:
            pairs = list(zip(known[0], other, strict=True))
            compared.append(f"{sum(b < a for a, b in pairs)}, {sum(b > a for a, b in pairs)}")
        facts = [f"{numbers.input[name][queue]:,}" for name in ("nominal", "count", "largest")]
        rows.append([f"`{queue}`", *facts, *(span(sum(one) / len(one) * _HOUR) for one in known), *compared])
    return table(head, rows)


def cost_table(numbers: Numbers, load: str = "1") -> str:
    """Return what preemption costs, by policy."""
    head = ["policy", "evictions", "lost GPU-hours", "overhead GPU-hours", "utilisation", "without lost work"]
    names = ("evictions", "lost_hours", "overhead_hours", "utilisation", "effective_utilisation")
    policies = ("shared", "reclaim", "reclaim-checkpoint", "fair", "fair-checkpoint", "hosts-reclaim")
    rows = [[TITLES[name], *(numbers.text("both", name, load, metric) for metric in names)] for name in policies]
    return table(head, rows)


def strict_table(numbers: Numbers, load: str = "1") -> str:
    """Return the free GPU-hours that waiting jobs requested, with both queueing strategies."""
    head = ["quotas", "free GPU-hours", "with StrictFIFO", "difference", "weeks with more"]
    head += ["mean wait", "with StrictFIFO"]
    rows = []
    for name in ("private", "shared", "reclaim"):
        strict = f"strict-{name}"
        more = numbers.text("fewer", strict, name, load, "idle_while_waiting")
        rows.append(
            [
                TITLES[name],
                *(numbers.text("mean", policy, load, "idle_while_waiting") for policy in (name, strict)),
                numbers.text("saved", strict, name, load, "idle_while_waiting"),
                f"{more} of {numbers.input['weeks']}",
                *(numbers.text("mean", policy, load, "wait_mean") for policy in (name, strict)),
            ]
        )
    return table(head, rows)


def strict_queues(numbers: Numbers, load: str = "1") -> list[tuple[str, float]]:
    """Return the queues in which StrictFIFO leaves most GPU-hours free with private quotas, and the difference."""
    strict, best = (numbers.results[name][load]["idle"] for name in ("strict-private", "private"))
    weeks = numbers.input["weeks"]
    found = {name: (sum(strict[name]) - sum(best.get(name, [0]))) / weeks for name in strict}
    return sorted(found.items(), key=lambda item: -item[1])


def strict_queue_table(numbers: Numbers, load: str = "1") -> str:
    """Return the queues in which StrictFIFO wastes most."""
    rows = [
        [f"`{name}`", f"{numbers.input['nominal'][name]}", f"{numbers.input['largest'][name]}", f"{hours:,.0f}"]
        for name, hours in strict_queues(numbers, load)[:5]
    ]
    return table(["queue", "quota", "largest job, GPUs", "more GPU-hours free a week"], rows)


def whole_table(numbers: Numbers) -> str:
    """Return the main results of the whole log."""
    head = ["policy", "mean wait", "late", "99th percentile", "longest", "evictions", "lost GPU-hours"]
    metrics = (
        ("both", "wait_mean"),
        ("both", "late"),
        ("both", "late_p99"),
        ("max", "late_max"),
        ("mean", "evictions"),
        ("mean", "lost_hours"),
    )
    rows = [
        [policy.title, *(numbers.text(what, policy.name, "1", metric) for what, metric in metrics)]
        for policy in study.POLICIES
    ]
    return table(head, rows)


TABLES: dict[str, Callable[[Numbers], str]] = {
    "waits": wait_table,
    "entitled": entitled_table,
    "queues": queue_table,
    "cost": cost_table,
    "strict": strict_table,
    "strict-queues": strict_queue_table,
    "whole": whole_table,
}


def claims(numbers: Numbers) -> dict[str, bool]:
    """Return the statements of the text that are not numbers, each with whether the results support it."""
    load, weeks = "1", numbers.input["weeks"]

    def fewer(first: str, second: str, metric: str, at: str = load) -> int:
        return int(numbers.text("fewer", first, second, at, metric))

    def most(policy: str, metric: str, at: str = load) -> float:
        return max(numbers.weeks(policy, at, metric))

    loads = [f"{one:g}" for one in numbers.input["loads"]]
    reclaiming = ("reclaim", "reclaim-checkpoint", "fair", "fair-checkpoint", "strict-reclaim")
    return {
        "without reclaim, some entitled jobs are late in every week": min(numbers.weeks("shared", load, "late")) > 0,
        "with reclaim, the 99th percentile is the grace period at every load": all(
            most(name, "late_p99", at) <= study.GRACE for name in reclaiming for at in loads
        ),
        "LowerPriority equals no reclaim": all(
            numbers.weeks("lower", at, name) == numbers.weeks("shared", at, name)
            for at in loads
            for name in (*study.METRICS, *study.OWN)
        ),
        "sharing shortens the mean wait in every week": fewer("private", "shared", "wait_mean") == weeks,
        "StrictFIFO lengthens the mean wait with private quotas in every week": fewer(
            "strict-private", "private", "wait_mean"
        )
        == weeks,
        "fair sharing evicts more than reclaim alone in every week": fewer("fair", "reclaim", "evictions") == weeks,
        "checkpoints reduce the lost work in every week": fewer("fair", "fair-checkpoint", "lost_hours") == weeks,
        "private quotas never delay an entitled job": not any(most("private", "late_max", at) > 0 for at in loads),
    }


OF_EVERY_LOG = (
    "with reclaim, the 99th percentile is the grace period at every load",
    "LowerPriority equals no reclaim",
    "sharing shortens the mean wait in every week",
    "StrictFIFO lengthens the mean wait with private quotas in every week",
    "private quotas never delay an entitled job",
)
"""The statements that the text makes about the whole log as well."""


def claims_of_extract(numbers: Numbers) -> dict[str, bool]:
    """Return the statements that the text makes about teams, hosts and loads of the shipped log only."""
    waits = {load: numbers.weeks("private", load, "wait_mean") for load in ("1", "1.1")}
    worst = waits["1"].index(max(waits["1"]))
    crowded = {load: numbers.weeks("private", load, "queues/6214e9")[worst] for load in waits}
    nominal, demand, largest = (numbers.input[name] for name in ("nominal", "demand", "largest"))
    wasted = strict_queues(numbers)
    blocked = [name for name, _ in wasted[:5]]
    reclaimed, private = (numbers.weeks(name, "1", "queues/b436b2") for name in ("reclaim", "private"))
    free = [numbers.weeks(name, "1", "idle_while_waiting") for name in ("hosts-reclaim", "reclaim")]
    strict, best = (numbers.weeks(name, "1", "wait_mean") for name in ("strict-shared", "shared"))
    return {
        "reclaim loses less than a hundredth of the quota": numbers.mean("reclaim", "1", "lost_share") < 1,
        "with reclaim, no entitled job waits for more than four grace periods": (
            max(numbers.weeks("reclaim", "1", "late_max")) <= 4 * study.GRACE
        ),
        "on hosts, the 99th percentile is the grace period at load 1 but not at load 1.1": (
            max(numbers.weeks("hosts-reclaim", "1", "late_p99"))
            <= study.GRACE
            < numbers.mean("hosts-reclaim", "1.1", "late_p99")
        ),
        "on hosts, more GPU-hours are free in every week": all(a > b for a, b in zip(*free, strict=True)),
        "StrictFIFO lengthens the mean wait in the shared cohort in every week": all(
            a > b for a, b in zip(strict, best, strict=True)
        ),
        "one team causes the largest mean wait with private quotas": (
            max(waits["1.1"]) < max(waits["1"]) and crowded["1.1"] < crowded["1"] / 2
        ),
        "b436b2 uses about a third of its quota": 0.25 < demand["b436b2"] / nominal["b436b2"] < 0.35,  # noqa: PLR2004
        "b436b2 and 51b7ef alone have much more quota than load": all(
            (demand[name] < 0.5 * nominal[name]) == (name in {"b436b2", "51b7ef"}) for name in nominal
        ),
        "with reclaim, b436b2 waits for at most a grace period longer than with private quotas": (
            max(a - b for a, b in zip(reclaimed, private, strict=True)) * _HOUR <= study.GRACE
        ),
        "StrictFIFO leaves GPUs free mostly in busy queues with large jobs": (
            all(3 * largest[name] >= nominal[name] and demand[name] > 0.9 * nominal[name] for name in blocked)
            and 2 * sum(hours for _, hours in wasted[:5]) > sum(hours for _, hours in wasted)
        ),
    }


def claims_of_whole(numbers: Numbers) -> dict[str, bool]:
    """Return the statements that the text makes about the whole log only."""
    pairs = zip(numbers.weeks("shared", "1", "late"), numbers.weeks("shared", "1", "utilisation"), strict=True)
    nominal, demand, largest = (numbers.input[name]["e13805"] for name in ("nominal", "demand", "largest"))
    private, shared, reclaim = (numbers.mean(name, "1", "queues/e13805") for name in ("private", "shared", "reclaim"))
    fair, classical = (numbers.mean(name, "1", "wait_mean") for name in ("fair", "reclaim"))
    return {
        "no entitled job is late only if more than a third of the quota is free": all(
            late > 0 or used < 200 / 3 for late, used in pairs
        ),
        "e13805 has the quota of its largest job, six times its load": (
            nominal == largest and round(nominal / demand) == 6  # noqa: PLR2004
        ),
        "e13805 waits longer in a shared cohort, and less with reclaim": reclaim < private < shared,
        "the mean wait is shorter with fair sharing than with reclaim alone": fair < classical,
    }


def text(results: dict[str, Any], whole: dict[str, Any]) -> str:
    """Return the page: the template with its numbers and tables.

    Raises:
        SystemExit: The results do not support a statement of the text.
    """
    numbers = {"": Numbers(results), "whole ": Numbers(whole)}
    of_extract = {**claims(numbers[""]), **claims_of_extract(numbers[""])}
    of_whole = claims(numbers["whole "])
    of_whole = {name: of_whole[name] for name in OF_EVERY_LOG} | claims_of_whole(numbers["whole "])
    wrong = [claim for claim, holds in of_extract.items() if not holds]
    wrong += [f"whole log: {claim}" for claim, holds in of_whole.items() if not holds]
    if wrong:
        raise SystemExit(f"the results do not support: {'; '.join(wrong)}")

    def one(match: re.Match[str]) -> str:
        of = numbers["whole " if match[1] else ""]
        what, *words = match[2].split()
        if not words:  # a directive, such as {image}
            return match[0]
        return TABLES[words[0]](of) if what == "table" else of.text(what, *words)

    note = "<!-- Written by docs/study/run.py from results.json and text.md.in. Do not edit. -->\n\n"
    return note + re.sub(r"\{(whole )?([^{}]+)\}", one, TEMPLATE.read_text(encoding="utf-8"))


def tables(results: dict[str, Any]) -> str:
    """Return a page with the tables only, for other logs; without an evaluation."""
    numbers = Numbers(results)
    titles = {
        "waits": "Mean wait by load",
        "entitled": "Wait of entitled jobs",
        "queues": "Mean wait by queue",
        "cost": "Cost of preemption",
        "strict": "Free GPU-hours that waiting jobs requested, by queueing strategy",
    }
    head = (
        f"# What does a quota guarantee? Results for {numbers.input['file']}\n\nSHA-256 `{numbers.input['sha256']}`\n"
    )
    return head + "".join(f"\n## {title}\n\n{TABLES[name](numbers)}\n" for name, title in titles.items())


def draw(results: dict[str, Any], log: Path, file_format: str, out: Path) -> None:
    """Draw the pictures of the page as SVG files."""
    import matplotlib as mpl  # noqa: PLC0415 - the text needs no plotting library

    mpl.use("svg")
    mpl.rcParams.update({"svg.hashsalt": "kueuepy", "svg.fonttype": "none"})
    numbers = Numbers(results)
    shown_policies = ("private", "shared", "reclaim", "fair", "hosts-reclaim")
    _chart(numbers, shown_policies, "wait_mean", "mean wait, hours", out / "waits.svg")
    _chart(numbers, shown_policies, "late", "entitled jobs that wait over 1 min, %", out / "late.svg")
    jobs = kq.Jobs.read(log, format=file_format).clean()
    week = study.Days(jobs).draw(0)
    found = kq.compare(
        {
            policy.title: study.cluster(policy, jobs, numbers.input["nominal"])
            for policy in study.POLICIES
            if policy.name in ("private", "reclaim")
        },
        week,
        model=study.POLICIES[0].model,
        until=f"{study.BEFORE + study.MEASURED}d",
    )
    found.picture("usage", pieces=96).save(out / "usage.svg")


def _chart(numbers: Numbers, policies: Sequence[str], metric: str, label: str, path: Path) -> None:
    """Draw a metric against the load, with the range of the weeks as bars."""
    import matplotlib.pyplot as plt  # noqa: PLC0415 - only for pictures

    figure, ax = plt.subplots(figsize=(9, 4), layout="constrained")
    loads = numbers.input["loads"]
    for place, policy in enumerate(policies):
        weeks = [numbers.weeks(policy, f"{load:g}", metric) for load in loads]
        means = [sum(one) / len(one) for one in weeks]
        ends = [[mean - min(one) for mean, one in zip(means, weeks, strict=True)]]
        ends.append([max(one) - mean for mean, one in zip(means, weeks, strict=True)])
        at = [load + 0.006 * (place - (len(policies) - 1) / 2) for load in loads]
        ax.errorbar(at, means, yerr=ends, marker="o", capsize=3, label=TITLES[policy])
    ax.set(xlabel="load (factor of the arrival rate)", ylabel=label)
    if metric in HOURS:
        ax.set_yscale("symlog", linthresh=0.1)
        top = max(numbers.weeks(policy, f"{loads[-1]:g}", metric)[0] for policy in policies)
        ax.set_ylim(0, 10 ** math.ceil(math.log10(max(top, 1))) * 2)
        ax.yaxis.set_major_formatter("{x:g}")
    else:
        ax.set_ylim(bottom=0)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    ax.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.01, 1.0))
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
