"""Validation rules for parameters of admission checks, which have no Python class and are stored as dicts.

Source: `apis/kueue/v1beta2/multikueue_types.go`.
"""

from typing import Any

from kueuepy.errors.problems import shown
from kueuepy.manifest.findings import Findings
from kueuepy.manifest.schema.structure import structured
from kueuepy.manifest.schema.table import schema_of


def review_parameters(version: str, doc: dict[str, Any], findings: Findings) -> dict[str, Any]:
    """Validate an object, and return it without nulls. Problems are added to `findings`."""
    kind = str(doc.get("kind"))
    if schema_of(kind, version) is None:
        findings.problem(("apiVersion",), f"is of version {shown(version)}; it must be v1beta1 or v1beta2")
        return doc
    doc = structured(kind, version, doc, findings)
    if findings.problems:
        return doc
    spec = doc.get("spec")
    if kind == "MultiKueueConfig" and spec:
        _review_config(spec, findings)
    elif kind == "MultiKueueCluster" and version != "v1beta1" and "clusterSource" in (spec or {}):
        _review_cluster(doc["spec"]["clusterSource"], findings)
    return doc


def _review_config(spec: dict[str, Any], findings: Findings) -> None:
    path = ("spec", "clusters")
    clusters = spec.get("clusters", ())
    if len(set(clusters)) < len(clusters):
        findings.problem(path, "names a cluster twice; each may occur once", "Duplicate")


def _review_cluster(source: dict[str, Any], findings: Findings) -> None:
    if len(source) != 1:
        path = ("spec", "clusterSource")
        findings.problem(path, f"has {len(source)} of kubeConfig and clusterProfileRef; it must have one of them")
