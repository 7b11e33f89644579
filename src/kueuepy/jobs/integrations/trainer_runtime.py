"""The JobSet that a TrainJob's runtime makes of it.

Mirrors, of Kubeflow Trainer v2.3.0, `pkg/runtime/core/trainingruntime.go:newRuntimeInfo,mergeRuntimePatches` and the
`EnforceMLPolicy` of its plugins as far as they bear on counts, and
`pkg/runtime/framework/plugins/jobset/builder.go`; of Kueue, `pkg/controller/jobs/trainjob/trainjob_controller.go`.
"""

import copy
from collections.abc import Sequence
from typing import Any

from kueuepy.jobs.fields import Document, Section

_ANCESTOR = "trainer.kubeflow.org/trainjob-ancestor-step"
_NODE = "node"
_TRAINER = "trainer"
_INITIALIZERS = {"dataset-initializer": "dataset", "model-initializer": "model"}
_MERGE_KEYS = {
    "replicatedJobs": "name",
    "containers": "name",
    "initContainers": "name",
    "env": "name",
    "volumes": "name",
    "volumeMounts": "mountPath",
    "imagePullSecrets": "name",
    "schedulingGates": "name",
}
"""The lists whose items are merged by a key, as the Go types of pods and JobSets say; others are replaced."""


def jobset_spec(train_job: Section, runtime: Section) -> Section:
    """The spec of the JobSet that a TrainJob becomes with its TrainingRuntime or ClusterTrainingRuntime."""
    runtime_spec = runtime.section("spec")
    spec = Section(runtime.owner, "spec.template.spec", copy.deepcopy(runtime_spec.walk("template.spec").data))
    job_spec = train_job.section("spec")
    for patch in job_spec.sections("runtimePatches"):
        _apply_patch(spec, patch)
    policy = runtime_spec.find("mlPolicy")
    trainer = job_spec.find("trainer")
    for job in spec.sections("replicatedJobs"):
        count = _node_count(job, policy, trainer)
        job.walk("template.spec").data.update(parallelism=count, completions=count)
        _fill(job, job_spec, policy, trainer)
    return spec


def merged(old: Any, new: Any, key: str = "") -> Any:
    """A strategic merge: mappings by field, the lists that have one by their merge key, anything else replaced.

    >>> merged({"a": {"x": 1}, "env": [{"name": "A", "value": "1"}]}, {"env": [{"name": "B"}]})
    {'a': {'x': 1}, 'env': [{'name': 'A', 'value': '1'}, {'name': 'B'}]}
    """
    if isinstance(old, dict) and isinstance(new, dict):
        return old | {name: merged(old.get(name), value, name) for name, value in new.items()}
    if isinstance(old, list) and isinstance(new, list) and key in _MERGE_KEYS:
        by = _MERGE_KEYS[key]
        items = {item[by]: item for item in old}
        for item in new:
            items[item[by]] = merged(items.get(item[by]), item)
        return list(items.values())
    return copy.deepcopy(new)


def _apply_patch(spec: Section, patch: Section) -> None:
    """Merges what one manager patches in the runtime; only replicated jobs that the runtime has can be patched."""
    inner: Section | None = patch
    for key in ("trainingRuntimeSpec", "template", "spec"):
        inner = inner and inner.find(key)
    if inner is None:
        return
    names = [job.text("name") for job in spec.sections("replicatedJobs")]
    for job in inner.sections("replicatedJobs"):
        if job.text("name") not in names:
            raise job.error("name", f'is "{job.text("name")}"; it must be one of {", ".join(names)}')
    spec.data.update(merged(spec.data, inner.data))


def _node_count(job: Section, policy: Section | None, trainer: Section | None) -> int:
    """How many nodes, that is pods, a replicated job has."""
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
    """Writes into the containers of a replicated job what the TrainJob says of them."""
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
        initializer = job_spec.find("initializer")
        source = initializer and initializer.find(_INITIALIZERS.get(ancestor, ""))
        if source is not None and name == ancestor:
            _fill_initializer(container, source)


def _fill_node(container: Section, fields: Sequence[str], trainer: Section, *, has_policy: bool) -> None:
    container.data.update({key: copy.deepcopy(trainer.data[key]) for key in fields if key in trainer.data})
    if has_policy and "resourcesPerNode" in trainer.data:
        resources = merged(container.data.get("resources", {}), trainer.data["resourcesPerNode"])
        container.data["resources"] = resources
    _set_env(container, trainer.data)


def _fill_initializer(container: Section, source: Section) -> None:
    uri = {"name": "STORAGE_URI", "value": source.text("storageUri")}
    _set_env(container, {"env": [uri]} if "storageUri" in source.data else {})
    _set_env(container, source.data)


def _set_env(container: Section, source: Document) -> None:
    if source.get("env"):
        container.data["env"] = merged(container.items("env"), source["env"], "env")


def _ancestor(job: Section) -> str:
    """The step of a TrainJob that a replicated job stands for, by the label of its Jobs."""
    metadata = job.section("template").find("metadata")
    return metadata.texts("labels").get(_ANCESTOR, "") if metadata else ""
