"""The objects of a running cluster that influence Kueue's decisions, and the permissions that reading them needs."""

from typing import Any, NamedTuple

KUEUE = "kueue.x-k8s.io"


class Resource(NamedTuple):
    """A kind of the Kubernetes API.

    Attributes:
        kind: The kind, such as `ClusterQueue`.
        plural: The name of the kind in URLs, such as `clusterqueues`.
        group: The API group; an empty string for the core group.
        version: The version of the API; for Kueue's kinds, the versions that the server offers are used instead.
        is_optional: Whether the cluster can be read without permission to list the kind.
        selector: The field selector of the relevant objects; an empty string for all objects.
    """

    kind: str
    plural: str
    group: str = KUEUE
    version: str = "v1"
    is_optional: bool = False
    selector: str = ""

    def path(self, version: str = "") -> str:
        """Return the URL path of all objects of this kind."""
        version = version or self.version
        base = f"/apis/{self.group}/{version}" if self.group else f"/api/{version}"
        return f"{base}/{self.plural}"

    @property
    def full_name(self) -> str:
        """The name that `kubectl` accepts, such as `clusterqueues.kueue.x-k8s.io`."""
        return f"{self.plural}.{self.group}" if self.group else self.plural


# Only pods that occupy a node reduce the free capacity of a topology.
_RUNNING = "spec.nodeName!=,status.phase!=Succeeded,status.phase!=Failed"
RESOURCES = (
    Resource("ResourceFlavor", "resourceflavors"),
    Resource("Topology", "topologies"),
    Resource("AdmissionCheck", "admissionchecks"),
    Resource("Cohort", "cohorts"),
    Resource("ClusterQueue", "clusterqueues"),
    Resource("LocalQueue", "localqueues"),
    Resource("WorkloadPriorityClass", "workloadpriorityclasses"),
    Resource("MultiKueueConfig", "multikueueconfigs"),
    Resource("MultiKueueCluster", "multikueueclusters"),
    Resource("ProvisioningRequestConfig", "provisioningrequestconfigs"),
    Resource("Namespace", "namespaces", ""),
    Resource("LimitRange", "limitranges", ""),
    Resource("PriorityClass", "priorityclasses", "scheduling.k8s.io"),
    Resource("RuntimeClass", "runtimeclasses", "node.k8s.io"),
    Resource("Node", "nodes", "", is_optional=True),
    Resource("Pod", "pods", "", is_optional=True, selector=_RUNNING),
    Resource("Workload", "workloads"),
)
"""The kinds that influence Kueue's decisions, in the order of reading."""
OF_TOPOLOGY = frozenset(("Node", "Pod"))
"""The kinds that matter only if a ResourceFlavor has a topology."""
# Read once, to find the release of Kueue in the image of its manager.
DEPLOYMENTS = Resource("Deployment", "deployments", "apps", is_optional=True)
MANAGER_CONFIG = "kueue-manager-config"
"""The name of the ConfigMap of Kueue's manager."""
# No other verb: kueuepy never writes to a cluster.
_VERBS = ["get", "list", "watch"]


def rbac(
    name: str = "kueuepy", subject: dict[str, str] | None = None, namespace: str = "kueue-system"
) -> list[dict[str, Any]]:
    """Return the manifests of the permissions that are required to read a cluster.

    A ClusterRole grants the verbs get, list and watch on the kinds of `RESOURCES` and on Deployments. A Role in the
    namespace of Kueue grants get on the ConfigMap of its manager, and on no other ConfigMap.

    Args:
        name: The name of the roles and bindings.
        subject: The subject of the bindings, as in a manifest; the ServiceAccount `kueuepy` in `default` by default.
        namespace: The namespace of Kueue.
    """
    plurals: dict[str, list[str]] = {}
    for one in (*RESOURCES, DEPLOYMENTS):
        plurals.setdefault(one.group, []).append(one.plural)
    rules = [{"apiGroups": [group], "resources": found, "verbs": _VERBS} for group, found in sorted(plurals.items())]
    config = {"apiGroups": [""], "resources": ["configmaps"], "resourceNames": [MANAGER_CONFIG], "verbs": ["get"]}
    subject = subject or {"kind": "ServiceAccount", "name": "kueuepy", "namespace": "default"}
    found = []
    for scope, metadata, own_rules in (
        ("ClusterRole", {"name": name}, rules),
        ("Role", {"name": name, "namespace": namespace}, [config]),
    ):
        api = "rbac.authorization.k8s.io"
        found.append({"apiVersion": f"{api}/v1", "kind": scope, "metadata": metadata, "rules": own_rules})
        reference = {"apiGroup": api, "kind": scope, "name": name}
        binding = {"apiVersion": f"{api}/v1", "kind": f"{scope}Binding", "metadata": dict(metadata)}
        found.append({**binding, "roleRef": reference, "subjects": [dict(subject)]})
    return found
