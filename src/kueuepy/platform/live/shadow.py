"""The agreement of kueuepy with a running cluster, decision by decision."""

import heapq
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from kueuepy.objects import SECOND, Duration, duration_ns
from kueuepy.platform.apiserver import RESOURCES, ClusterReader, Connection
from kueuepy.platform.live.agreement import Difference
from kueuepy.platform.live.judging import Verifier
from kueuepy.platform.live.recorder import Message, Watches
from kueuepy.platform.live.recording import Change, ChangeStream, WatchEvent
from kueuepy.platform.metrics.series import OwnSeries, exposition

# Short enough for a live display, and long enough that a busy cluster is compared in few rounds.
_BATCH = 0.2
# The longest delay between the events of different watches.
_HOLD = 3 * SECOND // 2


# First lists have no common order of revisions; each kind follows the kinds that it refers to.
_ORDER = {resource.kind: position for position, resource in enumerate(RESOURCES)}


class LiveStream(ChangeStream):
    """A ChangeStream of watches that deliver events of different kinds with different delays.

    Each event is delayed, so that events of other kinds that were written earlier but received later can precede it.

    Attributes:
        relisted: The number of lists after the first list of each kind; changes before a repeated list might be
            missing.
    """

    def __init__(self, kinds: Iterable[str], hold: int) -> None:
        """Create an empty stream.

        Args:
            kinds: The kinds that are watched.
            hold: The time for which each event is delayed, in nanoseconds.
        """
        super().__init__()
        self._missing = set(kinds)
        self._hold = hold
        self._first: list[WatchEvent] = []
        self._listed: set[str] = set()
        self.relisted = 0

    def take(self, message: Message) -> None:
        """Add a message from a watch."""
        if message.what == "list":
            self._list(message)
        elif message.what in ("event", "deleted"):
            self.add(message.kind, message.value, message.time, deleted=message.what == "deleted")

    def arrived(self, now: int) -> Iterator[Change]:
        """Yield the changes that no later message can precede.

        The objects that existed at the start come first, as soon as each kind has been listed.

        Args:
            now: The time in nanoseconds since the Unix epoch.
        """
        if self._missing and not (self._first and now - self._first[0].time > 4 * self._hold):
            return
        self._missing.clear()
        for event in sorted(self._first, key=lambda one: (_ORDER.get(one.kind, 0), one.revision)):
            yield from self._change(event)
        self._first.clear()
        yield from self.changes(now - self._hold)

    def _list(self, message: Message) -> None:
        kind, objects = message.kind, message.value
        self._missing.discard(kind)
        if kind not in self._listed:
            self._listed.add(kind)
            self._first += [self._event(kind, obj, message.time) for obj in objects]
            return
        self.relisted += 1
        present = {self.add(kind, obj, message.time) for obj in objects}
        for key in [key for known, key in self._known if known == kind and key not in present]:
            gone = WatchEvent(message.revision, next(self._numbers), message.time, kind, key, None)
            heapq.heappush(self._events, gone)


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
        self._stream = LiveStream((), _HOLD)
        manager = reader.configuration
        self._verifier = Verifier([] if manager is None else [manager], self._latency, {})
        self._lock = threading.Lock()
        self._behind = 0.0
        self._causes: Counter[str] = Counter()
        self.counts: Counter[tuple[str, str]] = Counter()

    @classmethod
    def open(cls, context: str = "", *, latency: Duration = "1.2s") -> "Shadow":
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
        self._stream = LiveStream(self._watches.kinds, _HOLD)
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
            for change in self._stream.arrived(now):
                self._verifier.add(change)
            # Later decisions can still be preceded by changes that have not arrived.
            self._verifier.judge(now - _HOLD - self._latency)
            self._behind = time.monotonic() - began
            found = list(self._verifier.differences)
            self.counts.update((one.kind, one.outcome) for one in self._verifier.judged)
            self._causes.update(one.cause for one in found)
            self._verifier.judged.clear()
            self._verifier.differences.clear()
            # A shadow may run for months.
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
