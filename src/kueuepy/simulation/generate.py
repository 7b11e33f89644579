"""Jobs from a seed: arrivals, sizes and runtimes by rules that are written down, the same on every platform.

Every draw is `Generator(PCG64(SeedSequence([seed, crc32(name of the draw)]))).random(n)`, turned into a time or a
choice by inverse transform; the names of the draws are in each docstring.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from kueuepy.errors import InvalidSpecError
from kueuepy.objects import SECOND
from kueuepy.simulation.base import JobColumns
from kueuepy.simulation.columns import CREATED
from kueuepy.simulation.distributions import LogNormal, distribution_of, draws
from kueuepy.simulation.items import of_workloads
from kueuepy.tables import Categorical

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from kueuepy.simulation.distributions import Distribution

_HOUR, _DAY = 3600.0, 86400.0
_SIZES = (1, 2, 4, 8, 16, 32, 64)
_PARTS = (0.932, 0.022, 0.023, 0.020, 0.0015, 0.001, 0.0005)
"""Of Philly's jobs; `gpu_mix` takes the part of 16 and more in three."""
_MEDIANS = (900.0, 1800.0, 3600.0, 7200.0, 14400.0, 14400.0, 14400.0)
_SIGMA = 1.8
_CLOCK = re.compile(r"[0-9]{1,2}")


def rate_of(rate: float | str) -> float:
    """Arrivals a second of a number, or of such as `30/h`, `2/m`, `500/d`.

    Raises:
        InvalidSpecError: It is no rate, or not more than 0.
    """
    text = str(rate)
    number, _, unit = text.partition("/")
    seconds = {"": 1.0, "s": 1.0, "m": 60.0, "h": _HOUR, "d": _DAY}.get(unit)
    try:
        found = float(number) / (seconds or 0)
    except (ValueError, ZeroDivisionError):
        found = 0.0
    if not 0 < found < float("inf"):
        raise InvalidSpecError(f"rate: {rate!r}; it must be more than 0 a second, or such as 30/h")
    return found


def poisson(
    queue: str,
    rate: float | str,
    runtime: Distribution | Any,
    requests: Mapping[str, Any],
    *,
    n: int | None = None,
    days: float | None = None,
    seed: int = 0,
    **columns: Any,
) -> JobColumns:
    """Arrivals as a Poisson process: gaps `-log1p(-u) / rate` (draw `gap QUEUE`), runtimes (draw `runtime QUEUE`).

    Args:
        queue: The LocalQueue.
        rate: Arrivals a second, or such as `30/h`.
        runtime: A distribution, or one time for all.
        requests: What each pod asks for, by resource.
        n: How many jobs; or
        days: for how many days they come.
        seed: The seed.
        columns: Other columns, such as `pods=4` or `priority=100`.
    """
    per_second = rate_of(rate)
    if (n is None) == (days is None):
        raise InvalidSpecError("poisson: give n or days, one of the two")
    count = _enough(per_second, (days or 0) * _DAY) if n is None else n
    submit = np.cumsum(-np.log1p(-draws(seed, f"gap {queue}", count)) / per_second)
    if days is not None:
        submit = submit[submit < days * _DAY]
    return _jobs(queue, submit, runtime, requests, seed=seed, columns=columns)


def _enough(rate: float, seconds: float) -> int:
    """How many gaps surely fill the time."""
    mean = rate * seconds
    return int(mean + 10 * np.sqrt(mean) + 20)


def bursts(
    queue: str,
    rate: float | str,
    size: int,
    runtime: Distribution | Any,
    requests: Mapping[str, Any],
    *,
    n: int,
    seed: int = 0,
    **columns: Any,
) -> JobColumns:
    """`n` batches of `size` jobs each, the batches as a Poisson process of this rate (draw `gap QUEUE`)."""
    starts = np.cumsum(-np.log1p(-draws(seed, f"gap {queue}", n)) / rate_of(rate))
    return _jobs(queue, np.repeat(starts, size), runtime, requests, seed=seed, columns=columns)


def diurnal(
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
) -> JobColumns:
    """A Poisson process whose rate follows the day: highest at `peak`, `ratio` times the lowest, `rate` on average.

    The rate at time t is `rate * (1 + a cos(2π (t - peak) / day))`, a = (ratio - 1) / (ratio + 1). A process of the
    highest rate is thinned (draws `gap QUEUE` and `thin QUEUE`).
    """
    hours, _, minutes = peak.partition(":")
    if not (_CLOCK.fullmatch(hours) and _CLOCK.fullmatch(minutes)):
        raise InvalidSpecError(f"peak: {peak!r}; it must be a time of day such as 14:00")
    if not ratio >= 1:
        raise InvalidSpecError(f"ratio: {ratio!r}; it must be 1 or more")
    mean, swing = rate_of(rate), (ratio - 1) / (ratio + 1)
    highest = mean * (1 + swing)
    count = _enough(highest, days * _DAY)
    at = np.cumsum(-np.log1p(-draws(seed, f"gap {queue}", count)) / highest)
    phase = 2 * np.pi * (at - int(hours) * _HOUR - int(minutes) * 60) / _DAY
    taken = draws(seed, f"thin {queue}", count) * (1 + swing) < 1 + swing * np.cos(phase)
    return _jobs(queue, at[taken & (at < days * _DAY)], runtime, requests, seed=seed, columns=columns)


def gpu_mix(
    *, seed: int = 0, days: float = 7, gpus: int = 400, load: float = 0.9, queues: Sequence[str] = ("jobs",)
) -> JobColumns:
    """A week as on a GPU cluster: sizes as Philly's, 93.2 % of one GPU, 2.2 of 2, 2.3 of 4, 2.0 of 8, 0.3 of more.

    Runtimes are log-normal (sigma 1.8) with a median of 15 min for one GPU, doubled with the size up to 4 h. Jobs come
    as a Poisson process whose rate makes the mean load `load` times `gpus`; pods have at most 8 GPUs. Draws: `gap`,
    `size`, `queue` and `runtime SIZE`.
    """
    sizes, parts, medians = np.array(_SIZES), np.array(_PARTS), np.array(_MEDIANS)
    work = float((parts * sizes * medians).sum() * np.exp(_SIGMA**2 / 2))
    count = _enough(load * gpus / work, days * _DAY)
    at = np.cumsum(-np.log1p(-draws(seed, "gap", count)) * work / (load * gpus))
    at = at[at < days * _DAY]
    chosen = np.searchsorted(np.cumsum(parts), draws(seed, "size", len(at)), side="right")
    chosen = np.minimum(chosen, len(sizes) - 1)
    runtime = np.empty(len(at), np.int64)
    for place, size in enumerate(_SIZES):
        rows = np.flatnonzero(chosen == place)
        times = LogNormal(float(medians[place]), _SIGMA)
        runtime[rows] = times.nanoseconds(draws(seed, f"runtime {size}", len(rows)))
    queue = np.floor(draws(seed, "queue", len(at)) * len(queues)).astype(np.int64)
    asked = sizes[chosen]
    return JobColumns(
        {
            "queue": [queues[place] for place in queue.tolist()],
            "submit": _nanoseconds(at),
            "runtime": runtime.view("m8[ns]"),
            "pods": np.maximum(asked // 8, 1),
            "gpu": np.minimum(asked, 8),
        }
    )


def profile(path: str) -> JobColumns:
    """The workloads of a generator file of Kueue's scheduler performance test; each class is a `kind`."""
    from kueuepy.simulation.perf import Load, read_profile  # noqa: PLC0415 - only on use

    load = Load(read_profile(path))
    rows = load.rows()
    jobs = of_workloads([load.prototypes[shape] for shape in rows["shape"]], rows["runtime"])
    kinds = Categorical(np.array(rows["shape"], np.int32), load.classes)
    created = {CREATED: np.array(rows["created"], np.int64)}
    return jobs._moved_to(np.array(rows["submit"], np.int64)).assign(kind=kinds)._changed(**created).sort()  # noqa: SLF001


def _jobs(
    queue: str,
    submit: NDArray[np.float64],
    runtime: Distribution | Any,
    requests: Mapping[str, Any],
    *,
    seed: int,
    columns: Mapping[str, Any],
) -> JobColumns:
    n = len(submit)
    times = distribution_of(runtime).nanoseconds(draws(seed, f"runtime {queue}", n))
    given = {**requests, **columns}
    return JobColumns(
        {
            "queue": [queue] * n,
            "submit": _nanoseconds(submit),
            "runtime": times.view("m8[ns]"),
            **{
                name: [value] * n if not hasattr(value, "__len__") or isinstance(value, str) else value
                for name, value in given.items()
            },
        }
    )


def _nanoseconds(seconds: NDArray[np.float64]) -> Any:
    return np.floor(seconds * SECOND).astype(np.int64).view("M8[ns]")
