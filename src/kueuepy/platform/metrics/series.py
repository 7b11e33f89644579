"""Series of metrics in the Prometheus text format, and a server of them."""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate
from types import SimpleNamespace
from typing import Any

from kueuepy.errors import InvalidSpecError, imported
from kueuepy.jobs.numbers import unsigned
from kueuepy.look.serving import Answer, Request, Server

Labels = tuple[tuple[str, str], ...]
"""Pairs of label name and value, sorted by name."""
Sample = tuple[str, dict[str, str], float]
"""The name, labels and value of one line."""


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

    def samples(self) -> Iterator[Sample]:
        """Yield the values, sorted by labels."""
        for labels, value in sorted(self.values.items()):
            yield self.name, dict(labels), value


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
        # A recorded time can be later than the clock of an imported cluster.
        seconds = max(nanoseconds, 0) / 1e9
        key = self._key(labels)
        counts = self.counts.setdefault(key, [0] * (len(self.bounds) + 1))
        counts[bisect_left(self.bounds, seconds)] += 1
        self.values[key] = self.values.get(key, 0) + seconds

    def samples(self) -> Iterator[Sample]:
        """Yield buckets, sum and count for each combination of labels."""
        # Kueue writes a bucket's limit as 1. prometheus_client would write 1.0, which Prometheus 2 takes for another.
        limits = [*(f"{bound:g}" for bound in self.bounds), "+Inf"]
        for labels, total in sorted(self.values.items()):
            below = list(accumulate(self.counts[labels]))
            for limit, count in zip(limits, below, strict=True):
                yield f"{self.name}_bucket", {**dict(labels), "le": limit}, count
            yield f"{self.name}_sum", dict(labels), total
            yield f"{self.name}_count", dict(labels), below[-1]


def exposition(series: Iterable[Series]) -> str:
    """Format series in the Prometheus text format 0.0.4; series without values are omitted.

    Raises:
        UnsupportedError: prometheus_client is not installed.
    """
    library = imported("prometheus_client", "metrics")

    def family(one: Series) -> Any:
        # prometheus_client appends the suffix of a counter to the name of the family.
        made = library.Metric(one.name.removesuffix("_total"), one.text, one.kind)
        for sample in one.samples():
            made.add_sample(*sample)
        return made

    found = [family(one) for one in sorted(series, key=lambda one: one.name) if one.values]
    text: bytes = library.generate_latest(SimpleNamespace(collect=lambda: found))
    return text.decode()


_PORTS = 65536
# The media type of the Prometheus text format.
_KIND = "text/plain; version=0.0.4; charset=utf-8"


class MetricsServer(Server):
    """A server that answers `GET /metrics` with the text that a function returns."""

    def __init__(self, address: str, text: Callable[[], str]) -> None:
        """Start to listen.

        Args:
            address: `HOST:PORT`, or a port of the loopback interface; port 0 selects a free port.
            text: A function that returns the metrics in the Prometheus text format. The function is called in other
                threads.

        Raises:
            InvalidSpecError: The address is not valid, or cannot be used.
        """
        host, _, port = address.rpartition(":")
        number = unsigned(port)
        if number is None or number >= _PORTS:
            raise InvalidSpecError(f"{address!r:.99}; it must be HOST:PORT, or a port of the loopback interface")

        def answer(request: Request) -> Answer | None:
            is_read = (request.path, request.body) == ("metrics", None)
            return Answer(_KIND, text().encode()) if is_read else None

        try:
            super().__init__(answer, number, host.strip("[]") or "127.0.0.1")
        except OSError as error:
            raise InvalidSpecError(f"{address}: cannot be used: {error.strerror or error}") from None

    @property
    def url(self) -> str:
        """The address of the metrics."""
        return f"{super().url}metrics"
