"""Simulate a load profile of Kueue's scheduler performance test in virtual time: `python tools/perf.py PROFILE`.

It needs an installed kueuepy. It prints the numbers of cycles, admissions and evictions, the virtual and the wall-clock
time, and the mean time to the first admission of each class of workloads.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from kueuepy._core import Engine, VirtualRun
from kueuepy.engine.threads import for_cycles
from kueuepy.errors import KueueError
from kueuepy.look.numbers import time_left
from kueuepy.objects import Configuration, FairSharingConfig
from kueuepy.profiles import DEVELOPMENT, release_of
from load_profile import Load, Profile, read_profile

if TYPE_CHECKING:
    from collections.abc import Callable

MILLISECOND = 1_000_000
AS_KUEUES_TEST: dict[str, Any] = {
    **dict.fromkeys(("every", "cost", "restore", "grace", "cycle", "per_head", "warmup"), 0),
    **dict.fromkeys(("decisions", "runs", "usage", "cycles", "metrics"), False),
    **dict.fromkeys(("checks", "startups", "failures", "changes"), ()),
    "on_eviction": "restart",
    "until": 2**63 - 1,
    "on_loop": "hold",
    "controllers": False,
}


class PerformanceTest:
    """The load of a profile on an engine."""

    def __init__(
        self, profile: Profile, *, fair_sharing: bool = False, version: str = DEVELOPMENT, threads: int | None = 1
    ) -> None:
        """Create the objects and workloads of a profile.

        Args:
            profile: The profile.
            fair_sharing: Whether to enable fair sharing.
            version: The version of Kueue.
            threads: The number of threads; `None` for all available cores.
        """
        config = FairSharingConfig() if fair_sharing else None
        self.engine = Engine(Configuration(fair_sharing=config, version=release_of(version).name))
        self.load = Load(profile)
        for obj in self.load.objects:
            self.engine.apply(obj)
        self.threads = threads

    def start(self) -> VirtualRun:
        """Return a simulation of the profile's load that has not been started."""
        generated = self.load.columns()
        order = np.argsort(generated["submit"], kind="stable").astype(np.int32)
        columns: dict[str, Any] = {name: values[order] for name, values in generated.items()}
        columns |= {"row": order, "prefix": "w", "digits": 0, "uid_digits": 9}
        options = {**AS_KUEUES_TEST, "start": self.load.start, "threads": for_cycles(self.threads)}
        return VirtualRun(self.engine, self.load.prototypes, columns, options)

    def first_waits(self, run: VirtualRun) -> dict[str, int]:
        """Return the mean time from arrival to first admission by class, in whole milliseconds."""
        first, generated = np.asarray(run.jobs()["first_start"]), self.load.columns()
        names = np.array(self.load.classes)[generated["shape"]]
        waits = np.where(first < 0, -1, first + self.load.start - generated["submit"])
        by_class = {name: waits[(names == name) & (waits >= 0)] for name in dict.fromkeys(self.load.classes)}
        return {name: int(found.sum()) // MILLISECOND // len(found) for name, found in by_class.items() if len(found)}


def perf(
    path: str,
    *,
    fair_sharing: bool = False,
    version: str = DEVELOPMENT,
    progress: Callable[[int, int], None] | None = None,
    threads: int | None = None,
) -> dict[str, Any]:
    """Simulate a profile in virtual time.

    Args:
        path: The profile.
        fair_sharing: Whether to enable fair sharing; `False` by default.
        version: The version of Kueue.
        progress: A function that is called periodically with the number of finished workloads and the number of all
            workloads.
        threads: The number of threads; all available cores by default. Cycles with fewer than 64 heads use one. Apart
            from `wall_s` and `peak_rss_mb`, the results do not depend on the number of threads.

    Returns:
        The numbers of `workloads`, `cycles`, `admissions`, `evictions` and `finished` workloads; `virtual_ms`, the
        virtual time in milliseconds; `wall_s`, the wall-clock time of the simulation in seconds; `mean_first_wait_ms`,
        the mean time from arrival to first admission by class, in milliseconds; and `peak_rss_mb`, the largest memory
        usage in MiB.

    Raises:
        InvalidSpecError: The profile cannot be read, or the version is unknown.
    """
    test = PerformanceTest(read_profile(path), fair_sharing=fair_sharing, version=version, threads=threads)
    run = test.start()
    begin = time.perf_counter()
    while run.advance():
        if progress is not None:
            progress(run.stats.finished, test.load.size)
    wall = time.perf_counter() - begin
    totals = run.stats._asdict()
    end = totals.pop("end")
    return {
        **totals,
        "virtual_ms": end // MILLISECOND,
        "wall_s": wall,
        "mean_first_wait_ms": test.first_waits(run),
        "peak_rss_mb": _peak_rss_mb(),
    }


def _peak_rss_mb() -> float:
    """Return the largest resident set size of this process so far, in MiB.

    On Linux, `ru_maxrss` can include memory of the parent process, so the function reads the high-water mark instead.
    """
    status = Path("/proc/self/status")
    if status.exists():
        kib = next(line.split()[1] for line in status.read_text().splitlines() if line.startswith("VmHWM:"))
        return int(kib) / 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024 * 1024 if sys.platform == "darwin" else 1024)


def _show(begin: float, finished: int, total: int) -> None:
    """Write the progress over the previous one on standard error."""
    left = time_left(time.monotonic() - begin, finished, total)
    text = f"{finished:,} of {total:,} workloads finished{f', about {left} left' if left else ''}"
    sys.stderr.write(f"\r{text}\x1b[K")
    sys.stderr.flush()


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{kind} {wait:,}" for kind, wait in value.items())
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python tools/perf.py",
        description="Simulate a load profile of Kueue's performance test in virtual time.",
        epilog="example: python tools/perf.py benchmarks/profiles/small.yaml",
    )
    parser.add_argument(
        "profile",
        metavar="PROFILE",
        help="YAML file that lists cohorts, queues and workloads in the format of Kueue's performance test",
    )
    parser.add_argument("--json", action="store_true", help="print the results as one JSON object")
    parser.add_argument(
        "--fair-sharing", action="store_true", help="enable fair sharing with Kueue's two default preemption strategies"
    )
    parser.add_argument(
        "--threads",
        type=int,
        metavar="N",
        help="number of threads (default: all cores; cycles with fewer than 64 heads use one)",
    )
    parser.add_argument(
        "--kueue-version",
        metavar="VERSION",
        default=DEVELOPMENT,
        help=f"release of Kueue to emulate, e.g. v0.18 (default: {DEVELOPMENT})",
    )
    return parser


def main(argv: list[str] | None = None) -> int:
    """Run the command and return its exit code: 0 for success, 1 for an invalid profile."""
    args = _parser().parse_args(argv)
    begin, watched = time.monotonic(), sys.stderr.isatty()
    try:
        result = perf(
            args.profile,
            fair_sharing=args.fair_sharing,
            version=args.kueue_version,
            progress=(lambda finished, total: _show(begin, finished, total)) if watched else None,
            threads=args.threads,
        )
    except KueueError as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    if watched:
        sys.stderr.write("\r\x1b[K")
    if args.json:
        sys.stdout.write(msgspec.json.encode(result).decode() + "\n")
        return 0
    for name, value in result.items():
        sys.stdout.write(f"{name:>20}  {_text(value)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
