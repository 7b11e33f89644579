"""`kueuepy run`: what becomes of these jobs on these queues, and why."""

from collections.abc import Iterator
from typing import Annotated, Any

import typer

from kueuepy._core import Quantity
from kueuepy.cli.options import Files, Json, Lenient, Rows, examples
from kueuepy.cli.output import counted, print_json, progress, say
from kueuepy.cli.story import plain, rows_table, start, told
from kueuepy.decision import Pending
from kueuepy.loops import Settled
from kueuepy.scheduler import Scheduler

EXAMPLES = examples(
    "kueuepy run examples/seeds/002/two-teams.yaml examples/seeds/002/jobs.csv",
    "kueuepy run examples/seeds/002/two-teams.yaml examples/seeds/002/jobs.csv --json",
)


def run(
    files: Files,
    *,
    cycles: Annotated[
        int | None, typer.Option("--cycles", min=1, metavar="N", help="Run so many cycles at most; all by default.")
    ] = None,
    rows: Rows = 40,
    lenient: Lenient = False,
    json: Json = False,
) -> None:
    """Run queues and jobs until nothing changes: what is admitted where, who is preempted, and why the others wait."""
    scheduler = start(files, lenient=lenient, settle=False)
    with progress(f"deciding about {len(scheduler.keys())} workloads"):
        settled = scheduler.settle(max_cycles=cycles)
    waiting = list(_waiting(scheduler))
    if json:
        decided = [[plain(decision) for decision in cycle] for cycle in settled]
        waits = [dict(zip(("workload", "reason", "message"), _why(scheduler, key), strict=True)) for key in waiting]
        loops = [{"period": loop.period, "workloads": loop.workloads} for loop in settled.loops]
        usage = scheduler.engine.usage()
        print_json({"cycles": decided, "waiting": waits, "usage": usage, "finished": settled.finished, "loops": loops})
        return
    rows_table("What happened", ("cycle", "workload", "queue", "decision", "with what"), _events(settled), rows)
    why = (_why(scheduler, key) for key in waiting)
    rows_table("Who waits", ("workload", "reason", "why"), why, rows, len(waiting))
    rows_table("What is used", ("queue", "flavor", "resource", "used"), _usage(scheduler), rows)
    _summary(settled, len(waiting))


def _events(settled: Settled) -> Iterator[tuple[Any, ...]]:
    for number, cycle in enumerate(settled, start=1):
        for decision in cycle:
            if not isinstance(decision, Pending):
                yield number, decision.workload, decision.cluster_queue, *told(decision)


def _waiting(scheduler: Scheduler) -> Iterator[str]:
    """Everybody who has no quota and is not finished."""
    for key in scheduler.keys():  # noqa: SIM118 - no dict
        found = scheduler.engine.find(key)
        held = {name for name, condition in scheduler.engine.conditions(found).items() if condition[0]}
        if not held & {"QuotaReserved", "Finished"}:
            yield key


def _why(scheduler: Scheduler, key: str) -> tuple[str, str, str]:
    """The reason and the message that an evaluation gives."""
    explanation = scheduler.explain(key)
    return key, explanation.reason, explanation.message


def _usage(scheduler: Scheduler) -> Iterator[tuple[str, str, str, str]]:
    for queue, cells in scheduler.engine.usage().items():
        for cell, amount in cells.items():
            flavor, _, resource = cell.partition("/")
            yield queue, flavor, resource, Quantity.format(resource, amount)


def _summary(settled: Settled, waiting: int) -> None:
    admitted, preempted = len(settled.admitted), len(settled.preempted)
    events = f"{counted(admitted, 'admission')}, {counted(preempted, 'preemption')}"
    say(f"{counted(len(settled), 'cycle')}: {events}, {counted(waiting, 'workload')} waiting", style="bold")
    for loop in settled.loops:
        say(str(loop), style="bold red")
    if not settled.loops and not settled.finished:
        say("more would happen in further cycles", style="yellow")
