"""Replay recorded scenarios, and print the results of each scenario as one JSON line: `python tools/replay.py FILE`.

It needs an installed kueuepy. A scenario consists of objects, of steps and, if it was recorded, of Kueue's decisions at
each step. Each scenario is answered: if one is not valid, its results are empty, and the reason is written to standard
error.

With `--record`, it prints the recorded scenarios with other decisions than kueuepy's instead, shrunk to few steps.
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import msgspec

from kueuepy.cli.streams import guarded
from kueuepy.errors import KueueError
from kueuepy.errors.arguments import checked
from scenario.fleet import FleetReplay
from scenario.reader import decoded, lines
from scenario.runner import Replay
from scenario.shrinking import first_difference, shrunk


@checked
def replay(scenario: dict[str, Any]) -> list[dict[str, Any]]:
    """Replay a scenario.

    Args:
        scenario: The scenario: `objects`, `steps` and an optional `config`.

    Returns:
        The results, one for each step.

    Raises:
        ScenarioError: The scenario is not valid.
    """
    run = FleetReplay(scenario) if "clusters" in scenario else Replay(scenario)
    return [run.step(step) for step in scenario["steps"]]


def as_version(scenario: dict[str, Any], version: str) -> dict[str, Any]:
    """Return a copy of a scenario for another release of Kueue, such as `v0.18`."""
    return {**scenario, "config": {**(scenario.get("config") or {}), "version": version}}


def _answer(line: bytes, where: str, version: str | None) -> tuple[dict[str, Any], bool]:
    """Return the answer to a line of a file, and whether its scenario is valid."""
    answer: dict[str, Any] = {"name": None, "results": []}
    try:
        scenario = decoded(line)
        answer["name"] = scenario.get("name")
        answer["results"] = replay(scenario if version is None else as_version(scenario, version))
    except KueueError as error:
        name = "" if answer["name"] is None else f'scenario "{answer["name"]}": '
        sys.stderr.write(f"error: {where}: {name}{error}\n")
        return answer, False
    return answer, True


def _replay(files: list[str], version: str | None) -> int:
    encode = msgspec.json.Encoder(enc_hook=str).encode
    valid = True
    for path in files:
        try:
            for where, line in lines(path):
                answer, is_valid = _answer(line, where, version)
                sys.stdout.buffer.write(encode(answer) + b"\n")
                valid = valid and is_valid
        except KueueError as error:  # noqa: PERF203 - the remaining files are answered
            sys.stderr.write(f"error: {error}\n")
            valid = False
    sys.stdout.buffer.flush()
    return 0 if valid else 1


def _recorded(command: str, scenarios: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the scenarios with the results that a recorder writes: `COMMAND IN OUT`; it may leave out some."""
    with tempfile.TemporaryDirectory() as folder:
        given, made = Path(folder, "in.jsonl"), Path(folder, "out.jsonl")
        given.write_bytes(b"".join(msgspec.json.encode(one) + b"\n" for one in scenarios))
        subprocess.run([*shlex.split(command), str(given), str(made)], check=True)  # noqa: S603 - the user's command
        return [decoded(line) for _, line in lines(str(made))]


def _compare(files: list[str], command: str) -> int:
    """Record the scenarios without results, and print the first difference of each, and the shrunk scenario."""
    given = [decoded(line) for path in files for _, line in lines(path)]
    scenarios = [one for one in given if one.get("results")]
    if bare := [one for one in given if not one.get("results")]:
        scenarios += _recorded(command, bare)
    differ = 0
    for scenario in scenarios:
        if (found := first_difference(scenario)) is None:
            continue
        differ += 1
        sys.stderr.write(f"{scenario['name']}: step {found[0]}: {found[1]}\n")
        small = shrunk(scenario, lambda tried: _recorded(command, tried))
        sys.stdout.buffer.write(msgspec.json.encode(small) + b"\n")
    sys.stderr.write(f"{len(given)} scenarios, {len(scenarios)} recorded, {differ} differ\n")
    return 1 if differ else 0


def main(argv: list[str] | None = None) -> int:
    """Run the command and return its exit code: 0 for success, 1 if a file or a scenario is not valid."""
    parser = argparse.ArgumentParser(
        prog="python tools/replay.py",
        description="Replay recorded scenarios and print the results of each scenario as one JSON line.",
        epilog="example: python tools/replay.py tests/scenarios/data/single.jsonl.gz",
    )
    parser.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help="file of scenarios in JSON Lines format, optionally gzipped; - is standard input",
    )
    parser.add_argument(
        "--kueue-version",
        metavar="VERSION",
        help="release of Kueue to emulate, e.g. v0.18 (default: the release named in each scenario)",
    )
    parser.add_argument(
        "--record",
        metavar="COMMAND",
        help="recorder of Kueue, called as COMMAND IN OUT: record the scenarios without results, and print those on "
        "which kueuepy differs, shrunk",
    )
    args = parser.parse_args(argv)
    if args.record:
        return guarded(lambda: _compare(args.files, args.record))
    return guarded(lambda: _replay(args.files, args.kueue_version))


if __name__ == "__main__":
    sys.exit(main())
