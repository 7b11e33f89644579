"""AppWrapper: a wrapper for arbitrary objects that are admitted together.

Source: `pkg/controller/jobs/appwrapper/appwrapper_controller.go`; AppWrapper v1.2.2,
`pkg/utils/utils.go:InferPodSets,GetPodTemplateSpec`.
"""

import copy
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from kueuepy.jobs import keys
from kueuepy.jobs.base import BaseJob, PodSetSource
from kueuepy.jobs.checks import check_template
from kueuepy.jobs.integrations.batch import pods_per_job
from kueuepy.jobs.job import Finished
from kueuepy.jobs.numbers import signed, wrapped
from kueuepy.jobs.template import Document, PodSetInfo, Section
from kueuepy.jobs.topology import PodIndex
from kueuepy.objects import PodSet


class AppWrapper(BaseJob):
    """An AppWrapper, with pod sets `<name>-0`, `<name>-1` and so on from all its components in order.

    The changes that an admission makes are written to `podSetInfos` of the components, not to the templates.
    """

    kind = "AppWrapper"
    ready = "PodsReady"
    checks_topology = False

    def slots(self, root: Section) -> Sequence[PodSetSource]:
        """Return pod set sources with copies of the templates in the components, including the API's defaults."""
        found = [
            (Section(root.owner, f"{component.path}.{pod_set.path}", pod_template(component, pod_set.path)), pod_set)
            for component, pod_sets in self._components(root)
            for pod_set in pod_sets
        ]
        return [
            PodSetSource(f"{self.name}-{i}", pod_set.replicas, template, index=pod_set.index)
            for i, (template, pod_set) in enumerate(found)
        ]

    def give(self, root: Section, infos: Sequence[PodSetInfo]) -> None:
        """Write the changes for each pod set to the pod set's component."""
        rest = iter(infos)
        for component, pod_sets in self._components(root):
            if pod_sets:
                component.data["podSetInfos"] = [next(rest).to_dict() for _ in pod_sets]

    def stopped(self, pod_sets: Sequence[PodSet]) -> Document | None:  # noqa: ARG002 all changes are in the infos
        """Return the suspended manifest, without the changes in its components."""
        root = self._copy()
        self._set_suspend(root, value=True)
        for component, _ in self._components(root):
            component.data.pop("podSetInfos", None)
        return root.data

    def finished(self) -> Finished | None:
        """Determine the outcome of the job from its phase and conditions.

        A failed AppWrapper is finished when all its resources are deleted.
        """
        match self.status().text("phase"):
            case "Succeeded":
                return Finished("AppWrapper finished successfully", success=True)
            case "Failed" if self.condition("ResourcesDeployed") is None:
                return Finished("AppWrapper failed", success=False)
        return None

    def _components(self, root: Section) -> "list[tuple[Section, list[ComponentPodSet]]]":
        return [(component, component_pod_sets(component)) for component in root.section("spec").sections("components")]


_ANNOTATION = "workload.codeflare.dev.appwrapper/tas-"
_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]", re.ASCII)
_SPEC_FIELDS = (
    "nodeSelector",
    "nodeName",
    "affinity",
    "tolerations",
    "priorityClassName",
    "overhead",
    "topologySpreadConstraints",
)
_SPEC_DEFAULTS: Document = {
    "restartPolicy": "Always",
    "dnsPolicy": "ClusterFirst",
    "securityContext": {},
    "schedulerName": "default-scheduler",
    "preemptionPolicy": "PreemptLowerPriority",
}
_CONTAINER_FIELDS = ("name", "image", "command", "args", "securityContext")
_CONTAINER_DEFAULTS = {"terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File"}
_GRACE_PERIOD = 30


@dataclass(frozen=True)
class ComponentPodSet:
    """A pod set in a component of an AppWrapper.

    Attributes:
        path: Path of the pod set's template, such as `template.spec.template`.
        replicas: Number of pods.
        index: Labels with which the pods are numbered.
    """

    path: str
    replicas: int = 1
    index: PodIndex = field(default_factory=PodIndex)


def component_pod_sets(component: Section) -> list[ComponentPodSet]:
    """Return the pod sets of a component: the declared ones, or pod sets inferred from the kind of its template."""
    declared = component.sections("podSets")
    if declared:
        return [_declared(pod_set) for pod_set in declared]
    return list(_inferred(component.section("template")))


def pod_template(component: Section, path: str) -> Document:
    """Return the fields that Kueue reads from the pod template at a path in a component, with the API's defaults.

    Raises:
        InvalidSpecError: There is no template, or a field has a wrong type.
    """
    found = _value_at(component, path)
    spec = found.get("spec") if isinstance(found, dict) else None
    if not isinstance(spec, dict):
        raise component.error("podSets", f'has the path "{path}"; it must lead to a pod template with a spec')
    check_template(found, component.owner, f"{component.path}.{path}")
    metadata = found.get("metadata") or {}
    kept = {key: dict(metadata[key]) for key in ("labels", "annotations") if metadata.get(key)}
    result: Document = {"metadata": kept} if kept else {}
    result["spec"] = _spec(spec)
    return result


def _spec(spec: Document) -> Document:
    """Return the fields that Kueue reads from a pod spec."""
    found = {
        **{key: list(map(_container, spec[key])) for key in ("initContainers", "containers") if spec.get(key)},
        **{key: copy.deepcopy(spec[key]) for key in _SPEC_FIELDS if key in spec},
        **{key: copy.deepcopy(spec.get(key, default)) for key, default in _SPEC_DEFAULTS.items()},
    }
    # AppWrapper drops an explicit grace period; only the default is kept.
    grace = {} if "terminationGracePeriodSeconds" in spec else {"terminationGracePeriodSeconds": _GRACE_PERIOD}
    return found | grace


def _container(container: Document) -> Document:
    result = {key: copy.deepcopy(container[key]) for key in _CONTAINER_FIELDS if key in container}
    resources = {key: dict(container.get("resources", {}).get(key) or {}) for key in ("requests", "limits")}
    result["resources"] = {key: value for key, value in resources.items() if value}
    result |= {key: container.get(key, default) for key, default in _CONTAINER_DEFAULTS.items()}
    # The default pull policy of an API server depends on the tag.
    latest = _tag(container.get("image", "")) == "latest"
    result["imagePullPolicy"] = container.get("imagePullPolicy", "Always" if latest else "IfNotPresent")
    return result


def _tag(image: str) -> str:
    """Return the tag of an image: `latest` if it has neither tag nor digest, empty if it has a digest."""
    name, at, _ = image.partition("@")
    _, colon, tag = name.rpartition("/")[2].partition(":")
    return tag if colon else "" if at or not image else "latest"


def _declared(pod_set: Section) -> ComponentPodSet:
    annotations = pod_set.texts("annotations")
    count = signed(annotations.get(f"{_ANNOTATION}sub-group-count", ""))
    index = PodIndex(
        annotations.get(f"{_ANNOTATION}pod-index-label"),
        annotations.get(f"{_ANNOTATION}sub-group-index-label"),
        None if count is None else wrapped(count),
    )
    return ComponentPodSet(pod_set.text("path"), pod_set.count("replicas", 1), index)


def _inferred(template: Section) -> Iterator[ComponentPodSet]:
    kind = f"{template.text('apiVersion')} {template.text('kind')}"
    spec = template.part("spec")
    match kind:
        case "v1 Pod":
            yield ComponentPodSet("template")
        case "apps/v1 Deployment" | "apps/v1 StatefulSet" if "template" in spec.data:
            yield ComponentPodSet("template.spec.template", spec.count("replicas", 1))
        case "batch/v1 Job":
            yield ComponentPodSet("template.spec.template", pods_per_job(spec), PodIndex(keys.JOB_COMPLETION_INDEX))
        case "jobset.x-k8s.io/v1alpha2 JobSet":
            yield from _of_jobset(spec)
        case "kubeflow.org/v1 PyTorchJob":
            yield from _of_pytorch(spec)
        case "ray.io/v1 RayCluster":
            yield from _of_ray(spec, "template.spec")
        case "ray.io/v1 RayJob":
            yield from _of_ray(spec.section("rayClusterSpec"), "template.spec.rayClusterSpec")


def _of_jobset(spec: Section) -> Iterator[ComponentPodSet]:
    for i, job in enumerate(spec.sections("replicatedJobs")):
        replicas = job.count("replicas", 1)
        index = PodIndex(keys.JOB_COMPLETION_INDEX, keys.JOBSET_JOB_INDEX, replicas)
        path = f"template.spec.replicatedJobs[{i}].template.spec.template"
        yield ComponentPodSet(path, replicas * pods_per_job(job.walk("template.spec")), index)


def _of_pytorch(spec: Section) -> Iterator[ComponentPodSet]:
    for name in ("Master", "Worker"):
        replica = spec.section("pytorchReplicaSpecs").find(name)
        if replica is not None and "template" in replica.data:
            path = f"template.spec.pytorchReplicaSpecs.{name}.template"
            yield ComponentPodSet(path, replica.count("replicas", 1), PodIndex(keys.REPLICA_INDEX))


def _of_ray(spec: Section, path: str) -> Iterator[ComponentPodSet]:
    """Iterate over the pod sets of the head and the worker groups.

    The number of hosts per worker group is ignored, and there is no pod set for a submitter.
    """
    yield ComponentPodSet(f"{path}.headGroupSpec.template")
    for i, group in enumerate(spec.sections("workerGroupSpecs")):
        if "template" in group.data:
            yield ComponentPodSet(f"{path}.workerGroupSpecs[{i}].template", group.count("replicas", 1))


def _value_at(component: Section, path: str) -> Any:
    """Return the value at a path that starts with `template`; `None` if it does not exist."""
    steps = path.removeprefix("template")
    # Parts that the expression skips would make a wrong path look right.
    if steps == path or "".join(match[0] for match in _STEP.finditer(steps)) != steps:
        return None
    value: Any = component.section("template").data
    for key, position in _STEP.findall(steps):
        if key:
            value = value.get(key) if isinstance(value, dict) else None
        else:
            value = value[int(position)] if isinstance(value, list) and int(position) < len(value) else None
    return value
