"""Rules about workloads that their queue can never admit, and about the devices that they claim."""

from collections.abc import Iterator

from kueuepy._core import Quantity, pod_requests
from kueuepy.errors import Path, suggestion
from kueuepy.jobs import Unmanaged, unmanaged
from kueuepy.lint.rule import Hit, LintContext, rule
from kueuepy.manifest import ReadJob, object_name
from kueuepy.objects import ClusterQueue, Configuration, DeviceClassMapping, PodSet, ResourceGroup, Workload

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


_MAPPINGS: Path = ("resources", "deviceClassMappings")


def _mappings(context: LintContext) -> tuple[DeviceClassMapping, ...]:
    configuration = context.configuration or Configuration()
    return tuple(configuration.resources.device_class_mappings)


def _claims(workload: Workload) -> Iterator[tuple[Path, str]]:
    for position, pod_set in enumerate(workload.pod_sets):
        spec = pod_set.template.get("spec")
        for index, claim in enumerate((spec.get("resourceClaims") if isinstance(spec, dict) else None) or ()):
            if name := claim.get("resourceClaimTemplateName"):
                path = ("spec", "podSets", position, "template", "spec", "resourceClaims", index)
                yield (*path, "resourceClaimTemplateName"), name


@rule("L30", "error", "Kueue rejects a claim whose template does not exist or whose DeviceClass has no mapping.")
def claim_not_counted(context: LintContext) -> Iterator[Hit]:
    """Kueue accepts only devices whose DeviceClass is in `deviceClassMappings`."""
    templates = {template.key: template for template in context.manifest.resource_claim_templates}
    mapped = {name for mapping in _mappings(context) for name in mapping.device_class_names}
    for workload in context.workloads:
        for path, name in _claims(workload):
            key = f"{workload.namespace}/{name}"
            if key not in templates:
                yield Hit(
                    workload, path, f'"{key}" is not the name of a ResourceClaimTemplate; {suggestion(key, templates)}'
                )
                continue
            for request in templates[key].requests:
                unmapped = request.device_class_name not in mapped and not request.admin_access
                if unmapped and request.first_available is None:
                    yield Hit(
                        workload,
                        path,
                        f'requests devices of DeviceClass "{request.device_class_name}", which no mapping contains; '
                        "add it to resources.deviceClassMappings of the Configuration",
                    )


@rule("L31", "warning", "A device mapping with an unknown DeviceClass or driver matches no devices.")
def no_such_devices(context: LintContext) -> Iterator[Hit]:
    """The rule needs DeviceClasses or ResourceSlices to compare the mappings with."""
    classes = {device_class.name for device_class in context.manifest.device_classes}
    drivers = {published.driver for published in context.manifest.resource_slices}
    for index, mapping in enumerate(_mappings(context)):
        for position, name in enumerate(mapping.device_class_names):
            if classes and name not in classes:
                path = (*_MAPPINGS, index, "deviceClassNames", position)
                yield Hit(
                    "Configuration", path, f'"{name}" is not the name of a DeviceClass; {suggestion(name, classes)}'
                )
        for position, source in enumerate(mapping.sources):
            for kind, one in (("counter", source.counter), ("capacity", source.capacity)):
                if one is not None and drivers and one.driver not in drivers:
                    path = (*_MAPPINGS, index, "sources", position, kind, "driver")
                    yield Hit(
                        "Configuration",
                        path,
                        f'"{one.driver}" is not the driver of any ResourceSlice; {suggestion(one.driver, drivers)}',
                    )


@rule("L32", "warning", "Workloads with devices mapped to a resource without quota are never admitted.")
def uncovered(context: LintContext) -> Iterator[Hit]:
    """Find mappings whose logical resource is not covered by any ClusterQueue."""
    covered = {name for queue in context.queues for group in queue.resource_groups for name in group.covered_resources}
    # Without ClusterQueues, every mapping would be reported.
    if not context.queues:
        return
    for index, mapping in enumerate(_mappings(context)):
        if mapping.name not in covered:
            path = (*_MAPPINGS, index, "name")
            yield Hit(
                "Configuration",
                path,
                f'"{mapping.name}" is not covered by any ClusterQueue; {suggestion(mapping.name, covered)}',
            )
