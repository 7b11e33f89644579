"""Changes to pod templates when a job starts, and their reversal when the job stops.

Source: `pkg/podset/podset.go:Merge,RestorePodSpec` and `pkg/util/pod/pod.go:Gate,Ungate`.
"""

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field

from kueuepy.jobs import keys
from kueuepy.jobs.fields import Document, Section


@dataclass(frozen=True)
class PodSetInfo:
    """Changes that an admission makes to the pods of a pod set.

    Source: `pkg/podset/podset.go:PodSetInfo`.

    >>> PodSetInfo(name="main", count=3, node_selector={"type": "spot"}).count
    3

    Attributes:
        name: Name of the pod set.
        count: Number of admitted pods.
        labels: Labels to add.
        annotations: Annotations to add.
        node_selector: Node labels to add to the node selector.
        tolerations: Tolerations to add, as dicts in the form of a manifest.
        scheduling_gates: Names of scheduling gates to add.
    """

    name: str = "main"
    count: int = 1
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    node_selector: Mapping[str, str] = field(default_factory=dict)
    tolerations: tuple[Document, ...] = ()
    scheduling_gates: tuple[str, ...] = ()

    def to_dict(self) -> Document:
        """Return the changes that are not empty, as a dict with the field names of metadata and pod specs."""
        fields = {
            "annotations": dict(self.annotations),
            "labels": dict(self.labels),
            "nodeSelector": dict(self.node_selector),
            "tolerations": copy.deepcopy(list(self.tolerations)),
            "schedulingGates": [{"name": gate} for gate in self.scheduling_gates],
        }
        return {key: value for key, value in fields.items() if value}


METADATA_FIELDS = ("annotations", "labels")
SPEC_FIELDS = ("nodeSelector", "tolerations", "schedulingGates")


def inject(template: Section, info: PodSetInfo) -> None:
    """Apply the changes that an admission makes to a pod template.

    In an elastic job, the names of the workload and of its slice can be overwritten. For conflicts in any other label,
    annotation or node selector, the function raises an error.

    Raises:
        InvalidSpecError: The template already has a different value for a label, annotation or node selector.
    """
    # A template that was started before has the names of its previous Workload.
    _drop_slice_names(template, info)
    if info.annotations or info.labels:
        metadata = template.ensure("metadata")
        merge_texts(metadata, "annotations", info.annotations)
        merge_texts(metadata, "labels", info.labels)
    spec = template.ensure("spec")
    merge_texts(spec, "nodeSelector", info.node_selector)
    merge_tolerations(spec, info.tolerations)
    for gate in info.scheduling_gates:
        add_gate(spec, gate)


def _drop_slice_names(template: Section, info: PodSetInfo) -> None:
    """Remove the names of the Workload and of its slice from the template if the admission contains new names."""
    if keys.WORKLOAD_SLICE_NAME in info.annotations and (metadata := template.find("metadata")):
        annotations = metadata.texts("annotations")
        for key in (keys.WORKLOAD_SLICE_NAME, keys.WORKLOAD):
            if key in info.annotations and key in annotations:
                metadata.section("annotations").data.pop(key)


def merge_texts(owner: Section, key: str, added: Mapping[str, str]) -> None:
    """Add entries to a field for labels, annotations or a node selector.

    Raises:
        InvalidSpecError: The field already has a different value for one of the keys.
    """
    if not added:
        return
    texts = owner.texts(key)
    target = owner.ensure(key)
    for name, value in added.items():
        if texts.get(name, value) != value:
            raise target.error(
                name, f'is "{texts[name]}", but the admission sets "{value}"; leave it out, or give it the same value'
            )
        target.data[name] = value


def merge_tolerations(spec: Section, added: tuple[Document, ...]) -> None:
    """Add the tolerations that a pod spec does not have yet."""
    for toleration in added:
        present = spec.items("tolerations")
        if all(_identity(toleration) != _identity(other) for other in present):
            spec.data["tolerations"] = [*present, copy.deepcopy(toleration)]


def restore(template: Section, original: Document) -> None:
    """Restore the fields of a pod template that `inject` changes, from the template of the Workload's pod set."""
    restore_fields(template.ensure("metadata").data, original.get("metadata", {}), METADATA_FIELDS)
    if not template.data["metadata"] and "metadata" not in original:
        del template.data["metadata"]
    restore_fields(template.ensure("spec").data, original.get("spec", {}), SPEC_FIELDS)


def add_gate(spec: Section, gate: str) -> None:
    """Add a scheduling gate to a pod spec, unless the gate is already present."""
    if not has_gate(spec, gate):
        spec.data["schedulingGates"] = [*spec.items("schedulingGates"), {"name": gate}]


def remove_gate(spec: Section, gate: str) -> None:
    """Remove a scheduling gate from a pod spec."""
    if has_gate(spec, gate):
        left = [item.data for item in spec.sections("schedulingGates") if item.text("name") != gate]
        spec.data["schedulingGates"] = left
        if not left:
            del spec.data["schedulingGates"]


def has_gate(spec: Section, gate: str) -> bool:
    """Return whether a pod spec has a scheduling gate."""
    return any(item.text("name") == gate for item in spec.sections("schedulingGates"))


def sanitized(template: Document) -> Document:
    """Return a copy of a pod template without duplicate environment variables. The last value of a variable is kept.

    Source: `pkg/controller/jobframework/utils.go:SanitizePodSet`.
    """
    result = copy.deepcopy(template)
    spec = result.get("spec", {})
    for container in (*spec.get("initContainers", ()), *spec.get("containers", ())):
        if "env" in container:
            last = {variable.get("name"): variable for variable in container["env"]}
            container["env"] = list(last.values())
    return result


def restore_fields(target: Document, original: Document, names: tuple[str, ...]) -> None:
    """Set fields of a mapping to their values in the original mapping.

    Fields that are absent in the original mapping are removed.
    """
    for name in names:
        if name in original:
            target[name] = copy.deepcopy(original[name])
        else:
            target.pop(name, None)


def _identity(toleration: Document) -> tuple[str, str, str, str]:
    """Return the fields by which tolerations are compared.

    `tolerationSeconds` is not compared. An absent operator counts as `Equal`.
    """
    key, value, effect = (toleration.get(name) or "" for name in ("key", "value", "effect"))
    return key, toleration.get("operator") or "Equal", value, effect
