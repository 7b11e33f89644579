"""Suspending, starting and stopping jobs: changed manifests and patches."""

from collections.abc import Iterable

from kueuepy.errors import checked
from kueuepy.jobs import patch
from kueuepy.jobs.podset_info import pod_set_infos
from kueuepy.jobs.registry import adapter_for
from kueuepy.jobs.template import Document, without_nulls
from kueuepy.objects import Configuration, ResourceFlavor, Workload

_NO_CONFIGURATION = Configuration()


@checked
def suspend(
    manifest: Document, *, config: Configuration = _NO_CONFIGURATION, related: Iterable[Document] = ()
) -> Document:
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
    config: Configuration = _NO_CONFIGURATION,
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
    config: Configuration = _NO_CONFIGURATION,
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
