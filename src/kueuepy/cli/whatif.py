"""`kueuepy whatif`: questions about jobs that are not there, and changes that nobody has made."""

from pathlib import Path
from typing import Annotated, Any

import typer

from kueuepy.cli.describe import describe, ended, jobs_of, plain, rows_table, start
from kueuepy.cli.options import AsIs, ExitCode, Files, Json, KueueVersion, Lenient, Namespace, Rows, examples, read
from kueuepy.cli.output import ANSWER_IS_NO, print_json, progress, say
from kueuepy.cluster.cluster import of_release
from kueuepy.decisions import Admitted, Preempting
from kueuepy.errors import InvalidSpecError
from kueuepy.errors.words import counted
from kueuepy.jobs import Submission
from kueuepy.manifest import Manifest
from kueuepy.scheduler import Scheduler
from kueuepy.whatif import Edit, who_must_leave

EXAMPLES = examples(
    "kueuepy whatif examples/seeds/002/two-teams.yaml --job examples/seeds/002/train.yaml",
    "kueuepy whatif examples/seeds/002/two-teams.yaml --job examples/seeds/002/train.yaml --largest",
    "kueuepy whatif examples/seeds/002/two-teams.yaml examples/seeds/002/jobs.csv "
    "--edit examples/seeds/002/two-teams-reclaim.yaml --exit-code",
)


def whatif(
    files: Files,
    *,
    job: Annotated[
        Path | None,
        typer.Option("--job", metavar="FILE", help="Jobs, YAML, JSON or CSV: would they be admitted now, each alone?"),
    ] = None,
    largest: Annotated[
        bool, typer.Option("--largest", help="With --job: how many pods of its first pod set would be admitted now?")
    ] = False,
    preempting: Annotated[
        bool, typer.Option("--preempting", help="With --job: it also counts if others must be preempted first.")
    ] = False,
    edit: Annotated[
        Path | None, typer.Option("--edit", metavar="FILE", help="Objects, changed or new: what would be decided then?")
    ] = None,
    exit_code: ExitCode = False,
    as_is: AsIs = False,
    rows: Rows = 40,
    namespace: Namespace = "default",
    kueue_version: KueueVersion = None,
    lenient: Lenient = False,
    json: Json = False,
) -> None:
    """Ask whether a job would be admitted now, where and at whose cost; or what a change of any object would change.

    With --job the exit code is 3 if the job would have to wait.
    """
    if (job is None) == (edit is None):
        raise typer.BadParameter("give either --job or --edit")
    scheduler = start(files, lenient=lenient, version=kueue_version, namespace=namespace, settle=not as_is).tell()
    if edit is not None:
        edits = read([str(edit)], lenient=lenient, namespace=namespace)
        _edit(scheduler, edits, rows=rows, exit_code=exit_code, json=json)
        return
    ask = _largest if largest else _try
    with jobs_of([str(job)], namespace=namespace) as found:
        items = [item.workload if isinstance(item, Submission) else item for item in found]
        if not items:
            raise InvalidSpecError(f"{job}: holds no job and no Workload; give one with --job")
        ask(scheduler, items, preempting=preempting, json=json)


def _try(scheduler: Scheduler, items: list[Any], *, preempting: bool, json: bool) -> None:
    answers = scheduler.try_admit_many(items)
    if json:
        print_json([plain(answer) for answer in answers])
    for answer in () if json else answers:
        verdict, detail = describe(answer)
        say(f"{answer.workload}: {verdict}: {detail}")
    good = (Admitted, Preempting) if preempting else (Admitted,)
    if not all(isinstance(answer, good) for answer in answers):
        raise typer.Exit(ANSWER_IS_NO)


def _largest(scheduler: Scheduler, items: list[Any], *, preempting: bool, json: bool) -> None:
    names = [answer.workload for answer in scheduler.try_admit_many(items)]
    counts = [scheduler.largest_count(item, preempting=preempting) for item in items]
    if json:
        print_json([{"workload": name, "largest_count": count} for name, count in zip(names, counts, strict=True)])
    else:
        say("\n".join(f"{name}: {counted(count, 'pod')}" for name, count in zip(names, counts, strict=True)))
    if 0 in counts:
        raise typer.Exit(ANSWER_IS_NO)


def _edit(scheduler: Scheduler, edits: Manifest, *, rows: int, exit_code: bool, json: bool) -> None:
    policy = edits.configuration and of_release(edits.configuration, scheduler.configuration.version)
    changed: list[Edit] = [*edits.objects(), *([policy] if policy else [])]
    with progress("deciding with and without the change"):
        difference = scheduler.whatif(*changed)
        leaving = who_must_leave(scheduler, *changed)
    if json:
        print_json({"changes": difference.changes, "beyond_quota": leaving})
    else:
        changes = [(change.workload, ended(change.before), ended(change.after)) for change in difference.changes]
        rows_table("What would be decided otherwise", ("workload", "now", "then"), changes, rows)
        say(f"{counted(len(changes), 'decision')} would change" if changes else "nothing would change", style="bold")
        if leaving:
            say(f"beyond quota then, though nobody evicts them: {', '.join(leaving)}")
    if exit_code and difference.changes:
        raise typer.Exit(ANSWER_IS_NO)
