"""The agreement of kueuepy with a running cluster, decision by decision."""

from __future__ import annotations

import threading
import time
from collections import Counter
from typing import TYPE_CHECKING

from kueuepy.objects import SECOND
from kueuepy.objects.times import Duration, duration_ns
from kueuepy.platform.apiserver import ClusterReader, Connection
from kueuepy.platform.live.streaming import ChangeStream
from kueuepy.platform.live.verify import Verifier
from kueuepy.platform.live.watching import Watches
from kueuepy.platform.metrics.series import OwnSeries, exposition

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kueuepy.platform.live.agreement import Difference
    from kueuepy.platform.live.watching import Message

_BATCH = 0.2
_HOLD = 3 * SECOND // 2
"""The longest delay between the events of different watches."""


class Shadow:
    """A Scheduler that follows a running cluster and compares its own decisions with the cluster's decisions.

    As with `verify`, each decision of Kueue is compared with kueuepy's decision for the same state of the cluster. The
    comparison takes place about 3 seconds after Kueue's decision. The shadow never writes to the cluster.

    Attributes:
        counts: The number of decisions by kind and outcome, as in `Agreement`.
    """

    def __init__(self, reader: ClusterReader, *, latency: Duration = "1.2s") -> None:
        """Create a shadow without reading the cluster yet.

        Args:
            reader: The cluster.
            latency: The longest time between a decision and its write: seconds, a string or a timedelta.
        """
        self._latency = duration_ns(latency)
        self._watches = Watches(reader)
        self._stream = ChangeStream((), _HOLD)
        manager = reader.configuration
        self._verifier = Verifier([] if manager is None else [manager], self._latency, {})
        self._lock = threading.Lock()
        self._behind = 0.0
        self._causes: Counter[str] = Counter()
        self.counts: Counter[tuple[str, str]] = Counter()

    @classmethod
    def open(cls, context: str = "", *, latency: Duration = "1.2s") -> Shadow:
        """Create a shadow of a kubeconfig context. The function requires the extra `live`.

        Args:
            context: The context; an empty string for the current context, `in` for the cluster in which the process
                runs.
            latency: The longest time between a decision and its write.

        Raises:
            ApiError: The cluster cannot be reached, or Kueue is not installed in it.
            UnsupportedError: The Kubernetes client is not installed.
        """
        return cls(ClusterReader(Connection.open(context)), latency=latency)

    @property
    def total(self) -> int:
        """The number of compared decisions."""
        return sum(self.counts.values())

    @property
    def share(self) -> float:
        """The fraction of decisions that kueuepy also makes, from 0 to 1; 1 if no decision has been compared."""
        other = sum(count for (_, outcome), count in self.counts.items() if outcome == "different")
        return 1 - other / self.total if self.total else 1.0

    @property
    def notes(self) -> tuple[str, ...]:
        """The changes that could not be applied, with reasons."""
        return tuple(self._verifier.notes)

    def stop(self) -> None:
        """End `run`. Another thread or a signal handler can call `stop`."""
        self._watches.stopped.set()

    def run(
        self, seconds: float | None = None, on_differences: Callable[[Sequence[Difference]], None] | None = None
    ) -> None:
        """Follow the cluster until `stop` is called.

        Args:
            seconds: The time after which to stop. Default: never.
            on_differences: A function that is called about five times a second with the new differences.

        Raises:
            ApiError: A kind that is not optional cannot be listed or watched.
        """
        self._watches.start()
        self._stream = ChangeStream(self._watches.kinds, _HOLD)
        try:
            for _ in self._watches.rounds(seconds):
                for message in self._watches.messages(_BATCH):
                    self.take(message)
                found = self.judge(time.time_ns())
                if on_differences is not None:
                    on_differences(found)
        finally:
            self.stop()

    def take(self, message: Message) -> None:
        """Add a message from a watch."""
        self._stream.take(message)

    def judge(self, now: int) -> list[Difference]:
        """Compare the decisions for which all changes within the latency are known.

        Args:
            now: The time in nanoseconds since the Unix epoch.

        Returns:
            The decisions that differ.
        """
        with self._lock:
            began = time.monotonic()
            for change in self._stream.changes(now):
                self._verifier.add(change)
            self._verifier.judge(now - _HOLD - self._latency)
            self._behind = time.monotonic() - began
            found = list(self._verifier.differences)
            self.counts.update((one.kind, one.outcome) for one in self._verifier.judged)
            self._causes.update(one.cause for one in found)
            self._verifier.judged.clear()
            self._verifier.differences.clear()
            del self._verifier.notes[:-1000]
        return found

    def metrics_text(self) -> str:
        """Return the agreement in the Prometheus text format."""
        decisions = OwnSeries("shadow_decisions_total", "counter", "Compared decisions, by kind and outcome")
        causes = OwnSeries("shadow_differences_total", "counter", "Decisions that differ, by likely cause")
        share = OwnSeries("shadow_agreement_ratio", "gauge", "Fraction of compared decisions that do not differ")
        behind = OwnSeries("shadow_judging_seconds", "gauge", "Seconds taken by the last round of comparisons")
        text = "Lists repeated because a version had expired; earlier changes might be missing"
        gaps = OwnSeries("shadow_relists_total", "counter", text)
        with self._lock:
            for (kind, outcome), count in self.counts.items():
                decisions.set(count, kind=kind, outcome=outcome)
            for cause, count in self._causes.items():
                causes.set(count, cause=cause)
            share.set(self.share)
            behind.set(self._behind)
            gaps.set(self._stream.relisted)
        return exposition([decisions, causes, share, behind, gaps])
