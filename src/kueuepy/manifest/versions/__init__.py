"""Objects of Kueue's older API versions, in the shape of v1beta2."""

from typing import Any

from kueuepy.manifest.decoding import Findings
from kueuepy.manifest.versions import v1alpha, v1beta1
from kueuepy.manifest.versions.usage import with_usage

__all__ = ["OLD_VERSIONS", "VERSIONS", "to_v1beta2", "with_usage"]

OLD_VERSIONS = ("v1alpha1", "v1alpha2")
"""The versions that are long gone from Kueue itself."""

VERSIONS = (*OLD_VERSIONS, "v1beta1", "v1beta2")
"""The versions of group `kueue.x-k8s.io` that are read."""


def to_v1beta2(group: str, version: str, doc: dict[str, Any], findings: Findings) -> dict[str, Any]:
    """The object in the shape of v1beta2; objects of other groups are what they are.

    What doesn't have the type it should have is left alone, for the reader of v1beta2 to refuse.
    """
    if group != "kueue.x-k8s.io" or version == "v1beta2":
        return doc
    if version == "v1beta1":
        return v1beta1.convert(doc, findings)
    if version in VERSIONS:
        return v1alpha.convert(doc, findings)
    findings.problem(("apiVersion",), f'"{group}/{version}" is not known; it must be one of {", ".join(VERSIONS)}')
    return doc
