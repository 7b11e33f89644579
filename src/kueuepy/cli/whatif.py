"""`kueuepy whatif`: questions about jobs that are not there, and changes that nobody has made."""

from pathlib import Path
from typing import Annotated

import msgspec
import typer

from kueuepy.cli.options import AsIs, ExitCode, Files, Json, Lenient, Rows, examples, read
from kueuepy.cli.output import ANSWER_IS_NO, counted, print_json, progress, say
from kueuepy.cli.story import ended, plain, rows_table, start, told
from kueuepy.decision import Admitted, Preempting
from kueuepy.errors import InvalidSpecError
from kueuepy.manifest import Manifest
from kueuepy.scheduler import Scheduler

EXAMPLES = examples(
    "kueuepy whatif cluster.yaml --job train.yaml",
    "kueuepy whatif cluster.yaml --job train.yaml --largest",
    "kueuepy whatif cluster.yaml jobs.yaml --edit smaller-quota.yaml --exit-code",
)


def whatif(
    files: Files,
    *,
    job: Annotated[
        Path | None, typer.Option("--job", metavar="FILE", help="A job or Workload: would it be admitted now?")
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
    lenient: Lenient = False,
    json: Json = False,
) -> None:
    """Ask whether a job would be admitted now, where and at whose cost; or what a change of any object would change.

    With --job the exit code is 3 if the job would have to wait.
    """
    if (job is None) == (edit is None):
        raise typer.BadParameter("give either --job or --edit")
    scheduler = start(files, lenient=lenient, settle=not as_is)
    if edit is not None:
        _edit(scheduler, read([str(edit)], lenient=lenient), rows=rows, exit_code=exit_code, json=json)
    elif job is not None and largest:
        _largest(scheduler, job, preempting=preempting, json=json)
    elif job is not None:
        _try(scheduler, job, preempting=preempting, json=json)


def _items(path: Path) -> list[object]:
    """The jobs and Workloads of a file, ready to be asked about."""
    manifest = read([str(path)], lenient=False)
    items: list[object] = [*manifest.jobs, *manifest.workloads]
    if not items:
        raise InvalidSpecError(f"{path}: holds no job and no Workload; give one with --job")
    return items


def _try(scheduler: Scheduler, path: Path, *, preempting: bool, json: bool) -> None:
    answers = scheduler.try_admit_many(_items(path))
    if json:
        print_json([plain(answer) for answer in answers])
    for answer in () if json else answers:
        verdict, detail = told(answer)
        say(f"{answer.workload}: {verdict}: {detail}")
    good = (Admitted, Preempting) if preempting else (Admitted,)
    if not all(isinstance(answer, good) for answer in answers):
        raise typer.Exit(ANSWER_IS_NO)


def _largest(scheduler: Scheduler, path: Path, *, preempting: bool, json: bool) -> None:
    counts = [scheduler.largest_count(item, preempting=preempting) for item in _items(path)]
    if json:
        print_json(counts)
    else:
        say("\n".join(map(str, counts)))
    if 0 in counts:
        raise typer.Exit(ANSWER_IS_NO)


def _edit(scheduler: Scheduler, edits: Manifest, *, rows: int, exit_code: bool, json: bool) -> None:
    configuration = [edits.configuration] if edits.configuration else []
    with progress("deciding with and without the change"):
        difference = scheduler.whatif(*edits.objects(), *configuration)
    if json:
        print_json([msgspec.to_builtins(change) for change in difference.changes])
    else:
        changes = [(change.workload, ended(change.before), ended(change.after)) for change in difference.changes]
        rows_table("What would be decided otherwise", ("workload", "now", "then"), changes, rows)
        say(f"{counted(len(changes), 'decision')} would change" if changes else "nothing would change", style="bold")
    if exit_code and difference.changes:
        raise typer.Exit(ANSWER_IS_NO)
