"""`kueuepy page`, `serve` and `report`: pages of a cluster and of results, as a file or served and kept up to date."""

import shlex
import sys
import webbrowser
from collections.abc import Callable, Hashable
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta

from kueuepy.cli.describe import start
from kueuepy.cli.options import Count, Port, Start
from kueuepy.cli.output import progress, say
from kueuepy.errors import InvalidSpecError, counted
from kueuepy.files import is_directory, is_file
from kueuepy.look.serving import Server
from kueuepy.manifest.text.reading import is_live
from kueuepy.pages import Page
from kueuepy.pages.data import MOST_EXPLAINED
from kueuepy.platform.history import Recording
from kueuepy.platform.site import FixedFeed, PageSite, RecordingFeed, SchedulerFeed
from kueuepy.platform.site.serving import Feed, is_whole_recording
from kueuepy.scheduler import Scheduler
from kueuepy.simulation.comparison import Comparison
from kueuepy.simulation.fleet_result import load_result
from kueuepy.simulation.report import report as write_report


def page(
    sources: list[str],
    *,
    output: str,
    title: str = "",
    explain: Count = MOST_EXPLAINED,
    as_is: bool = False,
    reading: Start,
) -> None:
    """Write a page that shows a cluster: quota, pending workloads with reasons, running workloads and racks.

    The page is one HTML file, which loads nothing from a network. The page of a recording or of a simulation has a time
    slider. The command sends only GET requests to a cluster.

    Options:
        output (FILE): HTML file to write.
        explain (N): Number of pending workloads to explain in full, beginning with the first of each queue.

    Examples:
        kueuepy page cluster:prod -o page.html
        kueuepy page examples/seeds/002/two-teams.yaml examples/seeds/002/jobs.csv -o page.html
        kueuepy page history.db -o week.html
    """
    with progress(f"reading {', '.join(sources)}"):
        data = _feed(sources, reading, as_is=as_is, title=title, explained=explain).read()
    data.command = _command(sources, reading, as_is=as_is)
    Page(data).save(output)
    size = Path(output).stat().st_size / 1e6 if Path(output).is_file() else 0.0
    say(f"{output}: {counted(len(data.workloads.name), 'workload')}, {size:.1f} MB")


def serve(
    sources: list[str],
    *,
    port: Port = 0,
    every: Annotated[float, Meta(ge=1, le=86400)] = 10,
    browser: bool = True,
    title: str = "",
    as_is: bool = False,
    reading: Start,
) -> None:
    """Serve a page that shows the state of a cluster, and keep the page up to date; see kueuepy page.

    The page is served on 127.0.0.1 only, at an address with a secret token. The source is read again while a browser
    shows the page, at most every 10 seconds. The command writes no files. Press Ctrl-C to stop it.

    Options:
        every (SECONDS): Minimum time between two reads of SOURCE.

    Examples:
        kueuepy serve cluster:prod
        kueuepy serve history.db --port 8000
        kueuepy serve examples/seeds/002/two-teams.yaml examples/seeds/002/jobs.csv --no-browser
    """
    if "-" in sources:
        raise InvalidSpecError("-: standard input cannot be read again; give a file")
    name = ", ".join(sources)
    with progress(f"reading {name}"):
        # A served page requests further explanations when needed.
        site = PageSite(_feed(sources, reading, as_is=as_is, title=title, explained=50), every)
    serve_page(partial(Server, site), port, name, browser=browser)


def serve_page(listen: Callable[[int], Server], port: int, title: str, *, browser: bool) -> None:
    """Serve a page on a port, print its address after `title`, and open it in a browser on request.

    Raises:
        InvalidSpecError: The port is in use.
    """
    try:
        server = listen(port)
    except OSError as error:
        raise InvalidSpecError(f"--port {port}: cannot be listened on: {error.strerror}") from None
    say(f"{title}: {server.url}")
    if browser:
        webbrowser.open(server.url)
    try:
        server.serve()
    except KeyboardInterrupt:
        pass
    finally:
        server.close()


def _is_result(sources: list[str]) -> bool:
    return len(sources) == 1 and is_file(Path(sources[0]) / "result.json")


def _feed(sources: list[str], reading: Start, *, as_is: bool, **about: Any) -> Feed:
    """Return the source of a page with a title and a number of explanations."""
    about["source"] = ", ".join(sources)
    if _is_result(sources):
        data = load_result(sources[0]).page(title=about["title"]).data
        data.source = sources[0]
        return FixedFeed(data)
    if len(sources) == 1 and is_whole_recording(sources[0]):
        return RecordingFeed(Recording(sources[0]), **about)

    def started() -> tuple[Scheduler, tuple[str, ...]]:
        found = start(sources, reading, settle=not as_is)
        return found.scheduler, found.notes

    return SchedulerFeed(started, lambda: _stamp(sources), **about)


def _stamp(sources: list[str]) -> Hashable:
    """Return the times and sizes of all files; `None` if one of the sources is a cluster, which must be read."""
    # Only reading a cluster shows whether it has changed.
    if any(map(is_live, sources)):
        return None
    found = []
    for name in sources:
        inside = sorted(Path(name).rglob("*")) if is_directory(name) else [Path(name)]
        for path in inside:
            if is_file(path):
                facts = path.stat()
                found.append((str(path), facts.st_mtime_ns, facts.st_size))
    return tuple(found)


def _command(sources: list[str], reading: Start, *, as_is: bool) -> str:
    """Return the command that explains a workload of the page."""
    if _is_result(sources) or "-" in sources:
        return ""
    settings = " --as-is" * as_is + " --lenient" * reading.lenient
    settings += f" --kueue-version {reading.kueue_version}" if reading.kueue_version else ""
    settings += f" -n {reading.namespace}" if reading.namespace != "default" else ""
    return f"kueuepy explain {{name}} {shlex.join(sources)}{settings}"


def report(folders: list[str], *, output: str, title: str = "") -> None:
    """Write a report of one simulation, or a comparison of several, as one self-contained HTML file.

    The report begins with the result in words, and ends with all metrics, their confidence intervals and the settings.
    The middle of the report contains charts, evictions, and the pending jobs with their reasons. A comparison shows the
    policies side by side, and lists the queues and jobs that wait longer or less.

    Options:
        folders (DIR): Directory written by kueuepy simulate --out; several directories are compared.
        output (FILE): HTML file to write.
        title (TEXT): Title of the report.

    Examples:
        kueuepy report results/ -o report.html
        kueuepy report today/ tomorrow/ -o difference.html --title 'Reclaim within the cohort?'
    """
    with progress("reading the results"):
        found = {folder: load_result(folder) for folder in folders}
    named = {Path(folder).name or folder: result for folder, result in found.items()}
    results = named if len(named) == len(found) else found
    with progress("writing the report"):
        single = len(results) == 1
        chosen = next(iter(results.values())) if single else Comparison(results)
        write_report(chosen, output, title, shlex.join(["kueuepy", *sys.argv[1:]]))
    say(f"written to {output}")
