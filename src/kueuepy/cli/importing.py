"""`kueuepy import`: import the state of a cluster, and save it for later commands."""

from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from kueuepy.cli.options import Json, KueueVersion, Rows, examples, paths
from kueuepy.cli.output import ANSWER_IS_NO, expect_other_file, print_json, say, say_notes, table
from kueuepy.errors import InvalidSpecError
from kueuepy.errors.words import counted
from kueuepy.manifest import Limits
from kueuepy.manifest.text.sources import is_live, items
from kueuepy.platform.importer import import_cluster
from kueuepy.platform.importer.pods import rules_of

EXAMPLES = examples(
    "kueuepy import examples/live/dump.yaml --rules examples/live/rules.yaml",
    "kueuepy import cluster:prod --save state",
    "kubectl get clusterqueues,localqueues,resourceflavors,workloads -A -o json | kueuepy import - --save state",
)


def import_(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE",
            help="File with kubectl get output, a directory, - (stdin), a recording, or cluster:CONTEXT.",
        ),
    ],
    *,
    rules: Annotated[
        str | None,
        typer.Option(
            "--rules",
            metavar="FILE",
            help="File of rules that map running pods to LocalQueues, in the format of Kueue's importer.",
        ),
    ] = None,
    save: Annotated[
        Path | None,
        typer.Option(
            "--save", metavar="FILE", help="Save the imported state to this file; by default, the state is not saved."
        ),
    ] = None,
    stopping: Annotated[
        str,
        typer.Option(
            "--stopping",
            metavar="TIME",
            help="Time from a job's eviction until its pods have terminated and its quota is released.",
        ),
    ] = "30s",
    kueue_version: KueueVersion = None,
    rows: Rows = 40,
    json: Json = False,
) -> None:
    """Import the state of a running cluster, a recording, or the output of kubectl get.

    Reports which Workloads, jobs and running pods could be imported. Other commands accept the file written by --save,
    as does kueuepy.Scheduler.load.

    Exits with code 3 if an object could not be imported.
    """
    expect_other_file(save, *files)
    found = import_cluster(
        paths(files),
        rules=() if rules is None else rules_of(_mapping(rules)),
        version=kueue_version,
        stopping=stopping,
    )
    if found.kueue_version and kueue_version is None and not any(map(is_live, files)):
        say(
            f"note: the cluster runs Kueue {found.kueue_version}; pass it as --kueue-version to emulate that release",
            stderr=True,
        )
    if save is not None:
        found.scheduler.save(save)
    problems = found.report.problems
    if json:
        objects = found.report.rows()
        print_json({"counts": found.report.counts, "objects": objects, "notes": found.notes})
    else:
        say_notes(found.notes)
        say(", ".join(f"{number:,} {what}" for what, number in found.report.counts.items()) or "nothing", style="bold")
        if problems:
            shown = [(row.kind, row.key, row.reason) for row in problems[:rows]]
            table(f"{counted(len(problems), 'object')} not placed", ("kind", "name", "reason"), shown)
        say("state not saved; use --save" if save is None else f"{save}: written")
    if problems:
        raise typer.Exit(ANSWER_IS_NO)


def _mapping(name: str) -> list[dict[str, Any]]:
    """Read the rules of a mapping file.

    Raises:
        InvalidSpecError: The file is not one list of rules.
    """
    documents = [item.value for item in items(Path(name), Limits(), strict=True)]
    try:
        (found,) = msgspec.convert(documents, tuple[list[dict[str, Any]]])
    except msgspec.ValidationError:
        raise InvalidSpecError(f"{name}: must be one list of rules") from None
    return found
