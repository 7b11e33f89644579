"""`kueuepy verify`: measure how far the decisions of kueuepy agree with a recorded cluster."""

from pathlib import Path
from typing import Annotated

import typer

from kueuepy.cli.options import Json, examples
from kueuepy.cli.output import ANSWER_IS_NO, print_json, say
from kueuepy.live.verify import verify as verify_recording

EXAMPLES = examples("kueuepy verify tests/live/data/cohort.jsonl.gz", "kueuepy verify history.db --at-least 0.99")


def verify(
    recording: Annotated[
        Path, typer.Argument(metavar="FILE", help="Recording of kueuepy record, or watch events as JSON lines.")
    ],
    *,
    latency: Annotated[
        str,
        typer.Option(
            "--latency",
            metavar="DURATION",
            help="Maximum time between a decision of Kueue and the API write that records it.",
        ),
    ] = "1.2s",
    at_least: Annotated[
        float | None,
        typer.Option(
            "--at-least", metavar="FRACTION", min=0, max=1, help="Exit with 3 if the agreement is below this fraction."
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Compare each decision of a recorded cluster with the decision of kueuepy in the same state."""
    found = verify_recording(recording, latency=latency)
    if json:
        print_json(
            {
                "agreement": found.share,
                "decisions": found.decisions.rows(),
                "differences": found.differences,
                "notes": found.notes,
            }
        )
    else:
        for note in found.notes:
            say(f"note: {note}", stderr=True)
        say(str(found))
    if at_least is not None and found.share < at_least:
        raise typer.Exit(ANSWER_IS_NO)
