"""Rules: functions that examine the objects of a context, and yield problems."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Literal, NamedTuple, TypeAlias

import msgspec

from kueuepy._core import Engine, Quantity, Tables
from kueuepy.engine.cached import cached_property
from kueuepy.errors import Path, checked_methods, path_text
from kueuepy.jobs.cluster import JobCluster
from kueuepy.jobs.convert import Existing, Made, conversions
from kueuepy.look.notebook import Sheet, repr_html
from kueuepy.manifest import QUEUE_NAME, Manifest, ReadJob, called, check, object_name
from kueuepy.objects import ClusterQueue, Cohort, Configuration, Object, PodSet, QuantityText, ResourceFlavor, Workload
from kueuepy.session.store import PASSIVE

FlavorResource: TypeAlias = tuple[str, str]
"""A flavor and a resource, by name."""


class PairQuota(NamedTuple):
    """The quota for a flavor and resource, in the scheduler's integer units, and the path of the quota in its object.

    Attributes:
        nominal: The nominal quota.
        borrowing_limit: Maximum borrowed amount; `None` for no limit.
        lending_limit: Maximum amount that other queues can borrow; `None` for all of the nominal quota.
        path: Path of the quota in the object.
    """

    nominal: int = 0
    borrowing_limit: int | None = None
    lending_limit: int | None = None
    path: Path = ()


def quotas_of(owner: ClusterQueue | Cohort) -> dict[FlavorResource, PairQuota]:
    """Return the quotas of a queue or cohort by flavor and resource."""
    return dict(_quotas(owner))


def _quotas(owner: ClusterQueue | Cohort) -> Iterator[tuple[FlavorResource, PairQuota]]:
    for number, group in enumerate(owner.resource_groups):
        for flavor_number, flavor in enumerate(group.flavors):
            for position, quota in enumerate(flavor.resources):
                path = ("resourceGroups", number, "flavors", flavor_number, "resources", position)
                limits = (quota.nominal_quota, quota.borrowing_limit, quota.lending_limit)
                nominal, borrowing, lending = (_amount(quota.name, limit) for limit in limits)
                yield (flavor.name, quota.name), PairQuota(nominal or 0, borrowing, lending, ("spec", *path))


def _amount(resource: str, quantity: QuantityText | None) -> int | None:
    return None if quantity is None else Quantity(quantity).quota(resource)


class Capacity:
    """The capacities of queues in a forest of cohorts without usage, computed by the core."""

    def __init__(self, queues: Iterable[ClusterQueue], cohorts: Mapping[str, Cohort]) -> None:
        """Compute the capacities of queues.

        Args:
            queues: The ClusterQueues.
            cohorts: The Cohorts by name.
        """
        engine = Engine()
        for owner in (*cohorts.values(), *queues):
            engine.apply(owner)
        tables = Tables(engine)
        self._parents = [parent for _, _, parent, *_ in tables.nodes]
        self._rows = {name: row for row, (name, kind, *_) in enumerate(tables.nodes) if kind == "ClusterQueue"}
        self._columns = {pair: column for column, pair in enumerate(tables.cells)}
        self._potential, self._subtree, self._guaranteed = tables.potential, tables.subtree_quota, tables.guaranteed

    def largest(self, queue: str, pair: FlavorResource) -> int:
        """Return the largest amount of a flavor and resource that a queue can use.

        Source: `pkg/cache/scheduler/resource_node.go:potentialAvailable`.
        """
        return self._largest(self._rows[queue], pair)

    def borrowable(self, queue: str, pair: FlavorResource) -> int:
        """Return the largest amount that a queue could borrow if it had no borrowing limit."""
        parent = self._parents[self._rows[queue]]
        return self._largest(parent, pair) - self.lent(queue, pair) if parent >= 0 else 0

    def lent(self, queue: str, pair: FlavorResource) -> int:
        """Return the largest amount of a flavor and resource that a queue can lend."""
        row, column = self._rows[queue], self._columns.get(pair)
        if column is None or self._parents[row] < 0:
            return 0
        return int(self._subtree[row, column]) - int(self._guaranteed[row, column])

    def _largest(self, row: int, pair: FlavorResource) -> int:
        column = self._columns.get(pair)
        return 0 if column is None else int(self._potential[row, column])


class LintContext:
    """The objects by name, and their cohort trees.

    Attributes:
        manifest: The objects.
        queues: The ClusterQueues.
        configuration: The Configuration, or `None` if none was given.
    """

    def __init__(self, manifest: Manifest, configuration: Configuration | None = None) -> None:
        """Create a context; an explicit Configuration overrides the Configuration in the manifest."""
        self.manifest = manifest
        self.queues = manifest.cluster_queues
        self.configuration = configuration or manifest.configuration

    @cached_property
    def flavors(self) -> dict[str, ResourceFlavor]:
        """The ResourceFlavors by name."""
        return {flavor.name: flavor for flavor in self.manifest.resource_flavors}

    @cached_property
    def parents(self) -> dict[str, str | None]:
        """The parent of each Cohort object, by name."""
        return {cohort.name: cohort.parent_name for cohort in self.manifest.cohorts}

    @cached_property
    def workloads(self) -> tuple[Workload, ...]:
        """The unfinished Workloads of the manifest, and the Workloads that Kueue would create for its jobs."""
        unfinished = (workload for workload in self.manifest.workloads if not workload.is_finished)
        return (*unfinished, *(made.workload for made in self._made))

    @cached_property
    def _made(self) -> tuple[Made, ...]:
        manifest, cluster = self.manifest, JobCluster.of_manifest(self.manifest, self.configuration)
        checked = []
        for made in filter(Existing(manifest.workloads).lacks, conversions(manifest.jobs, cluster)):
            with made.written():
                check(made.workload, feature_gates=cluster.config.gates)
            checked.append(made)
        return tuple(checked)

    @property
    def submitted(self) -> Iterator[tuple[ClusterQueue, Workload]]:
        """The workloads that were submitted to a ClusterQueue, each with this queue."""
        return ((queue, workload) for queue in self.queues for workload in self.workloads_of(queue))

    @property
    def pod_sets(self) -> Iterator[tuple[Workload, int, PodSet]]:
        """The pod sets of all workloads, each with its workload and its position there."""
        return ((one, at, pod_set) for one in self.workloads for at, pod_set in enumerate(one.pod_sets))

    def job_of(self, workload: Workload) -> ReadJob | None:
        """Return the job from which a Workload was created, or `None` if it was not read from a file."""
        return self._jobs_of.get(id(workload))

    @cached_property
    def _jobs_of(self) -> dict[int, ReadJob]:
        return {id(made.workload): made.given for made in self._made if isinstance(made.given, ReadJob)}

    def workloads_of(self, queue: ClusterQueue) -> list[Workload]:
        """Return the workloads that were submitted to a ClusterQueue."""
        return self._workloads_of.get(queue.name, [])

    @cached_property
    def _workloads_of(self) -> dict[str, list[Workload]]:
        behind = {(queue.namespace, queue.name): queue.cluster_queue for queue in self.manifest.local_queues}
        found: dict[str, list[Workload]] = {}
        for workload in self.workloads:
            queue = behind.get((workload.namespace, workload.queue_name))
            if queue is not None:
                found.setdefault(queue, []).append(workload)
        return found

    def root(self, cohort: str | None) -> str | None:
        """Return the root of a cohort's tree; `None` if no cohort is given or the cohorts form a cycle."""
        # Parents can form a cycle, which Kueue accepts.
        seen: set[str] = set()
        while cohort and (parent := self.parents.get(cohort)):
            if cohort in seen:
                return None
            seen.add(cohort)
            cohort = parent
        return cohort or None

    @cached_property
    def roots(self) -> dict[str, str | None]:
        """The root cohort of each ClusterQueue, by name."""
        return {queue.name: self.root(queue.cohort_name) for queue in self.queues}

    def others(self, queue: ClusterQueue) -> list[ClusterQueue]:
        """Return the other ClusterQueues under the same root cohort."""
        root = self.roots[queue.name]
        return [other for other in self.queues if root and other is not queue and self.roots[other.name] == root]

    def cells(self, queue: ClusterQueue) -> dict[FlavorResource, PairQuota]:
        """Return the quotas of a ClusterQueue by flavor and resource."""
        return self._quotas[queue.name]

    @cached_property
    def _quotas(self) -> dict[str, dict[FlavorResource, PairQuota]]:
        return {queue.name: quotas_of(queue) for queue in self.queues}

    def quota(self, cohort: Cohort, pair: FlavorResource) -> int:
        """Return the nominal quota defined by the Cohort itself."""
        return quotas_of(cohort).get(pair, PairQuota()).nominal

    @cached_property
    def capacity(self) -> Capacity:
        """The capacity of each queue; a queue whose cohorts form a cycle is treated as a queue without a cohort."""
        cohorts = {cohort.name: cohort for cohort in self.manifest.cohorts if self.root(cohort.name)}
        return Capacity(self.queues, cohorts)

    @cached_property
    def empty(self) -> Engine:
        """An engine with the objects of the context, but without workloads and other pods."""
        engine = Engine(self.configuration)
        for obj in msgspec.structs.replace(self.manifest, pods=(), workloads=()).objects():
            if not isinstance(obj, PASSIVE):
                engine.apply(obj)
        return engine

    def may_borrow(self, queue: ClusterQueue, pair: FlavorResource) -> bool:
        """Return whether a queue can use more of a flavor and resource than its nominal quota."""
        limit = self.cells(queue)[pair].borrowing_limit
        return limit != 0 and bool(self.roots[queue.name]) and self.capacity.borrowable(queue.name, pair) > 0

    def reclaimers(self, queue: ClusterQueue) -> Iterator[tuple[ClusterQueue, FlavorResource]]:
        """Yield the queues that can reclaim quota from a queue, each with the first reclaimable flavor and resource."""
        for other in self.others(queue):
            if other.preemption.reclaim_within_cohort != "Never":
                mine, theirs = self.cells(queue), self.cells(other)
                shared = (pair for pair in mine if pair in theirs and self.capacity.lent(other.name, pair) > 0)
                if pair := next((pair for pair in shared if self.may_borrow(queue, pair)), None):
                    yield other, pair


Severity: TypeAlias = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
"""The severities, most severe first.

An error means that something can never work, a warning that a setting does not do what it seems to do, and a note is
for information.
"""


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One problem of one object, found by a rule.

    Attributes:
        rule: The rule's id, such as `L6`.
        severity: `error`, `warning` or `note`.
        object: Kind and name of the object, such as `ClusterQueue "vision"`.
        field: Path of the field in the v1beta2 API; empty for the whole object.
        message: The problem, and a way to fix it.
        where: File and line; empty for an object built in Python.
    """

    rule: str
    severity: Severity
    object: str
    field: str
    message: str
    where: str = ""

    def __str__(self) -> str:
        """Format the finding as one line: location, severity, rule, object, field and message."""
        start = f"{self.where}: " if self.where else ""
        field = f"{self.field}: " if self.field else ""
        return f"{start}{self.severity} {self.rule}: {self.object}: {field}{self.message}"


@checked_methods
class Findings(list[Finding]):
    """A list of findings in the order of the rules, then of the objects."""

    def at_least(self, severity: Severity) -> "Findings":
        """Return the findings that have at least the given severity."""
        included = SEVERITIES[: SEVERITIES.index(severity) + 1]
        return Findings(finding for finding in self if finding.severity in included)

    def __str__(self) -> str:
        """Format each finding as a line; `no findings` for an empty list."""
        return "\n".join(map(str, self)) or "no findings"

    def sheets(self) -> tuple[Sheet, ...]:
        """Return one table of the findings; empty if there are no findings."""
        header = ("rule", "severity", "object", "field", "message")
        rows = [(found.rule, found.severity, found.object, found.field, found.message) for found in self]
        return (Sheet(header, rows),) if rows else ()

    _repr_html_ = repr_html


# A job names its queue in a label, its Workload in `spec.queueName`.
_QUEUE_LABEL = ("metadata", "labels", QUEUE_NAME)


class Hit(NamedTuple):
    """One problem found by a rule.

    Attributes:
        subject: The object, or a name if there is no object, such as a cohort without a Cohort object.
        path: Path of the field.
        message: The problem, and a way to fix it.
        where: File and line, if the subject is a name; those of an object or the Configuration are derived from it.
    """

    subject: Object | str
    path: Path
    message: str
    where: str = ""


class Rule(msgspec.Struct, frozen=True):
    """A rule that finds valid objects with a surprising effect.

    Attributes:
        id: `L1`, `L2` and so on.
        severity: Severity of all findings of the rule.
        title: The problem as one sentence.
        hits: Function that searches a context for the problem.
    """

    id: str
    severity: Severity
    title: str
    hits: Callable[[LintContext], Iterator[Hit]]

    def findings(self, context: LintContext) -> Iterator[Finding]:
        """Yield the findings of the rule in a context."""
        for hit in self.hits(context):
            subject, path, message, where = _as_written(hit, context)
            if not isinstance(subject, str) or subject == "Configuration":
                where = context.manifest.where(None if isinstance(subject, str) else subject, path)
            yield Finding(
                rule=self.id,
                severity=self.severity,
                object=subject if isinstance(subject, str) else called(subject),
                field=path_text(path),
                message=message,
                where=where,
            )


def _as_written(hit: Hit, context: LintContext) -> Hit:
    """Report a problem of a job's Workload as a problem of the job, because the user wrote the job."""
    job = context.job_of(hit.subject) if isinstance(hit.subject, Workload) else None
    if job is None:
        return hit
    path = _QUEUE_LABEL if hit.path == ("spec", "queueName") else ()
    return Hit(object_name(job), path, hit.message, job.where(path))


def rule(name: str, severity: Severity, title: str) -> Callable[[Callable[[LintContext], Iterator[Hit]]], Rule]:
    """Decorate a function to make it a rule."""
    return lambda hits: Rule(name, severity, title, hits)
