"""Random calls, documents and simulations, which are checked after each: `python tests/fuzz --steps 1000000 --seed 1`.

Steps are calls on Schedulers and Journals, documents are malformed manifests, and runs are simulations. The seed and
the number of a step, document or run determine its actions. A failure prints how to repeat it.
"""

from __future__ import annotations

import argparse
import faulthandler
import sys
import time
import traceback
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from fuzz import documents, steps
from fuzz.runs import Fuzzer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_OFTEN = 10  # seconds between two progress reports


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command, and return its exit code: 1 if a failure was found and printed."""
    parser = argparse.ArgumentParser(
        prog="python tests/fuzz", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--steps", type=int, default=0, help="number of steps on Schedulers and Journals (0)")
    parser.add_argument("--documents", type=int, default=0, help="number of malformed manifests (0)")
    parser.add_argument("--runs", type=int, default=0, help="number of simulations (0)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the random number generator (1)")
    parser.add_argument("--first", type=int, default=0, help="number of the first step and of the first run (0)")
    parser.add_argument(
        "--timeout",
        type=float,
        default=steps.LONGEST,
        help=f"longest time for {steps.LENGTH} steps, in seconds ({steps.LONGEST:.0f}); a busy machine needs more",
    )
    parser.add_argument("--no-forks", action="store_true", help="fork no process, as ThreadSanitizer requires")
    parser.add_argument("--no-threads", action="store_true", help="do not use threads")
    options = parser.parse_args(arguments)
    if max(options.steps, options.documents, options.runs) <= 0:
        parser.error("one of --steps, --documents and --runs must be greater than 0")
    found = steps.run(
        options.steps, options.seed, first=options.first, tell=_progress("steps"), longest=options.timeout
    )
    failure = found.script if found else documents.run(options.documents, options.seed, tell=_progress("documents"))
    failure = failure or _runs(options)
    counts = f"{options.steps} steps, {options.documents} documents and {options.runs} runs"
    sys.stdout.write(failure or f"{counts} of seed {options.seed}: all holds\n")
    return 1 if failure else 0


def _runs(options: argparse.Namespace) -> str:
    """Run simulations, and return the command that repeats the first failure; an empty text if there is none."""
    if options.runs <= 0:
        return ""
    faulthandler.enable()
    fuzzer = Fuzzer(options.seed, forks=not options.no_forks, threads=not options.no_threads)
    tell = _progress("runs")
    for number in range(options.first, options.first + options.runs):
        try:
            fuzzer.run(number)
        except Exception:  # noqa: BLE001 - any exception is a failure
            traceback.print_exc()
            return f"python tests/fuzz --seed {options.seed} --first {number} --runs 1\n"
        tell(number - options.first + 1)
    calls = ", ".join(f"{name} {done} and {refused} refused" for name, (done, refused) in fuzzer.counts.items())
    sys.stdout.write(f"{calls}\n")
    return ""


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
