"""`kueuepy replay` and `kueuepy perf`: the two commands that work without the extra `cli`."""

from __future__ import annotations

import argparse
import sys
import time
from typing import Any

import msgspec

from kueuepy.errors import InvalidSpecError, KueueError
from kueuepy.look.numbers import time_left
from kueuepy.profiles import DEVELOPMENT
from kueuepy.profiles.version import describe

PLAIN_COMMANDS = ("replay", "perf")
"""Commands that work without the extra `cli`."""


def _replay(args: argparse.Namespace) -> int:
    from kueuepy.replay import as_version, read_scenarios, replay  # noqa: PLC0415 - so that `--help` is quick

    encode = msgspec.json.Encoder(enc_hook=str).encode
    out = sys.stdout.buffer
    for path in args.files:
        for scenario in read_scenarios(path):
            try:
                results = replay(scenario if args.kueue_version is None else as_version(scenario, args.kueue_version))
            except KueueError as error:
                raise InvalidSpecError(f'{path}: scenario "{scenario["name"]}": {error}') from None
            out.write(encode({"name": scenario["name"], "results": results}) + b"\n")
    out.flush()
    return 0


def _perf(args: argparse.Namespace) -> int:
    from kueuepy.simulation.perf import perf  # noqa: PLC0415 - so that `--help` is quick

    begin = time.monotonic()

    def show(finished: int, total: int) -> None:
        left = time_left(time.monotonic() - begin, finished, total)
        text = f"{finished:,} of {total:,} workloads finished{f', about {left} left' if left else ''}"
        sys.stderr.write(f"\r{text}\x1b[K")
        sys.stderr.flush()

    watched = sys.stderr.isatty()
    result = perf(
        args.profile,
        fair_sharing=args.fair_sharing,
        version=args.kueue_version or DEVELOPMENT,
        progress=show if watched else None,
        threads=args.threads,
    )
    if watched:
        sys.stderr.write("\r\x1b[K")
    if args.json:
        sys.stdout.write(msgspec.json.encode(result).decode() + "\n")
        return 0
    for name, value in result.items():
        sys.stdout.write(f"{name:>20}  {_text(value)}\n")
    return 0


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{kind} {wait:,}" for kind, wait in value.items())
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def parser() -> argparse.ArgumentParser:
    """Return the parser of the commands that work without the extra `cli`."""
    top = argparse.ArgumentParser(
        prog="kueuepy",
        description="Kueue's exact admission decisions, without a cluster.",
        formatter_class=argparse.RawDescriptionHelpFormatter,  # the version stays on one line
        epilog='The other commands need the extra cli: pip install "kueuepy[cli]"',
    )
    top.add_argument("--version", action="version", version=describe())
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    replays = commands.add_parser(
        "replay",
        help="replay recorded scenarios and print the results of each scenario as one JSON line",
        epilog="example: kueuepy replay tests/scenarios/data/single.jsonl.gz",
    )
    replays.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help="file of scenarios in JSON Lines format, optionally gzipped; - is standard input",
    )
    _add_version(replays, "default: the release named in each scenario")
    replays.set_defaults(run=_replay)
    perfs = commands.add_parser(
        "perf",
        help="simulate a load profile of Kueue's performance test in virtual time",
        epilog="example: kueuepy perf benchmarks/profiles/small.yaml",
    )
    perfs.add_argument(
        "profile",
        metavar="PROFILE",
        help="YAML file that lists cohorts, queues and workloads in the format of Kueue's performance test",
    )
    perfs.add_argument("--json", action="store_true", help="print the results as one JSON object")
    perfs.add_argument(
        "--fair-sharing", action="store_true", help="enable fair sharing with Kueue's two default preemption strategies"
    )
    perfs.add_argument(
        "--threads",
        type=int,
        metavar="N",
        help="number of threads (default: all cores if the profile has at least 64 queues, otherwise 1)",
    )
    _add_version(perfs, f"default: {DEVELOPMENT}")
    perfs.set_defaults(run=_perf)
    return top


def _add_version(command: argparse.ArgumentParser, otherwise: str) -> None:
    text = f"release of Kueue to emulate, e.g. v0.18 ({otherwise})"
    command.add_argument("--kueue-version", metavar="VERSION", help=text)


def main(argv: list[str] | None = None) -> int:
    """Run a command and return its exit code: 0 for success, 1 for invalid input, 2 for an invalid command line."""
    args = parser().parse_args(argv)
    try:
        result: int = args.run(args)
    except KueueError as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    return result
