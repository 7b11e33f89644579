"""What another release of Kueue would decide about the same jobs, and by which rule."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

import msgspec

from kueuepy.cluster import Cluster
from kueuepy.errors.arguments import checked
from kueuepy.profiles import DEFAULTS, LOCKED, RULES, Release, Rule, effective, release_of
from kueuepy.simulation.comparison import Comparison, compare
from kueuepy.upgrade.early import EARLY_RULES, OLDEST, EarlyRule, as_then, early_rules, is_early
from kueuepy.visibility.fidelity import EFFECTIVE_GATES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kueuepy.objects import Configuration
    from kueuepy.simulation.comparison import DecisionChange

TOGETHER = "several together"
"""The cause of what no single difference changes."""


class GateChange(msgspec.Struct, frozen=True):
    """A feature gate that two releases do not have alike.

    Attributes:
        name: The gate.
        before: Its default in the first release; `None` if there is no such gate.
        after: The same in the second.
    """

    name: str
    before: bool | None
    after: bool | None

    def __str__(self) -> str:
        """The change in words."""
        words = {None: "no gate", True: "on", False: "off"}
        return f"{self.name}: {words[self.before]} → {words[self.after]}"


class VersionChange(msgspec.Struct, frozen=True):
    """A decision that differs between two releases.

    Attributes:
        decision: When, about which job, and what each of the two decides.
        causes: The rules and feature gates each of which changes it, alone; or `several together`.
    """

    decision: DecisionChange
    causes: tuple[str, ...]

    def __str__(self) -> str:
        """The decision, and what changes it."""
        return f"{self.decision} ({', '.join(self.causes)})"


class Upgrade(msgspec.Struct, frozen=True):
    """The same jobs under two releases of Kueue.

    Attributes:
        before: The first release.
        after: The second.
        changes: The decisions that differ, in order.
        rules: The rules that one of the two has, and not the other.
        gates: The feature gates that they do not have alike.
        comparison: Both runs, with what each queue got.
        early: The rules that ended before the oldest release with a profile, and that one of the two has alone.
    """

    before: str
    after: str
    changes: tuple[VersionChange, ...]
    rules: tuple[Rule, ...]
    gates: tuple[GateChange, ...]
    comparison: Comparison
    early: tuple[EarlyRule, ...] = ()


@checked
def compare_versions(cluster: Cluster, jobs: Iterable[Any], before: str, after: str) -> Upgrade:
    """What two releases of Kueue decide about the same jobs, as `compare` runs them, and what makes the difference.

    Each difference between the releases - a rule, or the default of a feature gate - is tried alone on the first of
    them, a gate that only the second has on that one: where it changes a decision that differs, it is a cause of it.

    >>> from kueuepy import ClusterQueue, ResourceFlavor
    >>> cluster = Cluster(ResourceFlavor("default"), ClusterQueue.of("team", {"default": {"cpu": 9}}))
    >>> found = compare_versions(cluster, [{"name": "a", "queue": "team", "cpu": 1, "duration": 60}], "v0.17", "v0.18")
    >>> found.changes, found.rules[0].name
    ((), 'flavorless_quota_needs_all_checks')

    Args:
        cluster: The queues and policies.
        jobs: The jobs, with durations.
        before: The first release, such as `v0.17`; or one without a profile, v0.1 to v0.14, which decides as the oldest
            release with one, but for `EARLY_RULES` (`as_then`).
        after: The second.

    Raises:
        InvalidSpecError: A release has no profile, or a job cannot be read.
    """
    first, second = _release(before), _release(after)
    name, later = (version if is_early(version) else _release(version).name for version in (before, after))
    earlier, ended = (early_rules(version) if is_early(version) else () for version in (before, after))
    early = tuple(rule for rule in EARLY_RULES if (rule in earlier) != (rule in ended))
    items = list(jobs)
    then, wanted = (as_then(cluster, version) if is_early(version) else cluster for version in (before, after))
    old, new = _under(then, first, {}), _under(wanted, second, {})
    comparison = compare(old, new, items, names=(name, later))
    causes: dict[tuple[float, str], list[str]] = {}
    if comparison.decisions:
        taken_back = ((rule.name, _under(_other(cluster, before, rule, earlier), first, {})) for rule in early)
        forwards = dict(chain(taken_back, _alone(then, first, second)))
        backwards = dict(_without(cluster, first, second))
        runs = compare({**forwards, **backwards}, items)
        for cause, run in runs.results.items():
            base = name if cause in forwards else later
            for change in Comparison({base: comparison[base], cause: run}).decisions:
                causes.setdefault((change.seconds, change.workload), []).append(cause)
    changes = tuple(
        VersionChange(change, tuple(causes.get((change.seconds, change.workload), [TOGETHER])))
        for change in comparison.decisions
    )
    rules = tuple(rule for rule in RULES if rule.holds_in(first) != rule.holds_in(second))
    return Upgrade(name, later, changes, rules, gate_changes(first, second), comparison, early)


def _release(version: str) -> Release:
    """Return the release with a profile as which a version decides."""
    return release_of(OLDEST if is_early(version) else version)


def _other(cluster: Cluster, version: str, rule: EarlyRule, there: tuple[EarlyRule, ...]) -> Cluster:
    """Return the cluster as it was in a release, with one rule of the first releases the other way."""
    if rule in there:
        return as_then(cluster, version, left_out=[rule.name])
    return as_then(cluster, version if is_early(version) else OLDEST, added=[rule.name])


def gate_changes(before: Release, after: Release) -> tuple[GateChange, ...]:
    """The feature gates that came, went or got another default, by name."""
    old, new = DEFAULTS[before], DEFAULTS[after]
    names = sorted({*old, *new})
    return tuple(GateChange(name, old.get(name), new.get(name)) for name in names if old.get(name) != new.get(name))


def _alone(cluster: Cluster, first: Release, second: Release) -> Iterator[tuple[str, Cluster]]:
    """Each difference by its name, and the cluster under the first release with that one changed."""
    for rule in RULES:
        if rule.holds_in(first) and not rule.holds_in(second):
            yield rule.name, _under(cluster, first, {}, left_out=(rule.name,))
        elif rule.holds_in(second) and not rule.holds_in(first):
            yield rule.name, _under(cluster, first, {}, added=(rule.name,))
    for name, on in _gates(cluster, first, second):
        if name in DEFAULTS[first] and name not in LOCKED[first]:
            yield name, _under(cluster, first, {name: on})


def _without(cluster: Cluster, first: Release, second: Release) -> Iterator[tuple[str, Cluster]]:
    """Each gate that the first release does not have, and the cluster under the second without it."""
    for name, on in _gates(cluster, first, second):
        if name not in DEFAULTS[first] and name in DEFAULTS[second] and name not in LOCKED[second]:
            yield name, _under(cluster, second, {name: not on})


def _gates(cluster: Cluster, first: Release, second: Release) -> Iterator[tuple[str, bool]]:
    """The gates that decide something and that the second release has otherwise, with their state there."""
    old, new = effective(first, {}), effective(second, {})
    for name in sorted(EFFECTIVE_GATES):
        if old.get(name) != new.get(name) and name not in cluster.configuration.feature_gates:
            yield name, new.get(name, False)


def _under(
    cluster: Cluster,
    release: Release,
    gates: dict[str, bool],
    *,
    left_out: tuple[str, ...] = (),
    added: tuple[str, ...] = (),
) -> Cluster:
    """The cluster under a release; of its own gates those that the release has."""
    own = cluster.configuration
    kept = {name: on for name, on in own.feature_gates.items() if name in DEFAULTS[release]}
    configuration: Configuration = msgspec.structs.replace(
        own, version=release.name, feature_gates={**kept, **gates}, rules_left_out=left_out, rules_added=added
    )
    return Cluster.from_manifest(msgspec.structs.replace(cluster.written, configuration=configuration), names=False)
