"""Conversion of v1alpha1 and v1alpha2, in which ClusterQueues have a minimum and a maximum quota per resource.

Kueue never had a conversion for v1alpha1 and v1alpha2. The conversion in this module preserves all decisions. In the
old versions, a request fits if the usage stays within the queue's maximum and within the sum of the minimums in the
cohort. In v1beta2, a nominal quota of `min` and a borrowing limit of `max - min` have the same effect.
"""

from typing import Any

import msgspec

from kueuepy._core import Quantity, pod_requests
from kueuepy.errors import Path, suggestion
from kueuepy.manifest.findings import Findings
from kueuepy.manifest.schema.structure import conform
from kueuepy.manifest.schema.table import STRING, Schema
from kueuepy.manifest.versions import v1beta1
from kueuepy.objects import Object, PodSetAssignment, Workload

Doc = dict[str, Any]
_FLAVOR_FIELDS = ("apiVersion", "kind", "metadata", "labels", "nodeSelector", "taints")
_QUOTA = Schema(type="object", properties=dict.fromkeys(("min", "max"), Schema(type="integer or string")))
_FLAVORS = Schema(
    type="array",
    items=Schema(type="object", properties={"name": STRING, "quota": _QUOTA}),
    min_items=1,
    max_items=16,
)
# The resources of a ClusterQueue, each with a minimum and a maximum quota for each flavor.
_RESOURCES = Schema(
    type="array",
    items=Schema(type="object", properties={"name": STRING, "flavors": _FLAVORS}, required=("name", "flavors")),
    max_items=16,
)


def convert(doc: Doc, findings: Findings) -> Doc:
    """Convert an object to the form of v1beta2."""
    kind = str(doc.get("kind"))
    if kind == "ResourceFlavor":
        return _flavor(doc, findings)
    spec = doc.get("spec")
    if kind == "Queue":
        return {**doc, "kind": "LocalQueue"}
    if not isinstance(spec, dict):
        return doc
    if kind == "ClusterQueue":
        return {**doc, "spec": _cluster_queue(spec, findings)}
    if kind == "Cohort" and "parent" in spec:
        return {**doc, "spec": {"parentName": spec["parent"], **{k: v for k, v in spec.items() if k != "parent"}}}
    if kind == "Workload":
        return _workload(doc, dict(spec), findings)
    return doc


def _flavor(doc: Doc, findings: Findings) -> Doc:
    """Convert a flavor.

    Successive API versions stored the labels of a flavor in three different fields, and the taints in a field at the
    top level.
    """
    if isinstance(doc.get("spec"), dict):
        return doc
    for name in map(str, doc.keys() - set(_FLAVOR_FIELDS)):
        findings.odd((name,), f"unknown field; {suggestion(name, _FLAVOR_FIELDS)}", "left out")
    metadata = doc.get("metadata")
    metadata = dict(metadata) if isinstance(metadata, dict) else metadata
    labels = doc.get("nodeSelector") or doc.get("labels")
    if not labels and isinstance(metadata, dict):
        labels = metadata.pop("labels", None)
    spec = {"nodeLabels": labels, "nodeTaints": doc.get("taints")}
    return {"apiVersion": doc.get("apiVersion"), "kind": doc.get("kind"), "metadata": metadata, "spec": spec}


def _cluster_queue(spec: Doc, findings: Findings) -> Doc:
    spec = dict(spec)
    has_cohort = bool(cohort := spec.pop("cohort", None))
    resources = spec.pop("resources", None)
    if cohort:
        spec["cohortName"] = cohort
    if resources is not None:
        spec["resourceGroups"] = _groups(resources, ("spec", "resources"), findings, has_cohort=has_cohort)
    return spec


def _groups(resources: Any, path: Path, findings: Findings, *, has_cohort: bool) -> list[Doc]:
    """Create one resource group for all resources that list the same flavors in the same order."""
    resources = conform(_RESOURCES, resources, path, findings)
    if findings.problems:
        return []
    groups: dict[tuple[str, ...], Doc] = {}
    for position, resource in enumerate(resources):
        flavors = resource["flavors"]
        names = tuple(flavor.get("name") or "default" for flavor in flavors)
        _check_codependence(names, list(groups), (*path, position, "flavors"), findings)
        new: Doc = {"coveredResources": [], "flavors": [{"name": name, "resources": []} for name in names]}
        group = groups.setdefault(names, new)
        group["coveredResources"].append(resource["name"])
        for index, flavor in enumerate(flavors):
            location = (*path, position, "flavors", index, "quota")
            quota = _quota(resource["name"], flavor.get("quota", {}), location, findings, has_cohort=has_cohort)
            group["flavors"][index]["resources"].append(quota)
    return list(groups.values())


def _check_codependence(names: tuple[str, ...], others: list[tuple[str, ...]], path: Path, findings: Findings) -> None:
    """Report a flavor list that shares flavors with the different flavor list of another resource."""
    for other in others:
        shared = [name for name in names if name in other]
        if other != names and shared:
            findings.problem(
                path,
                f"shares {', '.join(shared)} with a resource whose flavors are {', '.join(other)}; "
                "two resources must list the same flavors in the same order, or none in common",
            )
            return


def _quota(resource: str, quota: Doc, path: Path, findings: Findings, *, has_cohort: bool) -> Doc:
    """Convert a minimum and a maximum quota to a nominal quota and a borrowing limit."""
    least, most = quota.get("min"), quota.get("max")
    found: Doc = {"name": resource, "nominalQuota": 0 if least is None else least}
    if most is None:
        return found
    try:
        low, high = Quantity(str(found["nominalQuota"])), Quantity(str(most))
    except ValueError as error:
        findings.problem((*path, "max"), str(error))
        return found
    if high < low:
        findings.problem((*path, "max"), f"is {most}, less than min {least}; it must be min or more")
    # Without a cohort nothing can be borrowed, and a limit would be an error in v1beta2.
    elif has_cohort:
        found["borrowingLimit"] = str(high - low)
    return found


def _workload(doc: Doc, spec: Doc, findings: Findings) -> Doc:
    """Convert a Workload whose pod sets have a PodSpec, and whose admission is in its spec."""
    admission = spec.pop("admission", None)
    pod_sets = spec.get("podSets")
    if isinstance(pod_sets, list):
        spec["podSets"] = [_pod_set(pod_set) for pod_set in pod_sets]
    spec = v1beta1.with_class_ref(spec, findings)
    status = doc.get("status")
    status = dict(status) if isinstance(status, dict) else {}
    if isinstance(conditions := status.get("conditions"), list):
        status["conditions"] = _with_reservation(conditions)
    if isinstance(admission, dict):
        status["admission"] = _admission(admission, spec.get("podSets"))
    return {**doc, "spec": spec, "status": status}


def _pod_set(raw: Any) -> Any:
    if not isinstance(raw, dict) or "spec" not in raw:
        return raw
    return {**{name: value for name, value in raw.items() if name != "spec"}, "template": {"spec": raw["spec"]}}


def _with_reservation(conditions: list[Any]) -> list[Any]:
    """Add the condition `QuotaReserved` to an admission.

    In versions v1alpha1 and v1alpha2, a Workload with quota had only the condition `Admitted`.
    """
    conditions = [{"message": "", **one} if isinstance(one, dict) else one for one in conditions]
    taken = [c for c in conditions if isinstance(c, dict) and c.get("type") == "Admitted" and c.get("status") == "True"]
    return [*({**condition, "type": "QuotaReserved"} for condition in taken), *conditions]


def _admission(admission: Doc, pod_sets: Any) -> Doc:
    """Return the admission with the pod count of each pod set, which `with_usage` needs."""
    counts = {p.get("name") or "main": p.get("count", 1) for p in pod_sets or [] if isinstance(p, dict)}
    flavors = [item for item in admission.get("podSetFlavors") or [] if isinstance(item, dict)]
    assignments = [{**item, "count": counts.get(item.get("name") or "main")} for item in flavors]
    rest = {name: value for name, value in admission.items() if name != "podSetFlavors"}
    return {**rest, "podSetAssignments": assignments}


_MOST = 2**63 - 1


def with_usage(obj: Object) -> Object:
    """Add the resource usage of the pod sets, computed from their requests for resources with an assigned flavor."""
    if not isinstance(obj, Workload) or obj.status is None or obj.status.admission is None:
        return obj
    templates = {pod_set.name: pod_set.template for pod_set in obj.pod_sets}
    admission = obj.status.admission
    assignments = tuple(_used(one, templates.get(one.name)) for one in admission.pod_set_assignments)
    admission = msgspec.structs.replace(admission, pod_set_assignments=assignments)
    return msgspec.structs.replace(obj, status=msgspec.structs.replace(obj.status, admission=admission))


def _used(assignment: PodSetAssignment, template: dict[str, Any] | None) -> PodSetAssignment:
    if template is None or assignment.resource_usage or assignment.count is None:
        return assignment
    try:
        requests = pod_requests(template)
    except ValueError:
        # A quantity is invalid; validation reports it later.
        return assignment
    usage = {
        name: Quantity.format(name, min(amount * assignment.count, _MOST))
        for name, amount in requests.items()
        if name in assignment.flavors
    }
    return msgspec.structs.replace(assignment, resource_usage=usage)
