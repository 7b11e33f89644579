"""`kueuepy compare`: compare the results of the same jobs under two policies."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kueuepy._core import Quantity
from kueuepy.cli.describe import jobs_of
from kueuepy.cli.options import Reading
from kueuepy.cli.output import ANSWER_IS_NO, OK, as_data, counting, print_json, say
from kueuepy.cli.shared import Positive
from kueuepy.errors.words import counted, verb
from kueuepy.simulation.changes import QueueOutcome
from kueuepy.simulation.comparison import Comparison
from kueuepy.simulation.comparison import compare as compare_policies


def compare(
    before: str,
    after: str,
    *,
    jobs: tuple[str, ...],
    with_: tuple[str, ...] = (),
    decisions: bool = False,
    picture: str | None = None,
    threads: Positive | None = None,
    exit_code: bool = False,
    reading: Reading,
    json: bool = False,
) -> int:
    """Run the same jobs under two policies, and show which results differ and the totals of each queue.

    Jobs arrive at their creation time (`submit` in CSV) and run for their `duration`; an evicted job starts again from
    the beginning. If waitForPodsReady is enabled, pods are ready immediately after admission.

    Options:
        before (BEFORE): File with the objects of the first policy and, optionally, a Kueue Configuration.
        after (AFTER): File with the objects of the second policy and, optionally, a Kueue Configuration.
        jobs (FILE): YAML, JSON or CSV file of jobs to run under both policies; repeatable.
        with_ (FILE): File with objects to add to both policies; repeatable.
        decisions: Also list each decision that differs between the policies.
        picture (FILE): Write a chart of the weighted share of each ClusterQueue over time to this SVG file.

    Examples:
        kueuepy compare examples/seeds/002/two-teams.yaml examples/seeds/002/two-teams-reclaim.yaml
            --jobs examples/seeds/002/jobs.csv --exit-code
        kueuepy compare examples/seeds/003/classical.yaml examples/seeds/003/fair-sharing.yaml
            --with examples/seeds/003/two-queues.yaml
            --jobs examples/seeds/003/jobs.csv --decisions --picture shares.svg
    """
    clusters = [reading.cluster([name, *with_]) for name in (before, after)]
    names = (Path(before).stem, Path(after).stem)
    with jobs_of(jobs) as items, counting("jobs done") as show:
        told = None if show is None else lambda progress: show(progress.done, progress.total)
        found = compare_policies(clusters[0], clusters[1], items, names=names, threads=threads, progress=told)
    if json:
        print_json(_plain(found))
    else:
        say(str(found))
        if decisions:
            say(
                f"{counted(len(found.decisions), 'decision')} {verb(len(found.decisions), 'differ')}"
                if found.decisions
                else "all decisions are the same"
            )
            for decision in found.decisions:
                say(f"  {decision}")
    if picture is not None:
        found.picture("shares").save(picture)
    return ANSWER_IS_NO if exit_code and found.changes else OK


def _plain(found: Comparison) -> dict[str, Any]:
    queues = {
        name: {policy: _outcome(one) for policy, one in zip(found.names, pair, strict=True)}
        for name, pair in found.queues.items()
    }
    changes = [
        {"workload": change.workload, found.names[0]: change.before, found.names[1]: change.after}
        for change in found.changes
    ]
    decisions = [
        {
            "seconds": change.seconds,
            "workload": change.workload,
            found.names[0]: change.before,
            found.names[1]: change.after,
        }
        for change in found.decisions
    ]
    loops = {
        name: [{"period": loop.period, "workloads": loop.workloads} for loop in run.loops]
        for name, run in zip(found.names, (found.before, found.after), strict=True)
    }
    return {
        "jobs": len(found.before.jobs),
        "changes": changes,
        "decisions": decisions,
        "queues": queues,
        "loops": loops,
    }


def _outcome(found: QueueOutcome | None) -> dict[str, Any] | None:
    """Return the totals of a queue as JSON data, or `None` if the policy has no such queue."""
    if found is None:
        return None
    data: dict[str, Any] = as_data(found)
    return {**data, "usage": _amounts(found.usage), "mean_usage": _amounts(found.mean_usage)}


def _amounts(cells: Mapping[str, float]) -> dict[str, str]:
    return {cell: Quantity.format(cell.partition("/")[2], round(value)) for cell, value in cells.items()}
