"""`kueuepy verify`: measure how far the decisions of kueuepy agree with a recorded cluster."""

from pathlib import Path
from typing import Annotated, Any

import typer

from kueuepy.cli.options import AtLeast, Json, Latency, examples
from kueuepy.cli.output import ANSWER_IS_NO, counting, print_json, say, say_notes
from kueuepy.platform.live.agreement import Agreement
from kueuepy.platform.live.closed import verify_closed
from kueuepy.platform.live.comparison import ClosedAgreement
from kueuepy.platform.live.verify import verify as verify_recording

EXAMPLES = examples(
    "kueuepy verify tests/live/data/cohort.jsonl.gz",
    "kueuepy verify tests/live/data/cohort.jsonl.gz --closed --explained 1",
    "kueuepy verify history.db --at-least 0.99",
)


def verify(
    recording: Annotated[
        Path, typer.Argument(metavar="FILE", help="Recording written by kueuepy record, or watch events as JSON Lines.")
    ],
    *,
    latency: Latency = "1.2s",
    at_least: AtLeast = None,
    closed: Annotated[
        bool,
        typer.Option(
            "--closed",
            help="Simulate from the recorded inputs only, and compare the results with the recorded decisions.",
        ),
    ] = False,
    explained: Annotated[
        int,
        typer.Option("--explained", metavar="N", min=0, help="With --closed, the number of differences to explain."),
    ] = 3,
    json: Json = False,
) -> None:
    """Compare each decision of a recorded cluster with the decision of kueuepy in the same state.

    With --closed, kueuepy is not set to the recorded state after a difference, so one difference can cause many others.
    The result shows how well a simulation predicts the recorded period.
    """
    if closed:
        with counting("recorded changes applied") as show:
            outcomes = verify_closed(recording, tolerance=latency, explained=explained, progress=show)
        _tell(outcomes, _closed_data(outcomes), at_least, json=json)
        return
    with counting("recorded changes applied") as show:
        found = verify_recording(recording, latency=latency, progress=show)
    _tell(found, {"decisions": found.decisions.rows()}, at_least, json=json)


def _closed_data(found: ClosedAgreement) -> dict[str, Any]:
    return {
        "order": found.order,
        "latency_seconds": found.latency,
        "late_seconds": {f"p{percent:g}": late for percent, late in found.timing().items()},
        "preemptions": found.preemptions,
        "admissions": found.admissions.rows(),
    }


def _tell(found: Agreement | ClosedAgreement, data: dict[str, Any], at_least: float | None, *, json: bool) -> None:
    if json:
        print_json({"agreement": found.share, **data, "differences": found.differences, "notes": found.notes})
    else:
        say_notes(found.notes)
        say(str(found))
    if at_least is not None and found.share < at_least:
        raise typer.Exit(ANSWER_IS_NO)
