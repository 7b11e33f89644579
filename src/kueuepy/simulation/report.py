"""Reports of one or more simulations as self-contained HTML files, which are readable without JavaScript."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import TYPE_CHECKING

from kueuepy.errors.arguments import checked
from kueuepy.files import write_file
from kueuepy.look.escapes import escape
from kueuepy.look.page import document
from kueuepy.simulation.comparison import Comparison
from kueuepy.simulation.pages import compared, single
from kueuepy.simulation.pages.tables import SCRIPT, STYLE

if TYPE_CHECKING:
    import os

    from kueuepy.simulation.result import Result


@checked
def report(
    results: Result | Comparison | Mapping[str, Result],
    path: str | os.PathLike[str],
    title: str = "",
    command: str = "",
) -> None:
    """Write a report of one simulation, or a comparison of several, as one HTML file without external resources.

    The report begins with the result in words and five cards. Charts, tables of ClusterQueues, evictions and pending
    jobs follow, then all metrics with 95 % confidence intervals, the settings, and how to repeat the simulation. The
    report of a comparison shows the policies side by side, and lists the ClusterQueues and jobs whose waits change. All
    charts and tables use the same colour for the same ClusterQueue.

    >>> from kueuepy import Cluster, ClusterQueue, ResourceFlavor, simulate
    >>> cluster = Cluster(ResourceFlavor("f"), ClusterQueue.of("team", {"f": {"cpu": 1}}))
    >>> result = simulate(cluster, [{"queue": "team", "submit": 0, "runtime": "1h", "cpu": 1}])
    >>> report(result, "/dev/null")

    Args:
        results: A result of `simulate`, `compare` or `load_result`, or a mapping from names to several results, which
            are compared.
        path: The file to write.
        title: Title of the report; by default "Simulation report" or "Policy comparison".
        command: The command that repeats the simulation, to be shown in the report. By default, the report shows the
            Python call that repeats the simulation.

    Raises:
        StateError: The file cannot be written.
    """
    results = Comparison(results) if isinstance(results, Mapping) else results
    if isinstance(results, Comparison) and len(results.names) == 1:
        results = next(islice(results.results.values(), 1))
    is_comparison = isinstance(results, Comparison)
    body = compared.body(results, command) if isinstance(results, Comparison) else single.body(results, command)
    head = title or ("Policy comparison" if is_comparison else "Simulation report")
    inside = f"<main>\n<h1>{escape(head)}</h1>\n{body}</main>"
    write_file(path, document(head, inside, extra_style=STYLE, script=SCRIPT))
