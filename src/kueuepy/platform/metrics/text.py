"""Series of metrics, and the Prometheus text format."""

from __future__ import annotations

import math
from bisect import bisect_left
from decimal import Decimal
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Labels = tuple[tuple[str, str], ...]
"""Pairs of label name and value, sorted by name."""
_PLAIN = range(-4, 6)  # exponents for which numbers are written without an exponent


class Series:
    """A counter or gauge with a value for each combination of labels."""

    prefix = "kueue"
    common: Labels = (("replica_role", "standalone"),)

    def __init__(self, name: str, kind: str, text: str) -> None:
        """Create a series without values."""
        self.name, self.kind, self.text = f"{self.prefix}_{name}", kind, text
        self.values: dict[Labels, float] = {}

    def add(self, amount: float = 1, /, **labels: str) -> None:
        """Add to the value with these labels."""
        key = self._key(labels)
        self.values[key] = self.values.get(key, 0) + amount

    def set(self, value: float, /, **labels: str) -> None:
        """Set the value with these labels."""
        self.values[self._key(labels)] = value

    def _key(self, labels: dict[str, str]) -> Labels:
        return tuple(sorted((*labels.items(), *self.common)))

    def lines(self) -> Iterator[str]:
        """Yield a line for each value, sorted by labels."""
        for labels, value in sorted(self.values.items()):
            yield f"{self.name}{_labels(labels)} {number(value)}"


class OwnSeries(Series):
    """A metric of kueuepy itself, without the prefix and the common label of Kueue's metrics."""

    prefix = "kueuepy"
    common = ()


class Histogram(Series):
    """A histogram of durations, with the bucket limits 1, 2.5, 5, 10, … seconds.

    Source: `pkg/metrics/metrics.go:generateExponentialBuckets`.
    """

    def __init__(self, name: str, text: str, buckets: int = 14) -> None:
        """Create an empty histogram."""
        super().__init__(name, "histogram", text)
        self.bounds = [1.0, *(2.5 * 2**i for i in range(buckets - 1))]
        self.counts: dict[Labels, list[int]] = {}

    def observe(self, nanoseconds: int, /, **labels: str) -> None:
        """Add a duration."""
        seconds = max(nanoseconds, 0) / 1e9
        key = self._key(labels)
        counts = self.counts.setdefault(key, [0] * (len(self.bounds) + 1))
        counts[bisect_left(self.bounds, seconds)] += 1
        self.values[key] = self.values.get(key, 0) + seconds

    def lines(self) -> Iterator[str]:
        """Yield the lines of buckets, sum and count for each combination of labels."""
        for labels, total in sorted(self.values.items()):
            below = list(accumulate(self.counts[labels]))
            for bound, count in zip([*self.bounds, math.inf], below, strict=True):
                yield f"{self.name}_bucket{_labels((*labels, ('le', number(bound))))} {number(count)}"
            yield f"{self.name}_sum{_labels(labels)} {number(total)}"
            yield f"{self.name}_count{_labels(labels)} {number(below[-1])}"


def exposition(series: Iterable[Series]) -> str:
    """Format series in the Prometheus text format 0.0.4; series without values are omitted."""
    lines: list[str] = []
    for one in sorted(series, key=lambda one: one.name):
        if one.values:
            lines += [f"# HELP {one.name} {_help(one.text)}", f"# TYPE {one.name} {one.kind}", *one.lines()]
    return "\n".join(lines) + "\n" if lines else ""


def number(value: float) -> str:
    """Format a number as Prometheus' Go client does: as the shortest string, with an exponent from one million on.

    >>> number(16), number(0.25), number(1073741824), number(1e-5)
    ('16', '0.25', '1.073741824e+09', '1e-05')
    """
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    shortest = Decimal(repr(float(value))).normalize()
    if value == 0 or shortest.adjusted() in _PLAIN:
        return f"{shortest:f}"
    return f"{value:.{len(shortest.as_tuple().digits) - 1}e}"


def _labels(labels: Labels) -> str:
    return "{" + ",".join(f'{name}="{_escape(value)}"' for name, value in labels) + "}" if labels else ""


def _escape(value: str) -> str:
    return value.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")


def _help(text: str) -> str:
    return text.replace("\\", r"\\").replace("\n", r"\n")
