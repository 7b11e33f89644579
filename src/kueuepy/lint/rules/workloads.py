"""Rules about workloads that their queue can never admit."""

from collections.abc import Iterator

from kueuepy._core import Quantity, pod_requests
from kueuepy.jobs import Unmanaged, unmanaged
from kueuepy.lint.context import LintContext
from kueuepy.lint.rule import Hit, rule
from kueuepy.manifest.convert import object_name
from kueuepy.manifest.places import ReadJob
from kueuepy.objects import ClusterQueue, Configuration, PodSet, ResourceGroup, Workload

# The reasons for which no change of usage helps.
_NEVER = ("ExceedsMaxQuota", "NoMatchingFlavor")


@rule("L7", "warning", "A nominal quota of 0 for one resource prevents reclaiming quota of other resources.")
def requested_but_zero(context: LintContext) -> Iterator[Hit]:
    """A workload can reclaim quota only if all its requests are within the nominal quota."""
    for queue in context.queues:
        if queue.preemption.reclaim_within_cohort == "Never":
            continue
        for group in queue.resource_groups:
            nominal = {r: _nominal(context, queue, group, r) for r in group.covered_resources}
            empty = [resource for resource, amount in nominal.items() if not amount]
            full = [resource for resource, amount in nominal.items() if amount]
            found = next(_asking(context, queue, empty), None) if full else None
            if found:
                workload, resource = found
                position = queue.resource_groups.index(group)
                yield Hit(
                    queue,
                    ("spec", "resourceGroups", position),
                    f"has a nominal quota of {', '.join(full)} but none of {resource}, which {workload.key} also "
                    f"requests: the workload must borrow {resource}, and a borrowing workload cannot reclaim quota",
                )


def _nominal(context: LintContext, queue: ClusterQueue, group: ResourceGroup, resource: str) -> int:
    """Return the nominal quota of a resource, summed over all flavors of a group."""
    cells = context.cells(queue)
    return sum(cells[flavor.name, resource].nominal for flavor in group.flavors if (flavor.name, resource) in cells)


def _asking(context: LintContext, queue: ClusterQueue, resources: list[str]) -> Iterator[tuple[Workload, str]]:
    """Yield the workloads of a queue that request one of these resources, each with the resource."""
    for workload in context.workloads_of(queue):
        for pod_set in workload.pod_sets:
            requests = _requests(context, pod_set)
            yield from ((workload, resource) for resource in resources if requests.get(resource))


@rule("L12", "error", "A workload that can never be admitted blocks a StrictFIFO queue indefinitely.")
def head_blocks_for_ever(context: LintContext) -> Iterator[Hit]:
    """A workload that never fits stays at the head of the queue, and all workloads behind it stay pending."""
    for queue, workload in context.submitted:
        if queue.queueing_strategy == "StrictFIFO" and (reason := _alone(context, workload)):
            yield Hit(
                workload,
                ("spec",),
                f"is never admitted, even by an empty cluster ({reason}), and blocks all workloads behind it in "
                f"{queue.name}, which is StrictFIFO",
            )


@rule("L35", "warning", "A workload that can never be admitted stays pending indefinitely.")
def never_admitted(context: LintContext) -> Iterator[Hit]:
    """In a BestEffortFIFO queue, a workload that never fits blocks no other workload, but never starts."""
    for queue, workload in context.submitted:
        is_asked = queue.queueing_strategy != "StrictFIFO" and workload.active
        if is_asked and (reason := _alone(context, workload)):
            yield Hit(workload, ("spec",), f"is never admitted by {queue.name}, even by an empty cluster: {reason}")


def _alone(context: LintContext, workload: Workload) -> str:
    """Return why a workload is not admitted even without other workloads; an empty string if it could be admitted."""
    engine = context.empty.fork()
    number = engine.submit(workload)
    engine.settle()
    engine.cycle()
    found = engine.condition(number, "QuotaReserved")
    return f"{found[1]}: {found[2]}" if found and not found[0] and found[1] in _NEVER else ""


@rule("L13", "warning", "A pod set cannot combine quota of several flavors for one resource.")
def fits_no_single_flavor(context: LintContext) -> Iterator[Hit]:
    """Find pod sets that fit into the sum of all flavors, but not into any single flavor."""
    for queue, workload in context.submitted:
        for position, pod_set in enumerate(workload.pod_sets):
            requests = {r: n * pod_set.count for r, n in _requests(context, pod_set).items()}
            for group in queue.resource_groups:
                if resource := _split(context, queue, group, requests):
                    yield Hit(
                        workload,
                        ("spec", "podSets", position),
                        f"requests {Quantity.format(resource, requests[resource])} of {resource} in total, which "
                        f"exceeds the capacity of each flavor of {queue.name}, but not their sum; "
                        "split it into several pod sets",
                    )


def _split(context: LintContext, queue: ClusterQueue, group: ResourceGroup, requests: dict[str, int]) -> str:
    """Return a resource whose request fits only into several flavors together; an empty string if there is none."""
    for resource in group.covered_resources:
        asked = requests.get(resource, 0)
        had = [context.capacity.largest(queue.name, (flavor.name, resource)) for flavor in group.flavors]
        if had and max(had) < asked <= sum(had):
            return resource
    return ""


def _requests(context: LintContext, pod_set: PodSet) -> dict[str, int]:
    found: dict[str, int] = pod_requests(
        pod_set.template,
        runtime_classes=context.manifest.runtime_classes,
        configuration=context.configuration or Configuration(),
    )
    return found


@rule("L18", "note", "Kueue does not manage a job without a queue name.")
def left_alone(context: LintContext) -> Iterator[Hit]:
    """Without manageJobsWithoutQueueName, a job without a queue name starts immediately and uses no quota."""
    manifest = context.manifest
    found = unmanaged(
        manifest.jobs,
        config=context.configuration or Configuration(),
        related=manifest.others,
        namespaces=manifest.namespaces,
        local_queues=manifest.local_queues,
    )
    places = {object_name(job): job.where() for job in manifest.jobs if isinstance(job, ReadJob)}
    for job, why in found:
        if why is not Unmanaged.OWNER:
            name = object_name(job)
            message = f"is not managed by Kueue, because {why.value}; it uses no quota"
            yield Hit(name, ("metadata",), message, places.get(name, ""))
