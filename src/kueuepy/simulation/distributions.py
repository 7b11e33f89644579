"""Distributions of random times.

Every sample uses inverse transform sampling on its own random stream, so a seed produces the same samples on every
platform.
"""

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import Any, Union
from zlib import crc32

import msgspec
import numpy as np

from kueuepy.errors import InvalidSpecError
from kueuepy.objects import LONGEST, SECOND
from kueuepy.simulation.grouped import Floats, Ints
from kueuepy.tables.kinds import span

TABLE = 65_536
"""The number of samples that a simulation draws from each of its distributions."""


def draws(seed: int, name: str, n: int) -> Floats:
    """Return `n` uniform random numbers in [0, 1) from a named random stream.

    The stream is `Generator(PCG64(SeedSequence([seed, crc32(name)]))).random(n)`.

    Raises:
        InvalidSpecError: The seed is negative.
    """
    if seed < 0:
        raise InvalidSpecError(f"seed: {seed}; it must be 0 or more")
    # The hash() of a text would be another one in each process.
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, crc32(name.encode())]))).random(n)


class _Times(msgspec.Struct, frozen=True, tag_field="distribution"):
    def seconds(self, u: Floats) -> Floats:
        """Return the quantiles at `u`, in seconds.

        Args:
            u: Probabilities in [0, 1), of shape (n,).

        Returns:
            The times, of shape (n,).
        """
        raise NotImplementedError

    def nanoseconds(self, u: Floats) -> Ints:
        """Return the quantiles at `u` in whole nanoseconds, at least 1."""
        # The largest float below the limit: the limit itself rounds up to 2**63, which no int64 holds.
        exact = np.minimum(self.seconds(u) * SECOND, np.nextafter(float(LONGEST), 0.0))
        return np.maximum(np.floor(exact), 1).astype(np.int64)


class Constant(_Times, frozen=True):
    """A constant time.

    >>> import numpy as np
    >>> Constant("90s").seconds(np.array([0.0, 0.5]))
    array([90., 90.])

    Attributes:
        value: The time: seconds, a string such as `90s`, or a timedelta.
    """

    value: Any

    def seconds(self, u: Floats) -> Floats:
        """Return the constant once for each element of `u`, in seconds."""
        return np.full(len(u), span("Constant: value", self.value) / SECOND)


class Exponential(_Times, frozen=True):
    """An exponential distribution: `-log1p(-u) * mean`.

    >>> import numpy as np
    >>> Exponential("4m").seconds(np.array([0.5])).round(1)
    array([166.4])

    Attributes:
        mean: The mean: seconds, a string such as `4m`, or a timedelta.
    """

    mean: Any

    def seconds(self, u: Floats) -> Floats:
        """Return the quantiles at `u`, in seconds."""
        return -np.log1p(-u) * (span("Exponential: mean", self.mean) / SECOND)


class ShiftedExponential(_Times, frozen=True):
    """An exponential distribution plus a minimum: `minimum - log1p(-u) * tail_mean`.

    >>> import numpy as np
    >>> ShiftedExponential("1m", "4m").seconds(np.array([0.5])).round(1)
    array([226.4])

    Attributes:
        minimum: The smallest time: seconds, a string such as `1m`, or a timedelta.
        tail_mean: The mean time above the minimum: seconds, a string such as `4m`, or a timedelta.
    """

    minimum: Any
    tail_mean: Any

    def seconds(self, u: Floats) -> Floats:
        """Return the quantiles at `u`, in seconds."""
        tail = span("ShiftedExponential: tail_mean", self.tail_mean) / SECOND
        return span("ShiftedExponential: minimum", self.minimum) / SECOND - np.log1p(-u) * tail


class LogNormal(_Times, frozen=True):
    """A log-normal distribution: `median * exp(sigma * z(u))`, where z is the standard normal quantile function.

    Values of u below 2^-53 are replaced with 2^-53.

    >>> import numpy as np
    >>> LogNormal("1h", 1.2).seconds(np.array([0.5]))
    array([3600.])

    Attributes:
        median: The median: seconds, a string such as `40m`, or a timedelta.
        sigma: The standard deviation of the logarithm.
    """

    median: Any
    sigma: float

    def seconds(self, u: Floats) -> Floats:
        """Return the quantiles at `u`, in seconds."""
        return span("LogNormal: median", self.median) / SECOND * np.exp(self.sigma * normal(u))


class Weibull(_Times, frozen=True):
    """A Weibull distribution: `scale * (-log1p(-u))^(1/shape)`.

    >>> import numpy as np
    >>> Weibull("1h", shape=1).seconds(np.array([0.5])).round(1)
    array([2495.3])

    Attributes:
        scale: The scale parameter: seconds, a string such as `1h`, or a timedelta.
        shape: The shape parameter, greater than 0.
    """

    scale: Any
    shape: float

    def seconds(self, u: Floats) -> Floats:
        """Return the quantiles at `u`, in seconds.

        Raises:
            InvalidSpecError: `shape` is not greater than 0.
        """
        if not self.shape > 0:
            raise InvalidSpecError(f"Weibull: shape: {self.shape}; it must be more than 0")
        return span("Weibull: scale", self.scale) / SECOND * (-np.log1p(-u)) ** (1 / self.shape)


class Empirical(_Times, frozen=True):
    """A distribution with equally likely values: `values[floor(u * len(values))]`.

    >>> import numpy as np
    >>> Empirical([60, "5m", "1h"]).seconds(np.array([0.0, 0.5, 0.9]))
    array([  60.,  300., 3600.])

    Attributes:
        values: One or more times: seconds, strings such as `5m`, or timedeltas.
    """

    values: Sequence[Any]

    def seconds(self, u: Floats) -> Floats:
        """Return the quantiles at `u`, in seconds.

        Raises:
            InvalidSpecError: `values` is empty.
        """
        if not len(self.values):
            raise InvalidSpecError("Empirical: values: none; there must be one at least")
        known = np.array([span("Empirical: values", value) / SECOND for value in self.values])
        return known[np.floor(u * len(known)).astype(np.int64)]


Distribution = Union[Constant, Exponential, ShiftedExponential, LogNormal, Weibull, Empirical]  # noqa: UP007 - evaluated at run time


def distribution_of(value: Any) -> Distribution:
    """Convert a time to a constant distribution; a distribution is returned unchanged."""
    return value if isinstance(value, _Times) else Constant(value)  # type: ignore[return-value]


def normal(u: Floats) -> Floats:
    """Return standard normal quantiles; values of u below 2^-53 are replaced with 2^-53."""
    # The standard library has this function, so that none of statistics is required.
    inverse = NormalDist().inv_cdf
    # random() is a multiple of 2**-53 and can be 0, whose quantile is infinite.
    least = math.ldexp(1.0, -53)
    return np.array([inverse(max(value, least)) for value in u.tolist()])
