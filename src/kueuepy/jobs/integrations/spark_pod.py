"""The pods of a SparkApplication, limited to the fields that affect resources and placement.

Source: `pkg/controller/jobs/sparkapplication/sparkapplication_podset.go`.
"""

import copy

from kueuepy.jobs.fields import Document, Section
from kueuepy.jobs.quantity import canonical

DRIVER = "driver"
EXECUTOR = "executor"
CONTAINERS = {DRIVER: "spark-kubernetes-driver", EXECUTOR: "spark-kubernetes-executor"}
_LOCAL_DIRECTORY = "spark-local-dir-"
_UNITS = {unit + byte: f"{unit.upper()}i" for unit in "kmgtp" for byte in ("", "b")}


def empty_template(role: str) -> Document:
    """Return the default template of a role: one container with only a name."""
    return {"spec": {"containers": [{"name": CONTAINERS[role]}]}}


def pod_template(spec: Section, role: str) -> Document:
    """Return the pod template of a role.

    If the application contains a pod template, only its labels and annotations are used.

    Args:
        spec: The spec of the application.
        role: `driver` or `executor`.
    """
    own = spec.section(role)
    template = empty_template(role)
    pod: Document = template["spec"]
    container: Document = pod["containers"][0]
    _add_volumes(spec, own, pod, container)
    if own.items("initContainers"):
        pod["initContainers"] = _with_others([], own.sections("initContainers"))
    pod["containers"] = _with_others([container], own.sections("sidecars"))
    for key in ("priorityClassName", "nodeSelector", "affinity", "tolerations"):
        if own.data.get(key):
            pod[key] = copy.deepcopy(own.data[key])
    _add_resources(own, container)
    metadata = {key: _metadata(own, key) for key in ("labels", "annotations")}
    if any(metadata.values()):
        template["metadata"] = {key: value for key, value in metadata.items() if value}
    return template


def java_memory(text: str) -> str:
    """Convert an amount of memory in Java's notation to a quantity: `512m` becomes `512Mi`.

    Units must be lower case. As in Spark's operator v2.5.2, an upper-case unit yields an invalid quantity.
    """
    for unit in sorted(_UNITS, key=len, reverse=True):
        if text.lower().endswith(unit):
            return text.removesuffix(unit) + _UNITS[unit]
    return text


def _metadata(own: Section, key: str) -> dict[str, str]:
    return own.part("template").part("metadata").texts(key) | own.texts(key)


def _with_others(containers: list[Document], others: list[Section]) -> list[Document]:
    """Append containers to a list, except containers whose name and image match a container in the list."""
    for other in others:
        if all((c.get("name"), c.get("image")) != (other.text("name"), other.data.get("image")) for c in containers):
            containers.append(copy.deepcopy(other.data))
    return containers


def _add_volumes(spec: Section, own: Section, pod: Document, container: Document) -> None:
    volumes = {volume.text("name"): volume.data for volume in spec.sections("volumes")}
    for mount in own.sections("volumeMounts"):
        name = mount.text("name")
        if name not in volumes or name.startswith(_LOCAL_DIRECTORY):
            continue
        if volumes[name] not in pod.setdefault("volumes", []):
            pod["volumes"].append(copy.deepcopy(volumes[name]))
        container.setdefault("volumeMounts", []).append(copy.deepcopy(mount.data))


def _add_resources(own: Section, container: Document) -> None:
    """Set the cpu request from `coreRequest`, not from `cores`, and the memory request without Spark's overhead."""
    requests, limits = (
        {"cpu": _quantity(own, core), "memory": _quantity(own, memory, java=True)}
        for core, memory in (("coreRequest", "memory"), ("coreLimit", "memoryLimit"))
    )
    gpu = own.find("gpu")
    if gpu is not None and gpu.text("name") and gpu.integer("quantity", 0) > 0:
        limits[gpu.text("name")] = str(gpu.integer("quantity"))
    resources = {
        key: {name: quantity for name, quantity in given.items() if quantity is not None}
        for key, given in (("requests", requests), ("limits", limits))
    }
    if any(resources.values()):
        container["resources"] = {key: value for key, value in resources.items() if value}


def _quantity(own: Section, key: str, *, java: bool = False) -> str | None:
    text = own.text(key)
    if not text:
        return None
    try:
        return canonical(java_memory(text) if java else text)
    except ValueError as error:
        hint = "512m or 4g" if java else "500m or 2"
        raise own.error(key, f'is "{text}"; it must be an amount such as {hint}') from error
