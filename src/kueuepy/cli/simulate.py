"""`kueuepy simulate`: simulate jobs on a cluster configuration in virtual time."""

import shlex
import sys
import warnings
from pathlib import Path
from typing import Any, Literal

from kueuepy.cli.logs import Log, pair
from kueuepy.cli.options import Positive, Reading
from kueuepy.cli.output import announce, counting, expect_other_file, fail, print_json, say, table
from kueuepy.cluster import Cluster
from kueuepy.cluster.patch import Existing, patched
from kueuepy.cluster.unmodelled import not_modelled
from kueuepy.errors import InvalidSpecError, LoopError, imported, plural
from kueuepy.files import is_file
from kueuepy.lab.exploration.measure import check_policy as hold
from kueuepy.lab.exploration.measure import read_promises
from kueuepy.look.notebook import Sheet, repr_text
from kueuepy.look.numbers import duration
from kueuepy.look.svg import expect_svg
from kueuepy.manifest import Limits, check, items, placed
from kueuepy.simulation.catalogue import columns_shown, figure_text, is_shown, titled
from kueuepy.simulation.model import Clock, Missing, RunModel, read_events
from kueuepy.simulation.pages import words
from kueuepy.simulation.pictures.catalogue import PICTURES, drawn, in_order
from kueuepy.simulation.recorded import plain
from kueuepy.simulation.report import report as write_report
from kueuepy.simulation.result import Result
from kueuepy.simulation.simulate import simulate as run
from kueuepy.simulation.table import Jobs


def simulate(
    files: list[str],
    *,
    jobs: str | None = None,
    log: Log,
    load: float | None = None,
    model: Literal["restart", "checkpoint", "resume"] = "restart",
    every: str = "0",
    cost: str = "0",
    restore: str = "0",
    grace: str = "0",
    cycle: str = "0",
    until: str | None = None,
    warmup: str = "0",
    at: str | None = None,
    edit: str | None = None,
    missing: Missing = "error",
    on_loop: Literal["hold", "stop", "raise"] = "hold",
    out: str | None = None,
    report: str | None = None,
    picture: tuple[str, ...] = (),
    gate: str | None = None,
    threads: Positive | None = None,
    reading: Reading,
    json: bool = False,
) -> bool:
    """Simulate jobs on a cluster configuration in virtual time.

    Prints metrics, such as waiting times, utilisation and evictions, and a row for each ClusterQueue. FILE contains the
    configuration: queues, cohorts and flavors. --jobs is a CSV, Parquet or JSON Lines table, a log of a cluster, or
    manifests. A table has a row for each job, with the columns queue (a LocalQueue), submit, runtime and the requests
    of each pod, such as cpu, memory or gpu.

    TIME is a number of seconds or a duration such as 90s, 2h30m or 7d. --until, --warmup, --window and the events of
    --at count from the submission of the first job. An event is a mapping such as
    {when: 1d, edit: {"ClusterQueue/a:quota[f/cpu].nominalQuota": 6}}.

    The interval --every counts only time in which the job makes progress: checkpoints, restores and waiting do not
    count. With --on-loop hold, no job of the cohort tree is admitted until another event occurs there. Exits with code
    1 if --missing is error and a LocalQueue does not exist. Exits with code 3 if the simulation misses a target of
    --gate, or if it finds a preemption loop and --on-loop is raise.

    Options:
        files (FILE): YAML or JSON file, directory of them, - (stdin), or cluster:CONTEXT.
        jobs (FILE): File of jobs: a log, a table, manifests, or a recording.
        load (X): Multiply the arrival rate of the jobs by X.  [default: 1]
        model (NAME): Where an evicted job continues: restart, checkpoint (the last one), or resume.
        every (TIME): Run time of a job between two checkpoints, for --model checkpoint.
        cost (TIME): Duration of a checkpoint, in which the job makes no progress.
        restore (TIME): Time to restore the progress of a job after an eviction.
        grace (TIME): Time from an eviction to the release of the quota.
        cycle (TIME): Duration of a scheduling cycle in virtual time.
        at (FILE): YAML or JSON file of events, such as changes of quota.
        on_loop (HOW): Preemption loop: hold (pause its cohort tree), stop, or raise (exit code 3).
        out (DIR): Directory for all tables, which kueuepy report can read.
        report (FILE): Write a report to this HTML file.
        picture (NAME=FILE): Write a chart to an SVG file; NAME is one of usage, queue, shares, consumed,
            waits, gantt, preemptions, slowdown_by_size, clusters, dispatch; repeatable.
        gate (FILE): YAML file of targets to meet, such as wait_p95 <= 30m.

    Examples:
        kueuepy simulate examples/week/teams.yaml --jobs examples/week/jobs.csv --report week.html
        kueuepy simulate examples/week/teams.yaml --jobs examples/week/jobs.csv --gate examples/gate/promises.yaml
        kueuepy simulate objects/ --jobs philly.csv.gz --window 7d:21d --model checkpoint --every 30m --restore 3m
        kueuepy simulate cluster:prod --jobs history.db --censored exponential --edit quota.yaml
        kueuepy simulate objects/ --jobs log.csv --map queue=team --map gpu=n_gpu --picture usage=usage.svg --json
    """
    if out is not None:
        imported("pyarrow.parquet", "--out")  # before the run, not after it
    # Mistakes in the files of targets and pictures are reported before the run, which can take hours.
    promises = None if gate is None else read_promises(gate)
    pictures = [pair("--picture", given, tuple(PICTURES)) for given in picture]
    for _, path in pictures:
        expect_svg(path)
    for output in (report, *(path for _, path in pictures)):
        expect_other_file(output, *files, jobs, edit, gate)
    cluster, table_ = log.given(files, jobs, reading)
    cluster = _edited(cluster, edit)
    table_ = table_ if load is None else table_.scale_load(load)
    options: dict[str, Any] = {
        "model": RunModel(model, every, cost, restore, grace),
        "clock": Clock(cycle),
        "events": () if at is None else read_events(at),
        "until": until,
        "warmup": warmup,
        "on_loop": on_loop,
        "missing": missing,
        "threads": threads,
    }
    try:
        found = _run(cluster, table_, options)
    except LoopError as error:
        fail(error, json=json)
        return True
    found.policy = Path(files[0]).stem if len(files) == 1 else ""
    found.source = log.source(files, jobs, reading, missing)
    _write(found, out, report, pictures)
    verdicts = None if promises is None else hold(found, promises)
    _print(found, verdicts, json=json)
    left = " and ".join(name for name, value in (("--edit", edit), ("--load", load)) if value is not None)
    if left and words.problem(found).command:
        say(f"note: the next step is without {left}, which kueuepy plan and sweep do not have", stderr=True)
    return verdicts is not None and not verdicts.passed


def _run(cluster: Cluster, jobs: Jobs, options: dict[str, Any]) -> Result:
    """Simulate jobs, show the progress, and report the parts that are not modelled, also those that events add."""
    with counting("jobs done") as show, warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # they are in the result
        found = run(cluster, jobs, progress=show, **options)
    announce(found.not_modelled)
    return found


def _edited(cluster: Cluster, file: str | None) -> Cluster:
    """Return the cluster with the changes of a file, if one is given.

    Raises:
        KueueError: The file cannot be read, or a changed object is not valid.
    """
    for item in () if file is None else items(Path(file), Limits(), strict=True):
        with placed(item.where()):
            found = patched(Existing.of(cluster.objects()), item.value).object
            check(found, feature_gates=cluster.configuration.gates)
            cluster = cluster.replace(found, names=False)
    announce(not_modelled(cluster))
    return cluster


def _print(found: Result, verdicts: Any, *, json: bool) -> None:
    """Print a result, and whether it meets the targets, if there are any."""
    if json:
        print_json(as_data(found) | ({} if verdicts is None else {"gate": verdicts.to_dicts()}))
    else:
        tell_result(found)
        for verdict in verdicts or ():
            say(str(verdict), style="" if verdict.passed else "red")


def _write(found: Result, out: str | None, report: str | None, pictures: list[tuple[Any, str]]) -> None:
    if out is not None:
        if is_file(out):
            raise InvalidSpecError(f"{out}: is a file; --out names a directory")
        found.save(out)
    if report is not None:
        write_report(found, report, command=shlex.join(["kueuepy", *sys.argv[1:]]))
    for name, path in pictures:
        drawn(found, name).save(path)


def as_data(found: Result) -> dict[str, Any]:
    """Return a result as JSON data: the settings, metrics, warnings, and the fingerprint of all tables."""
    return {
        "settings": plain(found.settings),
        "jobs": len(found.jobs),
        "seconds": found.seconds,
        "figures": found.kpis,
        "queues": found.queues.rows(),
        "stats": found.stats,
        "loops": list(found.loops),
        "notes": [{"what": what, "jobs": rows} for what, rows in found.notes],
        "warnings": list(found.warnings),
        "fingerprint": found.fingerprint,
    }


def tell_result(found: Result) -> None:
    """Print warnings, the result in words, the main metrics, and a row for each ClusterQueue."""
    for text in found.warnings:
        say(f"warning: {text}", style="yellow")
    if found.kpis.jobs:
        texts = [words.of_run(found), *words.problem(found).lines()]
        say(f"{repr_text([Sheet(('Result',), [(text,) for text in texts])])}\n")
    values = [(name, value) for name, value in found.kpis.rows() if is_shown("run", name)]
    table("", ("Metric", "Value"), [(titled(name), figure_text(name, value)) for name, value in values])
    say("")
    queues = found.queues
    names = ["cluster_queue", *columns_shown("run queues", queues.names)]
    heads = ["ClusterQueue", *map(titled, names[1:])]
    shown = {row["cluster_queue"]: row for row in queues.rows()}
    rows_ = [[_text(name, shown[queue][name]) for name in names] for queue in in_order(found, shown)]
    table("", heads, rows_)
    admissions, cycles = found.stats["admissions"], found.stats["cycles"]
    ran = f"{admissions:,} {plural(admissions, 'admission')} in {cycles:,} {plural(cycles, 'cycle')}"
    say(f"{duration(found.seconds)} of virtual time: {ran}", style="bold")


def _text(name: str, value: Any) -> str:
    return value or "" if isinstance(value, str) or value is None else figure_text(name, value)
