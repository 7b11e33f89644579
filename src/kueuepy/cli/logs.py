"""Reading of a file of jobs, and `kueuepy jobs`: describe a log of jobs, or convert it to a table."""

import math
import os
import shlex
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from kueuepy.cli.options import Censored, Reading, tables_in
from kueuepy.cli.output import UsageError, print_json, progress, say, table
from kueuepy.cluster import Cluster
from kueuepy.errors import InvalidSpecError, KueueError, counted, shown
from kueuepy.look.numbers import amount, duration
from kueuepy.manifest import Limits, Manifest
from kueuepy.manifest.text.reading import is_live, is_recording, read
from kueuepy.simulation.base import censored_rows
from kueuepy.simulation.columns import MissingColumnsError
from kueuepy.simulation.items import workloads_of_jobs
from kueuepy.simulation.model import Missing
from kueuepy.simulation.table import Jobs


class Log(msgspec.Struct, frozen=True):
    """How to read a file of jobs: a group of options."""

    format_: str = "auto"
    map_: tuple[str, ...] = ()
    window: str | None = None
    censored: Censored | None = None

    def read(
        self, *paths: str, option: str = "--censored", is_choice: bool = True, around: Cluster | None = None
    ) -> Jobs:
        """Read the jobs of logs, tables, manifests, recordings or running clusters.

        Args:
            paths: The files or the sources.
            option: The option that errors and notes name; empty for a command without `--censored`.
            is_choice: Whether unfinished jobs are an error if `censored` is not set. Otherwise, their remaining
                runtimes are drawn, and they never end if no job has finished.
            around: The cluster with the priority classes and queues to which the jobs refer.

        Raises:
            InvalidSpecError: Some jobs had not finished, and `censored` is not set.
        """
        return self.chosen(self.recorded(*paths, around=around), *paths, option=option, is_choice=is_choice)

    def chosen(self, found: Jobs, *paths: str, option: str = "--censored", is_choice: bool = True) -> Jobs:
        """Return the jobs of the time window, with full runtimes; see `read`."""
        censored = self.censored
        left = int(censored_rows(found.exact()).sum())
        if left and censored is None and not is_choice:
            if left == len(found):
                say(f"note: {counted(left, 'job')} had not finished, and none had: they never end", stderr=True)
                found, left = found.assign(runtime=math.inf, censored=False), 0
            else:
                told = f"note: {counted(left, 'job')} had not finished: remaining runtimes are drawn"
                say(f"{told}; see {option}" if option else told, stderr=True)
                censored = "exponential"
        if censored is not None:
            found = found.complete(censored)
        elif left:
            raise InvalidSpecError(
                f"{', '.join(paths)}: {counted(left, 'job')} had not finished, so the runtime is only a lower bound; "
                f"{option} must be drop or exponential"
            )
        if self.window is not None:
            first, _, last = self.window.partition(":")
            found = found.window(first or 0, last or None)
        return found

    def given(self, files: list[str], jobs: str | None, reading: Reading) -> tuple[Cluster, Jobs]:
        """Return the cluster of FILE arguments, and the jobs of the option --jobs or, without it, of these files.

        Raises:
            UsageError: There are no jobs.
        """
        if jobs is not None:
            cluster = reading.cluster(files)
            found = self.read(jobs, around=cluster)
            if not len(found) and not tables_in(jobs):
                raise UsageError(
                    f"--jobs: {jobs} contains no job; give the output of: kubectl get jobs,workloads -A -o yaml"
                )
            return cluster, found
        tables = [table for name in files for table in tables_in(name)]
        rest = [name for name in files if name not in tables]
        return reading.cluster(rest, has_jobs=not tables), self.of_files(tables or rest)

    def source(self, files: list[str], jobs: str | None, reading: Reading, missing: Missing | None = None) -> str:
        """Return the arguments with which other commands read the same cluster and jobs."""
        given = {
            "--jobs": jobs,
            "--format": self.format_ if self.format_ != "auto" else None,
            "--window": self.window,
            "--censored": self.censored,
            "--kueue-version": reading.kueue_version,
            "--missing": missing if missing != "error" else None,
        }
        options = [word for name, value in given.items() if value is not None for word in (name, value)]
        options += [word for mapped in self.map_ for word in ("--map", mapped)]
        return shlex.join([*files, *options, *["--lenient"] * reading.lenient])

    def of_files(self, files: list[str]) -> Jobs:
        """Read the jobs of FILE arguments; unfinished jobs are no error.

        Raises:
            UsageError: There are no jobs.
        """
        found = self.read(*files, is_choice=False)
        if not len(found):
            raise UsageError(f"--jobs: is required, because {', '.join(files)} contains no job")
        return found

    @property
    def columns(self) -> dict[str, str] | None:
        """The names of columns in the file, as `Jobs.read` accepts them."""
        return dict(pair("--map", given) for given in self.map_) or None

    def recorded(self, *paths: str, around: Cluster | None = None) -> Jobs:
        """Read all jobs, with the runtimes so far of jobs that had not finished."""
        columns = self.columns
        with progress(f"reading {', '.join(paths)}"):
            # The log of a recording also has the Workloads that no longer exist.
            if all(is_recording(name) or name in tables_in(name) for name in paths) or self.format_ != "auto":
                return Jobs.concat([self._table(path, columns) for path in paths])
            if any(map(is_live, paths)):
                return Jobs.from_workloads(list(paths))
            manifest = _among(Reading().manifest(list(paths)), around)
            ran = workloads_of_jobs(manifest)
            is_dump = any(one.status is not None and one.status.conditions for one in ran)
            # The reader of a dump also reads statistics that a Workload does not keep.
            source = list(paths) if is_dump and len(ran) == len(manifest.workloads) else ran
            return Jobs.from_workloads(source) if is_dump else Jobs.from_manifests(manifest)

    def _table(self, path: str, columns: dict[str, str] | None) -> Jobs:
        try:
            return Jobs.read("/dev/stdin" if path == "-" else path, self.format_, columns)
        except MissingColumnsError as error:
            options = " ".join(f"--map {name}=COLUMN" for name in error.names)
            raise InvalidSpecError(error.text(options)) from None


def _among(manifest: Manifest, cluster: Cluster | None) -> Manifest:
    """Return the jobs of a manifest with the objects of a cluster; those to which jobs refer may be in both."""
    if cluster is None:
        return manifest
    own = cluster.manifest
    names = ("workload_priority_classes", "priority_classes", "others")
    both: dict[str, Any] = {name: (*getattr(manifest, name), *getattr(own, name)) for name in names}
    return msgspec.structs.replace(own, workloads=manifest.workloads, jobs=manifest.jobs, **both)


def pair(option: str, given: str, allowed: tuple[str, ...] = ()) -> tuple[str, str]:
    """Split `NAME=VALUE` into its two sides.

    Raises:
        UsageError: The text has another form, or the name is not one of the allowed names.
    """
    name, equals, value = given.partition("=")
    if not (name and equals and value) or (allowed and name not in allowed):
        names = f", NAME one of {', '.join(allowed)}" if allowed else ""
        raise UsageError(f"{option}: is {shown(given)}; it must be NAME=VALUE{names}")
    return name, value


def setting(text: str) -> tuple[str, Any]:
    """Return the path and the value of a text such as `ClusterQueue/a:stopPolicy=Hold`.

    The value is what it is in a manifest; a text such as `*`, which is not YAML, remains a text.
    """
    path, value = pair("--set", text)
    with suppress(KueueError):
        return path, as_in_manifest(value)
    return path, value


def as_in_manifest(text: str) -> Any:
    """Return the value that a text has in a manifest: a number, boolean, list, text or `None`.

    Raises:
        ManifestError: The text is not YAML.
    """
    # As an item of a list, because `null` alone is no document.
    documents = [one.value for one in read("option", os.fsencode(f"- {text}"), Limits(), strict=True)]
    return documents[0][0] if len(documents) == len(documents[0]) == 1 else text


def describe(
    file: str, *, format_: str = "auto", map_: tuple[str, ...] = (), on: tuple[str, ...] = (), json: bool = False
) -> None:
    """Describe the jobs of each queue: the number of jobs and their mean usage.

    With --on, also print the load, that is the mean usage divided by the nominal quota, and warn about missing queues
    and jobs that can never fit.

    Options:
        file (FILE): File of jobs: a log or a table, optionally gzipped.
        on (FILE): Cluster configuration file to check the jobs against; repeatable.

    Examples:
        kueuepy jobs describe philly.csv.gz
        kueuepy jobs describe log.csv --map queue=team --on objects.yaml
        kueuepy jobs convert NASA-iPSC-1993-3.1-cln.swf.gz --to jobs.parquet
    """
    found = Log(format_, map_).recorded(file)
    cluster = Reading().cluster(list(on)) if on else None
    rows = found.describe(cluster)
    problems = [] if cluster is None else list(found.check(cluster))
    if json:
        notes = [{"what": what, "rows": count} for what, count in found.notes]
        print_json(
            {"jobs": len(found), "seconds": found.span, "queues": rows.rows(), "notes": notes, "problems": problems}
        )
        return
    say_notes_of(found)
    table("", rows.names, [[_cell(*cell) for cell in row.items()] for row in rows.rows()])
    for problem in problems:
        say(f"warning: {problem}", style="yellow")
    say(f"{counted(len(found), 'job')} submitted in {duration(found.span)}", style="bold")


def _cell(name: str, value: object) -> object:
    """Return a value of the table of queues with four digits, and a mean with its unit."""
    if not isinstance(value, float):
        return value
    text = f"{value:.4g}"
    return amount(name.removeprefix("mean "), float(text)) if name.startswith("mean ") else text


def convert(file: str, *, to: str, format_: str = "auto", map_: tuple[str, ...] = ()) -> None:
    """Convert a log to a Parquet table, which loads faster.

    Options:
        file (FILE): File of jobs: a log or a table, optionally gzipped.
        to (FILE): Parquet file to write; its name must end with .parquet or .pq.
    """
    if Path(to).suffix not in (".parquet", ".pq"):
        raise InvalidSpecError(f"{to}: its name must end with .parquet or .pq")
    found = Log(format_, map_).recorded(file)
    found.to_parquet(to)
    say_notes_of(found)
    say(f"{counted(len(found), 'job')} written to {to}")


def say_notes_of(found: Jobs) -> None:
    """Print the notes about the rows of a log to standard error."""
    for what, rows in found.notes:
        say(f"note: {counted(rows, 'row')}: {what}", style="cyan", stderr=True)
