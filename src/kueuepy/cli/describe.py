"""Functions shared by commands that run a cluster: start it, find workloads, describe decisions."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from kueuepy.cli.options import Reading, Start, paths, tables_in
from kueuepy.cli.output import announce, as_data, progress, say, say_notes, table
from kueuepy.cluster import Cluster
from kueuepy.engine.decisions import Admitted, Decision, Preempting
from kueuepy.errors import DuplicateError, InvalidSpecError, NotFoundError, counted, suggestion
from kueuepy.manifest import Manifest, ReadJob, is_live, live_parts, object_name, opened
from kueuepy.objects import Workload
from kueuepy.platform.importer import Import, Imported, import_cluster, import_manifest
from kueuepy.platform.importer.importing import has_state, missing
from kueuepy.scheduler import Scheduler
from kueuepy.session.saved import is_saved
from kueuepy.session.session import session_of

if TYPE_CHECKING:
    from kueuepy.cli.logs import Log
    from kueuepy.cli.rows import Rows

# The number of objects that could not be imported which are listed.
_PROBLEMS = 5
# The beginning of each further word of a status such as QuotaReserved.
_WORD = re.compile("(?<=[a-z])(?=[A-Z])")
# The kind in a note about an object.
_KIND = re.compile(r': (\w+) "')
_DEFAULT = Start()


class Started(NamedTuple):
    """A Scheduler with the objects and jobs of files.

    Attributes:
        scheduler: The Scheduler.
        notes: The parts of the files that are ignored, with the reason.
        has_status: Whether the workloads are in the state of a real cluster, in which no cycle has run since.
        left: The jobs and pods of a real cluster that are left out.
    """

    scheduler: Scheduler
    notes: tuple[str, ...]
    has_status: bool = False
    left: tuple[Imported, ...] = ()

    def noted(self) -> Scheduler:
        """Print the notes to standard error and return the Scheduler."""
        say_notes(self.notes)
        return self.scheduler


def start(files: list[str], reading: Start = _DEFAULT, *, settle: bool = True) -> Started:
    """Create a Scheduler with the objects and jobs of files, and run cycles until nothing changes.

    One file may be a state saved by `import --save`; the objects and jobs of the other files are then added to it. A
    running cluster, a recording or a dump with the status of Workloads is used in its current state, without running
    cycles.

    Args:
        files: Names of files or directories; `-` is standard input.
        reading: How to read the files.
        settle: Whether to run cycles.

    Raises:
        KueueError: The files cannot be read, or are not valid.
    """
    tables = [table for name in files for table in tables_in(name)]
    rest = [name for name in files if name not in tables]
    states = [name for name in rest if is_saved(name)]
    given = [name for name in rest if name not in states]
    has_status = any(map(is_live, given))
    rows: list[Imported] = []
    unread: list[tuple[str, str]] = []
    if has_status:
        scheduler, notes, rows = _import(given, states, reading.kueue_version)
    else:
        manifest = reading.manifest(given, reading.namespace)
        has_status = not states and has_state(manifest)
        if has_status:
            # Time does not pass here, so a job that is evicted must stop at once.
            scheduler, notes, rows = _placed(import_manifest(manifest, stopping=0))
            notes += missing(manifest)
        else:
            names = not reading.lenient
            scheduler = _load(states, manifest) if states else Scheduler(Cluster.from_manifest(manifest, names=names))
            notes = list(_said_of(manifest))
        texts = [str(note) for note in manifest.notes if not note.path]
        unread = [(found[1] if (found := _KIND.search(text)) else "object", text) for text in texts]
    jobs = [("Job", note) for note in notes if not has_status]
    left = [*jobs, *((row.kind, f"{row.kind} {row.key}: {row.reason}") for row in rows), *unread]
    for name in tables:
        notes += _submit(scheduler, name, reading.namespace)
    if has_status or left or reading.verbose:
        notes.insert(0, _used(scheduler, left, is_listed=reading.verbose))
        notes += [f"left out: {text}" for _, text in left if text not in notes] if reading.verbose else []
    announce(scheduler.not_modelled)
    # The workloads of a dump have the status that Kueue gave them, which cycles would change.
    if settle and not has_status:
        with progress(f"deciding about {counted(len(scheduler.keys()), 'workload')}"):
            scheduler.settle()
    return Started(scheduler, tuple(notes), has_status, tuple(rows))


def _used(scheduler: Scheduler, left: list[tuple[str, str]], *, is_listed: bool) -> str:
    """Return the numbers of objects that are used, and of those that are left out, each a kind and a text."""
    states = Counter(_WORD.sub(" ", status).lower() for status in scheduler.workloads["status"])
    used = repr(scheduler.cluster).removeprefix("<Cluster: ").removesuffix(">")
    used += f", {counted(len(scheduler.workloads), 'Workload')} " if states else ""
    used += f"({', '.join(f'{count} {state}' for state, count in states.items())})" if states else ""
    out = ", ".join(counted(count, kind) for kind, count in Counter(kind for kind, _ in left).items())
    return f"uses {used}; leaves out {out or 'nothing'}{'; -v lists them' if left and not is_listed else ''}"


def _submit(scheduler: Scheduler, name: str, namespace: str) -> list[str]:
    """Submit the jobs of a CSV file, and return the parts of the file that are ignored."""
    cluster = scheduler.cluster
    with _rows_of(name, namespace, flavors=cluster.resource_flavors, configuration=cluster.configuration) as rows:
        scheduler.submit(*(row.workload for row in rows))
    notes = list(rows.notes)
    if any(row.duration is not None for row in rows):
        notes.append(f"{name}: the runtime is ignored here; kueuepy simulate runs jobs to their end")
    return notes


def _rows_of(name: str, namespace: str, **around: Any) -> AbstractContextManager["Rows"]:
    from kueuepy.cli.rows import rows_of  # noqa: PLC0415 - many commands read no table

    return rows_of(name, namespace=namespace, **around)


def _import(given: list[str], states: list[str], version: str | None) -> tuple[Scheduler, list[str], list[Imported]]:
    """Import running clusters and recordings, with the objects of the other files.

    Raises:
        InvalidSpecError: A saved state is given as well.
        KueueError: A cluster cannot be read.
    """
    if states:
        raise InvalidSpecError(f"{', '.join([*states, *given])}: give a saved state or a running cluster, not both")
    source = opened(paths(given))
    with progress(f"reading {', '.join(given)}"):
        imported = import_cluster(source, version=version)
    scheduler, notes, rows = _placed(imported)
    return scheduler, [note for one in live_parts(source) for note in one.notes] + notes, rows


def _placed(imported: Import) -> tuple[Scheduler, list[str], list[Imported]]:
    """Return the Scheduler of an import, the first problems, and the objects that are left out."""
    # A finished Workload is imported, a finished job without a Workload is not.
    left = ("skipped", "not placed", "finished")
    rows = [row for row in imported.report if row.outcome in left[: 2 if row.kind == "Workload" else 3]]
    problems = imported.report.problems
    notes = [f"{row.kind} {row.key}: {row.reason}" for row in problems[:_PROBLEMS]]
    if len(problems) > _PROBLEMS:
        notes.append(f"{len(problems) - _PROBLEMS} more objects were not placed; -v lists them")
    return imported.scheduler, [*notes, *imported.report.notes], rows


def _said_of(manifest: Manifest) -> Iterator[str]:
    """Yield the jobs that Kueue does not manage, each with the reason."""
    if not manifest.jobs:
        return
    from kueuepy.lint.rule import LintContext  # noqa: PLC0415 - only for jobs
    from kueuepy.lint.rules.workloads import left_alone  # noqa: PLC0415

    for finding in left_alone.findings(LintContext(manifest)):
        where = f"{finding.where}: " if finding.where else ""
        yield f"{where}{finding.object}: {finding.message}"


def _load(states: list[str], manifest: Manifest) -> Scheduler:
    """Load the Scheduler of a saved state, and add the objects and jobs of a manifest.

    Raises:
        InvalidSpecError: Several states are given.
        KueueError: The state cannot be read, or the objects or jobs are not valid for it.
    """
    if len(states) > 1:
        raise InvalidSpecError(f"{', '.join(states)}: are several saved states; give one")
    scheduler = Scheduler.load(states[0])
    scheduler.apply(*(obj for obj in manifest.objects() if not isinstance(obj, Workload)))
    scheduler.submit(*manifest.workloads, *manifest.jobs, keep_status=True)
    return scheduler


@contextmanager
def jobs_of(names: Iterable[str], *, namespace: str = "default", log: "Log | None" = None) -> Iterator[list[Any]]:
    """Read jobs and Workloads from files; errors raised inside the context name file and line.

    Args:
        names: The files.
        namespace: The namespace of queues without one.
        log: As for `rows_of`.

    Raises:
        KueueError: A file cannot be read or is not valid, or the error was raised inside the context.
    """
    with ExitStack() as placed_all:
        items: list[Any] = []
        for name in names:
            tables = tables_in(name) if log is None or log.format_ == "auto" else [name]
            for table_name in tables:
                rows = placed_all.enter_context(_rows_of(table_name, namespace, log=log))
                say_notes(rows.notes)
                items += [rows.table] if log is not None else rows
            if name not in tables:
                manifest = Reading().manifest([name], namespace)
                items += [*manifest.jobs, *manifest.workloads]
        _expect_once(items)
        yield items


def _expect_once(items: Iterable[Any]) -> None:
    """Check that no job is given twice.

    Raises:
        DuplicateError: A job is given twice.
    """
    known: dict[tuple[str, str], ReadJob] = {}
    for job in items:
        if isinstance(job, ReadJob) and (job.get("metadata") or {}).get("name"):
            first = known.setdefault((job["apiVersion"], object_name(job)), job)
            if first is not job:
                raise DuplicateError(
                    f"{job.where()}: {object_name(job)}: is given at {first.where()} already; give each object once"
                )


def find(started: Started, name: str) -> str:
    """Find the key of a workload by its key, its name, or the name of its job or of that job's owner.

    A prefix with a slash may name the namespace, the LocalQueue or the ClusterQueue.

    Raises:
        NotFoundError: No workload matches, or several do.
    """
    scheduler = started.scheduler
    keys = scheduler.keys()
    if name in keys:
        return name
    where, slash, last = name.rpartition("/")
    inside = [key for key in keys if not slash or where in _places(scheduler, key)]
    # The name of a Workload that Kueue makes for a job: the kind, the name and a hash.
    made = re.compile(rf"[a-z]+-{re.escape(last)}(\d{{5}})?-[0-9a-f]{{5}}")

    def is_owned(key: str) -> bool:
        return any(owner.get("name") == last for owner in scheduler.workload(key).owner_references)

    # The most exact reading of a name that finds a workload counts.
    readings: tuple[Callable[[str], Any], ...] = (
        lambda key: key.partition("/")[2] == last,
        lambda key: made.fullmatch(key.partition("/")[2]),
        is_owned,
    )
    for reads in readings:
        found = [key for key in inside if reads(key)]
        if len(found) == 1:
            return found[0]
        if found:
            raise NotFoundError(f'"{name}" may be {", ".join(found)}; give one of these')
    why = suggestion(name, keys)
    for row in started.left:
        if name in (row.key, row.key.partition("/")[2]):
            hint = "; kueuepy jobs describes finished jobs" if row.outcome == "finished" else ""
            why = f"{row.kind} {row.key}: {row.reason}{hint}"
    raise NotFoundError(f'"{name}" names no workload; {why}')


def _places(scheduler: Scheduler, key: str) -> set[str]:
    """Return the prefixes accepted before a workload's name: its namespace, LocalQueue and ClusterQueue."""
    namespace = key.partition("/")[0]
    local = scheduler.workload(key).queue_name
    queue = session_of(scheduler).state.cluster_queue_of(f"{namespace}/{local}")
    return {namespace, local, f"{namespace}/{local}", *([] if isinstance(queue, str) else [queue.name])}


def flavors(decision: Admitted) -> str:
    """Format the flavors of an admission, each with its resources."""
    by_flavor: dict[str, list[str]] = {}
    for pod_set in decision.pod_sets:
        for resource, flavor in pod_set.flavors.items():
            known = by_flavor.setdefault(flavor, [])
            known += [] if resource in known else [resource]
    return ", ".join(f"{flavor} ({', '.join(resources)})" for flavor, resources in by_flavor.items())


def describe(decision: Decision) -> tuple[str, str]:
    """Return a decision in short, and its flavors, victims or message."""
    match decision:
        case Admitted():
            borrows = "; borrows" if decision.borrowing_level else ""
            return "admitted" if decision.admitted else "quota reserved", flavors(decision) + borrows
        case Preempting():
            targets = ", ".join(f"{target.workload} ({target.reason})" for target in decision.targets)
            return "preempts", targets
        case _:
            return decision.reason or "pending", decision.message


def plain(decision: Decision) -> dict[str, Any]:
    """Return a decision as JSON data: its kind and its fields."""
    return {"decision": type(decision).__name__, **as_data(decision)}


def rows_table(
    title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]], limit: int, total: int | None = None
) -> None:
    """Print the first rows as a table and the number of further rows; print nothing if there are no rows."""
    if total is None:
        rows = list(rows)
        total = len(rows)
    if not total:
        return
    # Rows beyond the limit are not computed: each may take an explanation.
    table(title, columns, islice(rows, min(limit, total)))
    if total > limit:
        say(f"… and {total - limit} more; use --rows {total} to show all", style="dim")
    say("")
