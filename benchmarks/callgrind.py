"""Counts the instructions of a piece of the core, and compares them with what was committed.

A benchmark is a script with a body that runs under valgrind: `measure` starts the script again there, and counts only
inside the functions that it is told; a call of a marking function begins a new part of the count. Instructions, unlike
times, are the same on a busy machine; they depend on the compiler, on the C library and, for the yardstick, on Python.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

FIGURES = Path(__file__).with_name("figures.json")
MOST = 1.03
"""What a figure may grow by before the check fails."""

CYCLE = "kueue::Engine::RunCycle(*)"
MARK = "kueue::Fingerprint(*)"

_INSIDE = "KUEUEPY_BENCH_RESULT"


def parts(script: str, functions: list[str], marks: list[str]) -> tuple[list[int], dict[str, int]]:
    """The instructions of each part of a run of the script's body, and what the body answered."""
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder, "result.json")
        command = [
            "valgrind",
            "--tool=callgrind",
            f"--callgrind-out-file={folder}/out",
            *(f"--toggle-collect={name}" for name in functions),
            *(f"--dump-before={name}" for name in marks),
            sys.executable,
            script,
        ]
        environment = os.environ | {"PYTHONHASHSEED": "0", _INSIDE: str(result)}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)  # noqa: S603
        if done.returncode:
            sys.exit(done.stderr)
        dumps = sorted(Path(folder).glob("out*"), key=lambda path: int(path.suffix[1:] or sys.maxsize))
        counts = [re.search(r"^(?:summary|totals): (\d+)", dump.read_text(), re.MULTILINE) for dump in dumps]
        return [int(count[1]) for count in counts if count], json.loads(result.read_text())


def measure(
    script: str,
    body: Callable[[], dict[str, int]],
    figures: Callable[[list[int], dict[str, int]], dict[str, float]],
    *,
    functions: list[str],
    marks: list[str] | None = None,
) -> None:
    """Runs the benchmark `script`.

    Args:
        script: The file of the benchmark.
        body: What is measured; it answers with what it did, which must stay as it was committed.
        figures: From the instructions of each part and the body's answer, what is to be reported. What is named
            instructions must not grow.
        functions: The functions in which instructions are counted; everywhere where there are none.
        marks: The functions whose calls separate the parts.
    """
    if _INSIDE in os.environ:
        Path(os.environ[_INSIDE]).write_text(json.dumps(body()), encoding="utf-8")
        return
    parser = argparse.ArgumentParser(description="Counts instructions under valgrind and compares with figures.json.")
    parser.add_argument("--record", action="store_true", help="write what is measured into figures.json")
    record = parser.parse_args().record
    counts, did = parts(script, functions, marks or [])
    found = {"did": did, "figures": figures(counts, did)}
    name = Path(script).stem
    committed = json.loads(FIGURES.read_text(encoding="utf-8")) if FIGURES.exists() else {}
    for what, figure in found["figures"].items():
        before = committed.get(name, {}).get("figures", {}).get(what)
        change = f"{100 * (figure / before - 1):+.1f} %" if before else "new"
        digits = 0 if figure == int(figure) else 4
        print(f"{name}: {what}: {figure:,.{digits}f} ({change})")
    if record:
        FIGURES.write_text(json.dumps(committed | {name: found}, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    elif problems := list(_problems(found, committed.get(name))):
        sys.exit("\n".join(f"{name}: {problem}" for problem in problems))


def _problems(found, committed):
    if committed is None:
        yield "has no committed figure; run it with --record"
        return
    if found["did"] != committed["did"]:
        yield f"did {found['did']} instead of {committed['did']}: what it measures has changed"
    for what, figure in found["figures"].items():
        most = committed["figures"].get(what, 0) * MOST
        if what.startswith("instructions") and figure > most:
            yield f"{what} is {figure:.6g}, above {most:.6g}, which is the committed figure and 3 % more"
