"""Arguments and options that several commands share, and functions that read their files."""

import sys
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from kueuepy.cli.output import announce, progress, say, say_notes
from kueuepy.cluster import Cluster
from kueuepy.cluster.unmodelled import not_modelled
from kueuepy.errors import InvalidSpecError, NotFoundError
from kueuepy.errors.words import counted
from kueuepy.manifest import Manifest, load
from kueuepy.manifest.text.sources import CLUSTER, is_live, live_parts, opened
from kueuepy.objects import SECOND
from kueuepy.simulation.spans import span

if TYPE_CHECKING:
    from kueuepy.manifest.text.sources import One

Objects = Annotated[
    list[str],
    typer.Argument(metavar="FILE", help="YAML or JSON file, directory of such files, - (stdin), or cluster:CONTEXT."),
]
Files = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE",
        help="YAML, JSON or CSV (jobs) file, directory, - (stdin), saved state, recording, or cluster:CONTEXT.",
    ),
]
WorkloadName = Annotated[
    str,
    typer.Argument(metavar="WORKLOAD", help="Name of a workload or of its job: NAME, NAMESPACE/NAME or QUEUE/NAME."),
]
Namespace = Annotated[
    str,
    typer.Option(
        "--namespace", "-n", metavar="NAME", help="Namespace for objects and jobs that do not specify a namespace."
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
Lenient = Annotated[
    bool,
    typer.Option(
        "--lenient", help="Correct input that an API server would reject, where possible, and report the corrections."
    ),
]
KueueVersion = Annotated[
    str | None,
    typer.Option(
        "--kueue-version",
        metavar="VERSION",
        help="Kueue release to emulate, v0.15 or later.  [default: v0.20-devel]",
    ),
]
Threads = Annotated[
    int | None,
    typer.Option("--threads", min=1, metavar="N", help="Number of threads of a simulation; by default, one per core."),
]
Latency = Annotated[
    str,
    typer.Option(
        "--latency",
        metavar="DURATION",
        help="Maximum delay between a decision of Kueue and the API write that records it.",
    ),
]
AtLeast = Annotated[
    float | None,
    typer.Option(
        "--at-least",
        metavar="FRACTION",
        min=0,
        max=1,
        help="Exit with code 3 if the fraction of matching decisions is below this value.",
    ),
]
Users = Annotated[
    str,
    typer.Option(
        "--users", metavar="LABEL", help="Workload label whose value is the name of the user (default: no label)."
    ),
]
Futures = Annotated[
    int,
    typer.Option(
        "-N",
        "--futures",
        min=1,
        metavar="N",
        help="Number of Monte Carlo simulations, each with different random draws.",
    ),
]
Horizon = Annotated[
    str, typer.Option("--horizon", metavar="TIME", help="Virtual time that each Monte Carlo simulation covers.")
]
EditFile = Annotated[
    str | None,
    typer.Option(
        "--edit",
        metavar="FILE",
        help="YAML or JSON file of partial objects to merge into the existing objects, as kubectl apply does.",
    ),
]
HISTORY = typer.Option(
    "--history", metavar="FILE", help="Recording or dump of a cluster from which to estimate runtimes and arrivals."
)
StopAfter = Annotated[
    str | None,
    typer.Option("--stop-after", metavar="TIME", help="Stop after this time; by default, run until interrupted."),
]
AsIs = Annotated[
    bool, typer.Option("--as-is", help="Use the state in the files as it is, without running scheduling cycles first.")
]
ExitCode = Annotated[bool, typer.Option("--exit-code", help="Exit with code 3 if the command finds any difference.")]
Rows = Annotated[int, typer.Option("--rows", min=1, metavar="N", help="Maximum number of rows to print per table.")]
Until = Annotated[
    str | None,
    typer.Option(
        "--until",
        metavar="TIME",
        help="Stop the simulation at this time; by default, simulate until no events are left.",
    ),
]
Warmup = Annotated[
    str,
    typer.Option(
        "--warmup",
        metavar="TIME",
        help="Exclude jobs submitted before this time from the metrics, but still simulate these jobs.",
    ),
]


def context_of(cluster: str) -> str:
    """Return the kubeconfig context of `cluster:CONTEXT`; an empty string for the current context.

    Raises:
        typer.BadParameter: The argument CLUSTER has another form.
    """
    if not cluster.startswith(CLUSTER):
        raise typer.BadParameter(f"{cluster!r}; it must be cluster: or cluster:CONTEXT", param_hint="'CLUSTER'")
    return cluster.removeprefix(CLUSTER)


def seconds_of(stop_after: str | None) -> float | None:
    """Return the value of --stop-after in seconds; `None` if it is not given.

    Raises:
        InvalidSpecError: The value is not a duration.
    """
    return None if stop_after is None else span("--stop-after", stop_after) / SECOND


def examples(*lines: str) -> str:
    """Format example command lines for the end of a command's help."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


def read(files: list[str], *, lenient: bool, namespace: str = "default", version: str | None = None) -> Manifest:
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
        found = load(source, strict=not (lenient or live), namespace=namespace, version=version)
    say_notes(note for one in live for note in one.notes)
    if files and found.is_empty:
        raise InvalidSpecError(f"{', '.join(files)}: nothing to read; there must be at least one object")
    return found


def read_cluster(files: list[str], *, lenient: bool, version: str | None = None) -> Cluster:
    """Read the configuration of a cluster, on which a command runs jobs from another file.

    The Workloads of a running cluster or of a recording are left out, because they would never end.

    Raises:
        KueueError: A file cannot be read, or is not valid.
    """
    manifest = read(files, lenient=lenient, version=version)
    live = [name for name in files if is_live(name)]
    if live and manifest.workloads:
        left = counted(len(manifest.workloads), "Workload")
        say(f"note: {', '.join(live)}: {left} left out; the command runs the jobs that you give it", stderr=True)
        manifest = msgspec.structs.replace(manifest, workloads=())
    cluster = Cluster.from_manifest(manifest, names=not (lenient or live))
    announce(not_modelled(cluster))
    return cluster


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
