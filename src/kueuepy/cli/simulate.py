"""`kueuepy simulate`: what becomes of many jobs in virtual time."""

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import typer

from kueuepy.cli.logs import Format, Map, Window, pair, read_jobs
from kueuepy.cli.options import Json, KueueVersion, Lenient, Objects, examples, read
from kueuepy.cli.output import ANSWER_IS_NO, fail, print_json, say, table, writing
from kueuepy.cluster import Cluster
from kueuepy.errors import InvalidSpecError
from kueuepy.errors.libraries import imported
from kueuepy.errors.words import plural
from kueuepy.exploration.gate import check_policy as hold
from kueuepy.exploration.gate import read_promises
from kueuepy.simulation.catalogue import figure_text, shown
from kueuepy.simulation.events import read_events
from kueuepy.simulation.model import Clock, RunModel
from kueuepy.simulation.pictures.svg import NAMES, drawn
from kueuepy.simulation.progress import Progress
from kueuepy.simulation.report import report as write_report
from kueuepy.simulation.result import Result, plain
from kueuepy.simulation.simulate import LoopError
from kueuepy.simulation.simulate import simulate as run
from kueuepy.simulation.text import span_text

EXAMPLES = examples(
    "kueuepy simulate examples/week/teams.yaml --jobs examples/week/jobs.csv --report week.html",
    "kueuepy simulate examples/week/teams.yaml --jobs examples/week/jobs.csv --gate examples/gate/promises.yaml",
    "kueuepy simulate objects/ --jobs philly.csv.gz --window 7d:21d --model checkpoint --every 30m --restore 3m",
    "kueuepy simulate objects/ --jobs log.csv --map queue=team --map gpu=n_gpu --picture usage=usage.svg --json",
)
_QUEUE = ("cluster_queue", "jobs", "finished", "wait_mean", "wait_p95", "longest_wait", "evictions")

_Model: TypeAlias = Annotated[
    Literal["restart", "checkpoint", "resume"], typer.Option("--model", help="What an eviction costs a job.")
]
_Missing: TypeAlias = Annotated[
    Literal["error", "skip", "wait"], typer.Option("--missing", help="Of jobs whose LocalQueue is not there.")
]
_OnLoop: TypeAlias = Annotated[
    Literal["hold", "stop", "raise"],
    typer.Option("--on-loop", help="At endless preemption; raise exits with 3."),
]
_Gate: TypeAlias = Annotated[
    str | None, typer.Option("--gate", metavar="FILE", help="Promises that must hold: YAML, a list of them.")
]
_Out: TypeAlias = Annotated[
    str | None, typer.Option("--out", metavar="DIR", help="Write all tables, for report and load_result.")
]
_Report: TypeAlias = Annotated[
    str | None, typer.Option("--report", metavar="FILE", help="Write a report: one HTML file.")
]
_Picture: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--picture", metavar="NAME=FILE", help=f"Write a picture as SVG: {', '.join(NAMES)}; repeatable."),
]


def simulate(
    files: Objects,
    *,
    jobs: Annotated[str, typer.Option("--jobs", metavar="FILE", help="The jobs: a log, a table, or manifests.")],
    format: Format = "auto",  # noqa: A002 - as the option is called
    map: Map = None,  # noqa: A002
    window: Window = None,
    load: Annotated[float | None, typer.Option("--load", metavar="X", help="Jobs come X times as fast.")] = None,
    model: _Model = "restart",
    every: Annotated[str, typer.Option("--every", metavar="TIME", help="Progress between checkpoints.")] = "0",
    cost: Annotated[str, typer.Option("--cost", metavar="TIME", help="What a checkpoint takes.")] = "0",
    restore: Annotated[
        str, typer.Option("--restore", metavar="TIME", help="What a start after an eviction takes.")
    ] = "0",
    grace: Annotated[
        str, typer.Option("--grace", metavar="TIME", help="For how long an evicted job keeps its quota.")
    ] = "0",
    cycle: Annotated[str, typer.Option("--cycle", metavar="TIME", help="What a scheduling cycle takes.")] = "0",
    until: Annotated[str | None, typer.Option("--until", metavar="TIME", help="The last moment.")] = None,
    warmup: Annotated[
        str, typer.Option("--warmup", metavar="TIME", help="Jobs submitted before it do not count in figures.")
    ] = "0",
    seed: Annotated[int, typer.Option("--seed", min=0, metavar="N", help="Of all draws.")] = 0,
    at: Annotated[
        str | None, typer.Option("--at", metavar="FILE", help="What changes meanwhile: YAML or JSON, a list of events.")
    ] = None,
    missing: _Missing = "error",
    on_loop: _OnLoop = "hold",
    out: _Out = None,
    report: _Report = None,
    picture: _Picture = None,
    gate: _Gate = None,
    kueue_version: KueueVersion = None,
    lenient: Lenient = False,
    json: Json = False,
) -> None:
    """Run jobs on queues in virtual time: how long they wait, who uses what, what preemption costs.

    Jobs are read from CSV, Parquet, JSON lines, manifests, or logs of clusters by the name of their format. Progress is
    shown on terminals.

    Exits with 3 if a promise of --gate does not hold, or preemption goes round and --on-loop is raise.
    """
    if out is not None:
        imported("pyarrow.parquet", "--out", '"kueuepy[arrow]"')  # before the run, not after it
    promises = None if gate is None else read_promises(gate)
    pictures = [pair("--picture", given, NAMES) for given in picture or ()]
    cluster = Cluster.from_manifest(read(files, lenient=lenient, version=kueue_version), names=not lenient)
    table_ = read_jobs(jobs, format, map, window)
    if load is not None:
        table_ = table_.scale_load(load)
    options: dict[str, Any] = {
        "model": RunModel(model, every, cost, restore, grace),
        "clock": Clock(cycle),
        "events": () if at is None else read_events(at),
        "until": until,
        "warmup": warmup,
        "seed": seed,
        "on_loop": on_loop,
        "missing": missing,
    }
    try:
        with _progress(len(table_)) as tell, warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # they are in the result
            found = run(cluster, table_, progress=tell or False, **options)
    except LoopError as error:
        fail(error, json=json)
        raise typer.Exit(ANSWER_IS_NO) from None
    _write(found, out, report, pictures)
    verdicts = None if promises is None else hold(found, promises)
    if json:
        print_json(as_data(found) | ({} if verdicts is None else {"gate": verdicts.to_dicts()}))
    else:
        tell_result(found)
        for verdict in verdicts or ():
            say(str(verdict), style="" if verdict.passed else "red")
    if verdicts is not None and not verdicts.passed:
        raise typer.Exit(ANSWER_IS_NO)


@contextmanager
def _progress(total: int) -> Iterator[Callable[[Progress], None] | None]:
    """Who is told of progress: a line on a terminal's standard error, or nobody."""
    if not sys.stderr.isatty():
        yield None
        return

    def show(progress: Progress) -> None:
        done = f"{progress.done:,} of {total:,} {plural(total, 'job')} done after {span_text(progress.now)}"
        sys.stderr.write(f"\r{done}, {progress.waiting:,} wait or run\x1b[K")
        sys.stderr.flush()

    try:
        yield show
    finally:
        sys.stderr.write("\r\x1b[K")


def _write(found: Result, out: str | None, report: str | None, pictures: list[tuple[str, str]]) -> None:
    if out is not None:
        if Path(out).is_file():
            raise InvalidSpecError(f"{out}: is a file; --out names a directory")
        found.save(out)
    if report is not None:
        with writing(report):
            write_report(found, report)
    for name, path in pictures:
        with writing(path):
            drawn(found, name).save(path)


def as_data(found: Result) -> dict[str, Any]:
    """A result for programs: what was asked for, figures, warnings, and the fingerprint of all tables."""
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
    """A result for people: warnings, the figures that one looks at first, and each ClusterQueue."""
    for text in found.warnings:
        say(f"warning: {text}", style="yellow")
    rows = [(name, figure_text(name, value)) for name, value in found.kpis.rows() if name.split(" ")[0] in shown("run")]
    table("", ("figure", "value"), rows)
    say("")
    queues = found.queues
    used = [name for name in queues.names if name.startswith("utilisation ")]
    lines = [[_text(name, row[name]) for name in (*_QUEUE, *used)] for row in queues.rows()]
    table("", (*_QUEUE, *used), lines)
    admissions, cycles = found.stats["admissions"], found.stats["cycles"]
    ran = f"{admissions:,} {plural(admissions, 'admission')} in {cycles:,} {plural(cycles, 'cycle')}"
    say(f"{span_text(found.seconds)} of virtual time: {ran}", style="bold")


def _text(name: str, value: Any) -> str:
    return value or "" if isinstance(value, str) or value is None else figure_text(name, value)
