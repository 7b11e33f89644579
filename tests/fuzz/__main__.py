"""Random simulations: `python tests/fuzz --runs 100000 --seed 1`."""

from __future__ import annotations

import argparse
import faulthandler
import sys
import time
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from fuzz.runs import Fuzzer

_OFTEN = 10  # seconds between two lines of output


def main() -> int:
    """Run the simulations; print how to reproduce a finding and return 1, or return 0."""
    parser = argparse.ArgumentParser(prog="python tests/fuzz", description=__doc__)
    parser.add_argument("--runs", type=int, default=1000, help="how many runs (1000)")
    parser.add_argument("--seed", type=int, default=1, help="what all choices follow from (1)")
    parser.add_argument("--first", type=int, default=0, help="the number of the first run (0)")
    parser.add_argument("--no-forks", action="store_true", help="fork no process, as under ThreadSanitizer")
    parser.add_argument("--no-threads", action="store_true", help="begin no thread")
    options = parser.parse_args()
    faulthandler.enable()
    fuzzer = Fuzzer(options.seed, forks=not options.no_forks, threads=not options.no_threads)
    told = began = time.monotonic()
    for number in range(options.first, options.first + options.runs):
        try:
            fuzzer.run(number)
        except Exception:  # noqa: BLE001 - whatever it is, it is what was looked for
            traceback.print_exc()
            sys.stdout.write(f"python tests/fuzz --seed {options.seed} --first {number} --runs 1\n")
            return 1
        now = time.monotonic()
        if now - told >= _OFTEN:
            told = now
            sys.stderr.write(f"{number - options.first + 1} runs after {now - began:.0f} s\n")
    calls = ", ".join(f"{name} {done} and {refused} refused" for name, (done, refused) in fuzzer.counts.items())
    sys.stdout.write(
        f"{options.runs} runs of seed {options.seed} in {time.monotonic() - began:.1f} s: all holds; {calls}\n"
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
