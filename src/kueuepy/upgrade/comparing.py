"""Comparison of the decisions of two releases of Kueue, and the rules that cause the differences."""

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
"""The cause of a decision that only several differences together change."""


class GateChange(msgspec.Struct, frozen=True):
    """A feature gate that differs between two releases.

    Attributes:
        name: Name of the gate.
        before: Default in the first release; `None` if the gate does not exist there.
        after: Default in the second release; `None` if the gate does not exist there.
    """

    name: str
    before: bool | None
    after: bool | None

    def __str__(self) -> str:
        """Format the change, such as `TASBalancedPlacement: off → on`."""
        words = {None: "no gate", True: "on", False: "off"}
        return f"{self.name}: {words[self.before]} → {words[self.after]}"


class VersionChange(msgspec.Struct, frozen=True):
    """A decision that differs between two releases.

    Attributes:
        decision: The time, the job, and the decision of each release.
        causes: The rules and feature gates that each change the decision on their own; or `several together`.
    """

    decision: DecisionChange
    causes: tuple[str, ...]

    def __str__(self) -> str:
        """Format the decision and its causes."""
        return f"{self.decision} ({', '.join(self.causes)})"


class Upgrade(msgspec.Struct, frozen=True):
    """The results of the same jobs under two releases of Kueue.

    Attributes:
        before: Name of the first release.
        after: Name of the second release.
        changes: The decisions that differ, in order of time.
        rules: The rules that hold in only one of the two releases.
        gates: The feature gates that differ.
        comparison: Both simulations, with the totals of each queue.
        early: The rules of releases before the oldest profile that hold in only one of the two releases.
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
    """Compare the decisions of two releases of Kueue about the same jobs, and find the causes of differences.

    The jobs run as in `compare`. To find causes, the function simulates the first release with each single difference:
    a changed rule, or a changed default of a feature gate. If a gate exists only in the second release, the function
    disables the gate in that release instead. A difference that changes a decision is a cause of this change.

    >>> from kueuepy import ClusterQueue, ResourceFlavor
    >>> cluster = Cluster(ResourceFlavor("default"), ClusterQueue.of("team", {"default": {"cpu": 9}}))
    >>> found = compare_versions(cluster, [{"name": "a", "queue": "team", "cpu": 1, "duration": 60}], "v0.17", "v0.18")
    >>> found.changes, found.rules[0].name
    ((), 'flavorless_quota_needs_all_checks')

    Args:
        cluster: The queues and policies.
        jobs: The jobs, with durations.
        before: The first release, such as `v0.17`. Releases without a profile, v0.1 to v0.14, decide like the oldest
            release with a profile, except for `EARLY_RULES` (see `as_then`).
        after: The second release.

    Returns:
        The decisions that differ with their causes, and the differences of the releases.

    Raises:
        InvalidSpecError: A release is unknown, or a job is not valid.
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
    return release_of(OLDEST if is_early(version) else version)


def _other(cluster: Cluster, version: str, rule: EarlyRule, there: tuple[EarlyRule, ...]) -> Cluster:
    """Return the cluster under a release with one early rule switched."""
    if rule in there:
        return as_then(cluster, version, left_out=[rule.name])
    return as_then(cluster, version if is_early(version) else OLDEST, added=[rule.name])


def gate_changes(before: Release, after: Release) -> tuple[GateChange, ...]:
    """Return the feature gates that were added, were removed or have another default, sorted by name."""
    old, new = DEFAULTS[before], DEFAULTS[after]
    names = sorted({*old, *new})
    return tuple(GateChange(name, old.get(name), new.get(name)) for name in names if old.get(name) != new.get(name))


def _alone(cluster: Cluster, first: Release, second: Release) -> Iterator[tuple[str, Cluster]]:
    """Yield each difference, and the cluster under the first release with this difference only."""
    for rule in RULES:
        if rule.holds_in(first) and not rule.holds_in(second):
            yield rule.name, _under(cluster, first, {}, left_out=(rule.name,))
        elif rule.holds_in(second) and not rule.holds_in(first):
            yield rule.name, _under(cluster, first, {}, added=(rule.name,))
    for name, on in _gates(cluster, first, second):
        if name in DEFAULTS[first] and name not in LOCKED[first]:
            yield name, _under(cluster, first, {name: on})


def _without(cluster: Cluster, first: Release, second: Release) -> Iterator[tuple[str, Cluster]]:
    """Yield each gate missing in the first release, and the cluster under the second release with the gate switched."""
    for name, on in _gates(cluster, first, second):
        if name not in DEFAULTS[first] and name in DEFAULTS[second] and name not in LOCKED[second]:
            yield name, _under(cluster, second, {name: not on})


def _gates(cluster: Cluster, first: Release, second: Release) -> Iterator[tuple[str, bool]]:
    """Yield the effective gates that differ, with their state in the second release."""
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
    """Return the cluster under a release, with its own feature gates as far as they exist there."""
    own = cluster.configuration
    kept = {name: on for name, on in own.feature_gates.items() if name in DEFAULTS[release]}
    configuration: Configuration = msgspec.structs.replace(
        own, version=release.name, feature_gates={**kept, **gates}, rules_left_out=left_out, rules_added=added
    )
    return Cluster.from_manifest(msgspec.structs.replace(cluster.written, configuration=configuration), names=False)
