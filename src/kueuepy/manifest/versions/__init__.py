"""Conversion of older versions of Kueue's API to v1beta2."""

from typing import Any

from kueuepy.manifest import devices
from kueuepy.manifest.findings import Findings
from kueuepy.manifest.versions import v1alpha, v1beta1
from kueuepy.manifest.versions.v1alpha import with_usage

__all__ = ["OLD_VERSIONS", "VERSIONS", "to_v1beta2", "with_usage"]

OLD_VERSIONS = ("v1alpha1", "v1alpha2")
"""Versions that Kueue has removed."""

VERSIONS = (*OLD_VERSIONS, "v1beta1", "v1beta2")
"""Versions of the API group `kueue.x-k8s.io` that can be read."""


def to_v1beta2(group: str, version: str, doc: dict[str, Any], findings: Findings) -> dict[str, Any]:
    """Convert an object to the form of v1beta2, or a device object to that of v1; other objects are returned unchanged.

    Values of a wrong type are left unchanged; they are reported when the result is read as v1beta2.
    """
    if group == devices.GROUP:
        return devices.to_v1(version, doc)
    if group != "kueue.x-k8s.io" or version == "v1beta2":
        return doc
    if version == "v1beta1":
        return v1beta1.convert(doc, findings)
    if version in VERSIONS:
        return v1alpha.convert(doc, findings)
    findings.problem(("apiVersion",), f'"{group}/{version}" is not known; it must be one of {", ".join(VERSIONS)}')
    return doc
