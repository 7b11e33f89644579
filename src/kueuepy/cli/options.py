"""Groups, types and descriptions of options that several commands share, and functions that read their values.

Options:
    files (FILE): YAML, JSON or CSV (jobs) file, directory, - (stdin), saved state, recording, or cluster:CONTEXT.
    workload (WORKLOAD): Name of a workload or of its job: NAME, NAMESPACE/NAME or QUEUE/NAME.
    namespace (NAME): Namespace of objects and jobs without one.
    json: Print JSON instead of text.
    verbose: List the objects that the command leaves out, each with the reason.
    lenient: Correct input that an API server rejects, and report the corrections.
    kueue_version (VERSION): Kueue release to emulate, v0.15 or later.  [default: v0.20-devel]
    threads (N): Number of threads of a simulation; by default, one per core.
    latency (DURATION): Maximum time from a decision of Kueue to its API write.
    at_least (FRACTION): Exit with code 3 if a smaller fraction of decisions matches.
    users (LABEL): Workload label whose value is the name of the user (default: no label).
    futures (N): Number of Monte Carlo simulations.
    horizon (TIME): Virtual time that each Monte Carlo simulation covers.
    runtimes (TIME|FILE): Runtime of every workload, or a job log to draw runtimes from.
    future (FILE): File of future jobs; their submit times are relative to the current time.
    seed (N): Random seed of the first simulation; the next ones count up.
    edit (FILE): File of partial objects to merge into the others, as kubectl apply does.
    history (FILE): Recording or dump from which to estimate runtimes and arrivals.
    stop_after (TIME): Stop after this time; by default, run until interrupted.
    as_is: Use the state in the files as it is, without scheduling cycles first.
    exit_code: Exit with code 3 if the command finds any difference.
    rows (N): Maximum number of rows to print per table.
    until (TIME): Stop the simulation at this time; by default, when no event is left.
    warmup (TIME): Exclude jobs submitted before this time from the metrics.
    jobs (FILE): File of jobs to simulate: a log, a table or manifests.
    format_ (NAME): Format, listed at kueuepy.Jobs.read, e.g. csv or sacct.
    map_ (NAME=COLUMN): Read the job field NAME from COLUMN, e.g. queue=team; repeatable.
    window (FROM:TO): Keep only jobs submitted from time FROM until before TO, e.g. 7d:21d.
    censored (HOW): drop unfinished jobs, or draw their remaining runtimes (exponential).
    missing (HOW): Jobs whose LocalQueue does not exist: error, skip, or wait.
    seeds (N): Simulations per policy; with 2 or more, each shuffles the days of the log.
    storage (FILE): Store finished simulations in this file, for a repetition to reuse.
    title (TEXT): Title of the page.
    port (N): Port to listen on; 0 selects a free port.
    browser: Open the page in a browser.
    sources (SOURCE): YAML, JSON or CSV file, recording, saved state, simulate --out directory, or cluster:CONTEXT.
"""

import sys
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import Meta

from kueuepy.cli.output import UsageError, announce, progress, say, say_notes
from kueuepy.cluster import Cluster
from kueuepy.cluster.unmodelled import not_modelled
from kueuepy.errors import InvalidSpecError, NotFoundError, counted, shown
from kueuepy.files import is_directory, is_file
from kueuepy.manifest import CLUSTER, Manifest, One, is_live, live_parts, load, opened
from kueuepy.objects import SECOND
from kueuepy.platform.importer.importing import has_state
from kueuepy.simulation.logs import TABLE_SUFFIXES, is_log
from kueuepy.tables.kinds import span

# Files with these names contain jobs.
_TABLES = tuple(f".{suffix}{zipped}" for suffix in TABLE_SUFFIXES for zipped in ("", ".gz"))
Count: TypeAlias = Annotated[int, Meta(ge=0)]
Positive: TypeAlias = Annotated[int, Meta(ge=1)]
Fraction: TypeAlias = Annotated[float, Meta(ge=0, le=1)]
Port: TypeAlias = Annotated[int, Meta(ge=0, le=65535)]
Censored: TypeAlias = Literal["drop", "exponential"]


def tables_in(name: str) -> list[str]:
    """Return the tables and logs that a name on the command line refers to: a file, or all files below a directory."""
    if name == "-" or is_live(name) or not is_directory(name):
        return [name] if name.endswith(_TABLES) or (is_file(name) and is_log(name)) else []
    found = {path for suffix in _TABLES for path in Path(name).rglob(f"*{suffix}") if path.is_file()}
    return sorted(map(str, found))


def context_of(cluster: str) -> str:
    """Return the kubeconfig context of `cluster:CONTEXT`; an empty string for the current context.

    Raises:
        UsageError: The argument CLUSTER has another form.
    """
    if not cluster.startswith(CLUSTER):
        raise UsageError(f"{shown(cluster)}: it must be cluster: or cluster:CONTEXT")
    return cluster.removeprefix(CLUSTER)


def seconds_of(stop_after: str | None) -> float | None:
    """Return the value of --stop-after in seconds; `None` if it is not given.

    Raises:
        InvalidSpecError: The value is not a duration.
    """
    return None if stop_after is None else span("--stop-after", stop_after) / SECOND


class Reading(msgspec.Struct, frozen=True):
    """How to read the objects of a cluster: a group of options."""

    kueue_version: str | None = None
    lenient: bool = False

    def manifest(self, files: list[str], namespace: str = "default") -> Manifest:
        """Read the objects in files, running clusters and recordings; print notes on what a cluster does not show.

        Raises:
            InvalidSpecError: The files contain no object, for example because the command that writes them has failed.
            KueueError: A file cannot be read, or is not valid.
        """
        for name in files:
            if name.endswith(".csv"):
                raise InvalidSpecError(f"{name}: holds rows of jobs; objects are given as YAML or JSON")
        with progress(f"reading {counted(len(files), 'source')}"):
            source = opened(paths(files))
            live = live_parts(source)
            strict = not (self.lenient or live)
            found = load(source, strict=strict, namespace=namespace, version=self.kueue_version)
        say_notes(note for one in live for note in one.notes)
        if files and found.is_empty:
            raise InvalidSpecError(f"{', '.join(files)}: nothing to read; there must be at least one object")
        return found

    def cluster(self, files: list[str], *, has_jobs: bool = False) -> Cluster:
        """Read the configuration of a cluster, on which a command runs jobs from another file.

        The Workloads and jobs of a running cluster, a recording or a dump are left out, because they would never end.

        Args:
            files: The files.
            has_jobs: Whether the command reads the jobs of these files, which are also left out then.

        Raises:
            KueueError: A file cannot be read, or is not valid.
        """
        manifest = self.manifest(files)
        is_state = any(map(is_live, files)) or has_state(manifest)
        if has_jobs:
            manifest = msgspec.structs.replace(manifest, workloads=(), jobs=())
        elif is_state and manifest.workloads:
            left = counted(len(manifest.workloads), "Workload")
            say(f"note: {', '.join(files)}: {left} left out; the command runs the jobs that you give it", stderr=True)
            manifest = msgspec.structs.replace(manifest, workloads=(), jobs=())
        cluster = Cluster.from_manifest(manifest, names=not (self.lenient or is_state))
        announce(not_modelled(cluster))
        return cluster


class Start(Reading, frozen=True):
    """How to read the objects and jobs of a cluster: a group of options."""

    namespace: str = "default"
    verbose: bool = False


def paths(files: list[str]) -> "list[One]":
    """Return the files named on a command line; `-` is standard input.

    Raises:
        NotFoundError: Standard input is closed.
    """
    if "-" in files and sys.stdin is None:
        raise NotFoundError("standard input: cannot be read: it is closed")
    return [sys.stdin.buffer if name == "-" else _Path(name) for name in files]


class _Path:
    """A file name; `load` would parse a plain string that looks like YAML as the text itself."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __fspath__(self) -> str:
        return self._name
