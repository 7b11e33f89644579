"""`kueuepy report`: results of simulations as one HTML file."""

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
        list[str], typer.Argument(metavar="DIR", help="What simulate --out has written; several are set side by side.")
    ],
    *,
    output: Annotated[str, typer.Option("--output", "-o", metavar="FILE", help="The HTML file to write.")],
    title: Annotated[str, typer.Option("--title", metavar="TEXT", help="What stands above.")] = "",
) -> None:
    """Write a report of a simulation, or of several side by side, as one HTML file that needs nothing else.

    It has figures with intervals, pictures, who evicted whom, who waits and why; of several also what differs between
    the first and the last, and whom it hurts.
    """
    with progress("reading the results"):
        found = {folder: load_result(folder) for folder in folders}
    named = {Path(folder).name or folder: result for folder, result in found.items()}
    results = named if len(named) == len(found) else found
    with progress("writing the report"), writing(output):
        write_report(next(iter(results.values())) if len(results) == 1 else Comparison(results), output, title)
    say(f"written to {output}")
