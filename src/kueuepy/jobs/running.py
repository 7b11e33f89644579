"""Suspending, starting and stopping jobs: changed manifests and patches, made from the admission of a Workload.

Source: `pkg/controller/jobframework/reconciler.go:getPodSetsInfoFromStatus` and `pkg/podset/podset.go:FromAssignment`.
"""

import re
from collections.abc import Iterable

import msgspec

from kueuepy.errors import InvalidSpecError, NotFoundError, StateError, checked
from kueuepy.jobs import keys, patch
from kueuepy.jobs.registry import adapter_for
from kueuepy.jobs.template import Document, PodSetInfo, Section, inject, without_nulls
from kueuepy.objects import Configuration, PodSet, PodSetAssignment, ResourceFlavor, Workload

_DNS_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_PLAIN = Configuration()


@checked
def pod_set_infos(
    workload: Workload,
    flavors: Iterable[ResourceFlavor],
    *,
    config: Configuration = _PLAIN,
    marks: bool = True,
) -> tuple[PodSetInfo, ...]:
    """Return the changes that a Workload's admission makes to the pods of each pod set.

    The result contains the node labels and tolerations of the assigned flavors, and the updates of admission checks.
    The taints of a flavor do not add tolerations. If the flavors of several resources have different values for a node
    label, the last resource by name takes precedence; Kueue's choice is random.

    >>> from kueuepy.objects import Admission, WorkloadStatus
    >>> admission = Admission("vision", (PodSetAssignment(flavors={"cpu": "spot"}),))
    >>> workload = Workload("a", pod_sets=[PodSet()], status=WorkloadStatus(admission=admission))
    >>> pod_set_infos(workload, [ResourceFlavor("spot", node_labels={"type": "spot"})])[0].node_selector
    {'type': 'spot'}

    Args:
        workload: A Workload with an admission in its status.
        flavors: The ResourceFlavors of the cluster.
        config: The Configuration, whose feature gates determine the labels and annotations that are added.
        marks: Whether to add the labels and annotations with which Kueue identifies the pods of a workload. With
            `marks=False`, the result contains only changes that affect the placement of pods.

    Returns:
        One PodSetInfo per pod set, in order.

    Raises:
        StateError: The Workload has no admission.
        NotFoundError: An assigned flavor is not in `flavors`.
        InvalidSpecError: The updates of admission checks conflict with each other or with the flavors, or the numbers
            of pod sets in the admission and in the Workload differ.
    """
    where = f'Workload "{workload.key}"'
    if workload.status is None or workload.status.admission is None:
        raise StateError(f"{where}: has no admission; only an admitted workload can start")
    assignments = workload.status.admission.pod_set_assignments
    if len(assignments) != len(workload.pod_sets):
        raise InvalidSpecError(
            f"{where}: status.admission.podSetAssignments: has {len(assignments)} pod sets;"
            f" it must have {len(workload.pod_sets)}, as spec.podSets"
        )
    by_name = {flavor.name: flavor for flavor in flavors}
    return tuple(
        _info(workload, pod_set, assignment, by_name, _marks(workload, assignment.name, config) if marks else {})
        for pod_set, assignment in zip(workload.pod_sets, assignments, strict=True)
    )


def _info(
    workload: Workload,
    pod_set: PodSet,
    assignment: PodSetAssignment,
    flavors: dict[str, ResourceFlavor],
    marks: Document,
) -> PodSetInfo:
    names = dict.fromkeys(flavor for _, flavor in sorted(assignment.flavors.items()))
    assigned = [_flavor(workload, flavors, name) for name in names]
    # The parts are injected into an empty template, so that the rules of `inject` apply to all of them.
    template: Document = {"spec": {}}
    where = f'Workload "{workload.key}"'
    at = Section(where, f"podSets[{pod_set.name}]", template)
    inject(at, _placement(pod_set, assignment, assigned))
    inject(at, PodSetInfo(labels=marks.get("labels", {}), annotations=marks.get("annotations", {})))
    for check, update in _updates(workload, pod_set.name):
        inject(Section(f'{where}: admission check "{check}"', at.path, template), update)
    metadata, spec = template.get("metadata", {}), template["spec"]
    return PodSetInfo(
        name=assignment.name,
        count=pod_set.count if assignment.count is None else assignment.count,
        labels=metadata.get("labels", {}),
        annotations=metadata.get("annotations", {}),
        node_selector=spec.get("nodeSelector", {}),
        tolerations=tuple(spec.get("tolerations", ())),
        scheduling_gates=tuple(gate["name"] for gate in spec.get("schedulingGates", ())),
    )


def _placement(pod_set: PodSet, assignment: PodSetAssignment, assigned: list[ResourceFlavor]) -> PodSetInfo:
    """Return the node labels and tolerations of the flavors, and the scheduling gate for a topology assignment."""
    placed = assignment.topology_assignment is not None
    request = pod_set.topology_request or {}
    implied = placed and not request.keys() & {"required", "preferred", "unconstrained"}
    return PodSetInfo(
        annotations={keys.UNCONSTRAINED_TOPOLOGY: "true"} if implied else {},
        node_selector={key: value for flavor in assigned for key, value in flavor.node_labels.items()},
        tolerations=tuple(msgspec.to_builtins(one) for flavor in assigned for one in flavor.tolerations),
        scheduling_gates=(keys.TOPOLOGY_GATE,) if placed else (),
    )


def _marks(workload: Workload, pod_set_name: str, config: Configuration) -> Document:
    """Return the labels and annotations with which Kueue identifies the pods of an admitted pod set."""
    labels = {keys.POD_SET: pod_set_name}
    annotations = {}
    if config.enabled("TopologyAwareScheduling"):
        annotations[keys.WORKLOAD] = workload.name
    if config.enabled("ElasticJobsViaWorkloadSlices") and workload.annotations.get(keys.ELASTIC_JOB) == "true":
        annotations[keys.WORKLOAD_SLICE_NAME] = workload.annotations.get(keys.WORKLOAD_SLICE_NAME, workload.name)
    if keys.MULTIKUEUE_ORIGIN in workload.labels:
        labels[keys.MULTIKUEUE_WORKER_POD] = "true"
    if config.enabled("AssignQueueLabelsForPods"):
        labels[keys.LOCAL_QUEUE_NAME] = workload.queue_name
        assert workload.status is not None
        assert workload.status.admission is not None
        cluster_queue = workload.status.admission.cluster_queue
        # The name of a ClusterQueue can be longer than a label value may be.
        if _DNS_LABEL.fullmatch(cluster_queue):
            labels[keys.CLUSTER_QUEUE_NAME] = cluster_queue
    return {"labels": labels, "annotations": annotations}


def _updates(workload: Workload, pod_set_name: str) -> Iterable[tuple[str, PodSetInfo]]:
    """Iterate over the updates of a pod set by admission checks, with the names of the checks."""
    assert workload.status is not None
    for check in workload.status.admission_checks:
        update = next((u for u in check.pod_set_updates if u.get("name") == pod_set_name), None)
        if update is not None:
            own = Section(f'Workload "{workload.key}"', f"status.admissionChecks[{check.name}].podSetUpdates", update)
            yield (
                check.name,
                PodSetInfo(
                    labels=own.texts("labels"),
                    annotations=own.texts("annotations"),
                    node_selector=own.texts("nodeSelector"),
                    tolerations=tuple(item.data for item in own.sections("tolerations")),
                ),
            )


def _flavor(workload: Workload, flavors: dict[str, ResourceFlavor], name: str) -> ResourceFlavor:
    if name not in flavors:
        raise NotFoundError(
            f'Workload "{workload.key}": "{name}" is assigned, but names no ResourceFlavor;'
            f" it must be one of {', '.join(flavors) or 'none'}"
        )
    return flavors[name]


@checked
def suspend(manifest: Document, *, config: Configuration = _PLAIN, related: Iterable[Document] = ()) -> Document:
    """Return the manifest of a new job as Kueue's webhook changes it: suspended, regardless of its field `suspend`.

    >>> template = {"spec": {"containers": []}}
    >>> job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "a"}, "spec": {"template": template}}
    >>> suspend(job)["spec"]["suspend"]
    True

    Args:
        manifest: The job.
        config: The Configuration, for its feature gates.
        related: Manifests that the job refers to, such as the runtime of a TrainJob.

    Returns:
        A changed copy of the manifest.

    Raises:
        InvalidSpecError: A field is invalid.
        UnsupportedError: Kueue does not support the kind.
    """
    return adapter_for(manifest, config=config, related=related).suspended()


@checked
def start_patch(
    manifest: Document,
    workload: Workload,
    flavors: Iterable[ResourceFlavor],
    *,
    config: Configuration = _PLAIN,
    related: Iterable[Document] = (),
    marks: bool = True,
) -> Document:
    """Return the change with which Kueue starts a suspended job, as a JSON merge patch.

    The patch ends the suspension of the job. The patch also adds the node labels and tolerations of the assigned
    flavors, and the updates of admission checks, to the pod templates. No tolerations are added for the taints of a
    flavor. After partial admission, the patch sets the number of pods to the admitted number. For a pod, the patch
    removes Kueue's scheduling gate.

    >>> from msgspec.structs import replace
    >>> from kueuepy.jobs import to_workload
    >>> from kueuepy.objects import Admission, PodSetAssignment, WorkloadStatus
    >>> template = {"spec": {"containers": []}}
    >>> job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "a"}, "spec": {"template": template}}
    >>> admission = Admission("vision", (PodSetAssignment("main", flavors={"cpu": "spot"}),))
    >>> workload = replace(to_workload(job), status=WorkloadStatus(admission=admission))
    >>> spot = ResourceFlavor("spot", node_labels={"type": "spot"})
    >>> start_patch(suspend(job), workload, [spot], marks=False)["spec"]["template"]["spec"]
    {'nodeSelector': {'type': 'spot'}}

    Args:
        manifest: The suspended job.
        workload: The job's Workload, with an admission in its status.
        flavors: The ResourceFlavors of the cluster.
        config: The Configuration, for its feature gates.
        related: Manifests that the job refers to.
        marks: Whether to add the labels and annotations with which Kueue identifies the pods: the names of their pod
            set, workload and queues. Default: `True`.

    Returns:
        The JSON merge patch.

    Raises:
        StateError: The Workload has no admission.
        NotFoundError: An assigned flavor is not in `flavors`.
        InvalidSpecError: A change conflicts with a template. Kueue reports such a conflict in the Workload's
            condition `Finished`, with the reason `FailedToStart`.
        UnsupportedError: Kueue does not support the kind.
    """
    infos = pod_set_infos(workload, flavors, config=config, marks=marks)
    return adapter_for(manifest, config=config, related=related).start_patch(infos)


@checked
def stop_patch(
    manifest: Document,
    workload: Workload,
    *,
    config: Configuration = _PLAIN,
    related: Iterable[Document] = (),
) -> Document | None:
    """Return the change with which Kueue stops a running job, as a JSON merge patch.

    The patch suspends the job and restores its pod templates from the pod sets of its Workload. If the Workload has a
    different number of pod sets than the job, the patch only suspends the job.

    >>> from kueuepy.jobs import to_workload
    >>> spec = {"suspend": False, "template": {"spec": {"containers": []}}}
    >>> job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "a"}, "spec": spec}
    >>> stop_patch(job, to_workload(job))
    {'spec': {'suspend': True}}

    Args:
        manifest: The running job.
        workload: The job's Workload.
        config: The Configuration, for its feature gates.
        related: Manifests that the job refers to.

    Returns:
        The JSON merge patch, or `None` for pods, which Kueue deletes.

    Raises:
        InvalidSpecError: A field is invalid.
        UnsupportedError: Kueue does not support the kind.
    """
    return adapter_for(manifest, config=config, related=related).stop_patch(workload.pod_sets)


@checked
def apply_patch(manifest: Document, change: Document) -> Document:
    """Return a copy of a manifest with a JSON merge patch applied. Null fields of the manifest are removed.

    >>> apply_patch({"spec": {"suspend": True, "parallelism": 3}}, {"spec": {"suspend": False}})
    {'spec': {'suspend': False, 'parallelism': 3}}

    Args:
        manifest: The manifest.
        change: The patch.

    Returns:
        A changed copy of the manifest.

    Raises:
        InvalidSpecError: A string in the manifest is not valid Unicode.
    """
    applied: Document = without_nulls(manifest)
    return patch.apply(applied, change)
