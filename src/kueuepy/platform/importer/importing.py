"""Import of the output of `kubectl get -A -o yaml` into a Scheduler."""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from kueuepy.cluster import Cluster
from kueuepy.cluster.cluster import dangling
from kueuepy.errors import KueueError, checked, counted
from kueuepy.jobs import adapter_for
from kueuepy.jobs.convert import Existing, Made
from kueuepy.manifest import Item, Limits, Manifest, Source, collector, live_parts, load, opened, part
from kueuepy.manifest.jobkinds import QUEUE_NAME
from kueuepy.objects import Condition, Duration, TimeLike, Workload, nanoseconds_of
from kueuepy.platform.importer.pods import PodImport, Rules, key_of
from kueuepy.platform.importer.report import RUNS, ByteMeter, Imported, ImportReport, Outcome, Progress, import_report
from kueuepy.profiles import release_of_image
from kueuepy.scheduler import Scheduler
from kueuepy.session.changes import await_victims, is_stopping, job_stopped, take
from kueuepy.session.session import session_of
from kueuepy.session.submission import SubmittedWorkload, latest_time, of_jobs

DUMP_LIMITS = Limits(document_bytes=2**31, nodes=500_000_000)
"""The limits on the size of a dump: 2 GiB and 500 million nodes, which are 8 and 10 times the limits of a manifest."""
# Without the reason WaitingForPreemptedWorkloads, only this message shows the wait for victims.
_PENDING_PREEMPTION = "Pending the preemption of "
_PLURALS = {"Topology": "topologies"}


class Import(msgspec.Struct, frozen=True):
    """An imported cluster.

    Attributes:
        scheduler: The Scheduler in the state of the cluster. No cycle has run on this Scheduler yet.
        report: The outcome for each Workload, job and pod.
        notes: Notes about fields that were ignored or corrected, with file and line.
        kueue_version: The Kueue release of the cluster, taken from the image of Kueue's manager; an empty string if it
            is unknown.
    """

    scheduler: Scheduler
    report: ImportReport
    notes: tuple[str, ...]
    kueue_version: str = ""


@checked
def import_cluster(
    source: Source,
    *,
    rules: Rules = (),
    now: TimeLike | None = None,
    strict: bool = False,
    limits: Limits = DUMP_LIMITS,
    progress: Progress | None = None,
    version: str | None = None,
    stopping: Duration = "30s",
) -> Import:
    """Import a running cluster, a recording of one, or a dump.

    Workloads keep the quota, admission checks, retries and times of their status, even if a queue then exceeds its
    quota. Jobs without a Workload are submitted. Pods that Kueue does not manage become admitted Workloads if a rule
    maps them to a queue, as in Kueue's importer; without rules they are ignored. The report lists every object that
    could not be placed.

    Args:
        source: Files, directories, strings or parsed objects, of all kinds and in any order; or `cluster:CONTEXT` for a
            running cluster (see `kueuepy.platform.live.connect`), or `history.db` for a recording.
        rules: Rules that map pods to LocalQueues; the first match applies (see `kueuepy.platform.importer.pods.Rule`).
            Default: none.
        now: The initial virtual time. Default: the latest time recorded in a Workload or, if it is later, the time at
            which a running cluster was read.
        strict: Whether to reject input that an API server would reject. If False, problems are corrected where possible
            and reported in `notes`. Default: False.
        limits: Limits on the size of the input.
        progress: A function that is called with the number of bytes read and the total number of bytes.
        version: The Kueue release whose rules apply, such as `v0.18`. Default: the release of a running cluster or, for
            a dump, the release that this package implements.
        stopping: The time that the pods of an evicted job take to terminate; until then the workload holds its quota.
            For a workload that is already evicted in the dump and still holds quota, the termination starts at `now`.
            The dump does not contain the termination time; the default, 30 s, is Kubernetes' termination grace period.
            Call `Scheduler.job_stopped` to end the termination of one workload's pods earlier.

    Returns:
        The Scheduler, and a report.

    Raises:
        ManifestError: An object or a file cannot be read. The message has one line per problem.
        DuplicateError: Two objects of one kind have the same name (only if `strict`).
        NotFoundError: A file does not exist.

    Example:
        >>> imported = import_cluster("{apiVersion: v1, kind: Namespace, metadata: {name: team}}" + chr(10))
        >>> imported.scheduler.now, imported.report.problems
        (0.0, ())
    """
    pods: list[dict[str, Any]] = []
    rules = tuple(rules)
    source = opened(source)
    live = live_parts(source)
    meter = ByteMeter(source, progress)
    seen: set[str] = set()

    def pick(item: Item) -> bool:
        meter.count(item.text)
        seen.update(_releases_of_manager(item.value))
        kind = (item.value.get("apiVersion"), item.value.get("kind"))
        # Of a pod that Kueue manages, the Workload is imported.
        if not rules or kind != ("v1", "Pod") or QUEUE_NAME in part(item.value, "metadata", "labels"):
            return False
        pods.append(item.value)
        return True

    # Millions of new objects would start the garbage collector again and again, which finds nothing.
    with collector.at_rest():
        manifest = load(source, strict=strict, limits=limits, pick=pick, version=version)
        earliest = max((one.time for one in live), default=0)
        found = import_manifest(manifest, rules=rules, pods=pods, now=now, earliest=earliest, stopping=stopping)
    meter.finish()
    seen.update(one.release for one in live)
    return msgspec.structs.replace(found, kueue_version=max(seen, default=""))


def import_manifest(
    manifest: Manifest,
    *,
    rules: Rules = (),
    pods: Iterable[dict[str, Any]] = (),
    now: TimeLike | None = None,
    earliest: int = 0,
    stopping: Duration = "30s",
) -> Import:
    """Import the state of a cluster from a manifest that was read from a dump; see `import_cluster`.

    Args:
        manifest: The objects of the cluster, with their status.
        rules: Rules that map pods to LocalQueues.
        pods: The pods that Kueue does not manage.
        now: The initial virtual time. Default: the latest time recorded in a Workload.
        earliest: The earliest default of `now`, in nanoseconds since the Unix epoch.
        stopping: The time that the pods of an evicted job take to terminate.
    """
    cluster = Cluster.from_manifest(manifest, names=False)
    start = max(latest_time(cluster), earliest) if now is None else nanoseconds_of(now, earliest=0)
    # Workloads are taken one by one, so that one that cannot be placed does not prevent the import.
    bare = msgspec.structs.replace(manifest, workloads=(), jobs=())
    scheduler = Scheduler(Cluster.from_manifest(bare, names=False), now=start / 10**9, stopping=stopping)
    for queue in cluster.local_queues:
        if queue.status is not None and queue.status.last_update is not None:
            session_of(scheduler).engine.continue_usage(queue.namespace, queue.name, queue.status.last_update.value)
    rows = [*_take_workloads(scheduler, cluster), *_take_jobs(scheduler, cluster)]
    _continue(scheduler, cluster, stopping)
    rows += _take_pods(scheduler, PodImport(cluster, tuple(rules), start), list(pods))
    report = import_report(rows)
    return Import(scheduler, report, (*map(str, manifest.notes), *missing(manifest), *report.notes))


def has_state(manifest: Manifest) -> bool:
    """Return whether a manifest is a dump of a cluster: whether Kueue has set the conditions of a Workload."""
    return any(workload.status is not None and workload.status.conditions for workload in manifest.workloads)


def missing(manifest: Manifest) -> Iterator[str]:
    """Yield a note for each missing object to which the dump refers, and one if a topology has no nodes.

    Queues that refer to a missing object are inactive.

    Args:
        manifest: The objects of the dump.
    """
    users: dict[tuple[str, str], list[str]] = {}
    for obj, _, name, kind, _ in dangling(manifest):
        users.setdefault((kind, name), []).append(f'{type(obj).__name__} "{obj.key}"')
    for (kind, name), by in users.items():
        more = f" and {counted(len(by) - 1, 'other object')}" if len(by) > 1 else ""
        yield (
            f'{kind} "{name}": is not in the dump, but {by[0]}{more} names it, and admits nothing without it; '
            f"dump {_PLURALS.get(kind, kind.lower() + 's')} as well"
        )
    if not manifest.nodes and (name := next((one.name for one in manifest.resource_flavors if one.topology_name), "")):
        yield (
            f'ResourceFlavor "{name}": has a topologyName, but the input has no Node, so nothing fits; '
            "add topologies,nodes,pods to kubectl get"
        )


def _releases_of_manager(doc: dict[str, Any]) -> Iterator[str]:
    """Yield the Kueue releases in the image names of a Deployment or Pod of Kueue's manager."""
    paths = {"Deployment": ("spec", "template", "spec"), "Pod": ("spec",)}
    kind = doc.get("kind")
    containers = part(doc, *paths[kind]).get("containers") if kind in paths else None
    for container in containers if isinstance(containers, list) else ():
        if isinstance(container, dict) and (release := release_of_image(container.get("image"))):
            yield release


def _take_workloads(scheduler: Scheduler, cluster: Cluster) -> Iterator[Imported]:
    queues = {queue.name: _covered(queue) for queue in cluster.cluster_queues}
    local_queues = {queue.key: queue.cluster_queue for queue in cluster.local_queues}
    for workload in cluster.workloads:
        outcome = _outcome(workload)
        reason = _refusal(scheduler, SubmittedWorkload(workload)) or _obstacle(workload, outcome, queues, local_queues)
        yield Imported("Workload", workload.key, "not placed" if reason else outcome, reason)


def _continue(scheduler: Scheduler, cluster: Cluster, stopping: Duration) -> None:
    """Restore the state that Kueue's manager keeps in memory, as far as the conditions of Workloads show this state.

    An evicted workload with quota waits until its pods terminate. In each ClusterQueue, the workload that waits for the
    workloads that it preempted is considered first (`pkg/cache/queue/cluster_queue.go`). If several workloads of a
    queue wait for workloads that they preempted, the one whose condition changed last is considered first.
    """
    session, state = session_of(scheduler), session_of(scheduler).state
    preemptors: dict[str, tuple[int, str]] = {}
    for workload in cluster.workloads:
        found = state.engine.find(workload.key)
        if found < 0 or workload.status is None:
            continue
        if is_stopping(state, found):
            job_stopped(session, workload.key, stopping)
        for condition in workload.status.conditions:
            if _awaits_victims(condition):
                queue = state.cluster_queue_of(f"{workload.namespace}/{workload.queue_name}")
                name = queue if isinstance(queue, str) else queue.name
                preemptors[name] = max(
                    preemptors.get(name, (0, "")), (condition.last_transition_time.value, workload.key)
                )
    for _, key in preemptors.values():
        await_victims(session, key)


def _awaits_victims(condition: Condition) -> bool:
    """Return whether a condition, in the wording of any release, shows that the workload preempted others."""
    if (condition.type, condition.status) != ("QuotaReserved", "False"):
        return False
    return condition.reason == "WaitingForPreemptedWorkloads" or _PENDING_PREEMPTION in condition.message


def _covered(queue: Any) -> dict[str, set[str]]:
    """Return the flavors of each resource of a ClusterQueue."""
    flavors: dict[str, set[str]] = {}
    for group in queue.resource_groups:
        for resource in group.covered_resources:
            flavors[resource] = {quotas.name for quotas in group.flavors}
    return flavors


# The outcome of a workload that holds quota, by its first condition that is true.
_HOLDING: dict[str, Outcome] = {"Evicted": "evicted", "Admitted": "admitted", "QuotaReserved": "quota reserved"}


def _outcome(workload: Workload) -> Outcome:
    status = workload.status
    waiting: Outcome = "pending" if workload.active else "deactivated"
    if status is None or not status.conditions:
        return waiting
    true = {condition.type for condition in status.conditions if condition.status == "True"}
    if "Finished" in true:
        return "finished"
    # An evicted workload holds its quota until its job has stopped.
    holds = status.admission is not None
    return next((outcome for condition, outcome in _HOLDING.items() if holds and condition in true), waiting)


def _obstacle(
    workload: Workload, outcome: Outcome, queues: dict[str, dict[str, set[str]]], local_queues: dict[str, str]
) -> str:
    """Return the reason why the quota of a workload cannot be restored or the workload cannot be queued.

    Return an empty string if there is no such reason.
    """
    if outcome in ("finished", "deactivated"):
        return ""
    if outcome == "pending":
        queue = f"{workload.namespace}/{workload.queue_name}"
        if queue not in local_queues:
            return f'there is no LocalQueue "{queue}" to wait in'
        return "" if local_queues[queue] in queues else f'there is no ClusterQueue "{local_queues[queue]}" to wait in'
    assert workload.status is not None
    admission = workload.status.admission
    assert admission is not None, "only workloads with an admission hold quota"
    if admission.cluster_queue not in queues:
        return f'it has quota of a ClusterQueue "{admission.cluster_queue}" that does not exist'
    covered = queues[admission.cluster_queue]
    for assignment in admission.pod_set_assignments:
        for resource, flavor in assignment.flavors.items():
            if flavor not in covered.get(resource, ()):
                return f'ClusterQueue "{admission.cluster_queue}" has no quota of {resource} in flavor "{flavor}"'
    return ""


def _take_jobs(scheduler: Scheduler, cluster: Cluster) -> Iterator[Imported]:
    # Without its position in the file, which the outcome does not name.
    jobs = [dict(job) for job in cluster.jobs]
    # Pods are converted together, because a group of pods becomes one Workload.
    pods = [job for job in jobs if job["kind"] == "Pod"]
    batches = [(job["kind"], key_of(job), [job]) for job in jobs if job["kind"] != "Pod"]
    existing = Existing(cluster.workloads)
    for kind, key, batch in [*batches, *([("Pod", "*", pods)] if pods else [])]:
        yield from _take_batch(scheduler, kind, key, batch, existing)


def _take_batch(
    scheduler: Scheduler, kind: str, key: str, jobs: list[dict[str, Any]], existing: Existing
) -> Iterator[Imported]:
    try:
        found = list(of_jobs(jobs, session_of(scheduler).state.job_context()))
    except KueueError as error:
        yield Imported(kind, key, "not placed", str(error))
        return
    if not found:
        yield Imported(kind, key, "skipped", "Kueue does not manage it")
    for one in found:
        if one.made is not None and not existing.lacks(one.made):
            ended = _end(one.made)
            yield Imported(kind, key, "finished" if ended else "skipped", ended or "it has a Workload")
            continue
        refusal, reason = _refusal(scheduler, one), f"as Workload {one.workload.key}"
        reason += RUNS if one.made is not None and _runs(one.made) else ""
        yield Imported(kind, key, "not placed" if refusal else "pending", refusal or reason)


def _runs(made: Made) -> bool:
    """Return whether the status of a job shows that its pods run."""
    job = adapter_for(made.given, config=made.cluster.config, related=made.cluster.related)
    return bool(part(made.given, "status")) and not job.is_suspended()


def _end(made: Made) -> str:
    """Return the time and the message of the end of a job; an empty string if the job has not finished."""
    if made.outcome is None:
        return ""
    changed = (str(one.get("lastTransitionTime") or "") for one in part(made.given, "status").get("conditions") or ())
    ended = f"it finished {max(changed, default='')}".rstrip()
    return f"{ended}: {made.outcome.message}".removesuffix(": ")


def _refusal(scheduler: Scheduler, one: SubmittedWorkload) -> str:
    """Return the reason why the engine rejects a workload; an empty string if the engine accepts the workload."""
    try:
        take(session_of(scheduler), one)
    except KueueError as error:
        return str(error)
    return ""


def _take_pods(scheduler: Scheduler, placing: PodImport, pods: list[dict[str, Any]]) -> Iterator[Imported]:
    for pod in pods:
        workload, row = placing.index(pod)
        if workload is not None:
            take(session_of(scheduler), SubmittedWorkload(workload))
        yield row
