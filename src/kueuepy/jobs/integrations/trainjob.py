"""TrainJob of Kubeflow Trainer, and the JobSet that Kubeflow Trainer creates for it from its runtime.

Source: `pkg/controller/jobs/trainjob/trainjob_controller.go` and `trainjob_webhook.go`; Kubeflow Trainer v2.3.0,
`pkg/runtime/core/trainingruntime.go:newRuntimeInfo,mergeRuntimePatches`,
`pkg/runtime/framework/plugins/jobset/builder.go`, and the `EnforceMLPolicy` of its plugins as far as they affect the
number of pods.
"""

import copy
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from kueuepy.errors import NotFoundError
from kueuepy.jobs import keys
from kueuepy.jobs.base import BaseJob, PodSetSource
from kueuepy.jobs.integrations.batch import are_replicas_ready, replicated_job_slots, succeeded_pods
from kueuepy.jobs.template import METADATA_FIELDS, Document, PodSetInfo, Section, without_nulls
from kueuepy.manifest.body import part
from kueuepy.objects import PodSet, ReclaimablePod

_GROUP = "trainer.kubeflow.org"
_NAMESPACED = "TrainingRuntime"
_CLUSTER_WIDE = "ClusterTrainingRuntime"
_EMPTY_PATCH: Document = {"template": {"spec": {}}}


class TrainJob(BaseJob):
    """A TrainJob, with one pod set per replicated job of its runtime. The runtime must be among the related objects.

    The changes that an admission makes are written to Kueue's entry in `spec.runtimePatches`, not to a template.
    """

    kind = "TrainJob"
    ends: ClassVar[Mapping[str, bool]] = {"Complete": True, "Failed": False}
    checks_groups = False

    def slots(self, root: Section) -> Sequence[PodSetSource]:
        """Return the pod set sources of the JobSet.

        Changes to the templates in the pod set sources do not affect the TrainJob.
        """
        return replicated_job_slots(self.jobset(root))

    def jobset(self, root: Section) -> Section:
        """Return the spec of the JobSet for the TrainJob."""
        return jobset_spec(root, self.runtime())

    def runtime(self) -> Section:
        """Return the runtime that the job refers to.

        Raises:
            NotFoundError: The runtime is not among the related objects.
        """
        reference = self.root.section("spec").section("runtimeRef")
        kind, name = reference.text("kind", _CLUSTER_WIDE), reference.text("name")
        if reference.text("apiGroup", _GROUP) != _GROUP or kind not in (_NAMESPACED, _CLUSTER_WIDE):
            raise reference.error("kind", f'is "{kind}"; it must be {_CLUSTER_WIDE} or {_NAMESPACED} of {_GROUP}')
        for manifest in self.related:
            if self._is_named(manifest, kind, name):
                return Section(f'{kind} "{name}"', "", without_nulls(manifest))
        raise NotFoundError(
            f'{self.owner}: spec.runtimeRef: "{name}" names no {kind}; its manifest must be among the related objects'
        )

    def _is_named(self, manifest: Document, kind: str, name: str) -> bool:
        """Return whether a manifest is the runtime with the given kind and name."""
        metadata = part(manifest, "metadata")
        namespace = metadata.get("namespace", "default") if kind == _NAMESPACED else self.namespace
        return (manifest.get("kind"), metadata.get("name"), namespace) == (kind, name, self.namespace)

    def on_suspended(self, root: Section) -> None:
        """Add Kueue's entry to the runtime patches, unless Kueue has already added it.

        Kueue's webhook adds the entry once, when the object is created, regardless of other entries.
        """
        spec = root.section("spec")
        entries = spec.sections("runtimePatches")
        if not self.is_stored and all(entry.data.get("trainingRuntimeSpec") != _EMPTY_PATCH for entry in entries):
            entry = {"manager": keys.RUNTIME_PATCH_MANAGER, "trainingRuntimeSpec": copy.deepcopy(_EMPTY_PATCH)}
            spec.data["runtimePatches"] = [*spec.items("runtimePatches"), entry]

    def give(self, root: Section, infos: Sequence[PodSetInfo]) -> None:
        """Write a patch for each replicated job that changes.

        Raises:
            InvalidSpecError: Kueue's entry is missing.
        """
        patch = self._own_patch(root)
        if patch is None:
            raise root.section("spec").error(
                "runtimePatches", f"has no entry of {keys.RUNTIME_PATCH_MANAGER}; start from the suspended manifest"
            )
        patch.data["replicatedJobs"] = [_replicated_job_patch(info) for info in infos]

    def stopped(self, pod_sets: Sequence[PodSet]) -> Document | None:  # noqa: ARG002 all changes are in the patch
        """Return the suspended manifest, with Kueue's entry empty."""
        root = self._copy()
        self._set_suspend(root, value=True)
        patch = self._own_patch(root)
        if patch is not None:
            patch.data.pop("replicatedJobs", None)
        return root.data

    def reclaimable_pods(self) -> tuple[ReclaimablePod, ...]:
        """Return the pods of replicated jobs that have succeeded."""
        statuses = self.status().sections("jobsStatus")
        succeeded = {status.text("name"): status.count("succeeded", 0) for status in statuses}
        return succeeded_pods(self.jobset(self.root), succeeded) if statuses else ()

    def pods_ready(self) -> bool:
        """Return whether the Jobs of all replicas are ready or have succeeded."""
        return are_replicas_ready(self.jobset(self.root), self.status().sections("jobsStatus"))

    def _own_patch(self, root: Section) -> Section | None:
        """Return the spec in Kueue's entry of the runtime patches."""
        for entry in root.section("spec").sections("runtimePatches"):
            if entry.text("manager") == keys.RUNTIME_PATCH_MANAGER:
                return entry.walk("trainingRuntimeSpec.template.spec")
        return None


def _replicated_job_patch(info: PodSetInfo) -> Document:
    """Return the patch of one replicated job, which becomes part of Kueue's entry in `spec.runtimePatches`."""
    spec = info.to_dict()
    metadata = {key: spec.pop(key) for key in METADATA_FIELDS if key in spec}
    return {"name": info.name, "template": {"spec": {"template": {"metadata": metadata, "spec": spec}}}}


_ANCESTOR = "trainer.kubeflow.org/trainjob-ancestor-step"
_POD_GROUP = "scheduling.x-k8s.io/pod-group"
_NODE = "node"
_TRAINER = "trainer"
_INITIALIZERS = {"dataset-initializer": "dataset", "model-initializer": "model"}
# Merge keys of lists, as in the Go types of pods and JobSets. Other lists are replaced.
_MERGE_KEYS = {
    **dict.fromkeys(("replicatedJobs", "containers", "initContainers", "env", "volumes"), "name"),
    **dict.fromkeys(("imagePullSecrets", "schedulingGates"), "name"),
    "volumeMounts": "mountPath",
}
_CONTAINER_PATCH: Document = dict.fromkeys(("name", "env", "volumeMounts", "securityContext"))
_POD_PATCH: Document = dict.fromkeys(
    (
        "serviceAccountName",
        "volumes",
        "imagePullSecrets",
        "securityContext",
        "nodeSelector",
        "affinity",
        "tolerations",
        "schedulingGates",
        "terminationGracePeriodSeconds",
    )
)
_POD_PATCH |= {"initContainers": _CONTAINER_PATCH, "containers": _CONTAINER_PATCH}
_TEMPLATE_PATCH: Document = {"metadata": None, "spec": {"template": {"metadata": None, "spec": _POD_PATCH}}}
# Fields that a runtime patch may have. An API server drops other fields.
_PATCH: Document = {"replicatedJobs": {"name": None, "template": _TEMPLATE_PATCH}}


def jobset_spec(train_job: Section, runtime: Section) -> Section:
    """Return the spec of the JobSet for a TrainJob with its TrainingRuntime or ClusterTrainingRuntime."""
    runtime_spec = runtime.section("spec")
    spec = Section(runtime.owner, "spec.template.spec", copy.deepcopy(runtime_spec.walk("template.spec").data))
    job_spec = train_job.section("spec")
    _apply_patches(spec, job_spec.sections("runtimePatches"))
    policy = runtime_spec.find("mlPolicy")
    trainer = job_spec.find("trainer")
    for job in spec.sections("replicatedJobs"):
        count = _node_count(job, policy, trainer)
        job.walk("template.spec").data.update(parallelism=count, completions=count)
        _fill(job, job_spec, policy, trainer)
    if runtime_spec.find_at("podGroupPolicy.coscheduling") is not None:
        name = train_job.section("metadata").text("name")
        for job in spec.sections("replicatedJobs"):
            template = job.walk("template.spec").ensure("template")
            template.ensure("metadata").ensure("labels").data[_POD_GROUP] = name
    return spec


def merged(old: Any, new: Any, key: str = "") -> Any:
    """Return the strategic merge of two values.

    Mappings are merged by field, and lists with a merge key by this key. Scalars, and lists without a merge key, are
    replaced by the new value. Items of the new list keep their order. An item that occurs only in the old list is
    placed before the next item of the old list that is also in the new list, or at the end of the list.

    Source: `k8s.io/apimachinery/pkg/util/strategicpatch/patch.go:mergeSlice`.

    >>> merged({"a": {"x": 1}, "env": [{"name": "A", "value": "1"}]}, {"env": [{"name": "B"}]})
    {'a': {'x': 1}, 'env': [{'name': 'B'}, {'name': 'A', 'value': '1'}]}
    """
    if isinstance(old, dict) and isinstance(new, dict):
        return old | {name: merged(old.get(name), value, name) for name, value in new.items()}
    if isinstance(old, list) and isinstance(new, list) and key in _MERGE_KEYS:
        by = _MERGE_KEYS[key]
        indices = {item[by]: index for index, item in enumerate(old)}
        patched = {item[by]: item for item in new}
        kept = [item for item in old if item[by] not in patched]
        result = []
        for name, item in patched.items():
            while kept and name in indices and indices[kept[0][by]] < indices[name]:
                result.append(kept.pop(0))
            result.append(merged(old[indices[name]] if name in indices else None, item))
        return [*result, *kept]
    return copy.deepcopy(new)


def _apply_patches(spec: Section, patches: Sequence[Section]) -> None:
    """Merge the patches of all managers into the runtime.

    If the runtime has no replicated job with the name in a patch, that replicated job gets no pods and is sorted next
    to the first replicated job.

    Source: Kubeflow Trainer's `pkg/runtime/core/trainingruntime.go:mergeRuntimePatches`.
    """
    _check_merge_keys(spec)
    order = {job.text("name"): index for index, job in enumerate(spec.sections("replicatedJobs"))}
    for patch in patches:
        inner = patch.find_at("trainingRuntimeSpec.template.spec")
        if inner is None:
            continue
        _check_merge_keys(inner)
        for job in inner.sections("replicatedJobs"):
            # As in Kueue, a patch of an unknown job adds a job without replicas.
            if job.text("name") not in order:
                unknown = {"name": job.text("name"), "replicas": 0, "template": {"spec": {"template": {"spec": {}}}}}
                spec.data["replicatedJobs"] = [unknown, *spec.items("replicatedJobs")]
        spec.data.update(merged(spec.data, _pruned(inner.data, _PATCH)))
    spec.data["replicatedJobs"] = sorted(spec.items("replicatedJobs"), key=lambda job: order.get(job["name"], 0))


def _check_merge_keys(section: Section) -> None:
    for name, value in section.data.items():
        if isinstance(value, dict):
            _check_merge_keys(section.section(name))
        elif isinstance(value, list) and name in _MERGE_KEYS:
            for item in section.sections(name):
                if not item.text(_MERGE_KEYS[name]):
                    raise item.error(_MERGE_KEYS[name], "is missing; it must be given")
                _check_merge_keys(item)


def _pruned(value: Any, known: Document | None) -> Any:
    if isinstance(value, list):
        return [_pruned(item, known) for item in value]
    if known is None or not isinstance(value, dict):
        return value
    return {name: _pruned(item, known[name]) for name, item in value.items() if name in known}


def _node_count(job: Section, policy: Section | None, trainer: Section | None) -> int:
    """Return the number of nodes of a replicated job, which is its number of pods."""
    is_trainer = _ancestor(job) == _TRAINER
    count = job.walk("template.spec").integer("parallelism", 1)
    if is_trainer and policy is not None:
        count = policy.integer("numNodes", 1)
    count = max(count, 1)
    if trainer is None or "numNodes" not in trainer.data:
        return count
    mpi = policy and policy.find("mpi")
    nodes = trainer.count("numNodes")
    if mpi is None:
        return nodes if is_trainer else count
    if job.text("name") != _NODE:
        return count
    return max(nodes - 1, 1) if mpi.flag("runLauncherAsNode") else nodes


def _fill(job: Section, job_spec: Section, policy: Section | None, trainer: Section | None) -> None:
    """Write the settings of the TrainJob to the containers of a replicated job."""
    ancestor = _ancestor(job)
    mpi = policy and policy.find("mpi")
    is_launching_node = mpi is not None and mpi.flag("runLauncherAsNode") and job.text("name") == _NODE
    if ancestor == _TRAINER or ancestor in _INITIALIZERS:
        job.data["replicas"] = 1
    for container in job.walk("template.spec.template.spec").sections("containers"):
        name = container.text("name")
        if trainer is not None and name == _NODE and (ancestor == _TRAINER or is_launching_node):
            fields = ("image", "command", "args") if ancestor == _TRAINER else ()
            _fill_node(container, fields, trainer, has_policy=policy is not None)
        source = job_spec.part("initializer").find(_INITIALIZERS.get(ancestor, ""))
        if source is not None and name == ancestor:
            _fill_initializer(container, source)


def _fill_node(container: Section, fields: Sequence[str], trainer: Section, *, has_policy: bool) -> None:
    container.data.update({key: copy.deepcopy(trainer.data[key]) for key in fields if key in trainer.data})
    if has_policy and "resourcesPerNode" in trainer.data:
        resources = merged(container.data.get("resources", {}), trainer.data["resourcesPerNode"])
        container.data["resources"] = resources
    _set_env(container, trainer.sections("env"))


def _fill_initializer(container: Section, source: Section) -> None:
    if "storageUri" in source.data:
        uri = {"name": "STORAGE_URI", "value": source.text("storageUri")}
        _set_env(container, [Section(source.owner, source.at("storageUri"), uri)])
    _set_env(container, source.sections("env"))
    secret = source.find("secretRef")
    if secret is not None:
        reference = {"secretRef": {"name": secret.text("name")}}
        container.data["envFrom"] = [*container.items("envFrom"), reference]


def _set_env(container: Section, variables: Sequence[Section]) -> None:
    """Set environment variables of a container. An existing environment variable keeps its position in the list."""
    if variables:
        present = {variable.text("name"): variable.data for variable in container.sections("env")}
        given = {variable.text("name"): copy.deepcopy(variable.data) for variable in variables}
        container.data["env"] = list((present | given).values())


def _ancestor(job: Section) -> str:
    """Return the step of the TrainJob to which a replicated job belongs, from the label in its Job template."""
    return job.section("template").part("metadata").texts("labels").get(_ANCESTOR, "")
