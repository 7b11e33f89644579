"""SparkApplication: a driver and its executors, whose pods have only the fields for resources and placement.

Source: `pkg/controller/jobs/sparkapplication/sparkapplication_controller.go`, `sparkapplication_webhook.go` and
`sparkapplication_podset.go`.
"""

import copy
from collections.abc import Sequence

from kueuepy.jobs.base import BaseJob, PodSetSource
from kueuepy.jobs.job import Finished
from kueuepy.jobs.template import (
    METADATA_FIELDS,
    Document,
    PodSetInfo,
    Section,
    add_gate,
    canonical,
    merge_texts,
    merge_tolerations,
    restore_fields,
)
from kueuepy.objects import PodSet

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
    # The longest unit first: "mb" ends with "b", too.
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


_ROLES = (DRIVER, EXECUTOR)
_ENDS = ("COMPLETED", "FAILED", "SUBMISSION_FAILED")
_READY = ("RUNNING", "COMPLETED")


class SparkApplication(BaseJob):
    """A SparkApplication, with pod sets `driver` and `executor`, which are created from the fields of their roles.

    Kueue supports the kind only with its feature gate `SparkApplicationIntegration`. This class does not check the
    feature gate.
    """

    kind = "SparkApplication"
    takes_prebuilt = False
    checks_groups = False

    def slots(self, root: Section) -> Sequence[PodSetSource]:
        """Return pod set sources with templates created from the fields of the roles.

        Changes to the created templates do not affect the application.
        """
        spec = root.section("spec")
        counts = {DRIVER: 1, EXECUTOR: spec.section(EXECUTOR).count("instances", 0)}
        return [
            PodSetSource(role, counts[role], Section(root.owner, spec.at(role), pod_template(spec, role)))
            for role in _ROLES
        ]

    def validate(self) -> None:
        """Reject modes other than `cluster`, and dynamic allocation of executors."""
        super().validate()
        spec = self.root.section("spec")
        if spec.text("mode") != "cluster":
            raise spec.error("mode", f'is "{spec.text("mode")}"; a job that Kueue manages must have "cluster"')
        allocation = spec.find("dynamicAllocation")
        if allocation is not None and allocation.flag("enabled"):
            raise allocation.error("enabled", "is true; a job that Kueue manages must not change its executors")

    def give(self, root: Section, infos: Sequence[PodSetInfo]) -> None:
        """Write the changes for each role to the fields of the role.

        A node selector for the whole application is moved to the driver and the executor.
        """
        spec = root.section("spec")
        common = spec.data.pop("nodeSelector", None)
        for role, info in zip(_ROLES, infos, strict=True):
            _give(spec.section(role), role, info, common)

    def restore_slot(self, slot: PodSetSource, pod_set: PodSet) -> None:
        """Restore nothing: the templates are created from the fields of the roles."""

    def after_stop(self, root: Section, pod_sets: Sequence[PodSet]) -> None:
        """Restore the fields of the roles from the pod sets of the Workload.

        As in Kueue, a node selector for the whole application is not restored, and each role keeps the labels and
        annotations of its template.
        """
        spec = root.section("spec")
        spec.data.pop("nodeSelector", None)
        for role, pod_set in zip(_ROLES, pod_sets, strict=True):
            _restore(spec.section(role), role, pod_set)
        spec.section(EXECUTOR).data["instances"] = pod_sets[_ROLES.index(EXECUTOR)].count

    def finished(self) -> Finished | None:
        """Determine the outcome of the application from its state."""
        state = self._state()
        if state.text("state") not in _ENDS:
            return None
        return Finished(state.text("errorMessage"), state.text("state") == "COMPLETED")

    def pods_ready(self) -> bool:
        """Return whether the driver runs, and all executors run or have completed."""
        executors = self.status().texts("executorState").values()
        ready = sum(state in _READY for state in executors)
        expected = self.root.section("spec").section(EXECUTOR).count("instances", 0)
        return self._state().text("state") == "RUNNING" and ready >= expected

    def _state(self) -> Section:
        return self.status().part("applicationState")


def _restore(own: Section, role: str, pod_set: PodSet) -> None:
    pod = pod_set.template["spec"]
    restore_fields(own.data, pod_set.template.get("metadata", {}), METADATA_FIELDS)
    restore_fields(own.data, pod, ("nodeSelector", "tolerations"))
    own.data.setdefault("template", empty_template(role))
    restore_fields(own.section("template").ensure("spec").data, pod, ("schedulingGates",))


def _give(own: Section, role: str, info: PodSetInfo, common: Document | None) -> None:
    """Copy the application's node selector to a role, and write the changes of an admission to the role's fields."""
    if common is not None:
        own.data["nodeSelector"] = dict(common)
    merge_texts(own, "annotations", info.annotations)
    merge_texts(own, "labels", info.labels)
    merge_texts(own, "nodeSelector", info.node_selector)
    merge_tolerations(own, info.tolerations)
    own.data.setdefault("template", empty_template(role))
    for gate in info.scheduling_gates:
        add_gate(own.section("template").ensure("spec"), gate)
