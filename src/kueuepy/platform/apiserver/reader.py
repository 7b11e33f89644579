"""The objects of a running cluster that influence Kueue's decisions."""

import time
from collections.abc import Iterator
from typing import Any

import msgspec

from kueuepy.errors import ApiError
from kueuepy.platform.apiserver.connection import FORBIDDEN, NOT_FOUND, Connection
from kueuepy.platform.apiserver.resources import DEPLOYMENTS, KUEUE, MANAGER_CONFIG, OF_TOPOLOGY, RESOURCES, Resource
from kueuepy.profiles import DEVELOPMENT, release_of_image
from kueuepy.sources import LiveSource

# The versions of Kueue's API that this package reads, in order of preference.
_VERSIONS = ("v1beta2", "v1beta1", "v1alpha1")
# Possible locations of the Deployment of Kueue's manager: a namespace (empty for all), and a label selector.
_MANAGERS = (
    ("", "app.kubernetes.io/name=kueue"),
    ("kueue-system", "control-plane=controller-manager"),
)
_HINT = "`kueuepy import --rbac` prints the permissions that reading a cluster needs"
_GATES = "--feature-gates="
# The key of the Configuration in the ConfigMap of Kueue's Helm chart and manifests.
_FILE = "controller_manager_config.yaml"


class ClusterReader(LiveSource):
    """The objects of a running cluster. Each iteration reads the objects again.

    Attributes:
        connection: The connection.
        versions: The API version in which each kind of Kueue is read, by the plural name of the kind.
        configuration: The ConfigMap of Kueue's manager; `None` if it could not be read.
    """

    is_validated = True

    def __init__(self, connection: Connection) -> None:
        """Find the versions of Kueue's API, the release of Kueue and its Configuration.

        Args:
            connection: The connection.

        Raises:
            ApiError: The server cannot be reached, or does not have Kueue's API.
        """
        self.name = connection.name
        self.connection = connection
        self.notes = []
        self.stamp = {}
        self.time = time.time_ns()
        self.versions = _served(connection)
        self.release = ""
        self.configuration: dict[str, Any] | None = None
        manager = self._manager()
        if manager is not None:
            self._read_release(manager)
            self.configuration = self._read_configuration(manager)

    def path_of(self, resource: Resource) -> str:
        """Return the URL path of a kind in the API version that is read.

        Return an empty string if the server does not serve the kind.
        """
        if resource.group != KUEUE:
            return resource.path()
        version = self.versions.get(resource.plural, "")
        return resource.path(version) if version else ""

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Iterate over the objects of all kinds that influence decisions.

        Raises:
            ApiError: A kind that is not optional cannot be listed.
        """
        self.time = time.time_ns()
        if self.configuration is not None:
            yield self.configuration
        # Nodes and Pods are many, and only topologies need them.
        has_topology = False
        for resource in RESOURCES:
            if resource.kind in OF_TOPOLOGY and not has_topology:
                continue
            for obj in self.objects(resource):
                if resource.kind == "ResourceFlavor" and (obj.get("spec") or {}).get("topologyName"):
                    has_topology = True
                yield obj

    def objects(self, resource: Resource) -> Iterator[dict[str, Any]]:
        """Iterate over the objects of one kind, and record the version of the list in `stamp`.

        Raises:
            ApiError: The kind cannot be listed, and is not optional.
        """
        path = self.path_of(resource)
        if not path:
            return
        try:
            for page in self.connection.pages(path, resource.selector):
                self.stamp[resource.kind] = page.version
                yield from page.objects
        except ApiError as error:
            if error.status != FORBIDDEN:
                raise
            if not resource.is_optional:
                raise ApiError.of(
                    f"{self.name}: may not list {resource.full_name} at the cluster scope; {_HINT}", FORBIDDEN
                ) from None
            self._note(f"may not list {resource.full_name}; the free capacity of topologies is that of an empty list")

    def _note(self, text: str) -> None:
        note = f"{self.name}: {text}; {_HINT}" if "may not" in text else f"{self.name}: {text}"
        if note not in self.notes:
            self.notes.append(note)

    def _manager(self) -> dict[str, Any] | None:
        """Return the Deployment of Kueue's manager; `None` with a note if it is not found."""
        default = f"the rules of {DEVELOPMENT} and the default Configuration are used"
        for namespace, selector in _MANAGERS:
            path = DEPLOYMENTS.path()
            if namespace:
                path = path.replace("/deployments", f"/namespaces/{namespace}/deployments")
            try:
                found = msgspec.json.decode(self.connection.get(path, labelSelector=selector), type=dict[str, Any])
            except ApiError as error:
                if error.status not in (FORBIDDEN, NOT_FOUND):
                    raise
                if namespace:
                    self._note(f"may not list deployments.apps to find the release of Kueue; {default}")
                    return None
                continue
            managers = [one for one in found.get("items") or () if _manager_container(one) is not None]
            if managers:
                return dict(managers[0])
        self._note(f"has no Deployment of Kueue's manager; {default}")
        return None

    def _read_release(self, manager: dict[str, Any]) -> None:
        container = _manager_container(manager)
        image = str((container or {}).get("image"))
        self.release = release_of_image(image)
        if not self.release:
            self._note(f"the image {image} of Kueue's manager shows no known release; the rules of {DEVELOPMENT} apply")

    def _read_configuration(self, manager: dict[str, Any]) -> dict[str, Any] | None:
        """Return the manager's ConfigMap, with the feature gates from its command-line flags."""
        namespace, name = manager["metadata"]["namespace"], _config_map_of(manager)
        found: dict[str, Any] | None = None
        try:
            answer = self.connection.get(f"/api/v1/namespaces/{namespace}/configmaps/{name}")
        except ApiError as error:
            if error.status not in (FORBIDDEN, NOT_FOUND):
                raise
            fault = "may not get the" if error.status == FORBIDDEN else "has no"
            self._note(f"{fault} ConfigMap {namespace}/{name} of Kueue's manager; the default Configuration is used")
        else:
            found = {"apiVersion": "v1", "kind": "ConfigMap", **msgspec.json.decode(answer, type=dict[str, Any])}
            self.stamp["ConfigMap"] = str((found.get("metadata") or {}).get("resourceVersion", ""))
        gates = _gates_of(_manager_container(manager) or {})
        return _with_gates(found, gates) if gates else found


def _served(connection: Connection) -> dict[str, str]:
    """Return the API version in which each kind of Kueue is read, by the plural name of the kind.

    Raises:
        ApiError: The server cannot be reached, or does not have Kueue's API.
    """
    try:
        group = msgspec.json.decode(connection.get(f"/apis/{KUEUE}"), type=dict[str, Any])
    except ApiError as error:
        if error.status != NOT_FOUND:
            raise
        raise ApiError.of(f"{connection.name}: has no API group {KUEUE}; Kueue is not installed", NOT_FOUND) from None
    offered = [str(one.get("version")) for one in group.get("versions") or ()]
    found: dict[str, str] = {}
    # A kind that a newer version lacks, such as an alpha kind, is read in an older one.
    for version in [one for one in _VERSIONS if one in offered]:
        listed = msgspec.json.decode(connection.get(f"/apis/{KUEUE}/{version}"), type=dict[str, Any])
        for one in listed.get("resources") or ():
            if "list" in (one.get("verbs") or ()):
                found.setdefault(str(one["name"]), version)
    if not found:
        raise ApiError(f"{connection.name}: {KUEUE}: offers {', '.join(offered)}; one must be {', '.join(_VERSIONS)}")
    return found


def _manager_container(deployment: dict[str, Any]) -> dict[str, Any] | None:
    """Return the container of Kueue's manager in a Deployment; `None` for any other Deployment."""
    pod = ((deployment.get("spec") or {}).get("template") or {}).get("spec") or {}
    for container in pod.get("containers") or ():
        image = str(container.get("image", "")).partition("@")[0]
        if container.get("name") == "manager" or "kueue" in image.rpartition("/")[2]:
            return dict(container)
    return None


def _config_map_of(deployment: dict[str, Any]) -> str:
    """Return the name of the ConfigMap that a Deployment mounts for Kueue's manager."""
    pod = deployment["spec"]["template"]["spec"]
    names = [(one.get("configMap") or {}).get("name") for one in pod.get("volumes") or ()]
    # Charts can give the ConfigMap another name.
    return next((str(name) for name in names if name), MANAGER_CONFIG)


def _gates_of(container: dict[str, Any]) -> dict[str, bool]:
    """Return the feature gates in the manager's command-line flags."""
    flags = [str(one) for one in (*(container.get("command") or ()), *(container.get("args") or ()))]
    found = {}
    for flag in flags:
        if flag.startswith(_GATES):
            pairs = (pair.partition("=") for pair in flag.removeprefix(_GATES).split(",") if pair)
            found.update({name.strip(): value.strip().lower() in ("true", "1", "t") for name, _, value in pairs})
    return found


def _with_gates(config_map: dict[str, Any] | None, gates: dict[str, bool]) -> dict[str, Any]:
    """Return the manager's ConfigMap, with the feature gates from the command-line flags added to the Configuration."""
    import yaml  # noqa: PLC0415 - only clusters that set gates by flags need it

    config_map = config_map or {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": MANAGER_CONFIG}}
    text = (config_map.get("data") or {}).get(_FILE) or ""
    found = next((one for one in yaml.safe_load_all(text) if isinstance(one, dict)), {})
    found = {"apiVersion": "config.kueue.x-k8s.io/v1beta2", "kind": "Configuration", **found}
    found["featureGates"] = {**(found.get("featureGates") or {}), **gates}
    return {**config_map, "data": {_FILE: yaml.safe_dump(found)}}
