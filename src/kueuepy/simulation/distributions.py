"""Random times, by inverse transform from streams of their own, so that a seed gives the same on every platform."""

from __future__ import annotations

import math
from collections.abc import Sequence  # noqa: TC003 - help() shows signatures
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Union
from zlib import crc32

import msgspec
import numpy as np

from kueuepy.errors import InvalidSpecError
from kueuepy.objects import SECOND
from kueuepy.objects.times import LONGEST
from kueuepy.simulation.spans import span

if TYPE_CHECKING:
    from numpy.typing import NDArray

TABLE = 65_536
"""How many values a run draws of each of its distributions."""


def draws(seed: int, name: str, n: int) -> NDArray[np.float64]:
    """Uniform numbers in [0, 1): `Generator(PCG64(SeedSequence([seed, crc32(name)]))).random(n)`."""
    if seed < 0:
        raise InvalidSpecError(f"seed: {seed}; it must be 0 or more")
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, crc32(name.encode())]))).random(n)


class _Times(msgspec.Struct, frozen=True, tag_field="distribution"):
    """Random times in seconds."""

    def seconds(self, u: NDArray[np.float64]) -> NDArray[np.float64]:
        """The times at these places of the distribution, from 0 to below 1."""
        raise NotImplementedError

    def nanoseconds(self, u: NDArray[np.float64]) -> NDArray[np.int64]:
        """The same in whole nanoseconds, at least one."""
        exact = np.minimum(self.seconds(u) * SECOND, np.nextafter(float(LONGEST), 0.0))
        return np.maximum(np.floor(exact), 1).astype(np.int64)


class Constant(_Times, frozen=True):
    """Always `value`."""

    value: Any

    def seconds(self, u: NDArray[np.float64]) -> NDArray[np.float64]:
        """The value, as often as asked."""
        return np.full(len(u), span("Constant: value", self.value) / SECOND)


class Exponential(_Times, frozen=True):
    """`-log1p(-u) * mean`."""

    mean: Any

    def seconds(self, u: NDArray[np.float64]) -> NDArray[np.float64]:
        """The times at these places."""
        return -np.log1p(-u) * (span("Exponential: mean", self.mean) / SECOND)


class ShiftedExponential(_Times, frozen=True):
    """`minimum - log1p(-u) * tail_mean`."""

    minimum: Any
    tail_mean: Any

    def seconds(self, u: NDArray[np.float64]) -> NDArray[np.float64]:
        """The times at these places."""
        tail = span("ShiftedExponential: tail_mean", self.tail_mean) / SECOND
        return span("ShiftedExponential: minimum", self.minimum) / SECOND - np.log1p(-u) * tail


class LogNormal(_Times, frozen=True):
    """`median * exp(sigma * z(u))`, z the inverse of the normal distribution, u at least 2^-53."""

    median: Any
    sigma: float

    def seconds(self, u: NDArray[np.float64]) -> NDArray[np.float64]:
        """The times at these places."""
        return span("LogNormal: median", self.median) / SECOND * np.exp(self.sigma * normal(u))


class Weibull(_Times, frozen=True):
    """`scale * (-log1p(-u))^(1/shape)`."""

    scale: Any
    shape: float

    def seconds(self, u: NDArray[np.float64]) -> NDArray[np.float64]:
        """The times at these places."""
        if not self.shape > 0:
            raise InvalidSpecError(f"Weibull: shape: {self.shape}; it must be more than 0")
        return span("Weibull: scale", self.scale) / SECOND * (-np.log1p(-u)) ** (1 / self.shape)


class Empirical(_Times, frozen=True):
    """One of the values, each as likely: `values[floor(u * len(values))]`."""

    values: Sequence[Any]

    def seconds(self, u: NDArray[np.float64]) -> NDArray[np.float64]:
        """The times at these places."""
        if not len(self.values):
            raise InvalidSpecError("Empirical: values: none; there must be one at least")
        known = np.array([span("Empirical: values", value) / SECOND for value in self.values])
        return known[np.floor(u * len(known)).astype(np.int64)]


Distribution = Union[Constant, Exponential, ShiftedExponential, LogNormal, Weibull, Empirical]  # noqa: UP007 - at run time


def distribution_of(value: Any) -> Distribution:
    """The distribution itself, or the constant of a time span."""
    return value if isinstance(value, _Times) else Constant(value)  # type: ignore[return-value]


def normal(u: NDArray[np.float64]) -> NDArray[np.float64]:
    """The inverse of the normal distribution, at u of 2^-53 at least."""
    inverse = NormalDist().inv_cdf
    least = math.ldexp(1.0, -53)
    return np.array([inverse(max(value, least)) for value in u.tolist()])
