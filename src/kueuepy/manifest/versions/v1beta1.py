"""Conversion of v1beta1, whose fields were renamed in v1beta2.

Source: `apis/kueue/v1beta1/*_conversion.go`.
"""

from typing import Any

from kueuepy.manifest.findings import Findings

Doc = dict[str, Any]
_POLICIES = {"Borrow": "MayStopSearch", "Preempt": "MayStopSearch"}
_CLASSES = {
    "kueue.x-k8s.io/workloadpriorityclass": ("kueue.x-k8s.io", "WorkloadPriorityClass"),
    "scheduling.k8s.io/priorityclass": ("scheduling.k8s.io", "PriorityClass"),
}
_MODES = ("NoAdmissionFairSharing", "UsageBasedAdmissionFairSharing")
_DELAYS = ("Pending", "Ready")


def convert(doc: Doc, findings: Findings) -> Doc:
    """Convert an object to the form of v1beta2."""
    spec = doc.get("spec")
    if not isinstance(spec, dict):
        return doc
    kind = str(doc.get("kind"))
    if kind == "ClusterQueue":
        return {**doc, "spec": _cluster_queue(spec)}
    if kind == "Workload":
        return {**doc, "spec": _workload(spec, findings), "status": _status(doc.get("status"))}
    if kind == "AdmissionCheck":
        spec = {name: value for name, value in spec.items() if name != "retryDelayMinutes"}
    return {**doc, "spec": spec}


def _cluster_queue(spec: Doc) -> Doc:
    spec = dict(spec)
    if "cohort" in spec:
        # An empty cohort name means no cohort; the old type could not omit the field.
        spec["cohortName"] = spec.pop("cohort") or None
    checks = spec.pop("admissionChecks", None)
    if checks:
        named = [{"name": name} for name in checks] if isinstance(checks, list) else checks
        spec["admissionChecksStrategy"] = {"admissionChecks": named}
    if not spec.get("admissionChecksStrategy", {}).get("admissionChecks"):
        spec.pop("admissionChecksStrategy", None)
    if spec.get("admissionScope", {}).get("admissionMode") not in _MODES:
        spec.pop("admissionScope", None)  # v1beta1 allows any text here, and it has no effect
    fungibility = spec.get("flavorFungibility")
    if isinstance(fungibility, dict):
        spec["flavorFungibility"] = {
            name: _POLICIES.get(value, value) if isinstance(value, str) else value
            for name, value in fungibility.items()
        }
    return spec


def _workload(spec: Doc, findings: Findings) -> Doc:
    spec = dict(spec)
    if spec.get("podSets") is None:
        findings.problem(("spec", "podSets"), "is required", "Required")
    return with_class_ref(spec, findings)


def with_class_ref(spec: Doc, findings: Findings) -> Doc:
    """Replace the name and source of the priority class in a spec with a reference."""
    name, source = spec.pop("priorityClassName", None), spec.pop("priorityClassSource", None)
    if name and spec.get("priority") is None:
        findings.problem(("spec", "priority"), "is required where priorityClassName is set", "Required")
    if isinstance(source, str) and source in _CLASSES:
        group, kind = _CLASSES[source]
        if name:
            spec["priorityClassRef"] = {"group": group, "kind": kind, "name": name}
    elif source:
        allowed = ", ".join(_CLASSES)
        findings.problem(
            ("spec", "priorityClassSource"),
            f'"{source}" is not supported; it must be one of {allowed}, or empty',
            "NotSupported",
        )
    return spec


def _status(status: Any) -> Any:
    if not isinstance(status, dict):
        return status
    status = dict(status)
    if "accumulatedPastExexcutionTimeSeconds" in status:
        status["accumulatedPastExecutionTimeSeconds"] = status.pop("accumulatedPastExexcutionTimeSeconds")
    admission = status.get("admission")
    if isinstance(admission, dict) and isinstance(assignments := admission.get("podSetAssignments"), list):
        status["admission"] = {**admission, "podSetAssignments": [_assignment(item) for item in assignments]}
    return status


def _assignment(raw: Any) -> Any:
    """Convert a topology assignment with domains to a single slice that lists all values of each domain."""
    if isinstance(raw, dict) and raw.get("delayedTopologyRequest", _DELAYS[0]) not in _DELAYS:
        raw = {name: value for name, value in raw.items() if name != "delayedTopologyRequest"}
    topology = raw.get("topologyAssignment") if isinstance(raw, dict) else None
    domains = topology.get("domains") if isinstance(topology, dict) else None
    if not isinstance(topology, dict) or not isinstance(domains, list) or not _are_domains(domains):
        return raw
    levels = list(zip(*(domain["values"] for domain in domains), strict=False))
    piece = {
        "domainCount": len(domains),
        "valuesPerLevel": [{"individual": {"roots": list(values)}} for values in levels],
        "podCounts": {"individual": [domain["count"] for domain in domains]},
    }
    return {**raw, "topologyAssignment": {"levels": topology.get("levels"), "slices": [piece] if domains else []}}


def _are_domains(domains: list[Any]) -> bool:
    return all(isinstance(one, dict) and isinstance(one.get("values"), list) and "count" in one for one in domains)
