"""Fuzz kueuepy with random calls and documents: `python -m kueuepy.testing.fuzz`."""

from __future__ import annotations

import argparse
import sys
import time
from typing import TYPE_CHECKING

from kueuepy.testing.fuzz import documents, steps

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_OFTEN = 10  # seconds between two progress reports


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command, and return its exit status: 1 if a failure was found and its script was printed."""
    parser = argparse.ArgumentParser(prog="python -m kueuepy.testing.fuzz", description=__doc__)
    parser.add_argument("--steps", type=int, default=0, help="number of steps on Schedulers and Journals (0)")
    parser.add_argument("--documents", type=int, default=0, help="number of malformed manifests (0)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the random number generator (1)")
    parser.add_argument("--first", type=int, default=0, help="number of the first step (0)")
    options = parser.parse_args(arguments)
    if options.steps <= 0 and options.documents <= 0:
        parser.error("one of --steps and --documents must be greater than 0")
    found = steps.run(options.steps, options.seed, first=options.first, tell=_progress("steps"))
    script = found.script if found else documents.run(options.documents, options.seed, tell=_progress("documents"))
    if script:
        sys.stdout.write(script)
        return 1
    sys.stdout.write(f"{options.steps} steps and {options.documents} documents of seed {options.seed}: all holds\n")
    return 0


def _progress(what: str) -> Callable[[int], None]:
    """Return a function that reports progress on standard error every 10 seconds."""
    told = began = time.monotonic()

    def tell(done: int) -> None:
        nonlocal told
        now = time.monotonic()
        if now - told >= _OFTEN:
            told = now
            sys.stderr.write(f"{done} {what} after {now - began:.0f} s\n")

    return tell


if __name__ == "__main__":
    raise SystemExit(main())
