"""Generators of random jobs with documented distributions; a seed produces the same jobs on every platform.

Every sample is `Generator(PCG64(SeedSequence([seed, crc32(name of the stream)]))).random(n)`, converted to a time or a
choice by inverse transform sampling. The docstring of each function names the random streams that the function uses.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from kueuepy.errors import InvalidSpecError, checked_methods
from kueuepy.objects import SECOND
from kueuepy.simulation.base import JobColumns
from kueuepy.simulation.distributions import LogNormal, distribution_of, draws
from kueuepy.simulation.model import clock_time
from kueuepy.tables.kinds import number_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray
    from typing_extensions import Self

    from kueuepy.simulation.distributions import Distribution

    Floats = NDArray[np.float64]


_SERIAL, _POWERS = 0.244, 0.576
# Base-2 logarithms of sizes: from 0.8 to 2.5 below the maximum with a probability of 0.86, otherwise above.
_SMALLEST, _FIRST_STAGE, _BELOW_LARGEST = 0.8, 0.86, 2.5
# Shape and scale of the two gamma distributions for the logarithm of the runtime.
_SHORT, _LONG = (4.2, 0.94), (312.0, 0.03)
# Probability of the first gamma distribution, as a linear function of the size: slope and intercept.
_SHORT_PART = (-0.0054, 0.78)
_GAP = (10.2303 * 1.0225, 0.4871)
_DAYTIME = (8.1737, 3.9631)
_SLOTS, _SLOT, _FIRST_SLOT = 48, 1800.0, 11
_LONGEST_GAP, _LONGEST_RUN = 13.0, 12.0
_POINTS = 4097


class Gamma:
    """A gamma distribution, tabulated at 4,097 points with linear interpolation."""

    def __init__(self, shape: float, scale: float) -> None:
        """Compute the table up to the mean plus 12 standard deviations plus 30 times the scale parameter."""
        self._scale = scale
        self._at = np.linspace(0.0, shape + 12 * math.sqrt(shape) + 30, _POINTS)
        self._below = _incomplete_gamma(shape, self._at)

    def below(self, x: Any) -> Any:
        """Return the probability of a value less than x."""
        return np.interp(np.asarray(x) / self._scale, self._at, self._below)

    def at(self, u: Floats, most: float) -> Floats:
        """Return the quantiles at `u` of the distribution truncated at `most`."""
        found: Floats = np.interp(u * self.below(most), self._below, self._at) * self._scale
        return found


def _incomplete_gamma(shape: float, x: Floats) -> Floats:
    """Return the regularised lower incomplete gamma function, computed by its series."""
    with np.errstate(divide="ignore"):
        first = np.exp(-x + shape * np.log(x) - math.lgamma(shape + 1))
    term = np.ones_like(x)
    total = term.copy()
    step = shape
    # The series has converged when a term no longer changes a float of 53 bits.
    while term.max() > 1e-17 * total.max():
        step += 1
        term = term * x / step
        total += term
    found: Floats = np.minimum(first * total, 1.0)
    return found


def _sizes(seed: int, n: int, processors: int) -> NDArray[np.int64]:
    largest = math.log2(processors)
    smallest = min(_SMALLEST, largest)
    middle = max(smallest, largest - _BELOW_LARGEST)
    u, within = draws(seed, "size", n), draws(seed, "power", n)
    early = draws(seed, "stage", n) < _FIRST_STAGE
    power = np.where(early, smallest + within * (middle - smallest), middle + within * (largest - middle))
    power = np.where(u < _SERIAL + _POWERS, np.floor(power + 0.5), power)
    sizes = np.where(u < _SERIAL, 1, np.floor(np.exp2(power) + 0.5)).astype(np.int64)
    return np.minimum(sizes, processors)


def _runtimes(seed: int, sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    slope, part = _SHORT_PART
    short = draws(seed, "kind", len(sizes)) < np.clip(slope * sizes + part, 0.0, 1.0)
    u = draws(seed, "runtime", len(sizes))
    times = np.where(short, Gamma(*_SHORT).at(u, _LONGEST_RUN), Gamma(*_LONG).at(u, _LONGEST_RUN))
    return np.maximum(np.floor(np.exp(times)), 1).astype(np.int64)


def _arrivals(seed: int, n: int) -> Floats:
    """Return arrival times in seconds after midnight, from the inverse of the cumulative arrival weight of the day."""
    edges = Gamma(*_DAYTIME).below(np.arange(_FIRST_SLOT, _FIRST_SLOT + _SLOTS + 1) - 0.5)
    weights = np.roll(np.diff(edges), _FIRST_SLOT - 1)
    over = np.concatenate([[0.0], np.cumsum(weights / weights.mean())])
    days, rest = np.divmod(np.cumsum(np.exp(Gamma(*_GAP).at(draws(seed, "gap", n), _LONGEST_GAP))) / _SLOT, _SLOTS)
    return (days * _SLOTS + np.interp(rest, over, np.arange(_SLOTS + 1))) * _SLOT


_HOUR, _DAY = 3600.0, 86400.0
_SIZES = (1, 2, 4, 8, 16, 32, 64)
# Fractions of Philly's jobs by size; `gpu_mix` divides the fraction of 16 and more GPUs among three sizes.
_PARTS = (0.932, 0.022, 0.023, 0.020, 0.0015, 0.001, 0.0005)
_MEDIANS = (900.0, 1800.0, 3600.0, 7200.0, 14400.0, 14400.0, 14400.0)
_SIGMA = 1.8


def rate_of(rate: float | str) -> float:
    """Convert an arrival rate to arrivals per second.

    Args:
        rate: Arrivals per second, or a string such as `30/h`, `2/m` or `500/d`.

    Raises:
        InvalidSpecError: `rate` is not a rate, or is not greater than 0.
    """
    text = str(rate)
    number, _, unit = text.partition("/")
    seconds = {"": 1.0, "s": 1.0, "m": 60.0, "h": _HOUR, "d": _DAY}.get(unit)
    found = (number_of(number) or 0.0) / seconds if seconds else 0.0
    if not 0 < found < float("inf"):
        raise InvalidSpecError(f"rate: {rate!r:.99}; it must be more than 0 a second, or such as 30/h")
    return found


@checked_methods
class GeneratedJobs(JobColumns):
    """A table of jobs with constructors that generate random jobs."""

    __slots__ = ()

    @classmethod
    def poisson(
        cls,
        queue: str,
        rate: float | str,
        runtime: Distribution | Any,
        requests: Mapping[str, Any],
        *,
        n: int | None = None,
        days: float | None = None,
        seed: int = 0,
        **columns: Any,
    ) -> Self:
        """Generate the arrivals of a Poisson process.

        The times between arrivals are `-log1p(-u) / rate`, where `u` is drawn from the random stream `gap QUEUE`.
        Runtimes are drawn from the random stream `runtime QUEUE`.

        >>> from kueuepy import Jobs
        >>> Jobs.poisson("team", "30/h", "1h", {"gpu": 1}, n=3)["nvidia.com/gpu"].tolist()
        [1, 1, 1]

        Args:
            queue: The LocalQueue.
            rate: The arrival rate: jobs per second, or a string such as `30/h`.
            runtime: A distribution of runtimes, or one runtime for all jobs.
            requests: The request of each pod, by resource.
            n: The number of jobs; required unless `days` is set.
            days: The length of the process, in days; required unless `n` is set.
            seed: Seed of the random number generator; 0 by default.
            columns: Values for other columns, such as `pods=4` or `priority=100`.

        Raises:
            InvalidSpecError: The rate is invalid, or neither or both of `n` and `days` are set.
        """
        per_second = rate_of(rate)
        if (n is None) == (days is None):
            raise InvalidSpecError("poisson: give n or days, one of the two")
        count = _enough(per_second, (days or 0) * _DAY) if n is None else n
        submit = np.cumsum(-np.log1p(-draws(seed, f"gap {queue}", count)) / per_second)
        if days is not None:
            submit = submit[submit < days * _DAY]
        return cls(_jobs(queue, submit, runtime, requests, seed=seed, columns=columns))

    @classmethod
    def bursts(
        cls,
        queue: str,
        rate: float | str,
        size: int,
        runtime: Distribution | Any,
        requests: Mapping[str, Any],
        *,
        n: int,
        seed: int = 0,
        **columns: Any,
    ) -> Self:
        """Generate batches of jobs that arrive together; the batches arrive as a Poisson process.

        The times between batches use the stream `gap QUEUE`, and runtimes use the stream `runtime QUEUE`.

        >>> from kueuepy import Jobs
        >>> len(Jobs.bursts("team", "2/h", 4, "1h", {"gpu": 1}, n=2))
        8

        Args:
            queue: The LocalQueue.
            rate: The arrival rate of batches: batches per second, or a string such as `2/h`.
            size: The number of jobs in a batch.
            runtime: A distribution of runtimes, or one runtime for all jobs.
            requests: The request of each pod, by resource.
            n: The number of batches.
            seed: Seed of the random number generator; 0 by default.
            columns: Values for other columns, such as `pods=4` or `priority=100`.

        Raises:
            InvalidSpecError: The rate is invalid.
        """
        starts = np.cumsum(-np.log1p(-draws(seed, f"gap {queue}", n)) / rate_of(rate))
        return cls(_jobs(queue, np.repeat(starts, size), runtime, requests, seed=seed, columns=columns))

    @classmethod
    def diurnal(
        cls,
        queue: str,
        rate: float | str,
        runtime: Distribution | Any,
        requests: Mapping[str, Any],
        *,
        days: float,
        peak: str = "14:00",
        ratio: float = 3,
        seed: int = 0,
        **columns: Any,
    ) -> Self:
        """Generate the arrivals of a Poisson process whose rate changes with the time of day.

        The rate at time t is `rate * (1 + a cos(2π (t - peak) / day))` with a = (ratio - 1) / (ratio + 1). The function
        generates a Poisson process with the highest rate, and thins it. The function draws from the random streams `gap
        QUEUE`, `thin QUEUE` and `runtime QUEUE`.

        >>> from kueuepy import Jobs
        >>> len(Jobs.diurnal("team", "24/d", "1h", {"gpu": 1}, days=7)) > 100
        True

        Args:
            queue: The LocalQueue.
            rate: The mean arrival rate: jobs per second, or a string such as `350/d`.
            runtime: A distribution of runtimes, or one runtime for all jobs.
            requests: The request of each pod, by resource.
            days: The length of the process, in days.
            peak: The time of day with the highest rate; `14:00` by default. The process starts at midnight.
            ratio: The highest rate divided by the lowest, 1 or more; 3 by default.
            seed: Seed of the random number generator; 0 by default.
            columns: Values for other columns, such as `pods=4` or `priority=100`.

        Raises:
            InvalidSpecError: The rate, `peak` or `ratio` is invalid.
        """
        at_peak = clock_time("peak", peak) / SECOND
        if not ratio >= 1:
            raise InvalidSpecError(f"ratio: {ratio!r:.99}; it must be 1 or more")
        mean, swing = rate_of(rate), (ratio - 1) / (ratio + 1)
        highest = mean * (1 + swing)
        count = _enough(highest, days * _DAY)
        at = np.cumsum(-np.log1p(-draws(seed, f"gap {queue}", count)) / highest)
        phase = 2 * np.pi * (at - at_peak) / _DAY
        # Thinning: an arrival at the highest rate is kept with the ratio of the rates.
        taken = draws(seed, f"thin {queue}", count) * (1 + swing) < 1 + swing * np.cos(phase)
        return cls(_jobs(queue, at[taken & (at < days * _DAY)], runtime, requests, seed=seed, columns=columns))

    @classmethod
    def gpu_mix(
        cls, seed: int = 0, days: float = 7, gpus: int = 400, *, load: float = 0.9, queues: Sequence[str] = ("jobs",)
    ) -> Self:
        """Generate the jobs of a GPU cluster, with the job sizes of Microsoft's Philly cluster.

        One GPU is requested by 93.2 % of the jobs, 2 GPUs by 2.2 %, 4 GPUs by 2.3 %, 8 GPUs by 2.0 %, and 16 to 64 GPUs
        by 0.3 %. Runtimes are log-normal (sigma 1.8). The median runtime is 15 minutes for one GPU, and doubles when
        the number of GPUs doubles, up to 4 hours. Jobs arrive as a Poisson process. A pod requests at most 8 GPUs. The
        streams are `gap`, `size`, `queue` and `runtime SIZE`.

        >>> from kueuepy import Jobs
        >>> Jobs.gpu_mix(days=1).resources
        ('nvidia.com/gpu',)

        Args:
            seed: Seed of the random number generator; 0 by default.
            days: The length of the log, in days; 7 by default.
            gpus: The number of GPUs of the cluster; 400 by default.
            load: The mean fraction of the GPUs in use; 0.9 by default. The load determines the arrival rate.
            queues: The LocalQueues, among which the jobs are distributed with equal probability; `jobs` by default.
        """
        for name, value in (("load", load), ("gpus", gpus), ("days", days)):
            if not 0 < value < float("inf"):
                raise InvalidSpecError(f"gpu_mix: {name}: is {value!r:.99}; it must be more than 0")
        sizes, parts, medians = np.array(_SIZES), np.array(_PARTS), np.array(_MEDIANS)
        work = float((parts * sizes * medians).sum() * np.exp(_SIGMA**2 / 2))
        count = _enough(load * gpus / work, days * _DAY)
        at = np.cumsum(-np.log1p(-draws(seed, "gap", count)) * work / (load * gpus))
        at = at[at < days * _DAY]
        chosen = np.searchsorted(np.cumsum(parts), draws(seed, "size", len(at)), side="right")
        # The fractions may add up to slightly less than 1.
        chosen = np.minimum(chosen, len(sizes) - 1)
        runtime = np.empty(len(at), np.int64)
        for index, size in enumerate(_SIZES):
            rows = np.flatnonzero(chosen == index)
            times = LogNormal(float(medians[index]), _SIGMA)
            runtime[rows] = times.nanoseconds(draws(seed, f"runtime {size}", len(rows)))
        queue = np.floor(draws(seed, "queue", len(at)) * len(queues)).astype(np.int64)
        asked = sizes[chosen]
        return cls(
            {
                "queue": [queues[index] for index in queue.tolist()],
                "submit": _nanoseconds(at),
                "runtime": runtime.view("m8[ns]"),
                "pods": np.maximum(asked // 8, 1),
                "gpu": np.minimum(asked, 8),
            }
        )

    @classmethod
    def lublin(cls, seed: int = 0, n: int = 1000, processors: int = 128, queue: str = "jobs") -> Self:
        """Generate rigid parallel jobs with the workload model of Lublin and Feitelson.

        A job has one pod per processor, and each pod requests one cpu.

        Sizes: a job has one processor with probability 0.244 (stream `size`). Otherwise, the size of the job is 2 to
        the power of a random exponent. With h = log2 of `processors`, this exponent is uniform on [0.8, h - 2.5] with
        probability 0.86, and otherwise uniform on [h - 2.5, h] (streams `stage` and `power`). With probability 0.576,
        the exponent is rounded to an integer. The size is always rounded to an integer.

        Runtimes: the logarithm of the runtime in seconds is Gamma(4.2, 0.94) with probability 0.78 - 0.0054 * size,
        otherwise Gamma(312, 0.03) (streams `kind` and `runtime`). The logarithm of the runtime is at most 12. Runtimes
        are whole seconds, at least 1.

        Arrivals: the logarithm of the gap in seconds is Gamma(10.46, 0.4871) (stream `gap`), at most 13. The gaps
        between arrivals are shorter in busy half-hours. Slot i, from 11 to 58, is half-hour number i - 1 of the day.
        The weight of slot i is the probability that Gamma(8.1737, 3.9631) lies between i - 0.5 and i + 0.5.

        Quantiles of the gamma distributions are interpolated linearly between 4,097 points.

        >>> from kueuepy import Jobs
        >>> len(Jobs.lublin(n=100))
        100

        Args:
            seed: Seed of the random number generator; 0 by default.
            n: The number of jobs, at least 1; 1000 by default.
            processors: The number of processors of the machine, at least 2; 128 by default.
            queue: The LocalQueue; `jobs` by default.

        Raises:
            InvalidSpecError: `n` or `processors` is too small.
        """
        if n < 1 or processors < 2:  # noqa: PLR2004 - a parallel machine
            raise InvalidSpecError(f"lublin: n {n}, processors {processors}; they must be 1 and 2 or more")
        sizes = _sizes(seed, n, processors)
        return cls(
            {
                "queue": [queue] * n,
                "submit": _nanoseconds(_arrivals(seed, n)),
                "runtime": (_runtimes(seed, sizes) * SECOND).view("m8[ns]"),
                "pods": sizes,
                "cpu": np.ones(n, np.int64),
            }
        )


def _enough(rate: float, seconds: float) -> int:
    """Return a number of samples that almost surely exceeds the number of arrivals in a given time."""
    mean = rate * seconds
    # Ten standard deviations of a Poisson variable; the addend is for small means.
    return int(mean + 10 * np.sqrt(mean) + 20)


def _jobs(
    queue: str,
    submit: NDArray[np.float64],
    runtime: Distribution | Any,
    requests: Mapping[str, Any],
    *,
    seed: int,
    columns: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the columns of jobs of one queue, with one value or several for each further column."""
    n = len(submit)
    times = distribution_of(runtime).nanoseconds(draws(seed, f"runtime {queue}", n))
    given = {
        name: [value] * n if not hasattr(value, "__len__") or isinstance(value, str) else value
        for name, value in {**requests, **columns}.items()
    }
    return {"queue": [queue] * n, "submit": _nanoseconds(submit), "runtime": times.view("m8[ns]"), **given}


def _nanoseconds(seconds: NDArray[np.float64]) -> Any:
    return np.floor(seconds * SECOND).astype(np.int64).view("M8[ns]")
