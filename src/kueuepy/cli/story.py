"""What commands share that run a cluster: starting it, naming workloads, telling decisions."""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import islice
from typing import Any

import msgspec

from kueuepy.cli.options import read
from kueuepy.cli.output import progress, say, table
from kueuepy.cli.rows import rows_of, tables_in
from kueuepy.cluster import Cluster
from kueuepy.decision import Admitted, Decision, Preempting
from kueuepy.errors import NotFoundError
from kueuepy.jobs.places import jobs_placed
from kueuepy.manifest.problems import suggestion
from kueuepy.scheduler import Scheduler
from kueuepy.whatif import Outcome


def start(files: list[str], *, lenient: bool, settle: bool = True) -> Scheduler:
    """The cluster of the files with its workloads and jobs, run until nothing changes unless told otherwise.

    Raises:
        KueueError: The files cannot be read, or are not valid.
    """
    tables = [table for name in files for table in tables_in(name)]
    manifest = read([name for name in files if name not in tables], lenient=lenient)
    scheduler = Scheduler(Cluster.from_manifest(manifest, names=not lenient))
    for name in tables:
        with rows_of(name) as rows:
            scheduler.submit(*(row.workload for row in rows))
    if settle:
        with progress(f"deciding about {len(scheduler.keys())} workloads"):
            scheduler.settle()
    return scheduler


@contextmanager
def jobs_of(names: Iterable[str]) -> Iterator[list[Any]]:
    """Around what uses the jobs of files, rows of CSV or manifests of jobs and Workloads: errors name file and line.

    Raises:
        KueueError: A file cannot be read, or is not valid; or what was raised inside.
    """
    with ExitStack() as placed_all:
        items: list[Any] = []
        for name in names:
            tables = tables_in(name)
            for table_name in tables:
                items += placed_all.enter_context(rows_of(table_name))
            if name not in tables:
                manifest = read([name], lenient=False)
                placed_all.enter_context(jobs_placed(manifest))
                items += [*manifest.jobs, *manifest.workloads]
        yield items


def find(scheduler: Scheduler, name: str) -> str:
    """The key of the workload that is meant: by its key, its name, or the name of its job.

    Raises:
        NotFoundError: None is, or several are.
    """
    keys = scheduler.keys()
    made = re.compile(rf"[a-z]+-{re.escape(name)}-[0-9a-f]{{5}}")
    for found in (
        [key for key in keys if key == name],
        [key for key in keys if key.partition("/")[2] == name],
        [key for key in keys if made.fullmatch(key.partition("/")[2])],
    ):
        if len(found) == 1:
            return found[0]
        if found:
            raise NotFoundError(f'"{name}" may be {", ".join(found)}; give one of these')
    raise NotFoundError(f'"{name}" names no workload; {suggestion(name, keys)}')


def flavors(decision: Admitted) -> str:
    """The flavors of an admission, each with what it is for."""
    by_flavor: dict[str, list[str]] = {}
    for pod_set in decision.pod_sets:
        for resource, flavor in pod_set.flavors.items():
            known = by_flavor.setdefault(flavor, [])
            known += [] if resource in known else [resource]
    return ", ".join(f"{flavor} ({', '.join(resources)})" for flavor, resources in by_flavor.items())


def told(decision: Decision) -> tuple[str, str]:
    """What was decided, and with what or why."""
    match decision:
        case Admitted():
            borrows = "; borrows" if decision.borrowing_level else ""
            return "admitted" if decision.admitted else "quota reserved", flavors(decision) + borrows
        case Preempting():
            targets = ", ".join(f"{target.workload} ({target.reason})" for target in decision.targets)
            return "preempts", targets
        case _:
            return decision.reason or "pending", decision.message


def ended(outcome: Outcome) -> str:
    """How it ends for a workload, with its flavors or the reason why it waits."""
    found = {flavor: None for resources in outcome.flavors.values() for flavor in resources.values()}
    detail = ", ".join(found) or outcome.reason
    return f"{outcome.status} ({detail})" if detail else outcome.status


def plain(decision: Decision) -> dict[str, Any]:
    """A decision for programs: its fields, and which of the three it is."""
    fields: dict[str, Any] = msgspec.to_builtins(decision)
    return {"decision": type(decision).__name__, **fields}


def rows_table(
    title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]], limit: int, total: int | None = None
) -> None:
    """A table of the first rows, and how many more there are; nothing if there are none."""
    if total is None:
        rows = list(rows)
        total = len(rows)
    if not total:
        return
    table(title, columns, islice(rows, min(limit, total)))
    if total > limit:
        say(f"… and {total - limit} more; --rows {total} shows all", style="dim")
    say("")
