"""Rules of the objects that configure admission checks, which have no records: they are kept as they are written.

Source: the CRDs of `apis/kueue/v1beta2`: `provisioningrequestconfig_types.go`, `multikueue_types.go`.
"""

from collections.abc import Callable
from typing import Any

from kueuepy.manifest.decoding import hold
from kueuepy.manifest.shapes import many, optional, shape
from kueuepy.manifest.validation.review import DNS_SUBDOMAIN, Review

PROVISIONING = "ProvisioningRequestConfig"
_MOST_PARAMETERS = _MOST_RESOURCES = 100
_LONGEST_PARAMETER = 255
_LONGEST_NAME = 253
_MOST_SELECTORS = 8
_MOST_CLUSTERS = 20
_LONGEST_CLUSTER = _LONGEST_LOCATION = 256
_SPEC = ("spec",)

_Retry = shape(
    "RetryStrategy",
    backoffLimitCount=int | None,
    backoffBaseSeconds=int | None,
    backoffMaxSeconds=int | None,
)
_Selector = shape("NodeSelectorUpdate", key=str | None, valueFromProvisioningClassDetail=str | None)
_Provisioning = shape(
    "ProvisioningRequestConfigSpec",
    provisioningClassName=str | None,
    parameters=dict[str, str] | None,
    managedResources=list[str] | None,
    retryStrategy=optional(_Retry),
    podSetUpdates=optional(shape("PodSetUpdates", nodeSelector=many(_Selector))),
    podSetMergePolicy=str | None,
)
_Config = shape("MultiKueueConfigSpec", clusters=list[str] | None, quotaManagement=str | None)
_Source = shape(
    "ClusterSource",
    kubeConfig=optional(shape("KubeConfig", location=str | None, locationType=str | None)),
    clusterProfileRef=optional(shape("ClusterProfileReference", name=str | None)),
)
_Cluster = shape("MultiKueueClusterSpec", clusterSource=optional(_Source))


def review_parameters(doc: dict[str, Any], review: Review) -> None:
    """The rules of such an object of v1beta2."""
    kind = str(doc.get("kind"))
    spec_shape, rules = _RULES[kind]
    if (
        held := hold(shape(kind, "apiVersion kind metadata status", spec=optional(spec_shape)), doc, (), review)
    ) is None:
        return
    rules(_plain(held.get("spec") or {}), review)


def _plain(value: Any) -> Any:
    """The value without nulls, which count as absent."""
    if not isinstance(value, dict):
        return value
    return {name: _plain(inner) for name, inner in value.items() if inner is not None}


def _review_provisioning(spec: dict[str, Any], review: Review) -> None:
    path = (*_SPEC, "provisioningClassName")
    name = spec.get("provisioningClassName") or ""
    if not name:
        review.problem(path, "is required", "Required")
    elif not DNS_SUBDOMAIN.fullmatch(name) or len(name) > _LONGEST_NAME:
        review.subdomain(name, path)
    parameters = spec.get("parameters", {})
    review.at_most(parameters, _MOST_PARAMETERS, (*_SPEC, "parameters"))
    for key, text in parameters.items():
        review.length(text, _LONGEST_PARAMETER, (*_SPEC, "parameters", key))
    managed = spec.get("managedResources", ())
    review.at_most(managed, _MOST_RESOURCES, (*_SPEC, "managedResources"))
    review.unique(managed, (*_SPEC, "managedResources"))
    for field, value in spec.get("retryStrategy", {}).items():
        review.int32(value, (*_SPEC, "retryStrategy", field))
    place = (*_SPEC, "podSetUpdates", "nodeSelector")
    selectors = spec.get("podSetUpdates", {}).get("nodeSelector", ())
    review.at_most(selectors, _MOST_SELECTORS, place)
    review.unique((selector.get("key") or "" for selector in selectors), place, "key")
    for position, selector in enumerate(selectors):
        review.label_key(selector.get("key") or "", (*place, position, "key"))
        if not selector.get("valueFromProvisioningClassDetail"):
            review.problem((*place, position, "valueFromProvisioningClassDetail"), "is required", "Required")
    if "podSetMergePolicy" in spec:
        allowed = ("IdenticalPodTemplates", "IdenticalWorkloadSchedulingRequirements")
        review.one_of(spec["podSetMergePolicy"], allowed, (*_SPEC, "podSetMergePolicy"))


def _review_config(spec: dict[str, Any], review: Review) -> None:
    path = (*_SPEC, "clusters")
    clusters = spec.get("clusters", ())
    review.some(clusters, _MOST_CLUSTERS, path)
    review.unique(clusters, path)
    for position, name in enumerate(clusters):
        review.length(name, _LONGEST_CLUSTER, (*path, position))
    if "quotaManagement" in spec:
        review.one_of(spec["quotaManagement"], ("Manual", "Automated"), (*_SPEC, "quotaManagement"))


def _review_cluster(spec: dict[str, Any], review: Review) -> None:
    path = (*_SPEC, "clusterSource")
    source = spec.get("clusterSource", {})
    if len(source) != 1:
        review.problem(path, f"has {len(source)} of kubeConfig and clusterProfileRef; it must have one of them")
    if (config := source.get("kubeConfig")) is not None:
        review.length(config.get("location") or "", _LONGEST_LOCATION, (*path, "kubeConfig", "location"), least=1)
        kind = config.get("locationType") or "Secret"
        review.one_of(kind, ("Secret", "Path"), (*path, "kubeConfig", "locationType"))
    if (profile := source.get("clusterProfileRef")) is not None:
        review.length(profile.get("name") or "", _LONGEST_LOCATION, (*path, "clusterProfileRef", "name"), least=1)


_RULES: dict[str, tuple[Any, Callable[[dict[str, Any], Review], None]]] = {
    PROVISIONING: (_Provisioning, _review_provisioning),
    "MultiKueueConfig": (_Config, _review_config),
    "MultiKueueCluster": (_Cluster, _review_cluster),
}
