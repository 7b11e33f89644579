"""Comparison of releases of Kueue: decisions that differ for the same jobs, and the rules that cause them."""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any

import msgspec

from kueuepy.cluster import Cluster
from kueuepy.cluster.early import EARLY_RULES, OLDEST, EarlyRule, as_then, early_rules, is_early
from kueuepy.errors import InvalidSpecError, checked
from kueuepy.profiles import DEFAULTS, LOCKED, RULES, Release, Rule, effective, of_patch, release_of, version_of
from kueuepy.profiles.gates import COVERAGE
from kueuepy.simulation.changes import DecisionChange
from kueuepy.simulation.comparison import Comparison, compare
from kueuepy.simulation.model import Missing
from kueuepy.simulation.simulate import Progress

TOGETHER = "several together"
"""Cause of a decision that no single rule or feature gate changes."""


class GateChange(msgspec.Struct, frozen=True):
    """A feature gate with different defaults in two releases.

    Attributes:
        name: Name of the feature gate.
        before: Default in the first release; `None` if the release does not have the gate.
        after: Default in the second release; `None` if the release does not have the gate.

    Example:
        >>> str(GateChange("SchedulingEquivalenceHashing", before=False, after=True))
        'SchedulingEquivalenceHashing: off → on'
    """

    name: str
    before: bool | None
    after: bool | None

    def __str__(self) -> str:
        """Return the name and both defaults, such as `off → on`."""
        words = {None: "no gate", True: "on", False: "off"}
        return f"{self.name}: {words[self.before]} → {words[self.after]}"


class VersionChange(msgspec.Struct, frozen=True):
    """A decision that differs between two releases.

    Attributes:
        decision: Time, workload, and the decisions of both releases.
        causes: Names of the rules and feature gates each of which suffices to change this decision; if only a
            combination does, `several together`.
    """

    decision: DecisionChange
    causes: tuple[str, ...]

    def __str__(self) -> str:
        """Return the decision and its causes."""
        return f"{self.decision} ({', '.join(self.causes)})"


class Upgrade(msgspec.Struct, frozen=True):
    """Result of `compare_versions`: the same jobs under two releases of Kueue.

    Attributes:
        before: Name of the first release.
        after: Name of the second release.
        changes: The decisions that differ, in time order.
        rules: The rules that apply in only one of the releases.
        gates: The feature gates with different defaults.
        comparison: Results of both simulations.
        early: The rules in `EARLY_RULES` that apply in only one of the releases.
    """

    before: str
    after: str
    changes: tuple[VersionChange, ...]
    rules: tuple[Rule, ...]
    gates: tuple[GateChange, ...]
    comparison: Comparison
    early: tuple[EarlyRule, ...] = ()


@checked
def compare_versions(
    cluster: Cluster,
    jobs: Iterable[Any],
    before: str,
    after: str,
    *,
    missing: Missing = "error",
    progress: Callable[[Progress], None] | None = None,
) -> Upgrade:
    """Simulate the same jobs under two releases of Kueue; return the decisions that differ, with their causes.

    To find causes, each difference between the releases is simulated separately. A difference is a rule, or the default
    of a feature gate. The difference is applied to the first release; a gate that exists only in the second release is
    reverted in the second release instead. A difference is a cause of a changed decision if the simulation with only
    this difference also changes the decision.

    Args:
        cluster: The queues and policies.
        jobs: The jobs, with durations, in any form that `simulate` accepts.
        before: The first release, such as `v0.17`. Releases v0.1 to v0.14 have no profile: they are simulated as the
            oldest release with a profile, with the rules of `EARLY_RULES` applied by `as_then`.
        after: The second release, in the same form as `before`.
        missing: How to treat jobs whose LocalQueue does not exist: `error` (the default), `skip` or `wait`.
        progress: A function that receives a `Progress` at most ten times a second: first for the simulations of both
            releases, and then for those of single differences.

    Returns:
        The decisions that differ, the rules and gates that differ, and both simulations.

    Raises:
        InvalidSpecError: A release is unknown, a job is invalid, or the releases are different patches that kueuepy
            decides with one profile.
        NotFoundError: Jobs name LocalQueues that do not exist, and `missing` is `error`.

    Example:
        >>> from kueuepy import ClusterQueue, ResourceFlavor
        >>> cluster = Cluster(ResourceFlavor("default"), ClusterQueue.of("team", {"default": {"cpu": 9}}))
        >>> jobs = [{"name": "a", "queue": "team", "cpu": 1, "duration": 60}]
        >>> upgrade = compare_versions(cluster, jobs, "v0.17", "v0.18")
        >>> upgrade.changes, upgrade.rules[0].name
        ((), 'flavorless_quota_needs_all_checks')
    """
    first, second = _release(before), _release(after)
    name, later = (version if is_early(version) else version_of(version) for version in (before, after))
    patches = [version for version in (before, after) if not is_early(version) and of_patch(version)]
    if first == second and patches:
        why = f"{version_of(patches[0])} {of_patch(patches[0])}"
        raise InvalidSpecError(f"{before} and {after}: have one profile, so their decisions would not differ: {why}")
    earlier, ended = (early_rules(version) if is_early(version) else () for version in (before, after))
    early = tuple(rule for rule in EARLY_RULES if (rule in earlier) != (rule in ended))
    # The jobs are simulated many times, and an iterator would be empty after the first.
    items = list(jobs)
    then, wanted = (as_then(cluster, version) if is_early(version) else cluster for version in (before, after))
    old = _under(then, first, {}, version=first.name if is_early(before) else name)
    new = _under(wanted, second, {}, version=second.name if is_early(after) else later)
    comparison = compare(old, new, items, names=(name, later), missing=missing, progress=progress)
    causes: dict[tuple[float, str], list[str]] = {}
    # Without a difference, there is no cause to search for, and each cause costs a simulation.
    if comparison.decisions:
        taken_back = ((rule.name, _under(_other(cluster, before, rule, earlier), first, {})) for rule in early)
        forwards = dict(chain(taken_back, _alone(then, first, second)))
        backwards = dict(_without(cluster, first, second))
        runs = compare({**forwards, **backwards}, items, missing=missing, progress=progress)
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
    """Return the release whose profile is used for a version: the oldest release for versions without a profile."""
    return release_of(OLDEST if is_early(version) else version)


def _other(cluster: Cluster, version: str, rule: EarlyRule, there: tuple[EarlyRule, ...]) -> Cluster:
    """Return the cluster for a simulation of a release, with one rule of `EARLY_RULES` added or removed."""
    if rule in there:
        return as_then(cluster, version, left_out=[rule.name])
    return as_then(cluster, version if is_early(version) else OLDEST, added=[rule.name])


def gate_changes(before: Release, after: Release) -> tuple[GateChange, ...]:
    """Return the feature gates that were added or removed, or whose default changed, sorted by name.

    Args:
        before: The first release.
        after: The second release.

    Example:
        >>> changes = gate_changes(release_of("v0.17"), release_of("v0.18"))
        >>> next(str(change) for change in changes if change.name == "SchedulingEquivalenceHashing")
        'SchedulingEquivalenceHashing: off → on'
    """
    old, new = DEFAULTS[before], DEFAULTS[after]
    names = sorted({*old, *new})
    return tuple(GateChange(name, old.get(name), new.get(name)) for name in names if old.get(name) != new.get(name))


def _alone(cluster: Cluster, first: Release, second: Release) -> Iterator[tuple[str, Cluster]]:
    """Yield the name of each difference, and the cluster under the first release with this difference applied."""
    for rule in RULES:
        if rule.holds_in(first) and not rule.holds_in(second):
            yield rule.name, _under(cluster, first, {}, left_out=(rule.name,))
        elif rule.holds_in(second) and not rule.holds_in(first):
            yield rule.name, _under(cluster, first, {}, added=(rule.name,))
    for name, on in _gates(cluster, first, second):
        # A gate that this release lacks or locks cannot be set; `_without` tries it in the other one.
        if name in DEFAULTS[first] and name not in LOCKED[first]:
            yield name, _under(cluster, first, {name: on})


def _without(cluster: Cluster, first: Release, second: Release) -> Iterator[tuple[str, Cluster]]:
    """Yield each gate that is new in the second release, and the cluster under that release with the gate inverted."""
    for name, on in _gates(cluster, first, second):
        if name not in DEFAULTS[first] and name in DEFAULTS[second] and name not in LOCKED[second]:
            yield name, _under(cluster, second, {name: not on})


def _gates(cluster: Cluster, first: Release, second: Release) -> Iterator[tuple[str, bool]]:
    """Yield the gates that affect decisions and whose defaults differ, with the default in the second release."""
    old, new = effective(first, {}), effective(second, {})
    for name in sorted(name for name, gate in COVERAGE.items() if gate.effect == "modelled"):
        if old.get(name) != new.get(name) and name not in cluster.configuration.feature_gates:
            yield name, new.get(name, False)


def _under(
    cluster: Cluster,
    release: Release,
    gates: dict[str, bool],
    *,
    version: str | None = None,
    left_out: tuple[str, ...] = (),
    added: tuple[str, ...] = (),
) -> Cluster:
    """Return the cluster for a simulation of a release, without feature gates that the release does not have."""
    own = cluster.configuration
    kept = {name: on for name, on in own.feature_gates.items() if name in DEFAULTS[release]}
    configuration = msgspec.structs.replace(
        own,
        version=version or release.name,
        feature_gates={**kept, **gates},
        rules_left_out=left_out,
        rules_added=added,
    )
    return Cluster.from_manifest(msgspec.structs.replace(cluster.written, configuration=configuration), names=False)
