"""Rules about resource claims, DeviceClasses and the logical resources to which Kueue maps them."""

from collections.abc import Iterator

from kueuepy.errors import Path, suggestion
from kueuepy.lint.context import LintContext
from kueuepy.lint.rule import Hit, rule
from kueuepy.objects import Configuration, DeviceClassMapping, Workload

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
    covered = {
        resource for queue in context.queues for group in queue.resource_groups for resource in group.covered_resources
    }
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
