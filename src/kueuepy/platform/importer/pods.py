"""Conversion of running pods that Kueue does not manage yet into admitted Workloads, by mapping rules.

Source: `cmd/importer` (kueue ff69552e79): `pod/check.go`, `pod/import.go`, `mapping`.
"""

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

import msgspec

from kueuepy._core import Quantity, pod_requests
from kueuepy.cluster import Cluster
from kueuepy.errors import InvalidSpecError, KueueError, checked
from kueuepy.manifest.body import part
from kueuepy.manifest.jobkinds import QUEUE_NAME
from kueuepy.objects import (
    Admission,
    ClusterQueue,
    Condition,
    PodSetAssignment,
    PriorityClass,
    Timestamp,
    Workload,
    WorkloadStatus,
    ready,
)
from kueuepy.platform.importer.report import Imported

# Pods in these phases no longer use a node.
_OVER = ("Succeeded", "Failed")


class Match(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """The pods to which a rule applies; a field that is not set matches every pod."""

    priority_class_name: str = ""
    labels: dict[str, str] = {}


class Rule(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """A rule that maps matching pods to a LocalQueue of their namespace, or excludes them.

    Attributes:
        match: The pods to which the rule applies.
        to_local_queue: The name of the LocalQueue.
        skip: Whether matching pods are excluded.
    """

    match: Match = Match()
    to_local_queue: str = ""
    skip: bool = False

    def matches(self, labels: Mapping[str, str], priority_class_name: str) -> bool:
        """Return whether the rule applies to a pod with the given labels and priority class."""
        wanted = self.match.priority_class_name
        return wanted in ("", priority_class_name) and all(
            labels.get(name) == value for name, value in self.match.labels.items()
        )


Rules: TypeAlias = "Iterable[Rule | Mapping[str, Any]]"


def rules_of(rules: Rules) -> tuple[Rule, ...]:
    """Parse mapping rules in the form of Kueue's mapping file: `{match: {…}, toLocalQueue: …, skip: …}`.

    Args:
        rules: The rules; `Rule` objects are returned unchanged.

    Raises:
        InvalidSpecError: A rule is malformed.
    """
    try:
        return tuple(rule if isinstance(rule, Rule) else msgspec.convert(rule, ready(Rule)) for rule in rules)
    except msgspec.ValidationError as error:
        raise InvalidSpecError(f"mapping rule: {error}") from None


@checked
def by_label(label: str, queues: Mapping[str, str]) -> tuple[Rule, ...]:
    """Return rules that map the values of a label to LocalQueues.

    Args:
        label: The name of the label.
        queues: The LocalQueue for each value.

    Example:
        >>> by_label("src.lbl", {"src-val": "user-queue"})[0].to_local_queue
        'user-queue'
    """
    return tuple(Rule(Match(labels={label: value}), queue) for value, queue in queues.items())


def key_of(job: dict[str, Any]) -> str:
    """Return `namespace/name` of a manifest, which may have no name."""
    metadata = part(job, "metadata")
    return f"{metadata.get('namespace', 'default')}/{metadata.get('name', '')}"


class PodImport:
    """The import of pods into a cluster."""

    def __init__(self, cluster: Cluster, rules: Rules, now: int) -> None:
        """Prepare the import."""
        self._rules = rules_of(rules)
        self._now = now
        self._cluster = cluster
        self._local_queues = {queue.key: queue for queue in cluster.local_queues}
        self._cluster_queues = {queue.name: queue for queue in cluster.cluster_queues}
        self._flavors = {flavor.name for flavor in cluster.resource_flavors}
        self._priorities = {one.name: one.value for one in cluster.objects() if isinstance(one, PriorityClass)}
        self._known = {workload.key for workload in cluster.workloads}

    def index(self, pod: dict[str, Any]) -> tuple[Workload | None, Imported]:
        """Return the admitted Workload of a pod, and its row of the report.

        The Workload is `None` if the pod is skipped or cannot be placed.
        """
        key = key_of(pod)
        try:
            workload = self._placed(pod, key)
        except _SkipError as reason:
            return None, Imported("Pod", key, "skipped", str(reason))
        except KueueError as error:
            return None, Imported("Pod", key, "not placed", str(error))
        self._known.add(workload.key)
        return workload, Imported("Pod", key, "imported", f"as Workload {workload.key}")

    def _placed(self, pod: dict[str, Any], key: str) -> Workload:
        phase = part(pod, "status").get("phase")
        if phase in _OVER:
            raise _SkipError(f"its phase is {phase}")
        labels = part(pod, "metadata", "labels")
        class_name = str(part(pod, "spec").get("priorityClassName") or "")
        rule = next((rule for rule in self._rules if rule.matches(labels, class_name)), None)
        if rule is None:
            raise InvalidSpecError("no mapping found")
        if rule.skip:
            raise _SkipError("a mapping rule says so")
        queue = self._cluster_queue(key.partition("/")[0], rule.to_local_queue)
        was = labels.get(QUEUE_NAME, rule.to_local_queue)
        if was != rule.to_local_queue:
            raise InvalidSpecError(f'another local queue name is set "{was}" expecting "{rule.to_local_queue}"')
        workload = self._workload(pod, rule.to_local_queue)
        if workload.key in self._known:
            raise _SkipError(f"its Workload {workload.key} is there already")
        return self._admitted(self._with_priority(workload, class_name), queue)

    def _cluster_queue(self, namespace: str, name: str) -> ClusterQueue:
        local = self._local_queues.get(f"{namespace}/{name}")
        if local is None:
            raise InvalidSpecError(f"localqueue not found: {namespace}/{name}")
        queue = self._cluster_queues.get(local.cluster_queue)
        if queue is None:
            raise InvalidSpecError(f"clusterqueue not found: {local.cluster_queue}")
        flavors = {quotas.name for group in queue.resource_groups for quotas in group.flavors}
        if not flavors or flavors - self._flavors:
            missing = ", ".join(sorted(flavors - self._flavors)) or "resource groups"
            raise InvalidSpecError(f"clusterqueue invalid: {queue.name}: it lacks {missing}")
        return queue

    def _workload(self, pod: dict[str, Any], queue: str) -> Workload:
        """Return the Workload that Kueue would create for the pod if the pod named the given LocalQueue."""
        from kueuepy.jobs import to_workload  # noqa: PLC0415 - only pods need it

        metadata = {name: value for name, value in part(pod, "metadata").items() if name != "ownerReferences"}
        metadata["labels"] = {**part(pod, "metadata", "labels"), QUEUE_NAME: queue}
        spec = {name: value for name, value in part(pod, "spec").items() if name != "priorityClassName"}
        queued = {**pod, "apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
        return to_workload(queued, config=self._cluster.configuration)

    def _with_priority(self, workload: Workload, class_name: str) -> Workload:
        if not class_name:
            return workload
        if class_name not in self._priorities:
            raise InvalidSpecError(f"priorityclass not found: {class_name}")
        return msgspec.structs.replace(workload, priority=self._priorities[class_name])

    def _admitted(self, workload: Workload, queue: ClusterQueue) -> Workload:
        """Return the Workload with the first flavor of each resource assigned, regardless of the available quota."""
        pod_set = workload.pod_sets[0]
        requests = pod_requests(pod_set.template, configuration=self._cluster.configuration)
        flavors = {}
        for resource in sorted(name for name, amount in requests.items() if amount):
            group = next((group for group in queue.resource_groups if resource in group.covered_resources), None)
            if group is None:
                raise InvalidSpecError(f'resource "{resource}" is not covered by ClusterQueue "{queue.name}"')
            flavors[resource] = group.flavors[0].name
        usage = {resource: Quantity.format(resource, requests[resource]) for resource in flavors}
        assignment = PodSetAssignment(pod_set.name, flavors=dict(flavors), resource_usage=dict(usage), count=1)
        message = f"Imported into ClusterQueue {queue.name}"
        conditions = tuple(
            Condition(kind, "True", "Imported", message, Timestamp.of(self._now))
            for kind in ("QuotaReserved", "Admitted")
        )
        status = WorkloadStatus(conditions=conditions, admission=Admission(queue.name, (assignment,)))
        return msgspec.structs.replace(workload, status=status)


class _SkipError(Exception):
    """Raised for a pod that does not need to be imported."""
