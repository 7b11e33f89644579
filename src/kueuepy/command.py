"""`python -m kueuepy replay` and `perf`: the two commands that need nothing but a plain install."""

from __future__ import annotations

import argparse
import sys

import msgspec

from kueuepy.errors import KueueError


def _replay(args: argparse.Namespace) -> int:
    from kueuepy.replay import read_scenarios, replay  # noqa: PLC0415 - so that `--help` is quick

    encode = msgspec.json.Encoder(enc_hook=str).encode
    out = sys.stdout.buffer
    for path in args.files:
        for scenario in read_scenarios(path):
            out.write(encode({"name": scenario["name"], "results": replay(scenario)}) + b"\n")
    out.flush()
    return 0


def parser() -> argparse.ArgumentParser:
    """The parser of `python -m kueuepy`."""
    top = argparse.ArgumentParser(prog="python -m kueuepy", description="Kueue's admission decisions, without a cluster.")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    replays = commands.add_parser(
        "replay",
        help="replay recorded scenarios and print what happened at each step",
        epilog="example: python -m kueuepy replay single.jsonl.gz",
    )
    replays.add_argument("files", nargs="+", metavar="FILE", help="scenarios, JSON lines, also gzip; - is standard input")
    replays.set_defaults(run=_replay)
    return top


def main(argv: list[str] | None = None) -> int:
    """Runs a command; 0 where it succeeded, 1 where its input is wrong, 2 for a wrong command line."""
    args = parser().parse_args(argv)
    try:
        result: int = args.run(args)
    except BrokenPipeError:
        return 0
    except KueueError as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    return result
