"""`kueuepy report`: write the results of simulations as one HTML file."""

from pathlib import Path
from typing import Annotated

import typer

from kueuepy.cli.options import examples
from kueuepy.cli.output import progress, say, writing
from kueuepy.simulation.comparison import Comparison
from kueuepy.simulation.report import report as write_report
from kueuepy.simulation.result import load_result

EXAMPLES = examples(
    "kueuepy report results/ -o report.html",
    "kueuepy report today/ tomorrow/ -o difference.html --title 'Reclaim within the cohort?'",
)


def report(
    folders: Annotated[
        list[str],
        typer.Argument(metavar="DIR", help="Directories written by simulate --out; two or more are compared."),
    ],
    *,
    output: Annotated[str, typer.Option("--output", "-o", metavar="FILE", help="HTML file to write.")],
    title: Annotated[str, typer.Option("--title", metavar="TEXT", help="Title of the report.")] = "",
) -> None:
    """Write a report of one simulation, or a comparison of several, as one self-contained HTML file.

    The report has metrics with confidence intervals, charts, evictions by queue, and the jobs still pending with the
    reason. A comparison also lists the decisions that differ between the first and the last simulation, and the jobs
    that wait longer in the last.
    """
    with progress("reading the results"):
        found = {folder: load_result(folder) for folder in folders}
    named = {Path(folder).name or folder: result for folder, result in found.items()}
    results = named if len(named) == len(found) else found
    with progress("writing the report"), writing(output):
        write_report(next(iter(results.values())) if len(results) == 1 else Comparison(results), output, title)
    say(f"written to {output}")
