"""Decayed usage of LocalQueues (`pkg/util/admissionfairsharing`, `pkg/cache/queue/afs`).

Amounts are in 10^-9 of a core or unit, like Kueue's decimals. Products are truncated, and sums are exact.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction

NANO = 10**9
Amounts = dict[str, int]


def times(amounts: Amounts, factor: float) -> Amounts:
    """The factor counts as the shortest decimal that is it; what is below a billionth is cut off."""
    exact = Fraction(repr(factor))
    return {resource: math.floor(amount * exact) for resource, amount in amounts.items()}


def plus(*summands: Amounts) -> Amounts:
    total: Counter[str] = Counter()
    for amounts in summands:
        total.update(amounts)
    return dict(total)


@dataclass
class Entry:
    """One LocalQueue's past: what it consumed, and what its workloads still owe for having got quota."""

    last: int
    consumed: Amounts = field(default_factory=dict)
    owed: dict[str, Amounts] = field(default_factory=dict)


class Ledger:
    """Times are nanoseconds; `running` is what a LocalQueue's admitted workloads use."""

    def __init__(self, half_life: int, interval: int, weights: dict[str, float]) -> None:
        self.half_life, self.interval, self.weights = half_life, interval, weights
        self.entries: dict[str, Entry] = {}

    def alpha(self, elapsed: int) -> float:
        """Return the weight of current usage after this time."""
        return 1.0 - 0.5 ** ((elapsed / 1e9) / (self.half_life / 1e9)) if self.half_life else 0.0

    def _entry(self, local: str, now: int) -> Entry:
        return self.entries.setdefault(local, Entry(now))

    def _fold(self, entry: Entry, running: Amounts, now: int) -> None:
        alpha = self.alpha(max(0, now - entry.last))
        entry.consumed = plus(times(entry.consumed, 1.0 - alpha), times(running, alpha))
        entry.last = max(entry.last, now)

    def reserve(self, local: str, workload: str, requests: Amounts, now: int) -> None:
        """Add the entry penalty of a workload that reserved quota."""
        self._entry(local, now).owed[workload] = times(requests, self.alpha(self.interval))

    def admit(self, local: str, workload: str, running: Amounts, now: int) -> None:
        """Convert the penalty of an admitted workload to usage."""
        entry = self._entry(local, now)
        self._fold(entry, running, now)
        entry.consumed = plus(entry.consumed, entry.owed.pop(workload, {}))

    def forgive(self, local: str, workload: str) -> None:
        """Remove the penalty of a workload that will not be admitted: finished, deleted, or inactive without quota."""
        if local in self.entries:
            self.entries[local].owed.pop(workload, None)

    def sample(self, local: str, running: Amounts, now: int) -> None:
        """Reconcile the LocalQueue; this samples usage if it is new, after an interval, or with pending penalties."""
        is_new = local not in self.entries
        entry = self._entry(local, now)
        owes = any(amount for amounts in entry.owed.values() for amount in amounts.values())
        if not (is_new or owes or now - entry.last >= self.interval):
            return
        if self.half_life:
            self._fold(entry, running, now)
        else:
            entry.consumed, entry.last = {}, now

    def usage(self, local: str, weight: float) -> float:
        """Return the key that orders LocalQueues: weighted sum of cores, bytes and units."""
        if weight <= 0:
            return math.inf
        entry = self.entries.get(local, Entry(0))
        amounts = plus(entry.consumed, *entry.owed.values())
        total = 0.0
        for resource in sorted(amounts):
            total += self.weights.get(resource, 1.0) * (float(amounts[resource]) * 1e-9)
        return total / weight
