"""`kueuepy run`: admit jobs, and show decisions and reasons; `kueuepy explain`: explain the state of a workload."""

from collections.abc import Iterator
from typing import Any

import msgspec

from kueuepy._core import Quantity
from kueuepy.cli.describe import describe, find, plain, rows_table, start
from kueuepy.cli.options import Positive, Start
from kueuepy.cli.output import print_json, progress, say
from kueuepy.engine.cycle import Settled
from kueuepy.engine.decisions import Admitted, Pending
from kueuepy.errors.words import counted, verb
from kueuepy.explain.whatif import outcome, outcome_text
from kueuepy.scheduler import Scheduler
from kueuepy.session.session import session_of


def run(
    files: list[str],
    *,
    cycles: Positive | None = None,
    rows: Positive = 40,
    reading: Start,
    json: bool = False,
) -> None:
    """Admit jobs until nothing changes, and show the decisions and why the other jobs are pending.

    All jobs are in the queues from the beginning, ordered by their creation time (`submit` in CSV). Time does not pass:
    jobs do not finish, and admission checks stay Pending. To run jobs to their end, use kueuepy simulate.

    Options:
        cycles (N): Maximum number of scheduling cycles; by default, unlimited.

    Examples:
        kueuepy run examples/seeds/002/two-teams.yaml examples/seeds/002/jobs.csv
        kueuepy run examples/seeds/002/two-teams.yaml examples/seeds/002/jobs.csv --json
    """
    found = start(files, reading, settle=False)
    scheduler = found.scheduler
    found.noted()
    with progress(f"deciding about {counted(len(scheduler.keys()), 'workload')}"):
        settled = scheduler.settle(max_cycles=cycles)
    waiting = list(_waiting(scheduler))
    if json:
        decided = [[plain(decision) for decision in cycle] for cycle in settled]
        waits = [dict(zip(("workload", "reason", "message"), _why(scheduler, key), strict=True)) for key in waiting]
        usage: dict[str, dict[str, str]] = {}
        for queue, flavor, resource, amount in _usage(scheduler):
            usage.setdefault(queue, {})[f"{flavor}/{resource}"] = amount
        print_json(
            {
                "cycles": decided,
                "waiting": waits,
                "usage": usage,
                "finished": settled.finished,
                "loops": [{"period": loop.period, "workloads": loop.workloads} for loop in settled.loops],
                "notes": found.notes,
            }
        )
        return
    rows_table("Decisions", ("cycle", "workload", "queue", "decision", "details"), _events(scheduler, settled), rows)
    why = (_why(scheduler, key) for key in waiting)
    rows_table("Pending workloads", ("workload", "reason", "message"), why, rows, len(waiting))
    rows_table("Quota in use", ("queue", "flavor", "resource", "used"), _usage(scheduler), rows)
    _summary(scheduler, settled, waiting)


def _events(scheduler: Scheduler, settled: Settled) -> Iterator[tuple[Any, ...]]:
    for number, cycle in enumerate(settled, start=1):
        for decision in cycle:
            if not isinstance(decision, Pending):
                verdict, details = describe(decision)
                if isinstance(decision, Admitted) and (fewer := _fewer_pods(scheduler, decision)):
                    details = f"{fewer}; {details}"
                yield number, decision.workload, decision.cluster_queue, verdict, details


def _fewer_pods(scheduler: Scheduler, decision: Admitted) -> str:
    """Return the numbers of admitted pods of a partial admission; an empty string if all pods are admitted."""
    state = session_of(scheduler).state
    asked = {pod_set.name: pod_set.count for pod_set in state.known(state.id_of(decision.workload)).pod_sets}
    parts = ((pod_set.count, asked[pod_set.name]) for pod_set in decision.pod_sets)
    return ", ".join(
        f"{count} of {counted(most, 'pod')}" for count, most in parts if count is not None and count < most
    )


def _waiting(scheduler: Scheduler) -> Iterator[str]:
    """Yield the workloads that are neither admitted nor finished."""
    for key in scheduler.keys():  # noqa: SIM118 - a Scheduler is not a mapping
        conditions = session_of(scheduler).engine.conditions(session_of(scheduler).engine.find(key))
        if not any(name in conditions and conditions[name].is_true for name in ("Admitted", "Finished")):
            yield key


def _why(scheduler: Scheduler, key: str) -> tuple[str, str, str]:
    """Return key, reason and message of a workload; with reserved quota, the message includes its admission checks."""
    found = session_of(scheduler).state.id_of(key)
    if not session_of(scheduler).engine.status_details(found).checks:
        return key, *session_of(scheduler).engine.evaluations([found])[0]
    explanation = scheduler.explain(key)
    checks = [cause.text for cause in explanation.causes if cause.kind == "check"]
    return key, explanation.reason, "; ".join([explanation.message, *checks])


def _usage(scheduler: Scheduler) -> Iterator[tuple[str, str, str, str]]:
    for queue, amounts in session_of(scheduler).engine.usage().items():
        for pair, amount in amounts.items():
            flavor, _, resource = pair.partition("/")
            yield queue, flavor, resource, Quantity.format(resource, amount)


def _summary(scheduler: Scheduler, settled: Settled, waiting: list[str]) -> None:
    admitted = sum(decision.admitted for decision in settled.admitted)
    reserved, preempted = len(settled.admitted) - admitted, len(settled.preempted)
    events = [counted(admitted, "admission"), counted(preempted, "preemption")]
    if reserved:
        events.insert(1, f"{counted(reserved, 'quota reservation')} that {verb(reserved, 'wait')} for admission checks")
    state = session_of(scheduler).state
    queues = (f"{one.namespace}/{one.queue_name}" for one in (state.known(state.id_of(key)) for key in waiting))
    lost = sum(isinstance(state.cluster_queue_of(queue), str) for queue in queues)
    events.append(f"{counted(len(waiting) - lost, 'workload')} waiting")
    events += [f"{counted(lost, 'workload')} whose queue does not exist"] if lost else []
    say(f"{counted(len(settled), 'cycle')}: {', '.join(events)}", style="bold")
    for loop in settled.loops:
        say(str(loop), style="bold red")
    if not settled.loops and not settled.finished:
        say("further cycles would change the state", style="yellow")


def explain(
    workload: str,
    files: list[str],
    *,
    as_is: bool = False,
    reading: Start,
    json: bool = False,
) -> None:
    """Explain why a workload is pending, admitted or evicted.

    For a pending workload, this includes the shortage in each flavor and changes that would admit it.

    Examples:
        kueuepy explain a-4 examples/seeds/002/two-teams.yaml examples/seeds/002/jobs.csv
        kueuepy explain train -n team-a cluster:prod
        kubectl get clusterqueues,localqueues,cohorts,resourceflavors,topologies,nodes,pods,workloads -A -o yaml
            | kueuepy explain ns/train -
    """
    started = start(files, reading, settle=not as_is)
    scheduler = started.noted()
    is_plain = "/" in workload or reading.namespace == "default"
    name = workload if is_plain else f"{reading.namespace}/{workload}"
    found = scheduler.explain(find(started, name))
    if json:
        print_json(found.to_dict())
    else:
        say(str(msgspec.structs.replace(found, not_modelled=())))  # `start` has printed them
        if started.has_status and found.verdict in ("Pending", "Preempting", "Fits"):
            later = scheduler.fork()
            later.settle()
            say(f"after the next cycles: {outcome_text(outcome(session_of(later).state, found.workload))}")
