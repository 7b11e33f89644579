"""`kueuepy report`: write the results of simulations as one HTML file."""

import shlex
import sys
from pathlib import Path

from kueuepy.cli.output import progress, say
from kueuepy.simulation.comparison import Comparison
from kueuepy.simulation.fleet_result import load_result
from kueuepy.simulation.report import report as write_report


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
