"""Count the instructions of a part of the core, and compare them with the committed counts.

A benchmark is a script with a body. `measure` starts the script again under valgrind and counts instructions only
inside the given functions. Each call of a marking function starts a new part of the count. Unlike times, instruction
counts do not depend on the load of the machine. They depend on the compiler, on the C library and, for the reference
sort, on Python.
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
"""Largest accepted ratio of a measured count to the committed one."""

CYCLE = "kueue::Engine::RunCycle(*)"
MARK = "kueue::Fingerprint(*)"

_INSIDE = "KUEUEPY_BENCH_RESULT"


def parts(script: str, functions: list[str], marks: list[str]) -> tuple[list[int], dict[str, int]]:
    """Run the body of the script under valgrind; return the instructions of each part, and the result of the body."""
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
    """Run the benchmark `script`.

    Args:
        script: The file of the benchmark.
        body: The measured function. It returns counts of its work, which must equal the committed ones.
        figures: A function of the instructions of each part and of the result of the body. It returns the results by
            name. Results whose names start with "instructions" must not increase.
        functions: Count only inside these functions; everywhere if empty.
        marks: Functions whose calls separate the parts.
    """
    if _INSIDE in os.environ:
        Path(os.environ[_INSIDE]).write_text(json.dumps(body()), encoding="utf-8")
        return
    parser = argparse.ArgumentParser(description="Counts instructions under valgrind and compares with figures.json.")
    parser.add_argument("--record", action="store_true", help="write the results into figures.json")
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
