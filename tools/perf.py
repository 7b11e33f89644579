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

from kueuepy._core import Engine, LockstepRun, VirtualRun
from kueuepy.engine.threads import LEAST_HEADS, number_of_threads
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
    "as_performance_test": True,
}


class PerformanceTest:
    """The load of a profile on an engine."""

    def __init__(self, profile: Profile, *, fair_sharing: bool = False, version: str = DEVELOPMENT) -> None:
        """Create the objects and workloads of a profile.

        Args:
            profile: The profile.
            fair_sharing: Whether to enable fair sharing.
            version: The version of Kueue.
        """
        config = FairSharingConfig() if fair_sharing else None
        self.engine = Engine(Configuration(fair_sharing=config, version=release_of(version).name))
        self.load = Load(profile)
        for obj in self.load.objects:
            self.engine.apply(obj)
        self._is_divisible = profile.topology is None  # a topology belongs to all cohorts

    def start(self) -> VirtualRun:
        """Return a simulation of the profile's load that has not been started."""
        return self._simulation(self.load.cohorts[0], self.load.cohorts[-1], defers_arrivals=False)

    def divided(self, threads: int | None) -> LockstepRun:
        """Return a simulation on several threads that has not been started.

        The cohorts are divided into as many groups as there are threads. Each group is a simulation of its own, and all
        of them are advanced together, cycle by cycle.

        Args:
            threads: The number of threads; `None` for all available cores.
        """
        number = number_of_threads(threads)
        groups = self._groups(number)
        return LockstepRun([self._simulation(*group, defers_arrivals=True) for group in groups], number)

    def _groups(self, number: int) -> list[tuple[tuple[int, int], tuple[int, int]]]:
        """Divide the cohorts into at most `number` groups with similar numbers of arrivals.

        Returns:
            For each group, the entries of `Load.cohorts` at its begin and at its end.
        """
        cohorts = self.load.cohorts
        bounds = [cohorts[0]]
        for group in range(1, number if self._is_divisible else 1):
            wanted = self.load.size * group // number
            bound = min(cohorts, key=lambda cohort: abs(cohort[0] - wanted))
            if bounds[-1][0] < bound[0] < cohorts[-1][0]:
                bounds.append(bound)
        return list(zip(bounds, [*bounds[1:], cohorts[-1]], strict=True))

    def _simulation(self, first: tuple[int, int], last: tuple[int, int], *, defers_arrivals: bool) -> VirtualRun:
        """Return a simulation of the cohorts between two entries of `Load.cohorts`."""
        generated = self.load.columns(slice(first[0], last[0]))
        order = np.argsort(generated["submit"], kind="stable").astype(np.int32)
        columns: dict[str, Any] = {name: values[order] for name, values in generated.items()}
        columns |= {"shape": columns["shape"] - np.int32(first[1]), "row": order + np.int32(first[0])}
        columns |= {"prefix": "w", "digits": 0, "uid_digits": 9}
        options = {**AS_KUEUES_TEST, "start": self.load.start, "defers_arrivals": defers_arrivals}
        return VirtualRun(self.engine, self.load.prototypes[first[1] : last[1]], columns, options)

    def first_waits(self, run: LockstepRun) -> dict[str, int]:
        """Return the mean time from arrival to first admission by class, in whole milliseconds."""
        found: dict[str, list[int]] = {}
        for name, (wait, count) in zip(self.load.classes, run.first_waits(), strict=True):
            entry = found.setdefault(name, [0, 0])
            entry[0] += wait
            entry[1] += count
        return {name: wait // MILLISECOND // count for name, (wait, count) in found.items() if count}


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
        threads: The number of threads. Default: the number of available cores if the profile has at least 64 queues,
            and otherwise 1. Apart from `wall_s` and `peak_rss_mb`, the results do not depend on the number of threads.

    Returns:
        The numbers of `workloads`, `cycles`, `admissions`, `evictions` and `finished` workloads; `virtual_ms`, the
        virtual time in milliseconds; `wall_s`, the wall-clock time of the simulation in seconds; `mean_first_wait_ms`,
        the mean time from arrival to first admission by class, in milliseconds; and `peak_rss_mb`, the largest memory
        usage in MiB.

    Raises:
        InvalidSpecError: The profile cannot be read, or the version is unknown.
    """
    test = PerformanceTest(read_profile(path), fair_sharing=fair_sharing, version=version)
    run = test.divided(1 if threads is None and test.load.queues < LEAST_HEADS else threads)
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
        help="number of threads (default: all cores if the profile has at least 64 queues, otherwise 1)",
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
